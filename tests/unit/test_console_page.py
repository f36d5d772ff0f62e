"""What a page shows is compared with what its commands print."""

from pathlib import Path

import pytest

from tests.support.console_page import console_steps, run_steps

PAGE = """\
# A page

```console
$ cat <<'END'
> 7  nodes are ready
> and more
> END
4 nodes are ready
…
$ x=1
$ echo "$x pod"; echo more >&2
2 pod
more
```
"""


def test_numbers_and_spaces_may_differ_and_lines_be_left_out(tmp_path: Path) -> None:
    (tmp_path / "page.md").write_text(PAGE)
    steps = console_steps(tmp_path / "page.md")

    outputs = run_steps(steps, tmp_path, {"PATH": "/usr/bin:/bin"}, 60)

    assert [step.lacks(output) for step, output in zip(steps, outputs, strict=True)] == [[], [], []]
    assert steps[0].lacks("7 nodes are gone") == ["4 nodes are ready"]


def test_a_command_that_fails_ends_the_page_with_what_it_said(tmp_path: Path) -> None:
    (tmp_path / "page.md").write_text(PAGE.replace("$ x=1", "$ echo oh; false"))

    with pytest.raises(AssertionError, match="echo oh; false\noh"):
        run_steps(console_steps(tmp_path / "page.md"), tmp_path, {"PATH": "/usr/bin:/bin"}, 60)
