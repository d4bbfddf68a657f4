"""The answers to the lab page: runs as documents, what other models predict as a picture, verdicts and bounds.

``python -m rosenblatt.lab.replies`` is the process that trains and proves: a question in, an answer out.
"""

from __future__ import annotations

import json
import os
import pickle
import sys
import warnings
from queue import SimpleQueue
from threading import Thread
from typing import IO, Any

import numpy as np
from numba.core import event
from numpy.typing import NDArray

from rosenblatt import registry
from rosenblatt.exceptions import (
    InputError,
    KernelWarning,
    RosenblattError,
    ScaleWarning,
    TrivialSeparationWarning,
)
from rosenblatt.lab.questions import (
    MOST_PASSES,
    MOST_VALUES,
    NOTE,
    BoundsMessage,
    CertifyMessage,
    DataMessage,
    PictureMessage,
    Plane,
    PointsMessage,
    RunMessage,
    read_message,
    receive,
    send,
)
from rosenblatt.tasks.training import not_taken, parameters_of
from rosenblatt.typing import ColumnLike, Floats, MatrixLike

LONGEST_PROOF = 60.0  # seconds that a decision may take
FIRST_PASSES = 200
SHOWN_VALUES = 500_000  # numbers of a table that the page steps through
SHOWN_ROWS = 2_000  # points of a projection
PICTURE_CELLS, FEW_CELLS = 110, 60  # cells of the picture each way; of one with many classes
MANY_CLASSES = 6
MAX_PAGE_CLASSES = 20
MAX_PAGE_FEATURES, MAX_PAGE_ROWS = 64, 20_000  # of data that the page trains on by itself

ENDS = {
    "separated": "It ended because a whole pass was without a mistake.",
    "margin": "It ended because every row reached its margin.",
    "inseparable": "It ended because a proof was found that nothing of its kind separates the classes.",
    "plateau": "It ended because it no longer improved.",
    "tol": "It ended because it improved by less than its tolerance.",
    "max_iter": "It was cut off at its largest number of passes. That alone proves nothing about the data.",
    "max_time": "It was cut off at its time limit. That alone proves nothing about the data.",
    "validation": "It ended because rows that were held out were no longer predicted better.",
    "cycle": "It ended because its weights came back to where they were, so it would repeat itself for ever.",
    "interrupted": "It was interrupted.",
}
"""Why training ended."""


class Answers:
    """Answers questions about the data of a lab, and about points that the page sends; no place means no data."""

    def __init__(self, places: tuple[str, ...], options: dict[str, Any]) -> None:
        self._places, self._options = places, options
        self._table: Any = None
        self._model: tuple[Any, NDArray[Any]] | None = None
        """The model whose predictions the page shows, and its classes."""

    def answer(self, question: Any) -> dict[str, Any]:
        """Return what a question asks for."""
        match question:
            case DataMessage():
                return self._first() if self._places else {}
            case PictureMessage():
                if self._model is None:
                    raise InputError("Python no longer has this model. Train it again.")
                model, classes = self._model
                return {"picture": picture_of(model, classes, question.plane)}
            case RunMessage(learner=None):
                return _by_rule(question, *self._data(question), self._names(question))
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

    def _names(self, question: PointsMessage) -> list[str]:
        """Return the names of the columns; none if they have no names."""
        if question.X is not None:
            return question.features
        names = self._read()[2]
        return [] if names is None else list(map(str, names))

    def _first(self) -> dict[str, Any]:
        """Return the data of the lab, on which the page trains; of a large table, what the page can show."""
        X, y, names = self._read()
        classes = np.unique(y)
        if _is_small(X, classes) and X.shape[1] <= MAX_PAGE_FEATURES and X.shape[0] <= MAX_PAGE_ROWS:
            codes = np.array(_codes(classes, y))
            named = [f"x{j + 1}" for j in range(X.shape[1])] if names is None else list(map(str, names))
            return {
                "data": {
                    "features": named,
                    "labels": [str(label) for label in classes.tolist()],
                    "X": X.tolist(),
                    "y": (2 * codes - 1 if len(classes) == 2 else codes).tolist(),
                }
            }
        from rosenblatt import Perceptron

        clf = Perceptron(order="cyclic", max_iter=FIRST_PASSES, n_iter_no_change=FIRST_PASSES, decide=False).fit(
            _named(X, [] if names is None else list(map(str, names))), y
        )
        rule: dict[str, Any] = {"eta": 1.0, "margin": 0.0, "tie": "mistake"}
        if not _is_small(X, clf.classes_):
            return _projection(clf, X, y, registry.title_of("perceptron"))
        document = clf.trace_.to_document(X, y, order=range(X.shape[0]), reason=clf.stop_reason_, **rule)
        if names is not None:
            document["data"]["features"] = [str(name) for name in names]
        return {"title": "The plain perceptron, trained in Python", "document": document}

    def _by_learner(self, question: RunMessage) -> dict[str, Any]:
        """Train any learner; answer with its run if the page can step through it, else with what it predicts."""
        from rosenblatt.lab.run_page import run_document

        assert question.learner is not None
        cls, fixed = registry.command(question.learner)
        parameters: dict[str, Any] = dict(fixed) | parameters_of(question.settings)
        known = cls().get_params()
        for name in sorted(parameters.keys() - known.keys()):
            raise not_taken(question.learner, name, known)
        if "random_state" in known:
            parameters = {"random_state": abs(question.seed)} | parameters
        X, y = self._data(question)
        model = cls(**parameters).fit(_named(X, self._names(question)), y)
        if _is_small(X, np.unique(y)) and _follows_its_trace(model, X, y):
            order = range(X.shape[0]) if _is_cyclic(model) else None
            document = run_document(model, X, y, order=order)
            return {"title": f"{_called(question)}, trained in Python", "document": _labelled(document, question)}
        if question.X is None and not _is_small(X, np.unique(y)):
            return _projection(model, X, y, _called(question))
        self._model = model, np.unique(y)
        return {"outcome": _outcome(model, X, y, f"{_called(question)}, trained in Python", question.plane)}

    def _decide(self, question: CertifyMessage) -> dict[str, Any]:
        from rosenblatt import certify

        X, y = self._data(question)
        several: Any = "direct" if len(np.unique(y)) > 2 else None
        found: Any = certify(X, y, bias=question.bias, margin=False, multiclass=several, time_limit=LONGEST_PROOF)
        if found.verdict == "undecided":
            return {"reason": found.reason}
        return {"verdict": found.verdict, "proof": found.to_json() if question.X is not None else None}


def _called(question: RunMessage) -> str:
    """Return what a learner is called, with the parameters that were given."""
    assert question.learner is not None
    given = ", ".join(question.settings)
    return registry.title_of(question.learner) + (f" ({given})" if given else "")


def _named(X: Any, names: list[str]) -> Any:
    """Return rows as a frame with names of columns, which warnings use; large and sparse rows as they are."""
    if not isinstance(X, np.ndarray) or X.size > SHOWN_VALUES or len(set(names)) != X.shape[1]:
        return X
    import pyarrow as pa

    return pa.table(dict(zip(names, X.T, strict=True)))


def _by_rule(question: RunMessage, X: Floats, y: NDArray[Any], names: list[str]) -> dict[str, Any]:
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
    ).fit(_named(X, names), y, **_start(question, X.shape[1]))
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
    lines = [f"{wrong} of {n} points {'is' if wrong == 1 else 'are'} wrong."]
    passes, mistakes, reason = (getattr(model, name, None) for name in ("n_iter_", "n_mistakes_", "stop_reason_"))
    if passes is not None:
        made = "" if mistakes is None else f" with {mistakes} mistake{'s' * (mistakes != 1)}"
        lines.append(f"It trained for {passes} pass{'es' * (passes != 1)}{made}.")
    return [*lines, ENDS[reason]] if reason in ENDS else lines


def picture_of(model: Any, classes: NDArray[Any], plane: Plane) -> dict[str, Any]:
    """Return what a model predicts on a plane: for each class a number that is positive where it is predicted.

    For two classes there is one list, positive where the second is predicted. The numbers are the score less that
    of the best other class, so that the page can draw smooth borders. A model without scores, or with scores that
    are not what it predicts by, gets 1 and −1.
    """
    cells = PICTURE_CELLS if len(classes) <= MANY_CLASSES else FEW_CELLS
    nodes = plane.nodes(model.n_features_in_, cells)
    codes = np.array(_codes(classes, model.predict(nodes)))
    every = range(len(classes)) if len(classes) > 2 else (1,)
    is_predicted = np.array([codes == code for code in every])
    margins = _margins(model, nodes, len(classes))
    plain = np.where(is_predicted, 1.0, -1.0)
    if margins is None or not np.isfinite(margins).all() or (margins * plain < 0).any():
        margins = plain
    smallest = np.finfo(np.float32).tiny
    margins = np.where(margins == 0, plain * smallest, margins)
    shown = [[float(f"{value:.4g}") for value in each] for each in margins.tolist()]
    return {"low": plane.low, "high": plane.high, "cells": cells, "margins": shown}


def _margins(model: Any, nodes: Floats, n_classes: int) -> Floats | None:
    """Return the score of each class less that of the best other; None where a model has no such scores."""
    if not hasattr(model, "decision_function"):
        return None
    scores = np.asarray(model.decision_function(nodes))
    if n_classes == 2:
        return scores[None, :] if scores.ndim == 1 else None
    if scores.ndim != 2 or scores.shape[1] != n_classes:
        return None
    in_order = np.sort(scores, axis=1)
    best, second = in_order[:, -1:], in_order[:, -2:-1]
    return (scores - np.where(scores == best, second, best)).T


def _outcome(model: Any, X: Floats, y: NDArray[Any], title: str, plane: Plane | None) -> dict[str, Any]:
    """Return what a model predicts: for each point, and where the page shows it."""
    classes = np.unique(y)
    predicted = model.predict(X)
    return {
        "title": title,
        "lines": _lines(model, int(np.sum(predicted != y)), len(y)),
        "predicted": _codes(classes, predicted),
        "picture": None if plane is None else picture_of(model, classes, plane),
    }


def _projection(model: Any, X: Any, y: Any, called: str) -> dict[str, Any]:
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
    title = f"{called}, on {X.shape[0]} rows of {X.shape[1]} features"
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
        "picture": None,
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


class CompilingNotes(event.Listener):  # type: ignore[misc]  # numba has no types
    """Says which loop is being compiled, which takes seconds the first time on a computer."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream

    def on_start(self, event: Any) -> None:
        """Tell the page."""
        name = event.data["dispatcher"].py_func.__name__.strip("_").replace("_", " ")
        told = f"compiling the loop “{name}”, which is kept for the next time"
        send(self._stream, NOTE + told.encode())

    def on_end(self, event: Any) -> None:
        """Nothing is to be said."""


def answered(known: Answers, question: Any) -> dict[str, Any]:
    """Return the answer to a question, with what the library warned of on the way."""
    from sklearn.exceptions import ConvergenceWarning

    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("ignore")
        for category in (ScaleWarning, KernelWarning, TrivialSeparationWarning, ConvergenceWarning):
            warnings.simplefilter("always", category)
        answer = known.answer(question)
    said = list(dict.fromkeys(str(each.message) for each in told))
    return answer | {"warnings": said} if said else answer


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
    event.register("numba:compile", CompilingNotes(answers))
    known = Answers(*pickle.loads(messages.get()))  # written by the process that started this one
    while True:
        try:
            answer = answered(known, read_message(messages.get()))
        except (RosenblattError, OSError, ImportError, ValueError, TypeError, MemoryError) as error:
            answer = {"error": f"Python says: {error}"}
        send(answers, json.dumps(answer, allow_nan=False).encode())


if __name__ == "__main__":
    main()
