"""From a source to blocks."""

import os
import tempfile
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import random_array

import rosenblatt as rb
from rosenblatt.exceptions import InputError, ParameterError, StorageError
from rosenblatt.rows import memory as room
from rosenblatt.rows.batch import as_batch
from rosenblatt.tables import cache as caching
from rosenblatt.tables import collect as collecting
from rosenblatt.tables.blocks import MemoryBlocks
from rosenblatt.tables.cache import CachedBlocks
from rosenblatt.tables.collect import collect, measure, transform_blocks
from rosenblatt.tables.file_source import open_source
from rosenblatt.tables.reading import Options
from rosenblatt.tables.scaling import Transformation, digest
from tests.shared.strategies import noisy, quietly
from tests.tables.sources import ArraySource, Chunks, FileSource, everywhere, rows_of


def test_small_data_leaves_no_file(tmp_path):
    X, y = noisy(100, 3)
    blocks = collect(FileSource.write(tmp_path / "data.npy", X, y))
    assert type(blocks) is MemoryBlocks
    assert [path.name for path in tmp_path.iterdir()] == ["data.npy"]


def test_large_data_in_a_cache_that_was_asked_for_is_found_again(tmp_path):
    X, y = noisy(100, 3)
    said = []
    source = FileSource.write(tmp_path / "data.npy", X, y)
    first = collect(source, memory=1000, cache=tmp_path, block_bytes=300, log=said.append)
    assert first.path == tmp_path / "data.npy.rosenblatt-cache"
    again = FileSource(tmp_path / "data.npy")
    second = collect(again, memory=1000, cache=tmp_path, block_bytes=300, log=said.append)
    assert again.read == 0
    assert second.fingerprint == first.fingerprint
    assert second.identity == first.identity
    assert ["go into the cache" in said[0], "come from the cache" in said[1]] == [True, True]


@pytest.mark.parametrize("how", ["rows", "time", "options", "blocks"])
def test_a_cache_of_something_else_is_made_anew(tmp_path, how):
    X, y = noisy(100, 3)
    path = tmp_path / "data.npy"
    cache = tmp_path / "cache"
    collect(FileSource.write(path, X, y), memory=0, cache=cache, block_bytes=300)
    source, block_bytes = FileSource(path), 300
    if how == "rows":
        status = path.stat()
        content = bytearray(path.read_bytes())
        at = content.index(X[50].tobytes())
        content[at : at + 8] = np.float64(9.5).tobytes()
        path.write_bytes(content)
        os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
        X[50, 0] = 9.5
    elif how == "time":
        os.utime(path)
    elif how == "blocks":
        block_bytes = 500
    else:
        source.options = Options(bits=17)
    said = []
    blocks = collect(source, memory=0, cache=cache, block_bytes=block_bytes, log=said.append)
    assert "options have changed" in said[0]
    assert source.read == 1
    assert np.array_equal(rows_of(blocks)[0], X)


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, OSError(5, "Input/output error")])
def test_a_source_that_fails_fails_here(tmp_path, error):
    X, y = noisy(100, 3)
    source = FileSource.write(tmp_path / "data.npy", X, y, known=True)

    class Failing(FileSource):
        def chunks(self):
            for number, chunk in enumerate(super().chunks()):
                if number == 20:
                    raise error
                yield chunk

    failing = Failing(source.path, known=True)
    expected = InputError if isinstance(error, OSError) else error
    for known in (True, False):
        failing._known = known
        with pytest.raises(expected):
            quietly(rb.Perceptron().fit_blocks, collect(failing, memory=0, block_bytes=300))
        assert [path.name for path in tmp_path.iterdir()] == ["data.npy"]


@pytest.mark.parametrize("known", [False, True])
def test_a_cache_is_in_the_folder_of_the_user_without_a_name(tmp_path, monkeypatch, known):
    """Nothing of it is left, however the process ends, and two processes do not share it."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))
    (tmp_path / "data").mkdir()
    X, y = noisy(100, 3)
    source = FileSource.write(tmp_path / "data" / "data.npy", X, y, known=known)
    said = []
    blocks = [collect(source, memory=1000, block_bytes=300, log=said.append) for _ in range(2)]
    assert str(tmp_path / "caches" / "rosenblatt") in said[0]
    assert "more than 1 kB" in said[0]
    assert [each.counts.sum() for each in blocks] == [100, 100]  # reads all rows, which writes each cache
    assert type(getattr(blocks[0], "cached", blocks[0])) is CachedBlocks
    assert all(np.array_equal(rows_of(each)[0], X) for each in blocks)
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert files == [source.path]
    gone = blocks.pop()
    del gone
    assert np.array_equal(rows_of(blocks[0])[0], X)


def test_what_cannot_be_read_again_is_cached_too():
    X, y = noisy(100, 3)
    blocks = collect(ArraySource(X, y), memory=0, block_bytes=300)
    assert type(blocks) is CachedBlocks
    assert np.array_equal(rows_of(blocks)[0], X)


def test_a_folder_that_cannot_be_made_is_replaced_by_that_of_temporary_files(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert collecting.cache_folder() == Path(tempfile.gettempdir())


def test_a_cache_does_not_fill_the_disk(tmp_path, monkeypatch):
    X, y = noisy(100, 3)
    monkeypatch.setattr(caching, "LEFT_BYTES", 1 << 62)
    monkeypatch.setattr(caching, "LEFT_SHARE", 1)
    with pytest.raises(StorageError, match="would fill the disk"):
        collect(ArraySource(X, y), memory=0, cache=tmp_path / "rows", block_bytes=300)
    assert not list(tmp_path.iterdir())


def test_memory_is_by_default_a_quarter_of_what_is_free(monkeypatch):
    X, y = noisy(100, 3)  # 2,400 bytes of values, and labels
    said = []
    for free, kind in ((40_000, MemoryBlocks), (4_000, CachedBlocks)):
        monkeypatch.setattr(room, "free_memory", lambda free=free: free)
        assert type(collect(ArraySource(X, y), block_bytes=300, log=said.append)) is kind
    assert len(said) == 1
    assert "more than 1 kB, a quarter of the free memory, and go into a cache in" in said[0]


def test_without_a_cache_all_stays_in_memory():
    X, y = noisy(100, 3)
    assert type(collect(ArraySource(X, y), memory=0, cache="no")) is MemoryBlocks


def test_statistics_are_those_of_numpy(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((500, 4)) * [1, 1e-3, 1e3, 0] + [0, 1e6, 1, 5]
    X[rng.random(X.shape) < 0.1] = np.nan
    X[:, 3] = 5.0
    y = rng.integers(2, size=500)
    for blocks in everywhere(X, y, tmp_path, block_bytes=3000, step=20).values():
        found = measure(blocks)
        assert found.count.tolist() == np.count_nonzero(~np.isnan(X), axis=0).tolist()
        np.testing.assert_allclose(found.mean, np.nanmean(X, axis=0), rtol=1e-13)
        np.testing.assert_allclose(found.variance, np.nanvar(X, axis=0), rtol=1e-7, atol=1e-20)
    on_the_way = collect(ArraySource(X, y), memory=0, cache=tmp_path / "c", block_bytes=3000, statistics=True)
    assert on_the_way.statistics.mean.tobytes() == found.mean.tobytes()
    assert on_the_way.statistics.squares.tobytes() == found.squares.tobytes()
    S = random_array((300, 7), density=0.2, rng=rng, format="csr")
    sparse = measure(collect(ArraySource(S, rng.integers(2, size=300)), block_bytes=500, statistics=True))
    np.testing.assert_allclose(sparse.mean, S.toarray().mean(axis=0), rtol=1e-13)
    np.testing.assert_allclose(sparse.variance, S.toarray().var(axis=0), rtol=1e-12)
    assert sparse.count.tolist() == [300] * 7


def test_rows_of_a_large_file_do_not_wait_in_memory(tmp_path, monkeypatch):
    """The size is known before reading, so the first block goes into the cache, not one block in eight."""
    X, y = noisy(100, 3)
    path = tmp_path / "data.npz"
    np.savez(path, X=X, y=y)
    waited = []
    write = collecting._write_cache
    monkeypatch.setattr(collecting, "_write_cache", lambda *args: [waited.append(len(args[3])), write(*args)][1])
    blocks = collect(open_source([str(path)], Options()), memory=2000, statistics=True, block_bytes=300)
    assert waited == [1]
    assert type(blocks) is CachedBlocks
    assert np.array_equal(rows_of(blocks)[0], X)


def test_a_file_that_is_no_cache_is_not_overwritten(tmp_path):
    table, thesis = tmp_path / "or.csv", tmp_path / "thesis.txt"
    table.write_text("a,b,label\n0,0,no\n1,0,yes\n0,1,yes\n1,1,yes\n")
    thesis.write_text("The only copy.")
    for memory in (0, None):
        with pytest.raises(ParameterError, match=r"thesis.txt' is not a cache, and would be overwritten"):
            open_source([str(table)], Options()).blocks(memory=memory, cache=thesis)
    with pytest.raises(ParameterError, match="is not a cache"):
        collect(Chunks((np.array([[1.0], [2.0]]), [0, 1])), memory=0, cache=thesis)
    assert thesis.read_text() == "The only copy."
    thesis.write_text("")
    assert open_source([str(table)], Options()).blocks(memory=0, cache=thesis).n_rows == 4
    thesis.write_bytes(thesis.read_bytes().replace(b"rosenblatt cache 2", b"rosenblatt cache 1"))
    assert open_source([str(table)], Options()).blocks(memory=0, cache=thesis).n_rows == 4


def test_scaled_rows_are_told_apart_only_when_somebody_asks(monkeypatch):
    """Hashing all rows takes as long as some passes, and only checkpoints ask."""
    X = np.random.default_rng(0).standard_normal((50, 3))
    blocks = MemoryBlocks(as_batch(X, X[:, 0] > 0))
    how = Transformation.of(measure(blocks), fill=True, scale=True)
    with monkeypatch.context() as patched:
        patched.setattr(MemoryBlocks, "fingerprint", property(lambda _: pytest.fail("all rows were read")))
        made = transform_blocks(blocks, *how)
    assert made.identity == digest([blocks.fingerprint, *how.figures])
    assert made.identity != transform_blocks(blocks, *how._replace(scaling=None)).identity
