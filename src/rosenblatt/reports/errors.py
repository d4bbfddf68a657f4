"""Rows worth reading: the most confident errors, and the rows that are right by the least."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rosenblatt.reports.subject import Subject
from rosenblatt.typing import Floats, Ints

MOST = 10
"""Rows of each kind."""
PARTS = 5
"""Features for each row."""
LONG = 160
"""Letters of the name of a row."""


@dataclass(frozen=True)
class Case:
    """A row worth reading."""

    row: int  # its number, from 0
    called: str  # its name, if it has one
    truth: str
    predicted: str
    lead: float | None  # by how much it is right; see `Subject.lead`
    parts: list[tuple[str, float]]  # features by name, and how much each contributed to the prediction


@dataclass(frozen=True)
class Cases:
    """The rows worth reading, and the number of all errors."""

    wrong: list[Case]
    close: list[Case]
    n_wrong: int
    words: str
    explained: bool


def cases_of(subject: Subject) -> Cases:
    """Return the rows worth reading."""
    wrong = subject.predicted != subject.batch.codes
    lead = subject.lead
    order = np.arange(len(wrong)) if lead is None else np.argsort(lead, kind="stable")
    worst = order[wrong[order]][:MOST]
    close = np.array([], np.int64) if lead is None else order[~wrong[order]][:MOST]
    return Cases(
        [_case(subject, i, lead) for i in worst.tolist()],
        [_case(subject, i, lead) for i in close.tolist()],
        int(wrong.sum()),
        subject.lead_words,
        subject.hyperplanes is not None,
    )


def _case(subject: Subject, i: int, lead: Floats | None) -> Case:
    called = "" if subject.rows is None else " ".join(str(subject.rows[i]).split())
    labels = subject.labels
    return Case(
        i,
        called if len(called) <= LONG else called[: LONG - 1] + "…",
        labels[subject.batch.codes[i]],
        labels[subject.predicted[i]],
        None if lead is None else float(lead[i]),
        _parts(subject, i),
    )


def _parts(subject: Subject, i: int) -> list[tuple[str, float]]:
    """Return the features that contributed most to the prediction, for or against it."""
    if subject.hyperplanes is None:
        return []
    W, b = subject.hyperplanes
    predicted, truth = int(subject.predicted[i]), int(subject.batch.codes[i])
    if len(W) == 1:
        side = 1.0 if predicted == len(subject.labels) - 1 else -1.0
        w, bias = side * W[0], side * b[0]
    else:
        rival = truth if truth != predicted else _second(subject, i, predicted)
        w, bias = W[predicted] - W[rival], b[predicted] - b[rival]
    columns, values = subject.row(i)
    parts = w[columns] * values
    top: Ints = np.argsort(-np.abs(parts), kind="stable")[:PARTS]
    named = [(subject.feature(int(columns[k])), float(parts[k])) for k in top.tolist() if parts[k]]
    if bias and (len(named) < PARTS or abs(bias) > abs(named[-1][1])):
        named = sorted([*named, ("bias", float(bias))], key=lambda each: -abs(each[1]))[:PARTS]
    return named


def _second(subject: Subject, i: int, predicted: int) -> int:
    """Return the class with the second best score."""
    assert subject.decision is not None, "hyperplanes have scores"
    scores = subject.decision[i].copy()
    scores[predicted] = -np.inf
    return int(np.argmax(scores))
