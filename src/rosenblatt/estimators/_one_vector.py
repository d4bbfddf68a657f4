"""What learners of numbers, ranks, orders and sets of labels have in common: fit, streams, attributes, replay."""

from __future__ import annotations

import os
import sys
import warnings
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from copy import copy
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning

from rosenblatt.codecs import Count, Maybe, Several, Text, VocabularyCodec
from rosenblatt.estimators._features import ReadsMappings
from rosenblatt.estimators._fitting import (
    Keeping,
    generator,
    keeping,
    open_checkpoint,
    progress_bar,
)
from rosenblatt.estimators._linear import READS_TABLES, Parts
from rosenblatt.exceptions import Given, InputError, Remedy
from rosenblatt.learning.checkpoint import Saved, VectorCheckpoint, fingerprint, restore_vector
from rosenblatt.learning.fit_loop import Keeper
from rosenblatt.learning.linear import overflow
from rosenblatt.learning.one_vector import Part, VectorFit, VectorPlan, VectorRun, visit_once
from rosenblatt.learning.plan import Predicts
from rosenblatt.learning.state import STATE, State
from rosenblatt.learning.trace import Mistakes
from rosenblatt.loops.layout import Log
from rosenblatt.loops.order import make_order
from rosenblatt.loops.passes import replay, scores
from rosenblatt.parameters import Declared, PerceptronParameters, contradiction, learned, like, param
from rosenblatt.rows.batch import Vocabulary, as_weight, vector_row
from rosenblatt.rows.features import Features, as_rows, require_finite
from rosenblatt.stopping import interruptible
from rosenblatt.typing import ColumnLike, Floats, MatrixLike, RowLike

VECTOR: Parts = {
    "_state": STATE,
    "updates_per_pass_": Several(Count()),
    **READS_TABLES,
}
VECTOR_FIT: Parts = {
    "n_iter_": Count(),
    "stop_reason_": Text(),
    "_passes": Maybe(Count()),
    "_vocabulary": Maybe(VocabularyCodec()),
}


class Beginning(NamedTuple):
    """Where a fit begins: its state, the seed of its order, the passes of the fit before, and its checkpoint."""

    start: State
    seed: int
    made: int
    keeper: Keeper | None = None
    saved: Saved | None = None

    def loop(self, plan: VectorPlan) -> VectorFit:
        """Return the fit of a plan; it goes on from the checkpoint if it is resumed."""
        loop = VectorFit(plan, self.start, self.keeper)
        if self.saved is not None:
            restore_vector(loop, self.saved)
        return loop


class OneVector(Declared, ReadsMappings, BaseEstimator):  # type: ignore[misc]
    """One vector, or one for each label; subclasses say what the targets are and what a prediction is."""

    fit_intercept: bool = param(True, "Whether there is a bias.")
    max_iter: int = param(1000, "The maximum number of passes.")
    tol: float | None = param(None)
    n_iter_no_change: int = param(5, "See `tol`.")
    shuffle: bool = param(True, "Whether rows are visited in random order.")
    verbose: int = like(PerceptronParameters)
    random_state: Any = like(PerceptronParameters, doc="The random seed of the order.")
    warm_start: bool = param(False, "Whether `fit` continues from the last one.")
    average: bool = param(False, "Whether to predict with the average of the hypotheses after each visit.")
    max_time: float | None = like(
        PerceptronParameters,
        doc="The maximum number of seconds that training takes; it ends between two blocks of visits.",
    )
    callbacks: Any = like(PerceptronParameters)
    _state: State = learned()
    _run: VectorRun = learned()
    updates_per_pass_: list[int] = learned()

    def __sklearn_is_fitted__(self) -> bool:
        return "_state" in self.__dict__

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def __getstate__(self) -> dict[str, Any]:
        """Return what a pickle keeps: all but the record of the run."""
        return without_run(super().__getstate__())

    def _fit(
        self,
        X: MatrixLike,
        y: ColumnLike,
        sample_weight: ArrayLike | None,
        checkpoint: str | os.PathLike[str] | None,
        every: int,
        resume: bool,
    ) -> Self:
        with interruptible():
            self._check_parameters()
            with keeping(checkpoint, every, resume) as kept:
                features = as_rows(X)
                weight = as_weight(sample_weight, features.n_rows)
                targets, known = self._targets(y, features, weight, None, begins=not self._goes_on(features))
                facts = features.names, {name: each.tolist() for name, each in known.items()}
                drawn = self._begin(
                    features, known, kept, lambda: fingerprint(features.rows, features.n_features, targets, *facts)
                )
                n_visits, loss = self._n_visits(targets, features), self._loss(targets)
                order = make_order("shuffle" if self.shuffle else "cyclic", n_visits, drawn.seed, drawn.made)

                def parts(epoch: int, made: int) -> list[Part]:
                    visits: Any = order.visits(epoch)
                    return [Part(features, targets, visits[made:], loss)]

                with self._plan(n_visits, parts, features, known) as plan:
                    run = self._trained(plan, drawn)
            self._complete(run, features, drawn.made, known)
        return self

    def _trained(self, plan: VectorPlan, drawn: Beginning) -> VectorRun:
        """Make the passes of a plan."""
        return drawn.loop(plan).run()

    def _goes_on(self, features: Features) -> bool:
        """Return whether a fit continues the last one, which needs the same features."""
        goes_on = self.warm_start and self.__sklearn_is_fitted__()
        if goes_on:
            self._check_features(features)
        return goes_on

    def _begin(
        self, features: Features, known: dict[str, Any], kept: Keeping | None, data: Callable[[], str]
    ) -> Beginning:
        """Return where a fit begins or goes on; `data` returns a digest of its data."""
        goes_on = self._goes_on(features)
        if goes_on and kept is not None:
            raise contradiction(Given("checkpoint"), Given("warm_start", True))
        keeper, saved = open_checkpoint(self, kept, data, VectorCheckpoint)
        start = self._state.for_updates_by(self._rule()) if goes_on else self._start(features.n_features, known)
        made = self.__dict__.get("_passes") or 0 if goes_on else 0
        if saved is not None:
            seed = saved.seed
        else:
            seed = int(generator(self.random_state).integers(2**64, dtype=np.uint64))
        if keeper is not None:
            keeper.seed = seed
        return Beginning(start, seed, made, keeper, saved)

    @contextmanager
    def _plan(
        self, n_visits: int, parts: Callable[[int, int], Iterable[Part]], features: Features, known: dict[str, Any]
    ) -> Iterator[VectorPlan]:
        """Yield how to train; train inside, under the progress bar."""

        def model(state: State) -> Predicts:
            made = copy(self)
            made.__dict__.update(_state=state, _width=features.n_features, _names=features.names, **known)
            return made

        bar = progress_bar(self.max_iter, type(self).__name__, count_updates) if self.verbose else nullcontext()
        with bar as show:
            yield VectorPlan(
                self._rule(),
                n_visits,
                parts,
                model,
                self.max_iter,
                self.tol,
                self.n_iter_no_change,
                self.max_time,
                [*([show] if show else []), *(self.callbacks or ())],
            )

    def _complete(self, run: VectorRun, features: Features, made: int, known: Any) -> None:
        """Publish a fit, warn where it ended on a limit, and raise the Ctrl-C that ended it."""
        counts, reason = run.recorder.mistakes_per_pass, run.stop_reason
        names = None if features.names is None else Vocabulary(features.names, grows=False)
        self.__dict__.pop("_vocabulary", None)
        self._follow(
            run, features, names, n_iter_=len(counts), stop_reason_=reason, _passes=made + len(counts), **known
        )
        if self.verbose:
            print(f"Ended by {reason!r}: {len(counts):,} passes, {sum(counts):,} updates.", file=sys.stderr)
        if run.interruption is not None:
            raise run.interruption
        limits = {"max_iter": f"{self.max_iter} passes", "max_time": f"{self.max_time} seconds"}
        if reason in limits and not self.average:
            warnings.warn(
                f"Training ended after {reason}={limits[reason]}; the last made {counts[-1]:,} updates in "
                f"{run.recorder.visits_per_pass[-1]:,} visits. Allow more.",
                ConvergenceWarning,
                stacklevel=4,
            )

    def _partial_fit(
        self, X: MatrixLike, y: ColumnLike, sample_weight: ArrayLike | None, classes: ColumnLike | None = None
    ) -> Self:
        self._check_parameters()
        features, vocabulary, new_names = self._chunk(X)
        goes_on = self.__sklearn_is_fitted__()
        if goes_on and vocabulary is None:
            self._check_features(features)
        weight = as_weight(sample_weight, features.n_rows)
        targets, known = self._targets(y, features, weight, classes, begins=not goes_on)
        state = self._grown(features.n_features) if goes_on else self._start(features.n_features, known)
        state = state.for_updates_by(self._rule())
        visits = np.arange(self._n_visits(targets, features), dtype=np.uint64)
        part = Part(features, targets, visits, self._loss(targets))
        run = visit_once(VectorPlan(self._rule(), len(visits), lambda *_: [part], lambda _: self), state)
        before = self.__dict__.get("updates_per_pass_", [])
        self._follow(run, features, vocabulary, **known)
        if vocabulary is not None:
            vocabulary.add(new_names)
        self.updates_per_pass_ = [*before, *run.recorder.mistakes_per_pass]
        return self

    def _learn_one(
        self, x: RowLike, y: ColumnLike, sample_weight: float | None, classes: ColumnLike | None = None
    ) -> Self:
        one = [x] if isinstance(x, Mapping) else vector_row(x, self.__dict__.get("_width"))
        return self._partial_fit(one, y, None if sample_weight is None else [sample_weight], classes)

    def _one(self, x: RowLike) -> Any:
        """Return one example as rows to predict."""
        return [x] if isinstance(x, Mapping) else vector_row(x, self._width)

    def _grown(self, n_features: int) -> State:
        """Return the state with more features, which stand before the bias or the thresholds."""
        places = [self._width] * (n_features - self._width)
        return self._state._each(lambda w: np.insert(w, places, 0.0, axis=-1)) if places else self._state

    def _follow(self, run: VectorRun, features: Features, vocabulary: Vocabulary | None, **own: Any) -> None:
        for name in ("n_iter_", "stop_reason_"):
            self.__dict__.pop(name, None)
        names = features.names if features.names is not None else self.__dict__.get("_names")
        if vocabulary is not None:
            own["_vocabulary"] = vocabulary
        self.__dict__.update(
            _state=run.state,
            _run=run,
            _width=features.n_features,
            _names=names,
            updates_per_pass_=list(run.recorder.mistakes_per_pass),
            **own,
        )

    @property
    def n_updates_(self) -> int:
        """The number of updates of the last fit, and of the stream after it."""
        self._require_fitted("n_updates_")
        return sum(self.updates_per_pass_)

    def updates(self) -> Mistakes:
        """Return the updates of the last fit or chunk, in order.

        Its columns are `visit`, the number of visits before; `index`, the row; `score` and `step`; and `machine`,
        the label, or the number of thresholds moved. Model files do not keep them.
        """
        self._require_fitted()
        run: VectorRun | None = self.__dict__.get("_run")
        if run is None:
            raise InputError("Files keep no record of the run. Call updates before saving.")
        mistakes = run.mistakes
        if mistakes is None:
            raise InputError(
                "A GPU keeps no record of the run, only counts. Train with " + Remedy("device", "cpu") + "."
            )
        return mistakes

    @property
    def t_(self) -> int:
        """The number of visits since the start."""
        self._require_fitted("t_")
        return self._state.visits

    def _replayed(self, X: MatrixLike, y: ColumnLike) -> Floats:
        self._require_fitted()
        mistakes = self.updates()
        features = self._features(X)
        state = self._run.start.copy()
        rows = state.meet(features.rows)
        log = Log(
            mistakes.visit,
            mistakes.score,
            np.ascontiguousarray(mistakes.step),
            np.ascontiguousarray(mistakes.machine),
            np.empty((0, 0)),
        )
        targets, _ = self._targets(y, features, None, None, begins=False)
        index = mistakes.index.astype(np.uint64)
        if len(index) and int(index.max()) >= self._n_visits(targets, features):
            raise InputError("This is not the data of the run: it has fewer rows. Pass the same X and y.")
        wrong = self._replay(rows, targets, index, log, state)
        if wrong >= 0:
            raise InputError(
                f"This is not the data of the run: update {wrong}, on {self._visited} {mistakes.index[wrong]}, "
                "has another score. Pass the same X and y, in the same order and type."
            )
        state.visits = self._state.visits
        return state.hypothesis()

    def replay(self, X: MatrixLike, y: ColumnLike) -> Floats:
        """Train again from the record of the last fit or chunk alone, and return its weights, bit for bit.

        Parameters
        ----------
        X, y : array-like
            The data of the last call of `fit` or `partial_fit`. Each update is checked by its score.

        Returns
        -------
        ndarray
            The weights, and after them the bias or the negative thresholds.
        """
        return self._replayed(X, y)

    _visited = "row"

    def _numbers(self, X: MatrixLike) -> Floats:
        """Return the score of each row, and the bias: the bits that training decides by."""
        self._require_fitted()
        features, state = self._features(X), State(self._hypothesis())
        out = np.empty(features.n_rows)
        scores(state.meet(features.rows), state.w, out)
        return finite(out, features)

    def _hypothesis(self) -> Floats:
        return self._state.hypothesis()

    def _n_visits(self, targets: Any, features: Features) -> int:
        """Return the number of visits of a pass."""
        return features.n_rows

    @abstractmethod
    def predict(self, X: MatrixLike) -> Any:
        """Return what is predicted for each row."""

    @abstractmethod
    def _targets(
        self, y: ColumnLike, features: Features, weight: Floats | None, classes: ColumnLike | None, *, begins: bool
    ) -> tuple[Any, dict[str, Any]]:
        """Return the targets as the loops read them, and what is to be published of them."""

    @abstractmethod
    def _start(self, n_features: int, known: dict[str, Any]) -> State:
        """Return the state before the first visit."""

    @abstractmethod
    def _rule(self) -> Any:
        """Return the rule that the parameters name."""

    @abstractmethod
    def _loss(self, targets: Any) -> Any:
        """Return a function of rows and their log: the loss of each update."""

    def _replay(self, rows: Any, targets: Any, index: Any, log: Log, state: State) -> int:
        """Take logged steps again; return the first whose score differs, or −1."""
        return replay(rows, targets, index, log, state.rule_of_loops(self._rule()), state.w, state.u)


def count_updates(report: Any) -> str:
    """Say how many updates a pass made."""
    return f"{report.mistakes:,} updates"


def finite(found: Floats, features: Features) -> Floats:
    """Return the scores of rows; raise an error if one is not finite."""
    whole = np.isfinite(found).reshape(len(found), -1).all(axis=1)
    if not whole.all():
        require_finite(features)
        raise overflow(int(np.argmin(whole)))
    return found


def without_run(held: dict[str, Any]) -> dict[str, Any]:
    """Return the attributes of a learner that a file keeps."""
    return {name: value for name, value in held.items() if name != "_run"}
