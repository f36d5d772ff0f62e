"""What the original kwokctl can be given, from the list that the page of compatibility is made from."""

from collections.abc import Mapping
from pathlib import Path

from kwokctl.expr import yaml
from kwokctl.json_value import Json

FACTS = yaml.load((Path(__file__).parents[2] / "docs/original-kwokctl.yaml").read_text("utf-8"))
KEYS: tuple[str, ...] = tuple(FACTS["keys"])
"""The keys under `options` of a KwokctlConfiguration."""
DEFAULTS: Mapping[str, Json] = FACTS["defaults"]
"""What each key is without being given; None where it is computed from others."""
VARIABLES: tuple[str, ...] = tuple(f"KWOK_{name}" for name in FACTS["variables"])
"""The variables that it reads, with `KWOK_WORKDIR`, which is no option."""
CREATE_FLAGS: tuple[str, ...] = tuple(f"--{name}" for name in FACTS["flags"])
"""The flags of `create cluster` that are options of clusters."""
