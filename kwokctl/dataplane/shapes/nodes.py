"""Nodes, their leases, and events."""

TABLE = """\
ConfigMapNodeConfigSource kubeletConfigKey:str name:str namespace:str resourceVersion:str
    uid:str
NodeConfigSource configMap:ConfigMapNodeConfigSource
Taint effect:str key:str timeAdded:Time value:str
NodeSpec configSource:NodeConfigSource externalID:str podCIDR:NetworkIfAny podCIDRs:[Network]
    providerID:str taints:[Taint] unschedulable:bool
NodeAddress address:str type:str
NodeCondition lastHeartbeatTime:Time lastTransitionTime:Time message:str reason:str status:str
    type:str
NodeConfigStatus active:NodeConfigSource assigned:NodeConfigSource error:str
    lastKnownGood:NodeConfigSource
DaemonEndpoint Port:int32
NodeDaemonEndpoints kubeletEndpoint:DaemonEndpoint
NodeFeatures supplementalGroupsPolicy:bool
ContainerImage names:[str] sizeBytes:int64
NodeSwapStatus capacity:int64
NodeSystemInfo architecture:str bootID:str containerRuntimeVersion:str kernelVersion:str
    kubeProxyVersion:str kubeletVersion:str machineID:str operatingSystem:str osImage:str
    swap:NodeSwapStatus systemUUID:str
NodeRuntimeHandlerFeatures recursiveReadOnlyMounts:bool userNamespaces:bool
NodeRuntimeHandler features:NodeRuntimeHandlerFeatures name:str
AttachedVolume devicePath:str name:str
NodeStatus addresses:[NodeAddress] allocatable:{Quantity} capacity:{Quantity}
    conditions:[NodeCondition] config:NodeConfigStatus daemonEndpoints:NodeDaemonEndpoints
    declaredFeatures:[str] features:NodeFeatures images:[ContainerImage] nodeInfo:NodeSystemInfo
    phase:str runtimeHandlers:[NodeRuntimeHandler] volumesAttached:[AttachedVolume]
    volumesInUse:[str]
Node apiVersion:=v1 kind:=Node metadata:ObjectMeta spec:NodeSpec status:NodeStatus
LeaseSpec acquireTime:MicroTime holderIdentity:str leaseDurationSeconds:int32
    leaseTransitions:int32 preferredHolder:str renewTime:MicroTime strategy:str
Lease apiVersion:=coordination.k8s.io/v1 kind:=Lease metadata:ObjectMeta spec:LeaseSpec
ObjectReference apiVersion:str fieldPath:str kind:str name:str namespace:str resourceVersion:str
    uid:str
EventSeries count:int32 lastObservedTime:MicroTime
EventSource component:str host:str
Event action:str apiVersion:=v1 count:int32 eventTime:MicroTime firstTimestamp:Time
    involvedObject:ObjectReference kind:=Event lastTimestamp:Time message:str
    metadata:ObjectMeta reason:str related:ObjectReference reportingComponent:str
    reportingInstance:str series:EventSeries source:EventSource type:str
"""
