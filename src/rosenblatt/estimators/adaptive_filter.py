"""The adaptive filter: a linear neuron that learns an echo path while the call goes on."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError

from rosenblatt.data.measurements import as_signal, as_signals
from rosenblatt.estimators._parameters import check_choice, check_count, check_number
from rosenblatt.exceptions import ParameterError
from rosenblatt.learners.filtering import FilterStream
from rosenblatt.learners.regression_schemas import FILTER
from rosenblatt.loops.filter import Step
from rosenblatt.registry import Learner
from rosenblatt.schema.estimators import StateSchema
from rosenblatt.typing import Floats

RUNS_AWAY = 1e16
"""Of LMS: the power of an error over that of the loudest sample, 160 dB, beyond which it is not coming back."""


class AdaptiveFilter(BaseEstimator):  # type: ignore[misc]
    """An adaptive filter that removes the echo of one signal from another (Widrow and Hoff 1960).

    A loudspeaker plays the far end of a call, and the microphone hears its echo: the far end through an unknown
    filter, the room. The adaptive filter learns the room sample by sample, predicts the echo, and subtracts it. It
    is a linear neuron on the last `n_taps` samples, and each sample corrects it by its error.

    Parameters
    ----------
    n_taps : int
        The number of samples of the far end that an echo may depend on.
    algorithm : {"nlms", "lms"}
        How the taps are corrected by an error e: by ``step_size · e · x̄ / (regularization + ‖x‖²)`` or by
        ``step_size · e · x̄``. The first does the same for a loud and for a quiet far end.
    step_size : float
        How fast it learns. For "nlms" between 0 and 2: 1 is fastest, less leaves less noise. For "lms" it must be
        well below 2 over `n_taps` times the far end's power.
    regularization : float
        Added to ‖x‖², the power of the far end over the taps, so that a pause in the far end changes the taps
        little. 0.001 suits signals within ±1.
    window : int
        The number of samples over which the reduction of the echo is measured.

    Attributes
    ----------
    coef_ : ndarray of float64 or complex128, shape (n_taps,)
        The taps: an estimate of the room's impulse response.
    erle_ : float
        The echo return loss enhancement in dB: 10 log10 of the power of the microphone divided by the power of the
        cleaned signal. It is measured in the last complete window, or in all samples before the first one ends.
    erle_curve_ : ndarray
        The same for each window. It is infinite if nothing is left, and NaN if the microphone was silent.
    n_samples_seen_ : int
        The number of samples learned from.

    Notes
    -----
    Chunks of any length, and single samples, leave the same bits as the whole signals at once. Signals may be
    complex, as in radio: taps and results then are, too. If both people talk at once, the error is large: use
    `transform` meanwhile, which does not adapt.

    Examples
    --------
    >>> from rosenblatt.datasets import make_echo
    >>> call = make_echo(32_000, n_taps=64, seed=0)
    >>> canceller = AdaptiveFilter(n_taps=64)
    >>> cleaned = canceller.fit_transform(call.far_end, call.microphone)
    >>> bool(canceller.erle_ > 35)
    True
    >>> bool(abs(canceller.coef_ - call.path).max() < 0.01)
    True
    """

    _learner = Learner(StateSchema({"_stream": FILTER}), abilities=frozenset({"streams"}))

    _stream: FilterStream

    def __init__(
        self,
        n_taps: int = 256,
        *,
        algorithm: str = "nlms",
        step_size: float = 0.5,
        regularization: float = 1e-3,
        window: int = 4096,
    ) -> None:
        self.n_taps = n_taps
        self.algorithm = algorithm
        self.step_size = step_size
        self.regularization = regularization
        self.window = window

    def fit(self, far_end: Any, microphone: Any) -> Self:
        """Adapt to two signals from zero taps.

        Parameters
        ----------
        far_end : sequence of numbers
            The signal of the loudspeaker.
        microphone : sequence of numbers
            The signal of the microphone at the same times.

        Returns
        -------
        AdaptiveFilter
            The estimator. An error leaves it unchanged.
        """
        self.fit_transform(far_end, microphone)
        return self

    def fit_transform(self, far_end: Any, microphone: Any) -> NDArray[Any]:
        """Adapt to two signals from zero taps, and return the microphone minus the predicted echo.

        Each sample is cleaned with the taps before its update. Parameters are those of `fit`.
        """
        step = self._step()
        far, mic = as_signals(far_end, microphone)
        return self._follow(FilterStream(self.n_taps, self.window), far, mic, step)

    def partial_fit(self, far_end: Any, microphone: Any) -> Self:
        """Adapt to the next chunk of two signals; parameters as in `fit`."""
        self.process(far_end, microphone)
        return self

    def process(self, far_end: Any, microphone: Any) -> NDArray[Any]:
        """Adapt to the next chunk of two signals, and return it cleaned; parameters as in `fit`."""
        step = self._step()
        far, mic = as_signals(far_end, microphone)
        return self._follow(self._under_way().fork(), far, mic, step)

    def process_one(self, far_end: complex, microphone: complex) -> Any:
        """Adapt to the next sample of both signals, and return it cleaned."""
        return self.process([far_end], [microphone])[0].item()

    def predict(self, far_end: Any) -> NDArray[Any]:
        """Return the echo of a far end with the current taps, assuming silence before it."""
        self._require_adapted()
        far = as_signal(far_end, name="far_end")
        return -self._frozen(far, np.zeros(len(far)))

    def transform(self, far_end: Any, microphone: Any) -> NDArray[Any]:
        """Clean two signals with the current taps, without adapting, assuming silence before them."""
        self._require_adapted()
        return self._frozen(*as_signals(far_end, microphone))

    @property
    def coef_(self) -> NDArray[Any]:
        """The taps: an estimate of the room's impulse response."""
        return self._adapted("coef_").coef

    @property
    def erle_curve_(self) -> Floats:
        """The echo return loss enhancement in dB, window by window."""
        heard, left = self._adapted("erle_curve_").powers()
        with np.errstate(divide="ignore", invalid="ignore"):
            curve: Floats = 10.0 * np.log10(heard / left)
        return curve

    @property
    def erle_(self) -> float:
        """The echo return loss enhancement in dB, in the last window."""
        self._adapted("erle_")
        return float(self.erle_curve_[-1])

    @property
    def n_samples_seen_(self) -> int:
        """The number of samples learned from."""
        return self._adapted("n_samples_seen_").n_samples

    def __sklearn_is_fitted__(self) -> bool:
        return "_stream" in self.__dict__

    def _step(self) -> Step:
        check_count("n_taps", self.n_taps)
        check_count("window", self.window)
        check_choice("algorithm", self.algorithm, ("nlms", "lms"))
        eps = check_number("regularization", self.regularization, least=0)
        if self.algorithm == "lms":
            return Step(check_number("step_size", self.step_size, above=0), eps, False, RUNS_AWAY)
        return Step(check_number("step_size", self.step_size, above=0, below=2), eps, True, np.inf)

    def _under_way(self) -> FilterStream:
        stream: FilterStream | None = self.__dict__.get("_stream")
        if stream is None:
            return FilterStream(self.n_taps, self.window)
        for name, kept in (("n_taps", stream.taps.w.shape[1]), ("window", stream.window)):
            if getattr(self, name) != kept:
                raise ParameterError(
                    f"{name}={getattr(self, name)!r} cannot continue from {kept}. Use fit, or a new filter."
                )
        return stream

    def _follow(self, stream: FilterStream, far: NDArray[Any], mic: NDArray[Any], step: Step) -> NDArray[Any]:
        cleaned = stream.process(far, mic, step)
        self._stream = stream
        return cleaned

    def _frozen(self, far: NDArray[Any], mic: NDArray[Any]) -> NDArray[Any]:
        return self._stream.silent().process(far, mic, Step(0.0, 0.0, False, np.inf))

    def _adapted(self, attribute: str) -> FilterStream:
        if not self.__sklearn_is_fitted__():
            raise AttributeError(f"AdaptiveFilter has no attribute {attribute!r} before it has heard anything.")
        return self._stream

    def _require_adapted(self) -> None:
        if not self.__sklearn_is_fitted__():
            raise NotFittedError("This AdaptiveFilter has heard nothing yet. Call fit or partial_fit first.")
