"""The record of a run as tables and files."""

import csv
import os
import pickle
import zipfile

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pytest

import rosenblatt as rb
from rosenblatt.exceptions import InputError, ParameterError, StorageError
from rosenblatt.learning import trace as export
from tests.shared.strategies import noisy, trained

COLUMNS = ["epoch", "visit", "index", "score", "step"]
X, Y = noisy(60, 4)


@pytest.fixture(name="trace")
def _trace():
    return trained(X, Y, max_iter=4, average=True, bias="radius", zero=1).trace_


@pytest.mark.parametrize(
    ("backend", "kind", "column"),
    [
        ("pandas", pd.DataFrame, lambda table, name: table[name].to_numpy()),
        ("polars", pl.DataFrame, lambda table, name: table[name].to_numpy()),
        ("pyarrow", pa.Table, lambda table, name: table.column(name).to_numpy()),
    ],
)
def test_tables(trace, backend, kind, column):
    table = trace.to_frame(backend)
    assert isinstance(table, kind)
    assert [*(table.column_names if kind is pa.Table else table.columns)] == COLUMNS
    for name in COLUMNS:
        values = column(table, name)
        assert values.tolist() == getattr(trace, name).tolist()
        assert values.dtype == (np.float64 if name in ("score", "step") else np.int64)


def test_tables_of_other_libraries(trace):
    with pytest.raises(ParameterError, match="backend='dask'"):
        trace.to_frame("dask")


@pytest.mark.parametrize("labels", [(-1, 1), ("no", "yes"), (False, True), (b"a", b"b")])
@pytest.mark.parametrize("parameters", [{}, {"average": True}, {"bias": "radius"}, {"trace": "counts"}])
def test_a_saved_record_is_read_back(tmp_path, labels, parameters):
    y = np.array(labels)[(Y > 0).astype(int)]
    clf = trained(X, y, max_iter=4, **parameters)
    clf.trace_.save(tmp_path / "run.npz")
    back = rb.Trace.load(str(tmp_path / "run.npz"))
    for name in ("mistakes_per_pass", "visits_per_pass", "classes"):
        assert getattr(back, name).tolist() == getattr(clf.trace_, name).tolist()
    for name in ("n_rows", "n_features", "bias", "radius", "zero"):
        assert getattr(back, name) == getattr(clf.trace_, name)
    assert repr(back) == repr(clf.trace_)
    if clf.trace_.mistakes is None:
        assert back.mistakes is None
        return
    for name in COLUMNS:
        assert getattr(back, name).tobytes() == getattr(clf.trace_, name).tobytes()
    assert back.replay(X, y).weights.tobytes() == np.append(clf.coef_[0], clf.intercept_).tobytes()


def test_csv(trace, tmp_path):
    trace.save(tmp_path / "run.csv")
    with (tmp_path / "run.csv").open(newline="") as file:
        rows = list(csv.reader(file))
    assert rows[0] == COLUMNS
    assert len(rows) == len(trace) + 1
    for k, name in enumerate(COLUMNS):
        assert [float(row[k]) for row in rows[1:]] == getattr(trace, name).tolist()


def test_parquet(trace, tmp_path):
    trace.save(tmp_path / "run.parquet")
    table = pyarrow.parquet.read_table(tmp_path / "run.parquet")
    assert table.equals(trace.to_frame("pyarrow"))


@pytest.mark.parametrize("name", ["run.json", "run", "run.npz.gz"])
def test_other_endings(trace, tmp_path, name):
    with pytest.raises(ParameterError, match=r"\.npz, \.csv, \.parquet"):
        trace.save(tmp_path / name)
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize("ending", [".npz", ".csv", ".parquet"])
def test_a_failure_leaves_the_old_file(trace, tmp_path, monkeypatch, ending):
    path = tmp_path / f"run{ending}"
    path.write_bytes(b"what was there")

    def fail(source, target):
        raise OSError("no room")

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", fail)
        with pytest.raises(OSError, match="no room"):
            trace.save(path)
    assert path.read_bytes() == b"what was there"
    assert list(tmp_path.iterdir()) == [path]
    trace.save(path)
    assert path.read_bytes() != b"what was there"
    assert list(tmp_path.iterdir()) == [path]


def test_an_interrupted_save_leaves_the_old_file(trace, tmp_path, monkeypatch):
    path = tmp_path / "run.csv"
    path.write_bytes(b"what was there")

    def interrupt(trace, file):
        file.write(b"half")
        raise KeyboardInterrupt

    monkeypatch.setattr(export, "_write_csv", interrupt)
    with pytest.raises(KeyboardInterrupt):
        trace.save(path)
    assert path.read_bytes() == b"what was there"
    assert list(tmp_path.iterdir()) == [path]


def test_counts_alone_have_no_table(tmp_path):
    trace = trained(X, Y, trace="counts", max_iter=2).trace_
    for act in (lambda: trace.save(tmp_path / "run.csv"), trace.to_frame):
        with pytest.raises(InputError, match="counts only"):
            act()
    assert not any(tmp_path.iterdir())


def test_labels_that_no_file_holds(tmp_path):
    trace = trained([[1.0], [2.0]], [("a", 1), ("b", 2)]).trace_
    with pytest.raises(InputError, match="Labels of mixed types"):
        trace.save(tmp_path / "run.npz")
    trace.save(tmp_path / "run.csv")
    assert [path.name for path in tmp_path.iterdir()] == ["run.csv"]


class Trap:
    """Unpickled, it would write a file."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return (exec, (f"open({str(self.path)!r}, 'w').close()",))


def _garbage(kind, path, trace):
    trace.save(path)
    whole = path.read_bytes()
    match kind:
        case "empty":
            path.write_bytes(b"")
        case "text":
            path.write_text("epoch,visit\n1,2\n")
        case "truncated":
            path.write_bytes(whole[: len(whole) // 2])
        case "damaged":
            path.write_bytes(bytes([*whole[:60], *(byte ^ 0x55 for byte in whole[60:200]), *whole[200:]]))
        case "one array":
            with path.open("wb") as file:
                np.save(file, np.arange(3))
        case "other arrays":
            np.savez(path, X=X)
        case "odd format":
            np.savez(path, format=[1, 2])
        case "zip":
            with zipfile.ZipFile(path, "w") as archive:
                archive.writestr("hello.txt", "hello")
        case "pickle":
            path.write_bytes(pickle.dumps(Trap(path.with_name("trapped"))))
        case "pickle inside":
            with np.load(path) as held:
                arrays = dict(held)
            np.savez(path, **arrays | {"classes": np.array([Trap(path.with_name("trapped")), 1], dtype=object)})


KINDS = [
    "empty",
    "text",
    "truncated",
    "damaged",
    "one array",
    "other arrays",
    "odd format",
    "zip",
    "pickle",
    "pickle inside",
]


@pytest.mark.parametrize("kind", KINDS)
def test_files_that_are_no_record(trace, tmp_path, kind):
    path = tmp_path / "run.npz"
    _garbage(kind, path, trace)
    with pytest.raises(InputError, match=r"run\.npz is not a trace"):
        rb.Trace.load(path)
    assert not (tmp_path / "trapped").exists()


def _rewritten(trace, path, **changes):
    trace.save(path)
    with np.load(path) as held:
        arrays = dict(held)
    np.savez(path, **arrays | changes)


def test_a_later_format_is_named(trace, tmp_path):
    _rewritten(trace, tmp_path / "run.npz", format=99)
    with pytest.raises(InputError, match="format 99"):
        rb.Trace.load(tmp_path / "run.npz")


@pytest.mark.parametrize(
    "changes",
    [
        {"index": np.full(3, 10**6)},
        {"index": np.array([-1])},
        {"start_w": np.zeros(2)},
        {"start_u": np.zeros(1)},
        {"step": np.zeros(1)},
        {"score": np.array(["a"] * 3)},
        {"classes": np.array([1, 2, 3])},
        {"visits_per_pass": np.zeros(1, int)},
    ],
    ids=lambda changes: next(iter(changes)),
)
def test_records_that_contradict_themselves(trace, tmp_path, changes):
    """The loops check no index, so a file must not hand them one that points outside."""
    name, values = next(iter(changes.items()))
    if name == "index":
        values = np.resize(values, len(trace))
    _rewritten(trace, tmp_path / "run.npz", **{name: values})
    with pytest.raises(InputError, match=r"run\.npz"):
        rb.Trace.load(tmp_path / "run.npz")


@pytest.mark.parametrize(
    "changes",
    [
        {"start_sums": np.ones(1)},
        {"start_sums": np.array([0.0, 0.0])},
        {"start_sums": np.array([1.0, np.nan])},
        {"start_paid": np.zeros(2)},
        {"penalty": np.array([1.5, 0.0])},
        {"penalty": np.array([1.0, -1.0])},
        {"visits_per_pass": np.full(3, 10**15)},
        {"visit": "backwards"},
        {"visit": "late"},
    ],
    ids=lambda changes: "-".join(changes),
)
def test_records_of_shrinking_weights_that_contradict_themselves(tmp_path, changes):
    """A replay counts visits up to each mistake, and would not end if one lay behind."""
    trace = trained(X, Y, max_iter=3, penalty="elasticnet", order="cyclic").trace_
    name, values = next(iter(changes.items()))
    if isinstance(values, str):
        values = trace.visit[::-1].copy() if values == "backwards" else trace.visit + 10**6
    _rewritten(trace, tmp_path / "run.npz", **{name: values})
    with pytest.raises(InputError, match=r"run\.npz"):
        rb.Trace.load(tmp_path / "run.npz")


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(FileNotFoundError):
        rb.Trace.load(tmp_path / "none.npz")
    with pytest.raises(StorageError, match="No such file or directory"):
        trained(X, Y, max_iter=1).trace_.save(tmp_path / "no folder" / "run.npz")
