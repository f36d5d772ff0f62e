"""What both demonstrations do: run two ways in turn, each from the same state of one cluster, and compare them on one page."""

import subprocess
import sys
from argparse import ArgumentTypeError
from functools import partial
from pathlib import Path

PATIENCE = 1200
"""Seconds that a step may take; each ends when what it waits for has happened."""
DIALECT = "azurehpc"
"""The plug-ins of node-problem-detector whose conditions the nodes show."""
TRIES = 3
"""How often a run is made that this machine was too busy to record."""


def add_words(parser, figures, folder, *, runs, options=()):
    """Add the words that both have; `figures` are compared, and as many `runs` made of each kind, unless others are given.

    `folder` holds what is kept; `options` are those of the comparison.
    """
    parser.add_argument(
        "--runs",
        type=int,
        default=runs,
        help=f"of each kind; a verdict needs four [default: {runs}]",
    )
    parser.add_argument(
        "--figure", action="append", help=f"what is compared [default: {', '.join(figures)}]"
    )
    parser.add_argument(
        "--folder",
        type=empty_folder,
        default=folder,
        help="for records and pages [default: %(default)s]",
    )
    parser.set_defaults(figures=figures, options=options)


def empty_folder(path):
    """Return the path of a folder that holds nothing yet; it is tried before the cluster is made."""
    folder = Path(path)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise ArgumentTypeError(f"'{path}' is there already: delete it, or give another folder")
    return folder


def in_turn(cluster, words, kinds, one):
    """Let `one` measure a run of each kind again and again, and compare them.

    It gets the kind, a number, and the path of the record without its ending, and returns the measurement.
    """
    words.folder.mkdir(parents=True, exist_ok=True)
    cluster.mark("steady", rest=1)
    for number in range(1, words.runs + 1):
        for kind in kinds:
            recorded(cluster, partial(one, kind, number), words.folder / kind / f"run-{number}")
    compare(words, kinds)


def recorded(cluster, one, name):
    """Measure one run, and if this machine was too busy to record it, measure it again: figures of such a run mean nothing."""
    name.parent.mkdir(exist_ok=True)
    for left in reversed(range(TRIES)):
        cluster.rewind("steady")
        verdict = one(name).verdict
        if verdict.valid or not left:
            return
        why = "; ".join(verdict.problems)
        print(f"{name.parent.name} {name.name} is measured again: {why}", file=sys.stderr)
        for file in name.parent.glob(f"{name.name}.*"):
            file.unlink()


def compare(words, kinds):
    """Write the page on which the runs of both kinds stand side by side, and say what it says."""
    figures = [word for each in words.figure or words.figures for word in ("--figure", each)]
    compare = [
        sys.executable,
        "-m",
        "kwokctl",
        "measure",
        "compare",
        *kinds,
        *figures,
        *words.options,
    ]
    sys.stdout.flush()
    # In the folder, so that both sides have the names of their kinds.
    done = subprocess.run([*compare, "--report", "comparison.html"], cwd=words.folder, check=False)
    if done.returncode:
        sys.exit(f"the runs were not compared; what each was like is in '{words.folder}'")
    print(f"the page is {words.folder / 'comparison.html'}")
