"""What tests of scores have in common: values of figures of a story."""

from kwokctl.measure.figures.figure_catalogue import figures_in, whole_run
from kwokctl.measure.figures.values import SingleNumber, Value
from kwokctl.measure.scoring.score_words import ScoreWords
from tests.support.storied import Story


def value(story: Story, name: str, **words: object) -> Value:
    """Return a figure of a run of 100 seconds."""
    history = story.history()
    wanted = next(each for each in figures_in(history) if each.name == f"incidents.{name}")
    return wanted.value(whole_run(history, score=ScoreWords(**words)))  # type: ignore[arg-type]  # words


def number(story: Story, name: str, **words: object) -> float:
    found = value(story, name, **words)
    assert isinstance(found, SingleNumber)
    return found.value


def detail(story: Story, name: str) -> dict[str, int]:
    found = value(story, name)
    assert isinstance(found, SingleNumber)
    return found.detail


def cordoned_wrongly() -> Story:
    """Return a story of three faults: n1 is cordoned from 15 to 50, n2 is missed, n3 has a benign one and is cordoned from 40 to 60."""
    story = Story(4)
    story.fault(10, 1, end=40)
    story.fault(20, 2)
    story.fault(30, 3, severity="benign", of="xid-94")
    story.cordon(15, 1)
    story.uncordon(50, 1)
    story.cordon(40, 3)
    story.uncordon(60, 3)
    return story
