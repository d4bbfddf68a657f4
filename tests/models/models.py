"""Small trained models of every kind that a file can hold, and what they are asked."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from scipy.sparse import csr_array

import rosenblatt as rb
from rosenblatt.exceptions import RosenblattError
from rosenblatt.registry import BUILT_IN, class_of
from tests.shared.examples import slowly

_rng = np.random.default_rng(6)
X = np.round(_rng.standard_normal((24, 9)) * 16) / 16
PLANE = X[:, 0] + X[:, 1] > 0
TWO = np.where(PLANE, "spam", "ham")
NOISY = np.where(_rng.random(24) < 0.2, ~PLANE, PLANE)
THREE = np.array([3, 5, 8])[_rng.integers(0, 3, 24)]
SPARSE = csr_array(np.where(_rng.random(X.shape) < 0.4, X, 0.0))
WIDE = csr_array((SPARSE.data, SPARSE.indices * 2**17 + 5, SPARSE.indptr), (24, 2**21))
NUMBERS = X[:, :2] @ np.array([[1.0, 2.0], [0.5, -1.0]])
NAMED: list[dict[str, float]] = [{"a": 1.0, "b": -2.0}, {"b": 0.5, "c": 3.0}, {"d": -1.0, "a": 0.25}, {"e": 2.0}]
SENTENCES = [["the", "dog", "barks"], ["a", "cat", "sleeps"], ["dogs", "bark"], ["the", "bark", "of", "a", "tree"]]
TAGS = [["D", "N", "V"], ["D", "N", "V"], ["N", "V"], ["D", "N", "P", "D", "N"]]
ITEMS = [[{"w": word, "length": len(word) / 4} for word in sentence] for sentence in SENTENCES]


def _one_by_one(model: Any) -> Any:
    for example, label in zip(NAMED * 2, ["no", "yes", "no", "yes"] * 2, strict=True):
        model.learn_one(example, label)
    return model


def _ranks_one_by_one(model: Any) -> Any:
    for example, rank in zip(NAMED * 2, [1, 2, 3, 2] * 2, strict=True):
        model.learn_one(example, rank, classes=[1, 2, 3])
    return model


MODELS: dict[str, Callable[[], Any]] = {
    "Perceptron": lambda: rb.Perceptron(order="cyclic").fit(X, TWO),
    "Perceptron-ovo-average": lambda: rb.Perceptron(multiclass="ovo", average=True, max_iter=4).fit(X, THREE),
    "Perceptron-direct-sparse-l1": lambda: rb.Perceptron(penalty="l1", max_iter=3).fit(SPARSE, THREE),
    "Perceptron-validated": lambda: rb.Perceptron(early_stopping=True, max_iter=6).fit(X, NOISY),
    "Perceptron-cycle": lambda: rb.Perceptron(order="cyclic", stop_on_cycle=True).fit(
        [[0, 0], [1, 0], [0, 1], [1, 1]], [0, 1, 1, 0]
    ),
    "Perceptron-stream": lambda: rb.Perceptron(trace="mistakes", class_weight="balanced").partial_fit(
        X, THREE, classes="grow"
    ),
    "Perceptron-fit-then-stream": lambda: (
        rb.Perceptron(bias="radius", max_iter=3).fit(X, NOISY).partial_fit(X[:5], NOISY[:5])
    ),
    "Perceptron-named": lambda: _one_by_one(rb.Perceptron(average=True)),
    "Perceptron-wide": lambda: rb.Perceptron(average=True, max_iter=3).fit(WIDE[:, : 2**20], THREE),
    "Perceptron-wide-stream": lambda: rb.Perceptron(penalty="l2").partial_fit(WIDE, TWO),
    "PassiveAggressiveClassifier": lambda: rb.PassiveAggressiveClassifier(C=0.5, max_iter=4).fit(X, TWO),
    "PassiveAggressiveClassifier-stream": lambda: rb.PassiveAggressiveClassifier(
        C=float("inf"), average=True, trace="mistakes"
    ).partial_fit(SPARSE, THREE, classes=[3, 5, 8]),
    "ConfidenceWeightedClassifier": lambda: rb.ConfidenceWeightedClassifier(r=0.5, max_iter=4).fit(X, THREE),
    "ConfidenceWeightedClassifier-scw": lambda: rb.ConfidenceWeightedClassifier(
        rule="scw", average=True, trace="mistakes"
    ).partial_fit(SPARSE, TWO),
    "Perceptron-uneven-stream": lambda: rb.Perceptron(margin=(2.0, 0.5)).partial_fit(X, TWO),
    "PassiveAggressiveRegressor": lambda: rb.PassiveAggressiveRegressor(average=True).fit(X, NUMBERS[:, 0]),
    "OrdinalPerceptron": lambda: rb.OrdinalPerceptron(average=True).fit(SPARSE, THREE),
    "PNormPerceptron": lambda: rb.PNormPerceptron(4, max_iter=4, average=True).fit(X, THREE),
    "PNormPerceptron-stream": lambda: rb.PNormPerceptron(trace="mistakes").partial_fit(SPARSE, TWO),
    "RankingPerceptron": lambda: rb.RankingPerceptron(average=True).fit(X, NUMBERS[:, 0], qid=THREE),
    "RankingPerceptron-stream": lambda: rb.RankingPerceptron(margin=1.0).partial_fit(SPARSE, NUMBERS[:, 1]),
    "MultilabelPerceptron": lambda: rb.MultilabelPerceptron(average=True).fit(SPARSE, X[:, :3] > 0),
    "MultilabelPerceptron-arow": lambda: rb.MultilabelPerceptron("arow").partial_fit(
        X, [{label for label in "ab" if label in name} for name in TWO], classes=["a", "b"]
    ),
    "Probes": lambda: rb.Probes(folds=3, controls=1, max_iter=3).fit(X, {"two": TWO, "three": THREE}),
    "OrdinalPerceptron-named": lambda: _ranks_one_by_one(rb.OrdinalPerceptron()),
    "VotedPerceptron": lambda: rb.VotedPerceptron(max_iter=3).fit(X, TWO),
    "VotedPerceptron-sparse-classes": lambda: rb.VotedPerceptron(max_iter=2).fit(SPARSE, THREE),
    "VotedPerceptron-stream": lambda: rb.VotedPerceptron(max_iter=2).fit(X, THREE).partial_fit(SPARSE, THREE),
    "PocketPerceptron": lambda: rb.PocketPerceptron(max_iter=4).fit(X, NOISY),
    "LiftedPerceptron": lambda: rb.LiftedPerceptron().fit(X, NOISY),
    "KernelPerceptron": lambda: rb.KernelPerceptron("poly", max_iter=4, warm_start=True).fit(X, THREE),
    "KernelPerceptron-stream": lambda: rb.KernelPerceptron(
        rb.kernels.RBF(0.1), budget=6, trace="mistakes"
    ).partial_fit(SPARSE, THREE, classes="grow"),
    "KernelPerceptron-precomputed": lambda: rb.KernelPerceptron("precomputed", max_iter=3).fit(X @ X.T, NOISY),
    "SoftMarginClassifier": lambda: rb.SoftMarginClassifier(alpha=0.01).fit(X, THREE),
    "MaxMarginClassifier": lambda: rb.MaxMarginClassifier().fit(csr_array(X), PLANE),
    "MultilayerPerceptron": lambda: rb.MultilayerPerceptron(
        hidden_layer_sizes=(4,), activation="logistic", max_iter=4
    ).fit(X, THREE),
    "MultilayerPerceptron-regression": lambda: rb.MultilayerPerceptron(
        task="regression", hidden_layer_sizes=[3, 2], solver="sgd", max_iter=4
    ).fit(X.astype(np.float32), NUMBERS),
    "MultilayerPerceptron-stream": lambda: rb.MultilayerPerceptron(hidden_layer_sizes=3).partial_fit(X, TWO),
    "MarkOne": lambda: rb.MarkOne(20, retina=(4, 4), max_iter=5).fit(X, NOISY),
    "MarkOne-stream": lambda: rb.MarkOne(20, retina=(4, 4), exposure=(0, 1)).partial_fit(X, THREE, classes="grow"),
    "ExtremeLearningMachine": lambda: rb.ExtremeLearningMachine(6).fit(X, TWO),
    "ExtremeLearningMachine-stream": lambda: rb.ExtremeLearningMachine(5, task="regression").partial_fit(
        X, NUMBERS
    ),
    "VisualHierarchy": lambda: rb.VisualHierarchy((6, 5, 4)).fit(X),
    "VisualHierarchy-trained": lambda: rb.VisualHierarchy((6, 5, 4), training="backpropagation", max_iter=3).fit(
        X, THREE
    ),
    "OnlineScaler": lambda: rb.OnlineScaler().partial_fit(X),
    "OnlineScaler-named": lambda: rb.OnlineScaler(with_mean=False).partial_fit(
        [{name: row[j] for j, name in enumerate("abcdefghi")} for row in X]
    ),
    "MonomialMap": lambda: rb.MonomialMap(3, c=0.5).fit(X),
    "AdaptiveFilter": lambda: rb.AdaptiveFilter(8, window=10).fit(X[:, 0], X[:, 1]),
    "SequencePerceptron": lambda: rb.SequencePerceptron(templates="words", max_iter=4).fit(SENTENCES, TAGS),
    "SequencePerceptron-items": lambda: rb.SequencePerceptron(
        constraints=[("D", "V"), (None, "P"), ("D", None)], average=False, tie="mistake", max_iter=4
    ).fit(ITEMS, TAGS),
    "SequencePerceptron-stream": lambda: rb.SequencePerceptron(templates=["lower", ("suffix2", -1)]).partial_fit(
        SENTENCES[:2], TAGS[:2], classes=["D", "N", "P", "V"]
    ),
    "SequencePerceptron-hashed": lambda: rb.SequencePerceptron(
        templates=["lower", [("suffix2", -1), ("shape", 0)]], hash_bits=6, margin=1, max_iter=3
    ).fit(SENTENCES, TAGS),
    "SequencePerceptron-beam": lambda: _from_file(
        rb.SequencePerceptron(templates=["form"], order=2, beam=2, update="early", max_iter=3).fit(SENTENCES, TAGS)
    ),
    "AdaptiveFilter-complex": lambda: rb.AdaptiveFilter(4).fit(X[:, 0] + 1j * X[:, 1], X[:, 1]),
}

OWN = {name.split("-")[0] for name in MODELS}
MODELS |= {name: partial(lambda name: class_of(name)().fit(X, TWO), name) for name in BUILT_IN if name not in OWN}


PLAIN = [name for name in MODELS if "-" not in name]
NAMES = [*PLAIN, *slowly(*(name for name in MODELS if name not in PLAIN))]
"""The values of a parameter: `make test` takes one model of each class."""


def _from_file(tagger: Any) -> Any:
    """Return a tagger that knows the columns its words and labels came from."""
    tagger.columns_, tagger.label_ = ("form",), "upos"
    return tagger


def made(name: str) -> Any:
    """Return the model of a name, trained anew."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return MODELS[name]()


def asked(model: Any) -> Any:
    """Return rows as wide as the model's, to predict or to learn from."""
    if getattr(model, "kernel", None) == "precomputed":
        return X @ X.T
    if model.n_features_in_ > X.shape[1]:
        return WIDE[:, : model.n_features_in_]
    return X[:, : model.n_features_in_]


def sentences_for(model: Any) -> Any:
    """Return sentences of the kind that a tagger reads."""
    return ITEMS if model.templates is None else SENTENCES


def answers(model: Any) -> list[np.ndarray]:
    """Return all that a model says of some rows."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if isinstance(model, rb.AdaptiveFilter):
            return [model.predict(X[:, 2]), model.coef_, *model._stream.powers()]
        if isinstance(model, rb.SequencePerceptron):
            given = sentences_for(model)
            if model.beam is not None:
                pairs = model.transition_features_
                return [
                    np.concatenate(model.predict(given)),
                    np.array([pairs[each] for each in sorted(pairs, key=str)]),
                ]
            labels = [np.concatenate(each) for each in (model.predict(given), model.predict(given, k=2)[0])]
            return [
                *labels,
                np.concatenate(model.margins(given)),
                np.array(sorted(model.state_features_.values())),
            ]
        rows = asked(model)
        ways = [
            getattr(model, way, None) for way in ("predict", "decision_function", "predict_proba", "transform")
        ]
        return [np.asarray(way(rows)) for way in ways if way is not None]


def gone_on(model: Any) -> Any:
    """Return the model after it has learned some more, if it can, by all ways it can."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if isinstance(model, rb.AdaptiveFilter):
            return model.partial_fit(X[:, 3], X[:, 4])
        if isinstance(model, rb.SequencePerceptron):
            others = [[tag if tag != "P" else "N" for tag in each] for each in TAGS]
            return model.partial_fit(sentences_for(model), others).learn_one(sentences_for(model)[0], TAGS[0])
        if not hasattr(model, "partial_fit"):
            return model
        rows = asked(model)
        classes = getattr(model, "classes_", None)
        y = NUMBERS if classes is None else np.resize(classes, rows.shape[0])
        if isinstance(model, rb.PassiveAggressiveRegressor | rb.RankingPerceptron):
            y = NUMBERS[:, 0]
        if isinstance(model, rb.MultilabelPerceptron):
            y = [{label} for label in y.tolist()]
        model.partial_fit(rows, y)
        if hasattr(model, "learn_one") and isinstance(rows, np.ndarray):
            model.learn_one(rows[0], y[1])
            model.learn_one(rows[1], y[0])
        return model


def bits(values: list[np.ndarray]) -> list[Any]:
    """Return arrays such that equality is equality of bits."""
    return [(each.dtype, each.shape, each.tolist() if each.dtype == object else each.tobytes()) for each in values]


def survives(model: Any) -> None:
    """Ask a model that was read from a strange file, which may answer or refuse, but not by just any error."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for ask in (answers, gone_on, answers):
            try:
                ask(model)
            except RosenblattError:
                return
