"""Which partitions one task trains."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rosenblatt.distributed.cluster import WorkerRoom
from rosenblatt.distributed.mixing import group_partitions
from rosenblatt.distributed.parts import PartFacts


def facts(*rows, values=1, in_memory=True):
    return [PartFacts(f"part {k}", n, stored=values * n, in_memory=in_memory) for k, n in enumerate(rows)]


ONE, TWO = {"a": WorkerRoom(1, 0)}, {"a": WorkerRoom(1, 0), "b": WorkerRoom(1, 0)}


@pytest.mark.parametrize(
    ("rows", "holders", "rooms", "wanted"),
    [
        pytest.param([9, 9, 9], "aaa", ONE, [[0, 1, 2]], id="one worker is one task"),
        pytest.param([9, 9, 9, 9], "abab", TWO, [[0, 2], [1, 3]], id="a task a worker"),
        pytest.param([9, 9, 9, 9], "aaaa", {"a": WorkerRoom(2, 0)}, [[0, 1], [2, 3]], id="a task a thread"),
        pytest.param([9, 9, 9, 9], "aaab", TWO, [[0, 1], [2], [3]], id="idle workers can take what is too much"),
        pytest.param([9, 9], "aa", TWO, [[0], [1]], id="no more than a share"),
        pytest.param([9, 9, 9], ["a", "", "a"], ONE, [[0, 2], [1]], id="lost"),
        pytest.param([9, 9, 9], ["a", "gone", "a"], ONE, [[0, 2], [1]], id="held by a worker that has left"),
        pytest.param([9, 9, 9, 9], ["a", "ab", "ab", "a"], TWO, [[0, 3], [1, 2]], id="the less busy of two"),
    ],
)
def test_groups(rows, holders, rooms, wanted):
    assert (
        group_partitions(facts(*rows), [[each] if each in rooms else list(each) for each in holders], rooms)
        == wanted
    )


def test_partitions_that_fill_a_worker_are_tasks_of_their_own():
    """Dask may have spilled some of them: one task would bring all of them back at once."""
    full = {"a": WorkerRoom(1, 2 * 3 * 12 * 1000 - 1)}
    alone = [[0], [1], [2]]
    assert group_partitions(facts(10, 10, 10, values=100), ["a"] * 3, full) == alone
    assert group_partitions(facts(10, 10, 10, values=99), ["a"] * 3, full) == [[0, 1, 2]]
    assert group_partitions(facts(10, 10, 10, values=100, in_memory=False), ["a"] * 3, full) == [[0, 1, 2]]


@given(
    st.lists(st.tuples(st.integers(1, 50), st.sets(st.sampled_from("abcx"))), min_size=1, max_size=20),
    st.lists(st.integers(1, 4), min_size=3, max_size=3),
    st.integers(0, 2000),
)
def test_every_partition_is_in_one_group(parts, threads, memory):
    rooms = {name: WorkerRoom(count, memory) for name, count in zip("abc", threads, strict=True)}
    groups = group_partitions(facts(*(n for n, _ in parts)), [sorted(held) for _, held in parts], rooms)
    assert sorted(number for group in groups for number in group) == list(range(len(parts)))
    rows = np.array([n for n, _ in parts])
    for group in groups:
        assert group == sorted(group)
        assert len(group) == 1 or rows[group].sum() <= 1.25 * rows.sum() / sum(threads)
        assert len(group) == 1 or set.intersection(*(parts[number][1] for number in group)) & set("abc")
