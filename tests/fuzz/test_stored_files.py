"""A thousandth of the campaign on models, caches, checkpoints and proofs; see `tests.fuzz.stored_files`."""

import os

import pytest

from tests.fuzz.campaigns import campaign


@pytest.mark.slow
def test_changed_files_are_used_or_refused(tmp_path):
    seed = int(os.environ.get("FUZZ_SEED", "0"))
    total, finds = campaign("tests.fuzz.stored_files", 400, seed, folder=tmp_path)
    assert finds == []
    assert total["used"] > 40
