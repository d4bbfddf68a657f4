"""Blocks read from their source while training goes on."""

import numpy as np
import pytest

import rosenblatt as rb
from rosenblatt.exceptions import InputError
from rosenblatt.tables.collect import collect
from tests.shared.strategies import noisy
from tests.tables.sources import FileSource


def test_a_source_that_is_not_what_it_said_is_refused(tmp_path):
    X, y = noisy(100, 3)
    for change in ("rows", "labels"):
        source = FileSource.write(tmp_path / f"{change}.npy", X, y, known=True)
        blocks = collect(source, memory=0, block_bytes=300)
        labels = np.where(np.arange(100) < 90, y, 7) if change == "labels" else y
        FileSource.write(
            tmp_path / f"{change}.npy",
            X[:90] if change == "rows" else X,
            labels[: 90 if change == "rows" else 100],
        )
        with pytest.raises(InputError, match="changed"):
            rb.Perceptron().fit_blocks(blocks)
