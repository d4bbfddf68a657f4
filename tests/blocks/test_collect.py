"""From a source to blocks."""

import errno
import os
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array, random_array

import rosenblatt as rb
from rosenblatt.blocks import cache as cache_module
from rosenblatt.blocks.cache import CachedBlocks
from rosenblatt.blocks.collect import collect, measure
from rosenblatt.blocks.memory import MemoryBlocks
from rosenblatt.blocks.raw import Raw, checksum
from rosenblatt.columns.options import Options
from rosenblatt.data.chunk import Chunk
from rosenblatt.data.features import as_rows
from rosenblatt.exceptions import FormatError, InputError, LabelError, ShapeError, StorageError
from tests.blocks.sources import ArraySource, FileSource, everywhere
from tests.strategies import noisy, quietly


class Chunks:
    """A source of given chunks."""

    def __init__(self, *chunks, files=()):
        self._chunks, self.files = chunks, files

    def chunks(self):
        return (Chunk.of(as_rows(X), None if y is None else np.asarray(y)) for X, y in self._chunks)


def rows_of(blocks):
    parts = [blocks.read(k) for k in range(len(blocks.boundaries) - 1)]
    native = [part.native() for part in parts]
    dense = [each if isinstance(each, np.ndarray) else each.toarray() for each in native]
    return np.concatenate(dense), np.concatenate([part.classes[part.codes] for part in parts])


@given(
    st.integers(1, 30),
    st.integers(1, 5),
    st.integers(30, 300),
    st.integers(1, 9),
    st.sampled_from(["f8", "f4", "csr"]),
)
def test_nothing_is_lost(tmp_path_factory, n, d, block_bytes, step, layout):
    rng = np.random.default_rng(n * d)
    X = rng.integers(-2, 3, (n, d)).astype("f8" if layout == "csr" else layout)
    y = rng.integers(3, size=n)
    data = csr_array(X) if layout == "csr" else X
    folder = tmp_path_factory.mktemp("nothing")
    for blocks in everywhere(data, y, folder, block_bytes=block_bytes, step=step).values():
        rows, labels = rows_of(blocks)
        assert np.array_equal(rows, X)
        assert rows.dtype == X.dtype
        assert np.array_equal(labels, y)
        assert [batch.codes.tolist() for batch in blocks.walk([0])] == [blocks.read(0).codes.tolist()]
        sizes = [blocks.read(k).rows for k in range(len(blocks.boundaries) - 1)]
        assert all(Raw(each, np.zeros(1, "u4")).n_bytes <= max(block_bytes, 200) for each in sizes)


@pytest.mark.parametrize(
    ("labels", "classes"),
    [
        ([[1, 2], [3]], np.array([1, 2, 3])),
        ([[2, 1], [3.0]], np.array([1.0, 2.0, 3.0])),
        ([[1.0], [1]], np.array([1.0])),
        ([[True], [False]], np.array([False, True])),
        ([["b"], ["a", "bcd"]], np.array(["a", "b", "bcd"])),
        ([np.array(["b"], object), ["a"]], np.array(["a", "b"])),
    ],
)
def test_labels_become_of_one_kind(tmp_path, labels, classes):
    chunks = [(np.ones((len(part), 1)), part) for part in labels]
    for blocks in (collect(Chunks(*chunks)), collect(Chunks(*chunks), memory=0, cache=tmp_path / "cache")):
        assert np.array_equal(blocks.classes, classes)
        assert blocks.classes.dtype == classes.dtype
        assert rows_of(blocks)[1].tolist() == [label for part in labels for label in part]


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([[1], ["a"]], "row 1 is 'a', after labels such as 1"),
        ([["a", "b"], [1.0]], "row 2 is 1.0, after labels such as 'a'"),
        ([[1, 2], [np.nan]], "NaN, at row 2"),
        ([[1, 2], [2.5]], "continuous. y is 2.5 at row 2"),
        ([[1], None], "no labels"),
        ([[2**53 + 1], [1.0]], "would round"),
        ([[1], np.array([(1, 2), None], object)[:1]], "row 1"),
    ],
)
def test_labels_that_name_no_classes_are_refused(labels, message):
    chunks = [(np.ones((1 if part is None else len(part), 1)), part) for part in labels]
    with pytest.raises(LabelError, match=message):
        collect(Chunks(*chunks))


def test_chunks_that_disagree_are_refused():
    with pytest.raises(ShapeError, match="Row 2 has 3 features, but those before have 2"):
        collect(Chunks((np.ones((2, 2)), [0, 1]), (np.ones((1, 3)), [0])))
    with pytest.raises(InputError, match="dense and others sparse"):
        collect(Chunks((np.ones((2, 2)), [0, 1]), (csr_array(np.ones((1, 2))), [0])))
    with pytest.raises(InputError, match="no rows"):
        collect(Chunks())


def test_values_of_two_types_become_the_wider_one(tmp_path):
    chunks = [(np.full((2, 2), 0.1, "f4"), [0, 1]), (np.full((1, 2), 0.1), [0])]
    for blocks in (collect(Chunks(*chunks)), collect(Chunks(*chunks), memory=0, cache=tmp_path / "cache")):
        rows, _ = rows_of(blocks)
        assert rows.dtype == np.float64
        assert rows[:, 0].tolist() == [float(np.float32(0.1))] * 2 + [0.1]


def test_small_data_leaves_no_file(tmp_path):
    X, y = noisy(100, 3)
    blocks = collect(FileSource.write(tmp_path / "data.npy", X, y))
    assert type(blocks) is MemoryBlocks
    assert [path.name for path in tmp_path.iterdir()] == ["data.npy"]


def test_large_data_is_cached_beside_the_source_and_found_again(tmp_path):
    X, y = noisy(100, 3)
    said = []
    source = FileSource.write(tmp_path / "data.npy", X, y)
    first = collect(source, memory=1000, block_bytes=300, tell=said.append)
    assert first.path == tmp_path / ".data.npy.rosenblatt-cache"
    again = FileSource(tmp_path / "data.npy")
    second = collect(again, memory=1000, block_bytes=300, tell=said.append)
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
    blocks = collect(source, memory=0, block_bytes=block_bytes, tell=said.append)
    assert "is not what it was" in said[0]
    assert source.read == 1
    assert np.array_equal(rows_of(blocks)[0], X)


def _cache(tmp_path, X, y):
    return collect(ArraySource(X, y), memory=0, cache=tmp_path / "cache", block_bytes=400), tmp_path / "cache"


@pytest.mark.parametrize("layout", ["dense", "sparse"])
def test_no_damage_goes_unnoticed(tmp_path, layout):
    X, y = noisy(40, 3)
    data = X if layout == "dense" else csr_array(X * (np.abs(X) > 0.5))
    source = FileSource.write(tmp_path / "data.npy", X, y)
    if layout == "sparse":
        source.chunks = ArraySource(data, y).chunks
    blocks = collect(source, memory=0, block_bytes=400)
    expected = quietly(rb.Perceptron(max_iter=3).fit_blocks, blocks)
    path = blocks.path
    content = path.read_bytes()
    rng = np.random.default_rng(0)
    used = [*range(80), *rng.integers(0, len(content), 200)]
    shapes = blocks._shapes
    used += [int(shape.offset + at) for shape in shapes for at in rng.integers(shape.n_bytes, size=10)]
    outcomes = {"same": 0, "anew": 0, "refused": 0}
    for at in used:
        damaged = bytearray(content)
        damaged[at] ^= int(rng.integers(1, 256))
        path.write_bytes(damaged)
        said = []
        found = collect(source, memory=0, block_bytes=400, tell=said.append)
        try:
            model = quietly(rb.Perceptron(max_iter=3).fit_blocks, found)
        except FormatError:
            assert not path.exists()
            outcomes["refused"] += 1
            continue
        assert model.coef_.tobytes() == expected.coef_.tobytes()
        outcomes["anew" if "anew" in said[0] else "same"] += 1
    assert outcomes["refused"] > 30
    assert outcomes["anew"] > 50
    for at in (0, 10, 100, 5000, len(content) // 2, len(content) - 1):
        path.write_bytes(content[:at])
        model = quietly(rb.Perceptron(max_iter=3).fit_blocks, collect(source, memory=0, block_bytes=400))
        assert model.coef_.tobytes() == expected.coef_.tobytes()


def test_a_cache_that_shrinks_while_it_is_read_ends_the_run(tmp_path):
    X, y = noisy(40, 3)
    blocks, path = _cache(tmp_path, X, y)
    os.truncate(path, 5000)
    with pytest.raises(InputError, match="ends too early"):
        rb.Perceptron().fit_blocks(blocks)


def test_files_under_way_are_never_read(tmp_path):
    X, y = noisy(40, 3)
    (tmp_path / ".cache.abc.partial").write_bytes(b"half of it")
    blocks, _ = _cache(tmp_path, X, y)
    assert np.array_equal(rows_of(blocks)[0], X)
    assert sorted(each.name for each in tmp_path.iterdir()) == [".cache.abc.partial", "cache"]


def test_what_the_dead_left_behind_is_removed_after_a_day(tmp_path):
    X, y = noisy(40, 3)
    for name, age in {"old": 25, "new": 1}.items():
        aside = tmp_path / f".cache.{name}.partial"
        aside.write_bytes(b"half of it")
        os.utime(aside, (time.time() - 3600 * age,) * 2)
    _cache(tmp_path, X, y)
    assert sorted(each.name for each in tmp_path.iterdir()) == [".cache.new.partial", "cache"]


def test_a_full_disk_leaves_the_old_cache(tmp_path, monkeypatch):
    X, y = noisy(40, 3)
    _, path = _cache(tmp_path, X, y)
    content = path.read_bytes()

    def full(self, raw):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(cache_module.CacheWriter, "add", full)
    with pytest.raises(StorageError, match="No space left"):
        _cache(tmp_path, X + 1, y)
    assert path.read_bytes() == content
    assert [each.name for each in tmp_path.iterdir()] == ["cache"]


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


def test_a_source_that_is_not_what_it_said_is_refused(tmp_path):
    X, y = noisy(100, 3)
    for change in ("rows", "labels"):
        source = FileSource.write(tmp_path / f"{change}.npy", X, y, known=True)
        blocks = collect(source, memory=0, block_bytes=300)
        labels = np.where(np.arange(100) < 90, y, 7) if change == "labels" else y
        FileSource.write(
            tmp_path / f"{change}.npy",
            X[:90] if change == "rows" else X,
            labels[: 90 if change == "rows" else 100],
        )
        with pytest.raises(InputError, match="changed"):
            rb.Perceptron().fit_blocks(blocks)


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


def _plain_checksum(content):
    mask, odd = 2**64 - 1, 0x9E3779B97F4A7C15

    def mix(lane, word):
        lane = ((lane ^ word) * odd) & mask
        return lane ^ (lane >> 29)

    content += bytes(-len(content) % 64)
    lanes = [0] * 8
    for at in range(0, len(content), 8):
        lanes[at // 8 % 8] = mix(lanes[at // 8 % 8], int.from_bytes(content[at : at + 8], "little"))
    total = 0
    for lane in lanes:
        total = mix(total, lane)
    return f"{total:016x}"


@given(st.binary(max_size=300))
def test_the_checksum_is_its_plain_twin(content):
    assert checksum([np.frombuffer(content, np.uint8)]) == _plain_checksum(content)
