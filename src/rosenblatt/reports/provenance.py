"""Where a report comes from: parameters, data, versions, and what the caller knows besides."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping
from inspect import signature
from reprlib import Repr
from typing import Any

import numpy as np

from rosenblatt.certify.fingerprint import Fingerprint
from rosenblatt.loops.layout import CSR
from rosenblatt.reports.subject import Subject

ADDRESS = re.compile(r" at 0x[0-9A-Fa-f]+")
Facts = list[tuple[str, str]]


def parameters(model: Any) -> list[tuple[str, str, bool]]:
    """Return the parameters of a model, as text, and whether each is another than its default."""
    defaults = {name: each.default for name, each in signature(type(model).__init__).parameters.items()}
    found = []
    for name, value in model.get_params(deep=False).items():
        text = _text(value)
        found.append((name, text, text != _text(defaults.get(name))))
    return found


def data_facts(subject: Subject) -> Facts:
    """Return what the rows are, with the fingerprint by which a proof names them."""
    batch = subject.batch
    kind = "sparse rows" if isinstance(batch.rows, CSR) else "dense rows"
    facts = [
        ("rows", f"{batch.n_rows:,}"),
        ("features", f"{batch.n_features:,}"),
        ("layout", f"{kind} of {batch.values.dtype}, {batch.stored:,} values"),
    ]
    two = len(batch.classes) == 2
    signs = 2 * batch.codes - 1 if two else np.zeros(batch.n_rows, np.int64)
    which = "SHA-256" if two else "SHA-256, labels left out"
    return [*facts, (which, Fingerprint(batch).of(signs))]


def versions() -> Facts:
    """Return the versions of what made the page."""
    from rosenblatt._version import __version__

    python = ".".join(map(str, sys.version_info[:3]))
    return [("rosenblatt", __version__), ("Python", python), ("numpy", np.__version__)]


def flat(given: Mapping[str, Any] | None) -> Facts:
    """Return what a caller knows, however it is nested, as names and texts.

    Examples
    --------
    >>> flat({"seed": 0, "data": {"files": ["a.csv", "b.csv"]}})
    [('seed', '0'), ('data · files', 'a.csv, b.csv')]
    """
    return list(_flat(given or {}, ""))


def _flat(given: Mapping[str, Any], before: str) -> Iterator[tuple[str, str]]:
    for name, value in given.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{before}{name} · ")
        elif isinstance(value, list | tuple):
            yield f"{before}{name}", ", ".join(map(str, value))
        else:
            yield f"{before}{name}", str(value)


def _text(value: Any) -> str:
    """Return a value as text, shortened, and without the place it has in memory."""
    if callable(value) and hasattr(value, "__qualname__"):
        return str(value.__qualname__)
    short = Repr()
    short.maxstring = short.maxother = 120
    return ADDRESS.sub("", short.repr(value))
