"""The add-on of the tests: its folder, also with a program for containers, and what it does in a cluster."""

import shutil
import urllib.request
from pathlib import Path
from typing import Any

from tests.support import changing
from tests.support.go_programs import built
from tests.support.installed import Installed

FOLDER = Path(__file__).parent / "greeter_add_on"
_SCRIPT, _PROGRAM = "./greeter.py", "greeter_program"


def folder_for_containers(within: Path) -> Path:
    """Copy the add-on with a static program; skips the test where Go does not build it."""
    copy = within / FOLDER.name
    shutil.copytree(FOLDER, copy)
    built(_PROGRAM, copy, is_static=True)
    addon = copy / "addon.yaml"
    addon.write_text(addon.read_text().replace(_SCRIPT, f"./{_PROGRAM}"))
    return copy


def greeter_of(cluster: Installed) -> dict[str, Any]:
    """Return the component."""
    return cluster.components()["greeter"]


def page_of(cluster: Installed) -> str:
    """Return what the component answers on this machine."""
    port = next(each["hostPort"] for each in greeter_of(cluster)["ports"] if each["name"] == "http")
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz") as answer:
        text: str = answer.read().decode()
    return text


def demand_refusal(cluster: Installed) -> None:
    """Demand that the API server asks the webhook about a config map, which refuses it."""
    greeted = changing.namespace("greeted")
    greeted["metadata"]["labels"] = {"greeted": "true"}
    cluster.apply(greeted)
    body = changing.config_map("x")
    body["metadata"]["namespace"] = "greeted"

    assert "no greeting" in cluster.refusal(body)
