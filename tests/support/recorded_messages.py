"""Progress that records notes and warnings."""

from dataclasses import dataclass, field

from kwokctl.progress import Silent


@dataclass
class RecordedMessages(Silent):
    """Records notes and warnings; steps are silent."""

    lines: list[str] = field(default_factory=list)

    def note(self, text: str) -> None:
        self.lines.append(text)

    def warn(self, text: str) -> None:
        self.lines.append(text)
