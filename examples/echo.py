"""Take an echo out of a call
==========================

``AdaptiveFilter`` learns the room while the far end talks. The spectrograms show the microphone before and
after.
"""

from __future__ import annotations

import numpy as np
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from scipy.signal import lfilter, spectrogram

import rosenblatt as rb
from rosenblatt.plot import style

RATE, SECONDS = 16_000, 9
LOUDNESS = LinearSegmentedColormap.from_list("loudness", ["#ffffff", "#56B4E9", "#0072B2", "#0b1d33"])
VOWELS = ((730, 1090, 2440), (270, 2290, 3010), (300, 870, 2240), (530, 1840, 2480), (570, 840, 2410))
FAR, NEAR = ((0.0, 4.0), (6.0, 9.0)), ((4.2, 5.8),)
"""Who talks when, in seconds."""


def speech(pitch: float, turns: tuple[tuple[float, float], ...], seed: int) -> np.ndarray:
    """Make something like speech: a buzz through the resonances of vowels, a hiss now and then, in syllables."""
    rng = np.random.default_rng(seed)
    voice = np.zeros(RATE * SECONDS)
    for begin, end in turns:
        at = int(begin * RATE)
        while at < end * RATE - 0.1 * RATE:
            n = int(rng.uniform(0.12, 0.3) * RATE)
            n = min(n, int(end * RATE) - at)
            hiss = rng.random() < 0.25
            glide = pitch * 2 ** np.linspace(rng.uniform(-0.3, 0.3), rng.uniform(-0.3, 0.3), n)
            buzz = np.diff(np.floor(np.cumsum(glide / RATE)), prepend=0.0)
            sound = 0.3 * rng.standard_normal(n) if hiss else buzz + 0.01 * rng.standard_normal(n)
            formants = ((4200, 5600),) if hiss else (VOWELS[rng.integers(len(VOWELS))],)
            for frequency in formants[0]:
                radius = np.exp(-np.pi * 120 / RATE)
                sound = lfilter([1.0], [1, -2 * radius * np.cos(2 * np.pi * frequency / RATE), radius**2], sound)
            sound *= np.hanning(n) * rng.uniform(0.5, 1.0) / np.abs(sound).max()
            voice[at : at + n] += sound * (0.4 if hiss else 1.0)
            at += n + int(rng.uniform(0.0, 0.06) * RATE)
    return 0.3 * voice


def picture() -> Figure:
    far = speech(118, FAR, seed=1) + 1e-4 * np.random.default_rng(0).standard_normal(RATE * SECONDS)
    near = speech(205, NEAR, seed=2)
    room = rb.datasets.make_echo(far, n_taps=256, echo_to_noise=40, seed=3)
    microphone = room.microphone + near
    canceller = rb.AdaptiveFilter(256, step_size=0.5, regularization=0.05, window=RATE // 8)
    cleaned = canceller.fit_transform(far, microphone)
    time = (np.arange(len(canceller.erle_curve_)) + 0.5) * canceller.window / RATE
    talks = np.any([(time > begin + 1) & (time < end) for begin, end in FAR], axis=0)
    kept = slice(int(NEAR[0][0] * RATE), int(NEAR[0][1] * RATE))
    harm = 10 * np.log10(np.square(near[kept]).sum() / np.square(cleaned[kept] - near[kept]).sum())
    print(
        f"While the far end talks, {np.median(canceller.erle_curve_[talks]):.1f} dB of echo are removed (median);"
    )
    print(f"the near end stands {harm:.1f} dB above what is left beside it.")

    figure, axes = plt.subplots(
        3, 1, figsize=(11, 7.5), layout="constrained", height_ratios=[1, 1, 0.7], sharex=True
    )
    draw(axes[0], microphone, "the microphone hears an echo of the far end, and the near end")
    draw(axes[1], cleaned, "cleaned")
    turns(axes[0])
    axes[2].plot(time, canceller.erle_curve_, color=style.POSITIVE, linewidth=2)
    axes[2].axhline(0, color=style.FAINT, linewidth=0.8)
    axes[2].set(xlim=(0, SECONDS), ylim=(-5, None))
    axes[2].set_title("echo removed; while the near end talks there is none", fontsize=style.NORMAL_FONT_POINTS)
    style.tidy(axes[2], "seconds", "ERLE in dB")
    return figure


def draw(ax: Axes, signal: np.ndarray, title: str) -> None:
    frequency, time, power = spectrogram(signal, RATE, nperseg=512, noverlap=384)
    loudness = 10 * np.log10(power + 1e-14)
    ax.pcolormesh(time, frequency / 1000, loudness, cmap=LOUDNESS, vmin=-95, vmax=-40, rasterized=True)
    ax.set_title(title, fontsize=style.NORMAL_FONT_POINTS)
    ax.set_ylim(0, 6)
    style.tidy(ax, "", "kHz")


def turns(ax: Axes) -> None:
    for name, spans, colour in (("far end", FAR, style.NEGATIVE), ("near end", NEAR, style.PALETTE[2])):
        for begin, end in spans:
            ax.plot([begin + 0.05, end - 0.05], [5.75, 5.75], color=colour, linewidth=3, solid_capstyle="butt")
            ax.text(
                (begin + end) / 2,
                5.6,
                name,
                color=colour,
                ha="center",
                va="top",
                fontsize=style.SMALL_FONT_POINTS,
                bbox={"facecolor": "white", "alpha": 0.8, "edgecolor": "none", "pad": 1},
            )


if __name__ == "__main__":
    picture()
