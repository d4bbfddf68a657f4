"""The weights behind one answer."""

from __future__ import annotations

from typing import Any

import numpy as np

from rosenblatt.data.features import Features
from rosenblatt.loops.layout import CSR
from rosenblatt.model.kernel_state import KernelState
from rosenblatt.server.messages import ClassExplanation, Contribution, ExplainAnswer
from rosenblatt.server.problems import RequestError
from rosenblatt.server.replica import Replica
from rosenblatt.server.served_model import ServedModel

__all__ = ["explain"]

MOST = 100
"""Features that an answer names, for each class."""


def explain(model: ServedModel, replica: Replica, features: Features) -> ExplainAnswer:
    """Return what each feature of one row adds to its scores, the largest contributions first."""
    learner = replica.learner
    if isinstance(learner._state, KernelState):
        raise RequestError.of(422, "A kernel perceptron has no weights of features, so it cannot explain a score.")
    rows: Any = features.rows
    if isinstance(rows, CSR):
        places, values = rows.indices.astype(np.int64), rows.data
    else:
        places = np.flatnonzero(rows[0])
        values = rows[0][places]
    scheme = learner._scheme
    weights = np.atleast_2d(learner._state.part(places).hypothesis()).T  # a row for each feature, the bias last
    each = weights if scheme.kind == "binary" else scheme.decision(weights)
    labels, scores = replica.decide(features)
    classes = replica.classes if scheme.kind != "binary" else replica.classes[-1:]
    names = model.names
    explained = []
    for k, label in enumerate(classes):
        adds = values * each[:-1, k]
        largest = np.argsort(-np.abs(adds), kind="stable")[:MOST].tolist()
        contributions = [
            Contribution(_name(names, int(places[j])), float(values[j]), float(each[j, k]), float(adds[j]))
            for j in largest
        ]
        score = scores[0] if scheme.kind == "binary" else scores[0][k]
        explained.append(ClassExplanation(label, score, float(each[-1, k]), contributions))
    return ExplainAnswer(replica.version, labels[0], explained)


def _name(names: tuple[str, ...] | None, place: int) -> str:
    return f"x{place + 1}" if names is None else str(names[place])
