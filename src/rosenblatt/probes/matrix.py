"""The rows of probes: arrays, memory maps, shards, files and tensors, read where they lie."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.exceptions import DataTypeError, FormatError, Given, ParameterError, ShapeError
from rosenblatt.probes.engine import KINDS, Matrix
from rosenblatt.rows.features import as_rows, is_sparse

SAFETENSORS_KINDS = {"F64": "float64", "F32": "float32", "F16": "float16", "BF16": "bfloat16", "U8": "uint8"}
ADVICE = "Pass an array of float64, float32, float16, bfloat16 or uint8."
BLOCK_BYTES = 1 << 26  # rows of a memory map that are visited before those of another block


def as_matrix(X: Any) -> tuple[Matrix, tuple[str, ...] | None]:
    """Return the rows of X as engines read them, and the names of the features, if there are any.

    Arrays of float64, float32, float16, bfloat16 (of ml_dtypes, or a tensor of torch) and uint8 are not copied.
    Other numbers become float64, and must be exact there.

    Examples
    --------
    >>> matrix, _ = as_matrix([np.zeros((2, 3), np.float16), np.ones((1, 3), np.float16)])
    >>> matrix.n_rows, matrix.kind, matrix.streamed
    (3, 'float16', True)
    """
    if isinstance(X, Matrix):
        return X, None
    shards = X if isinstance(X, list | tuple) and len(X) and all(map(_is_shard, X)) else [X]
    flat: list[Part] = []
    names = None
    for each in shards:
        if isinstance(each, str | os.PathLike):
            flat += _open(each)
        else:
            part, names = _part(each)
            flat.append(part)
    kinds = {kind for _, kind, _ in flat}
    if len(kinds) > 1:
        raise DataTypeError(f"The shards of X hold {' and '.join(sorted(kinds))}. Convert them to one type.")
    shapes = {part.shape[1] for part, _, _ in flat}
    if len(shapes) > 1:
        raise ShapeError(f"The shards of X have {' and '.join(map(str, sorted(shapes)))} columns.")
    on_device = any(device for _, _, device in flat)
    if on_device and not all(device for _, _, device in flat):
        raise ParameterError(Given("X") + " has shards on a GPU and others on the host. Put them in one place.")
    arrays = tuple(part for part, _, _ in flat)
    streamed = not on_device and (len(arrays) > 1 or isinstance(_owner(arrays[0]), np.memmap))
    return Matrix(arrays, kinds.pop(), on_device, streamed), names


Part = tuple[Any, str, bool]
"""An array, the kind of its values, and whether it lies on a GPU."""


def blocks_of(matrix: Matrix) -> NDArray[np.int64]:
    """Return the first rows of the blocks in which streamed rows are visited, and behind them their number.

    The blocks depend on the shards, the type and the width alone, so that the same files give the same run.
    """
    rows = max(1, BLOCK_BYTES // (matrix.n_features * np.dtype(KINDS[matrix.kind]).itemsize))
    starts = matrix.starts.tolist()
    firsts = [first for a, b in pairwise(starts) for first in range(a, b, rows)]
    return np.array([*firsts, matrix.n_rows], np.int64)


def _is_shard(each: Any) -> bool:
    return isinstance(each, str | os.PathLike) or len(getattr(each, "shape", ())) == 2


def _owner(array: Any) -> Any:
    while isinstance(array, np.ndarray) and not isinstance(array, np.memmap) and array.base is not None:
        array = array.base
    return array


def _part(X: Any) -> tuple[Part, tuple[str, ...] | None]:
    if is_sparse(X):
        raise DataTypeError("X is sparse, but probes read dense rows. Use MultilabelPerceptron, or X.toarray().")
    torch = _is_of_torch(X)
    if torch:
        X = X.detach()  # with a gradient it says nothing of where it lies
    if X.is_cuda if torch else hasattr(X, "__cuda_array_interface__") or _is_on_gpu(X):
        name = str(X.dtype).rpartition(".")[2]
        if name not in KINDS:
            raise DataTypeError(f"X lies on a GPU and holds {name}. {ADVICE}")
        _require_table(X.shape)
        return (X, name, True), None
    if torch:
        half = str(X.dtype) == "torch.bfloat16"
        array = (X.view(sys.modules["torch"].int16) if half else X).numpy()
        return _array(array.view(np.uint16) if half else array, "bfloat16" if half else ""), None
    if type(X).__module__.partition(".")[0] in ("jax", "jaxlib"):
        return _array(np.asarray(X), ""), None
    if isinstance(X, np.ndarray):
        return _array(X, ""), None
    features = as_rows(X)
    rows: Any = features.rows
    return (rows, str(rows.dtype), False), features.names


def _is_of_torch(X: Any) -> bool:
    return any(kind.__module__.partition(".")[0] == "torch" for kind in type(X).__mro__)


def _is_on_gpu(X: Any) -> bool:
    cpu = 1  # of DLPack
    return hasattr(X, "__dlpack_device__") and not isinstance(X, np.ndarray) and X.__dlpack_device__()[0] != cpu


def _array(array: NDArray[Any], kind: str) -> Part:
    name = kind or array.dtype.name
    if name == "bfloat16" and not kind:  # of ml_dtypes
        array = array.view(np.uint16)
    if name == "bool":
        array, name = array.view(np.uint8), "uint8"
    if name not in KINDS:
        rows: Any = as_rows(array).rows
        return rows, str(rows.dtype), False
    _require_table(array.shape)
    if not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    return (array if array.flags.c_contiguous else np.ascontiguousarray(array)), name, False


def _require_table(shape: Sequence[int]) -> None:
    if len(shape) != 2 or 0 in shape:
        raise ShapeError(f"X has the shape {tuple(shape)}; it must have rows and columns, at least one of each.")


# Files


def _open(path: str | os.PathLike[str]) -> list[Part]:
    """Return the arrays of a file; NPY and safetensors are mapped, and read when they are visited."""
    readers: dict[str, Callable[[Path], list[Part]]] = {
        ".npy": _open_npy,
        ".safetensors": _open_safetensors,
        ".parquet": _open_parquet,
    }
    name = Path(path)
    if name.suffix.lower() not in readers:
        raise FormatError(
            "holds no embeddings that are known by this name",
            ("save them as .npy, .safetensors or .parquet",),
            file=os.fspath(path),
        )
    return readers[name.suffix.lower()](name)


def _open_npy(path: Path) -> list[Part]:
    try:
        array = np.load(path, mmap_mode="r", allow_pickle=False)
    except ValueError as error:
        raise FormatError(f"is no array: {error}", ("save it again by numpy.save",), file=str(path)) from None
    if array.dtype.kind == "V" and array.dtype.itemsize == 2:  # what numpy.save makes of ml_dtypes.bfloat16
        return [_array(array.view(np.uint16), "bfloat16")]
    return [_array(array, "")]


def _open_safetensors(path: Path) -> list[Part]:
    with path.open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
        size = path.stat().st_size
        if not 2 <= length <= size - 8:
            raise FormatError("is no safetensors file", ("write it again",), file=str(path))
        try:
            header = json.loads(file.read(length))
        except ValueError as error:
            raise FormatError(f"is no safetensors file: {error}", ("write it again",), file=str(path)) from None
    header.pop("__metadata__", None)
    tables = {name: each for name, each in header.items() if len(each["shape"]) == 2}
    if not tables:
        raise FormatError("holds no matrix", ("store one tensor of two dimensions",), file=str(path))
    found = []
    for name, each in tables.items():
        kind = SAFETENSORS_KINDS.get(each["dtype"])
        if kind is None:
            raise FormatError(
                f"{name!r} holds {each['dtype']}", ("store float32, float16 or bfloat16",), file=str(path)
            )
        begin, end = each["data_offsets"]
        dtype, shape = np.dtype(KINDS[kind]), tuple(each["shape"])
        _require_table(shape)
        if end - begin != dtype.itemsize * shape[0] * shape[1] or 8 + length + end > size:
            raise FormatError(f"{name!r} is cut off", ("copy the file again",), file=str(path))
        found.append((np.memmap(path, dtype, "r", 8 + length + begin, shape), kind, False))
    return found


def _open_parquet(path: Path) -> list[Part]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pq.read_table(path)
    lists = [name for name, kind in zip(table.column_names, table.schema.types, strict=True) if _is_list(kind)]
    if len(lists) > 1:
        raise FormatError(
            f"has {len(lists)} columns of lists", ("keep the one with the embeddings",), file=str(path)
        )
    if lists:
        column = table.column(lists[0]).combine_chunks()
        flat = column.flatten().to_numpy(zero_copy_only=False)
        if column.null_count or len(flat) % max(1, len(column)):
            raise FormatError("has lists of different lengths", ("leave such rows out",), file=str(path))
        return [_array(flat.reshape(len(column), -1), "")]
    numbers = [name for name in table.column_names if not pa.types.is_string(table.schema.field(name).type)]
    return [_part(table.select(numbers))[0]]


def _is_list(kind: Any) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind))
