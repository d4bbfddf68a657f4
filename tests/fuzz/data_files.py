"""``python -m tests.fuzz.data_files COUNT [--seed N] [--kinds csv,npz]``: read mutated data files of every format.

Input number i of a seed is always the same file, read with the same options. Each batch is read in a process of
its own, with a limit on memory and on the time of each input. An input must give rows that are consistent, or an
`InputError` of one line. Many are read a second time in another way: by the compiled loops instead of plain
Python, in chunks of another size, or compressed; the rows must be the same. A crash, a hang, a warning, any other
exception, other rows, or more memory than allowed is a find.
"""

import contextlib
import gzip
import io
import json
import random
import sys
import tempfile
import traceback
import warnings
import zipfile
from pathlib import Path
from unittest.mock import patch

import numpy as np

from tests.fuzz.campaigns import main
from tests.fuzz.watch import Watch

WARM = 200  # inputs read before memory is watched, so that everything is imported
SECONDS = 30  # for one input
AGAIN = 0.35  # the share of inputs that are read a second time
LONGEST = 1500  # characters of a message

ROWS = [
    ("1.5", "-2", "red", "yes"),
    ("0", "3e2", "blue", "no"),
    ("-7", "4", "red", "yes"),
    ("2", ".5", "green", "no"),
]
PIECES = {
    "text": (
        b"\x00|\xff|\xef\xbb\xbf|\xed\xa0\x80|\xf0\x9f\x98\x80|\xc2\x9b|\x1b]0;x\x07|\r|\n|\r\n|\n\n|\t|,|;|'|#| |"
        b'"|""|nan|NaN|inf|-inf|1e999|-1e-999|1e|--1|0x10|1_0|\xef\xbc\x91|true|False|null|NA|?|9007199254740993|'
        b"123456789012345678901234567890|1.7976931348623157e308|4.9e-324|-0.0|a|label|x1|1,5|7,700|1.234|1.250,5|"
        b"1'250|12,345,678|None|sep=;\n|sep=,\r\n"
    ),
    "svmlight": (
        b"1:1|0:1|-1:2|1:|:1|1:1 1:1|2:1 1:1|4294967295:1|4294967296:1|18446744073709551616:1|70000:1|1:nan|1:inf|"
        b"1:1e999|qid:1|qid:|# x|+1|-1|1,2|1.5|0|3:0x1p3|1:1:1"
    ),
    "jsonl": (
        b'{|}|[|]|[[[[[[[[|{"a":|:|,|"|\\|\\ud800|\\u0000|"a": 1, "a": 2|NaN|Infinity|-|1e400|1E5|true|null|'
        b'"label"|{}|[]|""|1234567890123456789012345678901234567890|-0|01|1.|\xff'
    ),
}


def text_files():
    """Return valid small files of text, by kind."""
    table = [("a", "b", "c", "label"), *ROWS]
    csv = "".join(",".join(row) + "\n" for row in table).encode()
    quoted = b'"a","b b","label"\n"1","x ""y"" z","p"\n2,"two\nlines","q"\n'
    svmlight = b"+1 1:0.5 3:2 7:-1e3\n-1 2:1\n+1 1:3 # note\n-1 qid:3 4:1 9:.5\n"
    jsonl = (
        b'{"a": 1.5, "b": "x", "t": true, "label": "yes"}\n{"a": 2, "b": "y\\u00e9", "t": false, "label": "no"}\n'
    )
    return {
        "csv": [
            csv,
            csv.replace(b"3e2", b""),
            quoted,
            csv.replace(b",", b";").replace(b"\n", b"\r\n"),
            csv.split(b"\n", 1)[1],
            b"sep=;\n" + csv.replace(b".", b",").replace(b",", b";", 3),
            b"a;b;label\r\n1,5;7.700;p\r\n2;1.250,5;q\r\n",
        ],
        "tsv": [
            csv.replace(b",", b"\t").replace(b"3e2", b"3,200"),
            csv.replace(b",", b"\t"),
            b"ham\thello there\nspam\twin a prize\n",
        ],
        "svmlight": [svmlight, b"0 0:1 1:1\n1 0:2\n2\n"],
        "jsonl": [jsonl, jsonl * 2, b'{"label": 1, "x": 2}\n{"x": 3, "label": 0, "z": null}\n'],
    }


def arrow_tables():
    """Return tables of several types."""
    import pyarrow as pa

    yield pa.table({"a": [1.5, -2.0, 3.25], "n": [1, 2, 3], "s": ["x", "y", "zz"], "label": ["yes", "no", "yes"]})
    yield pa.table({"a": [1, None, 3], "s": ["x", None, ""], "label": [True, False, True]})
    yield pa.table(
        {
            "f": pa.array([1, 2, 3, 4], pa.float32()),
            "t": [True, False, False, True],
            "d": pa.array(["p", "q", "p", "r"]).dictionary_encode(),
            "label": pa.array([0, 1, 1, 0], pa.int8()),
        }
    )


def binary_files():
    """Return valid small files of typed columns, by kind."""
    import pyarrow as pa
    import pyarrow.feather
    import pyarrow.ipc
    import pyarrow.parquet

    files = {"parquet": [], "arrow": [], "arrows": []}
    for table in arrow_tables():
        for compression in ("none", "snappy", "zstd"):
            out = io.BytesIO()
            pa.parquet.write_table(table, out, compression=compression, row_group_size=2)
            files["parquet"].append(out.getvalue())
        for kind, new in (("arrow", pa.ipc.new_file), ("arrows", pa.ipc.new_stream)):
            for compression in (None, "lz4", "zstd"):
                out = io.BytesIO()
                with new(out, table.schema, options=pa.ipc.IpcWriteOptions(compression=compression)) as writer:
                    writer.write_table(table, max_chunksize=2)
                files[kind].append(out.getvalue())
    return files


def npy(array, **how):
    """Return an array as a file; `how` may set the pieces of its header to anything."""
    parts = {
        "descr": repr(np.lib.format.dtype_to_descr(array.dtype)),
        "order": "False",
        "shape": repr(array.shape),
    } | how
    header = (
        f"{{'descr': {parts['descr']}, 'fortran_order': {parts['order']}, 'shape': {parts['shape']}, }}".encode()
    )
    header += b" " * (-(len(header) + 11) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + array.tobytes()


ARRAYS = [
    {"X": np.arange(12.0).reshape(4, 3), "y": np.array([0, 1, 0, 1])},
    {
        "X": np.arange(8, dtype="<f4").reshape(4, 2),
        "y": np.array(["no", "yes", "no", "yes"]),
        "names": np.array(["a", "b"]),
    },
    {
        "data": np.array([1.0, 2, 3, 4]),
        "indices": np.array([0, 2, 1, 0], "<i4"),
        "indptr": np.array([0, 2, 3, 4], "<i4"),
        "shape": np.array([3, 5]),
        "format": np.array(b"csr"),
        "y": np.array([1, -1, 1]),
    },
]
HEADERS = {
    "descr": "'<f8' '<f4' '>f8' '<f2' '|b1' '|i1' '<u8' '<i8' '<U3' '|S2' '|O' '<c16' '<M8[s]' '<U0' '<f16' '|V8' "
    "[('a','<f8')]",
    "shape": "(12,) (4,3) (3,4) (0,3) (4,0) (4,) () (1,12) (2,2,3) (4000000000,3) (-4,3) (99999999999999999999,) "
    "(4,,) 4",
    "order": "True False 0 None",
}


def mutate(data, rng, pieces=()):
    """Return bytes with one to five changes."""
    data = bytearray(data)
    for _ in range(rng.choice((1, 1, 1, 2, 3, 5))):
        at = rng.randrange(len(data) + 1)
        end = min(len(data), at + rng.choice((1, 1, 2, 4, 8, 32)))
        match rng.randrange(8 if pieces else 7):
            case 0 if at < len(data):
                data[at] ^= 1 << rng.randrange(8)
            case 1 if at < len(data):
                data[at] = rng.choice((0, 1, 0x7F, 0x80, 0xFF, rng.randrange(256)))
            case 2:
                del data[at:end]
            case 3:
                data[at:at] = data[at:end] * rng.choice((1, 2, 50))
            case 4:
                del data[at:]
            case 5:
                data[at:end] = rng.choice((0, 1, 2**31 - 1, 2**31, 2**32 - 1, 2**63, 2**64 - 1)).to_bytes(
                    8, "little"
                )[: end - at]
            case 6:
                other = rng.randrange(len(data) + 1)
                data[at:end] = data[other : other + end - at]
            case _ if pieces:
                data[at : rng.choice((at, end))] = rng.choice(pieces)
    return bytes(data)


def mutated_npy(array, rng):
    how = {}
    for name, values in HEADERS.items():
        if rng.random() < 0.3:
            how[name] = rng.choice(values.split())
    data = npy(array, **how)
    if rng.random() < 0.5:
        data = mutate(data, rng)
    return data


def mutated_npz(rng):
    arrays = rng.choice(ARRAYS)
    chosen = rng.sample(sorted(arrays), rng.choice((1, 1, 2)))
    out = io.BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # two members of one name
        with zipfile.ZipFile(
            out, "w", rng.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2))
        ) as archive:
            for name, array in arrays.items():
                content = mutated_npy(array, rng) if name in chosen else npy(array)
                if name in chosen and rng.random() < 0.1:
                    name = rng.choice(("", "..", "y", "X", "a/b", "format", "\x01"))
                archive.writestr(f"{name}.npy", content)  # with a checksum that is right
    return mutate(out.getvalue(), rng) if rng.random() < 0.3 else out.getvalue()


class Inputs:
    """Hostile files by number."""

    def __init__(self, kinds=()):
        self.files = text_files() | binary_files()
        self.kinds = list(kinds) or [*self.files, "npy", "npz", "gzip", "zstd"]

    def make(self, rng):
        """Return the ending of a file, and its bytes."""
        import pyarrow as pa

        kind = rng.choice(self.kinds)
        if kind == "npz":
            return kind, mutated_npz(rng)
        if kind == "npy":
            return kind, mutated_npy(rng.choice(list(rng.choice(ARRAYS).values())), rng)
        if kind in ("gzip", "zstd"):
            inner = rng.choice(("csv", "tsv", "svmlight", "jsonl", "arrows"))
            plain = self.changed(inner, rng) if rng.random() < 0.7 else rng.choice(self.files[inner])
            packed = gzip.compress(plain, 1) if kind == "gzip" else pa.compress(plain, "zstd", asbytes=True)
            return f"{inner}.{kind}", mutate(packed, rng) if rng.random() < 0.7 else packed
        return rng.choice((kind, kind, kind, "data")), self.changed(kind, rng)

    def changed(self, kind, rng):
        """Return a file of a kind, changed."""
        pieces = {"svmlight": PIECES["svmlight"], "jsonl": PIECES["jsonl"]}.get(kind, PIECES["text"])
        few = pieces.split(b"|") if kind in ("csv", "tsv", "svmlight", "jsonl") else ()
        return mutate(rng.choice(self.files[kind]), rng, few)


def options_of(rng):
    """Return options: mostly the usual ones."""
    given = {}
    for name, values in (
        ("skip_bad", (True,)),
        ("missing", ("zero", "mean")),
        ("chunk_bytes", (1, 7, 64)),
        ("labelled", (False,)),
        ("header", (True, False)),
        ("target", ("label", 1, -1, "a")),
        ("text", (("b",), (2,))),
        ("hashed", (("a",), (1,))),
        ("vocabulary", (True,)),
        ("zero_based", (True, False)),
        ("bits", (1, 10)),
        ("decimal", (".", ",")),
        ("thousands", (",", ".", "'", " ")),
        ("na", (("red",), ("=",), ("=NA", "no"))),
    ):
        if rng.random() < (0.3 if name in ("skip_bad", "missing") else 0.04):
            given[name] = rng.choice(values)
    return given


def require_consistent(chunk, source):
    """Raise AssertionError if rows would lead a loop astray."""
    from rosenblatt.loops.layout import CSR
    from rosenblatt.rows.batch import Batch

    rows = chunk.rows
    if isinstance(chunk, Batch):
        assert len(chunk.codes) == chunk.n_rows
        assert np.array_equal(chunk.classes, np.unique(chunk.labels))
    if isinstance(rows, CSR):
        indptr = rows.indptr.astype(np.int64)
        assert len(indptr) == chunk.n_rows + 1
        assert np.all(np.diff(indptr) >= 0)
        assert indptr[0] == 0
        assert indptr[-1] <= len(rows.data) == len(rows.indices)
        used = rows.indices[: indptr[-1]].astype(np.int64)
        assert used.size == 0 or (used.min() >= 0 and used.max() < chunk.n_features)
        assert np.all(np.diff(used)[np.diff(np.repeat(np.arange(chunk.n_rows), np.diff(indptr))) == 0] > 0)
    else:
        assert rows.shape == (chunk.n_rows, chunk.n_features)
    values = rows.data if isinstance(rows, CSR) else rows
    assert np.isfinite(values).all() or (source.options.missing == "mean" and not np.isinf(values).any())


def read(path, options):
    """Read a file to its end; return its rows and labels in bytes, or None if it is refused."""
    from rosenblatt.exceptions import InputError
    from rosenblatt.tables.file_source import open_source
    from rosenblatt.tables.reading import Options

    try:
        source = open_source([path], Options(**options))
        assert source.description
        known = source.known()
        n_rows, told = 0, []
        for chunk in source.chunks():
            require_consistent(chunk, source)
            n_rows += chunk.n_rows
            told.append(content_of(chunk))
        assert n_rows > 0
        assert known is None or known.n_rows == n_rows
        names = source.names
        assert names is None or len(names) == source.n_features
    except InputError as error:
        message = str(error)
        assert message, "a message is empty"
        assert "\n" not in message, f"a message has several lines: {message!r}"
        assert len(message) <= LONGEST, f"a message has {len(message)} characters: {message[:300]!r}"
        return None
    return [b"".join(part) for part in zip(*told, strict=True)], names, source.skipped.count, source.n_features


def content_of(chunk):
    """Return the values, the places of values and the labels of a chunk, as bytes that can be put together."""
    from rosenblatt.loops.layout import CSR
    from rosenblatt.rows.batch import Batch

    rows = chunk.rows
    sparse = isinstance(rows, CSR)
    end = int(rows.indptr[-1]) if sparse else 0
    values = rows.data[:end] if sparse else rows
    where = rows.indices[:end].astype("<u8").tobytes() if sparse else b""
    lengths = np.diff(rows.indptr.astype("<i8")).tobytes() if sparse else b""
    labelled = isinstance(chunk, Batch)
    labels = "".join(f"{as_whole(label)}\0" for label in chunk.labels.tolist()) if labelled else ""
    return np.asarray(values, "<f8").tobytes(), where, lengths, labels.encode(errors="surrogatepass")


def as_whole(label):
    """Return a label; floats without a fraction become integers, as they do where all of a chunk are."""
    return int(label) if isinstance(label, float) and label.is_integer() else label


def read_in_two_ways(path, ending, options, rng):
    """Read a file; read many of them again in another way; return "rows" or "refused"."""
    import rosenblatt.tables.svmlight as svmlight
    import rosenblatt.tables.words as words

    first = read(str(path), options)
    if rng.random() < AGAIN:
        how = rng.choice(("loops", "chunks", "chunks", "packed"))
        if how == "loops" and (ending.startswith(("svm", "data")) or "text" in options):
            with patch.object(svmlight, "loop_pays", always), patch.object(words, "loop_pays", always):
                second = read(str(path), options)
        elif how == "packed" and ending in ("csv", "tsv", "svmlight", "jsonl"):
            packed = path.with_name(path.name + ".gz")
            packed.write_bytes(gzip.compress(path.read_bytes(), 1))
            second = read(str(packed), options)
            packed.unlink()
        else:
            second = read(str(path), options | {"chunk_bytes": rng.choice((1, 3, 17, 50, 1 << 20))})
        if ending in ("parquet", "arrow", "arrows") and None in (first, second):
            return "refused"  # which damage pyarrow finds depends on how many rows it reads at a time
        assert first == second, f"read by {how}, it holds something else: {first} {second}"
    return "refused" if first is None else "rows"


def always(n_bytes, small):
    """Take the compiled loop."""
    return True


def one_batch(seed, first, count, kinds, place):
    """Read some inputs in this process; note each before it is read, and each find."""
    import rosenblatt.loops.encoding  # imported before memory is watched
    import rosenblatt.loops.svmlight_numbers  # noqa: F401

    warnings.simplefilter("error")
    inputs = Inputs(kinds)
    outcomes = {"rows": 0, "refused": 0}
    with tempfile.TemporaryDirectory(dir=place) as folder, (place / "finds").open("a") as finds:

        def write(key):
            rng = random.Random(key)
            ending, content = inputs.make(rng)
            path = Path(folder) / f"f.{ending}"
            path.write_bytes(content)
            return path, ending, options_of(rng), rng

        for number in range(WARM):
            path, *rest = write(f"warm:{number}")
            with contextlib.suppress(Exception):
                read_in_two_ways(path, *rest)
            path.unlink()
        watch = Watch(place / "at", SECONDS)
        for number in range(first, first + count):
            path, ending, *rest = write(f"{seed}:{number}")
            try:
                with watch.input(number, path.stat().st_size):
                    outcomes[read_in_two_ways(path, ending, *rest)] += 1
            except BaseException as error:
                where = traceback.extract_tb(error.__traceback__)[-1]
                found = f"{type(error).__name__}: {str(error)[:600]} ({Path(where.filename).name}:{where.lineno})"
                finds.write(json.dumps([number, ending, found]) + "\n")
                finds.flush()
            path.unlink()
    (place / "end").write_text(json.dumps(outcomes))


if __name__ == "__main__":
    sys.exit(main("tests.fuzz.data_files", one_batch))
