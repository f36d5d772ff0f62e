"""The templates of companions: further objects that are made beside those of a set."""

from collections.abc import Iterator, Mapping

import msgspec

from kwokctl.config.config_documents import Document
from kwokctl.config.nearest import did_you_mean
from kwokctl.json_value import Json

COMPANIONS = "companions"
EACH, SET, ONCE = "each", "set", "once"
MADE_FOR: Mapping[str, str] = {
    EACH: "for each object of the set, which owns them",
    SET: "for the set as a whole, as long as it has objects",
    ONCE: "once in a cluster, for all sets, and never deleted",
}
"""The values of `for`, and their meanings."""
_FIELDS = ("for", "template", "servedBy")


class CompanionTemplate(msgspec.Struct, frozen=True, kw_only=True):
    """A Go template of an object, or of a `List` of them; none is made where it renders nothing."""

    made_for: str
    template: str
    served_by: str = ""
    """A text for people whose cluster does not serve the kind: from where it is served."""
    place: str
    """The field of the document that holds the template, such as `companions[0].template`."""

    def as_document(self) -> dict[str, Json]:
        """Return it as an entry of a KwokctlResource."""
        served = {"servedBy": self.served_by} if self.served_by else {}
        return {"for": self.made_for, **served, "template": self.template}


def companion_templates(document: Document) -> tuple[CompanionTemplate, ...]:
    """Return the companions of a KwokctlResource; ConfigError, with the place, for what is none."""
    entries = document.body.get(COMPANIONS)
    if entries is None:
        return ()
    if not isinstance(entries, list):
        raise document.fault(COMPANIONS, "must be a list")
    return tuple(_companions(document, entries))


def _companions(document: Document, entries: list[Json]) -> Iterator[CompanionTemplate]:
    for number, entry in enumerate(entries):
        place = f"{COMPANIONS}[{number}]"
        if not isinstance(entry, dict):
            raise document.fault(place, "must be a mapping with 'for' and 'template'")
        for field in entry:
            if field not in _FIELDS:
                hint = did_you_mean(str(field), _FIELDS) or f"fields are: {', '.join(_FIELDS)}"
                raise document.fault(f"{place}.{field}", "is not a field of a companion", hint=hint)
        yield CompanionTemplate(
            made_for=_made_for(document, place, entry),
            template=_text(document, f"{place}.template", entry.get("template")),
            served_by=_served_by(document, f"{place}.servedBy", entry.get("servedBy", "")),
            place=f"{place}.template",
        )


def _made_for(document: Document, place: str, entry: Mapping[str, Json]) -> str:
    found = entry.get("for")
    if isinstance(found, str) and found in MADE_FOR:
        return found
    problem = "is missing" if found is None else f"is '{found}'"
    hint = "; ".join(f"'{word}': {meaning}" for word, meaning in MADE_FOR.items())
    raise document.fault(f"{place}.for", problem, hint=hint)


def _text(document: Document, place: str, found: Json) -> str:
    if isinstance(found, str) and found.strip():
        return found
    raise document.fault(
        place, "must be the text of a Go template", hint="write it after 'template: |'"
    )


def _served_by(document: Document, place: str, found: Json) -> str:
    if isinstance(found, str):
        return found
    raise document.fault(place, "must be a text, such as 'Kubernetes 1.34 and later'")
