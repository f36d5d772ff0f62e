"""Stages of a few lines, and what `stage lint` finds in them."""

from pathlib import Path

from kwokctl.clusters.stage_tools.linting.lint import lint

HEAD = "kind: Stage\nmetadata: {name: %s}\nspec:\n  resourceRef: {kind: Pod}\n"
PHASE = "jq: {key: .status.phase, operator: In, values: [%s]}"


def findings(tmp_path: Path, *stages: str) -> list[str]:
    """Write the Stages, whose lines begin at the fifth of each document, and lint them."""
    documents = [
        HEAD % f"s{number}" + "".join(f"  {line}\n" for line in stage.splitlines())
        for number, stage in enumerate(stages)
    ]
    file = tmp_path / "stages.yaml"
    file.write_text("---\n".join(documents))
    return [f"{each.line} {each.stage} {each.field} {each.problem}" for each in lint([str(file)])]


def selecting(*rules: str) -> str:
    lines = "".join(f"  - {rule}\n" for rule in rules)
    return f"selector:\n  matchExpressions:\n{lines}steps: [{{delete: true}}]"
