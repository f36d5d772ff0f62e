"""Metadata, which every kind has, and label selectors."""

TABLE = """\
ManagedFieldsEntry apiVersion:str fieldsType:str fieldsV1:object manager:str operation:str
    subresource:str time:Time
OwnerReference apiVersion:str blockOwnerDeletion:bool controller:bool kind:str name:str uid:str
ObjectMeta annotations:{str} creationTimestamp:Time deletionGracePeriodSeconds:int64
    deletionTimestamp:Time finalizers:[str] generateName:str generation:int64 labels:{str}
    managedFields:[ManagedFieldsEntry] name:str namespace:str ownerReferences:[OwnerReference]
    resourceVersion:str selfLink:str uid:str
LabelSelectorRequirement key:str operator:str values:[str]
LabelSelector matchExpressions:[LabelSelectorRequirement] matchLabels:{str}
"""
