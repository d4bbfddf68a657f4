"""Which checks there are, and how they are run."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple
from unittest import SkipTest

from sklearn.base import clone, is_classifier
from sklearn.exceptions import ConvergenceWarning

from rosenblatt.testing import inputs, training

CHECKS: tuple[Callable[[Any], None], ...] = (
    training.check_stream,
    training.check_sparse,
    training.check_float32,
    training.check_replay,
    training.check_refit,
    training.check_pickle,
    inputs.check_inputs_left_alone,
    inputs.check_labels,
    inputs.check_memory,
    inputs.check_errors,
    inputs.check_names,
)


class CheckFailed(AssertionError):  # noqa: N818  it is what a test reports, not an error of the program
    """An estimator fails a check that every estimator of this package passes.

    Examples
    --------
    >>> from rosenblatt.testing import CheckFailed
    >>> issubclass(CheckFailed, AssertionError)
    True
    """


class Outcome(NamedTuple):
    """The result of one check.

    Attributes
    ----------
    name : str
        The name of the check.
    skipped : str or None
        Why the check was skipped; None if it passed.

    Examples
    --------
    >>> from rosenblatt.testing import Outcome
    >>> Outcome("traces replay", "it keeps no trace").skipped
    'it keeps no trace'
    """

    name: str
    skipped: str | None


def checks(estimator: Any, *, skip: Mapping[str, str] | None = None) -> list[tuple[str, Callable[[], None]]]:
    """Return the checks of an estimator by name, each as a function to call.

    A check raises `CheckFailed`, which says what differs. It raises `unittest.SkipTest`, which pytest and unittest
    understand, where the class does not declare the ability that the check needs (see `rosenblatt.register`).

    Parameters
    ----------
    estimator : classifier
        The estimator. It is never changed: each check trains copies.
    skip : mapping of check names to reasons, optional
        Checks that do not apply.

    Returns
    -------
    list of (str, callable)
        The name of each check, and the check.

    Examples
    --------
    >>> from rosenblatt import Perceptron
    >>> [name for name, _ in checks(Perceptron())][:3]
    ['check_stream', 'check_sparse', 'check_float32']
    """
    named = {check.__name__: check for check in CHECKS}
    reasons = dict(skip or {})
    unknown = reasons.keys() - named.keys()
    if unknown:
        raise ValueError(f"skip names no check: {', '.join(sorted(unknown))}.")
    return [(name, partial(_run, check, estimator, reasons.get(name))) for name, check in named.items()]


def check_estimator(estimator: Any, *, skip: Mapping[str, str] | None = None) -> list[Outcome]:
    """Run all checks; the first that fails raises `CheckFailed`.

    Parameters
    ----------
    estimator, skip
        As for `checks`.

    Returns
    -------
    list of Outcome
        The checks that passed, and those that do not apply, with the reason.

    Examples
    --------
    >>> from rosenblatt import Perceptron
    >>> [outcome.name for outcome in check_estimator(Perceptron()) if outcome.skipped]
    []
    """
    outcomes = []
    for name, check in checks(estimator, skip=skip):
        try:
            check()
        except SkipTest as reason:
            outcomes.append(Outcome(name, str(reason)))
        else:
            outcomes.append(Outcome(name, None))
    return outcomes


def _run(check: Callable[[Any], None], estimator: Any, skipped: str | None) -> None:
    if skipped is not None:
        raise SkipTest(skipped)
    if not is_classifier(estimator):
        raise SkipTest("it is no classifier")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the samples are not all separable
        try:
            check(clone(estimator))
        except SkipTest:
            raise
        except AssertionError as difference:
            raise CheckFailed(f"{type(estimator).__name__} fails {check.__name__}: {difference}") from None
        except Exception as error:
            what = f"{type(error).__name__}: {error}"
            raise CheckFailed(f"{type(estimator).__name__} fails {check.__name__}: {what}") from error
