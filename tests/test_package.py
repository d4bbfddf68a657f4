"""The package's own names, and what importing it costs."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import rosenblatt as rb
from rosenblatt.registry import BUILT_IN

ROOT = Path(__file__).parents[1]


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
    assert len({*rb.__all__} - BUILT_IN.keys()) <= 24, "what is rarely used lives in its module"
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        rb.nothing  # noqa: B018


WITHOUT = {  # a module that is missing, what is then asked for, and the extra that has it
    "onnx": ("import rosenblatt as rb; rb.to_onnx(rb.Perceptron().fit([[0], [1]], [0, 1]))", "onnx"),
    "uvicorn": ("from rosenblatt.cli.main import main; sys.exit(main(['lab']))", "lab"),
    "starlette": ("from rosenblatt.cli.main import main; sys.exit(main(['serve']))", "server"),
    "msgspec": ("from rosenblatt.cli.main import main; sys.exit(main(['token', 'list']))", "server"),
    "httpx": ("from rosenblatt.client import Client", "client"),
    "dask": ("import rosenblatt.distributed as rd; rd.fit", "distributed"),
    "distributed": (
        "from rosenblatt.cli.main import main; sys.exit(main('train @or -o or.model --workers 1'.split()))",
        "distributed",
    ),
    "river": ("import rosenblatt.compat.river", None),
    "jinja2": ("from rosenblatt.reports.page import _template; _template()", None),
}


@pytest.mark.parametrize("missing", WITHOUT)
def test_what_is_missing_is_named_by_the_packages_to_install(missing, tmp_path):
    """The packages of others can be installed today, whether or not rosenblatt itself is published."""
    program, extra = WITHOUT[missing]
    blocked = f"import sys; sys.modules[{missing!r}] = None; {program}"
    done = subprocess.run([sys.executable, "-c", blocked], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode != 0
    told = re.findall(r"pip install (.*)", done.stderr)[-1].replace('"', "").split()
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"][
        "optional-dependencies"
    ]
    assert told == ([missing] if extra is None else [each.split(">=")[0] for each in extras[extra]])


def test_nobody_is_told_to_install_what_is_not_published():
    """Only the page about releases may speak of the package on an index; the source says `pip install .`."""
    places = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md"), *(ROOT / "src").rglob("*.py")]
    places += [*(ROOT / "examples").glob("*.py"), *(ROOT / "src").rglob("*.html")]
    assert len(places) > 100
    for path in {*places} - {ROOT / "docs" / "do" / "release.md"}:
        text = path.read_text(encoding="utf-8")
        found = re.search(r"pip install \S*rosenblatt|rosenblatt\[\w", text)
        assert found is None, (path, found)
