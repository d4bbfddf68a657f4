"""The arrays of a block in a file."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rosenblatt.loops._bits import MAX_PLAIN_WORDS
from rosenblatt.tables.blocks import checksum


def _plain_checksum(content):
    mask, odd = 2**64 - 1, 0x9E3779B97F4A7C15

    def mix(lane, word):
        lane = ((lane ^ word) * odd) & mask
        return lane ^ (lane >> 29)

    content += bytes(-len(content) % 64)
    lanes = [0] * 8
    for at in range(0, len(content), 8):
        lanes[at // 8 % 8] = mix(lanes[at // 8 % 8], int.from_bytes(content[at : at + 8], "little"))
    total = 0
    for lane in lanes:
        total = mix(total, lane)
    return f"{total:016x}"


@given(st.binary(max_size=300))
def test_the_checksum_is_its_plain_twin(content):
    assert checksum([np.frombuffer(content, np.uint8)]) == _plain_checksum(content)


@pytest.mark.parametrize("size", [8 * MAX_PLAIN_WORDS, 8 * MAX_PLAIN_WORDS + 64, 8 * MAX_PLAIN_WORDS + 100])
def test_a_loop_mixes_long_arrays_alike(size):
    content = np.random.default_rng(size).bytes(size)
    assert checksum([np.frombuffer(content, np.uint8)]) == _plain_checksum(content)
    assert checksum([np.frombuffer(bytearray(content), np.uint8)]) == _plain_checksum(content)  # not read-only
