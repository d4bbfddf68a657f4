"""The data that checks train on, and how they compare trained estimators."""

from __future__ import annotations

from typing import Any, NamedTuple
from unittest import SkipTest

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import get_tags

from rosenblatt.registry import Ability, Declares, abilities
from rosenblatt.typing import Floats, Ints

ATTRIBUTES = ("coef_", "dual_coef_", "intercept_", "n_mistakes_", "t_")


class LabelledRows(NamedTuple):
    """Rows and labels 0, 1, …: two classes that can be separated, or four that cannot."""

    X: Floats
    y: Ints


def samples(estimator: Any, *, dyadic: bool = False) -> list[LabelledRows]:
    """Return a sample of two classes, and one of four if the estimator takes more than two.

    Sums of `dyadic` values are exact in any order; the others round.
    """
    several = get_tags(estimator).classifier_tags.multi_class
    return [_sample(K, dyadic=dyadic) for K in ((2, 4) if several else (2,))]


def _sample(n_classes: int, *, dyadic: bool) -> LabelledRows:
    rng = np.random.default_rng(n_classes)
    y = np.concatenate([np.arange(n_classes), rng.integers(n_classes, size=40)])
    X = rng.standard_normal((n_classes, 5))[y] + rng.standard_normal((len(y), 5))
    X[np.abs(X) < 0.3] = 0.0
    return LabelledRows(np.round(4 * X) / 4 if dyadic else X, y)


def trained(estimator: Any, X: Any, y: Any, **parameters: Any) -> Any:
    """Train a copy with changed parameters; those that the estimator does not have are left out."""
    known = estimator.get_params()
    copy = clone(estimator).set_params(**{name: value for name, value in parameters.items() if name in known})
    return copy.fit(X, y)


def require(what: bool, otherwise: str) -> None:
    """Raise AssertionError unless a condition holds, also under ``python -O``."""
    if not what:
        raise AssertionError(otherwise)


def streams(estimator: Any) -> bool:
    """Return whether an estimator declares that it has `partial_fit`."""
    return "streams" in abilities(estimator)


def require_ability(estimator: Any, ability: Ability, name: str) -> None:
    """Skip a check where the estimator does not declare an ability, and so lacks what has a name."""
    if ability not in abilities(estimator):
        raise SkipTest(f"its class declares no {name}")


def answers(model: Any, X: Any) -> dict[str, NDArray[Any]]:
    """Return predictions, scores and those attributes that a trained estimator has."""
    held = {"predict": np.asarray(model.predict(X))}
    has_scores = isinstance(model, Declares)  # as every classifier of this package
    if has_scores:
        held["decision_function"] = np.asarray(model.decision_function(X))
    return held | {name: np.asarray(getattr(model, name)) for name in ATTRIBUTES if hasattr(model, name)}


def require_same(one: dict[str, NDArray[Any]], other: dict[str, NDArray[Any]], what: str) -> None:
    """Require that two results of `answers` are the same, bit for bit."""
    require(one.keys() == other.keys(), f"{what}: one has {sorted(one)}, the other {sorted(other)}")
    for name, here in one.items():
        there = other[name]
        if here.dtype == object or there.dtype == object:
            same = here.tolist() == there.tolist()
        else:
            same = (here.shape, here.dtype) == (there.shape, there.dtype) and here.tobytes() == there.tobytes()
        require(same, f"{what}: {name} differs, {_difference(here, there)}")


def _difference(here: NDArray[Any], there: NDArray[Any]) -> str:
    if here.shape != there.shape:
        return f"shape {here.shape} against {there.shape}"
    if here.dtype != there.dtype:
        return f"type {here.dtype} against {there.dtype}"
    at = np.argwhere(here != there)
    if not len(at):
        return "by a sign of zero"
    place = tuple(at[0].tolist())
    return f"in {len(at)} of {here.size} values, first at {place}: {here[place]!r} against {there[place]!r}"
