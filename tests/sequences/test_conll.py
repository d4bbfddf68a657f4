"""Files of annotated sentences: columns, CoNLL-U and plain text; every error has its file and line."""

import gzip

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rosenblatt.exceptions import FormatError, InputError, ParameterError
from rosenblatt.sequences.conll import read_corpus, read_corpus_text
from rosenblatt.sequences.sentences import TokenColumn
from rosenblatt.tables.reading import corpus_format

CONLLU = """\
# sent_id = weblog-1
# text = Don't go!
1-2\tDon't\t_\t_\t_\t_\t_\t_\t_\t_
1\tDo\tdo\tAUX\tVB\t_\t3\taux\t_\t_
2\tn't\tnot\tPART\tRB\t_\t3\tadvmod\t_\t_
3\tgo\tgo\tVERB\tVB\t_\t0\troot\t_\tSpaceAfter=No
3.1\tthere\tthere\tADV\tRB\t_\t_\t_\t3:advmod\t_
4\t!\t!\tPUNCT\t.\t_\t3\tpunct\t_\t_

# newdoc
1\tYes\tyes\tINTJ\tUH\t_\t0\troot\t_\t_

"""


def word(number, form="a"):
    return "\t".join([str(number), form, *["_"] * 8])


def test_conllu_keeps_words_ids_and_lines():
    corpus = read_corpus_text(CONLLU, format="conllu", file="weblog.conllu")
    assert corpus.tokens("form") == [["Do", "n't", "go", "!"], ["Yes"]]
    assert corpus.tokens("form", "upos")[0][2] == ("go", "VERB")
    assert corpus.ids == ("weblog-1", None)
    assert corpus.lines.tolist() == [4, 5, 6, 8, 11]
    assert corpus.starts.tolist() == [0, 4, 5]
    assert [corpus.place(0, 3), corpus.place(1)] == ["weblog.conllu:8", "weblog.conllu:11"]
    assert (corpus.n_sentences, corpus.n_tokens) == (2, 5)


def test_a_corpus_cannot_be_changed():
    corpus = read_corpus_text("a A\n\nb B", file="x")
    for array in (corpus.starts, corpus.lines, corpus.file_of, corpus.column("1").codes):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 7
    with pytest.raises(TypeError):
        corpus.columns["3"] = None
    with pytest.raises(ParameterError, match=r"x has no column 'upos'. Its columns are 1, 2\."):
        corpus.column("upos")


@given(st.lists(st.sampled_from(["the", "cat", "sat"])))
def test_each_text_is_kept_once(texts):
    column = TokenColumn.of(texts)
    assert column.all_texts() == texts
    assert len(set(column.texts)) == len(column.texts)
    assert column.codes.dtype == np.int32


def test_conllu_plus_names_its_columns():
    corpus = read_corpus_text("# global.columns = ID FORM NER\n1\tRome\tB-LOC\n", format="conllu")
    assert list(corpus.columns) == ["id", "form", "ner"]
    corpus = read_corpus_text("# global.columns = FORM NER\nRome\tB-LOC\nis\tO\n", format="conllu")
    assert corpus.tokens("form", "ner") == [[("Rome", "B-LOC"), ("is", "O")]]


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        (f"{word(1)}\n1\ta\tb", 2, "the line has 3 fields separated by tabs, but must have 10"),
        ("1 a b c d e f g h i", 1, "the line has 1 field separated by tabs"),
        (f"{word('one')}", 1, "the id is 'one', but must be a number"),
        (f"{word(1)}\n{word(3)}", 2, "the id is 3, but should be 2"),
        (f"{word(1)}\n{word(1)}", 2, "the id is 1, but should be 2"),
        (f"{word('１')}", 1, "the id is '１', but must be"),
        (f"{word(1, '')}", 1, "the field form is empty. Write _"),
        (f"{word(1)}\n# sent_id = 2\n{word(1)}", 2, "a comment stands within a sentence"),
        (f"{word(1)}\n\n# global.columns = ID FORM", 3, "must stand before all sentences"),
        ("# global.columns = ID ID", 1, "must have different names"),
    ],
)
def test_a_bad_line_of_conllu_is_named(text, line, problem):
    with pytest.raises(FormatError) as caught:
        read_corpus_text(text, format="conllu", file="bad.conllu")
    assert (caught.value.file, caught.value.line) == ("bad.conllu", line)
    assert problem in str(caught.value)


def test_columns_are_split_by_tabs_or_blanks():
    blanks = read_corpus_text("-DOCSTART- -X- O\n\nThe DT B-NP\r\n cat  NN\tI-NP \n\n \n\nIt PRP B-NP")
    assert blanks.tokens("1", "3") == [[("The", "B-NP"), ("cat", "I-NP")], [("It", "B-NP")]]
    tabs = read_corpus_text("New York\tB-LOC\nis\tO\n", names=["form", "ner"])
    assert tabs.tokens("form") == [["New York", "is"]]
    with pytest.raises(ParameterError, match="must be different: each is the name"):
        read_corpus_text("a b", names=["x", "x"])
    with pytest.raises(ParameterError, match="names belong to the format 'conll'"):
        read_corpus_text(CONLLU, format="conllu", names=["a"])


def test_comments_of_columns_have_another_number_of_fields():
    corpus = read_corpus_text("# a comment of words\n#tag\tO\nis\tO\n\n# 2\n#\tO\n")
    assert corpus.tokens("1") == [["#tag", "is"], ["#"]]
    assert read_corpus_text("#\tO\n#1\tO").tokens("1") == [["#", "#1"]]


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        ("a A\nb", 2, "the line has 1 field, but the first line of tokens has 2 fields"),
        ("a A\n# b c", 2, "the line has 3 fields"),
        ("a\tA\n\tB", 2, "the field 1 is empty"),
        ("", None, "there is not one sentence"),
        ("-DOCSTART- O\n", None, "there is not one sentence"),
    ],
)
def test_a_bad_line_of_columns_is_named(text, line, problem):
    with pytest.raises(FormatError) as caught:
        read_corpus_text(text, file="bad.conll")
    assert (caught.value.file, caught.value.line) == ("bad.conll", line)
    assert problem in str(caught.value)


def test_text_has_a_sentence_a_line():
    corpus = read_corpus_text("The cat sat .\n\nIt\u00a0is\u2028here \tnow\n", format="text")
    assert corpus.tokens("1") == [["The", "cat", "sat", "."], ["It\u00a0is\u2028here", "now"]]
    assert corpus.lines.tolist() == [1, 1, 1, 1, 3, 3]


def test_files_are_joined_and_decompressed(tmp_path):
    (tmp_path / "a.conllu").write_text(CONLLU)
    with gzip.open(tmp_path / "b.conllu.gz", "wt") as file:
        file.write("\ufeff" + CONLLU)
    corpus = read_corpus(str(tmp_path / "*.conllu*"))
    assert corpus.tokens("form") == 2 * [["Do", "n't", "go", "!"], ["Yes"]]
    assert corpus.file_of.tolist() == [0, 0, 1, 1]
    assert corpus.place(3) == f"{tmp_path / 'b.conllu.gz'}:11"
    (tmp_path / "c.conll").write_text("a A")
    with pytest.raises(InputError, match=r"c.conll has the columns 1, 2, but .*a.conllu has id, form"):
        read_corpus(str(tmp_path / "a.conllu"), str(tmp_path / "c.conll"))


@pytest.mark.parametrize(
    ("content", "line", "problem"),
    [(b"a A\n\xe9 A", 2, "not UTF-8"), (b"a A\n\n\0 A", 3, "zero byte")],
)
def test_bytes_that_are_no_text_are_named(tmp_path, content, line, problem):
    path = tmp_path / "bad.conll"
    path.write_bytes(content)
    with pytest.raises(FormatError, match=problem) as caught:
        read_corpus(str(path))
    assert caught.value.line == line


def test_an_encoding_can_be_named(tmp_path):
    (tmp_path / "x.conll").write_bytes("café A".encode("latin-1"))
    assert read_corpus(str(tmp_path / "x.conll"), encoding="latin-1").tokens("1") == [["café"]]


def test_long_files_keep_their_line_numbers(tmp_path, monkeypatch):
    monkeypatch.setattr("rosenblatt.sequences.conll._BLOCK_BYTES", 7)
    path = tmp_path / "long.conll"
    path.write_text("".join(f"w{i} A\n" + "\n" * (i % 3 == 0) for i in range(50)))
    corpus = read_corpus(str(path))
    lines = path.read_text().split("\n")
    assert [lines[line - 1] for line in corpus.lines.tolist()] == [f"w{i} A" for i in range(50)]


def test_the_format_is_known_by_the_name():
    assert [corpus_format(path) for path in ("a.conllu.gz", "b.CONLLUP", "c.tsv", "d", "e.iob2")] == [
        "conllu",
        "conllu",
        "conll",
        "conll",
        "conll",
    ]
    with pytest.raises(ParameterError, match="format='csv' does not fit: sentences are read as one of conllu"):
        corpus_format("a", "csv")
