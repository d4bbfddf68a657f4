"""CSV and TSV: what the first row is, and what is said of rows that are wrong."""

import numpy as np
import pytest

from rosenblatt.exceptions import FormatError, ParameterError
from rosenblatt.tasks.data import describe_reading
from tests.tables.files import read, write


@pytest.fixture
def table(tmp_path):
    def written(content, name="table.csv"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return str(path)

    return written


def place(caught):
    return caught.value.line, caught.value.column


def test_a_word_among_numbers(table):
    rows = [f"{k},{k + 0.5},{k % 2}" for k in range(40)]
    rows[20] = "20,many,0"
    path = table("a,b,y\n" + "\n".join(rows) + "\n")
    for chunk_bytes in (1, 50, 1 << 20):
        with pytest.raises(
            FormatError, match=r"'b' is 'many', but .*na=\['many'\].*categorical=\['b'\].*skip_bad=True"
        ) as caught:
            read(path, header=True, chunk_bytes=chunk_bytes, features=("a", "b"), categorical=("b",)[:0])
        assert place(caught) == (22, 2)
        X, _, source = read(path, skip_bad=True, chunk_bytes=chunk_bytes)
        assert (len(X), source.skipped.count) == (39, 1)


@pytest.fixture(autouse=True)
def small_head(monkeypatch):
    # So that what comes after the first rows is met in small files.
    monkeypatch.setattr("rosenblatt.tables.data_file.TYPED_HEAD_BYTES", 64)
    monkeypatch.setattr("rosenblatt.tables.delimited.LOOKED_AT", 3)


def test_a_float_after_integers_is_fine(table):
    path = table("a,y\n" + "1,0\n2,1\n" * 30 + "2.5,1\n")
    assert read(path)[0][-1].tolist() == [2.5]


def test_rows_of_the_wrong_length(table):
    path = table("a,b,y\n1,2,0\n\n3,4\n5,6,1\n7,8,9,1\n9,9,0\n")
    with pytest.raises(FormatError, match=r"the row has 2 fields instead of 3.*skip_bad=True") as caught:
        read(path)
    assert place(caught) == (4, None)
    X, y, source = read(path, skip_bad=True)
    assert X.tolist() == [[1, 2], [5, 6], [9, 9]]
    assert y.tolist() == [0, 1, 0]
    assert [problem.line for problem in source.skipped.first] == [4, 6]


def test_every_problem_of_a_block_is_counted(table):
    rows = "x,2,p,0\n3,4,p\n5,,p,1\n6,6,p,\n7,8,p,1\n1,2,\xff,1\n"
    path = table(("a,b,kind,y\n" + "1,2,p,0\n" * 9 + rows).encode("latin-1"))
    X, y, source = read(path, skip_bad=True)
    assert X[8:].tolist() == [[1, 2, 1], [7, 8, 1]]
    assert y[8:].tolist() == [0, 1]
    assert source.skipped.count == 5
    assert [problem.line for problem in source.skipped.first] == [11, 12, 13, 14, 16]
    with pytest.raises(FormatError, match="'a' is 'x'") as caught:
        read(path)
    assert place(caught) == (11, 1)


def test_not_utf8(table):
    path = table(b"name,y\nab,0\n\xe4b,1\n")
    with pytest.raises(FormatError, match=r"'name' is not UTF-8: b'\\xe4b'; name its encoding") as caught:
        read(path)
    assert place(caught) == (3, 1)
    with pytest.raises(FormatError, match="header is not UTF-8"):
        read(table(b"n\xe4me,y\n1,0\n"), header=True)


def test_quotes(table):
    path = table('a,kind,y\n1,"x, y",p\n2,"two\nlines ""quoted""",q\n3,plain "inside",p\nz,"bad",q\n')
    with pytest.raises(FormatError, match="'a' is 'z'") as caught:
        read(path, features=("a", "kind"))
    assert place(caught) == (6, 1)
    _, y, source = read(path, skip_bad=True)
    assert source.names == ("a", "kind=x, y", 'kind=two\nlines "quoted"', 'kind=plain "inside"')
    assert y.tolist() == ["p", "q", "p"]


def test_a_quote_that_never_closes(table):
    with pytest.raises(FormatError, match="quote is opened in this row and never closed") as caught:
        read(table('a,kind,y\n1,x,p\n2,"open,q\n3,x,p\n'))
    assert caught.value.line == 3
    X, _, _ = read(table('a\tkind\ty\n1\tx\tp\n2\t"open\tq\n3\tx\tp\n', "t.tsv"))
    assert X.shape == (3, 3)


def test_a_row_that_never_ends(table, monkeypatch):
    monkeypatch.setattr("rosenblatt.tables.delimited_rows.LONGEST_LINE", 1000)
    path = table("a,y\n1,0\n" + "2" * 3000 + ",1\n")
    with pytest.raises(FormatError, match="goes on for more than") as caught:
        read(path, chunk_bytes=100)
    assert caught.value.line == 3


@pytest.mark.parametrize("before, line", [("", 1), ("a,y\n", 2), ("a,y\n1,0\n", 3)])
def test_a_line_that_is_too_long_is_refused_before_it_is_looked_at(table, monkeypatch, before, line):
    monkeypatch.setattr("rosenblatt.tables.data_file.LONGEST_LINE", 2048)
    monkeypatch.setattr("rosenblatt.tables.data_file.TYPED_HEAD_BYTES", 1024)
    monkeypatch.setattr("rosenblatt.tables.delimited.guess_delimiter", None)
    with pytest.raises(FormatError, match="a line has more than") as caught:
        read(table(before + "2" * 2100 + ",1\n"))
    assert caught.value.line == line


def test_a_few_bytes_that_unpack_to_a_long_line_are_refused(tmp_path, monkeypatch):
    import pyarrow as pa

    monkeypatch.setattr("rosenblatt.tables.data_file.LONGEST_LINE", 1 << 16)
    monkeypatch.setattr("rosenblatt.tables.data_file.TYPED_HEAD_BYTES", 1024)
    path = tmp_path / "bomb.csv.zst"
    with pa.CompressedOutputStream(path, "zstd") as file:
        for _ in range(64):
            file.write(b"0" * (1 << 20))
    assert path.stat().st_size < 1 << 14
    with pytest.raises(FormatError, match="a line has more than"):
        read(str(path))


def test_a_line_that_just_fits_is_read(table, monkeypatch):
    monkeypatch.setattr("rosenblatt.tables.data_file.LONGEST_LINE", 2048)
    monkeypatch.setattr("rosenblatt.tables.data_file.TYPED_HEAD_BYTES", 1024)
    _, y, _ = read(table("kind,y\n" + "a" * 2000 + ",p\n" + "b" * 2000 + ",q\n"))
    assert y.tolist() == ["p", "q"]


def test_too_many_columns_are_refused_first(table, monkeypatch):
    monkeypatch.setattr("rosenblatt.tables.delimited.MOST_COLUMNS", 3)
    monkeypatch.setattr("rosenblatt.tables.delimited.looks_like_header", None)
    with pytest.raises(FormatError, match="first row has 4 fields, but a table of text may have 3 columns"):
        read(table("a,b,c,y\n1,2,3,p\n2,3,4,q\n"))


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("begin", [b"", b"\xef\xbb\xbf"])
def test_line_ends_and_marks(table, end, begin):
    path = table(begin + end.join(["a,y", "1,p", "", *["2,q"] * 20, "x,p", "3,q"]).encode())
    for chunk_bytes in (1, 9, 1000):
        with pytest.raises(FormatError, match="'a' is 'x'") as caught:
            read(path, header=True, features=("a",), chunk_bytes=chunk_bytes)
        assert caught.value.line == 24
        X, y, source = read(path, skip_bad=True, header=True, chunk_bytes=chunk_bytes)
        assert (X.tolist(), y.tolist(), source.names) == ([[1], *[[2]] * 20, [3]], ["p", *["q"] * 21], ("a",))


@pytest.mark.parametrize(
    "content, named",
    [
        ("age,label\n31,yes\n", True),
        ("Sepal Length (cm),class\n5.1,setosa\n", True),
        ("outlook,play\nsunny,no\nrainy,yes\n", True),
        ("sunny,no\nrainy,yes\nsunny,yes\n", False),
        ("1.5,yes\n2.5,no\n", False),
        ("price ($),ends today?,label\n1,2,yes\n", True),
        ("digit,0,1,2\n7,10,20,30\n", True),
        ("digit,1,2\n7,10,20\n", True),
        ("digit,5,1\n7,10,20\n", False),
        ("red,0,1,yes\nblue,1,0,no\n", False),
        ("NA,yes\n1,no\n", False),
        ("?,red,yes\n1,blue,no\n2,red,no\n", False),
        ("ham\tGo until jurong point, crazy..\nspam\tFree entry in 2 a wkly comp\n", False),
        ("+1,2\n-1,3\n", False),
    ],
)
def test_whether_there_is_a_header(table, content, named):
    _, _, source = read(table(content), hashed=(1,), bits=2, skip_bad=True)
    assert source.recipe.named == named


@pytest.mark.parametrize(
    "content, problem",
    [
        ("age,label,label\n1,2,yes\n3,4,no\n", "two columns are called 'label'"),
        ("age,,label\n0,31,yes\n1,32,no\n", r"column 2 has no name.*ignore=\[2\]"),
    ],
)
def test_a_header_with_faults_is_not_taken_for_a_row(table, content, problem):
    with pytest.raises(FormatError, match=problem):
        read(table(content))


def test_columns_without_names_are_counted(table):
    _, y, source = read(table("1,p,2\n3,q,4\n"), target=2)
    assert source.names == ("x1", "x3")
    assert y.tolist() == ["p", "q"]
    again, labels, _ = read(table("5,6\n", "new.csv"), source.recipe, labelled=False)
    assert (again.tolist(), labels) == ([[5, 6]], None)
    again, labels, _ = read(table("5,q,6\n", "new.csv"), source.recipe)
    assert (again.tolist(), labels.tolist()) == ([[5, 6]], ["q"])
    with pytest.raises(FormatError, match=r"has 4 columns, but .* had 3 \(or 2 without the labels\)"):
        read(table("5,q,6,7\n", "new.csv"), source.recipe)


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_what_stands_between_fields(table, delimiter):
    content = (
        delimiter.join("ab") + delimiter + "y\n" + "".join(delimiter.join(row) + "\n" for row in ("120", "341"))
    )
    X, y, source = read(table(content))
    assert (X.tolist(), y.tolist(), source.names) == ([[1, 2], [3, 4]], [0, 1], ("a", "b"))
    assert read(table(content), delimiter=delimiter)[0].tolist() == X.tolist()
    with pytest.raises(ParameterError, match="delimiter"):
        read(table(content), delimiter="ab")


@pytest.mark.parametrize(
    "content, problem",
    [
        ("\n\n", "empty"),
        ("a,b,y\n", "no rows"),
        ("a,b,a\n1,2,3\n", "two columns are called 'a'"),
        ("y\n1\n2\n", "only one column"),
        ("a,,y\n1,2,3\n", "no name"),
    ],
)
def test_tables_that_are_none(table, content, problem):
    with pytest.raises(FormatError, match=problem):
        read(table(content), header=True)


def test_labels(table):
    whole = read(table("a,y\n1,1.0\n2,+2\n3,-3\n"))[1]
    assert (whole.dtype, whole.tolist()) == (np.int64, [1, 2, -3])
    assert read(table("a,y\n1,1.5\n2,2\n"))[1].dtype == np.float64
    assert read(table("a,y\n1,true\n2,False\n"))[1].tolist() == ["true", "False"]
    with pytest.raises(
        FormatError, match="the label 'two' is no number, but those at the beginning are"
    ) as caught:
        read(table("a,y\n" + "1,1\n" * 40 + "2,two\n"))
    assert place(caught) == (42, 2)
    _, y, source = read(table("a,y\n1,1\n2,x\n"))
    assert y.tolist() == ["1", "x"]
    assert read(table("a,y\n1,1\n2,1\n"), source.recipe)[1].tolist() == ["1", "1"]
    with pytest.raises(FormatError, match="more than 1000"):
        read(table("a,y\n1,p\n2," + "q" * 1001 + "\n"))


def test_truth_values_are_numbers(table):
    assert read(table("a,y\ntrue,p\nFALSE,q\n"))[0].tolist() == [[1], [0]]


@pytest.mark.parametrize("day", ["2020-01-0{}", "2020-01-01 1{}:00:00", "0{}.12.2020", "1/{}/20"])
def test_dates_are_left_out(table, day):
    path = table(f"day,a,y\n{day.format(1)},1,p\n{day.format(2)},2,q\n")
    X, _, source = read(path, date="none")
    assert X.tolist() == [[1], [2]]
    assert source.notes == (
        "'day' holds dates or times and was left out; categorical=['day'] takes each as a category",
    )
    X, _, source = read(path, categorical=("day",))
    assert X.tolist() == [[1, 1, 0], [2, 0, 1]]
    assert not source.notes
    with pytest.raises(FormatError, match=r"'day' holds values of type (date|timestamp).*ignore=\['day'\]"):
        read(path, features=("day", "a"), date="none")


def test_every_spelling_of_missing(table):
    from rosenblatt.tables.table import MISSING

    rows = "".join(f"{k},{value},{value},p\n" for k, value in enumerate(MISSING))
    X, _, source = read(table(f"n,a,kind,y\n7,1,z,p\n{rows}"), missing="mean")
    assert source.names == ("n", "a", "kind=z", "kind is missing", "kind=-", "kind=.")
    assert np.isnan(X[1:, 1]).all()
    assert not X[1:, 2].any()
    assert X[1:-2, 3].all()


def test_the_first_integer_that_is_rounded(table):
    with pytest.raises(FormatError, match="'a' is '9007199254740993'"):
        read(table(f"a,y\n1,p\n{2**53 + 1},q\n"))
    assert read(table(f"a,y\n1,p\n{2**53},q\n"))[0].tolist() == [[1], [2**53]]


def test_a_second_reading_knows_what_is_missing(table):
    path = table("a,b,y\n" + "1,2,p\n" * 20 + "NA, 3 ,q\n?,4,q\n5,word,p\n1.5\n")
    X, _, source = read(path, missing="mean", skip_bad=True)
    np.testing.assert_array_equal(X[20:], [[np.nan, 3], [np.nan, 4]])
    assert source.skipped.count == 2


def test_wide_rows(table):
    width = 5000
    content = ",".join(f"c{j}" for j in range(width)) + ",y\n" + (",".join(["0.25"] * width) + ",p\n") * 2
    assert read(table(content))[0].shape == (2, width)


def test_a_typo_does_not_make_names_of_numbers(tmp_path):
    rows = [f"{j},{j % 3},{'no' if j % 2 else 'yes'}" for j in range(50)]
    rows[20] = "2O,1,yes"
    path = tmp_path / "t.csv"
    path.write_text("\n".join(["a,b,label", *rows]) + "\n")
    with pytest.raises(FormatError, match=r"t.csv:22:1: 'a' is '2O', but .*categorical=\['a'\]"):
        read([path])
    X, _, source = read([path], skip_bad=True)
    assert X.shape == (49, 2)
    assert source.skipped.count == 1
    assert read([path], categorical=("a",))[0].shape == (50, 51)


def test_words_that_are_sometimes_numbers_stay_names(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,label\nx,1\ny,no\n3,1\nx,2\n")
    _, y, source = read([path])
    assert source.names == ("a=x", "a=y", "a=3")
    assert y.tolist() == ["1", "no", "1", "2"]


def test_decimal_commas(table):
    path = table("a;b;label\n1,5;1;2,5\n2;2;1\n-0,25;-;2,5\n")
    X, y, source = read(path, missing="zero")
    assert X.tolist() == [[1.5, 1], [2, 2], [-0.25, 0]]
    assert y.tolist() == [2.5, 1, 2.5]
    assert source.recipe.named
    with pytest.raises(FormatError, match=r"'a' is '1,5', which is no number as .*: decimal=',' reads 1.5;") as no:
        read(path, decimal=".")
    assert place(no) == (2, 1)
    both = table("a;b;label\n1,5;1.5;p\n2,5;2.5;q\n")
    with pytest.raises(FormatError, match=r"'a' is '1,5', which is no number .*: decimal=',' reads 1.5;"):
        read(both)
    quoted = table('a,label\n"1,5",p\n"2,5",q\n')
    assert read(quoted, decimal=",")[0].tolist() == [[1.5], [2.5]]
    with pytest.raises(FormatError, match="'a' is 'x', but the column holds numbers") as caught:
        read(table("a;label\n1,5;p\n2,5;q\nx;q\n"))
    assert place(caught) == (4, 1)
    with pytest.raises(ParameterError, match="decimal='!'"):
        read(path, decimal="!")


@pytest.mark.parametrize(
    "name, content",
    [
        ("t.tsv", "price\tlabel\n950\tp\n7,700\tq\n800\tp\n"),
        ("t.csv", 'price,label\n950,p\n"7,700",q\n800,p\n'),
        ("t.csv", "price;label\n950;p\n7,700;q\n800;p\n"),
        ("t.csv", 'Price ($),label\n"1,200",p\n"7,700",q\n"8,000",p\n'),
    ],
)
def test_separators_of_thousands_are_not_taken_for_decimal_commas(table, name, content):
    path = table(content, name)
    with pytest.raises(FormatError, match=r"decimal=',' reads .*, thousands=',' reads .*; use the one") as caught:
        read(path)
    line = 2 + ("950" in content)
    assert place(caught) == (line, 1)
    X, _, source = read(path, thousands=",")
    assert X[1].tolist() == [7700]
    assert source.recipe.to_json()["thousands"] == ","
    assert read(path, source.recipe)[0].tolist() == X.tolist()
    X, _, source = read(path, decimal=",")
    assert X[1].tolist() == [7.7]
    assert read(path, source.recipe)[0].tolist() == X.tolist()
    assert read(path, categorical=(1,))[0].shape == (3, 3)


def test_separators_of_thousands_after_the_first_rows(table):
    path = table("price\tsize\tlabel\n" + "950\t1.5\tp\n800\t2.5\tq\n" * 30 + "7,700\t1.5\tq\n")
    with pytest.raises(
        FormatError, match=r"'price' is '7,700'.*decimal=',' reads 7.700, thousands=',' reads 7700; use that"
    ) as caught:
        read(path)
    assert place(caught) == (62, 1)
    for chunk_bytes in (1, 60, 1 << 20):
        assert read(path, thousands=",", chunk_bytes=chunk_bytes)[0][-1].tolist() == [7700, 1.5]
    decimals = table("price\tlabel\n" + "9.5\tp\n8.25\tq\n" * 30 + "7,700\tq\n", "d.tsv")
    with pytest.raises(FormatError, match="as numbers are read here: thousands=',' reads 7700; use that"):
        read(decimals)


def test_european_numbers(table):
    path = table("balance;visits;label\n1.250,00;4;p\n12.400,50;1;q\n980,20;5;p\n")
    with pytest.raises(FormatError, match=r"'1.250,00', .*: thousands='.' decimal=',' reads 1250.00; use that"):
        read(path)
    for how in ({"thousands": "."}, {"thousands": ".", "decimal": ","}):
        assert read(path, **how)[0].tolist() == [[1250, 4], [12400.5, 1], [980.2, 5]]
    # A decimal comma in one column makes points between thousands possible in another.
    path = table("a;b;label\n1,5;1.234;p\n2,5;2.500;q\n")
    with pytest.raises(FormatError, match=r"'a' is '1,5', .*: thousands='.' decimal=',' reads 1.5; use that"):
        read(path)
    assert read(path, thousands=".")[0].tolist() == [[1.5, 1234], [2.5, 2500]]
    # In one column both are seen.
    with pytest.raises(FormatError, match=r"'a' is '1.234', .*: thousands='.' decimal=',' reads 1234; use that"):
        read(table("a;label\n1,5;p\n2,5;q\n1.234;p\n", "t.tsv"), delimiter=";", decimal=",")
    # One column can only have decimal commas, so that another has them, too.
    assert read(table("a;b;label\n1,5;7,700;p\n2,5;1,200;q\n"))[0].tolist() == [[1.5, 7.7], [2.5, 1.2]]


def test_a_target_with_separators_of_thousands(table):
    path = table("a;y\n1;1.200\n2;950\n3;2.400\n")
    assert read(path, thousands=".")[1].tolist() == [1200, 950, 2400]
    with pytest.raises(FormatError, match=r"'y' is '1.25', .*: decimal='.' reads 1.25") as caught:
        read(table("a;y\n" + "1;1\n" * 40 + "2;1.25\n"), decimal=",")
    assert place(caught) == (42, 2)


def test_how_numbers_were_written_in_training(table):
    _, _, source = read(table("a;label\n1,5;p\n2,5;q\n"))
    assert source.recipe.to_json()["decimal"] == ","
    same = table("a;label\n1,234;p\n2,500;q\n")  # would be in doubt without the model
    assert read(same, source.recipe)[0].tolist() == [[1.234], [2.5]]
    assert read(table("a,label\n1.5,p\n2.5,q\n"), source.recipe)[0].tolist() == [[1.5], [2.5]]
    with pytest.raises(FormatError, match=r"'a' is '1.234', .*decimal='.' reads 1.234, thousands='.' decimal=','"):
        read(table("a;label\n1.234;p\n2.500;q\n"), source.recipe)
    assert read(table("a;label\n1.5;p\n2.5;q\n"))[2].recipe.to_json()["decimal"] == "."
    for how, problem in (
        ({"thousands": "_"}, "thousands='_' is not one of"),
        ({"thousands": ",", "decimal": ","}, "thousands=',' and decimal=',' must differ"),
    ):
        with pytest.raises(ParameterError, match=problem):
            read(same, **how)


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize(
    "name, first, delimiter",
    [
        ("t.csv", "sep=;", ";"),
        ("t.csv", "sep=,", ","),
        ("t.csv", "SEP=|", "|"),
        ("t.csv", "sep=\t", "\t"),
        ("t.csv", "sep=\\t", "\t"),
        ("t.tsv", "sep=\t", "\t"),
        ("t.tsv", "sep=;", ";"),
        ("t", "sep=;", ";"),
        ("t", "sep=\t", "\t"),
    ],
)
@pytest.mark.parametrize("begin", ["", "\ufeff"])
def test_a_first_line_that_names_the_delimiter(table, name, first, delimiter, end, begin):
    rows = ["a,b,label", "1,2,p", *["3,4,q"] * 20, "5,x,q"]
    path = table(begin + end.join([first, *(row.replace(",", delimiter) for row in rows)]) + end, name)
    for chunk_bytes in (1, 9, 1 << 20):
        with pytest.raises(FormatError, match="'b' is 'x'") as caught:
            read(path, chunk_bytes=chunk_bytes)
        assert place(caught) == (24, 2)
        X, y, source = read(path, skip_bad=True, chunk_bytes=chunk_bytes)
        assert (X.tolist(), y.tolist()) == ([[1, 2], *[[3, 4]] * 20], ["p", *["q"] * 20])
        assert source.names == ("a", "b")


def test_a_delimiter_without_rows(table):
    with pytest.raises(FormatError, match="names the delimiter, but no rows"):
        read(table("sep=;\n\n"))
    # What only begins alike is a header.
    assert read(table("sep=a;y\n1;p\n2;q\n"))[2].names == ("sep=a",)
    for other in (b"sep=\xe4\n1\n", b"sep=a\n1\n"):
        with pytest.raises(FormatError, match=r"header is not UTF-8|only one column"):
            read(table(other))


WORDS = ["None", "NA", "null", "nan", "N/A", "?"]


@pytest.mark.parametrize("ending", ["csv", "tsv", "jsonl", "parquet", "arrow"])
def test_words_for_missing_values_are_classes(tmp_path, ending):
    columns = {"a": [float(k) for k in range(12)], "label": [*WORDS, "some", *["other"] * 5]}
    path = write(tmp_path, columns, ending)
    _, y, source = read(path, target="label")
    assert y.tolist() == columns["label"]
    assert read(path, source.recipe)[1].tolist() == columns["label"]
    _, y, source = read(path, target="label", na=("None", "?"), skip_bad=True)
    assert y.tolist() == [*WORDS[1:5], *columns["label"][6:]]
    with pytest.raises(FormatError, match="the label is 'None', which na names as a word for missing values"):
        read(path, target="label", na=("None",))


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
def test_words_for_missing_values_in_typed_columns_are_values(tmp_path, ending):
    columns = {"kind": ["None", "p", "NA", "q"], "label": ["x", "y", "x", "y"]}
    path = write(tmp_path, columns, ending)
    text = ending == "csv"
    names = ("kind is missing", "kind=p") if text else ("kind=None", "kind=p", "kind=NA")
    names = (*names, "kind=q")
    assert read(path)[2].names == names
    asked = ("kind is missing",) if text else ("kind=None", "kind is missing", "kind=NA")
    assert read(path, na=("p",))[2].names == (*asked, "kind=q")


def test_words_for_missing_values_can_be_replaced(table):
    path = table("a,kind,y\n1,None,0\n2,gone,1\n3,NA,1\n4,,0\n")
    assert read(path)[2].names == ("a", "kind is missing", "kind=gone")
    X, _, source = read(path, na=("=NA", "=gone"))
    assert source.names == ("a", "kind=None", "kind is missing")
    assert read(path, source.recipe)[0].tolist() == X.tolist()
    assert read(path, na=("=",))[2].names == ("a", "kind=None", "kind=gone", "kind=NA", "kind is missing")
    with pytest.raises(FormatError, match="'a' is 'NA', but the column holds numbers"):
        read(table("a,y\n1,0\nNA,1\n3,1\n"), na=("=none",))


def test_an_empty_label_is_missing_and_words_are_among_numbers(table):
    with pytest.raises(FormatError, match="the label is missing; give the row one, or leave") as caught:
        read(table("a,y\n1,p\n2,\n3,q\n"))
    assert place(caught) == (3, 2)
    path = table("a,y\n1,0\n2,None\n3,1\n")
    with pytest.raises(
        FormatError, match=r"the label is 'None', .* among numbers; .*use na='=' if it names a class"
    ):
        read(path)
    assert read(path, na=("=",))[1].tolist() == ["0", "None", "1"]
    assert read(path, na=("0",), skip_bad=True)[1].tolist() == [0, 1]  # which are numbers, not words


def test_rows_that_are_left_out_are_not_told_to_be_left_out(table):
    rows = "x,2,0\n3,4\n5,,1\n6,6,\n"
    path = table("a,b,y\n" + "1,2,0\n" * 9 + rows)
    _, _, source = read(path, skip_bad=True)
    assert all("skip_bad" in str(problem) for problem in source.skipped.first)
    said = []
    describe_reading(source, said.append)
    assert len(said) == 6
    assert not any("skip_bad" in line for line in said)
    with pytest.raises(FormatError, match=r"not one row .*'a' is missing; fill it in, or use missing=") as caught:
        read(table("a,b,y\n,1,0\n,2,1\n3"), skip_bad=True, header=True, features=("a", "b"))
    assert "skip_bad" not in str(caught.value)


def test_more_words_for_missing_values(table):
    path = table("a,kind,y\n1,p,0\n-999,gone,1\n3,-,1\n")
    X, _, source = read(path, missing="zero", na=("-999", "gone"))
    assert X.tolist() == [[1, 1, 0, 0], [0, 0, 1, 0], [3, 0, 0, 1]]
    assert source.names == ("a", "kind=p", "kind is missing", "kind=-")
    assert source.recipe.to_json()["na"] == ["-999", "gone"]
    again, _, _ = read(path, source.recipe)
    assert again.tolist() == X.tolist()


def test_encodings(table):
    text = "größe,stadt,y\n1,Köln,p\n2,Ulm,q\n"
    _, _, expected = read(table(text))
    for encoding in ("latin-1", "cp1252", "utf-16"):
        _, _, source = read(table(text.encode(encoding)), encoding=encoding)
        assert source.names == expected.names
    _, _, source = read(table(text.encode("utf-16")))
    assert source.names == expected.names
    with pytest.raises(FormatError, match=r"is not ascii throughout.* with encoding"):
        read(table(text), encoding="ascii")
    for wrong in ("base64", "nonsense"):
        with pytest.raises(ParameterError, match="no encoding of text"):
            read(table(text), encoding=wrong)


def test_the_index_that_pandas_writes_is_left_out(table):
    for name in ("", "Unnamed: 0"):
        X, _, source = read(table(f"{name},age,label\n0,31,yes\n1,32,no\n"))
        assert X.tolist() == [[31], [32]]
        assert len(source.notes) == 1
        assert "left out" in source.notes[0]
        again, _, _ = read(table("age,label\n31,yes\n32,no\n"), source.recipe)
        assert again.tolist() == X.tolist()
    X, _, source = read(table(",age,label\n0,31,yes\n1,32,no\n"), features=(1, 2), header=False, skip_bad=True)
    assert not source.notes
    X, y, _ = read(table("age,label,\n31,yes,\n32,no,\n"))
    assert (X.tolist(), y.tolist()) == ([[31], [32]], ["yes", "no"])


def test_columns_of_one_name(table):
    path = table("a,a,b,y\n1,2,3,p\n4,5,6,q\n")
    X, _, source = read(path)
    assert source.names == ("a", "a (column 2)", "b")
    assert "columns of one name have its number in theirs: 'a (column 2)'" in source.notes
    assert read(path, source.recipe)[0].tolist() == X.tolist() == [[1, 2, 3], [4, 5, 6]]
    with pytest.raises(FormatError, match=r"no column 'a \(column 2\)'"):
        read(table("a,b,c,y\n1,2,3,p\n", "other.csv"), source.recipe)
    with pytest.raises(FormatError, match=r"two columns are called 'y'.*ignore=\[4\]"):
        read(table("a,y,b,y\n1,2,3,p\n4,5,6,q\n", "other.csv"))
    X, _, source = read(path, ignore=(1,))
    assert X.tolist() == [[2, 3], [5, 6]]
    assert source.names == ("a", "b")
    assert read(path, source.recipe)[0].tolist() == X.tolist()
    with pytest.raises(FormatError, match="2 columns are called 'a'"):
        read(table("a,b,a\n1,2,3\n", "other.csv"), source.recipe, labelled=False)
    assert read(path, ignore=("a",))[0].tolist() == [[3], [6]]
    with pytest.raises(FormatError, match="categorical: 2 columns are called 'a'"):
        read(path, categorical=("a",))
