"""One example at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from benchmarks import peers
from benchmarks.comparison import AtLeast, AtMost, Comparison
from benchmarks.data import gaussian
from benchmarks.timing import Setup, race
from rosenblatt import Perceptron
from rosenblatt.typing import Floats, Ints

EXAMPLES, FEATURES, ROUNDS = 64, 100, 30
NAMES, NAMED = 123, 14  # as in a9a: features there are, and features of an example


class Online(NamedTuple):
    """How a library predicts and learns one example, and the arguments of these calls, made beforehand."""

    predict: Callable[..., Any]
    learn: Callable[..., Any]
    unlabelled: list[tuple[Any, ...]]
    labelled: list[tuple[Any, ...]]


def one_row(setup: Setup) -> Iterator[Comparison]:
    """Predict and learn one example, against what each peer has for that."""
    X, y = gaussian(EXAMPLES, FEATURES, margin=0.0)
    libraries = {
        "ours": _ours(X, y),
        "scikit-learn": _sklearn(X, y),
        "river": _river(X, y),
        "VW, parsed before": _vw(X, y),
    }
    present = {name: library for name, library in libraries.items() if library}
    for online in present.values():
        _go_through(online.learn, online.labelled)  # a warm-up
        _go_through(online.predict, online.unlabelled)
    for action, target in (("predict", AtMost(2e-6)), ("learn", AtMost(3e-6))):
        timed = race({name: _task(online, action) for name, online in present.items()}, setup.repeats)
        seconds = {name: [each / (ROUNDS * EXAMPLES) for each in timed[name].seconds] for name in present}
        for peer in libraries:
            if peer != "ours":
                name = f"{action} one, {FEATURES} features"
                yield Comparison(name, peer, seconds["ours"], seconds.get(peer, []), target)


def one_mapping(setup: Setup) -> Iterator[Comparison]:
    """Predict and learn one example given as a dict of names and values, against river."""
    rng = np.random.default_rng(0)
    rows = [{f"f{j}": 1.0 for j in rng.choice(NAMES, NAMED, replace=False)} for _ in range(EXAMPLES)]
    labelled = list(zip(rows, (rng.random(EXAMPLES) < 0.5).tolist(), strict=True))
    river = peers.installed("river.linear_model")
    models = {"ours": Perceptron(), "averaged": Perceptron(average=True)}
    models |= {} if river is None else {"river": river.Perceptron()}
    present = {
        name: Online(model.predict_one, model.learn_one, [(row,) for row in rows], labelled)
        for name, model in models.items()
    }
    for online in present.values():
        _go_through(online.learn, online.labelled)  # a warm-up, in which every name is met
        _go_through(online.predict, online.unlabelled)
    for action, target in (("predict", None), ("learn", AtLeast(1.0))):
        timed = race({name: _task(online, action) for name, online in present.items()}, setup.repeats)
        seconds = {name: [each / (ROUNDS * EXAMPLES) for each in timed[name].seconds] for name in present}
        for ours in ("ours", "averaged"):
            name = f"{action} one dict of {NAMED}" + (", averaged" if ours == "averaged" else "")
            yield Comparison(name, "river", seconds[ours], seconds.get("river", []), target)


def _task(online: Online, action: str) -> Callable[[], None]:
    if action == "predict":
        return partial(_go_through, online.predict, online.unlabelled * ROUNDS)
    return partial(_go_through, online.learn, online.labelled * ROUNDS)


def _go_through(call: Callable[..., Any], arguments: list[tuple[Any, ...]]) -> None:
    for each in arguments:
        call(*each)


def _ours(X: Floats, y: Ints) -> Online:
    model = Perceptron()
    labels = y.tolist()
    return Online(model.predict_one, model.learn_one, [(x,) for x in X], list(zip(X, labels, strict=True)))


def _sklearn(X: Floats, y: Ints) -> Online:
    model = peers.sklearn_perceptron()
    model.partial_fit(X, y, classes=[-1, 1])
    rows = [X[i : i + 1] for i in range(EXAMPLES)]
    labelled = [(row, y[i : i + 1]) for i, row in enumerate(rows)]
    return Online(model.predict, model.partial_fit, [(row,) for row in rows], labelled)


def _river(X: Floats, y: Ints) -> Online | None:
    module = peers.installed("river.linear_model")
    if module is None:
        return None
    model = module.Perceptron()
    rows = [{f"x{j}": value for j, value in enumerate(x)} for x in X.tolist()]
    labelled = list(zip(rows, (y > 0).tolist(), strict=True))
    return Online(model.predict_one, model.learn_one, [(row,) for row in rows], labelled)


def _vw(X: Floats, y: Ints) -> Online | None:
    module = peers.installed("vowpalwabbit")
    if module is None:
        return None
    model = module.Workspace(peers.VW)
    lines = [f"{label} | {' '.join(f'{j}:{v}' for j, v in enumerate(x))}" for x, label in zip(X, y, strict=True)]
    examples = [(model.example(line),) for line in lines]
    return Online(model.predict, model.learn, examples, examples)
