"""Proofs hold how their data was read."""

import json
import subprocess
import sys

import pytest

from rosenblatt.cli.main import main
from rosenblatt.exceptions import FormatError
from rosenblatt.tasks.data import held_reading, holding

TABLE = "y;a;id;b\np;1,5;x;3\nq;2;x;4\nq;9;y;4\np;2;z;1\n"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "c.csv").write_text(TABLE)
    return tmp_path


def test_a_proof_is_checked_without_the_options(folder, capsys):
    assert main(["certify", "c.csv", "--ignore", "id", "--target", "1", "--na", "?!", "-o", "p.json", "-q"]) == 0
    assert json.loads((folder / "p.json").read_text())["reading"] == {"target": 1, "ignore": ["id"], "na": ["?!"]}
    capsys.readouterr()
    assert main(["check", "p.json", "c.csv", "-q"]) == 0
    assert capsys.readouterr().out == (
        "the proof holds: A hyperplane has every row strictly on its side.\n"
        "read as the proof says, with --target 1 --ignore id --na '?!'\n"
    )
    assert main(["check", "p.json", "c.csv", "--ignore", "id", "--target", "y", "--na", "?!", "-q"]) == 0
    assert "as the proof says" not in capsys.readouterr().out
    assert main(["check", "p.json", "c.csv", "--ignore", "a", "-q"]) == 2  # id is then a column of categories


def test_a_proof_holds_how_numbers_are_written(folder, capsys):
    (folder / "t.tsv").write_text("price\tlabel\n7,700\tp\n950\tq\n8,100\tp\n800\tq\n")
    assert main(["certify", "t.tsv", "--thousands", ",", "-o", "p.json", "-q"]) == 0
    assert json.loads((folder / "p.json").read_text())["reading"] == {"thousands": ","}
    capsys.readouterr()
    assert main(["check", "p.json", "t.tsv", "-q"]) == 0
    assert capsys.readouterr().out.endswith("read as the proof says, with --thousands ,\n")
    # The checker that stands alone knows no separators, and says so.
    arguments = [sys.executable, "-m", "rosenblatt.certify.check", "p.json", "t.tsv"]
    found = subprocess.run(arguments, capture_output=True, text=True, check=False)
    assert found.returncode == 2
    assert "'7,700' is not a finite number" in found.stderr


def test_the_standard_library_reads_them_too(folder):
    (folder / "d.csv").write_text("y,a,b\np,1,3\nq,2,4\nq,9,4\np,2,1\n")
    assert main(["certify", "d.csv", "--target", "1", "-o", "p.json", "-q"]) == 0
    arguments = [sys.executable, "-m", "rosenblatt.certify.check", "p.json", "d.csv"]
    found = subprocess.run(arguments, capture_output=True, text=True, check=False)
    assert (found.returncode, found.stdout.splitlines()[0]) == (0, "Read as the proof says: target 1.")


def test_nothing_is_held_where_nothing_was_said():
    text = '{\n "version": 1,\n}'
    assert holding(text, {"target": None, "ignore": (), "header": None}) == text
    assert '"reading": {"header": false}' in holding(text, {"header": False})


@pytest.mark.parametrize(
    "reading",
    [
        {"chunk_bytes": 1},
        {"nonsense": 1},
        {"target": [1]},
        {"ignore": "id"},
        {"header": 1},
        {"bits": True},
        {"na": [1]},
    ],
)
def test_what_a_proof_may_not_say(reading):
    with pytest.raises(FormatError, match=f"its reading holds {next(iter(reading))!r}"):
        held_reading([{"reading": reading}], "p.json")


@pytest.mark.parametrize("reading", ["[]", '{"target": {}}', '{"delimiter": "ab"}'])
def test_a_reading_that_is_none_is_no_proof(folder, reading):
    assert main(["certify", "c.csv", "--target", "1", "-o", "p.json", "-q"]) == 0
    text = (folder / "p.json").read_text()
    (folder / "p.json").write_text(text.replace('{"target": 1}', reading))
    arguments = [sys.executable, "-m", "rosenblatt.certify.check", "p.json", "c.csv"]
    assert subprocess.run(arguments, capture_output=True, check=False).returncode == 2
    assert main(["check", "p.json", "c.csv"]) == 2


def test_a_wrong_order_is_told(folder, capsys):
    assert main(["certify", "c.csv", "--target", "1", "-o", "p.json", "-q"]) == 0
    assert main(["train", "c.csv", "--target", "1", "-o", "m", "-q"]) == 0
    capsys.readouterr()
    assert main(["check", "c.csv", "p.json"]) == 2
    assert capsys.readouterr().err == "rosenblatt: c.csv is not a proof; the order is PROOF DATA\n"
    for command in ("predict", "evaluate", "report"):
        assert main([command, "c.csv", "m"]) == 2
        assert capsys.readouterr().err == "rosenblatt: c.csv is not a model file; the order is MODEL DATA.\n"
