"""What a new rule takes is counted: three files from outside, and one entry of the registry to be built in."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
RULE = ROOT / "tests" / "shared" / "outside_rule.py"
NAME = "CoolingPerceptron"
ENTRY = 'BuiltIn("estimators.cooling", {"cooling": {}}, _ONLINE, {"cooling": "Cooling perceptron"})'
"""The entry of the registry that makes the rule one of the package."""


NOT_KEPT = """
from rosenblatt.loops import _jit

_own = _jit._is_own
_jit._is_own = lambda sig: _own(sig) and "Cool" not in str(sig)
"""
"""The cache of loops on the disk outlives this tree, and must not know its rule."""


def test_a_rule_from_outside_is_three_files():
    """Its module, its test and its page know it; bounds and the architecture refer to them, and no source does."""
    house = pytest.importorskip("scripts.house", reason="the sdist does not hold scripts/")
    assert house.files_of_a_rule() == [
        "docs/do/your_own_learner.md",
        "tests/learning/test_rule_from_outside.py",
        "tests/shared/outside_rule.py",
    ]


def built_in_text():
    """Return the module of the rule as one of the package: what declares it comes from the registry."""
    text = RULE.read_text("utf-8")
    declared = re.search(r"    _learner = replace\(.*?\n    \)\n", text, re.DOTALL)[0]
    own = f'    _learner = built_in("{NAME}", perceptron_state(Cooling))\n'
    text = text.replace(declared, own).replace("@rb.register\n", "")
    return text.replace(
        "import rosenblatt as rb\n", "import rosenblatt as rb\nfrom rosenblatt.registry import built_in\n"
    )


@pytest.fixture
def tree(tmp_path):
    """Return the environment of a tree with the rule: the package, one more module and one more entry.

    The rest of the package is not copied, so that its loops need not be compiled again.
    """
    (tmp_path / "cooling.py").write_text(built_in_text() + NOT_KEPT, "utf-8")
    (tmp_path / "with_cooling.py").write_text(
        "import rosenblatt.estimators, rosenblatt.registry as registry\n"
        f"rosenblatt.estimators.__path__.append({str(tmp_path)!r})\n"
        f"entry = eval({ENTRY!r}, vars(registry))\n"
        f"registry.BUILT_IN[{NAME!r}] = entry\n",
        "utf-8",
    )
    paths = [str(tmp_path), str(ROOT / "src"), str(ROOT)]
    return os.environ | {"PYTHONPATH": os.pathsep.join(paths)}


def ran(tree, *command):
    done = subprocess.run(
        [sys.executable, *command], env=tree, cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


USED = """
import with_cooling, os, sys
import numpy as np
import rosenblatt as rb
from rosenblatt.cli.main import main
from rosenblatt.tasks.compiling import able

os.chdir(sys.argv[1])
X = np.random.default_rng(0).integers(-2, 3, (40, 3)).astype(float)
y = np.where(X[:, 0] + X[:, 1] > 0, "yes", "no")
rows = "".join(f"{a},{b},{c},{label}\\n" for (a, b, c), label in zip(X.tolist(), y))
open("t.csv", "w").write("a,b,c,label\\n" + rows)
assert main(["train", "t.csv", "-o", "m", "--learner", "cooling", "--checkpoint", "1", "--max-iter", "3"]) == 0
assert main(["evaluate", "m", "t.csv"]) == 0
assert main(["inspect", "m"]) == 0
assert type(rb.load("m")[-1]) is rb.CoolingPerceptron
rb.save(rb.CoolingPerceptron().partial_fit(X, y), "stream")
from rosenblatt.server.served_model import read_learner
assert read_learner("stream")[1].partial_fit(X, y).t_ == 80
assert "cooling" in able("serves") and rb.CoolingPerceptron.__module__ == "rosenblatt.estimators.cooling"
from rosenblatt.registry import classes_able, title_of
assert "CoolingPerceptron" in classes_able("serves") and title_of("cooling") == "Cooling perceptron"
"""


def test_a_rule_of_the_package_is_one_module_and_one_entry(tree, tmp_path):
    pytest.importorskip("msgspec", reason="the server needs msgspec")
    ran(tree, "-c", USED, str(tmp_path))


def test_the_tests_of_learners_try_it_by_its_entry(tree):
    """Abilities, promises, parameters, model files and the command line: none of their files knows the rule."""
    files = ["tests/test_abilities.py", "tests/learning/test_promises.py", "tests/models/test_round_trips.py"]
    told = ran(tree, "-m", "pytest", "-q", "-p", "with_cooling", "-p", "no:cacheprovider", "-k", "ooling", *files)
    assert int(re.search(r"(\d+) passed", told)[1]) >= 10, told
