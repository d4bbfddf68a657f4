"""Templates find the features that plain tuples of texts are, and number them exactly."""

import hashlib
import pickle
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rosenblatt.exceptions import DataTypeError, ParameterError
from rosenblatt.sequences.templates import (
    WORDS,
    HashedTemplates,
    TemplateVocabulary,
    as_templates,
    cell,
    shape,
    word_templates,
)

TEMPLATES = as_templates(
    ["form", ("lower", -1), [("suffix2", -1), ("prefix1", 0)], [("form", -1), "shape", ("form", 1)]]
)
words = st.text("aAb1", min_size=1, max_size=3)
corpora = st.lists(st.lists(words, max_size=4), min_size=1, max_size=4)


def plain(sentence, i):
    """Return the features of a token as tuples of texts."""
    found = []
    for k, template in enumerate(TEMPLATES):
        values = []
        for column, offset in template:
            at = i + offset
            outside = "before" if at < 0 else "behind"
            values.append(cell(sentence[at], column) if 0 <= at < len(sentence) else (outside,))
        found.append((k, *values))
    return found


def features(rows):
    return [rows.indices[a:b].tolist() for a, b in pairwise(rows.indptr.tolist())]


@given(corpora, corpora)
def test_features_are_equal_where_the_tuples_are(seen, new):
    vocabulary = TemplateVocabulary(TEMPLATES)
    numbers = {}
    expected = [
        [numbers.setdefault(each, len(numbers)) for each in plain(sentence, i)]
        for sentence in seen
        for i in range(len(sentence))
    ]
    assert features(vocabulary.rows(seen, grows=True)) == expected
    assert vocabulary.n_features == len(numbers)
    assert len(set(vocabulary.names())) == len(numbers)
    for again in (vocabulary, pickle.loads(pickle.dumps(vocabulary)), TemplateVocabulary.of(**vocabulary.parts)):
        known = [
            [numbers[each] for each in plain(sentence, i) if each in numbers]
            for sentence in new
            for i in range(len(sentence))
        ]
        assert features(again.rows(new, grows=False)) == known
    grown = [
        [numbers.setdefault(each, len(numbers)) for each in plain(sentence, i)]
        for sentence in new
        for i in range(len(sentence))
    ]
    assert features(vocabulary.rows(new, grows=True)) == grown


def test_many_sentences_are_numbered_in_parts():
    rng = np.random.default_rng(0)
    corpus = [[f"w{word}" for word in rng.integers(3000, size=50)] for _ in range(300)]
    whole = TemplateVocabulary(TEMPLATES)
    rows = whole.rows(corpus, grows=True)
    one_by_one = TemplateVocabulary(TEMPLATES)
    parts = [one_by_one.rows([sentence], grows=True).indices for sentence in corpus]
    assert rows.indices.tolist() == np.concatenate(parts).tolist()


def test_keeping_features_renumbers_them():
    vocabulary = TemplateVocabulary(TEMPLATES)
    vocabulary.rows([["a", "b"]], grows=True)
    names = vocabulary.names()
    kept = np.arange(len(names)) % 2 == 1
    vocabulary.keep(kept)
    assert vocabulary.names() == names[1::2]


def test_names_say_columns_offsets_and_values():
    vocabulary = TemplateVocabulary(as_templates([("lower", -1), [("form", 0), (1, 1)]]))
    vocabulary.rows([[("The", "x"), ("cat", "y")]], grows=True)
    assert vocabulary.names() == ["lower[-1]=^", "form=The & 1[+1]=y", "lower[-1]=the", "form=cat & 1[+1]=$"]


def test_a_word_forgotten_is_the_same_word(monkeypatch):
    monkeypatch.setattr("rosenblatt.sequences.templates.MOST_KINDS", 3)
    vocabulary = TemplateVocabulary(TEMPLATES)
    first = features(vocabulary.rows([["a", "b", "c", "d", "e"]], grows=True))
    assert features(vocabulary.rows([["a", "b", "c", "d", "e"]], grows=True)) == first


@pytest.mark.parametrize(
    "given_, words",
    [
        ("letters", "must be None, 'words'"),
        ([], "must be None, 'words'"),
        (["colour"], "'colour' is not a column"),
        (["suffix0"], "is not a column"),
        ([("lower", 1000)], "beyond"),
        ([()], "is not a template"),
        ([-1], "is not a column"),
    ],
)
def test_bad_templates(given_, words):
    with pytest.raises(ParameterError, match=words):
        as_templates(given_)


def test_bad_tokens_are_named_and_change_nothing():
    vocabulary = TemplateVocabulary(as_templates(["form", 1]))
    for sentences in ([[("a", "x")], [("b",)]], [[("a", "x")], ["b"]], [[("a", "x")], [("b", 3)]]):
        with pytest.raises(DataTypeError, match=r"X\[1\]\[0\] is .* at least 2 fields"):
            vocabulary.rows(sentences, grows=True)
    assert vocabulary.parts["texts"] == []
    lists = vocabulary.rows([[["a", "x"]]], grows=True)
    assert lists.indices.tolist() == vocabulary.rows([[("a", "x")]], grows=False).indices.tolist()


def test_shapes():
    assert [shape(each) for each in ("", "NASA", "iPhone6", "10:30", "ß", "日本")] == [
        "",
        "X",
        "xXxd",
        "d:d",
        "x",
        "x",
    ]


def mixed(bits):
    bits = (bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
    bits = (bits ^ (bits >> 27)) * 0x94D049BB133111EB % 2**64
    return bits ^ (bits >> 31)


def hashed_plainly(sentence, i, bits):
    """Return the hashed features of a token, from the digests of its texts."""
    golden = 0x9E3779B97F4A7C15
    found = []
    for k, template in enumerate(TEMPLATES, 1):
        state = k * golden % 2**64
        for column, offset in template:
            at = i + offset
            value = 0 if at < 0 else 1
            if 0 <= at < len(sentence):
                digest = hashlib.blake2b(cell(sentence[at], column).encode(), digest_size=8).digest()
                value = int.from_bytes(digest, "little")
            state = (mixed(state ^ value) + golden) % 2**64
        found.append(mixed(state) >> (64 - bits))
    return found


@given(corpora, st.integers(1, 28))
def test_hashed_features_are_those_of_the_plain_hash(sentences, bits):
    hashed = HashedTemplates(TEMPLATES, bits)
    expected = [hashed_plainly(sentence, i, bits) for sentence in sentences for i in range(len(sentence))]
    for again in (hashed, pickle.loads(pickle.dumps(hashed))):
        assert features(again.rows(sentences, grows=False)) == expected
    assert hashed.n_features == 2**bits


def test_hashed_features_are_spread():
    hashed = HashedTemplates(WORDS, 16)
    rows = hashed.rows([[f"word{i}" for i in range(5000)]], grows=False)
    exact = TemplateVocabulary(WORDS)
    exact.rows([[f"word{i}" for i in range(5000)]], grows=True)
    n, m = exact.n_features, 2**16
    expected = m * (1 - (1 - 1 / m) ** n)  # of numbers drawn at random
    assert abs(len(np.unique(rows.indices)) - expected) < 0.02 * expected


def test_further_fields_have_templates():
    assert word_templates(0) == "words"
    more = as_templates(word_templates(2))
    assert more[: len(WORDS)] == WORDS
    assert ((2, -1), (2, 0)) in more
    assert TemplateVocabulary(more).width == 3


def with_key(parts, name, at, key):
    keys = parts[name].copy()
    keys[at] = key
    return parts | {name: keys}


def test_parts_that_leave_their_templates_are_refused():
    vocabulary = TemplateVocabulary(as_templates(["form", [("form", -1), "lower"]]))
    vocabulary.rows([["A", "b"]], grows=True)
    parts = vocabulary.parts
    assert TemplateVocabulary.of(**parts).names() == vocabulary.names()
    value = int(parts["features"][0]) & (2**32 - 1)  # of "form"
    longer = with_key(parts, "features", 0, 2 << 32 | value)  # it goes on from a node, as one of two parts does
    for wrong, message in [
        (longer, "value of another column"),
        (with_key(parts, "features", 0, 1 << 32 | value), "longer or shorter"),  # the first of two parts
        (with_key(parts, "inner", 0, 0 << 32 | value), "longer or shorter"),  # a node after a whole template
        (with_key(parts, "inner", 1, 2 << 32 | value), "longer or shorter"),  # a node after all parts but one
    ]:
        with pytest.raises(ValueError, match=message):
            TemplateVocabulary.of(**wrong)
