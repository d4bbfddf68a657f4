"""The exponential of our own: near the true one, and the same bits whatever the processor offers."""

import os
import platform
import subprocess
import sys

import numpy as np
import pytest

from rosenblatt.kernels.dual_loop import exponentials

BITS = """
import hashlib
import numpy as np
from rosenblatt.kernels import RBF, Laplacian
from rosenblatt.kernels.dual_loop import exponentials
rng = np.random.default_rng(0)
x = -rng.exponential(20, (7, 1001))
exponentials(x)
X = rng.standard_normal((40, 5))
print(hashlib.sha256(x.tobytes() + RBF(0.3)(X).tobytes() + Laplacian(0.3)(X).tobytes()).hexdigest())
"""


def exp(values):
    result = np.array(values, np.float64).reshape(1, -1)
    exponentials(result)
    return result[0]


@pytest.mark.skipif(
    np.finfo(np.longdouble).nmant < 63,
    reason="longdouble is float64 on this system, so that there is nothing more exact to compare with",
)
@pytest.mark.parametrize("low, high", [(-1e-3, 0), (-1, 0), (-40, 0), (-708, 0), (-745, -708), (0, 709)])
def test_it_is_within_a_unit_in_the_last_place(low, high):
    x = np.random.default_rng(1).uniform(low, high, 200_000)
    true = np.exp(x.astype(np.longdouble))
    unit = np.spacing(np.maximum(true.astype(np.float64), 5e-324))
    assert np.max(np.abs(exp(x) - true) / unit) < 0.95


def test_what_is_special():
    x = [0.0, -0.0, -np.inf, np.inf, np.nan, -1e308, -745.2, 710.0, 1e308]
    np.testing.assert_array_equal(exp(x), [1, 1, 0, np.inf, np.nan, 0, 0, np.inf, np.inf])


def test_it_never_falls():
    x = np.random.default_rng(2).uniform(-50, 1, 1_000_000)
    assert np.all(np.diff(exp(np.sort(x))) >= 0)
    assert np.all(np.diff(exp(-1.0 + 2.0**-53 * np.arange(100_000))) >= 0)


def test_any_layout_gives_the_same_bits():
    x = -np.random.default_rng(3).exponential(5, (30, 41))
    across, apart = np.asfortranarray(x), np.repeat(x, 2, axis=1)[:, ::2]
    for each in (across, apart, x):
        exponentials(each)
    assert across.tobytes() == apart.tobytes() == x.tobytes()


@pytest.mark.slow  # each compiles its loops anew
@pytest.mark.parametrize("cpu", ["generic", "x86-64-v3"])
def test_the_bits_do_not_depend_on_the_processor(cpu, tmp_path):
    if platform.machine() != "x86_64":
        pytest.skip("the processors named here are x86")
    plain = {"NUMBA_CPU_NAME": cpu, "NUMBA_CPU_FEATURES": "", "NUMBA_CACHE_DIR": str(tmp_path)}
    found = set()
    for more in ({}, plain):
        command = [sys.executable, "-c", BITS]
        found.add(
            subprocess.run(command, env=os.environ | more, capture_output=True, text=True, check=True).stdout
        )
    assert len(found) == 1
