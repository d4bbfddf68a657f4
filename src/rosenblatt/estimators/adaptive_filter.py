"""The adaptive filter: a linear neuron that learns an echo path while the call goes on.

The adaptive filter: one linear neuron, corrected at every sample (Widrow and Hoff 1960).

Signals, taps and delay line have one row if they are real, and two rows, real and imaginary parts, if they are
complex. The delay line is longer than the filter and filled from its end, so that the last samples, newest first,
are always contiguous; when its front is reached they move back to its end.
"""

from __future__ import annotations

from copy import copy
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError

from rosenblatt.codecs import Array, Count, Record, StateSchema, require
from rosenblatt.exceptions import Given, ParameterError, TrainingOverflowError
from rosenblatt.loops._jit import inline, jit
from rosenblatt.loops.dense import NARROW_LANES, WIDE_LANES, dot_narrow, dot_wide
from rosenblatt.parameters import Declared, check_number, learned, param, positional
from rosenblatt.registry import built_in
from rosenblatt.rows.features import read_only
from rosenblatt.rows.labels import as_signal, as_signals
from rosenblatt.rows.memory import require_neurons
from rosenblatt.typing import Floats, Ints


class Step(NamedTuple):
    """The correction of the taps: μ e x̄, divided by ε + ‖x‖² if `normalised`.

    The filter diverges if the power of the error exceeds `limit` times that of the loudest microphone sample so
    far.
    """

    mu: float
    eps: float
    normalised: bool
    limit: float


class Taps(NamedTuple):
    """The filter, the delay line, and the position of the newest sample in it (one number)."""

    w: Floats
    line: Floats
    newest: Ints


class Meter(NamedTuple):
    """Powers over windows of samples: of the present window, and of those that ended in this call, one row each.

    `now` holds the power of the microphone and of the error, the number of samples, and the largest power ever.
    """

    now: Floats
    ended: Floats
    window: int


@inline
def _stretch_dot(a: Any, i: int, a_at: int, b: Any, j: int, b_at: int, n: int) -> float:
    """Return <a[i, a_at:a_at + n], b[j, b_at:b_at + n]> by 32 lanes, then 8, then one by one, in this order."""
    wide = n - n % WIDE_LANES
    narrow = n - n % NARROW_LANES
    first, second = i * a.shape[1] + a_at, j * b.shape[1] + b_at
    f = dot_wide(a, first, b, second, wide)
    f += dot_narrow(a, first + wide, b, second + wide, narrow - wide)
    for k in range(narrow, n):
        f += a[i, a_at + k] * b[j, b_at + k]
    return f


@inline
def _push(taps: Taps, far: Any, t: int) -> int:
    """Put sample t of the far end before the others, and return its position."""
    line, n = taps.line, taps.w.shape[1]
    at = taps.newest[0]
    if at == 0:
        at = line.shape[1] - (n - 1)
        for part in range(line.shape[0]):
            for k in range(n - 1):
                line[part, at + k] = line[part, k]
    at -= 1
    for part in range(line.shape[0]):
        line[part, at] = far[part, t]
    taps.newest[0] = at
    return at


@inline
def _count(meter: Meter, heard: float, left: float, ended: int) -> int:
    """Add the powers of one sample; return how many windows have ended."""
    now = meter.now
    now[0] += heard
    now[1] += left
    now[2] += 1.0
    now[3] = max(now[3], heard)
    if now[2] == meter.window:
        meter.ended[ended, 0], meter.ended[ended, 1] = now[0], now[1]
        now[:3] = 0.0
        return ended + 1
    return ended


@jit
def adapt(far: Floats, mic: Floats, cleaned: Floats, step: Step, taps: Taps, meter: Meter) -> int:
    """Filter and adapt; write the error, the microphone without its echo, to `cleaned`.

    Return the number of samples, or the position of the first sample whose error diverges; then `cleaned` and the
    state are useless.
    """
    w, line = taps.w, taps.line
    n = w.shape[1]
    is_complex = w.shape[0] == 2
    ended = 0
    for t in range(far.shape[1]):
        at = _push(taps, far, t)
        e = mic[0, t] - _stretch_dot(w, 0, 0, line, 0, at, n)
        ei = 0.0
        if is_complex:
            e += _stretch_dot(w, 1, 0, line, 1, at, n)
            ei = mic[1, t] - _stretch_dot(w, 0, 0, line, 1, at, n) - _stretch_dot(w, 1, 0, line, 0, at, n)
        heard, left = mic[0, t] * mic[0, t], e * e
        if is_complex:
            heard, left = heard + mic[1, t] * mic[1, t], left + ei * ei
        ended = _count(meter, heard, left, ended)
        if left - left != 0.0 or left > step.limit * meter.now[3]:
            return t
        cleaned[0, t] = e
        if is_complex:
            cleaned[1, t] = ei
        g, gi = step.mu * e, step.mu * ei
        if step.normalised:
            power = step.eps + _stretch_dot(line, 0, at, line, 0, at, n)
            if is_complex:
                power += _stretch_dot(line, 1, at, line, 1, at, n)
            if power == 0.0:
                continue
            g, gi = g / power, gi / power
        if is_complex:
            for k in range(n):
                x, xi = line[0, at + k], line[1, at + k]
                w[0, k] += g * x + gi * xi
                w[1, k] += gi * x - g * xi
        elif g != 0.0:
            for k in range(n):
                w[0, k] += g * line[0, at + k]
    return far.shape[1]


# An adaptive filter over a stream: what it carries from one chunk to the next.

LEAST_LINE = 1024
"""Samples that fit in a delay line of even the shortest filter, so that they seldom need to be moved."""


class Powers(NamedTuple):
    """The power of the microphone and of what is left of it, in each window of samples."""

    microphone: Floats
    left: Floats


class FilterStream:
    """Taps, delay line and powers; chunks of any length leave the bits of one run over all of them."""

    def __init__(self, n_taps: int, window: int) -> None:
        require_neurons(f"A filter of {n_taps:,} taps", 96 * n_taps)
        self.taps = Taps(np.zeros((1, n_taps)), np.zeros((1, max(2 * n_taps, LEAST_LINE))), np.zeros(1, np.int64))
        self.taps.newest[0] = self.taps.line.shape[1] - n_taps
        self.window = window
        self.now = np.zeros(4)
        self.ended: list[Floats] = []
        self.n_samples = 0

    @property
    def coef(self) -> NDArray[Any]:
        """The taps; the first belongs to the newest sample."""
        return _joined(self.taps.w.copy())

    def powers(self) -> Powers:
        """Return the powers of each window that ended; of the one under way if none has."""
        ended = np.concatenate(self.ended) if self.ended else self.now[None, :2]
        return Powers(ended[:, 0], ended[:, 1])

    def fork(self) -> FilterStream:
        """Return a stream that goes on by itself."""
        other = copy(self)
        w, line, newest = self.taps
        other.taps = Taps(w.copy(), line.copy(), newest.copy())
        other.now, other.ended = self.now.copy(), list(self.ended)
        return other

    def silent(self) -> FilterStream:
        """Return a stream that begins with these taps, and before which all was silent."""
        other = FilterStream(self.taps.w.shape[1], self.window)
        if len(self.taps.w) == 2:
            other.become_complex()
        other.taps.w[:] = self.taps.w
        return other

    def become_complex(self) -> None:
        """Take imaginary parts from here on; what was real has had none so far, exactly."""
        w, line, newest = self.taps
        if len(w) == 1:
            self.taps = Taps(np.vstack([w, np.zeros_like(w)]), np.vstack([line, np.zeros_like(line)]), newest)

    def process(self, far: NDArray[Any], mic: NDArray[Any], step: Step) -> NDArray[Any]:
        """Filter and adapt; return what is left of the microphone. After an error the stream is of no use."""
        is_complex = far.dtype.kind == "c" or mic.dtype.kind == "c"
        if is_complex:
            self.become_complex()
        parts = len(self.taps.w)
        ended = np.empty(((int(self.now[2]) + len(far)) // self.window, 2))
        cleaned = np.empty((parts, len(far)))
        meter = Meter(self.now, ended, self.window)
        done = adapt(_parts(far, parts), _parts(mic, parts), cleaned, step, self.taps, meter)
        if done < len(far) or not np.isfinite(self.taps.w).all():
            raise self._diverged(self.n_samples + min(done, len(far) - 1), far, step)
        self.n_samples += len(far)
        if len(ended):
            self.ended.append(ended)
        return _joined(cleaned)

    def _diverged(self, sample: int, far: NDArray[Any], step: Step) -> TrainingOverflowError:
        if step.normalised:
            advice = "Scale the signals down."
        else:
            power = float(np.mean(np.abs(far) ** 2)) * self.taps.w.shape[1]
            bound = 2.0 / power if power > 0.0 else np.inf
            advice = (
                f"With this far end, LMS is stable for step sizes well below 2 / (taps · power) = {bound:.3g}; "
                f"step_size is {step.mu:.3g}. Lower it, or use algorithm='nlms', which scales it to the far end."
            )
        where = f"The filter diverged: at sample {sample:,} its error grows without bound."
        return TrainingOverflowError(f"{where} {advice}")


def _joined(parts: Floats) -> NDArray[Any]:
    """Return the signal whose real part, and imaginary one if there are two, are stacked."""
    signal: NDArray[Any] = parts[0] if len(parts) == 1 else parts[0] + 1j * parts[1]
    return signal


def _parts(signal: NDArray[Any], parts: int) -> Floats:
    """Stack a signal's real part, and its imaginary one if there are to be two."""
    return np.stack([signal.real, signal.imag][:parts])


def _parts_of_filter(stream: FilterStream) -> dict[str, Any]:
    w, line, newest = stream.taps
    return {
        "w": w,
        "line": line,
        "newest": int(newest[0]),
        "window": stream.window,
        "now": stream.now,
        "ended": np.concatenate([np.empty((0, 2)), *stream.ended]),
        "n_samples": stream.n_samples,
    }


def _filter(w: Any, line: Any, newest: int, window: int, now: Any, ended: Any, n_samples: int) -> FilterStream:
    parts, n = w.shape
    require(parts in (1, 2) and n >= 1, "there are no taps")
    stream = FilterStream(n, window)
    require(line.shape == (parts, stream.taps.line.shape[1]), "taps and delay line have different lengths")
    require(newest <= line.shape[1] - n, "the newest sample is beyond the delay line")
    require(now.shape == (4,) and ended.shape[1] == 2, "the powers have the wrong shape")
    require(
        (now >= 0.0).all() and now[2] < window and now[2] == int(now[2]), "the counts of the window are invalid"
    )
    stream.taps = Taps(w, line, np.array([newest]))
    stream.now, stream.n_samples = now, n_samples
    stream.ended = [ended] if len(ended) else []
    return stream


FILTER = Record(
    _filter,
    {
        "w": Array(2),
        "line": Array(2),
        "newest": Count(),
        "window": Count(1),
        "now": Array(),
        "ended": Array(2),
        "n_samples": Count(),
    },
    take=_parts_of_filter,
)


RUNS_AWAY = 1e16
"""Of LMS: the power of an error over that of the loudest sample, 160 dB, beyond which it is not coming back."""


class AdaptiveFilter(Declared, BaseEstimator):  # type: ignore[misc]
    """An adaptive filter that removes the echo of one signal from another (Widrow and Hoff 1960).

    A loudspeaker plays the far end of a call, and the microphone hears its echo: the far end through an unknown
    filter, the room. The adaptive filter learns the room sample by sample, predicts the echo, and subtracts it. It
    is a linear neuron on the last `n_taps` samples, and each sample corrects it by its error.

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

    _learner = built_in("AdaptiveFilter", StateSchema({"_stream": FILTER}))

    n_taps: int = positional(
        default=256, kw_only=False, doc="The number of samples of the far end that an echo may depend on."
    )
    algorithm: str = param(
        "nlms",
        "How the taps are corrected by an error e: by ``step_size · e · x̄ / (regularization + ‖x‖²)`` or by "
        "``step_size · e · x̄``. The first does the same for a loud and for a quiet far end.",
        one_of=("nlms", "lms"),
    )
    step_size: float = param(
        0.5,
        'How fast it learns. For "nlms" between 0 and 2: 1 is fastest, less leaves less noise. For "lms" it must '
        "be well below 2 over `n_taps` times the far end's power.",
        above=0,
    )
    regularization: float = param(
        1e-3,
        "Added to ‖x‖², the power of the far end over the taps, so that a pause in the far end changes the taps "
        "little. 0.001 suits signals within ±1.",
        least=0,
    )
    window: int = param(4096, "The number of samples over which the reduction of the echo is measured.")
    _stream: FilterStream = learned()

    def fit(self, far_end: ArrayLike, microphone: ArrayLike) -> Self:
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

    def fit_transform(self, far_end: ArrayLike, microphone: ArrayLike) -> NDArray[Any]:
        """Adapt to two signals from zero taps, and return the microphone minus the predicted echo.

        Each sample is cleaned with the taps before its update. Parameters are those of `fit`.
        """
        step = self._step()
        far, mic = as_signals(far_end, microphone)
        return self._follow(FilterStream(self.n_taps, self.window), far, mic, step)

    def partial_fit(self, far_end: ArrayLike, microphone: ArrayLike) -> Self:
        """Adapt to the next chunk of two signals; parameters as in `fit`."""
        self.process(far_end, microphone)
        return self

    def process(self, far_end: ArrayLike, microphone: ArrayLike) -> NDArray[Any]:
        """Adapt to the next chunk of two signals, and return it cleaned; parameters as in `fit`."""
        step = self._step()
        far, mic = as_signals(far_end, microphone)
        return self._follow(self._under_way().fork(), far, mic, step)

    def process_one(self, far_end: complex, microphone: complex) -> Any:
        """Adapt to the next sample of both signals, and return it cleaned."""
        return self.process([far_end], [microphone])[0].item()

    def predict(self, far_end: ArrayLike) -> NDArray[Any]:
        """Return the echo of a far end with the current taps, assuming silence before it."""
        self._require_adapted()
        far = as_signal(far_end, name="far_end")
        return -self._frozen(far, np.zeros(len(far)))

    def transform(self, far_end: ArrayLike, microphone: ArrayLike) -> NDArray[Any]:
        """Clean two signals with the current taps, without adapting, assuming silence before them."""
        self._require_adapted()
        return self._frozen(*as_signals(far_end, microphone))

    @property
    def coef_(self) -> NDArray[Any]:
        """The taps: an estimate of the room's impulse response."""
        return read_only(self._adapted("coef_").coef)

    @property
    def erle_curve_(self) -> Floats:
        """The echo return loss enhancement in dB, window by window."""
        heard, left = self._adapted("erle_curve_").powers()
        with np.errstate(divide="ignore", invalid="ignore"):
            curve: Floats = 10.0 * np.log10(heard / left)
        return read_only(curve)

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
        self._check_parameters()
        eps = float(self.regularization)
        if self.algorithm == "lms":
            return Step(float(self.step_size), eps, False, RUNS_AWAY)
        return Step(check_number("step_size", self.step_size, above=0, below=2), eps, True, np.inf)

    def _under_way(self) -> FilterStream:
        stream: FilterStream | None = self.__dict__.get("_stream")
        if stream is None:
            return FilterStream(self.n_taps, self.window)
        for name, held in (("n_taps", stream.taps.w.shape[1]), ("window", stream.window)):
            if getattr(self, name) != held:
                raise ParameterError(
                    Given(name, getattr(self, name)) + f" cannot continue from {held}. Use fit, or a new filter."
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
