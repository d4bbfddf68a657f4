"""Sentences go the road of tables: `train`, `evaluate`, `predict_file`, `certify` take files and lists."""

import io

import numpy as np
import pytest

import rosenblatt as rb
from rosenblatt.cli.main import main
from rosenblatt.exceptions import DataTypeError, ParameterError, ShapeError
from rosenblatt.sequences.sentences import Corpus
from rosenblatt.tasks.training import TrainingResult

TAGGED = [
    [("the", "DET"), ("dog", "NOUN"), ("barks", "VERB")],
    [("dogs", "NOUN"), ("bark", "VERB")],
    [("a", "DET"), ("cat", "NOUN")],
]
WORDS = [[word for word, _ in each] for each in TAGGED]
TAGS = [[tag for _, tag in each] for each in TAGGED]


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "tiny.conll"
    path.write_text("".join("".join(f"{w} {t}\n" for w, t in each) + "\n" for each in TAGGED))
    return path


def test_lists_files_and_the_command_train_one_tagger(file, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ways = [rb.train(TAGGED), rb.train(file), rb.train([file]), rb.train(rb.open_data(file))]
    ways.append(rb.train(TAGGED, rb.SequencePerceptron(templates="words")))
    assert main(["train", "tiny.conll", "-o", "m", "--quiet"]) == 0
    for each in ways:
        assert isinstance(each, TrainingResult)
        assert each.model.state_features_ == rb.load("m").state_features_
        assert each.model.predict(WORDS) == TAGS
    assert repr(rb.train("tiny.conll").model) == repr(rb.load("m"))


def test_lists_have_columns_and_a_holdout():
    three = [[(word, word[-1], tag) for word, tag in each] for each in TAGGED]
    trained = rb.train(three, columns=["1", "2"], label=3, holdout=0.4, parameters={"max_iter": 3})
    assert (trained.model.columns_, trained.model.label_, trained.model.max_iter) == (("1", "2"), "3", 3)
    assert (trained.summary.n_sentences, trained.summary.held_out.n_sentences) == (2, 1)
    assert trained.summary.details() == str(trained.summary)


def test_a_tagger_is_measured_on_lists_and_labels_them(file):
    tagger = rb.train(TAGGED).model
    assert rb.evaluate(tagger, TAGGED).to_json() == rb.evaluate(tagger, str(file)).to_json()
    lines = [io.BytesIO(), io.BytesIO()]
    lines[0].isatty = lines[1].isatty = lambda: False
    rb.predict_file(tagger, WORDS, lines[0])
    rb.predict_file(tagger, str(file), lines[1])
    assert lines[0].getvalue() == lines[1].getvalue()


def test_sentences_are_certified_in_every_form(file):
    answers = [rb.certify(TAGGED), rb.certify(file), rb.certify(str(file), label=2)]
    assert [each.verdict for each in answers] == ["separable"] * 3
    own = rb.certify(WORDS, TAGS)
    assert own.to_json() == answers[0].answer.to_json()
    assert own.to_json() == rb.SequencePerceptron(templates="words").certify(WORDS, TAGS).to_json()
    both = rb.certify([["a"], ["a"]], [["A"], ["B"]])
    assert both.verdict == "inseparable"
    features = [[{"w": "a"}], [{"w": "b"}]]
    assert rb.certify(features, [["A"], ["B"]]).verdict == "separable"


def test_tables_are_certified_by_their_place(tmp_path):
    (tmp_path / "t.csv").write_text("a,b,label\n0,0,n\n1,1,n\n0,1,y\n1,0,y\n")
    found = rb.certify(tmp_path / "t.csv", margin=True)
    assert found.verdict == "inseparable"
    X, y, _ = rb.read_table(tmp_path / "t.csv")
    assert found.support == rb.certify(X, y).support
    assert rb.certify(tmp_path / "t.csv", target="b", ignore="label").verdict == "inseparable"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: rb.train(TAGGED, scale=False),
            "scale=False is for tables, but the data holds sentences. Drop scale=False",
        ),
        (lambda: rb.train(TAGGED, probabilities="sigmoid"), "probabilities is for tables"),
        (lambda: rb.train(TAGGED, resume=True), "resume needs a checkpoint"),
        (lambda: rb.train(TAGGED, "voted"), "not another learner"),
        (lambda: rb.train(TAGGED, rb.Perceptron()), "not another learner"),
        (lambda: rb.train(TAGGED, rb.SequencePerceptron()), "templates=None takes features"),
        (lambda: rb.train(TAGGED, encoding="latin-1"), "encoding is an option of reading files"),
        (lambda: rb.train("@iris", columns=["a"]), "columns is for sentences; tables have features. Drop columns"),
        (lambda: rb.train(WORDS), "both a feature and the label"),
        (lambda: rb.certify(TAGGED, margin=True), "margin=True is for tables"),
        (lambda: rb.certify(WORDS, TAGS, bias=False), "bias=False is for tables"),
    ],
)
def test_what_sentences_do_not_have(call, message):
    with pytest.raises(ParameterError, match=message):
        call()


def test_tokens_that_are_none():
    with pytest.raises(DataTypeError, match="each needs 2 texts"):
        rb.train([[("a", "A"), ("b",)]])
    with pytest.raises(ShapeError, match="without tokens"):
        Corpus.of([["a"], []])
    with pytest.raises(TypeError, match="unexpected keyword argument 'margn'"):
        rb.certify(np.eye(2), [0, 1], margn=True)
