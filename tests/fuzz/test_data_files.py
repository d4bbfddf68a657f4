"""A thousandth of the campaign on data files of every format; see `tests.fuzz.data_files`."""

import os

import pytest

from tests.fuzz.campaigns import campaign


@pytest.mark.slow
def test_hostile_files_are_read_or_refused(tmp_path):
    seed = int(os.environ.get("FUZZ_SEED", "0"))
    total, finds = campaign("tests.fuzz.data_files", 1000, seed, folder=tmp_path)
    assert finds == []
    assert total["rows"] > 100
    assert total["refused"] > 100
