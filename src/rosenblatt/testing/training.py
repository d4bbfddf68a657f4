"""Checks of training: the same visits give the same bits, however they are made."""

from __future__ import annotations

import copy
import pickle
import tracemalloc
from typing import Any
from unittest import SkipTest

import numpy as np
from sklearn.base import clone
from sklearn.utils import get_tags

from rosenblatt.registry import abilities
from rosenblatt.testing.samples import answers, require, require_ability, require_same, samples, streams, trained

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
