"""Whether data is linearly separable, with a proof that anyone can check.

The package is callable: ``rosenblatt.certify(X, y)`` calls `rosenblatt.certify.separability.certify`. Modules load
when they are first used, so that ``python -m rosenblatt.certify.check`` needs only the standard library.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import Any

_NAMES = {
    "Certificate": "certificate",
    "ClassTables": "class_tables",
    "DirectInseparable": "direct_certificate",
    "DirectSeparable": "direct_certificate",
    "DirectUndecided": "direct_certificate",
    "Inseparable": "certificate",
    "Margin": "margin",
    "Overlap": "tie_verdicts",
    "Quasi": "tie_verdicts",
    "Separable": "certificate",
    "SequenceInseparable": "sequence_certificate",
    "SequenceSeparable": "sequence_certificate",
    "SequenceUndecided": "sequence_certificate",
    "Undecided": "certificate",
    "Verification": "certificate",
    "certify": "separability",
    "certify_sequences": "sequences",
    "cover_probability": "separability",
}

__all__ = sorted(_NAMES)


def __getattr__(name: str) -> Any:
    if name in _NAMES:
        return getattr(import_module(f"{__name__}.{_NAMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])


class _CallablePackage(ModuleType):
    """A package that can be called, because the function has the same name."""

    def __call__(self, X: Any, y: Any, **options: Any) -> Any:
        from rosenblatt.certify.separability import certify

        return certify(X, y, **options)


sys.modules[__name__].__class__ = _CallablePackage
