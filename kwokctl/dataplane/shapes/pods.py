"""Pods."""

TABLE = """\
NodeSelectorRequirement key:str operator:str values:[str]
NodeSelectorTerm matchExpressions:[NodeSelectorRequirement]
    matchFields:[NodeSelectorRequirement]
PreferredSchedulingTerm preference:NodeSelectorTerm weight:int32
NodeSelector nodeSelectorTerms:[NodeSelectorTerm]
NodeAffinity preferredDuringSchedulingIgnoredDuringExecution:[PreferredSchedulingTerm]
    requiredDuringSchedulingIgnoredDuringExecution:NodeSelector
PodAffinityTerm labelSelector:LabelSelector matchLabelKeys:[str] mismatchLabelKeys:[str]
    namespaceSelector:LabelSelector namespaces:[str] topologyKey:str
WeightedPodAffinityTerm podAffinityTerm:PodAffinityTerm weight:int32
PodAffinity preferredDuringSchedulingIgnoredDuringExecution:[WeightedPodAffinityTerm]
    requiredDuringSchedulingIgnoredDuringExecution:[PodAffinityTerm]
PodAntiAffinity preferredDuringSchedulingIgnoredDuringExecution:[WeightedPodAffinityTerm]
    requiredDuringSchedulingIgnoredDuringExecution:[PodAffinityTerm]
Affinity nodeAffinity:NodeAffinity podAffinity:PodAffinity podAntiAffinity:PodAntiAffinity
PodDNSConfigOption name:str value:str
PodDNSConfig nameservers:[Address] options:[PodDNSConfigOption] searches:[str]
HostAlias hostnames:[str] ip:Address
PodOS name:str
PodReadinessGate conditionType:str
PodResourceClaim name:str resourceClaimName:str resourceClaimTemplateName:str
PodSchedulingGate name:str
PodSchedulingGroup podGroupName:str
Sysctl name:str value:str
PodSecurityContext appArmorProfile:AppArmorProfile fsGroup:int64 fsGroupChangePolicy:str
    runAsGroup:int64 runAsNonRoot:bool runAsUser:int64 seLinuxChangePolicy:str
    seLinuxOptions:SELinuxOptions seccompProfile:SeccompProfile supplementalGroups:[int64]
    supplementalGroupsPolicy:str sysctls:[Sysctl] windowsOptions:WindowsSecurityContextOptions
Toleration effect:str key:str operator:str tolerationSeconds:int64 value:str
TopologySpreadConstraint labelSelector:LabelSelector matchLabelKeys:[str] maxSkew:int32
    minDomains:int32 nodeAffinityPolicy:str nodeTaintsPolicy:str topologyKey:str
    whenUnsatisfiable:str
PodSpec activeDeadlineSeconds:int64 affinity:Affinity automountServiceAccountToken:bool
    containers:[Container] dnsConfig:PodDNSConfig dnsPolicy:str enableServiceLinks:bool
    ephemeralContainers:[EphemeralContainer] hostAliases:[HostAlias] hostIPC:bool
    hostNetwork:bool hostPID:bool hostUsers:bool hostname:str hostnameOverride:str
    imagePullSecrets:[LocalObjectReference] initContainers:[Container] nodeName:str
    nodeSelector:{str} os:PodOS overhead:{Quantity} preemptionPolicy:str priority:int32
    priorityClassName:str readinessGates:[PodReadinessGate] resourceClaims:[PodResourceClaim]
    resources:ResourceRequirements restartPolicy:str runtimeClassName:str schedulerName:str
    schedulingGates:[PodSchedulingGate] schedulingGroup:PodSchedulingGroup
    securityContext:PodSecurityContext serviceAccount:str serviceAccountName:str
    setHostnameAsFQDN:bool shareProcessNamespace:bool subdomain:str
    terminationGracePeriodSeconds:int64 tolerations:[Toleration]
    topologySpreadConstraints:[TopologySpreadConstraint] volumes:[Volume]
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
Pod apiVersion:=v1 kind:=Pod metadata:ObjectMeta spec:PodSpec status:PodStatus
"""
