"""Weights of rows and of classes."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.exceptions import DataTypeError, ParameterError, WeightError
from rosenblatt.rows.labels import list_classes
from rosenblatt.rows.reals import Place, as_reals, first_masked, read_only, show_value
from rosenblatt.typing import Floats, Ints


def single_weight(sample_weight: Any) -> float:
    """Return the weight of one example, which may be 0.

    Examples
    --------
    >>> single_weight(2), single_weight(0.0)
    (2.0, 0.0)
    """
    if isinstance(sample_weight, bool | np.bool_) or not isinstance(sample_weight, Real):
        raise WeightError(
            f"sample_weight={show_value(sample_weight)} must be one number: the weight of the example."
        )
    weight = float(sample_weight)
    if not 0.0 <= weight < np.inf:
        raise WeightError(f"sample_weight={weight} must be finite and not negative. Use 0 to change no weights.")
    return weight


def as_weight(sample_weight: Any, n_rows: int) -> Floats | None:
    """Return the weight of each row, read-only; None stays None, and a number is the weight of every row.

    Raises
    ------
    WeightError
        A weight that is not a finite number or is negative, only zeros, or a number of weights other than
        `n_rows`.

    Examples
    --------
    >>> as_weight([1, 0, 2], 3)
    array([1., 0., 2.])
    """
    if sample_weight is None:
        return None
    masked = first_masked(sample_weight)
    if masked is not None:
        raise WeightError(f"sample_weight is masked at row {masked[0]}. Use 0 to leave a row out.", row=masked[0])
    try:
        given = np.asarray(sample_weight)
    except ValueError as error:
        raise WeightError(f"sample_weight must be a flat sequence of numbers. ({error})") from error
    if given.ndim == 0:
        given = np.full(n_rows, given)
    if given.ndim != 1 or len(given) != n_rows:
        raise WeightError(
            f"sample_weight has shape {given.shape}, but must be one number or one number for each of the "
            f"{n_rows} rows. Flatten it, or drop the weights that belong to no row."
        )
    try:
        reals = as_reals(given, name="sample_weight", where=Place)
    except DataTypeError as error:
        raise WeightError(str(error)) from None
    weight: Floats = read_only(reals.astype(np.float64, copy=False))
    usable = np.isfinite(weight) & (weight >= 0)
    if not usable.all():
        row = int(np.argmin(usable))
        raise WeightError(
            f"sample_weight is {weight[row]} at row {row}, but must be finite and not negative. "
            "Use 0 to leave a row out.",
            row=row,
            value=float(weight[row]),
        )
    if not weight.any():
        raise WeightError("sample_weight is zero at every row, so nothing is left to learn from. Raise some.")
    return weight


def class_weights(class_weight: Any, codes: Ints, classes: NDArray[Any]) -> Floats | None:
    """Return the weight of each class, in the order of `classes`; None stays None.

    In a mapping of labels to weights, labels that are missing count 1. "balanced" gives every class that occurs in
    `codes` the same total, ``n_rows / (n_classes * count)`` for each row; a class that does not occur counts 1.

    Raises
    ------
    WeightError
        No label that is a class, a weight that is negative or not finite, or no weight above zero. Some labels may
        name classes that these rows lack.
    ParameterError
        Anything but None, "balanced" or a mapping.

    Examples
    --------
    >>> class_weights("balanced", np.array([0, 0, 0, 1]), np.array(["ham", "spam"]))
    array([0.66666667, 2.        ])
    """
    return weights_by_count(class_weight, np.bincount(codes, minlength=len(classes)), classes)


def weights_by_count(class_weight: Any, counts: Ints, classes: NDArray[Any]) -> Floats | None:
    """Return the weight of each class as `class_weights` does, from the number of rows of each."""
    if class_weight is None:
        return None
    if isinstance(class_weight, str) and class_weight == "balanced":
        occurs = counts > 0
        weights = np.ones(len(counts))
        weights[occurs] = counts.sum() / (np.count_nonzero(occurs) * counts[occurs])
        return read_only(weights)
    weight_of = label_weights(class_weight)
    labels = classes.tolist()
    if weight_of and not any(label in weight_of for label in labels):  # some classes may be missing from y
        raise WeightError(
            f"class_weight names {show_value(next(iter(weight_of)))}, but the classes are "
            f"{list_classes(classes)}. "
            "Correct its labels."
        )
    weights = np.array([weight_of.get(label, 1.0) for label in labels])
    require_some_weight(weights)
    return read_only(weights)


def label_weights(class_weight: Any) -> dict[Any, float]:
    """Check a mapping of labels to weights, and return it."""
    if not isinstance(class_weight, Mapping):
        raise ParameterError(
            f"class_weight is {show_value(class_weight)}, but must be None, 'balanced' or a dict of "
            "label to weight."
        )
    for label, weight in class_weight.items():
        if not (isinstance(weight, Real) and 0 <= float(weight) < np.inf):
            raise WeightError(
                f"class_weight of {show_value(label)} is {show_value(weight)}, but must be a finite number "
                "and not negative. Use 0 to leave a class out."
            )
    return {label: float(weight) for label, weight in class_weight.items()}


def require_some_weight(weights: Floats) -> None:
    """Raise `WeightError` if all class weights are zero."""
    if not weights.any():
        raise WeightError("class_weight is zero for every class, so nothing is left to learn from. Raise some.")
