"""The ordinal perceptron (PRank) as a scikit-learn classifier."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin

from rosenblatt.codecs import Number, StateSchema, require
from rosenblatt.estimators._fitting import check_classes, keeping, require_same_classes, require_same_data
from rosenblatt.estimators._linear import warn_of_column
from rosenblatt.estimators._one_vector import VECTOR, VECTOR_FIT, OneVector, finite, without_run
from rosenblatt.exceptions import Given, LabelError, ParameterError, Term
from rosenblatt.learning.linear import LABELS
from rosenblatt.learning.one_vector import Part, VectorRun
from rosenblatt.learning.state import State, require_memory_of
from rosenblatt.learning.stored_streams import require_names
from rosenblatt.loops.layout import Log, Ranks
from rosenblatt.loops.order import Blockwise
from rosenblatt.loops.rules import Rule
from rosenblatt.loops.visits import rank_scores, ranks_of, replay_ranks
from rosenblatt.parameters import fixed, learned, param
from rosenblatt.registry import built_in
from rosenblatt.rows.batch import Vocabulary
from rosenblatt.rows.features import Features, read_only
from rosenblatt.rows.labels import as_labels, encode_labels
from rosenblatt.stopping import interruptible
from rosenblatt.tables.blocks import Blocks
from rosenblatt.tables.scaling import Scaling
from rosenblatt.typing import ColumnLike, Floats, MatrixLike, RowLike


def _link(held: dict[str, Any]) -> None:
    require_names(held)
    require_memory_of(Rule, held["_state"])
    wanted = (held["_width"] + len(held["_classes"]) - 1,)
    several = len(held["_classes"]) >= 2
    require(several and held["_state"].w.shape == wanted, "weights and ranks contradict each other")


def _two_or_more(ranks: NDArray[Any]) -> NDArray[Any]:
    if len(ranks) < 2:
        raise LabelError(
            Term("target", "y")
            + f" has only one class, {ranks[0]!r}, but ranks need two. Pass rows of both, or classes=[...]."
        )
    return ranks


def _unscaled(state: State, scaling: Scaling) -> State:
    """Return the state for unscaled features: a shift of the scores moves every threshold."""
    d = len(scaling.mean)

    def fold(w: Floats) -> Floats:
        folded = scaling.fold(np.append(w[:d], 0.0))
        return np.append(folded[:-1], w[d:] + folded[-1])

    return State(fold(state.w), None if state.u is None else fold(state.u), state.visits)


class OrdinalPerceptron(ClassifierMixin, OneVector):  # type: ignore[misc]
    """The perceptron for ranks: one vector scores rows, and thresholds cut the scores.

    This is PRank (Crammer and Singer 2001). The classes are ranks in the order of their labels. A row of rank y
    should score at least every threshold below y, and less than the others. An update moves each threshold that
    the score is on the wrong side of, and the vector by their number; the thresholds stay in order. If some vector
    and thresholds of joint norm 1 separate the ranks by γ, the ranks that visits are off sum to at most
    (K − 1)(R² + 1)/γ²: see `rosenblatt.bounds`.

    Attributes
    ----------
    coef_ : ndarray, shape (1, n_features)
        The vector.
    thresholds_ : ndarray, shape (n_classes - 1,)
        The thresholds in ascending order.
    classes_ : ndarray
        The ranks, lowest first.
    n_iter_, stop_reason_ : int, str
        The passes of the last fit, and its end: "separated" after a pass without an update, "tol", "plateau",
        "max_iter", "max_time" or "interrupted".
    rank_errors_ : float
        The ranks that visits of the last fit or chunk were off before their update, in total; a score on a
        threshold counts as off.
    n_updates_, updates_per_pass_ : int, list of int
        The visits that moved weights.
    t_ : int
        The number of visits since the start.

    Examples
    --------
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], ["1 bad", "2 fair", "2 fair", "3 good"]
    >>> clf = OrdinalPerceptron(n_iter_no_change=20).fit(X, y)
    >>> clf.stop_reason_, clf.predict([[-1.0], [1.5], [9.0]]).tolist()
    ('separated', ['1 bad', '2 fair', '3 good'])
    """

    _learner = built_in(
        "OrdinalPerceptron",
        StateSchema(VECTOR | {"_classes": LABELS}, VECTOR_FIT | {"rank_errors_": Number()}, _link, without_run),
    )
    eta0: float = param(1.0, "The learning rate.", above=0)
    fit_intercept: bool = fixed(True)
    tol: float | None = param(
        None,
        "Training also ends when the mean number of ranks that a visit is off has not fallen by `tol` for "
        "`n_iter_no_change` passes. None: when the number of updates has not fallen by 2 %.",
    )
    _classes: NDArray[Any] = learned()

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
        """Train until a stopping rule ends it; a sample weight multiplies the step.

        `checkpoint`, `every` and `resume` are those of `Perceptron.fit_blocks`: they let a fit that was cut short
        go on, to the same bits.
        """
        warn_of_column(y)
        return self._fit(X, y, sample_weight, checkpoint, every, resume)

    def partial_fit(
        self,
        X: MatrixLike,
        y: ColumnLike,
        classes: ColumnLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Visit the rows of a chunk once, in the order they come; the first call needs all `classes`."""
        return self._partial_fit(X, y, sample_weight, classes)

    def learn_one(
        self, x: RowLike, y: ColumnLike, classes: ColumnLike | None = None, sample_weight: float | None = None
    ) -> Self:
        """Visit one example, a sequence of numbers or a mapping of feature names to values.

        The first call needs all `classes`. Names never met before become features, names left out are zero.
        """
        return self._learn_one(x, [y], sample_weight, classes)

    def predict_one(self, x: RowLike) -> Any:
        """Return the rank of one example; None before the first one was learned."""
        return self.predict(self._one(x))[0] if self.__sklearn_is_fitted__() else None

    def fit_blocks(
        self,
        blocks: Blocks,
        *,
        checkpoint: str | os.PathLike[str] | None = None,
        every: int = 1,
        resume: bool = False,
    ) -> Self:
        """Train on data that need not fit into memory; the result is that of `fit` with the same visits.

        Rows are shuffled within their blocks, and from the second pass on the blocks. The weights and thresholds
        of scaled blocks are turned into those of the original features.

        Parameters
        ----------
        blocks : Blocks
            See `rosenblatt.tables.file_source.Source.blocks`.
        checkpoint, every, resume
            As in `Perceptron.fit_blocks`: where to save the state of training, after how many passes, and whether
            to continue from there.
        """
        with interruptible(), keeping(checkpoint, every, resume) as kept:
            self._check_parameters()
            begin = blocks.read(0)
            goes_on = self._goes_on(begin)
            if goes_on:
                require_same_data(blocks.n_features, blocks.classes, self._width, self._classes)
            if goes_on and blocks.scaling is not None:
                raise ParameterError(
                    Given("warm_start", True) + " cannot continue with scaled features. Set it to False."
                )
            known = {"_classes": _two_or_more(blocks.classes)}
            drawn = self._begin(begin, known, kept, lambda: blocks.identity)
            order = Blockwise(blocks.boundaries, drawn.seed if self.shuffle else None, drawn.made)

            def parts(epoch: int, made: int) -> Iterator[Part]:
                which = order.blocks(epoch)
                ends = np.cumsum(np.diff(blocks.boundaries)[which])
                done = int(np.searchsorted(ends, made, side="right"))  # blocks that need not be read again
                made -= int(ends[done - 1]) if done else 0
                for k, batch in zip(which[done:].tolist(), blocks.walk(which[done:]), strict=True):
                    weight = np.ones(batch.n_rows) if batch.weight is None else batch.weight
                    targets, first = Ranks(batch.codes, weight, batch.n_features), int(blocks.boundaries[k])
                    yield Part(batch, targets, order.within(epoch, k)[made:], self._loss(targets), first)
                    made = 0

            def unscaled(state: State) -> State:
                return state if blocks.scaling is None else _unscaled(state, blocks.scaling)

            with self._plan(blocks.n_rows, parts, begin, known) as plan:
                run = drawn.loop(replace(plan, model=lambda state: plan.model(unscaled(state)))).run()
            self._complete(replace(run, state=unscaled(run.state)), begin, drawn.made, known)
        return self

    def decision_function(self, X: MatrixLike) -> Floats:
        """Return the score of each row, which the thresholds cut into ranks."""
        self._require_fitted()
        return self._scores(self._features(X), self._hypothesis())

    def predict(self, X: MatrixLike) -> NDArray[Any]:
        """Return the rank predicted for each row."""
        scores = self.decision_function(X)
        return self._classes[ranks_of(scores, self._hypothesis(), self._width)]

    @property
    def coef_(self) -> Floats:
        """The vector."""
        self._require_fitted("coef_")
        return read_only(self._hypothesis()[None, : self._width].copy())

    @property
    def thresholds_(self) -> Floats:
        """The thresholds in ascending order."""
        self._require_fitted("thresholds_")
        return read_only(0.0 - self._hypothesis()[self._width :])

    @property
    def classes_(self) -> NDArray[Any]:
        """The ranks, lowest first."""
        self._require_fitted("classes_")
        return read_only(self._classes)

    def _follow(self, run: VectorRun, features: Features, vocabulary: Vocabulary | None, **own: Any) -> None:
        super()._follow(run, features, vocabulary, rank_errors_=float(sum(run.losses)), **own)

    def _scores(self, features: Features, w: Floats) -> Floats:
        out = np.empty(features.n_rows)
        rank_scores(features.rows, np.arange(features.n_rows, dtype=np.uint64), np.ascontiguousarray(w), out)
        return finite(out, features)

    def _start(self, n_features: int, known: dict[str, Any]) -> State:
        return State.zero((n_features + len(known["_classes"]) - 1,), average=self.average)

    def _targets(
        self, y: ColumnLike, features: Features, weight: Floats | None, classes: ColumnLike | None, *, begins: bool
    ) -> tuple[Ranks, dict[str, Any]]:
        if not begins:
            ranks = self._classes
            if classes is not None:
                require_same_classes(check_classes(classes), ranks)
        elif classes is not None:
            ranks = check_classes(classes)
        else:
            ranks = as_labels(y, features.n_rows, features.n_features)[1]
        codes = encode_labels(y, _two_or_more(ranks), features.n_rows)
        weight = np.ones(features.n_rows) if weight is None else weight
        return Ranks(codes, weight, features.n_features), {"_classes": ranks}

    def _rule(self) -> Rule:
        return Rule(eta=float(self.eta0))

    def _loss(self, targets: Ranks) -> Any:
        return lambda rows, log: log.machine.astype(np.float64)

    def _replay(self, rows: Any, targets: Ranks, index: Any, log: Log, state: State) -> int:
        return replay_ranks(rows, targets, index, log, self._rule(), state.w, state.u)
