""""""

import subprocess
from pathlib import Path

import pytest

from kwokctl.model import HttpProbe
from kwokctl.script.posix_shell import curl, quoted, written
from kwokctl.script.steps import (
    Action,
    Assignment,
    Call,
    Command,
    Comment,
    Deadline,
    FileText,
    Folder,
    Script,
    ShellFunction,
    ShellLines,
    Until,
    later,
)

_GREET = ShellFunction("greet", 'greet() {\n  echo "hello $1"\n}')
_FAILS = ShellFunction("fails", "fails() {\n  false\n}")


def text_of(*steps: Action) -> str:
    return written(Script(command="kwokctl test", steps=steps, variables={"WHERE": "a b"}))


def ran(*steps: Action) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["sh"], input=text_of(*steps), capture_output=True, text=True, check=False, timeout=60
    )


@pytest.mark.parametrize("text", ["$HOME `id` \\n 'x' \"y\"\n", "EOF\nEOF_\n", "\n  \n", "ä\t€\n"])
def test_a_file_has_the_text_whatever_a_shell_makes_of_it(tmp_path: Path, text: str) -> None:
    file = tmp_path / "a b" / "file"
    done = ran(Folder(file.parent), FileText(file, text, 0o600))

    assert done.returncode == 0
    assert file.read_text("utf-8") == text
    assert file.stat().st_mode & 0o777 == 0o600
    assert file.parent.stat().st_mode & 0o777 == 0o700


def test_what_is_known_later_is_put_into_words_and_texts(tmp_path: Path) -> None:
    file = tmp_path / "file"
    done = ran(
        Assignment("address", "echo '10.0.0.1 $x'"),
        FileText(file, f"$HOME is at {later('address')}\\\n"),
        Command(("echo", f"--host=$name:{later('address')}:1")),
    )

    assert file.read_text() == "$HOME is at 10.0.0.1 $x\\\n"
    assert done.stdout == "--host=$name:10.0.0.1 $x:1\n"


def test_a_long_command_has_its_words_in_several_lines() -> None:
    words = [f"--option-{n}={'x' * 20} y" for n in range(30)]
    done = ran(Command(("printf", "%s\n", *words)))

    assert done.stdout.splitlines() == words
    assert max(len(line) for line in text_of(Command(("printf", *words))).splitlines()) <= 110


def test_an_option_stays_in_one_line_with_its_value() -> None:
    text = text_of(Command(("curl", *["--cacert", "/a/long/path/of/a/file"] * 10)))

    assert "--cacert \\\n" not in text


def test_the_end_of_a_text_is_a_word_that_is_not_in_it(tmp_path: Path) -> None:
    assert "<<'EOF__'" in text_of(FileText(tmp_path / "f", "EOF\nEOF_\n"))


def test_functions_are_written_once_and_in_front() -> None:
    done = ran(Call(_GREET, ("a b",)), Call(_GREET, ("c",)))

    assert done.stdout == "hello a b\nhello c\n"
    assert text_of(Call(_GREET, ("a",)), Call(_GREET, ("b",))).count("greet() {") == 1


def test_a_command_that_fails_ends_the_script() -> None:
    done = ran(Command(("false",)), Command(("echo", "on")))

    assert (done.returncode, done.stdout) == (1, "")


def test_a_command_is_left_out_where_another_one_succeeds() -> None:
    done = ran(
        Command(("echo", "first"), unless=("true",)), Command(("echo", "second"), unless=("false",))
    )

    assert done.stdout == "second\n"


def test_a_command_gets_its_input_and_environment() -> None:
    done = ran(Command(("sh", "-c", 'cat; echo "$A"'), stdin="in\n", env={"A": "b c"}))

    assert done.stdout == "in\nb c\n"


def test_a_script_that_was_cut_off_does_nothing() -> None:
    whole = text_of(Command(("echo", "one")), Command(("echo", "two")))
    done = subprocess.run(
        ["sh"], input=whole[:-3], capture_output=True, text=True, check=False, timeout=60
    )

    assert done.stdout == ""
    assert done.returncode


def test_programs_of_the_script_do_not_read_the_rest_of_it() -> None:
    assert ran(ShellLines("cat"), Command(("echo", "end"))).stdout == "end\n"


def test_variables_are_exported_and_others_cannot_write_what_is_made() -> None:
    done = ran(Comment("two\nlines"), ShellLines("sh -c 'echo \"$WHERE\"'"), ShellLines("umask"))

    where, mask = done.stdout.splitlines()
    assert where == "a b"
    assert int(mask, 8) & 0o022 == 0o022


def test_a_folder_is_made_once(tmp_path: Path) -> None:
    assert text_of(Folder(tmp_path), Folder(tmp_path)).count("mkdir") == 1


def test_a_wait_ends_when_the_program_has_ended() -> None:
    done = ran(Until(HttpProbe(url="http://127.0.0.1:1/"), Call(_FAILS, ("etcd",))))

    assert (done.returncode, done.stderr) == (1, "error: etcd has exited\n")


def test_a_wait_ends_when_its_time_is_over() -> None:
    done = ran(Deadline(-1), Until(HttpProbe(url="http://127.0.0.1:1/"), Call(_GREET, ("etcd",))))

    assert (done.returncode, done.stderr) == (1, "error: it takes longer than the timeout\n")


def test_a_probe_is_asked_by_curl_with_its_certificates(tmp_path: Path) -> None:
    probe = HttpProbe(
        url="https://127.0.0.1:1/readyz",
        ca=tmp_path / "ca",
        cert=tmp_path / "c",
        key=tmp_path / "k",
    )

    words = curl(probe)
    assert words[-1] == probe.url
    assert words[words.index("--cacert") + 1] == str(probe.ca)
    assert words[words.index("--cert") + 1] == str(probe.cert)
    assert words[words.index("--key") + 1] == str(probe.key)


def test_the_empty_word_is_a_word() -> None:
    assert quoted("") == "''"
