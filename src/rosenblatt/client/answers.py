"""What a server answers, as values, and the errors of calls."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from rosenblatt.exceptions import RosenblattError

__all__ = ["CallError", "Explanation", "Label", "Learned", "Predicted", "ServedInfo", "UnreachableError"]

Label: TypeAlias = str | int | float | bool


class CallError(RosenblattError):
    """The server refused a call.

    Attributes
    ----------
    status : int
        The HTTP status.
    title, detail : str
        What kind of problem it is, and what was wrong, where, and what to do.
    row, column : int, str or None
        The place in the rows that were sent, where there is one.
    key : str or None
        The idempotency key of the call.
    """

    def __init__(self, status: int, problem: Mapping[str, Any], key: str | None = None) -> None:
        self.status, self.key = status, key
        self.title, self.detail = str(problem.get("title", "Refused")), str(problem.get("detail", ""))
        self.row, self.column = problem.get("row"), problem.get("column")
        super().__init__(f"{status} {self.title}: {self.detail}")


class UnreachableError(RosenblattError, ConnectionError):
    """The server did not answer, and it is not known whether it did what was asked.

    Attributes
    ----------
    key : str or None
        The idempotency key of the call. The same call with this key is never done twice.
    """

    def __init__(self, message: str, key: str | None = None) -> None:
        super().__init__(message)
        self.key = key


@dataclass(frozen=True, kw_only=True)
class Predicted:
    """Labels and scores of rows, in their order.

    Attributes
    ----------
    labels : list
        One for each row.
    scores : list
        One number for each row for two classes, positive for the second; else one for each class.
    classes : list
        The labels that the model knows.
    version : int
        The version that answered.
    ids : list of str or None
        The ids by which `Client.feedback` takes labels, if the predictions are remembered.
    """

    labels: list[Label]
    scores: list[Any]
    classes: list[Label]
    version: int
    ids: list[str] | None = None


@dataclass(frozen=True, kw_only=True)
class Learned:
    """What was learned: it is on the server's disk.

    Attributes
    ----------
    version : int
        The version of the model after these rows.
    rows, mistakes, right : int
        The rows learned, the updates made, and the rows predicted correctly before they were learned.
    refused : list of dict
        Rows that were left out, each with its reason.
    """

    version: int
    rows: int
    mistakes: int
    right: int
    refused: list[dict[str, Any]] | None = None


@dataclass(frozen=True, kw_only=True)
class ServedInfo:
    """A model that is served.

    Attributes
    ----------
    name, learner : str
        What it is called, and what learns.
    classes : list
        The labels that it knows.
    columns : list of str or None
        The columns of rows, where they have names.
    version, base : int
        The version that predicts, and the oldest that can be restored.
    rows_learned, mistakes : int
        The counts since version 0.
    rolling : dict
        How the last rows were predicted before they were learned: ``rows``, ``right`` and ``accuracy``.
    """

    name: str
    learner: str
    classes: list[Label]
    columns: list[str] | None
    version: int
    base: int
    rows_learned: int
    mistakes: int
    rolling: dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Explanation:
    """The weights behind one answer.

    Attributes
    ----------
    version : int
        The version that answered.
    label : label
        The answer.
    explanations : list of dict
        The score of each class as a sum: its ``bias``, and the ``contributions`` of features, the largest first.
    """

    version: int
    label: Label
    explanations: list[dict[str, Any]]
