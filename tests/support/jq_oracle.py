"""Fill a golden file with what `gojq`, or the program named second, makes of its cases.

python tests/support/jq_oracle.py tests/golden/jq.json [jq]
"""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any


def answer(program: str, text: str, data: Any) -> dict[str, Any]:
    """Return the case with its results, or with the error it ends in."""
    run = subprocess.run(
        [program, "--compact-output", text],
        input=json.dumps(data),
        capture_output=True,
        text=True,
        check=False,
    )
    if run.returncode:
        return {"text": text, "fails": run.stderr.strip().splitlines()[0]}
    return {"text": text, "results": [json.loads(line) for line in run.stdout.splitlines()]}


def main(path: Path, program: str) -> None:
    """Rewrite the file; a new case needs nothing but its text."""
    golden = json.loads(path.read_text(encoding="utf-8"))
    golden["cases"] = [answer(program, case["text"], golden["data"]) for case in golden["cases"]]
    written = json.dumps(golden, ensure_ascii=False, indent=1)
    path.write_text(f"{written}\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else "gojq")
