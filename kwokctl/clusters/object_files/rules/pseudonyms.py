"""Words in place of words: the same for the same one, so that references hold. Pure."""

import re
from base64 import b32encode
from functools import lru_cache
from hashlib import blake2b

_NAME = re.compile(r"[a-z0-9]([-a-z0-9.]*[a-z0-9])?", re.ASCII)
_PART = re.compile(r"[a-z0-9]+")
_ORDINAL = re.compile(r"[0-9]{1,3}")
_PART_LENGTH, _WHOLE_LENGTH, _LONGEST = 6, 12, 63
_REMEMBERED = 1 << 16
_KNOWN = frozenset(
    (
        "", "default", "kube-system", "kube-public", "kube-node-lease", "kubernetes", "linux",
        "windows", "amd64", "arm64", "cluster-admin", "admin", "edit", "view", "default-scheduler",
        "system-cluster-critical", "system-node-critical", "kube-root-ca.crt", "*", "rbac-defaults",
        "controller-uid", "job-name", "pod-template-hash", "controller-revision-hash",
    )
)  # fmt: skip
"""Names that mean the same in every cluster."""
_WELL_KNOWN = re.compile(
    r"([-a-z0-9]+\.)*(kubernetes|k8s)\.io(/[-A-Za-z0-9_.]+)?"
    r"|[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+(Z|[+-][0-9:]+)"
    r"|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}",
    re.ASCII,
)
"""Names of Kubernetes itself, times, and uids."""
_ACCOUNTS = ("system:serviceaccount:", "system:serviceaccounts:", "system:node:")
_SYSTEM = re.compile(r"system:[-a-z:]+", re.ASCII)


class Pseudonyms:
    """Words whose originals only a holder of the salt can find, by trying."""

    def __init__(self, salt: str) -> None:
        """Another salt gives other pseudonyms for all words."""
        self._key = salt.encode()[:64]
        self.word = lru_cache(_REMEMBERED)(self._word)

    def whole(self, text: str) -> str:
        """Return a short word for a text, without the parts that it may have."""
        return text if text in _KNOWN else self._digest(text, _WHOLE_LENGTH)

    def _word(self, text: str) -> str:
        """Return a word for a text; that for a name has as many parts, and its ordinals.

        So a pod still has the name of its set, with its number.
        """
        if text in _KNOWN or _WELL_KNOWN.fullmatch(text):
            return text
        for prefix in _ACCOUNTS:
            if text.startswith(prefix):
                rest = text.removeprefix(prefix).split(":")
                return prefix + ":".join(map(self.word, rest))
        if _SYSTEM.fullmatch(text):
            return text
        if _NAME.fullmatch(text):
            name = _PART.sub(lambda found: self._part(found[0]), text)
            if len(name) <= _LONGEST and name != text:
                return name
        return self._digest(text, _WHOLE_LENGTH)

    def _part(self, part: str) -> str:
        return part if _ORDINAL.fullmatch(part) else self._digest(part, _PART_LENGTH)

    def _digest(self, text: str, length: int) -> str:
        digest = blake2b(text.encode(), key=self._key, digest_size=8).digest()
        return "x" + b32encode(digest).decode().lower()[:length]
