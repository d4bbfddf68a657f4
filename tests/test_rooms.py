"""A room named in `rosenblatt.rooms` can be deleted: the rest imports and works, and says what is missing."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import rosenblatt
from rosenblatt import rooms
from rosenblatt.exceptions import MissingRoomError

PACKAGE = Path(rosenblatt.__file__).parent

ASKED_FOR = {
    "distributed": "rb.distributed.fit",
    "lab": "rb.lab(model, X, y)",
    "networks": "rb.MarkOne",
    "probes": "rb.Probes",
    "sequences": "rb.SequencePerceptron",
    "server": "rb.client.Client",
}
"""A name that each room has."""

NEEDED_BY = {
    "lab": ["lab --no-browser", "trace t.csv --html t.html"],
    "server": ["serve six.model", "token list", "token create one --scope predict"],
}
"""Commands that need a room."""

WITHOUT = """
import pkgutil, sys
from contextlib import redirect_stderr
from importlib import import_module
from importlib.util import find_spec
from io import StringIO
from pathlib import Path
import rosenblatt as rb
from rosenblatt.cli.main import main
from rosenblatt.exceptions import MissingRoomError

room, asked_for, *commands = sys.argv[1:]
assert not Path(rb.__file__).with_name(room).exists()
for module in pkgutil.walk_packages(rb.__path__, "rosenblatt."):
    needs_river = module.name == "rosenblatt.compat.river"  # which the tests' environment does not have
    if not module.name.endswith("__main__") and (not needs_river or find_spec("river")):
        import_module(module.name)

X, y = rb.datasets.load_six_points()
model = rb.Perceptron(order="cyclic", bias="radius").fit(X, y)
assert model.predict(X).tolist() == y.tolist()
rb.save(model, "six.model")
assert rb.load("six.model").coef_.tolist() == model.coef_.tolist()
assert rb.certify(*rb.datasets.load_xor()).verdict == "inseparable"
Path("t.csv").write_text("a,b,label\\n" + "".join(f"{k % 7},{k % 5},{k % 7 > 3}\\n" for k in range(40)))
assert main(["train", "t.csv", "-o", "t.model", "--quiet"]) == 0
assert main(["predict", "t.model", "t.csv", "--quiet"]) == 0
assert main(["--help"]) == 0
with redirect_stderr(StringIO()) as said:
    assert main(["train", "t.csv", "-o", "t.model", "--set", "foo=1"]) == 2, said.getvalue()

try:
    eval(asked_for)
except MissingRoomError as error:
    assert f"no room {room!r}" in str(error), error
else:
    raise AssertionError(f"{asked_for} is there")
for command in commands:
    with redirect_stderr(StringIO()) as said:
        assert main(command.split()) == 2, command
    assert f"no room {room!r}" in said.getvalue(), said.getvalue()
"""


@pytest.mark.slow  # loops are compiled anew in each copy
@pytest.mark.parametrize("room", sorted(rooms.OPTIONAL))
def test_the_rest_works_without_a_room(room, tmp_path):
    copy = tmp_path / "rosenblatt"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.rmtree(copy / room)
    environment = {**os.environ, "PYTHONPATH": str(tmp_path), "NUMBA_CACHE_DIR": str(tmp_path / "loops")}
    command = [sys.executable, "-c", WITHOUT, room, ASKED_FOR[room], *NEEDED_BY.get(room, [])]
    run = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr


def test_every_room_that_can_go_is_tried():
    assert ASKED_FOR.keys() == rooms.OPTIONAL.keys()
    assert all((PACKAGE / room / "__init__.py").exists() for room in rooms.OPTIONAL)


def test_a_missing_room_is_named(monkeypatch):
    monkeypatch.setitem(rooms.OPTIONAL, "attic", "what is kept")
    with pytest.raises(MissingRoomError, match="has no room 'attic', which is for what is kept"):
        rooms.find("attic.trunk")


def test_an_error_within_a_room_is_not_hidden():
    with pytest.raises(ModuleNotFoundError, match=r"networks\.nothing"):
        rooms.find("networks.nothing")
    with pytest.raises(ModuleNotFoundError, match="nowhere"):
        rooms.find("nowhere.at_all")
