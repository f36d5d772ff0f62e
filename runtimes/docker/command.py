"""Writes the request that creates a container as a command of docker's or podman's. Pure.

The options are those of https://docs.docker.com/reference/cli/docker/container/create/, which podman has, too
(https://docs.podman.io/en/latest/markdown/podman-create.1.html).
"""

import csv
import io
from collections.abc import Iterator, Mapping

import msgspec

from kwokctl.json_value import Json


class ScriptTool(msgspec.Struct, frozen=True, kw_only=True):
    """The program that a script calls to handle containers."""

    name: str
    gateways: str
    """The template that writes the gateways of a network, one a line."""
    at_once: tuple[str, ...] = ()
    """The option with which `rm --force` kills without asking first."""

    def removal(self, *containers: str) -> tuple[str, ...]:
        """Return the command that kills and removes containers."""
        return (self.name, "rm", "--force", *self.at_once, "--volumes", *containers)


DOCKER = ScriptTool(name="docker", gateways="{{range .IPAM.Config}}{{println .Gateway}}{{end}}")
PODMAN = ScriptTool(
    name="podman",
    gateways="{{range .Subnets}}{{println .Gateway}}{{end}}",
    at_once=("--time", "0"),
)
TOOLS = {tool.name: tool for tool in (DOCKER, PODMAN)}


def create_words(tool: ScriptTool, name: str, body: Mapping[str, Json]) -> tuple[str, ...]:
    """Return the command that makes the container which `specify` describes."""
    entry: list[str] = body.get("Entrypoint") or []
    first = entry[1:]
    return (
        *(tool.name, "create", "--name", name),
        *(("--entrypoint", entry[0]) if entry else ()),
        *_pairs(body),
        body["Image"],
        *first,
        *body["Cmd"],
    )


def _pairs(body: Mapping[str, Json]) -> Iterator[str]:
    """Yield every option, as words."""
    for option, values in (*_of_program(body), *_of_host(body["HostConfig"]), *_reached(body)):
        for value in values:
            yield from (option, value) if value else (option,)


_Options = Iterator[tuple[str, list[str]]]


def _of_program(body: Mapping[str, Json]) -> _Options:
    yield "--user", [body["User"]] if "User" in body else []
    yield "--workdir", [body["WorkingDir"]] if "WorkingDir" in body else []
    yield "--hostname", [body["Hostname"]]
    yield "--env", list(body["Env"])
    yield "--label", [f"{key}={value}" for key, value in body["Labels"].items()]


def _of_host(host: Mapping[str, Json]) -> _Options:
    yield "--mount", [_mount(mount) for mount in host["Mounts"]]
    scratch: Mapping[str, str] = host.get("Tmpfs", {})
    yield "--tmpfs", [f"{path}:{how}" if how else path for path, how in scratch.items()]
    yield "--restart", [host["RestartPolicy"]["Name"]]
    yield "--init", [""] * host["Init"]
    yield "--read-only", [""] * host.get("ReadonlyRootfs", False)
    yield "--cap-drop", host.get("CapDrop", [])
    yield "--security-opt", host["SecurityOpt"]
    yield "--log-driver", [host["LogConfig"]["Type"]]
    yield "--log-opt", [f"{key}={value}" for key, value in host["LogConfig"]["Config"].items()]
    yield from _limits(host)


def _limits(host: Mapping[str, Json]) -> _Options:
    if host["Memory"]:
        yield "--memory", [str(host["Memory"])]
        yield "--memory-swap", [str(host["MemorySwap"])]
    if host["NanoCpus"]:
        yield "--cpus", [f"{host['NanoCpus'] / 1e9:g}"]


def _reached(body: Mapping[str, Json]) -> _Options:
    host = body["HostConfig"]
    bound: Mapping[str, Json] = host["PortBindings"]
    yield "--network", [host["NetworkMode"]]
    ends: Mapping[str, Json] = body["NetworkingConfig"]["EndpointsConfig"]
    yield "--network-alias", [alias for end in ends.values() for alias in end["Aliases"]]
    yield "--add-host", host["ExtraHosts"]
    yield "--expose", [port for port in body["ExposedPorts"] if port not in bound]
    yield "--publish", [_published(port, at) for port, every in bound.items() for at in every]


def _published(port: str, at: Mapping[str, str]) -> str:
    address = f"[{at['HostIp']}]" if ":" in at["HostIp"] else at["HostIp"]
    return f"{address}:{at['HostPort']}:{port}"


def _mount(mount: Mapping[str, Json]) -> str:
    """Return a mount as docker reads it: a record of CSV."""
    fields = [f"type={mount['Type']}", f"source={mount['Source']}", f"target={mount['Target']}"]
    text = io.StringIO()
    csv.writer(text, lineterminator="").writerow([*fields, *["readonly"] * mount["ReadOnly"]])
    return text.getvalue()
