"""Telling formats apart."""

import gzip
import re
from pathlib import Path

import numpy as np
import pytest

from rosenblatt.exceptions import FormatError
from rosenblatt.tables.data_file import DataFile
from rosenblatt.tables.file_source import open_source
from rosenblatt.tables.reading import CORPUS_FORMATS, FORMATS, recognise
from tests.tables.files import NAMED, write

CONTENTS = {
    "csv": b"a,b\n1,2\n",
    "tsv": b"ham\tGo, go\nspam\tFree\n",
    "jsonl": b'\n {"a": 1}\n',
    "svmlight": b"# a comment\n+1 qid:3 1:0.5 7:1e-3 # more\n",
}


@pytest.mark.parametrize("format_", CONTENTS)
@pytest.mark.parametrize("compress", [bytes, gzip.compress])
def test_by_content(tmp_path, format_, compress):
    path = tmp_path / "anything"
    path.write_bytes(compress(CONTENTS[format_]))
    assert recognise(DataFile(str(path)), None).name == format_
    assert recognise(DataFile(str(path)), "tsv").name == "tsv"


@pytest.mark.parametrize("ending", NAMED)
def test_by_name(tmp_path, ending):
    path = tmp_path / f"some.{ending}"
    path.write_bytes(b"1 1:2\n")  # which looks like svmlight
    if NAMED[ending] in ("parquet", "npy", "npz") and ending.endswith("gz"):
        with pytest.raises(FormatError, match="compressed"):
            recognise(DataFile(str(path)), None)
    else:
        assert recognise(DataFile(str(path)), None).name == NAMED[ending]


@pytest.mark.parametrize("ending, format_", [("parquet", "parquet"), ("arrow", "arrow"), ("arrows", "arrow")])
def test_by_what_binary_files_begin_with(tmp_path, ending, format_):
    path = tmp_path / "misnamed.csv"
    path.write_bytes(open_bytes(write(tmp_path, {"a": [1.0]}, ending)))
    assert recognise(DataFile(str(path)), None).name == format_


def test_arrays_by_what_they_begin_with(tmp_path):
    np.save(tmp_path / "a.npy", np.eye(2))
    np.savez(tmp_path / "b.npz", X=np.eye(2))
    for name in ("a.npy", "b.npz"):
        (tmp_path / "misnamed").write_bytes((tmp_path / name).read_bytes())
        assert recognise(DataFile(str(tmp_path / "misnamed")), None).name == name[-3:]
        (tmp_path / "packed").write_bytes(gzip.compress((tmp_path / name).read_bytes()))
        with pytest.raises(FormatError, match="cannot be read from a compressed file"):
            recognise(DataFile(str(tmp_path / "packed")), None)


def open_bytes(path):
    with open(path, "rb") as file:
        return file.read()


def test_files_that_may_not_be_read(tmp_path, monkeypatch):
    path = tmp_path / "a.csv"
    path.write_text("a,b\n1,2\n")

    def refuse(*_, **__):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("builtins.open", refuse)
    with pytest.raises(ValueError, match=r"a\.csv cannot be read: Permission denied"):
        DataFile(str(path)).open()


@pytest.mark.parametrize("name", ["t.json", "t", "t.jsonl"])
def test_an_array_of_json_objects_is_json(tmp_path, name):
    (tmp_path / name).write_text('[\n {"a": 1, "label": 0},\n {"a": 2, "label": 1}\n]\n')
    source = open_source([str(tmp_path / name)])
    assert (source.formats, source.names) == (("json",), ("a",))


def test_the_page_describes_every_format_with_its_endings():
    page = Path(__file__).parents[2] / "docs" / "look_up" / "data_files.md"
    if not page.exists():
        pytest.skip("the pages are in the repository only, not in the source distribution")
    rows = {line.split("`")[1]: line for line in page.read_text("utf-8").splitlines() if re.match(r"\| `\w", line)}
    endings = {name: each.endings for name, each in FORMATS.items()} | CORPUS_FORMATS
    assert endings.keys() == rows.keys()
    for name, each in endings.items():
        assert all(f"`.{ending}`" in rows[name] for ending in each), name
