"""Taggers from the command line: one command trains, and its model is the one of Python."""

import json

import pytest

import rosenblatt as rb

TAGS = {"the": "DET", "a": "DET", "dog": "NOUN", "cat": "NOUN", "tree": "NOUN", "barks": "VERB", "sleeps": "VERB"}
SENTENCES = ["the dog barks", "a cat sleeps", "the tree", "a dog sleeps", "the cat barks", "dog barks"]


def conllu(sentences=SENTENCES):
    lines = []
    for n, sentence in enumerate(sentences, 1):
        lines.append(f"# sent_id = s{n}")
        for i, word in enumerate(sentence.split(), 1):
            lines.append("\t".join([str(i), word, word, TAGS[word], TAGS[word][:1], *["_"] * 5]))
        lines.append("")
    return "\n".join(lines)


@pytest.fixture
def corpus(tmp_path):
    (tmp_path / "x.conllu").write_text(conllu())
    return tmp_path / "x.conllu"


def test_a_tagger_is_trained_and_used(done, corpus):
    told = done("train", "x.conllu", "--label", "upos", "-o", "m")
    assert "tagger: 6 sentences, 16 tokens" in told
    assert "3 labels (DET 5, NOUN 6, VERB 5)" in told
    assert "training: 100 % of tokens, 100 % of sentences" in told
    tagger = rb.load("m")
    assert (tagger.columns_, tagger.label_) == (("form",), "upos")
    words = [sentence.split() for sentence in SENTENCES]
    expected = rb.SequencePerceptron(templates="words").fit(words, [[TAGS[w] for w in s] for s in words])
    assert tagger.state_features_ == expected.state_features_
    assert tagger.transition_features_ == expected.transition_features_
    assert done("predict", "m", "x.conllu").split("\n\n")[0] == "the\tDET\ndog\tNOUN\nbarks\tVERB"
    found = json.loads(done("evaluate", "m", "x.conllu", "--json"))
    assert (found["accuracy"], found["sentence_accuracy"], found["spans"]) == (1.0, 1.0, None)


def test_tokens_are_read_from_lines_or_text(done, corpus, tmp_path):
    done("train", "x.conllu", "-o", "m")
    (tmp_path / "words").write_text("a\ntree\n\nthe\ncat\nsleeps\n")
    (tmp_path / "text").write_text("a tree\nthe cat sleeps\n")
    by_line = done("predict", "m", "words")
    assert by_line == "a\tDET\ntree\tNOUN\n\nthe\tDET\ncat\tNOUN\nsleeps\tVERB\n\n"
    assert done("predict", "m", "text", "--format", "text") == by_line
    done("predict", "m", "words", "-o", "tagged.conll")
    assert (tmp_path / "tagged.conll").read_text() == by_line
    # What was written can be read again: words are the first column, labels the last.
    assert "tokens     1.0000   5 of 5 correct" in done("evaluate", "m", "tagged.conll")
    first = json.loads(done("predict", "m", "words", "--json", "--scores").splitlines()[0])
    assert (first["tokens"], first["labels"]) == (["a", "tree"], ["DET", "NOUN"])
    margins = rb.load("m").margins([["a", "tree"]])[0]
    assert first["scores"] == pytest.approx([-sorted(row)[-2] for row in margins.tolist()])


def test_further_columns_are_features(done, corpus):
    done("train", "x.conllu", "--columns", "form,xpos", "--label", "upos", "-o", "m")
    tagger = rb.load("m")
    assert tagger.columns_ == ("form", "xpos")
    assert any(name.startswith("1[-1]=") for name, _ in tagger.state_features_)
    assert tagger.predict([[("the", "D"), ("dog", "N")]]) == [["DET", "NOUN"]]
    assert " of 16 correct" in done("evaluate", "m", "x.conllu")


def test_parameters_are_those_of_python(done, corpus):
    done("train", "x.conllu", "-o", "m", "--max-iter", "2", "--margin", "3", "--seed", "5",
         "--set", 'templates=["lower", ["suffix2", -1]]')  # fmt: skip
    tagger = rb.load("m")
    assert (tagger.max_iter, tagger.margin, tagger.random_state) == (2, 3.0, 5)
    assert tagger.templates == ["lower", ["suffix2", -1]]
    assert "lower=the" in done("inspect", "m")


def test_sentences_are_held_out(done, corpus):
    told = json.loads(done("train", "x.conllu", "-o", "m", "--holdout", "0.5", "--json"))
    assert (told["sentences"], told["held_out"]["sentences"]) == (3, 3)


def test_an_interrupted_tagger_is_saved(run, corpus, monkeypatch):
    begun = []

    def ctrl_c():
        begun.append(1)
        if len(begun) > 2:
            raise KeyboardInterrupt

    monkeypatch.setattr("rosenblatt.learning.fit_loop.stop_if_interrupted", ctrl_c)
    ran = run("train", "x.conllu", "-o", "m", "--margin", "100")
    assert ran.code == 130, ran
    assert "interrupted after 2 passes" in ran.out
    monkeypatch.undo()
    two = rb.train(corpus, parameters={"max_iter": 2, "margin": 100}).model
    tagger = rb.load(corpus.parent / "m")
    assert tagger.n_iter_ == 2
    assert tagger.state_features_ == two.state_features_


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (
            "train x.conllu -o m --label tag",
            "--label tag is not a column of x.conllu. There are id, form, lemma, upos",
        ),
        ("train x.conllu -o m --label 11", "--label 11 is not a column of x.conllu. There are id, form"),
        ("train x.conllu -o m --label form", "both a feature and the label"),
        ("train x.conllu -o m --learner voted", "Drop --learner"),
        ("train x.conllu -o m --scale", "Drop --scale"),
        ("train x.conllu -o m --target upos", "holds sentences, which have no option --target. Drop --target."),
        ("train x.conllu -o m --set tol=1", "SequencePerceptron does not take --tol. It is a parameter of"),
        ("train x.conllu -o m --set templates=null", "Leave templates out"),
        ("train x.conllu -o m --holdout 0.01", "leaves none to train on or none to measure on"),
        ("train t.csv -o m --columns a,b", "tables have --features"),
        ("trace x.conllu", "this is a file of sentences, not a table"),
        ("evaluate --cv 3 x.conllu", "--cv is for tables"),
        ("report tagger x.conllu", "A report is about rows"),
        ("predict tagger x.conllu --probabilities", "no probabilities"),
        ("evaluate tagger x.conllu --positive DET", "no positive class"),
        ("evaluate tagger words", "has no column of labels beside its words"),
        ("evaluate tagger plain", "no label of the model is in column 3, which begins with 'barks'; its labels"),
        ("predict tagger tabbed", "tabbed:1: the only line has tabs between its 3 fields, and none"),
        ("predict tagger t.csv --format csv", "sentences are read as one of conllu, conll, text"),
        ("predict tagger pairs", "the line has 1 field, but the first line of tokens has 2 fields"),
        ("predict tagger x.conllu -o x.conllu", "would be overwritten"),
        (
            "evaluate rows t.csv --label 1",
            "--label is for taggers, but the model predicts rows of tables. Use --target.",
        ),
    ],
)
def test_what_cannot_be_done_is_said(run, corpus, tmp_path, command, message):
    rb.train(corpus).save(tmp_path / "tagger")
    rb.save(rb.Perceptron().fit([[0.0], [1.0]], ["n", "y"]), tmp_path / "rows")
    (tmp_path / "t.csv").write_text("a,label\n0,n\n1,y\n")
    (tmp_path / "words").write_text("a\ntree\n")
    (tmp_path / "pairs").write_text("a DET\ntree\n")
    (tmp_path / "plain").write_text("a tree barks\n")
    (tmp_path / "tabbed").write_text("a\ttree\tbarks\n")
    ran = run(*command.split())
    assert ran.code == 2, ran
    assert message in " ".join(ran.err.split()), ran.err


def test_a_tagger_of_features_reads_no_files(run, corpus, tmp_path):
    rb.save(rb.SequencePerceptron().fit([[["a"], ["b"]]], [["A", "B"]]), tmp_path / "m")
    assert "reads features, not words" in run("predict", "m", "x.conllu").err


def test_a_file_of_another_name_needs_a_label(done, tmp_path):
    (tmp_path / "ner.tsv").write_text("Rome\tB-LOC\nis\tO\nold\tO\n\nIn\tO\nNew\tB-LOC\nYork\tI-LOC\n\n")
    told = done("train", "ner.tsv", "--label", "2", "-o", "m", "--set", "constraints=bio")
    assert "F1 of spans 100 %" in told
    found = done("evaluate", "m", "ner.tsv")
    assert "spans      1.0000   F1" in found
    assert rb.evaluate("m", "ner.tsv").spans.f1 == 1.0
    tagger = rb.load("m")
    assert rb.evaluate(tagger, [["New", "York"]], [["B-LOC", "I-LOC"]]).accuracy == 1.0


def test_a_line_of_several_words_is_a_sentence(done, run, corpus, tmp_path):
    done("train", "x.conllu", "-o", "m")
    one = "the\tDET\ncat\tNOUN\nbarks\tVERB\n\n"
    (tmp_path / "one").write_text("the cat barks\n")
    assert done("predict", "m", "one") == one
    (tmp_path / "two").write_text("the cat barks\n\na tree\n")
    assert done("predict", "m", "two") == one + "a\tDET\ntree\tNOUN\n\n"
    told = run("predict", "m", "two")
    assert "two: each line was read as a sentence; --format conll reads a word a line" in told.err
    # Lines of one length may be words with what is known of them.
    (tmp_path / "even").write_text("the cat\na tree\n")
    refused = run("predict", "m", "even")
    assert refused.code == 2
    assert "even:1: every line has 2 fields" in refused.err
    assert "use --format text if each line is a sentence, or --format conll if each is one word" in refused.err
    assert done("predict", "m", "even", "--format", "text").split() == [
        "the",
        "DET",
        "cat",
        "NOUN",
        "a",
        "DET",
        "tree",
        "NOUN",
    ]
    assert done("predict", "m", "even", "--format", "conll").split() == ["the", "DET", "a", "DET"]


@pytest.mark.parametrize(
    "name, content",
    [
        ("words", "the\ncat\nbarks\n"),
        ("words", "# a comment of words\nthe\ncat\nbarks\n"),
        ("labelled", "the DET\ncat NOUN\nbarks VERB\n"),
        ("tabs", "the\tx\ty\ncat\tx\ty\nbarks\tx\ty\n"),
        ("named.conll", "the x y\ncat x y\nbarks x y\n"),
    ],
)
def test_a_word_a_line_stays_a_word(done, corpus, tmp_path, name, content):
    done("train", "x.conllu", "-o", "m")
    (tmp_path / name).write_text(content)
    assert done("predict", "m", name) == "the\tDET\ncat\tNOUN\nbarks\tVERB\n\n"


def test_columns_with_a_mistake_are_no_sentences(done, run, corpus, tmp_path):
    done("train", "x.conllu", "-o", "m")
    for content in ("the DET\ncat\nbarks VERB\n", "the\nbig cat\nbarks\n"):
        (tmp_path / "wrong").write_text(content)
        refused = run("predict", "m", "wrong")
        assert refused.code == 2
        assert "wrong:2: the line has" in refused.err
