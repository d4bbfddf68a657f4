"""Which labels may follow which: the schemes of spans, and pairs that are forbidden."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.memory import require_memory
from rosenblatt.data.reals import shown
from rosenblatt.data.sequences import place_of
from rosenblatt.exceptions import LabelError, ParameterError
from rosenblatt.typing import Floats, Ints

SCHEMES: dict[str, dict[str, str]] = {
    "bio": {"start": "OB", "O": "OB.", "B": "OBI.", "I": "OBI."},
    "bioes": {"start": "OBS", "O": "OBS.", "B": "IE", "I": "IE", "E": "OBS.", "S": "OBS."},
}
"""For each scheme, what may follow which; "." is the end. I and E continue a span of their type."""
INSIDE = "IE"


class Constraints(NamedTuple):
    """What is added to the score of each pair of neighbours, and of each last label: 0, or −∞ where forbidden.

    Attributes
    ----------
    pairs : ndarray, shape (n_labels + 1, n_labels)
        Rows are labels before, the last one the start.
    last : ndarray, shape (n_labels,)
        The end.
    """

    pairs: Floats
    last: Floats


def as_constraints(constraints: Any, classes: NDArray[Any]) -> Constraints:
    """Return what `constraints` forbids.

    Parameters
    ----------
    constraints : None, "bio", "bioes", or iterable of pairs
        Pairs (before, label) are forbidden; (None, label) at the start, and (label, None) at the end.
    classes : ndarray
        The labels.

    Examples
    --------
    >>> as_constraints("bio", np.array(["B-X", "I-X", "O"])).pairs
    array([[  0.,   0.,   0.],
           [  0.,   0.,   0.],
           [  0., -inf,   0.],
           [  0., -inf,   0.]])
    """
    labels = classes.tolist()
    n = len(labels)
    require_memory(f"Weights of all pairs of {n:,} labels", 16 * n * (n + 1), "Use fewer labels.")
    held = Constraints(np.zeros((n + 1, n)), np.zeros(n))
    if constraints is None:
        return held
    if isinstance(constraints, str):
        if constraints not in SCHEMES:
            raise ParameterError(
                f"constraints={constraints!r} is not one of None, 'bio', 'bioes' or a list of pairs."
            )
        _forbid_by_scheme(constraints, labels, held)
        return held
    number = {label: code for code, label in enumerate(labels)}
    for before, after in _pairs(constraints):
        for label in (before, after):
            if label is not None and label not in number:
                raise ParameterError(f"constraints: {shown(label)} is not a label of y. Drop the pair.")
        if after is None:
            held.last[number[before]] = -np.inf
        else:
            held.pairs[n if before is None else number[before], number[after]] = -np.inf
    return held


def _pairs(constraints: Any) -> list[tuple[Any, Any]]:
    if not isinstance(constraints, Iterable) or isinstance(constraints, Mapping):
        raise ParameterError(
            f"constraints={constraints!r} must be None, 'bio', 'bioes' or a list of pairs of labels."
        )
    pairs = list(constraints)
    for pair in pairs:
        if not isinstance(pair, list | tuple) or len(pair) != 2 or pair[0] is pair[1] is None:
            raise ParameterError(f"constraints: {pair!r} is not a pair (before, label), of which one may be None.")
    return [(before, after) for before, after in pairs]


def _forbid_by_scheme(name: str, labels: list[Any], held: Constraints) -> None:
    scheme = SCHEMES[name]
    parts = []
    for label in labels:
        kind, dash, span = str(label).partition("-")
        if kind not in scheme or kind == "start" or (kind == "O") == bool(dash):
            kinds = ", ".join("O" if each == "O" else f"{each}-…" for each in scheme if each != "start")
            raise LabelError(f"{shown(label)} is not a label of constraints={name!r}, which has {kinds}.")
        parts.append((kind, span))
    for k, (before, span) in enumerate([*parts, ("start", "")]):
        for code, (kind, own) in enumerate(parts):
            if kind not in scheme[before] or (kind in INSIDE and (own != span or before == "O")):
                held.pairs[k, code] = -np.inf
        if k < len(parts) and "." not in scheme[before]:
            held.last[k] = -np.inf


def require_allowed(held: Constraints, codes: Ints, starts: Ints, classes: NDArray[Any]) -> None:
    """Raise `LabelError` at the first label that the constraints forbid, with its sentence and position."""
    lengths = np.diff(starts)
    first = np.zeros(len(codes), np.bool_)
    first[starts[:-1][lengths > 0]] = True
    before = np.where(first, len(classes), np.roll(codes, 1))
    wrong = np.flatnonzero(np.isneginf(held.pairs[before, codes]))
    if len(wrong):
        sentence, token = place_of(int(wrong[0]), starts)
        label = classes[codes[wrong[0]]]
        after = "at the start" if token == 0 else f"after {shown(classes[codes[wrong[0] - 1]].item())}"
        raise LabelError(
            f"y[{sentence}][{token}] is {shown(label.item())} {after}, which the constraints forbid. Correct the "
            "label, or change constraints."
        )
    ends = starts[1:][lengths > 0] - 1
    wrong = ends[np.isneginf(held.last[codes[ends]])]
    if len(wrong):
        sentence, token = place_of(int(wrong[0]), starts)
        raise LabelError(
            f"y[{sentence}][{token}] is {shown(classes[codes[wrong[0]]].item())} at the end, which "
            "the constraints forbid. Correct the label, or change constraints."
        )
