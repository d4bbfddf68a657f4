"""An adaptive filter over a stream: what it carries from one chunk to the next."""

from __future__ import annotations

from copy import copy
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.memory import require_neurons
from rosenblatt.exceptions import TrainingOverflowError
from rosenblatt.loops.filter import Meter, Step, Taps, adapt
from rosenblatt.typing import Floats

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
