"""Several labels a row: one hyperplane for each label, as a scikit-learn estimator."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import ClassifierTags

from rosenblatt.codecs import StateSchema, require
from rosenblatt.estimators._fitting import require_cpu, require_same_classes
from rosenblatt.estimators._one_vector import VECTOR, VECTOR_FIT, Beginning, OneVector, finite, without_run
from rosenblatt.exceptions import LabelError, ShapeError
from rosenblatt.learning.linear import LABELS, loop_scores
from rosenblatt.learning.one_vector import VectorPlan, VectorRun
from rosenblatt.learning.state import State
from rosenblatt.learning.stored_streams import require_names
from rosenblatt.loops.layout import Sets
from rosenblatt.loops.rules import Confidence, Passive, Rule
from rosenblatt.parameters import POSITIVE, PerceptronParameters, learned, like, or_infinite, param, positional
from rosenblatt.registry import built_in
from rosenblatt.rooms import find
from rosenblatt.rows.batch import as_weight
from rosenblatt.rows.features import Features, is_sparse, read_only, show_value
from rosenblatt.rows.labels import as_labels, list_classes, object_array
from rosenblatt.typing import ColumnLike, Floats, Ints, MatrixLike, RowLike, SparseMatrix

# Several labels a row, as an indicator matrix or as sets.

WANTED = (
    "Pass a matrix of zeros and ones with a column for each label, or a list with a set of labels for each row. "
    "Where each row has one label, use Perceptron(multiclass='ovr')."
)


def as_sets(y: ColumnLike, n_rows: int, classes: NDArray[Any] | None = None) -> tuple[Ints, Ints, NDArray[Any]]:
    """Return the labels of each row as CSR holds them, ascending, and all labels: of a matrix, its columns.

    Examples
    --------
    >>> indptr, labels, classes = as_sets([{"b", "a"}, set(), {"b"}], 3)
    >>> indptr.tolist(), labels.tolist(), classes.tolist()
    ([0, 2, 2, 3], [0, 1, 1], ['a', 'b'])
    """
    if y is None:
        raise LabelError(f"A classifier requires y to be passed, but the target y is None. {WANTED}")
    if isinstance(y, list | tuple | np.ndarray) and len(y) and all(map(_is_set, y)):
        return _from_sets(y, n_rows, classes)
    return _from_matrix(y, n_rows, classes)


def indicator(indptr: Ints, labels: Ints, n_labels: int) -> Ints:
    """Return a matrix of zeros and ones with a column for each label.

    Examples
    --------
    >>> indicator(np.array([0, 2, 2]), np.array([0, 2]), 3).tolist()
    [[1, 0, 1], [0, 0, 0]]
    """
    table = np.zeros((len(indptr) - 1, n_labels), np.int64)
    table[np.repeat(np.arange(len(indptr) - 1), np.diff(indptr)), labels] = 1
    return table


def _is_set(row: Any) -> bool:
    """Return whether a row is a set of labels; a list is one unless it is a row of a matrix, which an array is."""
    return isinstance(row, set | frozenset | tuple) or (
        isinstance(row, list) and (not row or any(isinstance(label, str) for label in row))
    )


def _from_sets(y: Any, n_rows: int, classes: NDArray[Any] | None) -> tuple[Ints, Ints, NDArray[Any]]:
    if len(y) != n_rows:
        raise ShapeError(f"X has {n_rows} rows but y has {len(y)} sets of labels. Each row needs exactly one.")
    every = [label for row in y for label in row]
    if classes is None:
        if not every:
            raise LabelError("No row has a label, so there is nothing to learn. Pass rows with labels.")
        classes = as_labels(every, len(every))[1]
    code = {label: k for k, label in enumerate(classes.tolist())}
    rows: list[list[int]] = []
    for i, row in enumerate(y):
        unknown = [label for label in row if label not in code]
        if unknown:
            raise LabelError(
                f"y has the label {show_value(unknown[0])} at row {i}, which is not one of the known classes "
                f"{list_classes(classes)}. Name every class before the first rows are learned.",
                code="unknown-label",
                row=i,
                value=unknown[0],
            )
        rows.append(sorted({code[label] for label in row}))
    indptr = np.cumsum([0, *map(len, rows)])
    return indptr, np.array([label for row in rows for label in row], np.int64), classes


def _from_matrix(
    y: ColumnLike | SparseMatrix, n_rows: int, classes: NDArray[Any] | None
) -> tuple[Ints, Ints, NDArray[Any]]:
    if is_sparse(y):
        table = y.tocsr().toarray()
    else:
        try:
            table = np.asarray(y)
        except ValueError as error:
            raise LabelError(f"y is not a matrix: its rows have different lengths. {WANTED}") from error
    if table.ndim != 2:
        raise ShapeError(f"y must have several labels a row; its shape is {table.shape}. {WANTED}")
    if len(table) != n_rows:
        raise ShapeError(f"X has {n_rows} rows but y has {len(table)} (inconsistent numbers of samples).")
    if classes is not None and table.shape[1] != len(classes):
        raise ShapeError(f"y has {table.shape[1]} columns, but the model knows {len(classes)} labels. {WANTED}")
    try:
        right = (table == 0) | (table == 1)
    except TypeError:
        right = np.zeros(table.shape, np.bool_)
    if not np.all(right):
        row, column = np.argwhere(~np.broadcast_to(right, table.shape))[0].tolist()
        raise LabelError(f"y is {show_value(table[row, column])} at row {row}, column {column}. {WANTED}")
    labelled, labels = np.nonzero(table)
    indptr = np.concatenate([[0], np.cumsum(np.bincount(labelled, minlength=n_rows))])
    return indptr, labels.astype(np.int64), np.arange(table.shape[1]) if classes is None else classes


def check_labels(classes: Collection[Any] | Any) -> NDArray[Any]:
    """Return labels that are known from the first call on, sorted; one is enough."""
    if isinstance(classes, str):
        raise LabelError(f"classes={classes!r} must be a list of labels or None.")
    labels = list(classes)
    return as_labels(labels if labels else object_array(labels), len(labels))[1]


RULES: dict[str, Callable[[Any, float], Any]] = {
    "perceptron": lambda p, beta: Rule(float(p.eta0), beta, float(p.margin)),
    "pa1": lambda p, beta: Passive(beta=beta, most=float(p.C)),
    "pa2": lambda p, beta: Passive(beta=beta, soft=1.0 / (2.0 * float(p.C))),
    "arow": lambda p, beta: Confidence(beta=beta, r=float(p.r)),
}
"""The rules of hyperplanes by the names of learners; each takes the parameters and the change of the bias."""


def _link(held: dict[str, Any]) -> None:
    require_names(held)
    wanted = (len(held["_classes"]), held["_width"] + 1)
    require(held["_state"].w.shape == wanted, "weights, labels and features have different numbers")


class MultilabelPerceptron(OneVector):
    """Several labels a row, or none: one hyperplane for each label, as one against the rest.

    A row is on the positive side of the hyperplanes of its labels, and on the negative side of the others. It is
    read once for all of them. Each hyperplane is that of a `Perceptron`, or of another online rule, which has seen
    its label alone; the bounds on mistakes hold for each of them.

    Attributes
    ----------
    coef_, intercept_ : ndarray, shapes (n_labels, n_features) and (n_labels,)
        The hyperplanes.
    classes_ : ndarray, shape (n_labels,)
        The labels: sorted, or the numbers of the columns of a matrix.
    n_iter_, stop_reason_ : int, str
        The passes of the last fit, and its end: after a pass without an update "separated", or "margin" by a rule
        with a margin of its own; else "tol", "plateau", "max_iter", "max_time" or "interrupted".
    n_updates_, updates_per_pass_ : int, list of int
        The updates of all hyperplanes.
    t_ : int
        The number of visits since the start.

    Examples
    --------
    >>> X, y = [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], [set(), {"long"}, {"wide"}, {"long", "wide"}]
    >>> clf = MultilabelPerceptron().fit(X, y)
    >>> clf.classes_.tolist(), clf.predict([[2.0, 0.0], [2.0, 2.0]]).tolist()
    (['long', 'wide'], [[1, 0], [1, 1]])
    >>> clf.predict_sets([[2.0, 0.0]])
    [{'long'}]
    """

    _learner = built_in(
        "MultilabelPerceptron", StateSchema(VECTOR | {"_classes": LABELS}, VECTOR_FIT, _link, without_run)
    )
    rule: str = positional(
        default="perceptron",
        kw_only=False,
        doc="The rule of each hyperplane: the perceptron's, a passive-aggressive one "
        "(`PassiveAggressiveClassifier`), or AROW (`ConfidenceWeightedClassifier`).",
        one_of=RULES,
    )
    eta0: float = param(1.0, "The learning rate of the perceptron.", above=0)
    margin: float = param(0.0, "The margin of the perceptron: a side is corrected if y f ≤ margin.", least=0)
    C: float = param(1.0, 'The aggressiveness of "pa1" and "pa2".', check=or_infinite(POSITIVE))
    r: float = param(1.0, "AROW: larger values let variances fall more slowly.", above=0)
    fit_intercept: bool = param(True, "Whether hyperplanes have a bias.")
    tol: float | None = param(
        None,
        "Training also ends when the mean number of updates of a visit has not fallen by `tol` for "
        "`n_iter_no_change` passes. None: when the number of updates has not fallen by 2 %.",
    )
    device: str = like(
        PerceptronParameters,
        doc='Where to train: on the CPU, on an NVIDIA GPU ("cuda", with CuPy), or on a GPU if one is there and '
        'can do what is asked ("auto"). The bits are the same. A GPU trains by the rule "perceptron" on dense '
        "rows, and keeps no record of updates.",
    )
    _classes: NDArray[Any] = learned()

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.estimator_type, tags.classifier_tags = "classifier", ClassifierTags(multi_label=True)
        tags.target_tags.required = tags.target_tags.two_d_labels = tags.target_tags.multi_output = True
        tags.target_tags.single_output = False
        return tags

    def fit(
        self,
        X: MatrixLike,
        y: ColumnLike,
        sample_weight: ArrayLike | None = None,
        *,
        checkpoint: str | os.PathLike[str] | None = None,
        every: int = 1,
        resume: bool = False,
    ) -> Self:
        """Train until a stopping rule ends it.

        Parameters
        ----------
        X : array-like, sparse matrix or dataframe, shape (n_rows, n_features)
            The rows.
        y : matrix of 0 and 1, dense, sparse or a dataframe, or sequence of sets
            The labels of each row: a column for each label, or the set of its labels.
        sample_weight : array-like or None
            Multiplies the step of each row, or C, or divides r.
        checkpoint, every, resume
            As in `Perceptron.fit_blocks`: where to save the state of training, after how many passes, and whether
            to continue from there.
        """
        return self._fit(X, y, sample_weight, checkpoint, every, resume)

    def partial_fit(
        self,
        X: MatrixLike,
        y: ColumnLike,
        classes: ColumnLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Visit the rows of a chunk once, in the order they come.

        The first call needs all labels as `classes`, unless y is a matrix, which has a column for each of them.
        """
        require_cpu(self.device)
        return self._partial_fit(X, y, sample_weight, classes)

    def learn_one(
        self, x: RowLike, y: Iterable[Any], classes: ColumnLike | None = None, sample_weight: float | None = None
    ) -> Self:
        """Visit one example, a sequence of numbers or a mapping of feature names to values; y is a set of labels.

        The first call needs all labels as `classes`. Names never met before become features, names left out are
        zero.
        """
        require_cpu(self.device)
        return self._learn_one(x, [set(y)], sample_weight, classes)

    def predict_one(self, x: RowLike) -> set[Any] | None:
        """Return the set of labels of one example; None before the first one was learned."""
        return self.predict_sets(self._one(x))[0] if self.__sklearn_is_fitted__() else None

    def decision_function(self, X: MatrixLike) -> Floats:
        """Return the score of each row and label."""
        self._require_fitted()
        features = self._features(X)
        return finite(loop_scores(features.rows, self._hypothesis()), features)

    def predict(self, X: MatrixLike) -> Ints:
        """Return a matrix of zeros and ones: a row has the labels whose score is above zero."""
        return (self.decision_function(X) > 0.0).astype(np.int64)

    def predict_sets(self, X: MatrixLike) -> list[set[Any]]:
        """Return the set of labels of each row."""
        labels = self.classes_.tolist()
        return [{labels[k] for k in np.flatnonzero(row)} for row in self.predict(X)]

    def score(self, X: MatrixLike, y: ColumnLike, sample_weight: ArrayLike | None = None) -> float:
        """Return the share of rows for which every label is right."""
        found = self.predict(X)
        indptr, labels, _ = as_sets(y, len(found), self._classes)
        right = (found == indicator(indptr, labels, len(self._classes))).all(axis=1)
        return float(np.average(right, weights=as_weight(sample_weight, len(found))))

    @property
    def coef_(self) -> Floats:
        """The hyperplanes."""
        self._require_fitted("coef_")
        return read_only(self._hypothesis()[:, :-1].copy())

    @property
    def intercept_(self) -> Floats:
        """The biases."""
        self._require_fitted("intercept_")
        return read_only(self._hypothesis()[:, -1].copy())

    @property
    def classes_(self) -> NDArray[Any]:
        """The labels."""
        self._require_fitted("classes_")
        return read_only(self._classes)

    def _trained(self, plan: VectorPlan, drawn: Beginning) -> VectorRun:
        if self.device == "cpu":
            return super()._trained(plan, drawn)
        fit_sets = find("probes.fitting").fit_sets
        run: VectorRun = fit_sets(self.device, plan, drawn.start, drawn.keeper, lambda: drawn.loop(plan).run())
        return run

    def _start(self, n_features: int, known: dict[str, Any]) -> State:
        state = State.zero((len(known["_classes"]), n_features + 1), average=self.average)
        return state.for_updates_by(self._rule())

    def _targets(
        self, y: ColumnLike, features: Features, weight: Floats | None, classes: ColumnLike | None, *, begins: bool
    ) -> tuple[Sets, dict[str, Any]]:
        declared = None if classes is None else check_labels(classes)
        if not begins and declared is not None:
            require_same_classes(declared, self._classes)
        indptr, labels, known = as_sets(y, features.n_rows, declared if begins else self._classes)
        weight = np.ones(features.n_rows) if weight is None else weight
        return Sets(indptr, labels, weight, np.arange(len(known))), {"_classes": known}

    def _rule(self) -> Any:
        return RULES[self.rule](self, 1.0 if self.fit_intercept else 0.0)

    def _loss(self, targets: Sets) -> Any:
        return lambda rows, log: np.ones(len(log.at))
