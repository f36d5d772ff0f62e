"""What the Kubernetes API accepts as names.

The rules are those of https://kubernetes.io/docs/concepts/overview/working-with-objects/names/.
"""

import re

LABEL_LENGTH = 63
SUBDOMAIN_LENGTH = 253
LABEL_RULE = (
    f"use at most {LABEL_LENGTH} lower-case letters, digits and '-', "
    "beginning and ending with a letter or digit"
)
"""What a name of a namespace looks like, as a hint says it."""

_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?", re.ASCII)


def is_label(text: str) -> bool:
    """Tell whether a text is a label of RFC 1123, as names of namespaces are."""
    return len(text) <= LABEL_LENGTH and _LABEL.fullmatch(text) is not None


def is_subdomain(text: str) -> bool:
    """Tell whether a text is a subdomain of RFC 1123, as names of most objects are."""
    return len(text) <= SUBDOMAIN_LENGTH and all(_LABEL.fullmatch(p) for p in text.split("."))
