"""What a source has that says nothing but its rows."""

import numpy as np
import pytest

from rosenblatt.rows.batch import Batch
from rosenblatt.rows.features import as_rows
from rosenblatt.tables.collect import collect
from rosenblatt.tables.file_source import Source
from rosenblatt.tables.scaling import Facts


class Rows(Source):
    def chunks(self):
        yield Batch.of(as_rows([[0.0], [1.0]]), np.array(["no", "yes"]))


def test_defaults_are_enough_for_blocks(tmp_path):
    source = Rows()
    assert (source.files, source.names, source.recipe, source.description) == ((), None, None, "")
    assert (source.n_features, source.unmet, source.skipped.count) == (0, 0, 0)
    assert source.known() is None
    source.close()
    for in_memory, blocks in (
        (True, collect(source)),
        (False, collect(source, memory=0)),
        (False, collect(source, memory=0, cache=tmp_path / "cache")),
    ):
        assert (blocks.whole is not None) == in_memory
        assert (blocks.n_rows, blocks.statistics, blocks.scaling) == (2, None, None)
        assert blocks.facts == Facts()


def test_chunks_are_needed():
    with pytest.raises(TypeError, match="chunks"):
        Source()
