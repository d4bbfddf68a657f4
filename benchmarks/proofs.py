"""Proofs of separability: the time to an exact answer, against HiGHS on the same linear program in floats."""

from __future__ import annotations

import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from itertools import combinations
from typing import Any

import highspy
import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_svmlight_file
from sklearn.linear_model import Perceptron as Peer
from sklearn.model_selection import GridSearchCV

from benchmarks.comparison import AtLeast, AtMost, Comparison
from benchmarks.data import gaussian
from benchmarks.timing import Setup, race
from rosenblatt import Perceptron, certify, datasets
from rosenblatt.exceptions import TrivialSeparationWarning

LEAST = AtLeast(1 / 3)
NOISY = ((2000, 20), (20_000, 20), (200_000, 20), (2000, 100), (20_000, 100), (5000, 500))
LONG = 10**6  # values from which a fit is timed by itself
TINY = 2000  # values up to which a problem is decided many times a turn


def proofs(setup: Setup) -> Iterator[Comparison]:
    """Decide, with a proof that has been verified; the last column tells the verdict and what HiGHS's t says."""
    for name, X, y in _problems(setup):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", TrivialSeparationWarning)
            found = certify(X, y)
            assert found.verify(X, y), found.verify(X, y).reason
            turns = max(1, setup.repeats // 2) if X.size > 10**6 else setup.repeats
            calls = 50 if X.size <= TINY else 1
            timed = race({"ours": _of(certify, X, y), "peer": _of(least_slack, X, y)}, turns, calls)
        t = least_slack(X, y)
        yield Comparison(
            f"proof, {name}",
            "HiGHS, floats",
            timed["ours"].seconds,
            timed["peer"].seconds,
            target=LEAST,
            models=f"{found.verdict} / t = {t:.2g}",
        )


def checks(setup: Setup) -> Iterator[Comparison]:
    """Check the proof of a large problem, against the multiplication X @ w."""
    X, y = near_pairs(10_000 if setup.quick else 100_000, 1e-10)
    found = certify(X, y)
    w = np.array(found.w, float)
    timed = race({"ours": _of(found.verify, X, y), "peer": _of(np.dot, X, w)}, setup.repeats)
    yield Comparison(
        f"checking a proof, {len(y)}×{X.shape[1]}", "X @ w", timed["ours"].seconds, timed["peer"].seconds
    )


def real_proofs(setup: Setup) -> Iterator[Comparison]:
    """Decide real data, ties included: w8a, pairs of digits, and one digit against the rest."""
    if setup.data is None:
        print("real-proofs: left out; --data DIR names the folder of w8a.gz and mnist.npz", file=sys.stderr)
        return
    X, y = load_svmlight_file(str(setup.data / "w8a.gz"))
    yield _alone("proof, w8a", [(X, y)], AtMost(2.0))
    with np.load(setup.data / "mnist.npz") as file:
        X, y = file["X_train"].reshape(len(file["X_train"]), -1), file["y_train"]
    X, y = X[: setup.rows(len(X))], y[: setup.rows(len(y))]
    pairs = [(X[part], y[part]) for a, b in combinations(range(10), 2) for part in [(y == a) | (y == b)]]
    for table, labels in pairs[1], pairs[18]:  # 0 and 2, 2 and 4
        name = f"proof, MNIST {labels.min()} and {labels.max()}"
        fit = Perceptron(max_iter=5000, n_iter_no_change=5000).fit
        timed = race({"ours": _of(certify, table, labels), "peer": _of(fit, table, labels)}, setup.repeats)
        ours, peer = timed["ours"], timed["peer"]
        yield Comparison(
            name, "our perceptron", ours.seconds, peer.seconds, AtLeast(2 / 3), models=ours.result.verdict
        )
    yield _alone("proofs, all pairs of MNIST", pairs, AtMost(150.0))
    for digit in (0, 1, 8):
        yield _alone(f"proof, MNIST {digit} and the rest", [(X, y == digit)], AtMost(20.0))


def verdicts(setup: Setup) -> Iterator[Comparison]:
    """Fit noisy gaussian rows until a verdict ends it, against the same passes alone; then a grid, and proofs."""
    for n, d in NOISY:
        X, y = gaussian(setup.rows(n), d, margin=0.0, noise=0.1)
        model = Perceptron().fit(X, y)
        passes = Perceptron(max_iter=model.n_iter_, n_iter_no_change=model.n_iter_, decide=False)
        calls = 10 if X.size < LONG else 1
        timed = race({"ours": _of(model.fit, X, y), "peer": _of(passes.fit, X, y)}, setup.repeats, calls)
        alone = min(timed["peer"].seconds)
        yield Comparison(
            f"default fit, noise {n:,}×{d}",
            "its passes alone",
            timed["ours"].seconds,
            timed["peer"].seconds,
            AtLeast(alone / (2.0 * alone + 0.004)),
            models=f"{model.stop_reason_}, {model.n_iter_} passes",
        )
    X, y = gaussian(setup.rows(2500), 100, margin=0.0, noise=0.1)
    searches = {
        name: GridSearchCV(model, {"eta0": np.geomspace(0.01, 100.0, 20)}, cv=5, refit=False)
        for name, model in (("ours", Perceptron()), ("peer", Peer()))
    }
    timed = race({name: _of(search.fit, X, y) for name, search in searches.items()}, setup.repeats)
    best = " / ".join(f"{search.best_score_:.1%}" for search in searches.values())
    ours, peer = timed["ours"].seconds, timed["peer"].seconds
    yield Comparison("GridSearchCV of 100 fits, noise 2,000×100", "Perceptron()", ours, peer, LEAST, models=best)
    X, y = gaussian(setup.rows(5000), 500, margin=0.0, noise=0.1)
    for proof, seconds in (("verdict", 0.5), ("exact", 4.0)):
        call = partial(certify, X, y, ties=False, proof=proof)
        found = call()
        assert found.verify(X, y)
        timed = race({"ours": call}, max(1, setup.repeats // 2))
        name = f"proof, noise 5,000×500, {proof}"
        yield Comparison(name, "-", timed["ours"].seconds, [], AtMost(seconds), models=found.verdict)


def _alone(name: str, problems: list[tuple[Any, Any]], target: AtMost) -> Comparison:
    """Decide problems once, verify the proofs, and tell the verdicts."""
    start = time.process_time()
    found = [certify(X, y) for X, y in problems]
    seconds = time.process_time() - start
    for (X, y), each in zip(problems, found, strict=True):
        assert each.verify(X, y), each.verify(X, y).reason
    counts = Counter(each.verdict for each in found)
    told = ", ".join(f"{count} {verdict}" for verdict, count in sorted(counts.items()))
    return Comparison(name, "-", [seconds], [], target=target, models=told)


def least_slack(X: Any, y: Any) -> float:
    """Return max t with z_i·v ≥ t, |v| ≤ 1, as HiGHS finds it with its defaults."""
    z = np.where(y == np.unique(y)[1], 1.0, -1.0)[:, None] * np.column_stack([X, np.ones(len(y))])
    n, width = z.shape
    program = highspy.HighsLp()
    program.num_col_, program.num_row_ = width + 1, n
    program.sense_ = highspy.ObjSense.kMaximize
    program.col_cost_ = np.append(np.zeros(width), 1.0)
    program.col_lower_ = np.append(np.full(width, -1.0), -highspy.kHighsInf)
    program.col_upper_ = np.append(np.full(width, 1.0), highspy.kHighsInf)
    program.row_lower_, program.row_upper_ = np.zeros(n), np.full(n, highspy.kHighsInf)
    program.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    program.a_matrix_.start_ = np.arange(n + 1) * (width + 1)
    program.a_matrix_.index_ = np.tile(np.arange(width + 1), n)
    program.a_matrix_.value_ = np.column_stack([z, -np.ones(n)]).ravel()
    solver = highspy.Highs()
    solver.setOptionValue("output_flag", False)
    solver.passModel(program)
    solver.run()
    return float(solver.getInfo().objective_function_value)


def near_pairs(n: int, gap: float | None, d: int = 50, pairs: int = 1000) -> tuple[Any, Any]:
    """Return rows of which some have one of the other class right across; None: one pair, a rounding apart."""
    rng = np.random.default_rng(0)
    X, w = rng.normal(size=(n, d)), rng.normal(size=d)
    w /= np.linalg.norm(w)
    f = X @ w
    y = np.where(f > 0, 1, -1)
    on = X[: 2 * pairs : 2] - np.outer(f[: 2 * pairs : 2], w)
    if gap is None:
        X[0] = X[1] = on[0]
        X[1, 0] = np.nextafter(X[0, 0], np.inf)
        y[:2] = (-1, 1) if w[0] > 0 else (1, -1)
    else:
        X[: 2 * pairs : 2], X[1 : 2 * pairs : 2] = on + gap / 2 * w, on - gap / 2 * w
        y[: 2 * pairs] = np.tile([1, -1], pairs)
    return X, y


def _problems(setup: Setup) -> Iterator[tuple[str, Any, Any]]:
    for name in ("xor", "and", "six_points"):
        X, y = getattr(datasets, f"load_{name}")()
        yield name.replace("_", " ").upper() if len(name) <= 3 else name.replace("_", " "), X, y
    X, y = load_iris(return_X_y=True)
    yield "iris, versicolor and virginica", X[50:], y[50:]
    yield "breast cancer", *load_breast_cancer(return_X_y=True)
    X, y = load_digits(return_X_y=True)
    for digit in (0, 1, 8, 9):
        yield f"digits, {digit} and the rest", X, y == digit
    rng = np.random.default_rng(0)
    d = 30 if setup.quick else 300
    for ratio in (1.7, 2.0, 2.3):
        n = int(ratio * (d + 1))
        yield f"random labels, {n}×{d}", rng.normal(size=(n, d)), rng.integers(0, 2, n)
    n = 10_000 if setup.quick else 100_000
    for gap in (1e-6, 1e-10, 1e-14, None):
        yield f"{n}×50, {'pairs ' + str(gap) if gap else 'a rounding'} apart", *near_pairs(n, gap)
    X, y = near_pairs(n, 1e-10)
    y[n // 2] *= -1
    yield f"{n}×50, a flipped label", X, y


def _of(call: Callable[..., Any], *arguments: Any) -> Callable[[], Any]:
    return lambda: call(*arguments)
