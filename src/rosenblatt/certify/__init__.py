"""Separable or not, with a proof that anyone can check.

The package is called by its own name: ``rosenblatt.certify(X, y)`` is `rosenblatt.certify.separability.certify`.
Nothing is loaded before it is needed, so that ``python -m rosenblatt.certify.check`` needs nothing else.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import Any

_NAMES = {
    "Certificate": "certificate",
    "ClassTables": "class_tables",
    "Inseparable": "certificate",
    "Margin": "margin",
    "Overlap": "certificate",
    "Quasi": "certificate",
    "Separable": "certificate",
    "Undecided": "certificate",
    "Verification": "certificate",
    "certify": "separability",
    "cover_probability": "separability",
}

__all__ = sorted(_NAMES)


def __getattr__(name: str) -> Any:
    if name in _NAMES:
        return getattr(import_module(f"{__name__}.{_NAMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])


class _Called(ModuleType):
    """A package that can be called: its name is both the function's and the folder's."""

    def __call__(
        self,
        X: Any,
        y: Any,
        *,
        bias: bool = True,
        margin: bool = False,
        time_limit: float | None = None,
        guess: Any = None,
    ) -> Any:
        from rosenblatt.certify.separability import certify

        return certify(X, y, bias=bias, margin=margin, time_limit=time_limit, guess=guess)


sys.modules[__name__].__class__ = _Called
