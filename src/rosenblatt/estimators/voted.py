"""The voted perceptron as a scikit-learn classifier."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin

from rosenblatt.codecs import Several, StateSchema, require
from rosenblatt.estimators._fitting import conclude, make_plan, whole
from rosenblatt.estimators._linear import RUN, OnlineLearning, warn_of_column, without_long_trace
from rosenblatt.learning.fit_loop import fit
from rosenblatt.learning.stored_streams import HYPOTHESES, link_online, online_parts, require_votes
from rosenblatt.learning.vote import Hypotheses, VotedModel, VotedStream, hypotheses_of
from rosenblatt.parameters import RelatedParameters, fixed, param
from rosenblatt.registry import built_in
from rosenblatt.rows.batch import as_batch
from rosenblatt.rows.features import Features, read_only
from rosenblatt.stopping import interruptible
from rosenblatt.typing import ColumnLike, Floats, Ints, MatrixLike, RowLike


def _absent(name: str) -> property:
    """Return an attribute that hyperplanes have and a vote has not."""

    def absent(self: Any) -> Any:
        raise AttributeError(
            f"A vote is not linear: VotedPerceptron has no {name!r}. See 'trace_' for its hypotheses."
        )

    return property(absent, doc="A vote has none.")


def _link(held: dict[str, Any]) -> None:
    link_online(held)
    require("_past" in held or held["_stream"] is not None, "there are no hypotheses")
    require_votes(held.get("_past", []), held["_classes"], held["_width"])


class VotedPerceptron(RelatedParameters, OnlineLearning, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """The perceptron that predicts by the vote of all hypotheses it went through (Freund and Schapire 1999).

    Each hypothesis has one vote for each visit after which it was the current one, so a hypothesis that was right
    for long counts more. The vote is exact. Hypotheses are not stored, only the mistakes that led to them:
    predicting a row takes one product with each row with a mistake, and one addition for each mistake.

    Attributes
    ----------
    survived_ : ndarray of int
        The visits after which each hypothesis was the current one: the visit that made it, and those that it
        survived. The start is the first. They add up to `t_`.
    n_hypotheses_ : int
        The number of hypotheses.
    stop_reason_, converged_, n_iter_, n_mistakes_, mistakes_per_pass_, trace_, curve_, t_, classes_
        As in `Perceptron`. The trace holds every mistake, in streams too: the vote is made of them. `converged_`
        is about the last hypothesis.

    Notes
    -----
    A vote is not linear, so there is no `coef_`; ``trace_.replay(X, y)`` gives the last hypothesis.

    Examples
    --------
    >>> from rosenblatt.datasets import load_or
    >>> X, y = load_or()
    >>> clf = VotedPerceptron(order="cyclic").fit(X, y)
    >>> clf.survived_
    array([0, 1, 1, 2, 4, 1, 3, 2, 2, 8])
    >>> clf.decision_function(X)
    array([-0.83333333,  0.83333333,  0.58333333,  0.91666667])
    """

    _learner = built_in(
        "VotedPerceptron",
        StateSchema(online_parts(), RUN | {"_past": Several(HYPOTHESES)}, _link, without_long_trace),
    )

    _stream_kind = VotedStream

    trace: Any = fixed("mistakes")
    zero: Any = param(-1, more="It also decides if there are as many votes for as against.")
    n_iter_no_change: int | None = param(
        None,
        "Training ends as that of an average does: when the mistakes of a pass have not fallen by 2 % for this "
        "number of passes. None means 5.",
    )
    callbacks: Any = param(None, more="They get the current hypothesis, not the vote.")

    def fit(
        self,
        X: MatrixLike,
        y: ColumnLike,
        coef_init: ArrayLike | None = None,
        intercept_init: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Train until a stopping rule ends it, and keep all hypotheses; see `Perceptron.fit`."""
        with interruptible():
            self._check_parameters()
            warn_of_column(y)
            batch = as_batch(X, y, sample_weight)
            blocks = whole(batch)
            with make_plan(self, blocks, coef_init, intercept_init) as (plan, start, _):
                run = fit(batch, replace(plan, brief=self.tol is None), start)
            self._publish(run, blocks, _past=[hypotheses_of(run.trace, batch)])
            conclude(self, run, rows=blocks, best=True)
            return self

    def decision_function(self, X: MatrixLike) -> Floats:
        """Return the share of votes for each class; of two, the share for the second minus that for the first."""
        model = self._vote()
        return model.decision(self._features(X))

    def predict(self, X: MatrixLike) -> NDArray[Any]:
        """Return the predicted label of each row."""
        model = self._vote()
        return model.predict(self._features(X))

    def score_one(self, x: RowLike) -> Any:
        """Return the shares of votes, as `decision_function` does, for one example; None before the first one."""
        if not self.__sklearn_is_fitted__():
            return None
        decision = self._vote().decision(Features(self._row(x), 1, self._width))[0]
        return float(decision) if decision.ndim == 0 else decision

    coef_ = _absent("coef_")
    intercept_ = _absent("intercept_")
    sparsify = _absent("sparsify")
    densify = _absent("densify")

    @property
    def _separated_by(self) -> tuple[str, str]:
        return "the last weights", "the vote"

    @property
    def survived_(self) -> Ints:
        """The visits after which each hypothesis was the current one, the start's first."""
        return read_only(self._vote("survived_").survived)

    @property
    def n_hypotheses_(self) -> int:
        """The number of hypotheses, the start included."""
        return len(self._vote("n_hypotheses_").survived)

    def _vote(self, attribute: str | None = None) -> VotedModel:
        """Return the vote of this moment."""
        self._require_fitted(attribute)
        runs: list[Hypotheses] = list(self.__dict__.get("_past", []))
        if self._stream is not None:
            assert isinstance(self._stream, VotedStream)
            runs.append(self._stream.hypotheses(self._width))
        return VotedModel(runs, self._scheme, self._classes, self._zero)
