"""Items are read as python-crfsuite reads them, and bad sentences are named by their place."""

import numpy as np
import pytest

from rosenblatt.exceptions import DataTypeError, LabelError, NonFiniteError, ShapeError
from rosenblatt.sequences.sentences import ItemVocabulary, as_label_codes, as_sentences, read_item

ITEM = {"w": "the", "n": 2, "t": True, "f": False, "d": {"a": "b", "e": ["x", "y"], "g": {"z": 0.5}}, "s": {"q"}}
READ = {"w:the": 1.0, "n": 2.0, "t": 1.0, "d:a:b": 1.0, "d:e:x": 1.0, "d:e:y": 1.0, "d:g:z": 0.5, "s:q": 1.0}


def test_an_item_of_every_kind():
    assert dict(read_item(ITEM)) == READ
    assert read_item(["a", "b"]) == read_item(("a", "b")) == read_item({"b", "a"}) == [("a", 1.0), ("b", 1.0)]


def test_items_are_those_of_python_crfsuite():
    import pycrfsuite as crfsuite

    found = crfsuite.ItemSequence([ITEM, ["a", "b"], {"k"}]).items()
    ours = [dict(read_item(each)) for each in (ITEM, ["a", "b"], {"k"})]
    assert [{name: value for name, value in each.items() if value} for each in found] == ours


def test_a_vocabulary_numbers_features_as_it_meets_them():
    vocabulary = ItemVocabulary()
    rows = vocabulary.rows([[["a", "b"], {"c": 2.0}], [], [["b"]]], grows=True)
    assert vocabulary.names() == ["a", "b", "c"]
    assert (rows.indices.tolist(), rows.data.tolist()) == ([0, 1, 2, 1], [1.0, 1.0, 2.0, 1.0])
    assert (rows.indptr.tolist(), rows.starts.tolist()) == ([0, 2, 3, 4], [0, 2, 2, 3])
    again = vocabulary.rows([[["z", "b"]]], grows=False)
    assert (again.indices.tolist(), again.data, vocabulary.n_features) == ([1], None, 3)
    vocabulary.keep(np.array([True, False, True]))
    assert vocabulary.rows([[["a", "b", "c"]]], grows=False).indices.tolist() == [0, 1]


@pytest.mark.parametrize(
    "item, error, words",
    [
        ("word", DataTypeError, r"X\[1\]\[0\]: an item is 'word'.*Set templates"),
        ({"a": float("nan")}, NonFiniteError, r"X\[1\]\[0\]: the value of 'a' is nan"),
        ({1: 2.0}, DataTypeError, "a feature is called 1"),
        ({"a": None}, DataTypeError, "an item is None"),
        ([b"a"], DataTypeError, "names are texts"),
    ],
)
def test_a_bad_item_is_named_and_changes_nothing(item, error, words):
    vocabulary = ItemVocabulary(["a"])
    with pytest.raises(error, match=words):
        vocabulary.rows([[["new"]], [item]], grows=True)
    assert vocabulary.names() == ["a"]


def test_sentences_may_be_generators():
    assert as_sentences((word for word in each.split()) for each in ["a b", "c"]) == [["a", "b"], ["c"]]
    for X, words in (("text", "X must be"), ([["a"], "b c"], r"X\[1\] must be"), ([3], r"X\[0\] must be")):
        with pytest.raises(DataTypeError, match=words):
            as_sentences(X)


def test_labels_fit_their_tokens():
    classes, codes = as_label_codes([["b", "a"], [], ["b"]], [[1, 2], [], [3]], None)
    assert (classes.tolist(), codes.tolist()) == (["a", "b"], [1, 0, 1])
    with pytest.raises(ShapeError, match=r"X\[1\] has 1 tokens, but y\[1\] has 2 labels"):
        as_label_codes([["a"], ["a", "b"]], [[1], [2]], None)
    with pytest.raises(ShapeError, match="X has 1 sentences, but y has 2"):
        as_label_codes([["a"], ["b"]], [[1]], None)
    with pytest.raises(LabelError, match="X has no tokens"):
        as_label_codes([[]], [[]], None)
    with pytest.raises(LabelError, match=r"y\[1\]\[0\] is 'c', which is not a label of the model"):
        as_label_codes([["a"], ["c"]], [[1], [2]], classes)
