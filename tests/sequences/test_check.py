"""The stand-alone checker on proofs about sentences: true ones are accepted, and nothing else."""

import copy
import json
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from rosenblatt.certify import check as checker
from rosenblatt.certify.certificate import Certificate
from rosenblatt.certify.check import DataError, ProofError, check, main, read_proof, read_sentences
from rosenblatt.exceptions import FormatError
from rosenblatt.sequences.conll import read_corpus
from tests.certify.proofs import at, paths, put
from tests.sequences.proofs import CASES, accepted, hash_of, holds

everyone = pytest.mark.parametrize("name", CASES)


@everyone
def test_true_proofs_are_accepted(name):
    X, y, proof = CASES[name]
    assert holds(proof, X, y)
    assert accepted(proof, X, y)
    said = check(read_proof(json.dumps(proof)), iter(X), iter(y))
    assert said.startswith(proof["verdict"].capitalize())
    assert said.endswith(".")
    assert Certificate.from_json(json.dumps(proof)).verify(X, y)


def test_what_is_proved_is_said():
    X, y, proof = CASES["without one"]
    assert check(proof, X, y) == (
        "Separable: weights have the true labelling of every sentence strictly above all others (1 sentences, 4 "
        "labels; 1 of 2 sentences are left out); the largest margin γ has γ² ≥ 3/8."
    )
    X, y, proof = CASES["an exchange"]
    assert check(proof, X, y) == "Inseparable: no weights label every sentence correctly (2 sentences, 4 labels)."


@st.composite
def mutations(draw):
    """Draw a true proof with one field changed to another value of its kind."""
    X, y, proof = CASES[draw(st.sampled_from(sorted(CASES)))]
    places = [path for path in paths(proof) if path and path[0] not in ("format", "version", "verdict")]
    path = draw(st.sampled_from(places))
    old = at(proof, path)
    if isinstance(old, int):
        new = draw(st.integers(0, 7))
    elif isinstance(old, str) and old.lstrip("-").startswith("0x"):
        new = draw(st.integers(-3, 3).map(hex) | st.sampled_from(["0x1p-1", "0x1/0x3", "0x2p1"]))
    elif path[-1] == "sha256":
        new = old[:7] + draw(st.sampled_from("0123456789abcdef")) + old[8:]
    elif "templates" in path and isinstance(old, str):
        new = draw(st.sampled_from(["form", "lower[-1]", "prefix1", "suffix1", "lower & lower[+1]"]))
    elif isinstance(old, str):
        new = draw(st.sampled_from(["P", "V", "N", "O", "B-X", "Z"]))
    elif isinstance(old, list) and old:
        i, j = draw(st.integers(0, len(old) - 1)), draw(st.integers(0, len(old) - 1))
        new = draw(
            st.sampled_from(
                [old[:i] + old[i + 1 :], [*old, old[i]], [*old[:i], old[j], *old[i + 1 :]], old[::-1], []]
            )
        )
    elif isinstance(old, list):
        new = draw(st.sampled_from([[0], [1], [9], [[0, 1]], [[4, 0]], [[1, 4]], [[0]]]))
    else:
        assume(False)
    return X, y, put(proof, path, new)


@given(mutations())
def test_a_changed_field_is_rejected_unless_true(mutated):
    X, y, proof = mutated
    try:
        read_proof(json.dumps(proof))
    except ProofError:
        return  # not of its shape
    right = holds(proof, X, y)
    assert accepted(proof, X, y) == right
    try:
        verification = Certificate.from_json(json.dumps(proof)).verify(X, y)
    except ProofError:
        assert not right
    else:
        assert bool(verification) == right


@pytest.mark.parametrize("name", CASES)
def test_a_template_listed_twice_makes_features_of_its_own(name):
    X, y, proof = CASES[name]
    twice = put(proof, ("data", "templates"), [*proof["data"]["templates"], proof["data"]["templates"][0]])
    right = holds(twice, X, y)
    assert right == (proof["verdict"] == "inseparable")  # weights of a separable one belong to fewer features
    assert accepted(twice, X, y) == bool(Certificate.from_json(json.dumps(twice)).verify(X, y)) == right


def wrong(name, *path, to):
    X, y, proof = CASES[name]
    return X, y, put(proof, path, to)


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        (wrong("an exchange", "combination", "weights", to=["0x1", "0x2"]), "Σ weight·Δ is not 0"),
        (wrong("an exchange", "combination", "weights", to=["0x1", "-0x1"]), "not above 0"),
        (wrong("an exchange", "combination", "weights", to=["0x1"]), "a weight each"),
        (wrong("an exchange", "combination", "sentences", to=[0, 7]), "sentence 7 takes no part"),
        (wrong("an exchange", "combination", "labellings", to=[[2, 3, 2, 3], [2, 3, 2, 3]]), "is the truth"),
        (wrong("an exchange", "combination", "labellings", to=[[9, 3, 2, 3], [2, 3, 2, 3]]), "one for each token"),
        (wrong("an exchange", "data", "without", to=[0]), "sentence 0 takes no part"),
        (wrong("an exchange", "data", "without", to=[2]), "leaves out a sentence that there is not"),
        (wrong("an exchange", "data", "forbidden", to=[[4, 2]]), "forbids the true labels of sentence 0"),
        (wrong("an exchange", "data", "forbidden", to=[[4, 4]]), "not a pair of labels"),
        (wrong("an exchange", "data", "labels", to=["D", "N", "P", "P"]), "two of them are the same"),
        (wrong("an exchange", "data", "labels", to=["D", "N", "P", "V", "W"]), "label that no token has"),
        (wrong("an exchange", "data", "labels", to=["D", "N", "P", "W"]), "sentence 0 has the label 'V'"),
        (wrong("an exchange", "data", "templates", to=["lower", "lower[-2]"]), "Σ weight·Δ is not 0"),
        (wrong("an exchange", "data", "tokens", to=9), "about other data"),
        (wrong("separable", "scores", "count", to=3), "do not increase within|about other data"),
        (wrong("separable", "scores", "count", to=10**30), "too many rows"),
        (wrong("separable", "scores", "pairs", to=["0x0"] * 19), "19 numbers for 20 columns"),
        (wrong("separable", "scores", "pairs", to=["0x1p-1"] * 20), "not a whole number"),
        (wrong("separable", "scores", "features", to={"columns": [], "values": []}), "not strictly above"),
        (wrong("separable", "data", "templates", to=["lower"] * 257), "257 templates, not 1 to 256"),
        (wrong("separable", "data", "templates", to=[]), "0 templates"),
    ],
)  # fmt: skip
def test_each_fault_is_named(changed, words):
    X, y, proof = changed
    with pytest.raises(ProofError, match=words):
        check(read_proof(json.dumps(proof)), X, y)
    assert not holds(proof, X, y)


def test_a_tie_is_no_separation():
    """Weights of zero give every labelling the same score."""
    X, y, proof = CASES["separable"]
    nothing = {"columns": [], "values": []}
    tied = put(put(proof, ("scores", "features"), nothing), ("scores", "pairs"), nothing)
    with pytest.raises(ProofError, match="sentence 0 is not strictly above"):
        check(read_proof(json.dumps(tied)), X, y)
    assert not Certificate.from_json(json.dumps(tied)).verify(X, y)


@pytest.mark.parametrize(
    ("path", "to", "words"),
    [
        (("data", "templates"), ["lower[1]"], "not a template"),
        (("data", "templates"), ["prefix21"], "not a template"),
        (("data", "templates"), ["lower[-101]"], "not a template"),
        (("data", "templates"), ["101"], "not a template"),
        (("data", "templates"), "lower", "not of type list"),
        (("data", "labels"), [1], "not of type str"),
        (("data", "without"), [-1], "negative"),
        (("data", "more"), 1, "unknown field 'more'"),
        (("bias",), True, "unknown field 'bias'"),
        (("combination", "labellings"), [0], "not of type list"),
        (("reading",), [], "not of type dict"),
        (("scores",), {}, "unknown field 'scores'"),
    ],
)
def test_a_wrong_shape_is_named(path, to, words):
    proof = copy.deepcopy(CASES["an exchange"].proof)
    with pytest.raises(ProofError, match=words):
        read_proof(json.dumps(put(proof, path, to)))


def test_a_proof_about_sentences_stands_alone():
    proof = CASES["an exchange"].proof
    with pytest.raises(ProofError, match="one of them is about sentences"):
        checker.read_proofs(json.dumps([proof, {**proof, "verdict": "inseparable", "reading": {}}]))
    assert checker.read_proofs(json.dumps([proof])) == [proof]


def test_the_fingerprint_is_that_of_the_page():
    X, y, proof = CASES["an exchange"]
    codes = [[proof["data"]["labels"].index(label) for label in own] for own in y]
    assert proof["data"]["sha256"] == hash_of(X, codes)


def test_lengths_that_differ_are_bad_data():
    X, y, proof = CASES["an exchange"]
    with pytest.raises(DataError, match="sentence 1 has 4 tokens and 3 labels"):
        check(proof, X, [y[0], y[1][:3]])
    with pytest.raises(DataError, match="7 is not a text"):
        check(proof, [[7, *X[0][1:]], X[1]], y)


def test_tokens_without_the_fields_of_a_template_are_not_those_of_the_proof():
    X, y, proof = CASES["an exchange"]
    other = put(proof, ("data", "templates"), ["1"])
    with pytest.raises(ProofError, match="the token 'we' has no field 1, which a template uses"):
        check(other, X, y)
    found = Certificate.from_json(json.dumps(other)).verify(X, y)
    assert found.reason == (
        "These are not the sentences of the proof: the token 'we' has no field 1, which a template uses."
    )


CONLLU = """\ufeff# sent_id = a
1-2\tcannot\t_\t_\t_\t_\t_\t_\t_\t_
1\tcan\tcan\tAUX\tMD\t_\t_\t_\t_\t_
2\tnot\tnot\tPART\tRB\t_\t_\t_\t_\t_
2.1\tgo\tgo\tVERB\tVB\t_\t_\t_\t_\t_

# a comment

1\tNo\tno\tINTJ\tUH\t_\t_\t_\t_\t_"""
FILES = {
    "x.conllu": CONLLU,
    "y.conllup": "# global.columns = ID FORM UPOS\n1\ta\tX\n2\tb\tY\n\n\n1\ta\tX\n",
    "z.conll": "# note\n-DOCSTART- O\n\nEU B-ORG\nrejects O\n\n# more of it here\n# O\n \nPeter B-PER\n",
    "t.tsv": "a b\tX\r\nc\tY\r\n\r\nd\tX\r\n",
    "u": "Ünï X\n\n\n\nb Y",
}
LABELS = {"x.conllu": ("form", "upos"), "y.conllup": ("form", "upos")}


@pytest.mark.parametrize("name", FILES)
def test_files_are_read_as_the_package_reads_them(tmp_path, name):
    path = tmp_path / name
    path.write_text(FILES[name], "utf-8", newline="")
    column, label = LABELS.get(name, ("1", "2"))
    corpus = read_corpus(str(path))
    found = list(read_sentences(str(path), columns=[column], label=label))
    assert [[token[0] for token in tokens] for tokens, _ in found] == corpus.tokens(column)
    assert [labels for _, labels in found] == corpus.tokens(label)


BAD = {
    "a.conllu": "1\ta\n",
    "b.conllu": "1\ta\ta\tX\tX\t_\t_\t_\t_\t\n",
    "c.conllu": "2\ta\ta\tX\tX\t_\t_\t_\t_\t_\n",
    "d.conllu": "x\ta\ta\tX\tX\t_\t_\t_\t_\t_\n",
    "e.conllu": "1\ta\ta\tX\tX\t_\t_\t_\t_\t_\n# within\n",
    "f.conll": "a X\nb\n",
    "g.conll": "a X\n# b c\n",
    "h.conll": "a\tX\nb\t\n",
}


@pytest.mark.parametrize("name", BAD)
def test_bad_files_are_refused_by_both(tmp_path, name):
    path = tmp_path / name
    path.write_text(BAD[name], "utf-8", newline="")
    columns = ("form", "upos") if name.endswith("u") else ("1", "2")
    with pytest.raises(DataError, match=r"line [12]"):
        list(read_sentences(str(path), columns=columns[:1], label=columns[1]))
    with pytest.raises(FormatError):
        read_corpus(str(path))


def corpus_text(X, y):
    return "\n".join("".join(f"{a}\t{b}\n" for a, b in zip(*each, strict=True)) for each in zip(X, y, strict=True))


@pytest.fixture
def written(tmp_path):
    X, y, proof = CASES["an exchange"]
    (tmp_path / "x.conll").write_text(corpus_text(X, y))
    reading = {"columns": "1", "label": "2", "format": "conll"}
    (tmp_path / "p.json").write_text(json.dumps({**proof, "reading": reading}))
    return tmp_path


def test_the_file_alone_checks_a_corpus(written):
    alone = written / "check.py"
    alone.write_text(Path(checker.__file__).read_text("utf-8"), "utf-8")
    command = [sys.executable, "-I", "-S", str(alone), "p.json", "x.conll"]
    told = subprocess.run(command, cwd=written, capture_output=True, text=True, check=False)
    assert (told.returncode, told.stderr) == (0, "")
    assert told.stdout.splitlines() == [
        "Read as the proof says: columns '1', label '2', format 'conll'.",
        "Inseparable: no weights label every sentence correctly (2 sentences, 4 labels).",
    ]


@pytest.mark.parametrize(
    ("change", "arguments", "code", "words"),
    [
        ({}, ["--label", "3"], 2, "no column '3' among 1, 2"),
        ({}, ["--columns", "2", "--label", "1"], 1, "about other data"),
        ({"reading": {}}, [], 2, "does not name the columns"),
        ({"reading": {}}, ["--columns", "1", "--label", "2"], 0, "Inseparable"),
        ({"reading": {"label": 2, "columns": "1"}}, [], 2, "reading has label 2"),
        ({"reading": {"label": "2", "columns": "1", "format": "csv"}}, [], 2, "reading has format 'csv'"),
        ({"format": "other"}, [], 2, "is not a proof"),
    ],
)
def test_the_exit_code_says_what_happened(written, monkeypatch, capsys, change, arguments, code, words):
    monkeypatch.chdir(written)
    proof = json.loads(Path("p.json").read_text())
    Path("p.json").write_text(json.dumps({**proof, **change}))
    assert main(["p.json", "x.conll", *arguments]) == code
    told = capsys.readouterr()
    assert words in told.out + told.err


def test_a_proof_about_features_has_no_file(written, monkeypatch, capsys):
    monkeypatch.chdir(written)
    proof = json.loads(Path("p.json").read_text())
    proof["data"]["templates"] = None
    Path("p.json").write_text(json.dumps(proof))
    assert main(["p.json", "x.conll"]) == 2
    assert "check it from Python" in capsys.readouterr().err
