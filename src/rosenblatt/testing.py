"""Checks that every classifier of this package passes; they can be run on subclasses too.

``check_estimator(estimator)`` runs all of them; ``checks(estimator)`` gives them one by one, for pytest::

    @pytest.mark.parametrize(("name", "check"), rosenblatt.testing.checks(MyPerceptron()))
    def test_my_perceptron(name, check):
        check()
"""

from __future__ import annotations

import copy
import pickle
import tempfile
import tracemalloc
import warnings
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple
from unittest import SkipTest

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone, is_classifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import get_tags

from rosenblatt.registry import Ability, Declares, abilities
from rosenblatt.typing import ColumnLike, Floats, Ints, MatrixLike

__all__ = ["CheckFailed", "Outcome", "check_estimator", "checks"]

# Checks of training: the same visits give the same bits, however they are made.

CHUNKS = (1, 7, 2, 20)
"""Where chunks end, one after the other; the last takes the rest."""


def check_stream(estimator: Any) -> None:
    """Chunks of any size, single rows, and a fit of one cyclic pass leave the same bits (`partial_fit`)."""
    require_ability(estimator, "streams", "partial_fit")
    for X, y in samples(estimator):
        classes = np.unique(y)
        whole = clone(estimator).partial_fit(X, y, classes=classes)
        expected = answers(whole, X)
        chunks = clone(estimator)
        for rows in np.split(np.arange(len(y)), np.cumsum(CHUNKS)):
            chunks.partial_fit(X[rows], y[rows], classes=classes)
        require_same(answers(chunks, X), expected, "chunks against all rows at once")
        if "examples" in abilities(estimator):
            single = clone(estimator).partial_fit(X[:1], y[:1], classes=classes)
            for x, label in zip(X[1:], y[1:], strict=True):
                single.learn_one(x, label)
            require_same(answers(single, X), expected, "single rows against all rows at once")
            one = [single.predict_one(x) for x in X]
            require(one == expected["predict"].tolist(), "predict_one differs from predict")
        parameters = estimator.get_params()
        in_one_pass = {"order": "cyclic", "max_iter": 1}
        if in_one_pass.keys() <= parameters.keys() and parameters.get("class_weight") != "balanced":
            fit = trained(estimator, X, y, early_stopping=False, warm_start=False, **in_one_pass)
            require_same(answers(fit, X), expected, "fit of one cyclic pass against all rows at once")


def check_sparse(estimator: Any) -> None:
    """Dense and sparse rows train the same bits where sums are exact, and predict the same up to rounding."""
    from scipy.sparse import csc_array, csr_array

    if not get_tags(estimator).input_tags.sparse:
        raise SkipTest("it takes no sparse matrices")
    for X, y in samples(estimator, dyadic=True):
        expected = answers(trained(estimator, X, y), X)
        decision = expected.pop("decision_function", None)
        for kind in (csr_array, csc_array):
            model = trained(estimator, kind(X), y)
            for rows in (kind(X), X):
                what = f"trained on {kind.__name__} and predicting {type(rows).__name__}, against dense arrays"
                here = answers(model, rows)
                scores = here.pop("decision_function", None)
                require_same(here, expected, what)
                if scores is None or decision is None:
                    continue
                # An average is no dyadic fraction, so that sums of its products round.
                close = np.allclose(scores, decision, rtol=1e-12, atol=1e-12)
                require(close, f"{what}: decision_function differs by more than rounding")


def check_float32(estimator: Any) -> None:
    """float32 rows are read where they lie: the bits of their float64 copy, without making it."""
    for X, y in samples(estimator):
        narrow = X.astype(np.float32)
        wide = narrow.astype(np.float64)
        model = trained(estimator, narrow, y)
        expected = answers(trained(estimator, wide, y), wide)
        require_same(answers(model, wide), expected, "float32 against its float64 copy")
        require_same(answers(model, narrow), expected, "float32, predicting float32")
    rng = np.random.default_rng(0)
    large = rng.standard_normal((8192, 128), np.float32)
    side = np.where(large[:, 0] + rng.standard_normal(len(large)) > 0, 1, 0)
    few = slice(64)
    trained(estimator, large[few], side[few], max_iter=2).predict(large[few])  # compiled before memory is counted
    tracemalloc.start()
    try:
        trained(estimator, large, side, max_iter=2).predict(large)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    copied = f"fit and predict took {peak:,} bytes beside float32 rows of {large.nbytes:,}: they were copied"
    require(peak < large.nbytes, copied)


def check_replay(estimator: Any) -> None:
    """`trace_.replay` of the training data rebuilds the same weights, bit for bit."""
    from scipy.sparse import csr_array

    require_ability(estimator, "traces", "trace_")
    kernel = "linear" not in abilities(estimator)
    for X, y in samples(estimator):
        for table in (X, csr_array(X)) if get_tags(estimator).input_tags.sparse else (X,):
            model = trained(estimator, table, y, trace="mistakes")
            again = model.trace_.replay(table, y)
            weights, held = ("dual_coef_", "alpha") if kernel else ("coef_", "coef")
            for name, here, there in (
                (weights, np.atleast_2d(getattr(again, held)), getattr(model, weights)),
                ("intercept_", np.atleast_1d(again.intercept), model.intercept_),
            ):
                require_same({name: np.asarray(here)}, {name: there}, "the replay against the fit")


def check_refit(estimator: Any) -> None:
    """Fitting again, or fitting a copy, gives the same bits, and nothing of other data stays."""
    parameters = estimator.get_params()
    if not isinstance(parameters.get("random_state", 0), int):
        raise SkipTest("it draws anew each time: random_state is no number")
    for X, y in samples(estimator):
        model = trained(estimator, X, y, warm_start=False)
        expected = answers(model, X)
        require_same(answers(trained(model, X, y), X), expected, "a copy against the first fit")
        require_same(answers(model.fit(X, y), X), expected, "the second fit against the first")
        other = trained(model, np.hstack([X, X])[::-1], y[::-1]).fit(X, y)  # as separable as X is
        require_same(answers(other, X), expected, "a fit after one of other data")


def check_pickle(estimator: Any) -> None:
    """Pickled and deep-copied estimators say the same, and learn on to the same bits."""
    for X, y in samples(estimator):
        model = trained(estimator, X, y)
        expected = answers(model, X)
        copies = {"pickled": pickle.loads(pickle.dumps(model)), "deep-copied": copy.deepcopy(model)}
        for how, other in copies.items():
            require_same(answers(other, X), expected, f"{how} against the original")
        if streams(model):
            model.partial_fit(X, y)
            for how, other in copies.items():
                require_same(answers(other, X), expected, f"{how}, after the original learned on")
                require_same(answers(other.partial_fit(X, y), X), answers(model, X), f"{how}, learning on")


# Checks of inputs: they are never changed, may lie in any memory, and errors leave an estimator unchanged.


def check_inputs_left_alone(estimator: Any) -> None:
    """Training and predicting change neither X nor y, nor whether they may be written to."""
    from scipy.sparse import csr_array

    for X, y in samples(estimator):
        kinds: list[Callable[[Any], Any]] = [np.array, np.asfortranarray]
        if get_tags(estimator).input_tags.sparse:
            kinds.append(csr_array)
        for kind in kinds:
            table, labels = kind(X.copy()), y.copy()
            model = trained(estimator, table, labels)
            model.predict(table)
            if streams(model):
                model.partial_fit(table, labels)
            values = table if isinstance(table, np.ndarray) else table.toarray()
            require(np.array_equal(values, X), f"X was changed ({type(table).__name__})")
            require(np.array_equal(labels, y), "y was changed")
            held = table if isinstance(table, np.ndarray) else table.data
            require(held.flags.writeable and labels.flags.writeable, "X or y can no longer be written to")


def check_labels(estimator: Any) -> None:
    """Classes are sorted, and other labels in the same order train the same model and are predicted instead."""
    # Weights that name labels would have to be renamed as well.
    plain = {"class_weight": None} if isinstance(estimator.get_params().get("class_weight"), dict) else {}
    for X, y in samples(estimator):
        names = np.unique(y)
        model = trained(estimator, X, y, **plain)
        require(model.classes_.tolist() == names.tolist(), f"classes_ are {model.classes_}, not {names}")
        expected = answers(model, X)
        predicted = expected.pop("predict")
        for labels in (10 * names - 7, np.array([f"class {name}" for name in names])):
            other = trained(estimator, X, labels[y], **plain)
            require(other.classes_.tolist() == labels.tolist(), f"classes_ are {other.classes_}, not {labels}")
            here = answers(other, X)
            renamed = here.pop("predict").tolist()
            require_same(here, expected, f"labels {labels[0]!r}, … against 0, 1, …")
            require(
                renamed == labels[predicted].tolist(), f"labels {labels[0]!r}, … are not predicted for 0, 1, …"
            )


def check_memory(estimator: Any) -> None:
    """Rows that may not be written to, lie in a mapped file, in columns, or far apart train the same bits."""
    for X, y in samples(estimator):
        expected = answers(trained(estimator, X, y), X)
        with tempfile.TemporaryDirectory() as folder:
            for kind, table in _held_in(X, Path(folder)):
                labels = y.copy()
                labels.flags.writeable = False
                require_same(
                    answers(trained(estimator, table, labels), table), expected, f"{kind} against an array"
                )


def _held_in(X: NDArray[Any], folder: Path) -> Iterator[tuple[str, Any]]:
    """Yield the same rows as they may lie in memory."""
    locked = X.copy()
    locked.flags.writeable = False
    yield "read-only rows", locked
    np.save(folder / "X.npy", X)
    mapped = np.load(folder / "X.npy", mmap_mode="r")
    yield "a mapped file", mapped
    del mapped
    yield "columns after each other", np.asfortranarray(X)
    spread = np.zeros((2 * len(X), 3 * X.shape[1]))
    spread[::2, ::3] = X
    yield "rows far apart", spread[::2, ::3]
    yield "rows backwards in memory", X[::-1].copy()[::-1]


def check_errors(estimator: Any) -> None:
    """Bad data raises a ValueError or TypeError and leaves the estimator unchanged, to the byte."""
    for sample in samples(estimator):
        for stage, model in _stages(estimator, sample):
            for what, call in _bad_calls(model, sample):
                before = pickle.dumps(vars(model))
                try:
                    call()
                except (ValueError, TypeError):
                    pass
                else:
                    raise AssertionError(f"{what} was taken, {stage}")
                require(pickle.dumps(vars(model)) == before, f"{what} changed the estimator, {stage}")


def _stages(estimator: Any, sample: LabelledRows) -> Iterator[tuple[str, Any]]:
    """Yield estimators at each stage of their lives."""
    yield "before training", clone(estimator)
    yield "after a fit", trained(estimator, *sample)
    if streams(estimator):
        yield "in a stream", clone(estimator).partial_fit(*sample, classes=np.unique(sample.y))


def _bad_calls(model: Any, sample: LabelledRows) -> Iterator[tuple[str, Callable[[], Any]]]:
    X, y = sample
    trainers = {"fit": model.fit} | ({"partial_fit": model.partial_fit} if streams(model) else {})
    for value in (np.nan, np.inf):
        spoilt = X.copy()
        spoilt[-1, -1] = value
        for name, train in trainers.items():
            yield f"{name} with {value} in the last row", partial(train, spoilt, y)
        yield f"predict with {value}", partial(model.predict, spoilt)
    for name, train in trainers.items():
        yield f"{name} with a label too few", partial(train, X, y[:-1])
        yield f"{name} with measurements for labels", partial(train, X, np.linspace(0.25, 1.75, len(y)))
        yield f"{name} with no rows", partial(train, X[:0], y[:0])
        yield f"{name} with text", partial(train, X.astype(str), y)
        yield f"{name} with no labels", partial(train, X, None)
    yield "predict with a feature too few", partial(model.predict, X[:, 1:])
    if "examples" in abilities(model):
        for value in (np.nan, np.inf):
            spoilt = np.append(X[0, 1:], value)
            yield f"learn_one with {value}", partial(model.learn_one, spoilt, y[0])
            if hasattr(model, "classes_"):  # before training it returns None
                yield f"predict_one with {value}", partial(model.predict_one, spoilt)


def check_names(estimator: Any) -> None:
    """Frames of pandas and polars train the bits of their values; their names are kept and required."""
    libraries = [library for library in ("pandas", "polars") if _is_installed(library)]
    if not libraries:
        raise SkipTest("neither pandas nor polars is installed")
    for X, y in samples(estimator):
        names = [f"feature {j}" for j in range(X.shape[1])]
        expected = answers(trained(estimator, X, y), X)
        for library in libraries:
            frame = import_module(library).DataFrame({name: X[:, j] for j, name in enumerate(names)})
            model = trained(estimator, frame, y)
            require_same(answers(model, frame), expected, f"a frame of {library} against an array")
            require(
                model.feature_names_in_.tolist() == names, f"feature_names_in_ of {library} are not its columns"
            )
            try:
                model.predict(frame[names[::-1]])
            except ValueError:
                continue
            raise AssertionError(f"columns of {library} in another order were taken")


def _is_installed(library: str) -> bool:
    try:
        import_module(library)
    except ImportError:
        return False
    return True


# The data that checks train on, and how they compare trained estimators.

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


def trained(estimator: Any, X: MatrixLike, y: ColumnLike, **parameters: Any) -> Any:
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


def answers(model: Any, X: MatrixLike) -> dict[str, NDArray[Any]]:
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


CHECKS: tuple[Callable[[Any], None], ...] = (
    check_stream,
    check_sparse,
    check_float32,
    check_replay,
    check_refit,
    check_pickle,
    check_inputs_left_alone,
    check_labels,
    check_memory,
    check_errors,
    check_names,
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
