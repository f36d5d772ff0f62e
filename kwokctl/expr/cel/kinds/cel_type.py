"""The types of CEL."""

from dataclasses import dataclass, field

from kwokctl.replacing import replace


@dataclass(frozen=True, slots=True)
class CelType:
    """A type: its kind, what is in lists and maps, and which struct or parameter it is."""

    kind: str
    params: tuple["CelType", ...] = ()
    name: str = ""
    nullable: bool = field(default=False, compare=False)
    """Whether a value may be null instead."""
    loose: bool = field(default=False, compare=False)
    """Whether a value may be of another type after all: the checker takes `dyn` for anything."""

    def __str__(self) -> str:
        """Return it as in messages: `list(string)`."""
        inner = ", ".join(map(str, self.params))
        return f"{self.kind}({inner})" if self.params else self.name or self.kind

    @property
    def is_open(self) -> bool:
        """Whether it is known only in the evaluation."""
        return self.kind in {"dyn", "error", "param"} or self.nullable or self.loose

    @property
    def is_uncertain(self) -> bool:
        """Whether it, or anything in it, is open."""
        return self.is_open or any(param.is_uncertain for param in self.params)

    @property
    def is_boxed(self) -> bool:
        """Whether its values look different where their type is not known."""
        return self.kind == "struct" or any(param.is_boxed for param in self.params)


DYN, ERROR, NULL = CelType("dyn"), CelType("error"), CelType("null")
BOOL, INT, UINT, DOUBLE = CelType("bool"), CelType("int"), CelType("uint"), CelType("double")
STRING, BYTES, TYPE = CelType("string"), CelType("bytes"), CelType("type")
TIME, DURATION = CelType("time"), CelType("duration")
QUANTITY = CelType("quantity", name="Quantity")
RESOURCES = CelType("struct", name="ResourceList")
A, B = CelType("param", name="A"), CelType("param", name="B")


def list_of(item: CelType) -> CelType:
    """Return the type of a list."""
    return CelType("list", (item,))


def map_of(key: CelType, value: CelType) -> CelType:
    """Return the type of a map."""
    return CelType("map", (key, value))


def nullable(of: CelType) -> CelType:
    """Return the type of values that may be null instead."""
    return replace(of, nullable=True)


def loosened(of: CelType) -> CelType:
    """Return the type of values that may also be of another type, and contain other types."""
    return replace(of, loose=True, params=tuple(map(loosened, of.params)))
