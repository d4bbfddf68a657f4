"""Machines divided into groups."""

import numpy as np
import pytest

from rosenblatt.model.scheme import Scheme


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
