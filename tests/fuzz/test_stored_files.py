"""A thousandth of the campaign on models, caches, checkpoints and proofs; see `tests.fuzz.stored_files`."""

import os

import pytest

from tests.fuzz.stored_files import campaign


@pytest.mark.slow
def test_changed_files_are_used_or_refused(tmp_path):
    total = campaign(400, seed=int(os.environ.get("FUZZ_SEED", "0")), folder=tmp_path)
    assert total["finds"] == []
    assert total["used"] > 40
