"""Labels that come chunk by chunk."""

import numpy as np
import pytest

from rosenblatt.exceptions import LabelError
from rosenblatt.rows.batch import as_batch
from rosenblatt.tables.collect import collect
from rosenblatt.tables.file_source import Source
from tests.tables.sources import Chunks, rows_of


@pytest.mark.parametrize(
    ("labels", "classes"),
    [
        ([[1, 2], [3]], np.array([1, 2, 3])),
        ([[2, 1], [3.0]], np.array([1.0, 2.0, 3.0])),
        ([[1.0], [1]], np.array([1.0])),
        ([np.array([5], np.uint64), np.array([2**64 - 1], np.uint64)], np.array([5, 2**64 - 1], np.uint64)),
        ([[0.5], [1.5, 0.5]], np.array([0.5, 1.5])),
        ([[True], [False]], np.array([False, True])),
        ([["b"], ["a", "bcd"]], np.array(["a", "b", "bcd"])),
        ([np.array(["b"], object), ["a"]], np.array(["a", "b"])),
    ],
)
def test_labels_become_of_one_kind(tmp_path, labels, classes):
    chunks = [(np.ones((len(part), 1)), part) for part in labels]
    for blocks in (collect(Chunks(*chunks)), collect(Chunks(*chunks), memory=0, cache=tmp_path / "cache")):
        assert np.array_equal(blocks.classes, classes)
        assert blocks.classes.dtype == classes.dtype
        assert rows_of(blocks)[1].tolist() == [label for part in labels for label in part]


class Picked(Source):
    """Rows picked of others, so that some of their classes have none."""

    def chunks(self):
        whole = as_batch([[0.0], [1.0], [2.0], [3.0]], ["d", "c", "b", "a"])
        return (whole.take(rows) for rows in ([3, 1], [1]))


def test_classes_without_rows_are_none():
    blocks = collect(Picked())
    assert blocks.classes.tolist() == ["a", "c"]
    assert blocks.counts.tolist() == [1, 2]
    rows, labels = rows_of(blocks)
    assert rows.ravel().tolist() == [3.0, 1.0, 1.0]
    assert labels.tolist() == ["a", "c", "c"]


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([[1], ["a"]], "row 1 is 'a', after labels such as 1"),
        ([["a", "b"], [1.0]], "row 2 is 1.0, after labels such as 'a'"),
        ([[1, 2], [np.nan]], "NaN, at row 2"),
        ([[1, 2], [2.5]], "continuous. y is 2.5 at row 2"),
        ([[0.5], [1.5], [2.5]], "continuous. y is 2.5 at row 2"),
        ([[0.5], [1], [2]], "continuous. y is 2 at row 2"),
        ([[1.0], [2.0**64]], "The label at row 1 is about 1.84467e.19. .* rounded integer"),
        ([np.array([-1]), np.array([2**63], np.uint64)], f"holds both labels -1 and {2**63}"),
        ([[1], None], "no labels"),
        ([[2**53 + 1], [1.0]], "would round"),
        ([[1], np.array([(1, 2), None], object)[:1]], "row 1"),
    ],
)
def test_labels_that_name_no_classes_are_refused(labels, message):
    chunks = [(np.ones((1 if part is None else len(part), 1)), part) for part in labels]
    with pytest.raises(LabelError, match=message):
        collect(Chunks(*chunks))
