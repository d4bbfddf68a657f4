"""Bags of words: the loop is its plain twin, and words, hashes and buffers are what they are said to be."""

import re
from collections import Counter
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sklearn.feature_extraction.text import CountVectorizer

from rosenblatt.exceptions import ParameterError
from rosenblatt.tables import words
from rosenblatt.tables.reading import runs_of
from rosenblatt.tables.words import MetWords, bucket, find_grams, grams, hash_texts, text_buffers, tokens
from rosenblatt.threads import using
from tests.shared.examples import examples

some_text = st.one_of(
    st.text(max_size=40),
    st.text("abAB_ 01-é\n", max_size=40),
    st.lists(st.integers(1, 20), max_size=6).map(
        lambda lengths: " ".join("aBcDeFgHiJkLmNoPqRsT"[:n] for n in lengths)
    ),
    st.lists(st.sampled_from(["win", "a", "PRIZE", "2", "Ünï", "don't"]), max_size=200).map(" ".join),
).map(lambda text: text.encode("utf-8", "surrogatepass"))


def as_buffers(texts):
    offsets = np.cumsum([0, *map(len, texts)])
    return np.frombuffer(b"".join(texts), dtype=np.uint8), offsets


def found(texts, way, wanted, ngrams):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(words, "loop_pays", lambda *_: way == "loop")
        return find_grams(*as_buffers(texts), wanted.copy(), ngrams=ngrams)


@settings(max_examples=examples(100))
@given(
    texts=st.lists(some_text, max_size=5),
    ngrams=st.integers(1, 4),
    bits=st.sampled_from([1, 3, 8, 18]),
    known=st.integers(0, 2**32),
)
@example(texts=[b"x" * n + b" Y" for n in range(40)], ngrams=3, bits=18, known=0)
def test_the_loop_finds_the_runs_that_its_twin_finds(texts, ngrams, bits, known):
    rows = hashed(texts, "plain", ngrams=ngrams, bits=bits)
    wanted = np.zeros(1 << bits, np.bool_)
    wanted[rows.indices] = True
    wanted &= np.random.default_rng(known).random(1 << bits) < 0.7
    loop, plain = (found(texts, way, wanted, ngrams) for way in ("loop", "plain"))
    assert loop == plain
    assert sorted(number for number, _ in plain) == np.flatnonzero(wanted).tolist()
    assert all(bucket(gram, bits) == number for number, gram in plain)


@given(st.dictionaries(st.integers(0, 255), st.text(st.characters(codec="utf-8"), max_size=80), max_size=20))
def test_met_words_are_a_mapping_that_keeps_the_first(pairs):
    met = MetWords(8)
    for feature, word in pairs.items():
        met.add(feature, word.encode())
    assert dict(met) == {
        feature: (word if len(word) <= 64 else word[:63] + "…",) for feature, word in pairs.items()
    }
    before = dict(met)
    copy = met.copy()
    copy.add(next(iter({*range(256)} - {*pairs})), b"new")
    assert dict(met) == before
    assert len(copy) == len(met) + 1
    assert MetWords.of(8, before) == met


def hashed(texts, way, **options):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(words, "loop_pays", lambda *_: way == "loop")
        return hash_texts(*as_buffers(texts), **options)


@settings(max_examples=examples(200))
@given(
    texts=st.lists(some_text, max_size=5),
    ngrams=st.one_of(st.integers(1, 4), st.sampled_from(["2-3", "3-3", "char:1", "char:2-5", "char:4-16"])),
    bits=st.sampled_from([1, 3, 8, 9, 18, 28]),
)
@example(texts=[b"X%cY" % byte for byte in range(256)], ngrams="char:2-3", bits=28)
@example(texts=[b"x" * n for n in range(40)], ngrams="char:1-16", bits=28)
@example(texts=["aé€𝄞".encode() * n for n in range(9)], ngrams="char:3-9", bits=28)
@example(texts=[b"a b " * 500, b"", b"x", b"a"], ngrams="char:5-6", bits=18)
@example(texts=[b"X%cY" % byte for byte in range(256)], ngrams=1, bits=28)
@example(texts=[b"x" * n for n in range(40)], ngrams=2, bits=28)
@example(texts=[b"a b " * 500, b"", b"x", b" ".join(b"%d" % i for i in range(300))], ngrams=2, bits=18)
@example(texts=[b" ".join(b"%d" % i for i in range(n)) for n in (63, 64, 65)], ngrams=1, bits=28)
def test_the_loop_is_its_twin(texts, ngrams, bits):
    loop, plain = (hashed(texts, way, ngrams=ngrams, bits=bits) for way in ("loop", "plain"))
    for ours, twin in zip(loop, plain, strict=True):
        assert ours.dtype == twin.dtype
        assert ours.tobytes() == twin.tobytes()


@settings(max_examples=examples(100))
@given(text=some_text, ngrams=st.integers(1, 3))
def test_rows_count_the_buckets_of_all_runs(text, ngrams):
    rows = hashed([text], "loop", ngrams=ngrams, bits=12)
    ours = re.sub(rb"[\x00-/:-@\[-^`{-\x7f]", b" ", text).split(b" ")  # by what a word does not hold
    ours = [bytes(b + 32 if 65 <= b <= 90 else b for b in word) for word in ours if word]
    assert tokens(text) == ours
    runs = [b" ".join(ours[i : i + n]) for n in range(1, ngrams + 1) for i in range(len(ours) - n + 1)]
    assert Counter(runs) == Counter(grams(text, ngrams))
    assert dict(zip(rows.indices.tolist(), rows.data.tolist(), strict=True)) == Counter(
        bucket(run, 12) for run in runs
    )
    assert rows.indices.tolist() == sorted(set(rows.indices.tolist()))


def test_words():
    assert tokens(b"Don't CALL 0800-WIN_now!") == [b"don", b"t", b"call", b"0800", b"win_now"]
    assert tokens("Größe ÜBER 日本語".encode()) == [
        "größe".encode(),
        "Über".encode()[:2] + b"ber",
        "日本語".encode(),
    ]
    assert tokens(b"\x00a\x7fb\x80") == [b"a", b"b\x80"]
    assert tokens(b"") == tokens(b" ... ") == []
    assert grams(b"a b c", 3) == [b"a", b"a b", b"b", b"a b c", b"b c", b"c"]
    assert grams(b"a", 5) == [b"a"]


PINNED = [1033518134, 109329332, 1053439515, 621302000, 808809982]


def test_the_hash_is_for_ever():
    # Models depend on these: a change needs a new name in the recipe.
    known = (b"free", b"a", b"free entry", b"entry free", b"congratulations")
    assert [bucket(gram, 30) for gram in known] == PINNED
    assert bucket(b"free", 18) == PINNED[0] % 2**18


def test_buckets_are_even():
    buckets = Counter(bucket(b"word%d" % i, 10) for i in range(20_000))
    runs = Counter(bucket(b"a b%d" % i, 10) for i in range(20_000))
    for each in (buckets, runs):
        expected = 20_000 / 1024
        chi_square = sum((each[b] - expected) ** 2 / expected for b in range(1024))
        assert 1024 - 5 * 45 < chi_square < 1024 + 5 * 45  # five standard deviations


def test_parts_of_a_buffer_are_read_where_they_stand():
    values = np.frombuffer(b"skipped one two three skipped", dtype=np.uint8)
    whole = hash_texts(*as_buffers([b"one two", b" three"]), ngrams=2, bits=18)
    part = hash_texts(values, np.array([8, 15, 21], dtype=np.int32), ngrams=2, bits=18)
    assert all(np.array_equal(a, b) for a, b in zip(whole, part, strict=True))


@pytest.mark.parametrize("way", ["loop", "plain"])
def test_no_texts(way):
    rows = hashed([], way, ngrams=1, bits=18)
    assert rows.indptr.tolist() == [0]
    assert rows.data.size == rows.indices.size == 0


@pytest.mark.parametrize(
    "options",
    [
        *(
            {"ngrams": wrong}
            for wrong in (0, 17, True, "", "0-1", "3-2", "1-17", "char:", "char:0-3", "word:1-2", 1.5)
        ),
        {"bits": 0},
        {"bits": 29},
    ],
)
def test_bad_settings(options):
    with pytest.raises(ParameterError, match=next(iter(options))):
        hash_texts(*as_buffers([b"x"]), **({"ngrams": 1, "bits": 18} | options))


STRINGS = ["one", "", None, "größe", "x y"]


@pytest.mark.parametrize(
    "array",
    [
        pa.array(STRINGS),
        pa.array(STRINGS, pa.large_string()),
        pa.array(STRINGS).dictionary_encode(),
        pa.array(STRINGS, pa.string_view()),
        pa.chunked_array([STRINGS[:2], STRINGS[2:]]),
    ],
    ids=lambda array: str(array.type),
)
def test_strings_of_arrow(array):
    for start in range(6):
        for stop in range(start, 6):
            values, offsets = text_buffers(array[start:stop])
            texts = [bytes(values[a:b]).decode() for a, b in pairwise(offsets)]
            assert texts == [text or "" for text in STRINGS[start:stop]]


def test_strings_of_arrow_are_not_copied():
    array = pa.array(["one", "two"])
    values, offsets = text_buffers(array[1:])
    assert values.ctypes.data == array.buffers()[2].address
    assert offsets.ctypes.data == array.buffers()[1].address + 4
    missing = pa.StringArray.from_buffers(
        2, pa.py_buffer(np.array([0, 3, 6], np.int32)), pa.py_buffer(b"onetwo"), pa.py_buffer(b"\x02")
    )
    values, offsets = text_buffers(missing)  # a missing string may have bytes, which mean nothing
    assert bytes(values[offsets[0] : offsets[1]]) == b""
    assert bytes(values[offsets[1] : offsets[2]]) == b"two"


@pytest.mark.parametrize("ngrams", [1, 3])
def test_any_number_of_threads_hashes_the_same(monkeypatch, ngrams):
    monkeypatch.setattr(words, "MIN_PART_BYTES", 50)
    monkeypatch.setattr(words, "loop_pays", lambda *_: True)
    texts = [b"to be or not to be " * (k % 7) + str(k).encode() for k in range(60)] + [b"", b"x " * 300]
    values, offsets = as_buffers([b"left out", *texts, b"", b""])
    for each in (offsets[1:], offsets[1:].astype(np.int32), offsets[1:3]):
        alone = hash_texts(values, each, ngrams=ngrams, bits=10)
        for n_jobs in (2, 5):
            with using(n_jobs):
                found = hash_texts(values, each, ngrams=ngrams, bits=10)
            for one, other in zip(found, alone, strict=True):
                assert one.dtype == other.dtype
                assert one.tobytes() == other.tobytes()


@settings(max_examples=examples(100))
@given(text=st.text("abAé€𝄞 _1-", max_size=30), least=st.integers(1, 4), more=st.integers(0, 3))
def test_runs_of_characters_are_those_of_scikit_learn(text, least, more):
    """Of the words that we take, they are those of its analyzer `char_wb`."""
    theirs = CountVectorizer(analyzer="char_wb", ngram_range=(least, least + more), lowercase=False)
    found = theirs.build_analyzer()(b" ".join(tokens(text.encode())).decode())
    ours = [gram.decode() for gram in grams(text.encode(), f"char:{least}-{least + more}")]
    assert Counter(ours) == Counter(found)


@pytest.mark.parametrize("ngrams", [0, 17, True, [1, 2], None, "2-1", "char:", "words:2", "1-2-3"])
def test_other_runs_are_refused(ngrams):
    with pytest.raises(ParameterError, match=r"ngrams=.* must be the longest run of words"):
        runs_of(ngrams)
