"""What clients send and what they get, as types: the source of the checks and of the OpenAPI document."""

from __future__ import annotations

from typing import Annotated

import msgspec

MOST_VERSION = 10**15
"""No model learns so often; greater numbers do not fit into the journal."""
Version = Annotated[int, msgspec.Meta(ge=0, le=MOST_VERSION)]
Label = str | Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)] | float | bool
Value = str | int | float | bool | None
Row = dict[str, Value] | list[Value] | str
"""One row: an object by column name, an array of values, or a text."""


class PredictRequest(msgspec.Struct, forbid_unknown_fields=True):
    """Rows to predict.

    With `remember`, each prediction gets an id, by which `feedback` takes its label later. With `min_version`, the
    answer comes from this version or a later one.
    """

    rows: list[Row]
    remember: bool = False
    min_version: Version | None = None


class PredictAnswer(msgspec.Struct, omit_defaults=True):
    """Labels and scores, in the order of the rows, and the version that answered.

    A score is one number for two classes, positive for the second class, and one number for each class otherwise.
    """

    labels: list[Label]
    scores: list[float | list[float]]
    classes: list[Label]
    version: int
    ids: list[str] | None = None


class LearnRequest(msgspec.Struct, forbid_unknown_fields=True):
    """Rows to learn, in order, with a label for each; weights multiply the steps."""

    rows: list[Row]
    labels: list[Label]
    weights: list[float] | None = None


class RefusedRow(msgspec.Struct):
    """A row that could not be learned because its score or the weights would overflow."""

    row: int
    reason: str


class LearnAnswer(msgspec.Struct, omit_defaults=True):
    """What was learned: it is on disk.

    `version` is the model after these rows, `mistakes` the updates made, `right` the rows whose label was
    predicted correctly before they were learned.
    """

    version: int
    rows: int
    mistakes: int
    right: int
    refused: list[RefusedRow] = []


class FeedbackRequest(msgspec.Struct, forbid_unknown_fields=True):
    """The true label of an earlier prediction."""

    id: str
    label: Label


class Rolling(msgspec.Struct):
    """How the last rows were predicted just before they were learned."""

    rows: int
    right: int
    accuracy: float | None


class ModelAnswer(msgspec.Struct):
    """What is served under a name."""

    name: str
    learner: str
    classes: list[Label]
    n_features: int
    columns: list[str] | None
    version: int
    base: int
    rows_learned: int
    mistakes: int
    rolling: Rolling
    grows: bool


class ModelsAnswer(msgspec.Struct):
    """All models."""

    models: list[ModelAnswer]


class Change(msgspec.Struct, omit_defaults=True):
    """An event other than learning: a rollback or an erasure."""

    version: int
    kind: str
    at: float
    to: int | None = None


class VersionsAnswer(msgspec.Struct):
    """Which versions there are: all from `oldest` to `newest`, but for the ranges in `ended`: [first, last]."""

    name: str
    oldest: int
    newest: int
    snapshots: list[int]
    changes: list[Change]
    ended: list[list[int]]


class RollbackRequest(msgspec.Struct, forbid_unknown_fields=True):
    """The version to return to. The rollback itself is the next version."""

    version: Version


class RollbackAnswer(msgspec.Struct):
    """The new version, and the one whose state it has."""

    version: int
    restored: int


class Contribution(msgspec.Struct):
    """What one feature adds to the score: its value times its weight."""

    feature: str
    value: float
    weight: float
    contribution: float


class ClassExplanation(msgspec.Struct):
    """The score of one class, or of the second of two, as a sum."""

    label: Label
    score: float
    bias: float
    contributions: list[Contribution]


class ExplainAnswer(msgspec.Struct):
    """The weights behind one answer, the largest contributions first."""

    version: int
    label: Label
    explanations: list[ClassExplanation]


class ErasedRows(msgspec.Struct, forbid_unknown_fields=True):
    """Rows of one version; all of them without `rows`, which count from 0."""

    version: Version
    rows: list[int] | None = None


class EraseRequest(msgspec.Struct, forbid_unknown_fields=True):
    """The examples to forget, by their versions or by the keys that they were sent with."""

    versions: list[ErasedRows] = []
    keys: list[str] = []


class EraseAnswer(msgspec.Struct):
    """The new version, how many rows are gone, and the first version that ended."""

    version: int
    erased: int
    ended_from: int


class HealthAnswer(msgspec.Struct, omit_defaults=True):
    """Whether the server runs, or is ready, and if not why."""

    status: str
    reason: str | None = None


class EventSummary(msgspec.Struct):
    """One event, without its rows: what happened, when, and how many rows and mistakes it had."""

    version: int
    at: float
    kind: str
    rows: int | None = None
    mistakes: int | None = None
    right: int | None = None


class EventsAnswer(msgspec.Struct):
    """The last events, the newest first."""

    events: list[EventSummary]
