"""Labels of sentences: tokens, sentences, and spans as conlleval counts them."""

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rosenblatt.exceptions import ShapeError
from rosenblatt.sequences.tag_scores import Span, evaluate_sequences, spans_of

LABELS = ["O", *(f"{letter}-{kind}" for letter in "BIES" for kind in "XY")]
labellings = st.lists(st.sampled_from(LABELS), max_size=8)


def conlleval(truth, predicted):
    """Counts of correct, found and true spans, by the rules of conlleval: pairs of neighbouring tags."""

    def ends(before, label):
        (tag, kind), (new, new_kind) = before, label
        return tag != "O" and (tag in "ES" or new in "BSO" or kind != new_kind)

    def starts(before, label):
        (tag, kind), (new, new_kind) = before, label
        return new != "O" and (new in "BS" or tag in "ESO" or kind != new_kind)

    correct = found = true = 0
    for one, other in zip(truth, predicted, strict=True):
        both = False
        before = guessed_before = ("O", "")
        for label, guess in zip([*one, "O"], [*other, "O"], strict=True):
            now, guessed = tuple(label.partition("-")[::2]), tuple(guess.partition("-")[::2])
            end, guessed_end = ends(before, now), ends(guessed_before, guessed)
            if both and end and guessed_end:
                correct, both = correct + 1, False
            elif both and end != guessed_end:
                both = False
            start, guessed_start = starts(before, now), starts(guessed_before, guessed)
            both = (start and guessed_start and now[1] == guessed[1]) or (both and not (start or guessed_start))
            true, found = true + start, found + guessed_start
            before, guessed_before = now, guessed
    return correct, found, true


@given(st.lists(st.tuples(labellings, labellings), min_size=1, max_size=4))
def test_spans_are_counted_as_by_conlleval(pairs):
    truth = [one[: len(other)] for one, other in pairs]
    predicted = [other[: len(one)] for one, other in pairs]
    spans = evaluate_sequences([*truth, ["B-X"]], [*predicted, ["B-X"]]).spans
    correct, found, true = conlleval(truth, predicted)
    assert tuple(spans) == (correct + 1, found + 1, true + 1)


def test_all_short_labellings_agree_with_conlleval():
    sentences = list(product(["O", "B-X", "I-X", "I-Y"], repeat=3))
    for one in sentences:
        truth, predicted = [list(one)] * len(sentences), [list(each) for each in sentences]
        assert tuple(evaluate_sequences(truth, predicted).spans or (0, 0, 0)) == conlleval(truth, predicted)


@pytest.mark.parametrize(
    ("labels", "spans"),
    [
        ("I-X I-X O", [(0, 2, "X")]),  # a lone I- begins a span
        ("B-X I-Y", [(0, 1, "X"), (1, 2, "Y")]),
        ("I-X B-X", [(0, 1, "X"), (1, 2, "X")]),
        ("B-X E-X I-X", [(0, 2, "X"), (2, 3, "X")]),
        ("B-X L-X U-Y", [(0, 2, "X"), (2, 3, "Y")]),
        ("B-A-B I-A-B", [(0, 2, "A-B")]),
        ("O O", []),
        ("", []),
    ],
)
def test_spans(labels, spans):
    assert spans_of(labels.split()) == [Span(*each) for each in spans]


def test_parts_of_speech_have_no_spans():
    found = evaluate_sequences([["DET", "NOUN"], ["NOUN"], []], [["DET", "VERB"], ["NOUN"], []])
    assert found.spans is None
    assert found.types is None
    assert (found.accuracy, found.n_right, found.n_sentences) == (2 / 3, 2, 3)
    text = str(found)
    assert "tokens     0.6667   2 of 3 correct" in text
    assert "precision  recall      F1  tokens" in text
    assert found.to_json()["spans"] is None


def test_each_type_has_its_rates():
    truth = [["B-X", "I-X", "O", "B-Y"], ["B-X", "O"]]
    found = evaluate_sequences(truth, [["B-X", "I-X", "O", "O"], ["B-Y", "O"]])
    assert {name: tuple(each) for name, each in found.types.items()} == {"X": (1, 1, 2), "Y": (0, 1, 1)}
    assert (found.spans.precision, found.spans.recall, found.spans.f1) == (1 / 2, 1 / 3, 2 / 5)
    assert found.to_json()["types"]["X"]["f1"] == 2 / 3
    assert found.types["Y"].f1 == found.types["Y"].precision == 0.0


def test_labels_that_one_side_lacks_are_wrong():
    found = evaluate_sequences([["A", "B"]], [["A", "C"]])
    assert found.accuracy == 0.5
    assert found.tokens.classes.tolist() == ["A", "B", "C"]


def test_lengths_must_agree():
    with pytest.raises(ShapeError, match="1 sentences have true labels, but 2"):
        evaluate_sequences([["A"]], [["A"], ["B"]])
    with pytest.raises(ShapeError, match="Sentence 1 has 1 true labels, but 2"):
        evaluate_sequences([[], ["A"]], [[], ["A", "B"]])
    assert str(evaluate_sequences([], [])) == "no sentences"
