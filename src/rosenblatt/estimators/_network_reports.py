"""What a trained network tells of itself and of its training."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.estimators._network import NetworkEstimator
from rosenblatt.learners.network_plan import NetworkRun
from rosenblatt.trace.curve import Curve
from rosenblatt.typing import Floats, Ints


class ReportedNetwork(NetworkEstimator):
    """Attributes that are read from the network and its last run when they are asked for."""

    _fit_mistakes: list[int]
    _stream_mistakes: int | None

    @property
    def coefs_(self) -> list[NDArray[Any]]:
        """The weights of each layer, shape (n_inputs, n_neurons)."""
        return [w.copy() for w in self._network("coefs_").parts.weights]

    @property
    def intercepts_(self) -> list[NDArray[Any]]:
        """The biases of each layer."""
        return [b.copy() for b in self._network("intercepts_").parts.biases if b is not None]

    @property
    def classes_(self) -> NDArray[Any]:
        """The labels; of two, that of the positive side last."""
        self._require_fitted("classes_")
        if self._classes is None:
            raise AttributeError("A regression has no classes.")
        return self._classes

    @property
    def loss_(self) -> float:
        """The last loss."""
        self._require_fitted("loss_")
        if not len(self.loss_curve_):
            raise AttributeError("No pass was completed, so that no loss is known.")
        return float(self.loss_curve_[-1])

    @property
    def t_(self) -> int:
        """The visits made since the start."""
        self._require_fitted("t_")
        return self._state.visits

    @property
    def n_mistakes_(self) -> int:
        """The mistakes made so far."""
        return int(self.mistakes_per_pass_.sum())

    @property
    def mistakes_per_pass_(self) -> Ints:
        """Rows predicted wrong at their visit, in each pass; a stream is one."""
        self._require_fitted("mistakes_per_pass_")
        if self._classes is None:
            raise AttributeError("A regression counts no mistakes: see mse_curve_.")
        stream = [] if self._stream_mistakes is None else [self._stream_mistakes]
        return np.array([*self._fit_mistakes, *stream], np.int64)

    @property
    def curve_(self) -> Curve:
        """Training and validation error over passes, of a classification."""
        run = self._last_run("curve_", "classification")
        if not run.validation_errors:
            return Curve(np.array(run.training_errors))
        measured = len(run.validation_errors)  # Ctrl-C may come before a pass is measured
        return Curve(np.array(run.training_errors[:measured]), np.array(run.validation_errors))

    @property
    def mse_curve_(self) -> Floats:
        """The mean squared error of each pass in training, of a regression."""
        return np.array(self._last_run("mse_curve_", "regression").training_errors)

    @property
    def validation_mse_(self) -> Floats:
        """The mean squared error on the rows held out after each pass, of a regression."""
        run = self._last_run("validation_mse_", "regression")
        if not run.validation_errors:
            raise AttributeError("No rows were held out: early_stopping=True does so.")
        return np.array(run.validation_errors)

    def _last_run(self, attribute: str, task: str) -> NetworkRun:
        self._require_fitted(attribute)
        if (self._classes is None) != (task == "regression"):
            raise AttributeError(f"{attribute} is of task={task!r}.")
        if "_run" not in self.__dict__:
            raise AttributeError(f"{attribute} is of a fit, but the last that was learned is a stream.")
        return self._run
