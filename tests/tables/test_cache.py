"""Cache files: used, made anew or refused, but never believed."""

import errno
import hashlib
import json
import os
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

import rosenblatt as rb
from rosenblatt.exceptions import FormatError, InputError, ParameterError, StorageError
from rosenblatt.tables import cache as cache_module
from rosenblatt.tables.blocks import BlockLayout, checksum
from rosenblatt.tables.cache import KIND, MAGIC, PREAMBLE, CachedBlocks
from rosenblatt.tables.collect import collect, measure
from rosenblatt.tables.recipe import SparseRecipe
from tests.shared.examples import examples
from tests.shared.strategies import noisy, quietly
from tests.tables.sources import ArraySource, FileSource, rows_of


def _cache(tmp_path, X, y):
    return collect(ArraySource(X, y), memory=0, cache=tmp_path / "cache", block_bytes=400), tmp_path / "cache"


@pytest.mark.slow
@pytest.mark.parametrize("layout", ["dense", "sparse"])
def test_no_damage_goes_unnoticed(tmp_path, layout):
    X, y = noisy(40, 3)
    data = X if layout == "dense" else csr_array(X * (np.abs(X) > 0.5))
    source = FileSource.write(tmp_path / "data.npy", X, y)
    if layout == "sparse":
        source.chunks = ArraySource(data, y).chunks
    blocks = collect(source, memory=0, cache=tmp_path / "cache", block_bytes=400)
    expected = quietly(rb.Perceptron(max_iter=3).fit_blocks, blocks)
    path = blocks.path
    content = path.read_bytes()
    rng = np.random.default_rng(0)
    used = [*range(80), *rng.integers(0, len(content), 200)]
    layouts = blocks._layouts
    used += [int(each.offset + at) for each in layouts for at in rng.integers(each.n_bytes, size=10)]
    outcomes = {"same": 0, "anew": 0, "refused": 0}
    for at in used:
        damaged = bytearray(content)
        damaged[at] ^= int(rng.integers(1, 256))
        path.write_bytes(damaged)
        said = []
        if at < len(KIND):  # it could be any file, which is not overwritten
            with pytest.raises(ParameterError, match="is not a cache"):
                collect(source, memory=0, cache=path, block_bytes=400)
            continue
        found = collect(source, memory=0, cache=path, block_bytes=400, log=said.append)
        try:
            model = quietly(rb.Perceptron(max_iter=3).fit_blocks, found)
        except FormatError:
            assert not path.exists()
            outcomes["refused"] += 1
            continue
        assert model.coef_.tobytes() == expected.coef_.tobytes()
        outcomes["anew" if "written again" in said[0] else "same"] += 1
    assert outcomes["refused"] > 30
    assert outcomes["anew"] > 50
    for at in (0, 20, 100, 5000, len(content) // 2, len(content) - 1):
        path.write_bytes(content[:at])
        model = quietly(
            rb.Perceptron(max_iter=3).fit_blocks,
            collect(source, memory=0, cache=tmp_path / "cache", block_bytes=400),
        )
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


class Described(FileSource):
    """A source that says what a file would say, dense or sparse."""

    def __init__(self, path, sparse=False, **how):
        super().__init__(path, **how)
        self.names = None if sparse else ("a", "b", "c")
        self.recipe = SparseRecipe(3, False) if sparse else None
        self.description = "three columns"
        self._sparse = sparse

    names = recipe = description = None

    def _arrays(self):
        X, y = super()._arrays()
        return (csr_array(X * (np.abs(X) > 0.5)) if self._sparse else X), y


def described(folder, sparse=False):
    """Write a source with a cache; return how to read it, its labels and the cache."""
    X, y = noisy(40, 3)
    Described.write(folder / "data.npy", X, np.where(y > 0, "yes", "no"))

    def read(log=lambda text: None):
        source = Described(folder / "data.npy", sparse)
        return collect(source, memory=0, cache=folder / "cache", block_bytes=400, statistics=not sparse, log=log)

    path = read().path
    return read, path


def rewritten(content, change):
    """Return a cache whose description was changed, with a checksum that is right again."""
    _, at, length, _ = PREAMBLE.unpack(content[: PREAMBLE.size])
    description = json.loads(content[at : at + length])
    changed = change(description)
    text = changed if isinstance(changed, bytes) else json.dumps(description).encode()
    preamble = PREAMBLE.pack(MAGIC, at, len(text), hashlib.sha256(text).digest())
    return preamble + content[PREAMBLE.size : at] + text


def setting(*places_and_value):
    *places, last, value = places_and_value

    def change(description):
        part = description["data"]
        for place in places:
            part = part[place]
        if last in ("append", "pop"):
            getattr(part, last)(value)
        else:
            part[last] = value

    return change


def writing(old, new):
    """Change the text of a description."""
    return lambda description: json.dumps(description).replace(old, new, 1).encode()


def _nested(depth):
    def change(description):
        text = json.dumps(description)
        deep = "[" * depth + "]" * depth
        return text.replace('"recipe": null', f'"recipe": {deep}', 1).encode()

    return change


CRAFTED = {
    "a name twice": writing('"n_rows": 40', '"n_rows": 40, "n_rows": 40'),
    "NaN": writing('"mean": [', '"mean": [NaN, '),
    "Infinity": writing('"mean": [', '"mean": [-Infinity, '),
    "a float beyond floats": writing('"mean": [', '"mean": [1e999, '),
    "a recipe nested within the limit of JSON": _nested(400),
    "a recipe nested deeply": _nested(50_000),
    "counts whose sum wraps around": setting("summary", "counts", [2**63 - 1, 2**63 - 1]),
    "signed wide indices": setting("blocks", 0, "index_type", "i8"),
    "big-endian values": setting("blocks", 0, "dtype", ">f8"),
    "names of half characters": setting("summary", "names", ["a", "b", "\ud800"]),
    "no JSON": lambda description: b"{",
    "no table": lambda description: b"[]",
    "too deep": lambda description: b"[" * 100_000,
    "a number of 10,000 digits": lambda description: b"1" * 10_000,
    "no text": lambda description: b"\xff",
    "more parts": lambda description: description.update(more=1),
    "no data": lambda description: description.update(data=None),
    "no summary": setting("summary", None),
    "no features": setting("summary", "n_features", 0),
    "features in words": setting("summary", "n_features", "3"),
    "half a feature": setting("summary", "n_features", 2.5),
    "many features": setting("summary", "n_features", 10**6),
    "too many features": setting("summary", "n_features", 10**30),
    "other rows": setting("summary", "n_rows", 41),
    "other values": setting("summary", "stored", 7),
    "labels of objects": setting("summary", "classes", {"type": "object", "labels": ["no", 1]}),
    "labels of lists": setting("summary", "classes", {"type": "object", "labels": [[], {}]}),
    "labels of a type of its own": setting("summary", "classes", {"type": "V8", "labels": ["no", "yes"]}),
    "long labels": setting("summary", "classes", {"type": "text999999999", "labels": ["no", "yes"]}),
    "labels out of order": setting("summary", "classes", {"type": "text3", "labels": ["yes", "no"]}),
    "one label twice": setting("summary", "classes", {"type": "text3", "labels": ["no", "no"]}),
    "a label too many": setting("summary", "classes", {"type": "text3", "labels": ["no", "nor", "yes"]}),
    "counts of other rows": setting("summary", "counts", [1, 1]),
    "negative counts": setting("summary", "counts", [-1, 41]),
    "huge counts": setting("summary", "counts", [2**70, 1]),
    "counts in words": setting("summary", "counts", "many"),
    "other boundaries": setting("summary", "boundaries", 1, 3),
    "fewer boundaries": setting("summary", "boundaries", [0, 40]),
    "ranks beyond": setting("ranks", [0, 2]),
    "equal ranks": setting("ranks", [0, 0]),
    "ranks of nothing": setting("ranks", []),
    "fewer names": setting("summary", "names", ["a"]),
    "names of numbers": setting("summary", "names", [1, 2, 3]),
    "facts of its own": setting("summary", "facts", "more", 1),
    "negative skipped rows": setting("summary", "facts", "skipped", -1),
    "a recipe of nothing": setting("summary", "facts", "recipe", {"kind": "table"}),
    "a recipe in words": setting("summary", "facts", "recipe", "eggs"),
    "no blocks": setting("blocks", []),
    "a block of objects": setting("blocks", 0, "dtype", "O8"),
    "a block of half floats": setting("blocks", 0, "dtype", "f2"),
    "signed indices": setting("blocks", 0, "index_type", "i4"),
    "a sparse block": setting("blocks", 0, "index_type", "u4"),
    "a block elsewhere": setting("blocks", 1, "offset", 4096),
    "a block before the file": setting("blocks", 0, "offset", -4096),
    "a block without rows": setting("blocks", 0, "n_rows", 0),
    "a block of many rows": setting("blocks", 0, "n_rows", 2**52),
    "a block of many values": setting("blocks", 0, "stored", 2**52),
    "a block too few": setting("blocks", "pop", -1),
    "a checksum of numbers": setting("blocks", 0, "checksum", 7),
    "statistics of nothing": setting("statistics", {}),
    "infinite statistics": setting("statistics", "mean", [float("inf"), 0.0, 0.0]),
    "undefined statistics": setting("statistics", "squares", [float("nan"), 0.0, 0.0]),
    "negative squares": setting("statistics", "squares", [-1.0, 0.0, 0.0]),
    "fewer statistics": setting("statistics", "count", [40]),
    "statistics of more rows": setting("statistics", "count", [41, 40, 40]),
    "statistics of other rows": setting("statistics", "n_rows", 4),
    "statistics in words": setting("statistics", "mean", ["0.0", "0.0", "0.0"]),
    "statistics neither sparse nor dense": setting("statistics", "sparse", 2),
}


@pytest.mark.parametrize("kind", CRAFTED)
def test_a_crafted_description_is_made_anew(tmp_path, kind):
    read, path = described(tmp_path)
    content, expected = path.read_bytes(), rows_of(read())
    path.write_bytes(rewritten(content, CRAFTED[kind]))
    said = []
    found = read(said.append)
    assert "is written again: its description" in said[0]
    assert [each.tolist() for each in rows_of(found)] == [each.tolist() for each in expected]
    assert path.read_bytes() == content


def test_a_cache_of_another_version_is_made_anew(tmp_path):
    read, path = described(tmp_path)
    content = path.read_bytes()
    path.write_bytes(content.replace(MAGIC, b"rosenblatt cache 2\n", 1))
    said = []
    read(said.append)
    assert "not a cache of this version" in said[0]
    assert path.read_bytes() == content


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=3)
    | st.sampled_from(["u8", "f8", ""]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=4,
)


def leaves(value, at=()):
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, each in inner:
        yield (*at, key)
        yield from leaves(each, (*at, key))


@settings(max_examples=examples(200))
@given(st.data(), st.booleans())
def test_no_description_leads_astray(data, sparse):
    with TemporaryDirectory() as folder:
        read, path = described(Path(folder), sparse)
        expected = quietly(rb.Perceptron(max_iter=2).fit_blocks, read()).coef_

        def change(description):
            place = data.draw(st.sampled_from(sorted(leaves(description["data"]), key=str)))
            setting(*place, data.draw(JSON))(description)

        path.write_bytes(rewritten(path.read_bytes(), change))
        try:
            model = quietly(rb.Perceptron(max_iter=2).fit_blocks, read())
        except FormatError:
            assert not path.exists()
        else:
            assert model.coef_.shape == expected.shape


def first_block(path, arrays_of):
    """Change the arrays of the first block of a cache, and make its checksum right again."""
    content = bytearray(path.read_bytes())
    _, at, length, _ = PREAMBLE.unpack(content[: PREAMBLE.size])
    layout = BlockLayout(**json.loads(content[at : at + length])["data"]["blocks"][0])
    block = np.frombuffer(content, np.uint8, layout.n_bytes, layout.offset)  # shares its memory with `content`
    arrays_of(*layout.parse(block, 3))
    sound = setting("blocks", 0, "checksum", checksum([block]))
    path.write_bytes(rewritten(bytes(content), sound))


def _unordered(rows, codes):
    rows.indptr[1:3] = rows.indptr[2:0:-1] + np.array([1, 0], "u4")


@pytest.mark.parametrize(
    ("sparse", "change"),
    [
        (False, lambda rows, codes: codes.__setitem__(0, 2)),
        (True, lambda rows, codes: codes.__setitem__(-1, 2**32 - 1)),
        (True, lambda rows, codes: rows.indices.__setitem__(0, 3)),
        (True, lambda rows, codes: rows.indptr.__setitem__(0, 1)),
        (True, lambda rows, codes: rows.indptr.__setitem__(-1, 2**32 - 1)),
        (True, lambda rows, codes: rows.indptr.__setitem__(1, 2**31)),
        (True, _unordered),
    ],
)
def test_a_crafted_block_ends_the_run(tmp_path, sparse, change):
    read, path = described(tmp_path, sparse)
    expected = rows_of(read())[0].tolist()
    first_block(path, change)
    found = read()
    assert type(found) is CachedBlocks
    with pytest.raises(FormatError, match=r"block 0 has changed since it was written\. It has been removed"):
        rb.Perceptron().fit_blocks(found)
    assert not path.exists()
    assert rows_of(read())[0].tolist() == expected


def test_a_block_that_is_written_again_unchanged_is_read(tmp_path):
    read, path = described(tmp_path, sparse=True)
    first_block(path, lambda rows, codes: None)
    said = []
    assert rows_of(read(said.append))[0].shape == (40, 3)
    assert "come from the cache" in said[0]


def test_statistics_that_are_not_finite_are_not_kept(tmp_path):
    X, y = noisy(40, 3)
    X[7, 1] = 1e200
    blocks = collect(ArraySource(X, y), memory=0, cache=tmp_path / "cache", block_bytes=400, statistics=True)
    assert blocks.statistics is None
    found = measure(blocks)
    assert not np.isfinite(found.squares[1])
    assert np.isfinite(found.mean).all()


@pytest.mark.skipif(os.name != "posix", reason="owners of files are those of POSIX")
class TestWhoWroteIt:
    """Only a cache that no other user could have written is used; others are made anew."""

    def read(self, tmp_path):
        read, path = described(tmp_path)
        said = []

        def again():
            said.clear()
            found = rows_of(read(said.append))
            return said[0], [each.tolist() for each in found]

        return again, path

    def anew(self, again, expected, why):
        said, found = again()
        assert f"is written again: it cannot be trusted: {why}" in said
        assert found == expected
        said, found = again()
        assert "come from the cache" in said
        assert found == expected

    @pytest.mark.parametrize("mode", [0o660, 0o606])
    def test_others_may_write_to_it(self, tmp_path, mode):
        again, path = self.read(tmp_path)
        assert path.stat().st_mode & 0o777 == 0o600
        _, expected = again()
        path.chmod(mode)
        self.anew(again, expected, "other users may write to it")
        assert path.stat().st_mode & 0o777 == 0o600

    def test_it_belongs_to_another_user(self, tmp_path, monkeypatch):
        again, _ = self.read(tmp_path)
        _, expected = again()
        us = os.geteuid()
        monkeypatch.setattr(os, "geteuid", lambda: us + 1)
        said, found = again()
        assert "is written again: it cannot be trusted: it belongs to another user" in said
        assert found == expected  # and the file that this process has just written is used

    def test_it_is_a_link(self, tmp_path):
        again, path = self.read(tmp_path)
        _, expected = again()
        content = path.read_bytes()
        path.rename(tmp_path / "elsewhere")
        path.symlink_to("elsewhere")
        self.anew(again, expected, "it is a link")
        assert (tmp_path / "elsewhere").read_bytes() == content
        assert not path.is_symlink()

    def test_a_link_to_nothing_is_not_followed(self, tmp_path):
        again, path = self.read(tmp_path)
        _, expected = again()
        path.unlink()
        path.symlink_to(tmp_path / "theirs")
        self.anew(again, expected, "it is a link")
        assert not (tmp_path / "theirs").exists()

    def test_it_is_a_pipe(self, tmp_path):
        again, path = self.read(tmp_path)
        _, expected = again()
        path.unlink()
        os.mkfifo(path)
        self.anew(again, expected, "it is not a plain file")


@pytest.mark.skipif(os.name != "posix", reason="change times of files are those of POSIX")
def test_a_file_with_the_same_times_and_samples_is_not_taken_for_another(tmp_path):
    """The time of the last change cannot be set, and another file has another inode."""
    X, y = noisy(40, 3)
    source = FileSource.write(tmp_path / "data.npy", X, y)
    path, said = tmp_path / "data.npy", []
    collect(source, memory=0, cache=tmp_path / "cache", block_bytes=400)
    status = path.stat()
    copy = tmp_path / "copy"
    copy.write_bytes(path.read_bytes())
    os.utime(copy, ns=(status.st_atime_ns, status.st_mtime_ns))
    copy.rename(path)
    collect(source, memory=0, cache=tmp_path / "cache", block_bytes=400, log=said.append)
    assert "is written again: the source" in said[0]


def test_a_fit_goes_on_after_its_data_were_moved_back(tmp_path):
    X, y = noisy(40, 3)
    source = FileSource.write(tmp_path / "data.npy", X, y)
    before = collect(source, block_bytes=400).identity
    os.utime(tmp_path / "data.npy", ns=((tmp_path / "data.npy").stat().st_mtime_ns,) * 2)  # a new change time
    assert collect(source, block_bytes=400).identity == before
