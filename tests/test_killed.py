"""Killed at random moments (as often as the variable KILLS says), work ends as if it had not been disturbed."""

import os

import pytest

from tests.shared.killing import survives


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize("room", ["blocks", "cli", "storage"])
def test_kill_dash_nine(room, tmp_path):
    survives(f"tests.{room}.killing", tmp_path)
