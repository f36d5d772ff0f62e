"""The status of pods, and of their containers."""

TABLE = """\
ResourceClaim name:str request:str
ResourceRequirements claims:[ResourceClaim] limits:{Quantity} requests:{Quantity}
ResourceHealth health:str message:str resourceID:str
ResourceStatus name:str resources:[ResourceHealth]
ContainerStateRunning startedAt:Time
ContainerStateTerminated containerID:str exitCode:int32 finishedAt:Time message:str reason:str
    signal:int32 startedAt:Time
ContainerStateWaiting message:str reason:str
ContainerState running:ContainerStateRunning terminated:ContainerStateTerminated
    waiting:ContainerStateWaiting
LinuxContainerUser gid:int64 supplementalGroups:[int64] uid:int64
ContainerUser linux:LinuxContainerUser
ImageVolumeStatus imageRef:str
VolumeStatus image:ImageVolumeStatus
VolumeMountStatus mountPath:str name:str readOnly:bool recursiveReadOnly:str
    volumeStatus:VolumeStatus
ContainerStatus allocatedResources:{Quantity} allocatedResourcesStatus:[ResourceStatus]
    containerID:str image:str imageID:str lastState:ContainerState name:str ready:bool
    resources:ResourceRequirements restartCount:int32 started:bool state:ContainerState
    stopSignal:str user:ContainerUser volumeMounts:[VolumeMountStatus]
PodCondition lastProbeTime:Time lastTransitionTime:Time message:str observedGeneration:int64
    reason:str status:str type:str
ContainerExtendedResourceRequest containerName:str requestName:str resourceName:str
PodExtendedResourceClaimStatus requestMappings:[ContainerExtendedResourceRequest]
    resourceClaimName:str
HostIP ip:Address
NodeAllocatableResourceClaimStatus containers:[str] resourceClaimName:str resources:{Quantity}
PodIP ip:Address
PodResourceClaimStatus name:str resourceClaimName:str
PodStatus allocatedResources:{Quantity} conditions:[PodCondition]
    containerStatuses:[ContainerStatus] ephemeralContainerStatuses:[ContainerStatus]
    extendedResourceClaimStatus:PodExtendedResourceClaimStatus hostIP:AddressIfAny
    hostIPs:[HostIP] initContainerStatuses:[ContainerStatus] message:str
    nodeAllocatableResourceClaimStatuses:[NodeAllocatableResourceClaimStatus]
    nominatedNodeName:str observedGeneration:int64 phase:str podIP:AddressIfAny podIPs:[PodIP]
    qosClass:str reason:str resize:str resourceClaimStatuses:[PodResourceClaimStatus]
    resources:ResourceRequirements startTime:Time
"""
