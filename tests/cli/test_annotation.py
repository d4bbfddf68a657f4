"""Inconsistencies of annotation from the command line: what people read, and a proof that anyone can check."""

import json

import pytest

import rosenblatt as rb
from rosenblatt.sequences.conll import read_corpus

HOUSE = "the house was put up for sale"
TAGS = ["DET NOUN AUX VERB ADP ADP NOUN", "DET NOUN AUX VERB ADV ADP NOUN", "DET NOUN AUX VERB ADP ADP NOUN"]


def conllu(sentences):
    lines = []
    for n, (words, tags) in enumerate(sentences, 1):
        lines.append(f"# sent_id = s{n}")
        for i, (word, tag) in enumerate(zip(words.split(), tags.split(), strict=True), 1):
            lines.append("\t".join([str(i), word, word, tag, *["_"] * 6]))
        lines.append("")
    return "\n".join(lines)


@pytest.fixture
def corpus(tmp_path):
    path = tmp_path / "x.conllu"
    path.write_text(conllu([(HOUSE, TAGS[0]), ("no", "INTJ"), (HOUSE, TAGS[1]), (HOUSE, TAGS[2])]))
    return path


def test_inconsistencies_are_listed(run, corpus):
    ran = run("certify", "x.conllu", "--label", "upos", "-o", "p.json")
    code, told, said = ran.code, ran.out, ran.err
    assert code == 1
    assert told.splitlines() == [
        "1 inconsistency of annotation: the same words and neighbouring labels, but different labels for the "
        "words in brackets",
        '"was put [up] for sale": ADP (x.conllu:6, sentence s1; x.conllu:27, sentence s4) against ADV '
        "(x.conllu:18, sentence s3)",
        "The last labelling of each line is the minority. All minorities together: 1 sentence of 4.",
        "",
        "Inseparable: 1 inconsistency of annotation. No weights can label places with the same features and "
        "neighbouring labels differently (4 sentences, 7 labels).",
    ]
    assert "rosenblatt check p.json x.conllu" in said
    ran = run("check", "p.json", "x.conllu")
    code, told = ran.code, ran.out
    assert code == 0
    assert told.splitlines() == [
        "the proof holds: Any weights label one of 2 sentences wrongly: a sum of differences from the truth is 0 "
        "(4 sentences, 7 labels).",
        "read as the proof says, with --columns form --label upos --format conllu",
    ]


def test_without_them_the_rest_is_decided(run, corpus):
    ran = run("certify", "x.conllu", "--without-inconsistent", "-o", "p.json")
    code, told = ran.code, ran.out
    assert code == 0
    assert '"was put [up] for sale"' in told
    assert "Separable: " in told
    assert "(3 sentences, without 1 of 4, 7 labels)" in told
    assert json.loads((corpus.parent / "p.json").read_text())["data"]["without"] == [2]
    assert run("check", "p.json", "x.conllu").code == 0


def test_json_has_every_place(run, corpus):
    ran = run("certify", "x.conllu", "--json")
    code, told = ran.code, ran.out
    assert code == 1
    found = json.loads(told)
    assert (found["verdict"], found["sentences"], found["tokens"]) == ("inseparable", 4, 22)
    (one,) = found["inconsistencies"]
    assert one["words"] == "was put [up] for sale"
    assert [(each["labels"], each["minority"]) for each in one["variants"]] == [(["ADP"], False), (["ADV"], True)]
    assert one["variants"][1]["places"] == [{"file": "x.conllu", "line": 18, "sentence": 3, "id": "s3"}]
    assert found["proof"]["reading"] == {"columns": "form", "label": "upos", "format": "conllu"}


def test_few_are_shown_unless_all_are_asked_for(run, tmp_path):
    pairs = [(f"a w{i} b", "X Y X") for i in range(25)] + [(f"a w{i} b", "X Z X") for i in range(25)]
    (tmp_path / "x.conllu").write_text(conllu(pairs))
    told = run("certify", "x.conllu").out
    assert told.count(" against ") == 20
    assert "… and 5 more; --all shows them" in told
    told = run("certify", "x.conllu", "--all").out
    assert told.count(" against ") == 25
    assert "--all" not in told


def test_the_clearest_are_first(tmp_path):
    sentences = [("a b", "X Y"), ("a b", "X Z")] + [("c d", "X Y")] * 3 + [("c d", "X Z")]
    path = tmp_path / "x.conllu"
    path.write_text(conllu(sentences))
    found = rb.certify(path)
    assert [found.words(each) for each in found.inconsistencies] == ["c [d]", "a [b]"]
    assert "and 1 more" not in found.text()


def test_many_places_are_counted(tmp_path):
    path = tmp_path / "x.conllu"
    path.write_text(conllu([("c d", "X Y")] * 6 + [("c d", "X Z")]))
    assert "sentence s3; and 3 more) against Z" in rb.certify(path).text()


def test_a_consistent_corpus_is_separable(run, tmp_path):
    (tmp_path / "x.conll").write_text("EU B-ORG\nrejects O\n\nPeter B-PER\nBlackburn I-PER\n")
    ran = run("certify", "x.conll", "--constraints", "bio", "-o", "p.json")
    code, told = ran.code, ran.out
    assert code == 0
    assert told.startswith("Separable: Some weights score the true labelling of every sentence above all others")
    assert run("check", "p.json", "x.conll").code == 0
    ran = run("check", "p.json", "x.conll", "--columns", "2", "--label", "1")
    code, told = ran.code, ran.out
    assert (code, "the proof does not hold" in told) == (1, True)


def test_a_changed_corpus_is_noticed(run, corpus):
    run("certify", "x.conllu", "-o", "p.json")
    corpus.write_text(corpus.read_text().replace("house", "barn", 1))
    ran = run("check", "p.json", "x.conllu")
    code, told = ran.code, ran.out
    assert code == 1
    assert "These are not the sentences of the proof: the fingerprints differ." in told


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["x.conllu", "--margin"], "files of sentences have no --margin"),
        (["x.conllu", "--label", "upos", "--multiclass", "direct"], "files of sentences have no --multiclass"),
        (["@xor", "--all"], "tables, whose labels are named by --target, have no --all"),
        (["@xor", "--without-inconsistent"], "have no --without-inconsistent"),
        (["x.conllu", "--label", "tag"], "--label tag is not a column of x.conllu"),
        (["x.conllu", "--target", "upos"], "have no option --target"),
    ],
)
def test_options_that_do_not_fit_are_named(run, corpus, arguments, words):
    ran = run("certify", *arguments)
    code, said = ran.code, ran.err
    assert code == 2
    assert words in said


def test_a_bad_reading_is_named(run, corpus):
    run("certify", "x.conllu", "-o", "p.json")
    path = corpus.parent / "p.json"
    path.write_text(path.read_text().replace('"label"', '"target"'))
    ran = run("check", "p.json", "x.conllu")
    code, said = ran.code, ran.err
    assert (code, "which sentences do not have" in said) == (2, True)


def test_the_estimator_says_the_same(corpus):
    sentences = read_corpus(str(corpus))
    tagger = rb.SequencePerceptron(templates="words")
    answer = tagger.certify(sentences.tokens("form"), sentences.tokens("upos"))
    assert answer.to_json() == rb.certify(corpus).answer.to_json()
    assert answer.minority == (2,)
    for other in ({"min_freq": 2}, {"hash_bits": 10}):
        with pytest.raises(rb.exceptions.ParameterError, match="min_freq leaves some out and hash_bits mixes"):
            rb.SequencePerceptron(templates="words", **other).certify([["a"]], [["X"]])
    with pytest.raises(rb.exceptions.ParameterError, match="about order=1, not 2"):
        rb.SequencePerceptron(templates="words", order=2).certify([["a"]], [["X"]])
