"""``python scripts/licences.py > docs/look_up/licences.md``: the licences of all packages that it needs to run.

Names and licences come from the metadata of the packages installed here; what they carry in their wheels is listed
by hand, because metadata does not say it.
"""

import sys
import tomllib
from importlib.metadata import Distribution, distribution
from pathlib import Path

from packaging.requirements import Requirement

ROOT = Path(__file__).parents[1]
CARRIES = {
    "highspy": "HiGHS (MIT)",
    "llvmlite": "LLVM (Apache-2.0 with LLVM exception)",
    "matplotlib": "FreeType (FTL), Qhull (Qhull), DejaVu and STIX fonts (their own, free licences)",
    "numpy": "OpenBLAS (BSD-3-Clause), libgfortran and libquadmath (GPL-3.0 with GCC runtime exception, LGPL-2.1)",
    "pillow": "libjpeg-turbo, libpng, libtiff, libwebp, FreeType and others (permissive licences)",
    "piqp": "Eigen (MPL-2.0)",
    "pyarrow": "Arrow C++ with its vendored libraries (Apache-2.0, BSD, MIT, Zlib; see its LICENSE.txt)",
    "python-flint": "FLINT (LGPL-3.0-or-later), GMP (LGPL-3.0-or-later), MPFR (LGPL-3.0-or-later)",
    "scikit-learn": "libgomp (GPL-3.0 with GCC runtime exception), LIBSVM and LIBLINEAR (BSD-3-Clause)",
    "scipy": "OpenBLAS (BSD-3-Clause), libgfortran and libquadmath (GPL-3.0 with GCC runtime exception, LGPL-2.1)",
}
HEAD = """# Licences

rosenblatt itself is under the BSD 3-Clause licence. It needs these packages to run; pip installs them, and none
is part of rosenblatt's own wheel. The table is made by `scripts/licences.py` from the metadata of the packages;
its last column lists what their wheels carry.

| package | licence | carries |
|---|---|---|
"""
TAIL = """
The lab page in rosenblatt's wheel contains Preact and Preact Signals (MIT).

**LGPL.** python-flint loads FLINT, GMP and MPFR as shared libraries that can be replaced. Whoever passes on a
program with these wheels inside (an image, an installer) must pass on their licences, and let people replace the
libraries. rosenblatt imports python-flint only for exact arithmetic (proofs and exact margins); `certify/check.py`
needs none of it.
"""


def needed() -> dict[str, Distribution]:
    """Return all packages needed to run, and those that these need, by name."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    found: dict[str, Distribution] = {}
    todo = [Requirement(each) for each in project["dependencies"]]
    while todo:
        name = todo.pop().name.lower().replace("_", "-")
        if name in found:
            continue
        found[name] = distribution(name)
        more = [Requirement(each) for each in found[name].requires or []]
        todo += [each for each in more if each.marker is None or each.marker.evaluate({"extra": ""})]
    return dict(sorted(found.items()))


def licence_of(package: Distribution) -> str:
    """Return the licence of a package: as an expression, or as its classifiers or first words tell it."""
    about = package.metadata
    classifiers = [
        each.split(" :: ")[-1] for each in about.get_all("Classifier", []) if each.startswith("License")
    ]
    text = " ".join((about.get("License") or "").split())
    brief = text if len(text) <= 30 else " ".join(text.split()[:3])
    return about.get("License-Expression") or " and ".join(classifiers) or brief


def table() -> str:
    """Return the page."""
    rows = [f"| {name} | {licence_of(each)} | {CARRIES.get(name, '')} |\n" for name, each in needed().items()]
    return HEAD + "".join(rows) + TAIL


if __name__ == "__main__":
    sys.stdout.write(table())
