"""The status of nodes."""

TABLE = """\
ConfigMapNodeConfigSource kubeletConfigKey:str name:str namespace:str resourceVersion:str
    uid:str
NodeConfigSource configMap:ConfigMapNodeConfigSource
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
"""
