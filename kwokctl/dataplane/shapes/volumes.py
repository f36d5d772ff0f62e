"""Volumes of pods."""

TABLE = """\
AWSElasticBlockStoreVolumeSource fsType:str partition:int32 readOnly:bool volumeID:str
AzureDiskVolumeSource cachingMode:str diskName:str diskURI:str fsType:str kind:str readOnly:bool
AzureFileVolumeSource readOnly:bool secretName:str shareName:str
LocalObjectReference name:str
CephFSVolumeSource monitors:[str] path:str readOnly:bool secretFile:str
    secretRef:LocalObjectReference user:str
CinderVolumeSource fsType:str readOnly:bool secretRef:LocalObjectReference volumeID:str
KeyToPath key:str mode:int32 path:str
ConfigMapVolumeSource defaultMode:int32 items:[KeyToPath] name:str optional:bool
CSIVolumeSource driver:str fsType:str nodePublishSecretRef:LocalObjectReference readOnly:bool
    volumeAttributes:{str}
ObjectFieldSelector apiVersion:str fieldPath:str
ResourceFieldSelector containerName:str divisor:Quantity resource:str
DownwardAPIVolumeFile fieldRef:ObjectFieldSelector mode:int32 path:str
    resourceFieldRef:ResourceFieldSelector
DownwardAPIVolumeSource defaultMode:int32 items:[DownwardAPIVolumeFile]
EmptyDirVolumeSource medium:str sizeLimit:Quantity
TypedLocalObjectReference apiGroup:str kind:str name:str
TypedObjectReference apiGroup:str kind:str name:str namespace:str
VolumeResourceRequirements limits:{Quantity} requests:{Quantity}
PersistentVolumeClaimSpec accessModes:[str] dataSource:TypedLocalObjectReference
    dataSourceRef:TypedObjectReference resources:VolumeResourceRequirements
    selector:LabelSelector storageClassName:str volumeAttributesClassName:str volumeMode:str
    volumeName:str
PersistentVolumeClaimTemplate metadata:ObjectMeta spec:PersistentVolumeClaimSpec
EphemeralVolumeSource volumeClaimTemplate:PersistentVolumeClaimTemplate
FCVolumeSource fsType:str lun:int32 readOnly:bool targetWWNs:[str] wwids:[str]
FlexVolumeSource driver:str fsType:str options:{str} readOnly:bool
    secretRef:LocalObjectReference
FlockerVolumeSource datasetName:str datasetUUID:str
GCEPersistentDiskVolumeSource fsType:str partition:int32 pdName:str readOnly:bool
GitRepoVolumeSource directory:str repository:str revision:str
GlusterfsVolumeSource endpoints:str path:str readOnly:bool
HostPathVolumeSource path:str type:str
ImageVolumeSource pullPolicy:str reference:str
ISCSIVolumeSource chapAuthDiscovery:bool chapAuthSession:bool fsType:str initiatorName:str
    iqn:str iscsiInterface:str lun:int32 portals:[str] readOnly:bool
    secretRef:LocalObjectReference targetPortal:str
NFSVolumeSource path:str readOnly:bool server:str
PersistentVolumeClaimVolumeSource claimName:str readOnly:bool
PhotonPersistentDiskVolumeSource fsType:str pdID:str
PortworxVolumeSource fsType:str readOnly:bool volumeID:str
ClusterTrustBundleProjection labelSelector:LabelSelector name:str optional:bool path:str
    signerName:str
ConfigMapProjection items:[KeyToPath] name:str optional:bool
DownwardAPIProjection items:[DownwardAPIVolumeFile]
PodCertificateProjection certificateChainPath:str credentialBundlePath:str keyPath:str
    keyType:str maxExpirationSeconds:int32 signerName:str userAnnotations:{str}
SecretProjection items:[KeyToPath] name:str optional:bool
ServiceAccountTokenProjection audience:str expirationSeconds:int64 path:str
VolumeProjection clusterTrustBundle:ClusterTrustBundleProjection configMap:ConfigMapProjection
    downwardAPI:DownwardAPIProjection podCertificate:PodCertificateProjection
    secret:SecretProjection serviceAccountToken:ServiceAccountTokenProjection
ProjectedVolumeSource defaultMode:int32 sources:[VolumeProjection]
QuobyteVolumeSource group:str readOnly:bool registry:str tenant:str user:str volume:str
RBDVolumeSource fsType:str image:str keyring:str monitors:[str] pool:str readOnly:bool
    secretRef:LocalObjectReference user:str
ScaleIOVolumeSource fsType:str gateway:str protectionDomain:str readOnly:bool
    secretRef:LocalObjectReference sslEnabled:bool storageMode:str storagePool:str system:str
    volumeName:str
SecretVolumeSource defaultMode:int32 items:[KeyToPath] optional:bool secretName:str
StorageOSVolumeSource fsType:str readOnly:bool secretRef:LocalObjectReference volumeName:str
    volumeNamespace:str
VsphereVirtualDiskVolumeSource fsType:str storagePolicyID:str storagePolicyName:str
    volumePath:str
Volume awsElasticBlockStore:AWSElasticBlockStoreVolumeSource azureDisk:AzureDiskVolumeSource
    azureFile:AzureFileVolumeSource cephfs:CephFSVolumeSource cinder:CinderVolumeSource
    configMap:ConfigMapVolumeSource csi:CSIVolumeSource downwardAPI:DownwardAPIVolumeSource
    emptyDir:EmptyDirVolumeSource ephemeral:EphemeralVolumeSource fc:FCVolumeSource
    flexVolume:FlexVolumeSource flocker:FlockerVolumeSource
    gcePersistentDisk:GCEPersistentDiskVolumeSource gitRepo:GitRepoVolumeSource
    glusterfs:GlusterfsVolumeSource hostPath:HostPathVolumeSource image:ImageVolumeSource
    iscsi:ISCSIVolumeSource name:str nfs:NFSVolumeSource
    persistentVolumeClaim:PersistentVolumeClaimVolumeSource
    photonPersistentDisk:PhotonPersistentDiskVolumeSource portworxVolume:PortworxVolumeSource
    projected:ProjectedVolumeSource quobyte:QuobyteVolumeSource rbd:RBDVolumeSource
    scaleIO:ScaleIOVolumeSource secret:SecretVolumeSource storageos:StorageOSVolumeSource
    vsphereVolume:VsphereVirtualDiskVolumeSource
"""
