"""Training from end to end: `fit` against `fit`, as many passes over the same data."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from benchmarks import peers
from benchmarks.comparison import AtLeast, Comparison
from benchmarks.data import clusters, gaussian, text_in_classes
from benchmarks.timing import Setup, race, read_limit
from rosenblatt import Perceptron
from rosenblatt.datasets import make_text
from rosenblatt.typing import Ints

AS_STORED = {"shuffle": False}
SHUFFLED = {"shuffle": True, "random_state": 0}
AVERAGED = {"shuffle": False, "average": True}
PATIENT = {"n_iter_no_change": 1_000_000}  # only a separating hyperplane ends the run
SKLEARN_SPARSE_BIAS = 0.01  # it scales the steps of the intercept by this where rows are sparse
ONE_AGAINST_REST = {"multiclass": "ovr"}
ALIKE = 0.05  # how far accuracies may lie apart where orders or precisions differ


@dataclass(frozen=True)
class Data:
    """A training set, and how we are told to train on it until the workload is done.

    Attributes
    ----------
    X, y
        Rows and labels.
    ours : dict
        Parameters that scikit-learn has no name for, or does not need.
    """

    X: Any
    y: Ints
    ours: dict[str, Any]

    @property
    def bytes(self) -> int:
        """What one pass reads."""
        X = self.X
        return X.nbytes if isinstance(X, np.ndarray) else X.data.nbytes + X.indices.nbytes + X.indptr.nbytes

    def in_float32(self) -> Data:
        """Return the same data in half the precision."""
        return replace(self, X=self.X.astype(np.float32))


def dense_separable(setup: Setup) -> Iterator[Comparison]:
    """D1: until separated."""
    data = Data(*gaussian(setup.rows(200_000), 100, margin=0.075, seed=4), PATIENT)
    yield _fit(setup, "D1 f64", data, AS_STORED, AtLeast(4))
    yield _fit(setup, "D1 f32", data.in_float32(), AS_STORED, AtLeast(4))
    yield _fit(setup, "D1 shuffled", data, SHUFFLED, AtLeast(5))
    yield _fit(setup, "D1 averaged", data, AVERAGED, None)


def dense_noisy(setup: Setup) -> Iterator[Comparison]:
    """D2: ten passes where one label in ten is wrong."""
    data = Data(*gaussian(setup.rows(200_000), 100, margin=0.075, noise=0.1), {"max_iter": 10} | PATIENT)
    yield _fit(setup, "D2 f64", data, AS_STORED, AtLeast(2.4))
    yield _fit(setup, "D2 shuffled", data, SHUFFLED, AtLeast(2.4))
    yield _fit(setup, "D2 averaged", data, AVERAGED, AtLeast(4))


def dense_wide(setup: Setup) -> Iterator[Comparison]:
    """D3: until separated, with many features."""
    data = Data(*gaussian(setup.rows(20_000), 2_000, margin=0.1), PATIENT)
    yield _fit(setup, "D3 f64", data, AS_STORED, AtLeast(5))


def sparse_text(setup: Setup) -> Iterator[Comparison]:
    """S1: five passes over rows like text."""
    data = Data(
        *make_text(setup.rows(200_000), 2**20, seed=0), {"max_iter": 5, "bias": SKLEARN_SPARSE_BIAS} | PATIENT
    )
    yield _fit(setup, "S1 f64", data, AS_STORED, AtLeast(1.5))
    yield _fit(setup, "S1 f32", data.in_float32(), AS_STORED, AtLeast(1.5))
    yield _fit(setup, "S1 shuffled", data, SHUFFLED, AtLeast(1.5))
    yield _fit(setup, "S1 averaged", data, AVERAGED, AtLeast(3.5))
    few = setup.rows(20_000)
    yield _fit_from_text(setup, "S1 tenth, from text", data.X[:few], data.y[:few], passes=5)


def dense_classes(setup: Setup) -> Iterator[Comparison]:
    """M1: five passes over ten classes; scikit-learn trains each against the rest."""
    data = Data(*clusters(setup.rows(60_000), 784, 10, spread=9.0), {"max_iter": 5} | PATIENT)
    yield _fit(setup, "M1 f64", data, AS_STORED, AtLeast(12))
    yield _fit(setup, "M1 f32", data.in_float32(), AS_STORED, AtLeast(12))
    yield _fit(setup, "M1 one against the rest", replace(data, ours=data.ours | ONE_AGAINST_REST), AS_STORED, None)
    yield _fit(setup, "M1 shuffled", data, SHUFFLED, None)
    yield _fit(setup, "M1 averaged", data, AVERAGED, None)


def sparse_classes(setup: Setup) -> Iterator[Comparison]:
    """M2: five passes over twenty classes of rows like text."""
    ours = {"max_iter": 5, "bias": SKLEARN_SPARSE_BIAS} | PATIENT
    data = Data(*text_in_classes(setup.rows(50_000), 100_000, 20, noise=0.3), ours)
    yield _fit(setup, "M2 f64", data, AS_STORED, AtLeast(4))
    yield _fit(setup, "M2 one against the rest", replace(data, ours=ours | ONE_AGAINST_REST), AS_STORED, None)
    yield _fit(setup, "M2 shuffled", data, SHUFFLED, None)
    yield _fit(setup, "M2 averaged", data, AVERAGED, None)


def _fit(setup: Setup, name: str, data: Data, params: dict[str, Any], target: AtLeast | None) -> Comparison:
    X, y = data.X, data.y
    # The warm-up is a whole fit: only then is every loop compiled that this workload uses, the screen's too.
    ours = Perceptron(**params, **data.ours).fit(X, y)
    assert ours.stop_reason_ in ("separated", "max_iter"), f"{name} ended otherwise: {ours.stop_reason_}"
    passes = ours.n_iter_
    peer = peers.sklearn_perceptron(**params, max_iter=passes).fit(X[:1000], y[:1000])
    timed = race({"peer": lambda: peer.fit(X, y), "ours": lambda: ours.fit(X, y)}, setup.repeats)
    return Comparison(
        f"{name}, {passes} passes",
        "scikit-learn",
        timed["ours"].seconds,
        timed["peer"].seconds,
        target,
        passes * data.bytes,
        read_limit(),
        _compare(ours, peer, X, y),
    )


def _fit_from_text(setup: Setup, name: str, X: Any, y: Any, passes: int) -> Comparison:
    """Compare with learning from text, which has to be parsed; ours is parsed already."""
    ours = Perceptron(shuffle=False, max_iter=passes)
    contestants = {"ours": lambda: ours.fit(X, y)}
    vw = peers.installed("vowpalwabbit")
    with TemporaryDirectory() as folder:
        path = Path(folder) / "rows.vw"
        if vw:
            peers.write_vw_text(path, X, y)
            contestants["peer"] = lambda: peers.vw_train_from_text(vw, path, passes)
        timed = race(contestants, setup.repeats)
    peer = timed["peer"].seconds if vw else []
    return Comparison(f"{name}, {passes} passes", "VW", timed["ours"].seconds, peer)


def _compare(ours: Any, peer: Any, X: Any, y: Any) -> str:
    """Say how two models compare, and require that they are about as good."""
    if np.array_equal(ours.coef_, peer.coef_) and np.array_equal(ours.intercept_, peer.intercept_):
        return "identical"
    right, peer_right = (float(np.mean(model.predict(X) == y)) for model in (ours, peer))
    assert right > peer_right - ALIKE, f"{ours} is right on {right:.2%} of the rows, {peer} on {peer_right:.2%}"
    return f"{right:.2%} / {peer_right:.2%} right"
