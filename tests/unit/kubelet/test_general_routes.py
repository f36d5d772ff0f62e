from pathlib import Path

import pytest

from kwokctl.embedded.http.messages import Answer, Request
from kwokctl.embedded.http.route_table import Route
from kwokctl.kubelet.general_routes import Companion, general_routes, without_debugging
from tests.support.kubelet_rig import serving_kubelet


async def lines(_: Request) -> Answer:
    return Answer(200, b"lines")


LOGS = Route(path="/containerLogs", is_tree=True, answer=lines, is_debugging=True)
EXEC = Route(path="/exec", is_tree=True, answer=lines, is_debugging=True)


@pytest.mark.parametrize("path", ["/healthz", "/livez", "/readyz", "/metrics"])
async def test_a_kubelet_tells_how_it_is(tmp_path: Path, path: str) -> None:
    async with serving_kubelet(general_routes(lambda: "up 1\n"), tmp_path) as at:
        assert (await at.ask(f"GET {path} HTTP/1.1")).endswith(("ok", "up 1\n"))


async def test_it_is_ready_once_all_documents_are_known(tmp_path: Path) -> None:
    known: list[bool] = []
    async with serving_kubelet(general_routes(str, lambda: bool(known)), tmp_path) as at:
        assert await at.status("GET /readyz HTTP/1.1") == 503
        assert await at.status("GET /livez HTTP/1.1") == 200
        known.append(True)
        assert await at.status("GET /readyz HTTP/1.1") == 200


async def test_it_answers_for_what_else_is_in_the_process(tmp_path: Path) -> None:
    async def page() -> str:
        return "# HELP b B.\nb 1\n# HELP c C.\nc 1\n"

    own = "# HELP a A.\na 1\n# HELP b B.\nb 2\n"
    companion = Companion(is_ready=lambda: False, metrics=page)
    async with serving_kubelet(general_routes(lambda: own, companion=companion), tmp_path) as at:
        assert await at.status("GET /readyz HTTP/1.1") == 503
        metrics = await at.ask("GET /metrics HTTP/1.1")

    assert metrics.endswith(f"{own}# HELP c C.\nc 1\n")


@pytest.mark.parametrize("path", ["/run/a/b/c", "/runningpods/", "/debug/pprof/profile"])
async def test_what_is_never_served_is_off(tmp_path: Path, path: str) -> None:
    async with serving_kubelet(general_routes(str), tmp_path) as at:
        for method in ("GET", "POST"):
            answer = await at.ask(f"{method} {path} HTTP/1.1")
            assert answer.startswith("HTTP/1.1 405 ")
            assert answer.endswith("Debug endpoints are disabled.\n")


async def test_handlers_for_debugging_may_be_off(tmp_path: Path) -> None:
    routes = without_debugging([*general_routes(str), LOGS, EXEC])
    async with serving_kubelet(routes, tmp_path) as at:
        assert await at.status("GET /containerLogs/a/b/c HTTP/1.1") == 405
        assert await at.status("POST /exec/a/b/c HTTP/1.1") == 405
        assert await at.status("GET /metrics HTTP/1.1") == 200
