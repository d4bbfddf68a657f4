"""Bounds of the structured perceptron hold for every run, with a margin that is certified."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rosenblatt as rb
from rosenblatt.exceptions import ParameterError, UndecidedError
from rosenblatt.sequences.sentence_verdict import pose_question
from tests.shared.examples import examples

X = [["the", "dog", "barks"], ["a", "cat", "sleeps"], ["dogs", "bark"], ["the", "bark", "of", "a", "tree"]]
Y = [["DET", "NOUN", "VERB"], ["DET", "NOUN", "VERB"], ["NOUN", "VERB"], ["DET", "NOUN", "ADP", "DET", "NOUN"]]
RUN = ("run_radius", "run_sum", "run_norm")


@st.composite
def annotated(draw):
    X = draw(st.lists(st.lists(st.sampled_from("abc"), min_size=1, max_size=4), min_size=2, max_size=5))
    y = [draw(st.lists(st.sampled_from("NV"), min_size=len(s), max_size=len(s))) for s in X]
    y[0][0], y[1][0] = "N", "V"
    return X, y


@settings(max_examples=examples(40))
@given(annotated(), st.integers(0, 3), st.sampled_from(["sign", "mistake"]))
def test_no_run_makes_more_mistakes_than_its_bounds(drawn, seed, tie):
    X, y = drawn
    model = rb.SequencePerceptron(
        templates=["form", ("form", -1), ("form", 1)], random_state=seed, tie=tie, max_iter=30
    ).fit(X, y)
    found = rb.bounds(X, y, model=model)
    assert found["one_pass"].observed == model.mistakes_per_pass_[0] <= found["one_pass"].value
    if found.separable:
        mistakes = model.mistakes_per_pass_.sum()
        for name in ("collins", *RUN):
            assert found[name].observed == mistakes <= found[name].value
        # each bound uses more of the run than the one before
        assert found["run_radius"].value <= found["collins"].value
        assert found["run_sum"].value <= math.sqrt(mistakes * found["run_radius"].value) * (1 + 1e-12)
        assert found["run_norm"].value <= found["run_sum"].value
    else:
        assert {each.reason for name, each in found.items() if name != "one_pass"} == {
            "no weights label every sentence correctly"
        }


def test_the_norms_are_those_of_the_run():
    model = rb.SequencePerceptron(templates="words").fit(X, Y)
    found = rb.bounds(X, Y, model=model)
    problem, *_ = pose_question(X, Y, "words", None)
    deltas = [problem.delta(each) for each in problem.logged(model.trace_.log)]
    squares = [sum(value**2 for value in delta.values()) for delta in deltas]
    assert found["run_radius"].uses["R"] == pytest.approx((math.sqrt(max(squares)),) * 2)
    assert found["run_sum"].uses["sqrt(Σ‖Δ‖²)"] == pytest.approx((math.sqrt(sum(squares)),) * 2)
    assert max(squares) <= found["collins"].uses["R"][1] ** 2
    gamma = model.certify(X, Y).margin.squared[0]
    assert found["collins"].uses["γ"] == pytest.approx((math.sqrt(gamma),) * 2)
    assert found["run_radius"].rational == max(squares) / gamma


def test_without_a_run_only_the_bound_for_any_run_applies():
    found = rb.bounds(X, Y, model=rb.SequencePerceptron(templates="words"))
    assert found["collins"].applies
    assert found["collins"].observed is None
    assert {found[name].reason for name in (*RUN, "one_pass")} == {"the model is not trained by fit"}


def test_a_margin_leaves_the_bound_by_the_norm():
    model = rb.SequencePerceptron(templates="words", margin=2.0, max_iter=100).fit(X, Y)
    found = rb.bounds(X, Y, model=model)
    assert [name for name, each in found.items() if each.applies] == ["run_norm"]
    assert found["run_norm"].observed == model.mistakes_per_pass_.sum() <= found["run_norm"].value


def test_weights_and_other_sentences_are_noticed():
    model = rb.SequencePerceptron(templates="words").fit(X, Y, sample_weight=[1, 2, 3, 4])
    assert "weights" in rb.bounds(X, Y, model=model)["run_norm"].reason
    other = rb.SequencePerceptron(templates="words").fit(X[:3], Y[:3])
    assert "other sentences" in rb.bounds(X, Y, model=other)["run_norm"].reason


@pytest.mark.parametrize("other", [{"min_freq": 2}, {"hash_bits": 10}])
def test_features_that_are_left_out_have_no_bounds(other):
    with pytest.raises(ParameterError, match="min_freq leaves some out and hash_bits mixes"):
        rb.bounds(X, Y, model=rb.SequencePerceptron(templates="words", **other))


def test_inexact_search_and_second_order_are_named():
    model = rb.SequencePerceptron(templates="words", beam=2).fit(X, Y)
    found = rb.bounds(X, Y, model=model)
    assert [name for name, each in found.items() if each.applies] == ["collins"]
    assert "prefixes" in found["run_norm"].reason
    with pytest.raises(ParameterError, match="order=1, not 2"):
        rb.bounds(X, Y, model=rb.SequencePerceptron(templates="words", order=2))


def test_time_is_limited():
    with pytest.raises(UndecidedError, match="not known"):
        rb.bounds(X, Y, model=rb.SequencePerceptron(templates="words"), time_limit=0)
