"""One grammar of numbers: every reader, and the checker of proofs, reads a text as the same number or as none."""

import re

import numpy as np
import pytest

from rosenblatt.certify import check as checker
from rosenblatt.exceptions import InputError
from rosenblatt.tables.file_source import open_source
from rosenblatt.tables.reading import Options
from rosenblatt.tables.table import NUMERAL
from tests.tables.svmlight_texts import by
from tests.tables.svmlight_texts import read as read_svmlight

NUMBERS = {
    "1": 1.0, "+1": 1.0, "-1": -1.0, "01": 1.0, "00": 0.0, "-0": -0.0, "1.": 1.0, ".5": 0.5, "-.5": -0.5,
    "+.5": 0.5, "0.1": 0.1, "1e5": 1e5, "1E5": 1e5, "1e+5": 1e5, "1e-5": 1e-5, "1.e5": 1e5, "1e308": 1e308,
    "1e-999": 0.0, "4.9e-324": 5e-324, "9007199254740992": 2.0**53, "-9007199254740994": -(2.0**53) - 2,
    "1152921504606846976": 2.0**60, "9007199254740993.0": 2.0**53, "9007199254740993e0": 2.0**53, "1e23": 1e23,
    "0." + "0" * 400 + "1": 0.0, "0." + "1" * 400: float("0." + "1" * 400),
}  # fmt: skip
SPACED = {" 1": 1.0, "1 ": 1.0, "  -2.5  ": -2.5, "1\v": 1.0, "\f1": 1.0}
NO_NUMBERS = [
    "1_0", "1e5_0", "1_0.5", "１", "1１", "٣", "0x10", "0X1F", "0x1p3", "0b1", "0o7", "inf", "-inf", "+inf", "Inf",
    "INF", "infinity", "Infinity", "nan", "NaN", "NAN", "+nan", "-nan", "nan(1)", "1e999", "-1e999",
    "1e1000000000000", "1e", "1e+", "1.0e", ".e5", "e5", ".", "-", "+", "--1", "+-1", "1d5", "1f", "1L", "1j",
    "½", "²", "1\x1f", "\x1c1", "1\x85", "$1", "1%", "1;", "9007199254740993", "-9007199254740993",
    "123456789012345678", "1" + "0" * 309, "1" * 500,
]  # fmt: skip
WITH_SPACE = ["1\xa0", "\u20031", "1 2", "- 1", "1e 5"]
JSON_NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?", re.ASCII)
ALL = NUMBERS | SPACED | dict.fromkeys([*NO_NUMBERS, *WITH_SPACE])


def last_value(tmp_path, name, text, **options):
    """Return the last value of the second feature of a file, or None if it is not a number."""
    (tmp_path / name).write_text(text, encoding="utf-8", newline="")
    try:
        source = open_source([str(tmp_path / name)], Options(**options))
        rows = np.concatenate([np.asarray(chunk.rows) for chunk in source.chunks() if source.n_features == 2])
    except (InputError, ValueError):  # refused, or read as categories
        return None
    return rows[-1, 1] if len(rows) == 2 or "skip_bad" not in options else None


def as_csv(tmp_path, text, **options):
    """Read a text below another number."""
    return last_value(tmp_path, "f.csv", f'a,b,label\n0.25,0.5,p\n0.5,0.75,q\n0.25,"{text}",q\n', **options)


def as_csv_with_bad_rows(tmp_path, text):
    """Read a text where rows are read one by one, because another has too few fields."""
    rows = f'a,b,label\n0.5,0.75,q\nbad\n0.25,"{text}",q\n'
    return last_value(tmp_path, "f.csv", rows, skip_bad=True)


def as_column(tmp_path, text):
    """Read a text in a column where all values are this one."""
    return last_value(tmp_path, "f.csv", f'a,b,label\n0.25,"{text}",p\n0.5,"{text}",q\n')


def as_tsv(tmp_path, text):
    """Read a text between tabs."""
    return last_value(tmp_path, "f.tsv", f"a\tb\tlabel\n0.25\t0.5\tp\n0.5\t0.75\tq\n0.25\t{text}\tq\n")


def by_checker(tmp_path, text):
    """Read a text as the checker of proofs does."""
    (tmp_path / "f.csv").write_text(f'0.25,"{text}",q\n', encoding="utf-8", newline="")
    try:
        [(row, _)] = checker.read_table(str(tmp_path / "f.csv"), header=False)
    except checker.DataError:
        return None
    return row[1]


def same(found, expected):
    return found is expected is None or (
        None not in (found, expected) and float(found).hex() == float(expected).hex()
    )


@pytest.mark.parametrize("text", ALL)
def test_every_reader_of_tables_reads_the_same_number(tmp_path, text):
    ways = [as_csv, as_csv_with_bad_rows, as_column, as_tsv, by_checker]
    found = {way.__name__: way(tmp_path, text) for way in ways}
    assert all(same(value, ALL[text]) for value in found.values()), found


@pytest.mark.parametrize("way", ["loop", "plain"])
@pytest.mark.parametrize("text", [*NUMBERS, *NO_NUMBERS])
def test_svmlight_has_the_same_numbers(monkeypatch, text, way):
    by(monkeypatch, way)
    as_value, as_label = (read_svmlight(line.encode()) for line in (f"1 1:{text}\n", f"{text} 1:1\n"))
    if ALL[text] is None:
        assert as_value.error is not None
        assert as_label.error is not None
    else:
        assert as_value.rows[0][1] == [ALL[text].hex()]
        assert as_label.labels == [ALL[text]]


@pytest.mark.parametrize("text", ALL)
def test_json_lines_have_those_that_are_json(tmp_path, text):
    rows = f'{{"a": 1, "b": 0.5, "label": 1}}\n{{"a": 1, "b": {text}, "label": 0}}\n'
    found = last_value(tmp_path, "f.jsonl", rows)
    expected = ALL[text] if JSON_NUMBER.fullmatch(text.strip(" ")) else None
    assert same(found, 0.0 if text == "-0" else expected)  # an integer of JSON has no sign of zero


@pytest.mark.parametrize("text", ALL)
def test_labels_are_numbers_where_features_are(text):
    """Labels beyond 2^53 are not rounded, and so are numbers."""
    number = ALL[text] is not None or re.fullmatch("-?[0-9]+", text) is not None
    beyond = re.fullmatch(r"-?1e[0-9]{3,}", text) is not None  # it is refused where labels are read
    assert (NUMERAL.fullmatch(text) is not None) == (number or beyond)
    if not beyond:
        assert isinstance(checker.label_key(text), str) != number


def test_hexadecimal_labels_are_names(tmp_path):
    (tmp_path / "f.csv").write_text("a,label\n1,0x10\n2,0x20\n3,0x10\n")
    source = open_source([str(tmp_path / "f.csv")], Options())
    assert [label for chunk in source.chunks() for label in chunk.labels.tolist()] == ["0x10", "0x20", "0x10"]


def test_the_checker_says_what_is_wrong_with_a_long_integer(tmp_path):
    (tmp_path / "f.csv").write_text("0,0,a\n1,9007199254740993,b\n")
    with pytest.raises(checker.DataError, match=r"line 2, column 2: '9007199254740993' .*float64 rounds it"):
        list(checker.read_table(str(tmp_path / "f.csv")))
