"""Zip archives of one table."""

import io
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

from rosenblatt.exceptions import FormatError, ParameterError
from tests.tables.files import read

TABLE = "a,kind,y\n1,p,0\n2,q,1\n"


def archive(path, compression=zipfile.ZIP_DEFLATED, **members):
    with zipfile.ZipFile(path, "w", compression) as file:
        for name, content in members.items():
            file.writestr(name.replace("__", "/").replace("_", "."), content)
    return str(path)


@pytest.mark.parametrize("compression", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_one_table(tmp_path, compression):
    path = archive(tmp_path / "t.zip", compression, t_csv=TABLE, data__="", data___hidden="junk")
    X, y, source = read(path)
    assert X.tolist() == [[1, 1, 0], [2, 0, 1]]
    assert y.tolist() == [0, 1]
    assert source.formats == ("csv",)
    assert read(archive(tmp_path / "s.zip", t_svm="1 1:2\n-1 2:3\n"))[2].formats == ("svmlight",)


def without_name(content):
    """Make the name abcd of every member an extra field: zipfile raises an IndexError for names that are empty."""
    parts = bytearray(content.replace(b"abcd", b"ab\x00\x00"))
    for mark, at in ((b"PK\x03\x04", 26), (b"PK\x01\x02", 28)):
        begin = parts.index(mark) + at
        parts[begin : begin + 4] = b"\x00\x00\x04\x00"
    return bytes(parts)


@pytest.mark.parametrize(("name", "problem"), [("t.zip", "no valid zip archive"), ("t.npz", "there is no array")])
def test_a_member_without_a_name(tmp_path, name, problem):
    path = tmp_path / name
    archive(path, abcd=TABLE)
    path.write_bytes(without_name(path.read_bytes()))
    with pytest.raises(FormatError, match=problem):
        read(str(path))


def test_several_tables_are_listed(tmp_path):
    with pytest.raises(FormatError, match=r"holds 2 files, but one table is expected: a\.csv, b\.csv"):
        read(archive(tmp_path / "t.zip", a_csv=TABLE, b_csv=TABLE))
    with pytest.raises(FormatError, match="holds no file"):
        read(archive(tmp_path / "e.zip"))


def test_npz_stays_npz(tmp_path):
    np.savez(tmp_path / "t.npz", X=np.eye(2), y=[0, 1])
    assert read(str(tmp_path / "t.npz"))[2].formats == ("npz",)
    (tmp_path / "t.zip").write_bytes((tmp_path / "t.npz").read_bytes())
    assert read(str(tmp_path / "t.zip"))[2].formats == ("npz",)
    with pytest.raises(ParameterError, match="is npz, which is no text"):
        read(str(tmp_path / "t.npz"), encoding="latin-1")


def test_damage(tmp_path):
    path = tmp_path / "t.zip"
    archive(path, zipfile.ZIP_STORED, t_csv=TABLE)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(FormatError, match="no valid zip archive"):
        read(str(path))
    path.write_bytes(whole.replace(b"1,p,0", b"1,p,7"))
    with pytest.raises(FormatError, match=r"cannot be read to its end.*CRC"):
        read(str(path))
    encrypted = bytearray(whole)
    encrypted[6] |= 1  # the flag of the file, and that of the directory
    encrypted[whole.index(b"PK\x01\x02") + 8] |= 1
    path.write_bytes(bytes(encrypted))
    with pytest.raises(FormatError, match="encrypted"):
        read(str(path))


def test_an_archive_cannot_be_piped(tmp_path, monkeypatch):
    class Stdin:
        buffer = io.BytesIO(Path(archive(tmp_path / "t.zip", t_csv=TABLE)).read_bytes())

    monkeypatch.setattr(sys, "stdin", Stdin)
    with pytest.raises(FormatError, match="cannot be read from standard input"):
        read("-")
