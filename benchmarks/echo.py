"""Echo cancellation: ten seconds of a call at 16 kHz, against numpy's products sample by sample."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from benchmarks.comparison import AtMost, Comparison
from benchmarks.timing import Setup, race
from rosenblatt import AdaptiveFilter
from rosenblatt.datasets import Echo, make_echo
from rosenblatt.typing import Floats

TAPS, RATE, SECONDS = 256, 16_000, 10
TIMES_REAL_TIME = 50
STEP, EPS = 0.5, 1e-3


def cancel(setup: Setup) -> Iterator[Comparison]:
    """Remove the echo of a room of 256 taps; the last column tells by how many dB, and how fast."""
    n = setup.rows(SECONDS * RATE)
    call = make_echo(n, n_taps=TAPS, echo_to_noise=40, seed=0)
    ours = AdaptiveFilter(TAPS, step_size=STEP, regularization=EPS)
    ours.fit(call.far_end[:100], call.microphone[:100])  # compiles
    contestants = {
        "ours": partial(ours.fit_transform, call.far_end, call.microphone),
        "numpy": partial(_nlms, call),
    }
    timed = race(contestants, setup.repeats)
    reached = " / ".join(f"{_erle(call, timed[name].result):.1f}" for name in contestants)
    speed = n / RATE / min(timed["ours"].seconds)
    yield Comparison(
        f"echo, {TAPS} taps, {n / RATE:g} s at 16 kHz",
        "numpy by sample",
        timed["ours"].seconds,
        timed["numpy"].seconds,
        AtMost(SECONDS / TIMES_REAL_TIME),
        models=f"{reached} dB, {speed:.0f}× real time",
    )


def _nlms(call: Echo) -> Floats:
    """Filter as one would write it with numpy."""
    n = len(call.far_end)
    padded = np.concatenate([np.zeros(TAPS - 1), call.far_end])[::-1].copy()
    w, cleaned = np.zeros(TAPS), np.empty(n)
    for t in range(n):
        x = padded[n - 1 - t : n - 1 - t + TAPS]
        cleaned[t] = e = call.microphone[t] - w @ x
        w += (STEP * e / (EPS + x @ x)) * x
    return cleaned


def _erle(call: Echo, cleaned: Floats) -> float:
    half = len(cleaned) // 2
    return float(10 * np.log10(np.square(call.microphone[half:]).sum() / np.square(cleaned[half:]).sum()))
