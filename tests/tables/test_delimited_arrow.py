"""Wide tables are read some columns at a time, to the same fields and values as at once."""

import subprocess
import sys

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import rosenblatt as rb
from rosenblatt.exceptions import FormatError, InputError
from rosenblatt.rows import memory
from rosenblatt.tables import delimited
from rosenblatt.tables.delimited import infer_fields, read_block
from rosenblatt.tables.delimited_rows import Dialect
from rosenblatt.tables.table import BYTES_A_COLUMN, Wanted

values = st.sampled_from(
    [
        "1",
        "-2.5",
        "",
        "NA",
        "true",
        "x",
        '"q, r"',
        '"two\nlines"',
        'a"b',
        "\ufeff1",
        "9007199254740993",
        " 7 ",
        "1_0",
    ]
)
tables = st.integers(1, 9).flatmap(
    lambda width: st.lists(st.lists(values, min_size=width, max_size=width), min_size=1, max_size=4)
)
odd = st.sampled_from(["", "", "", "1,2\n", "\n", "\r\n"])


def read(data, n_columns, dialect):
    """Return the fields, and the numbers, strings and problems of a block, or what kept it from being read."""
    names = [f"x{j}" for j in range(n_columns)]
    try:
        fields = infer_fields(data, dialect, names)
    except pa.ArrowException:
        return None
    numbers = tuple(j for j in range(n_columns) if fields[j].kind == "number" or fields[j].numeric)
    wanted = Wanted(numbers[::-1], tuple(j for j in range(n_columns - 1) if j not in numbers), n_columns - 1)
    wanted = Wanted(tuple(j for j in wanted.numbers if j != n_columns - 1), wanted.strings, wanted.label)
    try:
        block = read_block(data, 1, dialect, fields, wanted, "f.csv")
    except FormatError as error:
        return fields, str(error)
    columns = [column.to_pylist() for column in (*block.strings, block.label)]
    problems = [{row: str(problem) for row, problem in block.bad.items()}, [str(each) for each in block.lost]]
    return fields, block.numbers.tobytes(), block.numbers.shape, columns, problems


@given(tables, odd, st.booleans())
@example([["1", "2", "3", "\ufeff4", "5"]], "", False)  # pyarrow drops this mark at the start of a text
def test_some_columns_at_a_time_are_the_same_as_all_at_once(rows, more, quoted):
    data = ("\n".join(",".join(row) for row in rows) + "\n" + more).encode()
    dialect = Dialect(",", quoted)
    with pytest.MonkeyPatch.context() as patch:
        whole = read(data, len(rows[0]), dialect)
        patch.setattr(delimited, "COLUMNS_AT_ONCE", 3)
        parts = read(data, len(rows[0]), dialect)
    if whole is not None and parts is not None and len(whole) == 5 == len(parts):
        rows_with_problems = [
            set(each[4][0]) for each in (whole, parts)
        ]  # of several in a row, either may be told
        assert rows_with_problems[0] == rows_with_problems[1]
        whole, parts = ((*each[:4], each[4][1]) for each in (whole, parts))
    assert whole == parts


def test_a_byte_order_mark_within_a_file_is_a_character(tmp_path):
    (tmp_path / "f.csv").write_text("ham,1\n\ufeffham,2\n")
    for size in (1, 1000):
        source = rb.open_data(tmp_path / "f.csv", header=False, target=2, chunk_bytes=size)
        assert [chunk.n_rows for chunk in source.chunks()] == ([1, 1] if size == 1 else [2])
        assert source.names == ("x1=ham", "x1=\ufeffham")


def test_more_columns_than_fit_are_refused_with_the_figure(tmp_path, monkeypatch):
    monkeypatch.setattr(memory, "free_memory", lambda: 10**9)
    for name, sep in (("wide.csv", ","), ("wide.tsv", "\t")):
        path = tmp_path / name
        path.write_text((sep.join(["0"] * 1_000_000) + "\n") * 2)
        with pytest.raises(InputError, match=rf"{name}: reading 1,000,000 columns would take 1.06 GB, but 1 GB"):
            rb.open_data(path)


def test_more_columns_of_an_array_than_fit_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(memory, "free_memory", lambda: 10**9)
    np.savez_compressed(tmp_path / "wide.npz", X=np.zeros((1, 1_000_000)), y=np.zeros(1))
    with pytest.raises(InputError, match=r"reading 1,000,000 columns would take 1\.02 GB, but 1 GB"):
        rb.open_data(tmp_path / "wide.npz")


@pytest.mark.slow
@pytest.mark.parametrize("wrong", ["", "oops"])
def test_a_column_takes_no_more_than_is_estimated(tmp_path, wrong):
    width = 100_000
    names = ",".join(f"c{j}" for j in range(width)) + ",label\n"
    rows = "".join(",".join(str((j + r) % 7) for j in range(width)) + f",{'ab'[r % 2]}\n" for r in range(3))
    last = wrong and ",".join(["1"] * (width - 1) + [wrong]) + ",a\n"
    (tmp_path / "wide.csv").write_text(names + rows + last)
    code = (
        "import sys, resource, rosenblatt as rb\n"
        "def peak(): return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024\n"
        "rb.read_table('@iris')\n"
        "open(sys.argv[1] + '.small.csv', 'w').write('a,b,label\\n1,2,x\\n2,3,y\\n3,oops,x\\n')\n"
        "rb.read_table(sys.argv[1] + '.small.csv', skip_bad=True)\n"
        "before = peak()\n"
        "rb.read_table(sys.argv[1], skip_bad=True)\n"
        "print(peak() - before)\n"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "wide.csv")]
    ran = subprocess.run(command, capture_output=True, text=True, check=True)
    assert int(ran.stdout.split()[-1]) < BYTES_A_COLUMN * width + 16 * (tmp_path / "wide.csv").stat().st_size
