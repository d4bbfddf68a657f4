"""The lab: a page that shows a run step by step, alone, in a notebook, or with Python behind it.

The package is callable: ``rosenblatt.lab(clf, X, y)`` calls `rosenblatt.lab.run_page.lab`. The page is
`index.html`, built from ``web/``.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

from rosenblatt.typing import ColumnLike, MatrixLike

__all__ = ["lab"]


def __getattr__(name: str) -> Any:
    if name == "lab":
        from rosenblatt.lab import run_page

        return run_page.lab
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


class _CallablePackage(ModuleType):
    """A package that can be called, because the function has the same name."""

    def __call__(
        self,
        trace: Any,
        X: MatrixLike | None = None,
        y: ColumnLike | None = None,
        *,
        height: int = 800,
        widget: bool = False,
    ) -> Any:
        from rosenblatt.lab.run_page import lab

        return lab(trace, X, y, height=height, widget=widget)


sys.modules[__name__].__class__ = _CallablePackage
