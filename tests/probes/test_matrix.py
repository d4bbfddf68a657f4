"""Rows are read where they lie: arrays, shards, files and tensors."""

import json

import numpy as np
import pytest

import rosenblatt as rb
from rosenblatt.exceptions import DataTypeError, FormatError, ParameterError, ShapeError
from rosenblatt.probes import matrix as module
from rosenblatt.probes.engine import widen
from rosenblatt.probes.matrix import as_matrix, blocks_of

RNG = np.random.default_rng(0)
X = RNG.standard_normal((60, 5)).astype(np.float32)
LABELS = np.where(X[:, 0] + X[:, 1] > 0, 1, -1)


def write_safetensors(path, **tensors):
    header, data = {}, b""
    for name, (kind, array) in tensors.items():
        begin, data = len(data), data + array.tobytes()
        header[name] = {"dtype": kind, "shape": list(array.shape), "data_offsets": [begin, len(data)]}
    text = json.dumps(header).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + data)


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16, np.uint8])
def test_arrays_are_not_copied(dtype):
    array = X.astype(dtype)
    matrix, _ = as_matrix(array)
    assert matrix.parts[0] is array
    assert matrix.kind == np.dtype(dtype).name
    assert not matrix.streamed


def test_other_numbers_become_float64():
    assert as_matrix(np.arange(6).reshape(2, 3))[0].kind == "float64"
    assert as_matrix([[1, 2], [3, 4]])[0].kind == "float64"
    assert as_matrix(X > 0)[0].kind == "uint8"
    matrix, names = as_matrix(
        pytest.importorskip("pandas", reason="pandas is not installed").DataFrame(
            {"a": [1.0, 2.0], "b": [3.0, 4.0]}
        )
    )
    assert (matrix.parts[0].tolist(), names) == ([[1.0, 3.0], [2.0, 4.0]], ("a", "b"))
    assert as_matrix(np.asfortranarray(X))[0].parts[0].flags.c_contiguous
    assert as_matrix(X.astype(">f4"))[0].parts[0].tolist() == X.tolist()


def test_files_give_the_probes_of_their_rows(tmp_path):
    np.save(tmp_path / "x.npy", X)
    write_safetensors(tmp_path / "x.safetensors", layer=("F32", X))
    pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    import pyarrow.parquet as pq

    column = pa.FixedSizeListArray.from_arrays(pa.array(X.ravel()), 5)
    pq.write_table(pa.table({"text": ["w"] * 60, "embedding": column}), tmp_path / "x.parquet")
    pq.write_table(pa.table({f"c{j}": X[:, j] for j in range(5)}), tmp_path / "columns.parquet")
    expected = rb.Probes(shuffle=False).fit(X, LABELS)
    for name in ("x.npy", "x.safetensors", "x.parquet", "columns.parquet"):
        found = rb.Probes(shuffle=False).fit(tmp_path / name, LABELS)
        assert found.coef_.tobytes() == expected.coef_.tobytes(), name
        assert str(found.table()) == str(expected.table())


def test_halves_are_widened_exactly(tmp_path):
    short = (X.view(np.uint32) >> 16).astype(np.uint16)
    wide = (short.astype(np.uint32) << 16).view(np.float32)
    write_safetensors(tmp_path / "x.safetensors", a=("BF16", short))
    expected = rb.Probes(shuffle=False).fit(wide, LABELS)
    found = rb.Probes(shuffle=False).fit(tmp_path / "x.safetensors", LABELS)
    assert found.coef_.tobytes() == expected.coef_.tobytes()
    assert found.predict(tmp_path / "x.safetensors").tolist() == expected.predict(wide).tolist()
    half = rb.Probes().fit(X.astype(np.float16), LABELS)
    assert half.coef_.tobytes() == rb.Probes().fit(X.astype(np.float16).astype(float), LABELS).coef_.tobytes()


def test_shards_are_one_matrix(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "BLOCK_BYTES", 5 * 4 * 25)
    np.save(tmp_path / "a.npy", X[:33])
    matrix, _ = as_matrix([tmp_path / "a.npy", X[33:]])
    assert matrix.streamed
    assert blocks_of(matrix).tolist() == [0, 25, 33, 58, 60]
    order = [33, 59, 0, 32]
    assert matrix.gather(np.array(order, np.uint64)).tolist() == X[order].tolist()
    found = rb.Probes().fit([tmp_path / "a.npy", X[33:]], LABELS)
    again = rb.Probes().fit([X[:33], X[33:]], LABELS)
    assert found.coef_.tobytes() == again.coef_.tobytes()


@pytest.mark.parametrize(
    ("rows", "error", "told"),
    [
        ([X, X.astype(float)], DataTypeError, "float32 and float64"),
        ([X, X[:, :2]], ShapeError, "2 and 5 columns"),
        (X[0], ShapeError, "."),
        (X[:0], ShapeError, "at least one"),
        ("x.txt", FormatError, r"save them as \.npy"),
    ],
)
def test_what_is_no_matrix(rows, error, told):
    with pytest.raises(error, match=told):
        rb.Probes().fit(rows, LABELS)


def test_damaged_files_are_refused(tmp_path):
    write_safetensors(tmp_path / "a.safetensors", x=("F32", X))
    whole = (tmp_path / "a.safetensors").read_bytes()
    for damaged, told in (
        (whole[:-4], "cut off"),
        (whole[:5], "no safetensors file"),
        (b"\xff" * 8 + whole[8:], "no safetensors file"),
        (whole.replace(b"F32", b"C64"), "holds C64"),
    ):
        (tmp_path / "a.safetensors").write_bytes(damaged)
        with pytest.raises(FormatError, match=told):
            as_matrix(tmp_path / "a.safetensors")
    (tmp_path / "a.npy").write_bytes(b"no")
    with pytest.raises(FormatError, match="is no array"):
        as_matrix(tmp_path / "a.npy")


def test_sparse_rows_are_refused():
    with pytest.raises(DataTypeError, match="sparse"):
        as_matrix(pytest.importorskip("scipy.sparse", reason="SciPy is not installed").csr_array(X))


class OnGpu:
    """What says that it lies on a GPU."""

    shape, dtype = (3, 2), np.dtype(np.float32)
    __cuda_array_interface__ = {}  # noqa: RUF012


def test_tensors_of_a_gpu_stay_there():
    matrix, _ = as_matrix(OnGpu())
    assert (matrix.on_device, matrix.kind) == (True, "float32")
    with pytest.raises(ParameterError, match="one place"):
        as_matrix([OnGpu(), X[:, :2]])
    with pytest.raises(rb.exceptions.DeviceError, match="device='cuda'"):
        rb.Probes(folds=None).fit(OnGpu(), [0, 1, 1])


class Tensor:
    """What torch has on a GPU: with a gradient, it raises where it is asked for its address."""

    shape, is_cuda = (3, 2), True

    def __init__(self, dtype="torch.float32", gradient=True):
        self.dtype, self.gradient = dtype, gradient

    @property
    def __cuda_array_interface__(self):
        """Where it lies."""
        if self.gradient:
            raise RuntimeError("Can't get __cuda_array_interface__ on Variable that requires grad.")
        if self.dtype == "torch.bfloat16":
            raise KeyError(self.dtype)
        return {}

    def detach(self):
        """Return it without a gradient."""
        return Tensor(self.dtype, gradient=False)


Tensor.__module__ = "torch"


class Parameter(Tensor):
    """A class of the user's own."""


@pytest.mark.parametrize("kind", ["float32", "bfloat16"])
@pytest.mark.parametrize("made", [Tensor, Parameter])
def test_a_gradient_is_left_behind(made, kind):
    matrix, _ = as_matrix(made(f"torch.{kind}"))
    assert (matrix.on_device, matrix.kind, matrix.parts[0].gradient) == (True, kind, False)


@pytest.mark.parametrize("kind", ["float64", "float32", "float16", "bfloat16", "uint8"])
@pytest.mark.parametrize("gradient", [False, True])
def test_tensors_of_torch_are_read_where_they_lie(kind, gradient):
    torch = pytest.importorskip("torch", reason="torch is not installed")
    if gradient and kind == "uint8":
        pytest.skip("whole numbers have no gradient")
    tensor = torch.asarray(np.abs(X) * 20).to(getattr(torch, kind)).requires_grad_(gradient)
    for each in (tensor, torch.nn.Parameter(tensor, requires_grad=gradient)):
        matrix, _ = as_matrix(each)
        assert (matrix.kind, matrix.on_device, matrix.streamed) == (kind, False, False)
        assert matrix.parts[0].ctypes.data == tensor.data_ptr()
        wide = widen(matrix.parts[0], matrix.kind).astype(float)
        assert wide.tolist() == tensor.detach().to(torch.float64).tolist()
