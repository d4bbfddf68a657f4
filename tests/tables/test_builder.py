"""Blocks made from chunks of any size."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from rosenblatt.exceptions import InputError, ShapeError
from rosenblatt.tables.blocks import stored_arrays
from rosenblatt.tables.collect import collect
from tests.tables.sources import Chunks, everywhere, rows_of


@given(
    st.integers(1, 30),
    st.integers(1, 5),
    st.integers(30, 300),
    st.integers(1, 9),
    st.sampled_from(["f8", "f4", "csr"]),
)
def test_nothing_is_lost(tmp_path_factory, n, d, block_bytes, step, layout):
    rng = np.random.default_rng(n * d)
    X = rng.integers(-2, 3, (n, d)).astype("f8" if layout == "csr" else layout)
    y = rng.integers(3, size=n)
    data = csr_array(X) if layout == "csr" else X
    folder = tmp_path_factory.mktemp("nothing")
    for blocks in everywhere(data, y, folder, block_bytes=block_bytes, step=step).values():
        rows, labels = rows_of(blocks)
        assert np.array_equal(rows, X)
        assert rows.dtype == X.dtype
        assert np.array_equal(labels, y)
        assert [batch.codes.tolist() for batch in blocks.walk([0])] == [blocks.read(0).codes.tolist()]
        for block in blocks.walk(range(blocks.n_blocks)):
            size = sum(each.nbytes for each in stored_arrays(block.rows, block.codes))
            assert size <= max(block_bytes + 4, 200)  # sparse rows have one more start than there are rows


def test_chunks_that_disagree_are_refused():
    with pytest.raises(ShapeError, match="Row 2 has 3 features, but those before have 2"):
        collect(Chunks((np.ones((2, 2)), [0, 1]), (np.ones((1, 3)), [0])))
    with pytest.raises(InputError, match="dense and others sparse"):
        collect(Chunks((np.ones((2, 2)), [0, 1]), (csr_array(np.ones((1, 2))), [0])))
    with pytest.raises(InputError, match="no rows"):
        collect(Chunks())


def test_values_of_two_types_become_the_wider_one(tmp_path):
    chunks = [(np.full((2, 2), 0.1, "f4"), [0, 1]), (np.full((1, 2), 0.1), [0])]
    for blocks in (collect(Chunks(*chunks)), collect(Chunks(*chunks), memory=0, cache=tmp_path / "cache")):
        rows, _ = rows_of(blocks)
        assert rows.dtype == np.float64
        assert rows[:, 0].tolist() == [float(np.float32(0.1))] * 2 + [0.1]
