"""Data named by its place."""

import numpy as np
import pytest

import rosenblatt as rb
from rosenblatt.exceptions import ParameterError
from rosenblatt.tables.file_source import Source
from rosenblatt.tasks.data import require_apart

TABLE = "size,colour,label\n1,red,x\n2,green,y\n,red,y\n4,green,x\n"


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(TABLE)
    return path


def test_files_and_built_in_sets_are_sources(table):
    assert isinstance(rb.open_data(table), Source)
    source = rb.open_data(str(table), target="label", missing="zero")
    assert [chunk.n_rows for chunk in source.chunks()] == [4]
    assert rb.open_data("@xor").files == ("@xor",)


def test_a_table_as_arrays(table):
    X, y, names = rb.read_table(table, ignore="colour", missing="mean")
    np.testing.assert_array_equal(X, [[1], [2], [7 / 3], [4]])
    assert y.tolist() == ["x", "y", "y", "x"]
    assert names == ("size",)
    X, _, names = rb.read_table(table, features=["colour"])
    np.testing.assert_array_equal(X.toarray(), [[1, 0], [0, 1], [1, 0], [0, 1]])
    assert names == ("colour=red", "colour=green")


def test_one_column_or_several(tmp_path):
    (tmp_path / "t.csv").write_text("a,b,label\nred wine,1,x\nwhite wine,2,y\n")
    one = rb.read_table(tmp_path / "t.csv", text="a", bits=6, ignore="b").X
    several = rb.read_table(tmp_path / "t.csv", text=["a"], bits=6, ignore=["b"]).X
    np.testing.assert_array_equal(one.toarray(), several.toarray())


def test_what_was_read_is_told(table):
    said = []
    rb.read_table(table, missing="zero", log=said.append)
    assert said == [f"{table}: CSV with a header; target 'label'; 1 number, 1 category column"]


@pytest.mark.parametrize(
    ("places", "options", "message"),
    [
        (["@iris"], {"target": "x"}, "@iris is a built-in set and has no option target"),
        (["@iris", "@xor"], {}, "@iris must be named alone"),
        (["@iris"], {"targt": "x"}, "'targt' is not an option of reading data"),
    ],
)
def test_what_cannot_be_read(places, options, message):
    with pytest.raises(ParameterError, match=message):
        rb.open_data(*places, **options)


def test_an_input_is_not_overwritten(table, tmp_path):
    require_apart(tmp_path / "other.csv", [table])
    with pytest.raises(ParameterError, match="would be overwritten"):
        require_apart(tmp_path / "." / "t.csv", [table])
