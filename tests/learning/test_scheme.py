"""The sides of the machines, and machines divided into groups."""

import numpy as np
import pytest

from rosenblatt.learning.linear import Scheme
from rosenblatt.loops import reference


@pytest.mark.parametrize("kind", ["ovr", "ovo"])
@pytest.mark.parametrize("n_classes", range(3, 13))
@pytest.mark.parametrize("groups", [1, 2, 3, 5, 100])
def test_groups_hold_each_machine_once_and_each_class_equally_often(kind, n_classes, groups):
    scheme = Scheme(kind, n_classes)
    parts = scheme.divided(groups)
    assert 1 <= len(parts) <= groups
    assert np.sort(np.concatenate(parts)).tolist() == list(range(scheme.n_machines))
    for machines in parts:
        assert (np.diff(machines) > 0).all()
        if kind == "ovo":
            classes = np.array(scheme.pairs)[machines]
            assert len(set(np.bincount(classes.ravel(), minlength=n_classes))) == 1
    if kind == "ovo" and n_classes % 2 == 0:
        sizes = [len(machines) for machines in parts]
        assert max(sizes) - min(sizes) <= n_classes // 2


def test_the_positive_side_of_a_pair_is_its_second_class():
    codes, weight = np.array([0, 1, 2]), np.ones(3)
    targets = Scheme("ovo", 3).targets(codes, weight, -1)
    sides = {
        code: dict(zip(*pair, strict=True))
        for code, pair in enumerate(zip(targets.members, targets.side, strict=True))
    }
    assert sides == {0: {0: -1, 1: -1}, 1: {0: 1, 2: -1}, 2: {1: 1, 2: 1}}  # the pairs are 0-1, 0-2 and 1-2
    assert Scheme("ovo", 3).titles(np.array(["a", "b", "c"])) == ["b against a", "c against a", "c against b"]


@pytest.mark.parametrize("kind", ["ovr", "ovo"])
@pytest.mark.parametrize("n_classes", [3, 4, 7])
def test_sides_are_those_of_the_textbook(kind, n_classes):
    scheme = Scheme.of(kind, n_classes)
    assert [scheme.sides(m).tolist() for m in range(scheme.n_machines)] == reference.sides(kind, n_classes)
