"""Whether data is linearly separable, with a proof that anyone can check.

The package is callable: ``rosenblatt.certify(X, y)`` calls `rosenblatt.certify.separability.certify`. Modules load
when they are first used, so that ``python -m rosenblatt.certify.check`` needs only the standard library.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

_NAMES = {
    "Certificate": "certify.certificate",
    "ClassTables": "certify.class_tables",
    "DirectInseparable": "certify.direct_certificate",
    "DirectSeparable": "certify.direct_certificate",
    "DirectUndecided": "certify.direct_certificate",
    "Inseparable": "certify.certificate",
    "InseparableVerdict": "certify.certificate",
    "Margin": "certify.margin",
    "Overlap": "certify.certificate",
    "Quasi": "certify.certificate",
    "Separable": "certify.certificate",
    "SequenceInseparable": "sequences.sentence_proof",
    "SequenceSeparable": "sequences.sentence_proof",
    "SequenceUndecided": "sequences.sentence_proof",
    "Undecided": "certify.certificate",
    "Verification": "certify.certificate",
    "certify": "certify.separability",
    "certify_sequences": "sequences.sentence_verdict",
    "cover_probability": "certify.problem",
}

__all__ = sorted(_NAMES)


def __getattr__(name: str) -> Any:
    if name in _NAMES:
        from rosenblatt.rooms import find

        return getattr(find(_NAMES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])


class _CallablePackage(ModuleType):
    """A package that can be called, because the function has the same name."""

    def __call__(self, X: Any, y: Any = None, **options: Any) -> Any:
        from rosenblatt.certify.separability import certify

        return certify(X, y, **options)


sys.modules[__name__].__class__ = _CallablePackage
