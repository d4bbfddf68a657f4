"""A thousand slow connections beside an honest client, over real sockets: see `scripts/slow_clients.py`."""

import os
import shutil
import subprocess
import sys

import pytest

from tests.shared.killing import ROOT


@pytest.mark.slow
@pytest.mark.skipif(
    sys.platform == "win32" or shutil.which("openssl") is None, reason="needs Unix sockets and openssl"
)
def test_an_honest_client_is_answered_beside_a_thousand_slow_ones():
    path = os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])
    command = [sys.executable, str(ROOT / "scripts" / "slow_clients.py"), "--seconds", "8"]
    done = subprocess.run(
        command, cwd=ROOT, env=os.environ | {"PYTHONPATH": path}, capture_output=True, text=True, timeout=600
    )
    assert done.returncode == 0, done.stdout
    assert done.stdout.count("slowest") == 4
