"""Tables written in every format, and sources read whole."""

import gzip
import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.ipc
import pyarrow.parquet

from rosenblatt.loops.layout import CSR
from rosenblatt.rows.batch import Batch
from rosenblatt.tables.file_source import open_source
from rosenblatt.tables.reading import Options

TEXT = ("csv", "tsv", "csv.gz", "csv.zst", "jsonl", "jsonl.gz")
TYPED = ("parquet", "arrow", "feather", "arrows")
EVERY = TEXT + TYPED


def write(folder, columns, ending, name="table"):
    """Write columns (lists; None is missing) to a file whose name ends so, and return its path."""
    path = Path(folder) / f"{name}.{ending}"
    plain = ending.removesuffix(".gz").removesuffix(".zst")
    if plain in TYPED:
        _write_typed(path, pa.table(columns), plain)
        return str(path)
    content = (_json_lines if plain == "jsonl" else _delimited)(columns, "\t" if plain == "tsv" else ",").encode()
    if ending.endswith(".gz"):
        half = len(content) // 2
        content = gzip.compress(content[:half]) + gzip.compress(content[half:])
    elif ending.endswith(".zst"):
        half = len(content) // 2
        content = b"".join(pa.compress(part, "zstd", asbytes=True) for part in (content[:half], content[half:]))
    path.write_bytes(content)
    return str(path)


def _write_typed(path, table, ending):
    if ending == "parquet":
        pa.parquet.write_table(table, path, row_group_size=7)
    elif ending == "feather":
        pa.feather.write_feather(table, path, chunksize=5)
    else:
        new = pa.ipc.new_file if ending == "arrow" else pa.ipc.new_stream
        with new(str(path), table.schema) as writer:
            writer.write_table(table, max_chunksize=5)


def _delimited(columns, delimiter):
    rows = [list(columns), *zip(*columns.values(), strict=True)]
    return "".join(delimiter.join(_field(value) for value in row) + "\n" for row in rows)


def _field(value):
    if value is None:
        return ""
    text = repr(float(value)) if isinstance(value, float) else str(value)
    return f'"{text}"' if "," in text and '"' not in text else text


def _json_lines(columns, _):
    rows = zip(*columns.values(), strict=True)
    return "".join(json.dumps(dict(zip(columns, row, strict=True))) + "\n" for row in rows)


def dense(features, width=None):
    """Give features as a plain array."""
    rows = features.rows
    if not isinstance(rows, CSR):
        return rows
    table = np.zeros((features.n_rows, width or features.n_features))
    for i in range(features.n_rows):
        part = slice(int(rows.indptr[i]), int(rows.indptr[i + 1]))
        assert np.all(np.diff(rows.indices[part].astype(int)) > 0)
        table[i, rows.indices[part].astype(int)] = rows.data[part]
    return table


def read(places, recipe=None, **options):
    """Read all of a source: features, labels, and the source."""
    places = [places] if isinstance(places, str) else places
    source = open_source(places, Options(**options), recipe)
    chunks = list(source.chunks())
    X = np.concatenate([dense(chunk, source.n_features) for chunk in chunks])
    labels = [chunk.labels for chunk in chunks if isinstance(chunk, Batch)]
    return X, np.concatenate(labels) if labels else None, source


NAMED = {
    "csv": "csv",
    "CSV": "csv",
    "csv.gz": "csv",
    "tab": "tsv",
    "tsv.zst": "tsv",
    "libsvm": "svmlight",
    "ndjson": "jsonl",
    "pq": "parquet",
    "feather": "arrow",
    "npy": "npy",
    "npz": "npz",
    "data": "svmlight",
    "txt": "svmlight",
}
"""Endings of names, and the format each stands for; the last two stand for none."""
