"""The package's own names, and what importing it costs."""

import subprocess
import sys

import pytest

import rosenblatt as rb
from rosenblatt.registry import BUILT_IN


def test_importing_the_package_is_light():
    program = (
        "import sys, rosenblatt; dir(rosenblatt); "
        "heavy = {'numba', 'sklearn', 'scipy', 'matplotlib', 'pandas'} & set(sys.modules); "
        "assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_every_public_name_loads():
    assert rb.__all__ == sorted(rb.__all__)
    for name in rb.__all__:
        assert getattr(rb, name) is not None
        assert name in dir(rb)
    names = {*rb._NAMES, *rb._MODULES, *BUILT_IN}
    assert names == set(rb.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        rb.nothing  # noqa: B018
