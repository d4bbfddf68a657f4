"""Settings for all tests."""

import os
import signal
import sys
import zlib
from pathlib import Path

# Workers share the cores: threads of their own would make small products wait for each other, far too long.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import hypothesis
import matplotlib as mpl

mpl.use("Agg")

# numba does not notice that a helper in another file was edited: keep the cache under a name made of the sources.
_loops = Path(__file__).parents[1] / "src" / "rosenblatt" / "loops"
_key = zlib.crc32(b"".join(path.read_bytes() for path in sorted(_loops.glob("*.py"))))
os.environ.setdefault("NUMBA_CACHE_DIR", str(_loops.parents[2] / ".numba_cache" / f"{_key:08x}"))
assert "numba" not in sys.modules, "numba reads its settings when it is imported"

# Shells let background processes ignore Ctrl-C, which tests send to themselves and to processes they start.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

hypothesis.settings.register_profile("default", deadline=None, derandomize=bool(os.environ.get("CI")))
hypothesis.settings.load_profile("default")
