"""The logs of a machine, as a kubelet serves them."""

import pytest

from kwokctl.embedded.http.messages import Answer, NoAnswerError, RefusedError, Request
from kwokctl.embedded.silence import KUBELET
from kwokctl.faults.overlays.open_entries import OPEN_FAULTS
from kwokctl.kubelet.logs.node_logs import NodeLogs
from tests.support.hit_nodes import SINCE, hit, hit_by
from tests.support.usage_fleet import HandFleet, node

XID = "NVRM: Xid (PCI:0000:1b:00): 79, GPU has fallen off the bus."
FIRST = hit("a", kernel_log=("first line", "second line"))
LATER = hit("b", kernel_log=(XID,), since=SINCE + 3600.5)
FAULTS = hit_by(LATER, FIRST)
FILE = (
    "Jan 15 08:00:00 a kernel: [    0.000000] first line\n"
    "Jan 15 08:00:00 a kernel: [    0.000000] second line\n"
    f"Jan 15 09:00:00 a kernel: [ 3600.500000] {XID}\n"
)
HOUR = "2027-01-15T08:30:00Z"


async def asked(path: str = "/logs/", *query: tuple[str, str], faults: object = FAULTS) -> Answer:
    fleet = HandFleet([], [node(annotations=faults, addresses=("198.18.0.1",))])
    request = Request(method="GET", path=path, query=query, local_host="127.18.0.1")
    return await NodeLogs(fleet).answer(request)


async def text(path: str = "/logs/", *query: tuple[str, str], faults: object = FAULTS) -> str:
    body = (await asked(path, *query, faults=faults)).body
    assert isinstance(body, bytes)
    return body.decode()


@pytest.mark.parametrize("path", ["/logs/kern.log", "/logs/nodes/a/kern.log"])
async def test_the_kernel_log_has_the_lines_of_open_faults_by_time(path: str) -> None:
    assert await text(path) == FILE
    assert await text(path, faults={}) == ""


@pytest.mark.parametrize("path", ["/logs", "/logs/", "/logs/nodes/a"])
async def test_the_folder_lists_it(path: str) -> None:
    answer = await asked(path)
    assert answer.content_type.startswith("text/html")
    assert answer.body == b'<pre>\n<a href="kern.log">kern.log</a>\n</pre>\n'


@pytest.mark.parametrize("query", ["kern", "kern.log", "/kern.log"])
async def test_a_query_finds_the_file(query: str) -> None:
    assert await text("/logs/", ("query", query)) == FILE


async def test_the_journal_of_the_kernel_has_microseconds() -> None:
    assert (await text("/logs/nodes/a", ("query", "kernel"))).splitlines() == [
        "Jan 15 08:00:00.000000 a kernel: first line",
        "Jan 15 08:00:00.000000 a kernel: second line",
        f"Jan 15 09:00:00.500000 a kernel: {XID}",
    ]


@pytest.mark.parametrize(
    ("options", "places"),
    [
        ((("tailLines", "1"),), [2]),
        ((("tailLines", "0"),), []),
        ((("sinceTime", HOUR),), [2]),
        ((("untilTime", HOUR),), [0, 1]),
        ((("pattern", "xid"),), [2]),
        ((("pattern", "XID"),), []),
        ((("pattern", "line$"), ("tailLines", "1")), [1]),
        ((("boot", "0"),), [0, 1, 2]),
        ((("boot", "-1"),), []),
    ],
)
async def test_options_select_lines(
    options: tuple[tuple[str, str], ...], places: list[int]
) -> None:
    every = (await text("/logs/", ("query", "kernel"))).splitlines()
    wanted = [every[place] for place in places] or ["-- No entries --"]
    assert (await text("/logs/", ("query", "kernel"), *options)).splitlines() == wanted


async def test_a_kubelet_and_an_unknown_service_have_no_lines() -> None:
    assert await text("/logs/", ("query", "kubelet")) == "-- No entries --\n"
    assert await text("/logs/", ("query", "some")) == "\nlog not found for some\n"


async def test_options_do_not_go_with_a_service_of_a_file() -> None:
    found = await text("/logs/", ("query", "kern"), ("tailLines", "1"))
    assert "query resolved to log files for [kern]" in found


@pytest.mark.parametrize(
    ("status", "query"),
    [
        (400, (("query", "  "),)),
        (400, (("query", "kernel"), ("sinceTime", "yesterday"))),
        (400, (("query", "kernel"), ("tailLines", "many"))),
        (406, (("tailLines", "1"),)),
        (406, (("query", "kernel"), ("tailLines", "100001"))),
        (406, (("query", "kernel"), ("boot", "1"))),
        (406, (("query", "kernel"), ("pattern", "("))),
        (406, (("query", "kernel"), ("query", "/kern.log"))),
        (406, (("query", "/kern.log"), ("tailLines", "1"))),
        (406, (("query", "a;b"),)),
        (406, tuple(("query", name) for name in "abcde")),
        (404, (("query", "/other.log"),)),
    ],
)
async def test_a_wrong_query_is_refused_as_by_a_kubelet(
    status: int, query: tuple[tuple[str, str], ...]
) -> None:
    with pytest.raises(RefusedError) as raised:
        await asked("/logs/", *query)
    assert raised.value.status == status


@pytest.mark.parametrize(
    ("status", "path"),
    [(404, "/logs/syslog"), (404, "/logs/../kern.log"), (404, "/logs/nodes/b/kern.log")],
)
async def test_there_is_no_other_file(status: int, path: str) -> None:
    with pytest.raises(RefusedError) as raised:
        await asked(path)
    assert raised.value.status == status


async def test_a_path_and_a_query_exclude_each_other() -> None:
    with pytest.raises(RefusedError, match="path not allowed") as raised:
        await asked("/logs/kern.log", ("query", "kernel"))
    assert raised.value.status == 406


@pytest.mark.parametrize("state", ["silent", "rebooting"])
async def test_a_silent_kubelet_does_not_answer(state: str) -> None:
    for faults in (hit_by(hit(kubelet=state)), {KUBELET: "silent"}):
        with pytest.raises(NoAnswerError):
            await asked("/logs/kern.log", faults=faults)


async def test_a_kubelet_that_is_not_ready_answers() -> None:
    fault = hit(kubelet="not-ready", kernel_log=("a line",))
    assert "a line" in await text("/logs/kern.log", faults=hit_by(fault))


@pytest.mark.parametrize("annotation", ["", "[", "[{}]", '[{"fault":1}]'])
async def test_an_annotation_that_is_none_of_ours_has_no_lines(annotation: str) -> None:
    assert await text("/logs/kern.log", faults={OPEN_FAULTS: annotation}) == ""


async def test_a_time_of_no_calendar_has_no_lines() -> None:
    faults = hit_by(hit("a", since=1e300, kernel_log=("never",)), FIRST)
    assert "never" not in await text("/logs/kern.log", faults=faults)


async def test_a_line_stays_one() -> None:
    faults = hit_by(hit(kernel_log=("one\nJan 1 a kernel: forged",)))
    assert len((await text("/logs/kern.log", faults=faults)).splitlines()) == 1
