"""Killed at random moments (as often as the variable KILLS says), work ends as if it had not been disturbed."""

import os

import pytest

from tests.shared.killing import survives

pytestmark = pytest.mark.slow


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are killed after os.fork, which this system lacks")
@pytest.mark.parametrize("room", ["cli", "models", "sequences", "tables"])
def test_kill_dash_nine(room, tmp_path):
    survives(f"tests.{room}.killing", tmp_path)
