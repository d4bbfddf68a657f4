"""The classes that a stream is told of before it meets them."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from rosenblatt.data.labels import as_labels, listed
from rosenblatt.exceptions import LabelError


def declared_classes(classes: Any, or_else: str = " or None") -> NDArray[Any]:
    """Return the labels of an argument `classes`, sorted; `or_else` says what else it may be."""
    message = f"classes={classes!r} must be a list of labels{or_else}."
    if isinstance(classes, str):
        raise LabelError(message)
    try:
        labels = list(classes)
    except TypeError:
        raise LabelError(message) from None
    _, found = as_labels(labels, len(labels))
    if len(found) < 2:
        raise LabelError(f"classes={labels!r} must name at least two different classes.")
    return found


def require_same_classes(declared: NDArray[Any], known: NDArray[Any]) -> None:
    """Require the classes of the first call, in any order: labels that cannot be sorted keep the one they had."""
    if set(declared.tolist()) != set(known.tolist()):
        raise LabelError(
            f"classes={listed(declared)} is not the same as on last call to partial_fit: {listed(known)}."
        )
