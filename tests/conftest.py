"""Settings for all tests."""

import os
import signal
import sys
import zlib
from pathlib import Path

# Workers share the cores: threads of their own would make small products wait for each other, far too long.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import matplotlib as mpl
import pytest
from hypothesis import HealthCheck, settings

mpl.use("Agg")

# numba does not notice that a helper in another file was edited: keep the cache under a name made of the sources.
_root = Path(__file__).parents[1]
_sources = {path: path.read_bytes() for path in sorted(_root.glob("src/rosenblatt/**/*.py"))}
_loops = [text for path, text in _sources.items() if path.parent.name == "loops" or b"loops._jit" in text]
os.environ.setdefault("NUMBA_CACHE_DIR", str(_root / ".numba_cache" / f"{zlib.crc32(b''.join(_loops)):08x}"))
assert "numba" not in sys.modules, "numba reads its settings when it is imported"

# Shells let background processes ignore Ctrl-C, which tests send to themselves and to processes they start.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# `make test` draws a tenth of the examples of `make test-all`.
HEALTH = (
    HealthCheck.too_slow,  # machines are busy
    HealthCheck.data_too_large,
    HealthCheck.filter_too_much,
    HealthCheck.function_scoped_fixture,  # examples may share a folder
)
for name, most in (("default", 10), ("full", 100)):
    settings.register_profile(
        name,
        max_examples=most,
        deadline=None,
        derandomize=bool(os.environ.get("CI")),
        suppress_health_check=HEALTH,
    )
settings.load_profile("default")


# Files of slow tests alone that take seconds to collect: the packages that they import are large.
LONG_TO_COLLECT = ["test_openapi_calls.py"]


def pytest_ignore_collect(collection_path, config):
    """Leave these files out where only fast tests run."""
    return True if collection_path.name in LONG_TO_COLLECT and config.option.markexpr == "not slow" else None


# Limits of time within the package, and the clock of exact answers: a busy machine must not change a result.
# Tests of a limit set it themselves.
LIMITS = {
    "rosenblatt.learning.checkpoint": "CHECKPOINT_SECONDS",
    "rosenblatt.estimators.lifted": "LEMMA_SECONDS",
    "rosenblatt.theory.inseparable": "MAX_SOLUTION_SECONDS",
}
CLOCK = "rosenblatt.certify.time_limit"


@pytest.fixture(autouse=True)
def _patience(monkeypatch):
    """Make limits of time a thousand times longer, so that only a limit of 0 seconds ends anything."""
    for name in LIMITS.keys() & sys.modules.keys():
        monkeypatch.setattr(sys.modules[name], LIMITS[name], 3600.0)
    if CLOCK in sys.modules:
        clock = sys.modules[CLOCK].Clock
        begin = clock.__init__

        def patient(self, seconds, work=None):
            begin(self, seconds and 1000 * seconds, work)

        monkeypatch.setattr(clock, "__init__", patient)
