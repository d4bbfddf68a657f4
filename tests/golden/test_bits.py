"""Configurations of all kinds train what they trained, to the bit where bits are promised."""

import pytest

from tests.golden.bits import GROUPS, STORED, differences, stored, told


@pytest.mark.parametrize("group", GROUPS)
def test_training_is_what_it_was(group):
    then = {name: value for name, value in stored().items() if name.startswith(f"{group}: ")}
    changed = differences(then, told(group))
    assert not changed, f"{len(changed)} of {len(then)} configurations differ:\n" + "\n".join(changed)


def test_what_is_stored_is_small_and_sorted():
    names = list(stored())
    assert names == sorted(names)
    assert {name.split(":")[0] for name in names} == set(GROUPS)
    assert STORED.stat().st_size < 150_000


def test_differences_are_named():
    then = {"a": {"weights": "1", "t": 5}, "b": {"values": [1.0]}, "c": {"least": {"values": [2.0]}}, "d": {}}
    now = {
        "a": {"weights": "2", "t": 5},
        "b": {"values": [1.0 + 1e-9]},
        "c": {"least": {"values": [2.1]}},
        "e": {},
    }
    lines = differences(then, now)
    assert [line.split(":")[0] for line in lines] == ["d", "e", "a", "c"]
    assert "weights was 1, is 2" in lines[2]
    assert differences(then, then) == []
