"""Scripts of documents, run as they stand; what a new user runs is in tests/first_day."""

import json
import re
import subprocess
from pathlib import Path

import pytest

from tests.support.installed import Installed, kubeconfig_names

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.components,
    pytest.mark.timeout(600, func_only=True),
]

ROOT = Path(__file__).parents[2]


def test_the_script_of_the_ci_page_keeps_the_logs_of_a_failure_and_leaves_no_cluster(
    installed: Installed,
) -> None:
    page = (ROOT / "docs/how-to/run-in-ci.md").read_text(encoding="utf-8")
    [script_of_the_page] = re.findall(r"^```bash\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    place = installed.folder / "ci"
    place.mkdir()

    done = subprocess.run(
        ["bash", "-c", script_of_the_page + "exit 3  # a test of the job's that fails\n"],
        cwd=place,
        env=installed.environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )

    assert done.returncode == 3, done.stdout[-2000:] + done.stderr[-4000:]
    logs = place / "kwokctl-logs"
    components = [each["name"] for each in json.loads((logs / "components.json").read_bytes())]
    assert "etcd" in components
    assert all((logs / "ci/components" / f"{name}.log").stat().st_size for name in components)
    assert "cluster 'ci' is deleted" in done.stderr
    assert list(installed.temporary.glob("tmp.*")) == []
    assert kubeconfig_names(installed.kubeconfig)["contexts"] == ["elsewhere"]
