"""Write docs/sources/exercises.md from `rosenblatt.exercises`: ``python scripts/exercise_page.py``."""

from __future__ import annotations

from pathlib import Path

import rosenblatt as rb

PAGE = Path(__file__).parents[1] / "docs" / "sources" / "exercises.md"
LECTURES = {
    "koski": ("Koski", "koski"),
    "hladka-holub": ("Hladká and Holub", "hladka_holub"),
    "harchaoui": ("Harchaoui", "harchaoui"),
    "kernels": ("Kernel slides", "kernel_slides"),
    "zhang": ("Zhang", "zhang"),
}
"""The heading of each lecture, and its companion page."""
HEAD = """# Exercises

Each lecture has exercises, from first steps to proofs. Each checks itself: a right answer is
called right, and a wrong one gets a hint. Answers and hints are computed in fractions from the question.

```python
>>> import rosenblatt as rb
>>> rb.exercises.check("koski-2", [0.6, 0.9, -0.2])
Right.
>>> rb.exercises.check("koski-5", [1, 0, 0])
Not yet: Row 3 is on the wrong side: its score is -2, and its label is +1.
>>> rb.exercises.check("zhang-7", [1, 1, 1, 0])
Not yet: In the sum 1·w₁ and 1·w₂ and 1·b are left over. Everything must cancel.
```

For a class, draw other numbers by a seed. The same seed gives the same sheet, and `check` needs it too:

```python
>>> sheet = rb.exercises.sheet("koski", seed=2026)
>>> print(sheet.splitlines()[4])
The weights are $w = (2, 1)$ and the bias is $b = 1$. Compute $f(x)$ for $x = (-3, -1)$.
>>> solved = rb.exercises.sheet("koski", seed=2026, answers=True)
>>> rb.exercises.check("koski-1", rb.exercises.get("koski-1", seed=2026).solution, seed=2026)
Right.
```

`rb.exercises.get("koski-1").worked` is the worked answer. On this page it is folded away.
"""


def text() -> str:
    """Return the page."""
    parts = [HEAD]
    for lecture, (heading, page) in LECTURES.items():
        parts.append(f"## {heading}\n\nThey follow [the companion]({page}.md).\n")
        for name in rb.exercises.names(lecture):
            each = rb.exercises.get(name)
            parts.append(
                f"### {name}\n\n**{each.title}.** {each.question}\n\n"
                f'*Answer with* `rb.exercises.check("{name}", …)`: {each.form}.\n\n'
                f":::{{dropdown}} Worked answer\n{each.worked}\n\n"
                f"A right answer: `{each.solution}`.\n:::\n"
            )
    return "\n".join(parts)


if __name__ == "__main__":
    PAGE.write_text(text(), encoding="utf-8")
