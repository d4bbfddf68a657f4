"""The answers to the lab page: runs as documents, what other models predict as a picture, verdicts and bounds.

``python -m rosenblatt.lab.replies`` is the process that trains and proves: a question in, an answer out.
"""

from __future__ import annotations

import json
import os
import pickle
import sys
import warnings
from pathlib import Path
from queue import SimpleQueue
from threading import Thread
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt import registry
from rosenblatt.exceptions import InputError, ParameterError, RosenblattError
from rosenblatt.lab.questions import (
    MOST_PASSES,
    MOST_VALUES,
    BoundsMessage,
    CertifyMessage,
    DataMessage,
    PointsMessage,
    RunMessage,
    read_message,
    receive,
    send,
)
from rosenblatt.tasks.training import parameters_of
from rosenblatt.typing import ColumnLike, Floats, MatrixLike

LONGEST_PROOF = 60.0  # seconds that a decision may take
FIRST_PASSES = 200
SHOWN_VALUES = 500_000  # numbers of a table that the page steps through
SHOWN_ROWS = 2_000  # points of a projection
PICTURE_CELLS = 140  # cells of the picture each way
MAX_PAGE_CLASSES = 20


class Answers:
    """Answers questions about the data of a lab, and about points that the page sends.

    Parameters
    ----------
    places, options
        The data that the lab was started with, as `rosenblatt.read_table` takes it; no place means no data.
    """

    def __init__(self, places: tuple[str, ...], options: dict[str, Any]) -> None:
        self._places, self._options = places, options
        self._table: Any = None

    def answer(self, question: Any) -> dict[str, Any]:
        """Return what a question asks for."""
        match question:
            case DataMessage():
                others = registry.able("numbers")  # the page has classes
                names = {"learners": [name for name in registry.commands() if name not in others]}
                return names | (self._first_run() if self._places else {})
            case RunMessage(learner=None):
                return _by_rule(question, *self._data(question))
            case RunMessage():
                return self._by_learner(question)
            case CertifyMessage():
                return self._decide(question)
            case BoundsMessage():
                from rosenblatt import bounds

                return {"bounds": str(bounds(*self._data(question), time_limit=LONGEST_PROOF))}
        raise InputError("This question has no answer.")

    def _read(self) -> Any:
        if self._table is None:
            from rosenblatt.tasks.data import read_table

            if not self._places:
                raise InputError("The lab was started without data. Send points, or start it with a file.")
            if "-" in self._places:
                raise InputError("The lab reads its data more than once. Save it in a file, and name that.")
            self._table = read_table(*self._places, log=lambda line: print(line, file=sys.stderr), **self._options)
        return self._table

    def _data(self, question: PointsMessage) -> tuple[Any, Any]:
        if question.X is not None:
            return question.arrays()
        X, y, _ = self._read()
        return X, y

    def _first_run(self) -> dict[str, Any]:
        """Return the run of the plain perceptron on the file, to step through, or a projection of a large one."""
        from rosenblatt import Perceptron

        X, y, names = self._read()
        clf = Perceptron(order="cyclic", max_iter=FIRST_PASSES, n_iter_no_change=FIRST_PASSES, decide=False).fit(
            X, y
        )
        rule: dict[str, Any] = {"eta": 1.0, "margin": 0.0, "tie": "mistake"}
        if not _is_small(X, clf.classes_):
            return self._of_file(_projection(clf, X, y))
        document = clf.trace_.to_document(X, y, order=range(X.shape[0]), reason=clf.stop_reason_, **rule)
        if names is not None:
            document["data"]["features"] = [str(name) for name in names]
        return self._of_file({"title": "The plain perceptron, trained in Python", "document": document})

    def _of_file(self, answer: dict[str, Any]) -> dict[str, Any]:
        """Add the name of the data that the lab was started with."""
        first, *others = (place if place.startswith("@") else Path(place).name for place in self._places)
        return answer | {"name": f"{first} and {len(others)} more" if others else first}

    def _by_learner(self, question: RunMessage) -> dict[str, Any]:
        """Train any learner; answer with its run if the page can step through it, else with what it predicts."""
        from rosenblatt.lab.run_page import run_document

        assert question.learner is not None
        cls, fixed = registry.command(question.learner)
        parameters: dict[str, Any] = dict(fixed) | parameters_of(question.settings)
        known = cls().get_params()
        unknown = parameters.keys() - known.keys()
        if unknown:
            raise ParameterError(f"{min(unknown)!r} is no parameter of {cls.__name__}. Use {', '.join(known)}.")
        if "random_state" in known:
            parameters = {"random_state": abs(question.seed)} | parameters
        X, y = self._data(question)
        model = cls(**parameters).fit(X, y)
        if _is_small(X, np.unique(y)) and _follows_its_trace(model, X, y):
            order = range(X.shape[0]) if _is_cyclic(model) else None
            document = run_document(model, X, y, order=order)
            name = " ".join(repr(model).split())
            answer = {"title": f"{name}, trained in Python", "document": _labelled(document, question)}
            return self._of_file(answer) if question.X is None else answer
        if question.X is None:
            return self._of_file(_projection(model, X, y))
        return {"outcome": _outcome(model, X, y)}

    def _decide(self, question: CertifyMessage) -> dict[str, Any]:
        from rosenblatt import certify

        X, y = self._data(question)
        several: Any = "direct" if len(np.unique(y)) > 2 else None
        found: Any = certify(X, y, bias=question.bias, margin=False, multiclass=several, time_limit=LONGEST_PROOF)
        if found.verdict == "undecided":
            return {"reason": found.reason}
        return {"verdict": found.verdict, "proof": found.to_json() if question.X is not None else None}


def _by_rule(question: RunMessage, X: Floats, y: NDArray[Any]) -> dict[str, Any]:
    """Train the plain perceptron by the rule that the page shows, with an order that the page can step through."""
    from rosenblatt import Perceptron

    if not 1 <= question.passes <= MOST_PASSES:
        raise InputError(f"The passes must be from 1 to {MOST_PASSES}, but are {question.passes}.")
    n = X.shape[0]
    passes = min(question.passes, max(1, MOST_VALUES // n))
    order: Any = np.arange(n)
    if question.order == "given":
        if not question.given or not all(rows and 0 <= min(rows) <= max(rows) < n for rows in question.given):
            raise InputError(f"The order must name points from 1 to {n}.")
        repeats = len(question.given) == 1
        order = question.given[0] if repeats else question.given
        passes = passes if repeats else min(passes, len(order))
    elif question.order != "cyclic":
        rng = np.random.default_rng(abs(question.seed))
        order = [
            rng.permutation(n) if question.order == "shuffle" else rng.integers(n, size=n) for _ in range(passes)
        ]
    clf = Perceptron(
        order=order,
        max_iter=passes,
        n_iter_no_change=passes + 1,
        eta0=question.eta,
        bias=None if question.bias == "none" else question.bias,
        margin=question.margin,
        tie=question.tie,
        zero=question.zero,
        multiclass=question.scheme,
        average=question.average,
    ).fit(X, y, **_start(question, X.shape[1]))
    rule: dict[str, Any] = {"eta": question.eta, "margin": question.margin, "tie": question.tie}
    document = clf.trace_.to_document(X, y, order=order, reason=clf.stop_reason_, **rule)
    return {"title": "Trained in Python", "document": _labelled(document, question)}


def _start(question: RunMessage, n_features: int) -> dict[str, Any]:
    """Return the start of the page as `fit` takes it."""
    if not question.w0:
        return {}
    if len(question.w0) % (n_features + 1):
        raise InputError(f"The start does not fit {n_features} features. Choose another one, such as zero.")
    weights = np.reshape(np.array(question.w0, dtype=np.float64), (-1, n_features + 1))
    start = {"coef_init": weights[:, :-1]}
    return start if question.bias == "none" else start | {"intercept_init": weights[:, -1]}


def _labelled(document: dict[str, Any], question: PointsMessage) -> dict[str, Any]:
    """Give a document the labels of the page, whose points came with numbers for them."""
    if question.X is not None:
        # A class without a point has no weights in Python, so only labels that occur have a place in the document.
        places = sorted(set(question.y)) if len(question.labels) > 2 else (0, 1)
        document["data"]["labels"] = [question.labels[place] for place in places]
    return document


def _is_small(X: MatrixLike, classes: Any) -> bool:
    """Return whether the page can hold the whole table."""
    return isinstance(X, np.ndarray) and X.size <= SHOWN_VALUES and 2 <= len(classes) <= MAX_PAGE_CLASSES


def _follows_its_trace(model: Any, X: Floats, y: NDArray[Any]) -> bool:
    """Return whether a model is the end of a run of updates that a document can hold."""
    trace: Any = getattr(model, "trace_", None)
    if not hasattr(trace, "to_document") or not hasattr(model, "coef_"):
        return False
    if trace.mistakes is None or trace.penalty is not None or trace.start.moves_more:
        return False
    if trace.start.averaging is not None:  # the page averages all visits
        return False
    if trace.n_features != X.shape[1]:  # it trained on features of its own making
        return False
    return bool(np.array_equal(np.atleast_2d(trace.replay(X, y).coef), np.atleast_2d(model.coef_)))


def _is_cyclic(model: Any) -> bool:
    """Return whether every pass visits all rows in their order."""
    given = model.get_params(deep=False)
    in_order = given["order"] == "cyclic" or (given["order"] == "shuffle" and not given.get("shuffle", True))
    return in_order and not given.get("early_stopping", False)


def _codes(classes: Any, labels: ColumnLike) -> list[int]:
    places = {label: place for place, label in enumerate(np.asarray(classes).tolist())}
    return [places[label] for label in np.asarray(labels).tolist()]


def _lines(model: Any, wrong: int, n: int) -> list[str]:
    """Return what is worth saying about a trained model, a sentence each."""
    lines = [f"{wrong} of {n} points are wrong."]
    passes, mistakes, reason = (getattr(model, name, None) for name in ("n_iter_", "n_mistakes_", "stop_reason_"))
    if passes is not None:
        made = "" if mistakes is None else f" with {mistakes} mistake{'s' * (mistakes != 1)}"
        lines.append(f"It trained for {passes} pass{'es' * (passes != 1)}{made}.")
    return lines if reason is None else [*lines, f"It stopped for the reason {reason!r}."]


def _outcome(model: Any, X: Floats, y: NDArray[Any]) -> dict[str, Any]:
    """Return what a model predicts: for each point, and in the plane on a grid."""
    classes = np.unique(y)
    predicted = model.predict(X)
    outcome: dict[str, Any] = {
        "title": f"{type(model).__name__}, trained in Python",
        "lines": _lines(model, int(np.sum(predicted != y)), len(y)),
        "predicted": _codes(classes, predicted),
        "grid": None,
    }
    if X.shape[1] == 2:
        low, high = np.minimum(X.min(axis=0), 0.0), np.maximum(X.max(axis=0), 0.0)
        room = 0.75 * max(float((high - low).max()), 1e-9)
        low, high = low - room, high + room
        cells = (np.arange(PICTURE_CELLS) + 0.5) / PICTURE_CELLS
        across, down = (low[j] + (high[j] - low[j]) * (cells if j == 0 else cells[::-1]) for j in (0, 1))
        plane = np.column_stack([np.tile(across, PICTURE_CELLS), np.repeat(down, PICTURE_CELLS)])
        codes = _codes(classes, model.predict(plane))
        outcome["grid"] = {
            "low": low.tolist(),
            "high": high.tolist(),
            "cells": PICTURE_CELLS,
            "codes": "".join(np.base_repr(code, 36).lower() for code in codes),
        }
    return outcome


def _projection(model: Any, X: Floats, y: NDArray[Any]) -> dict[str, Any]:
    """Return some rows of a large table seen in two directions, and what the model predicts for them.

    For a single hyperplane they are its normal, along which the distances are exact, and the direction across it
    in which the rows differ most; otherwise the two directions in which they differ most.
    """
    classes = np.unique(y)
    if len(classes) > MAX_PAGE_CLASSES:
        raise InputError(f"The data has {len(classes)} classes, but the page shows at most {MAX_PAGE_CLASSES}.")
    rng = np.random.default_rng(0)
    rows = np.arange(X.shape[0])
    if len(rows) > SHOWN_ROWS:
        kept = rng.permutation(len(rows))[:SHOWN_ROWS]
        rare = [np.flatnonzero(y == label)[:1] for label in classes]  # so that every class is shown
        rows = np.unique(np.concatenate([kept, *rare]))
    few = X[rows]
    normal, offset = None, 0.0
    if np.ndim(getattr(model, "coef_", 0.0)) == 2 and len(model.coef_) == 1 and np.any(model.coef_):
        size = float(np.linalg.norm(model.coef_))
        normal, offset = np.ravel(model.coef_) / size, float(np.ravel(model.intercept_)[0]) / size
    first = _direction(few, None, rng) if normal is None else normal
    second = _direction(few, first, rng)
    places = np.column_stack([few @ first + offset, few @ second])
    predicted = model.predict(X)
    seen = "its hyperplane" if normal is not None else "the directions in which they differ most"
    title = f"{type(model).__name__} on {X.shape[0]} rows of {X.shape[1]} features"
    shown = (
        f"Shown are {len(rows)} of the rows, projected onto {seen}. Rules of the page see these two columns only."
    )
    codes = np.array(_codes(classes, y[rows]))
    two = len(classes) == 2
    points = {
        "features": ["distance from the hyperplane", "across it"] if normal is not None else ["first", "second"],
        "labels": [str(label) for label in classes.tolist()],
        "X": places.tolist(),
        "y": (2 * codes - 1 if two else codes).tolist(),
    }
    outcome = {
        "title": title,
        "lines": [*_lines(model, int(np.sum(predicted != y)), len(y)), shown],
        "predicted": _codes(classes, predicted[rows]),
        "grid": None,
    }
    return {"points": points, "outcome": outcome}


def _direction(X: Floats, other: Any, rng: np.random.Generator) -> Any:
    """Return nearly the direction of length 1, across another, in which rows differ most."""
    mean = np.ravel(X.mean(axis=0))
    found = rng.standard_normal(X.shape[1])
    for _ in range(20):
        if other is not None:
            found = found - (found @ other) * other
        size = float(np.linalg.norm(found))
        if size == 0.0:
            return found
        found = found / size
        along = X @ found - mean @ found
        found = X.T @ along - along.sum() * mean
    if other is not None:
        found = found - (found @ other) * other
    size = float(np.linalg.norm(found))
    return found / size if size > 0.0 else found


def _read_all(messages: SimpleQueue[bytes]) -> None:
    """Pass on each message; end the process at once when the page's server has closed its end."""
    while (text := receive(sys.stdin.buffer)) is not None:
        messages.put(text)
    os._exit(0)


def main() -> None:
    """Answer questions until the standard input ends."""
    messages: SimpleQueue[bytes] = SimpleQueue()
    Thread(target=_read_all, args=(messages,), daemon=True).start()
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what libraries print must not mix with answers
    warnings.simplefilter("ignore")  # how a run ended is in its answer
    known = Answers(*pickle.loads(messages.get()))  # written by the process that started this one
    while True:
        try:
            answer = known.answer(read_message(messages.get()))
        except (RosenblattError, OSError, ImportError, ValueError, TypeError, MemoryError) as error:
            answer = {"error": f"Python says: {error}"}
        send(answers, json.dumps(answer, allow_nan=False).encode())


if __name__ == "__main__":
    main()
