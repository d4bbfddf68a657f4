"""The structured perceptron as people use it."""

import copy
import pickle
import signal
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError

import rosenblatt as rb
from rosenblatt.exceptions import LabelError, ParameterError, ShapeError, TrainingOverflowError
from rosenblatt.sequences import tagger_fit as learner
from rosenblatt.sequences.sentences import read_item
from tests.oracles.sequence import train

X = [["the", "dog", "barks"], ["a", "cat", "sleeps"], [], ["dogs", "bark"], ["the", "bark", "of", "a", "tree"]]
Y = [["D", "N", "V"], ["D", "N", "V"], [], ["N", "V"], ["D", "N", "P", "D", "N"]]
ITEMS = [[{"w": word, "ends": {"s": word.endswith("s")}, "length": len(word)} for word in each] for each in X]


def corpus(n, seed=0, noise=0.0):
    """Make sentences whose labels follow from a word and the label before it."""
    rng = np.random.default_rng(seed)
    sentences = [[f"w{word}" for word in rng.integers(30, size=rng.integers(1, 9))] for _ in range(n)]
    labels = []
    for sentence in sentences:
        before, own = 0, []
        for word in sentence:
            before = (int(word[1:]) + before) % 3 if rng.random() >= noise else int(rng.integers(3))
            own.append("abc"[before])
        labels.append(own)
    return sentences, labels


def bits(model):
    return model._state.w.tobytes(), model._state.t.tobytes(), model._state.u.tobytes()


@pytest.fixture(scope="module")
def fitted():
    sentences, labels = corpus(150, noise=0.1)
    return sentences, labels, rb.SequencePerceptron(templates="words", max_iter=5).fit(sentences, labels)


@pytest.mark.parametrize("tie", ["sign", "mistake"])
@pytest.mark.parametrize("data, templates", [(X, "words"), (ITEMS, None)])
def test_it_learns_its_sentences(tie, data, templates):
    model = rb.SequencePerceptron(templates=templates, tie=tie, max_iter=50, average=False).fit(data, Y)
    assert (model.stop_reason_, model.converged_, model.n_skipped_) == ("separated", True, 1)
    assert model.mistakes_per_pass_[-1] == 0
    assert model.predict(data) == Y
    assert model.score(data, Y) == 1.0
    assert model.classes_.tolist() == ["D", "N", "P", "V"]


def test_it_is_the_reference():
    names = {}
    sentences = [
        [[(names.setdefault(name, len(names)), value) for name, value in item] for item in each]
        for each in [[read_item(item) for item in each] for each in ITEMS]
        if each
    ]
    truths = [["DNPV".index(label) for label in each] for each in Y if each]
    run = train(sentences, truths, 4, [0, 1, 2, 3] * 3)
    model = rb.SequencePerceptron(max_iter=3, shuffle=False).fit(ITEMS, Y)
    found = {(names[name], "DNPV".index(label)): weight for (name, label), weight in model.state_features_.items()}
    assert found == {key: float(value) for key, value in run.average.w.items() if value}
    assert model.trace_.visit.tolist() == [update.visit for update in run.updates]


def test_generators_will_do(fitted):
    sentences, labels, model = fitted
    again = clone(model).fit((iter(each) for each in sentences), (iter(each) for each in labels))
    assert bits(again) == bits(model)
    assert again.predict(iter(each) for each in sentences) == model.predict(sentences)


def test_a_stream_is_a_pass_in_order(fitted):
    sentences, labels, _ = fitted
    once = rb.SequencePerceptron(templates="words", max_iter=1, shuffle=False).fit(sentences, labels)
    stream = rb.SequencePerceptron(templates="words").partial_fit(
        sentences[:70], labels[:70], classes=["a", "b", "c"]
    )
    for x, y in zip(sentences[70:], labels[70:], strict=True):
        assert stream.predict_one(x) == stream.predict([x])[0]
        stream.learn_one(x, y)
    assert stream.state_features_ == once.state_features_
    assert stream.transition_features_ == once.transition_features_
    assert stream.predict(sentences) == once.predict(sentences)
    with pytest.raises(AttributeError, match="in a stream"):
        stream.trace_  # noqa: B018
    going_on = copy.deepcopy(once).partial_fit(sentences[:9], labels[:9])
    assert going_on._state.visits == 159


def test_few_and_many_sentences_are_predicted_alike(fitted):
    sentences, labels, _ = fitted
    stream = rb.SequencePerceptron(templates="words").partial_fit(sentences, labels)
    one_by_one = [stream.predict_one(each) for each in sentences]
    margins = [stream.margins([each])[0] for each in sentences]
    assert stream.predict(sentences) == one_by_one
    for ours, alone in zip(stream.margins(sentences), margins, strict=True):
        assert ours.tobytes() == alone.tobytes()


def test_margins_and_k_best(fitted):
    sentences, _, model = fitted
    for sentence, labels, margins in zip(
        sentences, model.predict(sentences), model.margins(sentences), strict=True
    ):
        codes = model.classes_.searchsorted(labels)
        assert (margins <= 0.0).all()
        assert (margins[np.arange(len(codes)), codes] == 0.0).all()
        (best,) = model.predict([sentence], k=4)
        assert best[0] == labels
        assert len({tuple(each) for each in best}) == min(4, 3 ** len(sentence)) == len(best)
    assert model.predict([[]]) == [[]]
    assert model.predict([[]], k=2) == [[[]]]


def test_the_trace_replays(fitted):
    sentences, labels, model = fitted
    trace = model.trace_
    assert len(trace) == len(trace.visit) == trace.mistakes_per_pass.sum()
    assert (trace.gap <= 0.0).all()
    state = trace.replay(sentences, labels)
    assert (state.w.tobytes(), state.t.tobytes(), state.u.tobytes()) == bits(model)
    half = trace.replay(sentences, labels, stop=len(trace) // 2)
    assert half.w.tobytes() != state.w.tobytes()
    at, wrong = trace.wrong(0)[0]
    assert wrong != labels[trace.sentence[0]][at]
    with pytest.raises(ShapeError, match="the run had 150"):
        trace.replay(sentences[:3], labels[:3])


def test_weights_of_sentences():
    twice = rb.SequencePerceptron(templates="words", shuffle=False).fit(X, Y, sample_weight=[2] * 5)
    once = rb.SequencePerceptron(templates="words", shuffle=False).fit(X, Y)
    assert twice.state_features_ == {key: 2 * value for key, value in once.state_features_.items()}
    without = rb.SequencePerceptron(templates="words", shuffle=False).fit(X, Y, sample_weight=[1, 1, 1, 1, 0])
    assert not any(name == "lower=tree" for name, _ in without.state_features_)


def test_rare_features_are_left_out():
    model = rb.SequencePerceptron(templates=["lower"], min_freq=2, max_iter=20).fit(X, Y)
    assert {name for name, _ in model.state_features_} <= {"lower=the", "lower=a", "lower=bark"}
    with pytest.raises(ParameterError, match="min_freq=2 cannot be used"):
        model.partial_fit(X, Y)


def test_constraints_hold_in_every_prediction():
    rng = np.random.default_rng(0)
    sentences = [[f"w{word}" for word in rng.integers(9, size=6)] for _ in range(60)]
    labels = [["B-X" if word < "w3" else "O" for word in each] for each in sentences]
    for own in labels:
        for i in range(1, 6):
            if own[i] == "O" and own[i - 1] != "O" and rng.random() < 0.7:
                own[i] = "I-X"
    model = rb.SequencePerceptron(templates=["lower"], constraints="bio").fit(sentences, labels)
    for own in [*model.predict(sentences), *(each for best in model.predict(sentences, k=9) for each in best)]:
        assert all(label != "I-X" or before != "O" for before, label in zip(["O", *own], own, strict=False))
    with pytest.raises(LabelError, match=r"y\[0\]\[0\] is 'I-X' at the start"):
        model.fit([["a", "b"]], [["I-X", "O"]])
    with pytest.raises(LabelError, match=r"y\[0\]\[0\] is 'I-X' at the start"):
        model.partial_fit([["brand", "new"]], [["I-X", "O"]])
    assert not any("brand" in name for name in model._vocabulary.names())


def test_a_margin_updates_where_the_truth_wins_by_little():
    plain = rb.SequencePerceptron(templates="words", max_iter=50).fit(X, Y)
    wide = rb.SequencePerceptron(templates="words", max_iter=50, margin=20).fit(X, Y)
    assert len(wide.trace_) > len(plain.trace_)


@pytest.mark.parametrize(
    "parameters, words",
    [
        ({"tie": "half"}, "tie='half'"),
        ({"max_iter": 0}, "max_iter=0"),
        ({"margin": -1}, "margin=-1"),
        ({"average": 1}, "average=1"),
        ({"min_freq": 0}, "min_freq=0"),
        ({"constraints": "iob"}, "constraints='iob'"),
        ({"templates": "letters"}, "templates='letters'"),
    ],
)
def test_bad_parameters(parameters, words):
    with pytest.raises(ParameterError, match=words):
        rb.SequencePerceptron(**{"templates": "words"} | parameters).fit(X, Y)


def test_bad_input():
    model = rb.SequencePerceptron(templates="words")
    with pytest.raises(NotFittedError):
        model.predict(X)
    assert model.predict_one(X[0]) is None
    with pytest.raises(AttributeError, match="before it is trained"):
        model.classes_  # noqa: B018
    with pytest.raises(LabelError, match="All tokens have the label D"):
        model.fit([["a", "b"]], [["D", "D"]])
    with pytest.raises(LabelError, match="Pass all labels as classes"):
        model.partial_fit([["a"]], [["D"]])
    model.partial_fit(X, Y)
    with pytest.raises(LabelError, match="not a label of the model"):
        model.learn_one(["a"], ["Q"])
    with pytest.raises(ParameterError, match="not those of the first call"):
        model.partial_fit(X, Y, classes=["a"])
    with pytest.raises(ParameterError, match="average, order and constraints cannot change"):
        model.set_params(average=False).partial_fit(X, Y)
    with pytest.raises(ParameterError, match="k=0"):
        model.predict(X, k=0)


def test_values_too_large_are_an_error():
    with pytest.raises(TrainingOverflowError, match="too large"):
        rb.SequencePerceptron(tie="mistake").fit([[{"a": 1e200}, {"a": 1e200}]] * 3, [["x", "y"]] * 3)


def test_without_an_average_a_limit_warns():
    sentences, labels = corpus(40, noise=0.5)
    with pytest.warns(ConvergenceWarning, match="max_iter=2 was reached"):
        rb.SequencePerceptron(templates=["lower"], average=False, max_iter=2).fit(sentences, labels)


def test_ctrl_c_leaves_the_last_complete_pass(monkeypatch):
    sentences, labels = corpus(100, noise=0.2)
    made, learn = [], learner.learn

    def interrupted(*arguments):
        made.append(1)
        if len(made) == 6:
            signal.raise_signal(signal.SIGINT)
        return learn(*arguments)

    monkeypatch.setattr(learner, "SENTENCES_AT_ONCE", 50)
    monkeypatch.setattr(learner, "learn", interrupted)
    model = rb.SequencePerceptron(templates="words")
    with pytest.raises(KeyboardInterrupt):
        model.fit(sentences, labels)
    monkeypatch.undo()
    assert (model.stop_reason_, model.n_iter_, len(model.trace_.mistakes_per_pass)) == ("interrupted", 3, 3)
    expected = rb.SequencePerceptron(templates="words", max_iter=3).fit(sentences, labels)
    assert bits(model) == bits(expected)


def test_threads_predict_at_the_same_time(fitted):
    sentences, _, model = fitted
    model = pickle.loads(pickle.dumps(model))
    parts = [[*sentences[i::7], [f"new{i}", "words"]] for i in range(7)]
    expected = [model.predict(part) for part in parts]
    fresh = pickle.loads(pickle.dumps(model))
    barrier = threading.Barrier(7)

    def predict(part):
        barrier.wait()
        return fresh.predict(part)

    with ThreadPoolExecutor(7) as pool:
        assert list(pool.map(predict, parts)) == expected


@given(st.integers(0, 2**16))
@settings(max_examples=8)
def test_seeds_give_orders(seed):
    sentences, labels = corpus(30, noise=0.3)
    one = rb.SequencePerceptron(templates=["lower"], max_iter=2, random_state=seed).fit(sentences, labels)
    two = rb.SequencePerceptron(templates=["lower"], max_iter=2, random_state=seed).fit(sentences, labels)
    assert bits(one) == bits(two)
    other = rb.SequencePerceptron(templates=["lower"], max_iter=2, random_state=seed + 1).fit(sentences, labels)
    assert one.trace_.sentence.tolist() != other.trace_.sentence.tolist()


def test_hashed_templates_learn_and_are_saved(tmp_path):
    X = [["the", "dog", "barks"], ["a", "cat", "sleeps"], ["dogs", "bark"]]
    y = [["DET", "NOUN", "VERB"], ["DET", "NOUN", "VERB"], ["NOUN", "VERB"]]
    hashed = rb.SequencePerceptron(templates="words", hash_bits=12).fit(X, y)
    assert hashed.score(X, y) == 1.0
    assert hashed.n_features_ == 4096
    assert hashed.trace_.replay(X, y).w.tobytes() == hashed._state.w.tobytes()
    rb.save(hashed, tmp_path / "m")
    again = rb.load(tmp_path / "m")
    new = [["the", "mouse", "squeaks"], []]
    assert again.predict(new) == hashed.predict(new)
    assert again.partial_fit(X, y).state_features_ == hashed.partial_fit(X, y).state_features_
    stream = rb.SequencePerceptron(templates="words", hash_bits=12).partial_fit(X, y)
    assert len(stream._state.w) == 4096
    for wrong in ({"hash_bits": 40}, {"templates": None}, {"min_freq": 2}, {"hash_bits": 0}):
        with pytest.raises(rb.exceptions.ParameterError, match="hash_bits"):
            rb.SequencePerceptron(**({"templates": "words", "hash_bits": 12} | wrong)).fit(X, y)


CHAIN = [list("abcab"), list("bca"), list("cabca"), list("ab")]


@pytest.mark.parametrize("beam", [None, 1, 3])
@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("update", ["early", "max", "full"])
def test_beams_are_replayed_saved_and_continued(tmp_path, beam, order, update):
    y = [[letter.upper() for letter in word] for word in CHAIN]
    tagger = rb.SequencePerceptron(templates=["form"], beam=beam, order=order, update=update, max_iter=3)
    tagger.fit(CHAIN, y)
    replayed = tagger.trace_.replay(CHAIN, y)
    assert replayed.w.tobytes() == tagger._state.w.tobytes()
    assert replayed.t.tobytes() == tagger._state.t.tobytes()
    assert all(label in "ABC" for _, label in tagger.trace_.wrong(0))
    rb.save(tagger, tmp_path / "m")
    again = rb.load(tmp_path / "m")
    assert again.predict(CHAIN) == tagger.predict(CHAIN)
    assert again.transition_features_ == tagger.transition_features_
    assert again.partial_fit(CHAIN, y).state_features_ == tagger.partial_fit(CHAIN, y).state_features_


def test_three_labels_in_a_row_can_be_learned():
    """X follows A A, and Y follows B A; the words say nothing."""
    X = [["first", *["w"] * 6], ["second", *["w"] * 6]]
    y = [list("SAAXAAX"), list("TBAYBAY")]
    second = rb.SequencePerceptron(templates=["form"], order=2, max_iter=50, average=False).fit(X, y)
    assert second.converged_
    assert second.predict(X) == y
    assert ("A", "A", "X") in second.transition_features_
    with pytest.warns(ConvergenceWarning):
        first = rb.SequencePerceptron(templates=["form"], max_iter=50, average=False).fit(X, y)
    assert not first.converged_


def test_what_a_beam_cannot_do_is_said():
    X, y = [["a", "b"]], [["A", "B"]]
    for wrong in ({"beam": 0}, {"order": 3}, {"update": "late"}, {"beam": 2, "tie": "mistake"}):
        with pytest.raises(rb.exceptions.ParameterError, match=next(iter(wrong))):
            rb.SequencePerceptron(templates=["form"], **wrong).fit(X, y)
    tagger = rb.SequencePerceptron(templates=["form"], beam=2).fit(X, y)
    with pytest.raises(rb.exceptions.ParameterError, match="margins needs exact search"):
        tagger.margins(X)
    with pytest.raises(rb.exceptions.ParameterError, match="predict with k needs exact search"):
        tagger.predict(X, k=2)
    with pytest.raises(rb.exceptions.ParameterError, match="order and constraints cannot change"):
        tagger.set_params(order=2).partial_fit(X, y)
