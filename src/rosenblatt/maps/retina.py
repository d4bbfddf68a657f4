"""A retina of photocells, which sees images of any size."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from rosenblatt.data.features import Features, require_finite
from rosenblatt.exceptions import ParameterError, TrainingOverflowError
from rosenblatt.typing import Floats

LEVELS = 2.0**16
"""The shades of a graded cell. Their sums are exact, so that no order of addition changes a neuron."""

BLOCK = 2**20
"""Pixels computed at a time."""


class Retina(NamedTuple):
    """Photocells before an image."""

    shape: tuple[int, int]  # rows and columns of photocells
    image_shape: tuple[int, int]  # rows and columns of pixels
    graded: bool  # whether cells distinguish shades of light; otherwise they are on or off
    # the dark and the bright pixel value; None for the darkest and the brightest cell of each image
    exposure: tuple[float, float] | None

    def look(self, features: Features) -> Iterator[tuple[slice, Floats]]:
        """Yield some images at a time, and the light on each photocell, from 0 to 1."""
        height, width = self.image_shape
        down, across = resampling(height, self.shape[0]), resampling(width, self.shape[1])
        n_cells = self.shape[0] * self.shape[1]
        step = max(1, BLOCK // (height * width + n_cells))
        for first in range(0, features.n_rows, step):
            rows = slice(first, min(first + step, features.n_rows))
            images = features.part(rows).dense().reshape(-1, height, width)
            with np.errstate(over="ignore", invalid="ignore"):
                # One image after another: the order of sums of one large product depends on its size.
                seen = (down @ images @ across.T).reshape(-1, n_cells)
                light = self._expose(seen)
            finite = np.isfinite(light).all(axis=1) & np.isfinite(seen).all(axis=1)
            if not finite.all():
                require_finite(features)
                row = first + int(np.argmin(finite))
                raise TrainingOverflowError(f"The pixels of row {row} of X are too large for floats. Scale them.")
            yield rows, np.round(light * LEVELS) / LEVELS if self.graded else (light > 0.5).astype(np.float64)

    def _expose(self, seen: Floats) -> Floats:
        if self.exposure is None:
            dark, bright = seen.min(axis=1, keepdims=True), seen.max(axis=1, keepdims=True)
        else:
            dark, bright = (np.full((len(seen), 1), value) for value in self.exposure)
        contrast = bright - dark
        blank = contrast == 0.0
        light: Floats = np.where(blank, 0.0, (seen - dark) / np.where(blank, 1.0, contrast))
        return np.clip(light, 0.0, 1.0)


def resampling(n_from: int, n_to: int) -> Floats:
    """Return the matrix that turns a line of pixels into one of another length.

    A shorter line has the averages over the parts that its pixels cover, a longer one interpolates between the
    centres of the old pixels. The weights of each new pixel sum to 1.

    Examples
    --------
    >>> resampling(4, 2)
    array([[0.5, 0.5, 0. , 0. ],
           [0. , 0. , 0.5, 0.5]])
    >>> resampling(2, 4)
    array([[1.  , 0.  ],
           [0.75, 0.25],
           [0.25, 0.75],
           [0.  , 1.  ]])
    """
    old = np.arange(n_from)
    if n_to <= n_from:
        edges = np.arange(n_to + 1) * n_from / n_to
        begin, end = edges[:-1, None], edges[1:, None]
        covered = np.clip(np.minimum(end, old + 1) - np.maximum(begin, old), 0.0, None)
        weights: Floats = covered / covered.sum(axis=1, keepdims=True)
        return weights
    centres = (np.arange(n_to) + 0.5) * n_from / n_to - 0.5
    centres = np.clip(centres, 0.0, n_from - 1.0)[:, None]
    near: Floats = np.clip(1.0 - np.abs(centres - old), 0.0, None)
    return near


def image_shape_of(n_features: int, image_shape: Any) -> tuple[int, int]:
    """Return the given shape of images; by default a square if the number of pixels is one, else a line."""
    if image_shape is None:
        edge = math.isqrt(n_features)
        return (edge, edge) if edge * edge == n_features else (1, n_features)
    height, width = image_shape
    if height * width != n_features:
        raise ParameterError(
            f"image_shape={image_shape!r} has {height * width} pixels, but X has {n_features} features. "
            "Give the rows and columns of the images."
        )
    return height, width
