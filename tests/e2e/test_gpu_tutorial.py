"""`docs/tutorial-gpus.md`: every command of it, in its order."""

import re
import subprocess
from pathlib import Path

import pytest

from tests.support.installed import Installed
from tests.support.tour import commands, script

pytestmark = [pytest.mark.components, pytest.mark.e2e, pytest.mark.timeout(900, func_only=True)]

PAGE = Path(__file__).parents[2] / "docs/tutorial-gpus.md"


def test_a_thousand_gpus_are_trained_on_as_the_page_says(
    installed: Installed, tmp_path: Path
) -> None:
    assert len(list(commands(PAGE))) >= 15

    done = subprocess.run(
        ["bash", "-c", script(PAGE)],
        cwd=tmp_path, env=installed.environment, stdin=subprocess.DEVNULL,
        capture_output=True, text=True, timeout=800, check=False,
    )  # fmt: skip

    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
    assert "failed:" not in done.stderr
    before, _, after = done.stdout.partition("job.batch/train condition met")
    assert "nvidia.com/gpu=0/1000" in before
    assert "nvidia.com/gpu=512/1000" in after
    assert after.count("(UUID: GPU-") == 8
    assert len(re.findall(r'^DCGM_FI_DEV_FB_USED{.*pod="train-0-', after, re.MULTILINE)) == 8
    assert '"driver":"gpu.nvidia.com"' in after
    waiting = after.partition("job.batch/late condition met")[2].partition('job.batch "train"')[0]
    assert waiting.count("Pending") == 64
    assert after.count("rack=dgx-h100-rack-0001,leaf=dgx-h100-leaf-0000") == 1
    # The page cleans up after itself.
    assert installed.ok("get", "clusters") == ""
    assert list(tmp_path.iterdir()) == []
