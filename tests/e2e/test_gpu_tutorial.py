"""`docs/tutorial-gpus.md`: every command of it, in its order."""

import re
import subprocess
from pathlib import Path

import pytest

from tests.support.installed import Installed
from tests.support.places import Place
from tests.support.prometheus import NoPrometheusError, chosen
from tests.support.tour import commands, script

pytestmark = [pytest.mark.components, pytest.mark.e2e, pytest.mark.timeout(900, func_only=True)]

PAGE = Path(__file__).parents[2] / "docs/tutorial-gpus.md"
_OPTIONS = " --prometheus-port 19090 --prometheus-tls=false"
_SECTION = re.compile("^## In Prometheus$.*?(?=^## )", re.MULTILINE | re.DOTALL)


def without_prometheus(folder: Path) -> Path:
    """Write the page as it is for somebody who has no Prometheus."""
    text = PAGE.read_text(encoding="utf-8")
    assert _OPTIONS in text
    page = folder / PAGE.name
    page.write_text(_SECTION.sub("", text.replace(_OPTIONS, "")), encoding="utf-8")
    return page


def test_a_thousand_gpus_are_trained_on_as_the_page_says(
    installed: Installed, tmp_path: Path
) -> None:
    work = tmp_path / "work"
    work.mkdir()
    page, environment = PAGE, dict(installed.environment)
    try:
        *_, environment["KWOK_PROMETHEUS_BINARY"] = chosen(Place(name="binary", runtime="binary"))
    except NoPrometheusError:
        page = without_prometheus(tmp_path)
    assert len(list(commands(page))) >= 15

    done = subprocess.run(
        ["bash", "-c", script(page)],
        cwd=work, env=environment, stdin=subprocess.DEVNULL,
        capture_output=True, text=True, timeout=800, check=False,
    )  # fmt: skip

    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
    assert "failed:" not in done.stderr
    before, _, after = done.stdout.partition("job.batch/train condition met")
    assert "nvidia.com/gpu=0/1000" in before
    assert "nvidia.com/gpu=512/1000" in after
    assert after.count("(UUID: GPU-") == 8
    assert len(re.findall(r'^DCGM_FI_DEV_FB_USED{.*pod="train-0-', after, re.MULTILINE)) == 8
    if page == PAGE:
        watts = re.findall(r'"leaf":"dgx-h100-leaf-\d+"},"value":\[[\d.]+,"(\d+)', after)
        assert sum(map(int, watts)) > 512 * 300
    assert '"driver":"gpu.nvidia.com"' in after
    waiting = after.partition("job.batch/late condition met")[2].partition('job.batch "train"')[0]
    assert waiting.count("Pending") == 64
    assert after.count("rack=dgx-h100-rack-0001,leaf=dgx-h100-leaf-0000") == 1
    # The page cleans up after itself.
    assert installed.ok("get", "clusters") == ""
    assert list(work.iterdir()) == []
