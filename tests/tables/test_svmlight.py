"""The reader of svmlight text: the loop is its plain twin, both are the grammar, and every error has its place."""

import random
import subprocess
import sys
from io import BytesIO

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from rosenblatt.exceptions import FormatError, ParameterError
from rosenblatt.loops import svmlight_numbers as decimals
from rosenblatt.rows.batch import Skipped
from rosenblatt.tables import delimited_rows, svmlight
from rosenblatt.tables.data_file import ByteStream
from rosenblatt.tables.svmlight import SvmlightReader
from rosenblatt.threads import using
from tests.shared.examples import examples
from tests.tables.svmlight_texts import SPECIAL, by, expected, mutated, read, read_skipping, texts

WAYS = ("loop", "plain")


@pytest.fixture(params=WAYS)
def way(request, monkeypatch):
    by(monkeypatch, request.param)
    return request.param


@settings(max_examples=examples(100))
@given(text=texts(), zero_based=st.sampled_from([None, True, False]))
def test_right_texts_are_read_as_the_oracle_reads_them(text, zero_based):
    first = None
    for way in WAYS:
        with pytest.MonkeyPatch.context() as patch:
            by(patch, way)
            got = read(text, zero_based=zero_based)
        rows, wrong = expected(text, 0 if zero_based else 1)
        assert not wrong
        assert got.error is None
        assert [row[1:] for row in rows] == got.rows
        assert [row[0] for row in rows] == got.labels
        first = first or got
        assert got == first


def both(text, reading, **options):
    """Read a text both ways; return what the loop found, and whether the other found the same."""
    found = []
    for way in WAYS:
        with pytest.MonkeyPatch.context() as patch:
            by(patch, way)
            got = reading(text, **options)
        found.append((got._replace(error=str(got.error)), got.error and (got.error.line, got.error.column)))
    return *found[0], found[0] == found[1]


@settings(max_examples=examples(150))
@given(text=mutated(), zero_based=st.booleans())
@example(text=b"1 1:2 qid:3\n", zero_based=False)
@example(text=b"1 qid:12345678901 1:2\n", zero_based=False)
@example(text=b"1 00000000000000000000000:1 3:4\n", zero_based=True)
def test_wrong_lines_are_found_and_nothing_else(text, zero_based):
    compare_with_oracle(text, zero_based)


def test_thousands_of_mutated_files():
    whole = b"+1 qid:3 1:0.5 7:-1e-3 # c\r\n-1 2:1.25 123456789:12345678901234567\n\n3.5 1:1 2:1 3:1\n"
    dice = random.Random(0)
    for _ in range(examples(2000)):
        text = bytearray(whole)
        for _ in range(dice.randint(1, 3)):
            at = dice.randrange(len(text))
            text[at : at + dice.randint(0, 2)] = bytes(dice.choices(SPECIAL, k=dice.randint(0, 2)))
        compare_with_oracle(bytes(text), dice.random() < 0.5)


def compare_with_oracle(text, zero_based):
    rows, wrong = expected(text, 1 - zero_based)
    got, place, same = both(text, read, zero_based=zero_based)
    assert same
    if wrong:
        assert place[0] == wrong[0]
        ends = [len(line) + 1 for line in text.removeprefix(b"\xef\xbb\xbf").split(b"\n")]
        assert 1 <= place[1] <= ends[place[0] - 1]
    else:
        assert place is None
        assert got.rows == [row[1:] for row in rows]
    got, _, same = both(text, read_skipping, zero_based=zero_based)
    assert same
    assert (got.rows, got.labels) == ([row[1:] for row in rows], [row[0] for row in rows])
    assert got.skipped == len(wrong)
    assert got.skipped_lines == tuple(wrong[:5])


@settings(max_examples=examples(100))
@given(text=st.one_of(texts(), mutated()), sizes=st.lists(st.integers(1, 80), min_size=2, max_size=4))
def test_chunks_change_nothing(text, sizes):
    whole = read_skipping(text, zero_based=False)
    for size in sizes:
        assert read_skipping(text, zero_based=False, chunk_bytes=size) == whole


@pytest.mark.parametrize("size", [1, 2, 3, 4, 100])
def test_a_byte_order_mark_is_left_out(size, way):
    got = read(b"\xef\xbb\xbf1 1:2\n3\n", zero_based=False, chunk_bytes=size)
    assert (got.labels, got.error) == ([1, 3], None)
    assert read(b"\xef\xbb", chunk_bytes=size).error.column == 1
    assert read(b"\xef\xbb\xbf", chunk_bytes=size).labels == []


def test_little_is_read_without_loading_much():
    script = """
import sys, io, numpy
from rosenblatt.tables.svmlight import SvmlightReader
from rosenblatt.tables.words import hash_texts
(chunk,) = SvmlightReader(io.BytesIO(b"1 1:2\\n" * 1000), file="f").chunks()
text = numpy.frombuffer(b"so few words", dtype=numpy.uint8)
assert hash_texts(text, numpy.array([0, 12]), ngrams=1, bits=18).data.size == 3
print(sorted({"numba", "scipy", "sklearn", "rich"} & set(sys.modules)))
"""
    assert subprocess.run([sys.executable, "-c", script], capture_output=True, check=True).stdout == b"[]\n"


class Dribble(BytesIO):
    """Gives a few bytes at a time, as a pipe does."""

    def readinto(self, room):
        return super().readinto(room[:3])


class NotBlocking(BytesIO):
    """Gives a few bytes at a time, and at times says that there is nothing yet."""

    calls = 0

    def read(self, size):
        self.calls += 1
        return super().read(min(size, 3)) if self.calls % 10 else None


def test_streams_may_deliver_bytes_in_any_way(way):
    text = b"1 1:2\n-1 3:4\n" * 5
    for stream in (Dribble(text), ByteStream(NotBlocking(text), "f")):
        reader = SvmlightReader(stream, file="f", chunk_bytes=20, zero_based=False)
        sizes = [chunk.n_rows for chunk in reader.chunks()]
        assert sizes == [3, 3, 3, 1]


@pytest.mark.parametrize(
    "text, place, says",
    [
        (b"1 1:2x\n", (1, 5), "the value '2x' is no decimal number"),
        (b"1 1:\n", (1, 5), "a value is missing"),
        (b"1 :2\n", (1, 3), "an index is missing before the colon"),
        (b"1 1:1 1:2\n", (1, 7), "index 1 comes after index 1"),
        (b"1 1:1\n-1 4:1 3:2\n", (2, 8), "index 3 comes after index 4"),
        (b"1 2:1 0:2\n", (1, 7), "index 0, where indices have been taken to begin at 1"),
        (b"1 1:2:3\n", (1, 5), "the value '2:3' is no decimal number"),
        (b"1 5\n", (1, 3), "'5' is no entry: index:value is expected"),
        (b"1 -1:2\n", (1, 3), "'-1' before the colon is no index"),
        (b"1 1.5:2\n", (1, 3), "'1.5' before the colon is no index"),
        (b"1 2147483647:1\n", (1, 3), "index '2147483647' is larger than 2147483646"),
        (b"1 99999999999999999999999:1\n", (1, 3), "larger than 2147483646"),
        (b"1 %s:1\n" % (b"9" * 9000), (1, 3), "larger than 2147483646"),
        (b"1,2 1:1\n", (1, 1), "several labels, '1,2'"),
        (b"1:1 2:1\n", (1, 1), "the label is missing"),
        (b"nan 1:1\n", (1, 1), "the label is 'nan': only finite"),
        (b"1 1:-Inf\n", (1, 5), "the value is '-Inf': only finite"),
        (b"1 1:nan\n", (1, 5), "only finite"),
        (b"1 1:1e999\n", (1, 5), "beyond the largest float"),
        (b"-1e400\n", (1, 1), "beyond the largest float"),
        (b"spam 1:1\n", (1, 1), "the label 'spam' is no decimal number"),
        (b"1 1:1_0\n", (1, 5), "'1_0' is no decimal number"),
        (b"1 1:0x10\n", (1, 5), "'0x10' is no decimal number"),
        (b"1 1:\xd9\xa1\n", (1, 5), "is no decimal number"),
        (b"1 1:1\x0b2:1\n", (1, 5), "'1\\x0b2:1' is no decimal number"),
        (b"1 1:1\r-1 1:1\r", (1, 6), "a carriage return within a line"),
        (b"1 qid:x 1:1\n", (1, 3), "'qid:x' is no query"),
        (b"1 1:1 qid:3\n", (1, 7), "qid: stands right behind the label"),
        (b"1 qid:1 qid:2\n", (1, 9), "qid: stands right behind the label"),
        (b"\x00\n", (1, 1), "the label '\\x00' is no decimal number"),
        (b"1 1:1\x002:2\n", (1, 5), "is no decimal number"),
        (b"\xef\xbb\xbf1 1:x\n", (1, 5), "the value 'x'"),
        (b"\n\n# c\n  3 7:8 9:\n", (4, 11), "a value is missing"),
        (b"1 1:%s\n" % (b"x" * 100), (1, 5), "'" + "x" * 40 + "'…"),
    ],
)
def test_errors_say_where_and_what(text, place, says, way):
    got = read(text, zero_based=False)
    assert (got.error.file, got.error.line, got.error.column) == ("f", *place)
    assert says in str(got.error)
    assert str(got.error).startswith(f"f:{place[0]}:{place[1]}: ")


def test_what_is_strange_but_right(way):
    text = b"\xef\xbb\xbf+1 qid:7 1:.5 2:5. 0003:1e0000000000000001#c\r\n"
    text += b"\t-0 \t10:-0.0 # x\ty\r\n# only\n\n   \r\n2e0"
    got = read(text, zero_based=False)
    assert got.error is None
    assert got.labels == [1, 0, 2]
    assert got.rows == [
        ([0, 1, 2], [(0.5).hex(), (5.0).hex(), (10.0).hex()]),
        ([9], [(-0.0).hex()]),
        ([], []),
    ]
    assert got.n_features == 10


def test_the_base_is_found_and_kept(way, monkeypatch):
    assert read(b"1 1:2 5:1\n").zero_based is False
    assert read(b"1 1:2\n1 3:1\n").rows == [([0], ["0x1.0000000000000p+1"]), ([2], ["0x1.0000000000000p+0"])]
    assert read(b"1 1:2 5:1\n").n_features == 5
    assert read(b"1 1:2\n1 0:3\n").zero_based is True
    assert read(b"1 1:2\n1 0:3\n").rows[0][0] == [1]
    assert read(b"1 0:2 5:1\n").n_features == 6
    assert read(b"1\n2\n").zero_based is None
    assert read(b"1\n2\n").n_features == 0
    assert read_skipping(b"1 0:x\n1 1:1\n").zero_based is False
    assert read_skipping(b"1 0:1 0:2\n1 1:1\n").zero_based is False
    assert read(b"1 0:2\n", zero_based=True).zero_based is True

    monkeypatch.setattr(svmlight, "SAMPLE_BYTES", 16)
    late = b"1\n" * 20 + b"1 1:2\n" * 5 + b"1 0:2\n"
    for size in (1, 7, 10_000):
        got = read(late, chunk_bytes=size)
        assert got.zero_based is False
        assert (got.error.line, got.error.column) == (26, 3)
        assert "zero_based=True" in str(got.error)
    assert read(late, zero_based=True).error is None


def test_what_was_never_met_is_left_out_and_counted(way):
    text = b"1 1:1 3:3 9:9\n2 8:8\n3 2:2\n"
    for zero_based in (None, False):
        got = read(text, width=3, zero_based=zero_based)
        assert [indices for indices, _ in got.rows] == [[0, 2], [], [1]]
        assert got.unmet == 2
        assert got.n_features == 3
    chunks = list(SvmlightReader(BytesIO(b"1\n"), file="f", width=7).chunks())
    assert chunks[0].n_features == 7


def test_labels_are_integers_where_all_are(way):
    def kinds(text):
        return [chunk.labels.dtype for chunk in SvmlightReader(BytesIO(text), file="f").chunks()]

    assert kinds(b"1.0\n-2\n") == [np.int64]
    assert kinds(b"1\n0.5\n") == [np.float64]
    assert kinds(b"9007199254740991\n") == [np.int64]
    assert kinds(b"9007199254740994\n") == [np.float64]
    assert kinds(b"# nothing\n") == []


def test_the_loop_may_look_behind_the_last_line():
    assert delimited_rows.PADDING_BYTES > decimals.PADDING  # by the newline that a last line may lack


def test_chunks_are_of_the_size_asked_for():
    text = b"1 1:2 2:3\n" * 100
    chunks = list(SvmlightReader(BytesIO(text), file="f", chunk_bytes=250, zero_based=False).chunks())
    assert [chunk.n_rows for chunk in chunks] == [25] * 4
    assert not chunks[0].rows.data.flags.writeable
    assert not chunks[0].labels.flags.writeable


@pytest.mark.parametrize(
    "options", [{"chunk_bytes": 0}, {"chunk_bytes": 1 << 40}, {"width": 0}, {"width": 1 << 31}]
)
def test_bad_settings(options):
    with pytest.raises(ParameterError, match=next(iter(options))):
        SvmlightReader(BytesIO(b""), file="f", **options)


def test_a_line_that_is_too_long_is_an_error_or_passed_over(way, monkeypatch):
    monkeypatch.setattr(delimited_rows, "LONGEST_LINE", 64)
    monkeypatch.setattr(delimited_rows, "_SKIP_BYTES", 7)
    fits = b"1 " + b" " * 57 + b"1:2\n"
    assert len(fits) == 63
    long = b"1 1:" + b"3" * 200 + b"\n"
    for size in (1, 10, 64):
        assert read(fits + fits[:-1], zero_based=False, chunk_bytes=size).rows == [([0], [(2.0).hex()])] * 2
        got = read(b"1 1:1\n" + long + b"2\n", zero_based=False, chunk_bytes=size)
        assert (got.error.line, got.error.column) == (2, 64)
        assert "a line of more than" in str(got.error)
        got = read_skipping(b"1 1:1\n" + long + b"2\n3 x\n", zero_based=False, chunk_bytes=size)
        assert got.labels == [1, 2]
        assert got.skipped_lines == (2, 4)
        assert read_skipping(long[:-1], zero_based=False, chunk_bytes=size).skipped == 1
        assert read_skipping(long, zero_based=False, chunk_bytes=size).skipped == 1


def test_the_loop_leaves_little_to_its_twin(monkeypatch):
    by(monkeypatch, "loop")
    asked = []
    plainly = svmlight.read_next_line
    monkeypatch.setattr(svmlight, "read_next_line", lambda *args: asked.append(args[3].at) or plainly(*args))
    values = np.random.default_rng(0).standard_normal((2000, 3)).tolist()
    written = [f"{y} qid:3 1:{a!r} 12345678:{b:.3g} 123456789:{c:.25e} # c" for y, (a, b, c) in enumerate(values)]
    got = read("\n".join(written).encode())
    assert [float.fromhex(row[0]) for _, row in got.rows] == [row[0] for row in values]
    assert asked == []
    assert read(b"1 1:2\n3 1:9007199254740993.0\n").error is None  # half-way between two floats
    assert asked == [6]


def test_lines_are_numbered_through_all_chunks(way):
    text = b"".join(b"1 1:%d\n" % i if i != 77 else b"?\n" for i in range(100))
    for size in (1, 13, 100, 10_000):
        with pytest.raises(FormatError, match=r"^f:78:1: the label"):
            list(SvmlightReader(BytesIO(text), file="f", chunk_bytes=size, zero_based=False).chunks())


@pytest.mark.parametrize("small", [True, False])
def test_queries_are_read(small, monkeypatch):
    """Long numbers are left to plain Python by the loop; a line without a query has −1."""
    monkeypatch.setattr(svmlight, "MAX_PLAIN_BYTES", 1 << 19 if small else 0)
    text = b"1 qid:3 1:0.5\n0 qid:123456789012 2:1\n2 1:1\n1\tqid:00000007  2:0.25 # qid:9\n"
    reader = svmlight.SvmlightReader(BytesIO(text), file="r.svm")
    (chunk,) = reader.chunks()
    assert chunk.n_rows == 4
    assert reader.queries.tolist() == [3, 123456789012, -1, 7]
    with pytest.raises(FormatError, match="no query"):
        list(svmlight.SvmlightReader(BytesIO(b"1 qid:" + b"9" * 19 + b" 1:1\n"), file="r.svm").chunks())


def _everything(text, n_jobs, skipping, width):
    """Return all that a reader says of a text: its chunks, where it counts from, and what it could not read."""
    skipped = Skipped() if skipping else None
    reader = SvmlightReader(BytesIO(text), file="f", skipped=skipped, chunk_bytes=64, width=width)
    chunks, error = [], None
    with using(n_jobs):
        try:
            for chunk in reader.chunks():
                arrays = (*chunk.rows, chunk.labels, reader.queries)
                chunks.append(([each.tobytes() for each in arrays], chunk.n_features, reader.span, reader.unmet))
        except FormatError as problem:
            error = str(problem)
    told = None if skipped is None else (skipped.count, [str(each) for each in skipped.first])
    return chunks, error, reader.zero_based, reader.n_features, told


@pytest.mark.parametrize("skipping", [False, True])
@pytest.mark.parametrize("width", [None, 5])
def test_any_number_of_threads_reads_the_same(way, monkeypatch, skipping, width):
    monkeypatch.setattr(svmlight, "SAMPLE_BYTES", 100)
    monkeypatch.setattr(delimited_rows, "LONGEST_LINE", 200)
    rng = random.Random(0)
    rows = [
        f"{k % 3} qid:{k // 5} " + " ".join(f"{j}:{rng.random()}" for j in range(1, rng.randint(2, 9)))
        for k in range(120)
    ]
    texts = {"right": rows, "wrong": [*rows[:50], "1 2:x", "1 3:1 2:1", *rows[50:], "1 1:nan"]}
    texts["long"] = [*texts["wrong"][:90], "1 " + "9" * 400, *rows[:30], "2 " + "8" * 400]
    for each in texts.values():
        text = "\n".join(each).encode()
        alone = _everything(text, 1, skipping, width)
        assert len(alone[0]) > 10
        assert _everything(text, 2, skipping, width) == alone
        assert _everything(text, 5, skipping, width) == alone
