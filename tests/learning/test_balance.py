"""Class balance along a stream."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from rosenblatt.learning.stream import Balance

LABELS = ["a", "b", "c"]


@given(st.lists(st.lists(st.integers(0, 2), min_size=1, max_size=9), max_size=4))
def test_chunks_weigh_as_single_examples_do(chunks):
    together, alone = Balance(), Balance()
    for codes in chunks:
        weights = together.see_all(np.array(codes), LABELS)
        assert weights.tolist() == [alone.see(LABELS[code]) for code in codes]
    assert together.counts == alone.counts


def test_a_rare_class_weighs_more():
    balance = Balance()
    assert [balance.see(label) for label in "aaab"] == [1.0, 1.0, 1.0, 4 / (2 * 1)]
