"""From a source to blocks."""

import os

import numpy as np
import pytest
from scipy.sparse import random_array

import rosenblatt as rb
from rosenblatt.exceptions import InputError, ParameterError
from rosenblatt.tables import collect as collecting
from rosenblatt.tables.blocks import MemoryBlocks
from rosenblatt.tables.cache import CachedBlocks
from rosenblatt.tables.collect import DEFAULT_MEMORY_BYTES, collect, measure
from rosenblatt.tables.file_source import open_source
from rosenblatt.tables.reading import Options
from tests.shared.strategies import noisy, quietly
from tests.tables.sources import ArraySource, Chunks, FileSource, everywhere, rows_of


def test_small_data_leaves_no_file(tmp_path):
    X, y = noisy(100, 3)
    blocks = collect(FileSource.write(tmp_path / "data.npy", X, y))
    assert type(blocks) is MemoryBlocks
    assert [path.name for path in tmp_path.iterdir()] == ["data.npy"]


def test_large_data_is_cached_beside_the_source_and_found_again(tmp_path):
    X, y = noisy(100, 3)
    said = []
    source = FileSource.write(tmp_path / "data.npy", X, y)
    first = collect(source, memory=1000, block_bytes=300, log=said.append)
    assert first.path == tmp_path / ".data.npy.rosenblatt-cache"
    again = FileSource(tmp_path / "data.npy")
    second = collect(again, memory=1000, block_bytes=300, log=said.append)
    assert again.read == 0
    assert second.fingerprint == first.fingerprint
    assert second.identity == first.identity
    assert ["go into the cache" in said[0], "come from the cache" in said[1]] == [True, True]


@pytest.mark.parametrize("how", ["rows", "time", "options", "blocks"])
def test_a_cache_of_something_else_is_made_anew(tmp_path, how):
    X, y = noisy(100, 3)
    path = tmp_path / "data.npy"
    collect(FileSource.write(path, X, y), memory=0, block_bytes=300)
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
    blocks = collect(source, memory=0, block_bytes=block_bytes, log=said.append)
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


def test_what_cannot_be_read_again_goes_into_a_temporary_file():
    X, y = noisy(100, 3)
    blocks = collect(ArraySource(X, y), memory=0, block_bytes=300)
    assert type(blocks) is CachedBlocks
    path = blocks.path
    assert path.exists()
    assert np.array_equal(rows_of(blocks)[0], X)
    del blocks
    assert not path.exists()


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
    monkeypatch.setattr(collecting, "_write_cache", lambda *args: [waited.append(len(args[2])), write(*args)][1])
    blocks = collect(open_source([str(path)], Options()), memory=2000, statistics=True, block_bytes=300)
    assert waited == [1]
    assert type(blocks) is CachedBlocks
    assert np.array_equal(rows_of(blocks)[0], X)


def test_a_file_that_is_no_cache_is_not_overwritten(tmp_path):
    table, thesis = tmp_path / "or.csv", tmp_path / "thesis.txt"
    table.write_text("a,b,label\n0,0,no\n1,0,yes\n0,1,yes\n1,1,yes\n")
    thesis.write_text("The only copy.")
    for memory in (0, DEFAULT_MEMORY_BYTES):
        with pytest.raises(ParameterError, match=r"thesis.txt' is not a cache, and would be overwritten"):
            open_source([str(table)], Options()).blocks(memory=memory, cache=thesis)
    with pytest.raises(ParameterError, match="is not a cache"):
        collect(Chunks((np.array([[1.0], [2.0]]), [0, 1])), memory=0, cache=thesis)
    assert thesis.read_text() == "The only copy."
    thesis.write_text("")
    assert open_source([str(table)], Options()).blocks(memory=0, cache=thesis).n_rows == 4
    thesis.write_bytes(thesis.read_bytes().replace(b"rosenblatt cache 2", b"rosenblatt cache 1"))
    assert open_source([str(table)], Options()).blocks(memory=0, cache=thesis).n_rows == 4
