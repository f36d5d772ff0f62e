"""Containers of pods, and what became of them."""

TABLE = """\
ConfigMapKeySelector key:str name:str optional:bool
FileKeySelector key:str optional:bool path:str volumeName:str
SecretKeySelector key:str name:str optional:bool
EnvVarSource configMapKeyRef:ConfigMapKeySelector fieldRef:ObjectFieldSelector
    fileKeyRef:FileKeySelector resourceFieldRef:ResourceFieldSelector
    secretKeyRef:SecretKeySelector
EnvVar name:str value:str valueFrom:EnvVarSource
ConfigMapEnvSource name:str optional:bool
SecretEnvSource name:str optional:bool
EnvFromSource configMapRef:ConfigMapEnvSource prefix:str secretRef:SecretEnvSource
ExecAction command:[str]
HTTPHeader name:str value:str
HTTPGetAction host:str httpHeaders:[HTTPHeader] path:str port:int32/str scheme:str
SleepAction seconds:int64
TCPSocketAction host:str port:int32/str
LifecycleHandler exec:ExecAction httpGet:HTTPGetAction sleep:SleepAction
    tcpSocket:TCPSocketAction
Lifecycle postStart:LifecycleHandler preStop:LifecycleHandler stopSignal:str
GRPCAction port:int32 service:str
Probe exec:ExecAction failureThreshold:int32 grpc:GRPCAction httpGet:HTTPGetAction
    initialDelaySeconds:int32 periodSeconds:int32 successThreshold:int32
    tcpSocket:TCPSocketAction terminationGracePeriodSeconds:int64 timeoutSeconds:int32
ContainerPort containerPort:int32 hostIP:AddressIfAny hostPort:int32 name:str protocol:str
ContainerResizePolicy resourceName:str restartPolicy:str
ResourceClaim name:str request:str
ResourceRequirements claims:[ResourceClaim] limits:{Quantity} requests:{Quantity}
ContainerRestartRuleOnExitCodes operator:str values:[int32]
ContainerRestartRule action:str exitCodes:ContainerRestartRuleOnExitCodes
AppArmorProfile localhostProfile:str type:str
Capabilities add:[str] drop:[str]
SELinuxOptions level:str role:str type:str user:str
SeccompProfile localhostProfile:str type:str
WindowsSecurityContextOptions gmsaCredentialSpec:str gmsaCredentialSpecName:str hostProcess:bool
    runAsUserName:str
SecurityContext allowPrivilegeEscalation:bool appArmorProfile:AppArmorProfile
    capabilities:Capabilities privileged:bool procMount:str readOnlyRootFilesystem:bool
    runAsGroup:int64 runAsNonRoot:bool runAsUser:int64 seLinuxOptions:SELinuxOptions
    seccompProfile:SeccompProfile windowsOptions:WindowsSecurityContextOptions
VolumeDevice devicePath:str name:str
VolumeMount mountPath:str mountPropagation:str name:str readOnly:bool recursiveReadOnly:str
    subPath:str subPathExpr:str
Container args:[str] command:[str] env:[EnvVar] envFrom:[EnvFromSource] image:str
    imagePullPolicy:str lifecycle:Lifecycle livenessProbe:Probe name:str ports:[ContainerPort]
    readinessProbe:Probe resizePolicy:[ContainerResizePolicy] resources:ResourceRequirements
    restartPolicy:str restartPolicyRules:[ContainerRestartRule] securityContext:SecurityContext
    startupProbe:Probe stdin:bool stdinOnce:bool terminationMessagePath:str
    terminationMessagePolicy:str tty:bool volumeDevices:[VolumeDevice]
    volumeMounts:[VolumeMount] workingDir:str
EphemeralContainer args:[str] command:[str] env:[EnvVar] envFrom:[EnvFromSource] image:str
    imagePullPolicy:str lifecycle:Lifecycle livenessProbe:Probe name:str ports:[ContainerPort]
    readinessProbe:Probe resizePolicy:[ContainerResizePolicy] resources:ResourceRequirements
    restartPolicy:str restartPolicyRules:[ContainerRestartRule] securityContext:SecurityContext
    startupProbe:Probe stdin:bool stdinOnce:bool targetContainerName:str
    terminationMessagePath:str terminationMessagePolicy:str tty:bool
    volumeDevices:[VolumeDevice] volumeMounts:[VolumeMount] workingDir:str
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
"""
