"""Arrays in files: mapped, compressed, sparse; and headers that lie."""

import io
import tracemalloc
import zipfile

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import rosenblatt as rb
from rosenblatt.exceptions import FormatError, InputError, ParameterError
from rosenblatt.tables.file_source import open_source
from rosenblatt.tables.numpy_files import open_npy
from rosenblatt.tables.reading import Options
from tests.tables.files import read

X = np.arange(40, dtype=np.float64).reshape(10, 4) / 4
Y = np.array(["p", "q"] * 5)


@pytest.fixture(params=[np.savez, np.savez_compressed], ids=["stored", "compressed"])
def save(request, tmp_path):
    def saved(**arrays):
        request.param(tmp_path / "a.npz", **arrays)
        return str(tmp_path / "a.npz")

    return saved


@pytest.mark.parametrize("names", [("X", "y"), ("data", "target"), ("features", "labels")])
@pytest.mark.parametrize("chunk_bytes", [1, 70, 1 << 20])
def test_rows_and_labels(save, names, chunk_bytes):
    path = save(**dict(zip(names, (X, Y), strict=True)))
    found, labels, source = read(path, chunk_bytes=chunk_bytes)
    np.testing.assert_array_equal(found, X)
    assert labels.tolist() == Y.tolist()
    assert source.names == ("x1", "x2", "x3", "x4")
    known = source.known()
    assert (known.n_rows, known.n_features, known.classes.tolist()) == (10, 4, ["p", "q"])


def test_an_array_whose_last_column_is_the_target(tmp_path):
    np.save(tmp_path / "a.npy", X)
    found, labels, source = read(str(tmp_path / "a.npy"))
    np.testing.assert_array_equal(found, X[:, :3])
    np.testing.assert_array_equal(labels, X[:, 3])
    assert source.known().classes.tolist() == X[:, 3].tolist()
    np.save(tmp_path / "b.npy", X[:, :3])
    again, labels, _ = read(str(tmp_path / "b.npy"), source.recipe, labelled=False)
    np.testing.assert_array_equal(again, X[:, :3])
    assert labels is None
    found, labels, source = read(str(tmp_path / "a.npy"), target=1, ignore=(3,))
    np.testing.assert_array_equal(found, X[:, [1, 3]])
    assert source.names == ("x2", "x4")


@pytest.mark.parametrize("dtype", ["f4", "f2", ">f8", "i4", "u1", "?", ">i2"])
@pytest.mark.parametrize("order", "CF")
def test_every_type_and_order(tmp_path, dtype, order):
    array = np.array(X * 4 % 2, dtype=dtype, order=order)
    np.savez(tmp_path / "a.npz", X=array, y=np.arange(10) % 2 == 0)
    found, labels, _ = read(str(tmp_path / "a.npz"), chunk_bytes=30)
    np.testing.assert_array_equal(found, array.astype(float))
    assert found.dtype == (np.float32 if dtype in ("f4", "f2") else np.float64)
    assert labels.dtype == bool


def test_fortran_order_cannot_be_streamed(tmp_path):
    np.savez_compressed(tmp_path / "a.npz", X=np.asfortranarray(X), y=Y)
    with pytest.raises(FormatError, match=r"Fortran order.*save it uncompressed"):
        read(str(tmp_path / "a.npz"))


def test_missing_and_infinite(save):
    holes = X.copy()
    holes[3, 2] = np.nan
    path = save(X=holes, y=Y)
    with pytest.raises(FormatError, match="'x3' is missing") as caught:
        read(path)
    assert (caught.value.line, caught.value.column) == (4, 3)
    np.testing.assert_array_equal(read(path, missing="zero")[0], np.nan_to_num(holes))
    np.testing.assert_array_equal(read(path, missing="mean")[0], holes)
    found, labels, source = read(path, skip_bad=True)
    np.testing.assert_array_equal(found, np.delete(X, 3, axis=0))
    assert (len(labels), source.skipped.count) == (9, 1)


def test_integers_beyond_2_53(save):
    with pytest.raises(FormatError, match="'x2' is 9007199254740993, an integer beyond") as caught:
        read(save(X=np.array([[1, 2], [3, 2**53 + 1]]), y=[0, 1]))
    assert (caught.value.line, caught.value.column) == (2, 2)


@pytest.mark.parametrize(
    "arrays, problem",
    [
        ({"X": X}, "no labels: the file has no array called y"),
        ({"A": X, "y": Y}, "no array called X or data or features; the file holds A, y"),
        ({"A\nB": X, "y": Y}, r"the file holds A\\nB, y"),
        ({"X": X, "y": Y[:9]}, r"10 rows, but the labels have the shape \(9,\)"),
        ({"X": X[0], "y": Y}, "1 dimensions"),
        ({"X": X[:0], "y": Y[:0]}, "empty"),
        ({"X": X.astype(complex), "y": Y}, "c16"),
        ({"X": np.array([[None, 1]]), "y": Y[:1]}, "neither strings nor real numbers|Python objects"),
        ({"X": X, "y": np.array([b"p"] * 10)}, "bytes"),
        ({"X": np.zeros(2, [("a", "f8")]), "y": Y[:2]}, "records"),
    ],
)
def test_what_cannot_be_used(save, arrays, problem):
    with pytest.raises(FormatError, match=problem):
        read(save(**arrays))


def test_nothing_is_unpickled(tmp_path):
    class Trap:
        def __reduce__(self):
            return pytest.fail, ("unpickled",)

    np.save(tmp_path / "a.npy", np.array([[Trap(), 1]]), allow_pickle=True)
    with pytest.raises(FormatError, match="neither strings nor real numbers"):
        read(str(tmp_path / "a.npy"))


@pytest.mark.parametrize(
    "shape", ["(1000000000000, 4)", "(10, 400000)", "(9, 4)", "(10, 4, 1000)", "(" + "9" * 50 + ", 4)"]
)
@pytest.mark.parametrize("inside", [False, True])
def test_a_header_that_lies_allocates_nothing(tmp_path, shape, inside):
    buffer = io.BytesIO()
    np.save(buffer, X)
    begin, values = buffer.getvalue()[:10], buffer.getvalue()[128:]
    header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}".ljust(117) + "\n"
    lie = begin + header.encode() + values
    path = tmp_path / ("a.npz" if inside else "a.npy")
    if inside:
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("X.npy", lie)
    else:
        path.write_bytes(lie)
    with pytest.raises(FormatError, match=r"announces .* bytes of values"):
        read(str(path), labelled=False)


def test_a_mapped_array_is_not_copied(tmp_path):
    np.save(tmp_path / "a.npy", X)
    array = open_npy(str(tmp_path / "a.npy"), "a")
    assert not array.part(2, 5).flags.owndata
    np.testing.assert_array_equal(array.part(2, 5), X[2:5])


def sparse(matrix, y, path, write=np.savez, changes=None):
    arrays = {"data": matrix.data, "indices": matrix.indices, "indptr": matrix.indptr, "shape": matrix.shape}
    write(path, **{**arrays, "format": "csr", "y": y, **(changes or {})})
    return str(path)


@settings(max_examples=25)
@given(
    table=hnp.arrays(np.float64, st.tuples(st.integers(1, 6), st.integers(1, 5)), elements=st.integers(-2, 2)),
    chunk_bytes=st.sampled_from([1, 40, 1 << 20]),
    compressed=st.booleans(),
)
def test_sparse_rows(tmp_path, table, chunk_bytes, compressed):
    write = np.savez_compressed if compressed else np.savez
    path = sparse(sp.csr_array(table), np.arange(len(table)) % 3, tmp_path / "s.npz", write)
    found, labels, source = read(path, chunk_bytes=chunk_bytes)
    np.testing.assert_array_equal(found, table)
    assert labels.tolist() == (np.arange(len(table)) % 3).tolist()
    assert (source.recipe.width, source.recipe.zero_based, source.names) == (table.shape[1], None, None)
    known = open_source([path]).known()
    assert (known.n_rows, known.n_features) == table.shape


def test_sparse_rows_to_be_predicted(tmp_path):
    path = sparse(sp.csr_array(np.eye(4)), [0, 1, 0, 1], tmp_path / "s.npz")
    _, _, source = read(path)
    wide = sparse(sp.csr_array(np.ones((2, 6))), [0, 1], tmp_path / "wide.npz")
    found, _, again = read(wide, source.recipe)
    assert found.tolist() == [[1] * 4] * 2
    assert again.unmet == 4
    text = tmp_path / "a.svm"
    text.write_text("1 0:1 3:2\n")
    with pytest.raises(ParameterError, match="zero_based=True or zero_based=False"):
        read(str(text), source.recipe)
    assert read(str(text), source.recipe, zero_based=True)[0].tolist() == [[1, 0, 0, 2]]


def test_unsorted_columns_are_sorted(tmp_path):
    matrix = sp.csr_array((np.array([2.0, 1.0]), np.array([3, 0]), np.array([0, 2])), shape=(1, 4))
    assert read(sparse(matrix, [1], tmp_path / "s.npz"))[0].tolist() == [[1, 0, 0, 2]]


@pytest.mark.parametrize(
    "changes, problem",
    [
        ({"format": "csc"}, "tocsr"),
        ({"indptr": [0, 1, 2, 1, 4]}, "indptr falls"),
        ({"indptr": [1, 1, 2, 3, 4]}, "indptr starts at 1"),
        ({"indptr": [0, 1, 2, 3, 9]}, "beyond what is stored"),
        ({"indices": [0, 1, 2, 4]}, "outside 0 … 3"),
        ({"indices": [0, 1, 2, -1]}, "outside 0 … 3"),
        ({"shape": [4]}, "shape of two numbers"),
        ({"shape": [5, 4]}, "do not fit"),
        ({"shape": [4, 10**12]}, "has the shape"),
        ({"y": [1, 2]}, "4 rows, but labels of the shape"),
        ({"data": [1.0, np.nan, 2.0, 3.0]}, ":2:2: nan is not finite"),
        ({"indices": [0, 0, 2, 3], "indptr": [0, 2, 2, 3, 4]}, "stored twice"),
    ],
)
def test_sparse_rows_that_are_unsound(tmp_path, changes, problem):
    path = sparse(sp.csr_array(np.eye(4)), [0, 1, 0, 1], tmp_path / "s.npz", changes=changes)
    with pytest.raises(FormatError, match=problem):
        read(path)


def test_a_format_of_billions_of_characters_is_not_read(tmp_path):
    path = sparse(sp.csr_array(np.eye(4)), [0, 1, 0, 1], tmp_path / "s.npz")
    n_bytes = 1 << 31
    header = b"\x93NUMPY\x01\x00v\x00{'descr': '|S1', 'fortran_order': False, 'shape': (%d,), }" % n_bytes
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist() if name != "format.npy"}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
        archive.writestr("format.npy", header.ljust(127) + b"\n")
        info = archive.getinfo("format.npy")
        info.file_size = 128 + n_bytes  # as a bomb claims; nothing of it may be read
    with pytest.raises(FormatError, match="tocsr"):
        read(path)


def test_sparse_rows_that_are_skipped(tmp_path):
    path = sparse(
        sp.csr_array(np.eye(4)), [0.0, np.nan, 0, 1], tmp_path / "s.npz", changes={"data": [1.0, 1.0, np.inf, 1.0]}
    )
    found, labels, source = read(path, skip_bad=True)
    assert found.tolist() == [[1, 0, 0, 0], [0, 0, 0, 1]]
    assert labels.tolist() == [0, 1]
    assert source.skipped.count == 2


def test_tables_and_sparse_rows_do_not_mix(tmp_path):
    path = sparse(sp.csr_array(np.eye(4)), [0, 1, 0, 1], tmp_path / "s.npz")
    np.save(tmp_path / "a.npy", X)
    with pytest.raises(InputError, match="cannot be read as one"):
        read([path, str(tmp_path / "a.npy")])
    recipe = open_source([str(tmp_path / "a.npy")]).recipe
    with pytest.raises(InputError, match="holds sparse rows, but the model was trained on a table"):
        open_source([path], Options(), recipe)
    with pytest.raises(ParameterError, match="text chooses columns"):
        read(path, text=(1,))


def test_a_damaged_archive_is_refused_in_a_line(tmp_path):
    path = tmp_path / "t.npz"
    np.savez_compressed(path, X=np.arange(400.0).reshape(100, 4), y=np.arange(100) % 2)
    content = bytearray(path.read_bytes())
    content[26:28] = (300).to_bytes(2, "little")  # the length of the first member's name
    path.write_bytes(content)
    with pytest.raises(FormatError, match="the archive is damaged") as caught:
        list(open_source([str(path)]).chunks())
    assert len(str(caught.value)) < 500


def test_labels_beside_a_table_are_no_feature(tmp_path):
    path = tmp_path / "t.npz"
    np.savez(path, X=np.arange(8.0).reshape(4, 2), y=np.arange(4) % 2)
    with pytest.raises(FormatError, match=r"leave them out with ignore=\['y'\]"):
        list(open_source([str(path)], Options(target=1)).chunks())
    [chunk] = open_source([str(path)], Options(target=1, ignore=("y",))).chunks()
    assert chunk.rows.tolist() == [[1.0], [3.0], [5.0], [7.0]]


@pytest.mark.parametrize("dtype", ["S1", "U7500000"])
def test_a_long_format_of_a_sparse_matrix_is_not_read(tmp_path, dtype):
    path = tmp_path / "t.npz"
    long = np.zeros(30_000_000, "S1") if dtype == "S1" else np.zeros((), dtype)
    np.savez_compressed(path, data=[1.0], indices=[0], indptr=[0, 1], shape=[1, 1], format=long, y=[1])
    tracemalloc.start()
    with pytest.raises(FormatError, match=r"is not of compressed sparse rows|header that can be read"):
        list(open_source([str(path)]).chunks())
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 5_000_000


@pytest.mark.parametrize("write", [np.savez, np.savez_compressed])
def test_one_column_of_words_is_text_however_the_file_is_written(write, tmp_path):
    words = np.array(
        [[f"the sentence {i} is {'short' if i % 2 else 'long and wide'} of words"] for i in range(40)]
    )
    write(tmp_path / "t.npz", X=words, y=np.array(["p", "q"] * 20))
    trained = rb.train(tmp_path / "t.npz")
    assert trained.summary.n_rows == 40
    assert trained.model.named_steps["encoder"].text == [0]
