"""Write what follows from the registry of learners: ``python scripts/learners.py --write`` after a change of it.

It makes the names that editors complete in ``rosenblatt``, the table of learners on the page of commands, and the
entries of the reference.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from rosenblatt.registry import BUILT_IN, class_of, declaration_of

ROOT = Path(__file__).parents[1]
INIT = ROOT / "src" / "rosenblatt" / "__init__.py"
COMMANDS = ROOT / "docs" / "look_up" / "command_line.md"
REFERENCE = ROOT / "docs" / "look_up" / "reference.md"
LINE = 115
METHODS = (
    "fit",
    "fit_blocks",
    "partial_fit",
    "learn_one",
    "predict",
    "predict_one",
    "score_one",
    "decision_function",
    "certify",
)
"""What a page of the reference shows of a learner, where the index does not say so."""


def imports() -> str:
    """Return the imports of all learners, for editors and type checkers."""
    lines = []
    for name, entry in sorted(BUILT_IN.items(), key=lambda each: (each[1].module, each[0])):
        line = f"    from rosenblatt.{entry.module} import {name} as {name}"
        if len(line) > LINE:
            line = line.replace(f"import {name} as", f"import (\n        {name} as") + ",\n    )"
        lines.append(line)
    return "\n".join(["if TYPE_CHECKING:", *lines])


def table() -> str:
    """Return the table of learners by their names on the command line."""
    rows = ["| `--learner` | class | what it is | data of any size |", "|---|---|---|---|"]
    for name, entry in BUILT_IN.items():
        can = declaration_of(class_of(name)).abilities
        told = "no" if "blocks" not in can else "yes" if "checkpoints" in can else "yes, without checkpoints"
        for command, fixed in entry.commands.items():
            given = ", ".join(f"{key}={value!r}" for key, value in fixed.items())
            made = f"`{name}({given})`" if given else f"`{name}`"
            rows.append(f"| `{command}` | {made} | {entry.titles.get(command, command)} | {told} |")
    return "\n".join(rows)


def reference(text: str) -> str:
    """Return the index of the reference with an entry for each learner that it lacks."""
    for name in BUILT_IN:
        if not re.search(rf"^rosenblatt\.{name}\b", text, re.MULTILINE):
            shown = ", ".join(each for each in METHODS if hasattr(class_of(name), each))
            section = text.index("## Other online rules")
            end = text.index("\n:::\n", section) + 1
            text = f"{text[:end]}rosenblatt.{name}: {shown}\n{text[end:]}"
    return text


def between(text: str, made: str, begin: str, end: str) -> str:
    """Return a text with what is between two marks replaced."""
    before, _, rest = text.partition(begin + "\n")
    return f"{before}{begin}\n{made}\n{end}{rest.partition(end)[2]}"


def pages() -> dict[Path, str]:
    """Return the files that follow from the registry, as they should be."""
    marks = "<!-- made by scripts/learners.py -->", "<!-- end -->"
    return {
        INIT: between(INIT.read_text("utf-8"), imports(), "# made by scripts/learners.py", "# end"),
        COMMANDS: between(COMMANDS.read_text("utf-8"), table(), *marks),
        REFERENCE: reference(REFERENCE.read_text("utf-8")),
    }


if __name__ == "__main__":
    for path, text in pages().items():
        if path.read_text("utf-8") != text:
            print(path.relative_to(ROOT))
            if "--write" in sys.argv:
                path.write_text(text, "utf-8")
