"""What learners of numbers and of ranks have in common: fit, partial_fit, attributes, replay."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning

from rosenblatt.data.features import Features, as_rows
from rosenblatt.data.weights import as_weight
from rosenblatt.estimators._features import ReadsTables
from rosenblatt.estimators._parameters import check_count, check_flag, check_number, generator, optional
from rosenblatt.estimators.schemas import READS_TABLES, Parts
from rosenblatt.exceptions import InputError
from rosenblatt.interrupts import interruptible
from rosenblatt.learners.one_vector import VectorRun, fit_vector
from rosenblatt.learners.order import make_order
from rosenblatt.loops.targets import Log
from rosenblatt.model.schemas import STATE
from rosenblatt.model.state import State
from rosenblatt.schema.codecs import Count, Maybe, Several, Text
from rosenblatt.trace.recorder import Recorder
from rosenblatt.typing import Floats

VECTOR: Parts = {
    "_state": STATE,
    "updates_per_pass_": Several(Count()),
    **READS_TABLES,
}
VECTOR_FIT: Parts = {"n_iter_": Count(), "stop_reason_": Text(), "_passes": Maybe(Count())}


class OneVector(ReadsTables, BaseEstimator):  # type: ignore[misc]
    """One vector, trained row after row; subclasses say what the targets are and what a prediction is."""

    average: bool
    fit_intercept: bool
    max_iter: int
    tol: float | None
    n_iter_no_change: int
    shuffle: bool
    random_state: Any
    warm_start: bool
    verbose: int
    _state: State
    _run: VectorRun
    updates_per_pass_: list[int]

    def __sklearn_is_fitted__(self) -> bool:
        return "_state" in self.__dict__

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def __getstate__(self) -> dict[str, Any]:
        """Return what a pickle keeps: all but the record of the run."""
        return without_run(super().__getstate__())

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> Self:
        with interruptible():
            self._check_parameters()
            features = as_rows(X)
            goes_on = self.warm_start and self.__sklearn_is_fitted__()
            if goes_on:
                self._check_features(features)
            weight = as_weight(sample_weight, features.n_rows)
            targets, known = self._targets(y, features, weight, None, begins=not goes_on)
            state = self._state if goes_on else self._start(features.n_features, known)
            made = self.__dict__.get("_passes") or 0 if goes_on else 0
            seed = int(generator(self.random_state).integers(2**64, dtype=np.uint64))
            order = make_order("shuffle" if self.shuffle else "cyclic", features.n_rows, seed, made)
            run = VectorRun(state, state.copy(), Recorder("mistakes"))
            limits: Any = {"max_iter": self.max_iter, "tol": self.tol, "patience": self.n_iter_no_change}
            reason = fit_vector(run, features, targets, self._rule(), order, self._loss(targets), **limits)
            passes = len(run.losses)
            self._follow(run, features, n_iter_=passes, stop_reason_=reason, _passes=made + passes, **known)
            if reason == "max_iter" and not self.average:
                warnings.warn(
                    f"Training ended after max_iter={self.max_iter} passes; the last made "
                    f"{run.recorder.mistakes_per_pass[-1]:,} updates on {features.n_rows:,} rows. Allow more.",
                    ConvergenceWarning,
                    stacklevel=3,
                )
        return self

    def _partial_fit(self, X: Any, y: Any, sample_weight: Any, classes: Any = None) -> Self:
        self._check_parameters()
        features = as_rows(X)
        goes_on = self.__sklearn_is_fitted__()
        if goes_on:
            self._check_features(features)
        weight = as_weight(sample_weight, features.n_rows)
        targets, known = self._targets(y, features, weight, classes, begins=not goes_on)
        state = self._state if goes_on else self._start(features.n_features, known)
        run = VectorRun(state, state.copy(), Recorder("mistakes"))
        visits = np.arange(features.n_rows, dtype=np.uint64)
        run.visit(features, targets, self._rule(), visits, self._loss(targets))
        before = self.__dict__.get("updates_per_pass_", [])
        self._follow(run, features, **known)
        self.updates_per_pass_ = [*before, *run.recorder.mistakes_per_pass]
        return self

    def _follow(self, run: VectorRun, features: Features, **own: Any) -> None:
        for name in ("n_iter_", "stop_reason_"):
            self.__dict__.pop(name, None)
        names = features.names if features.names is not None else self.__dict__.get("_names")
        self.__dict__.update(
            _state=run.state,
            _run=run,
            _width=features.n_features,
            _names=names,
            updates_per_pass_=list(run.recorder.mistakes_per_pass),
            **own,
        )

    def _check_parameters(self) -> None:
        for name in ("fit_intercept", "shuffle", "average", "warm_start"):
            check_flag(name, getattr(self, name))
        check_count("max_iter", self.max_iter)
        check_count("n_iter_no_change", self.n_iter_no_change)
        optional(check_number)("tol", self.tol)

    @property
    def n_updates_(self) -> int:
        """The number of updates of the last fit, and of the stream after it."""
        self._require_fitted("n_updates_")
        return sum(self.updates_per_pass_)

    @property
    def t_(self) -> int:
        """The number of visits since the start."""
        self._require_fitted("t_")
        return self._state.visits

    def replay(self, X: Any, y: Any) -> Floats:
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
        self._require_fitted()
        run: VectorRun | None = self.__dict__.get("_run")
        if run is None:
            raise InputError("The record of the run is not kept in files. Replay before saving.")
        mistakes = run.mistakes
        assert mistakes is not None, "the recorder keeps them"
        features = as_rows(X)
        state = run.start.copy()
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
        wrong = self._replay(rows, targets, index, log, state)
        if wrong >= 0:
            raise InputError(
                f"This is not the data of the run: update {wrong}, on row {mistakes.index[wrong]}, has another "
                "score. Pass the same X and y, in the same order and type."
            )
        state.visits = self._state.visits
        return state.hypothesis()

    def _hypothesis(self) -> Floats:
        return self._state.hypothesis()

    @abstractmethod
    def _targets(
        self, y: Any, features: Features, weight: Floats | None, classes: Any, *, begins: bool
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

    @abstractmethod
    def _replay(self, rows: Any, targets: Any, index: Any, log: Log, state: State) -> int:
        """Take logged steps again; return the first whose score differs, or −1."""


def without_run(held: dict[str, Any]) -> dict[str, Any]:
    """Return the attributes of a learner that a file keeps."""
    return {name: value for name, value in held.items() if name != "_run"}
