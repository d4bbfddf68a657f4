"""Several labels a row, written in different ways."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from rosenblatt.estimators.multilabel import as_sets, check_labels, indicator
from rosenblatt.exceptions import LabelError, ShapeError

TABLE = np.array([[1, 0, 1], [0, 0, 0], [0, 1, 0]])


@pytest.mark.parametrize(
    "given",
    [TABLE, TABLE.astype(bool), csr_array(TABLE), TABLE.tolist(), [{0, 2}, set(), {1}], [(2, 0, 2), (), (1,)]],
)
def test_every_way_gives_the_same_sets(given):
    indptr, labels, classes = as_sets(given, 3)
    assert (indptr.tolist(), labels.tolist(), classes.tolist()) == ([0, 2, 2, 3], [0, 2, 1], [0, 1, 2])
    assert indicator(indptr, labels, 3).tolist() == TABLE.tolist()


def test_lists_of_names_are_sets():
    indptr, labels, classes = as_sets([["b", "a"], [], ["b"]], 3)
    assert (indptr.tolist(), labels.tolist(), classes.tolist()) == ([0, 2, 2, 3], [0, 1, 1], ["a", "b"])


def test_bad_sets_are_refused():
    for bad, error, why in (
        (None, LabelError, "None"),
        ([0, 1, 0], ShapeError, "several labels"),
        ([[0, 1], [1, 0]], ShapeError, "3 rows"),
        ([[0, 5], [0, 1], [1, 0]], LabelError, "row 0, column 1"),
        ([[0, 1], [1], [0, 1]], LabelError, "different lengths"),
        ([{"a"}, {"b"}], ShapeError, "2 sets"),
    ):
        with pytest.raises(error, match=why):
            as_sets(bad, 3)
    with pytest.raises(LabelError, match="'c' at row 1"):
        as_sets([{"a"}, {"c"}, set()], 3, np.array(["a", "b"]))
    with pytest.raises(LabelError, match="list of labels"):
        check_labels("ab")
