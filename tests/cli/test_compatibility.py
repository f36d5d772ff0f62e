"""Each row of the page of compatibility: what is served is read, what is refused is refused by name."""

from pathlib import Path
from typing import Any

import pytest

from kwokctl.cli.main import run
from kwokctl.components.catalog import usual_options
from kwokctl.components.cluster_plan import selected
from kwokctl.config import checks, version_checks
from kwokctl.config.add_ons.enabling import resolve_with_add_ons
from kwokctl.config.config_documents import Document
from kwokctl.config.declaring import OptionValue, Spelling
from kwokctl.config.options import spellings, value_of
from kwokctl.config.original.not_served import NOT_SERVED
from kwokctl.config.resolve import Resolved, resolve_options
from kwokctl.errors import NotServedError
from kwokctl.host.machine import Host
from kwokctl.host.paths import WorkDir
from kwokctl.registry import load
from tests.support.compatibility_page import SERVED, rows
from tests.support.reaching_runner import ReachingRunner

_LISTS = {
    "components": usual_options().selection.components,
    "enable_crds": ("Stage",),
    "stage": ("pod-general",),
    "extra_args": ("etcd=v=4",),
    "kube_apiserver_cert_sans": ("api.example.com",),
    "memory_limit": ("4Gi",),
    "cpu_limit": ("2",),
}
_TEXTS: dict[str, str] = {
    "ARCHIVE": "file.yaml",
    "FILE": "file.yaml",
    "IMAGE": "example.com/image:1",
    "IMAGE-OR-FILE": "example.com/image:1",
    "IP": "127.0.0.2",
    "NAME": "binary",
    "PROGRAM": "/bin/true",
    "QUANTITY": "4Gi",
    "URL": "https://example.com/mirror",
}
_CHECKED: dict[checks.Check, str] = {
    checks.feature_gates: "A=true",
    checks.image: "example.com/images",
    checks.key_prefix: "/other",
    version_checks.kubernetes: "v1.35.4",
    checks.runtime_config: "api/all=true",
}


def sample(spelling: Spelling) -> OptionValue:
    """Return a value that an option takes and that is not its default."""
    if spelling.type is bool:
        return not spelling.default
    if spelling.type in (int, float):
        return spelling.within[0] + 1
    if isinstance(spelling.default, tuple):
        return _LISTS.get(spelling.field, ("metrics-server",))
    if spelling.choices:
        return spelling.choices[-1]
    if spelling.metavar == "VERSION":
        return "3.6.10" if spelling.field == "etcd_version" else "v1.35.4"
    return _TEXTS.get(spelling.metavar) or _CHECKED.get(spelling.check, "1.2.3")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file.yaml").write_text("")
    monkeypatch.chdir(tmp_path)


def resolved(
    words: dict[str, Any], environ: dict[str, str], options: dict[str, object]
) -> Resolved:
    body = {"kind": "KwokctlConfiguration", "options": options}
    document = Document(
        kind="KwokctlConfiguration", api_version="", name="", body=body, source="kwok.yaml"
    )
    return resolve_options(usual_options(), words, environ, [document])


def places(names: tuple[str, str, str], field: str, value: object) -> list[Any]:
    """Return the arguments of `resolved` for each place in which an option can be given."""
    key, flag, env = names
    text = ",".join(value) if isinstance(value, tuple) else str(value)
    listed = list(value) if isinstance(value, tuple) else value
    return [
        *([({field: value}, {}, {})] if flag else []),
        *([({}, {env: text}, {})] if env else []),
        *([({}, {}, {key: listed})] if key else []),
    ]


OPTIONS = rows("Options of clusters")


@pytest.mark.parametrize("row", OPTIONS, ids=[row[0] or row[1] for row in OPTIONS])
def test_an_option_is_read_or_refused_wherever_it_is_given(
    row: tuple[str, ...], here: None
) -> None:
    key, flag, env, fate = row[:4]
    if fate in SERVED:
        (spelling,) = [
            each for each in spellings(usual_options()) if (each.key or each.flag) == (key or flag)
        ]
        wanted = sample(spelling)
        for given in places((key, flag, env), spelling.field, wanted):
            found = value_of(resolved(*given).options, spelling)
            assert found == wanted or str(found).endswith(f"/{wanted}"), given
        return
    (option,) = [each for each in NOT_SERVED if each.key == key]
    asked = (not option.default) if option.type is bool else 5 if option.type is int else "x"
    for given in places((key, flag, env), option.field, asked):
        if option.is_idle:
            (said,) = resolved(*given).warnings
            assert option.reason in said
        else:
            with pytest.raises(NotServedError, match=r"is not supported"):
                resolved(*given)


COMMANDS = rows("Commands")


@pytest.mark.parametrize("row", COMMANDS, ids=[row[0] for row in COMMANDS])
def test_a_command_and_its_flags_are_read_or_refused_by_name(
    row: tuple[str, ...], runner: object, capfd: pytest.CaptureFixture[str]
) -> None:
    words = row[0].removeprefix("kwokctl ").split()
    flag = words.pop() if words[-1].startswith("-") else ""
    if row[1] in SERVED:
        assert run(["help", *words] if words else ["--help"], ReachingRunner()) == 0
        assert not flag or flag in capfd.readouterr().out.replace("[no-]", "")
        return
    more = [flag] if flag == "--dry-run" else [f"{flag}=x"] if flag else []
    more += ["--path=x"] if words[:1] == ["snapshot"] and flag else []
    assert run([*(words or ["get", "clusters"]), *more], ReachingRunner()) == 2
    assert "not supported" in capfd.readouterr().err


RUNTIMES = rows("Runtimes")


@pytest.mark.parametrize("row", RUNTIMES, ids=[row[0] for row in RUNTIMES])
def test_a_runtime_is_found_or_refused_by_name_with_the_reason(
    row: tuple[str, ...], tmp_path: Path
) -> None:
    name, fate, reason = row
    host = Host(WorkDir(tmp_path))
    if fate in SERVED:
        assert load(name, host).name == name
    else:
        with pytest.raises(NotServedError, match=name) as caught:
            load(name, host)
        assert caught.value.hint == reason


COMPONENTS = rows("Components")


@pytest.mark.parametrize(("name", "fate", "remark"), COMPONENTS, ids=[row[0] for row in COMPONENTS])
def test_a_component_is_found_or_refused_by_name(name: str, fate: str, remark: str) -> None:
    resolved = resolve_with_add_ons(usual_options(), {"enable": (name,)}, {}, ()).resolved
    if fate in SERVED:
        add_ons = {each.add_on.name for each in resolved.options.extras if each.add_on}
        assert name in {*selected(resolved.options), *add_ons}
    else:
        with pytest.raises(NotServedError, match=name):
            selected(resolved.options)


def test_no_row_is_without_a_fate() -> None:
    fates = {row[1] for row in (*COMMANDS, *RUNTIMES, *COMPONENTS)} | {row[3] for row in OPTIONS}

    assert fates <= SERVED | {"later", "refused"}
    assert (len(OPTIONS), len(COMMANDS) > 50) == (119, True)
