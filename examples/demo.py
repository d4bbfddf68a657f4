"""The main job on built-in data: train, explain, replay, draw. `make demo` runs this."""

from __future__ import annotations

import time
import warnings
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")

import numpy as np
from matplotlib import pyplot as plt
from rich.console import Console
from rich.table import Table
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.exceptions import ConvergenceWarning

import rosenblatt as rb

console = Console(highlight=False, width=100)
OUT = Path("out")


def heading(text: str) -> None:
    console.print(f"\n[bold]{text}[/bold]")


def vector(values: np.ndarray) -> str:
    return "(" + ", ".join(f"{value:g}" for value in np.round(values, 12)) + ")"


def six_points() -> None:
    heading("Six points, step by step  (η = 0.2, start w = (1, 0.5), visits begin at point 5)")
    X, y = rb.datasets.load_six_points()
    order = np.array([4, 5, 0, 1, 2, 3])
    clf = rb.Perceptron(eta0=0.2, order=order).fit(X, y, coef_init=[1, 0.5])
    W, b = clf.trace_.path(X, y)
    table = Table("update", "point", "label", "score", "w", "b", box=None)
    table.add_row("start", "", "", "", vector(W[0]), f"{b[0]:g}")
    for k, (i, score) in enumerate(zip(clf.trace_.index, clf.trace_.score, strict=True), start=1):
        table.add_row(str(k), str(i + 1), f"{y[i]:+d}", f"{score:.2f}", vector(W[k]), f"{np.round(b[k], 12):g}")
    console.print(table)
    console.print(f"{clf.stop_reason_}: pass {clf.n_iter_} made no mistake.")

    figure, axes = plt.subplots(1, 2, figsize=(11, 5), layout="constrained")
    rb.plot.boundary(clf, X, y, ax=axes[0])
    rb.plot.trace(clf, X, y, ax=axes[1])
    OUT.mkdir(exist_ok=True)
    figure.savefig(OUT / "six_points.png", dpi=110)
    console.print(f"drawn in {OUT / 'six_points.png'}")


def spam_table() -> None:
    heading("Spam by words")
    X, y = data = rb.datasets.load_spam_table()
    clf = rb.Perceptron(order="cyclic").fit(X, y)
    weights = ", ".join(f"{name} {w:+g}" for name, w in zip(data.feature_names, clf.coef_[0], strict=True))
    console.print(f"{clf.stop_reason_} after {clf.n_mistakes_} mistakes: {weights}")
    mail = [[1, 1, 0, 0, 0]]
    verdict = "spam" if clf.predict(mail)[0] > 0 else "no spam"
    console.print(f'"and viagra" is {verdict}, score {clf.decision_function(mail)[0]:g}')


def xor() -> None:
    heading("XOR has no separating line: training comes back to where it was, and that is a proof")
    X, y = rb.datasets.load_xor()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ConvergenceWarning)
        clf = rb.Perceptron(order="cyclic", stop_on_cycle=True).fit(X, y)
    console.print(f"{clf.stop_reason_} after pass {clf.n_iter_}, {clf.n_mistakes_} mistakes")
    console.print(f"[dim]{caught[0].category.__name__}: {caught[0].message}[/dim]")
    console.print(str(rb.certify(X, y)), markup=False)


def relatives() -> None:
    heading("Breast cancer, one row in ten mislabelled: what each of the family makes of it (right, held out)")
    X, y = load_breast_cancer(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    rng = np.random.default_rng(0)
    train = rng.random(len(y)) < 0.6
    noisy = np.where(rng.random(len(y)) < 0.1, 1 - y, y)
    table = Table("classifier", "right", "ended by", box=None)
    for clf in (
        rb.Perceptron(),
        rb.Perceptron(average=True),
        rb.VotedPerceptron(),
        rb.PocketPerceptron(),
        rb.LiftedPerceptron(),
        rb.SoftMarginClassifier(alpha=0.01),
    ):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            clf.fit(X[train], noisy[train])
        table.add_row(str(clf), f"{clf.score(X[~train], y[~train]):.1%}", clf.stop_reason_)
    console.print(table)


def digits() -> None:
    heading("Ten digits, 1,797 × 64")
    X, y = load_digits(return_X_y=True)
    clf = rb.Perceptron().fit(X, y)
    often = np.unique(np.column_stack([y[clf.trace_.index], clf.trace_.predicted]), axis=0, return_counts=True)
    (own, taken_for), times = often[0][np.argmax(often[1])], often[1].max()
    console.print(
        f"{clf.stop_reason_} in {clf.n_iter_} passes, {clf.n_mistakes_:,} mistakes; "
        f"most often a {own} was taken for a {taken_for} ({times} times)"
    )
    widest = rb.MaxMarginClassifier().fit(X[(y == 3) | (y == 8)], y[(y == 3) | (y == 8)])
    console.print(
        f"widest margin between 3 and 8: {widest.margin_:.12g}, by {len(widest.support_)} support vectors; "
        f"bounds from both sides agree to {max(widest.gap_, np.finfo(float).eps):.0e}"
    )


def proofs() -> None:
    heading("Which digits can a line tell from all others? Decided exactly, with proofs")
    X, y = load_digits(return_X_y=True)
    began = time.perf_counter()
    tables = rb.certify(X, y)
    seconds = time.perf_counter() - began
    alone = [str(digit) for digit, each in tables.rest.items() if each.verdict == "separable"]
    console.print(f"{', '.join(alone)}: yes. All {len(tables.pairs)} pairs: {tables.verdict}. {seconds:.1f} s")
    console.print(f"8: {str(tables.rest[8]).splitlines()[2]}", markup=False)
    console.print(f"all {len(tables.pairs) + len(tables.rest)} proofs checked: {bool(tables.verify(X, y))}")


def large() -> None:
    heading("200,000 × 100 with a margin of exactly 0.01")
    data = rb.datasets.make_separable(200_000, 100, margin=0.01, seed=1)
    rb.Perceptron(order="cyclic").fit(data.X, data.y)  # the first time, loops are compiled
    began = time.perf_counter()
    clf = rb.Perceptron(order="cyclic").fit(data.X, data.y)
    seconds = time.perf_counter() - began
    bound = (np.max((data.X**2).sum(axis=1)) + 1) / data.margin**2
    console.print(
        f"{clf.stop_reason_} in {seconds:.2f} s: {clf.n_iter_} passes, {clf.n_mistakes_:,} mistakes; "
        f"theory allows {bound:,.0f}"
    )
    same = clf.trace_.replay(data.X, data.y).weights.tobytes() == np.append(clf.coef_, clf.intercept_).tobytes()
    console.print(f"replayed from its {len(clf.trace_):,} mistakes: {'the same bits' if same else 'NOT the same'}")


if __name__ == "__main__":
    six_points()
    spam_table()
    xor()
    relatives()
    digits()
    proofs()
    large()
