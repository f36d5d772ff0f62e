"""The names of the records of repeated runs: `web-1.jsonl.gz`, `web-2.jsonl.gz` and so on for `web.jsonl.gz`."""

import re
from datetime import datetime
from itertools import chain, count
from pathlib import Path

ENDINGS = (".jsonl.gz", ".jsonl")
_NUMBERED = re.compile(r"-([0-9]+)$")


def new_record(folder: Path, cluster: str) -> Path:
    """Return the path of a record that does not exist yet, named after its cluster and the present second."""
    moment = datetime.now().astimezone().strftime("%Y%m%d-%H%M%S")
    ends = chain([""], (f".{number}" for number in count(2)))
    paths = (folder / f"{cluster}-{moment}{end}{ENDINGS[0]}" for end in ends)
    return next(path for path in paths if not path.exists())


def newest_record(folder: Path, cluster: str) -> Path | None:
    """Return the last record of a cluster that `new_record` has named; None if there is none."""
    named = re.compile(rf"{re.escape(cluster)}-[0-9]{{8}}-[0-9]{{6}}(\.[0-9]+)?\.jsonl\.gz")
    found = folder.iterdir() if folder.is_dir() else ()
    known = [each for each in found if named.fullmatch(each.name)]
    return max(known, key=lambda each: each.stat().st_mtime, default=None)


def record_of_run(base: Path, number: int) -> Path:
    """Return the record of a run, by its number from 1 on."""
    return _with(base, str(number))


def record_of_warm_up(base: Path, number: int) -> Path:
    """Return the record of a warm-up run."""
    return _with(base, f"warm-up-{number}")


def record_of_side(base: Path, side: str) -> Path:
    """Return the base of the records of one side of a comparison."""
    return _with(base, side)


def whole_objects_path(record: Path) -> Path:
    """Return where whole objects are written beside a record: `web.yaml.gz` beside `web.jsonl.gz`."""
    return _beside(record, ".yaml.gz")


def profiles_path(record: Path) -> Path:
    """Return the folder of the profiles of components beside a record: `web.profiles`."""
    return _beside(record, ".profiles")


def runs_of(base: Path) -> list[Path]:
    """Return the records that there are of the runs of a base, which may lack its ending, by their numbers."""
    stem, ending = _parts(base)
    endings = (ending,) if ending else ENDINGS
    names = [
        each
        for each in (base.parent.iterdir() if base.parent.is_dir() else ())
        if each.name.endswith(endings) and _without_number(_parts(each)[0]) == stem
    ]
    numbers = {each: number for each in names if (number := number_of_run(each)) is not None}
    return sorted(numbers, key=lambda each: (numbers[each], each.name))


def number_of_run(record: Path) -> int | None:
    """Return the number of a run; None if the name has none."""
    match = _NUMBERED.search(_parts(record)[0])
    return int(match[1]) if match else None


def _without_number(stem: str) -> str:
    return _NUMBERED.sub("", stem)


def _beside(record: Path, ending: str) -> Path:
    return record.with_name(record.name.removesuffix(".gz").removesuffix(".jsonl") + ending)


def _with(base: Path, word: str) -> Path:
    stem, ending = _parts(base)
    return base.with_name(f"{stem}-{word}{ending}")


def _parts(path: Path) -> tuple[str, str]:
    """Return a name without its ending, and the ending."""
    for ending in (*ENDINGS, ".gz"):
        if path.name.endswith(ending):
            return path.name.removesuffix(ending), ending
    return path.name, ""
