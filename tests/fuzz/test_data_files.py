"""A thousandth of the campaign on data files of every format; see `tests.fuzz.data_files`."""

import os

import pytest

from tests.fuzz.data_files import campaign


@pytest.mark.slow
def test_hostile_files_are_read_or_refused(tmp_path):
    total = campaign(1000, seed=int(os.environ.get("FUZZ_SEED", "0")), folder=tmp_path)
    assert total["finds"] == []
    assert total["rows"] > 100
    assert total["refused"] > 100
