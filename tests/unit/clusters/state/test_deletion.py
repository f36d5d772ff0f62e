"""A cluster that is deleted while it is followed."""

import asyncio
from pathlib import Path

import pytest

from kwokctl.clusters.state.deletion import Deletion


@pytest.mark.parametrize("later", ["", "token: other"])
async def test_a_cluster_is_deleted_also_when_another_has_its_name_by_now(
    tmp_path: Path, later: str
) -> None:
    kubeconfig = tmp_path / "kwokctl.yaml"
    kubeconfig.write_text("token: mine", encoding="utf-8")
    waiting = asyncio.create_task(Deletion(kubeconfig).wait())
    kubeconfig.write_text("token: mine", encoding="utf-8")  # as 'start cluster' does
    done, _ = await asyncio.wait([waiting], timeout=0.2)
    assert not done

    kubeconfig.unlink()
    if later:
        kubeconfig.write_text(later, encoding="utf-8")

    await asyncio.wait_for(waiting, 20)


async def test_one_that_is_gone_at_once_is_not_waited_for(tmp_path: Path) -> None:
    await asyncio.wait_for(Deletion(tmp_path / "kwokctl.yaml").wait(), 20)
