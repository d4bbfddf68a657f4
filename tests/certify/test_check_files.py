"""The checker as a program: hostile proofs, tables, exit codes."""

import ast
import csv
import json
import math
import os
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rosenblatt.certify import check as checker
from rosenblatt.certify.check import ProofError, check, main, read_proof, read_table
from tests.certify.proofs import CASES, accepted, case, hash_of, numbers, put

everyone = pytest.mark.parametrize("name", CASES)


def table(folder: Path, rows, labels, name="data.csv", delimiter=",") -> str:
    path = folder / name
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, delimiter=delimiter).writerows(
            [*map(repr, row), label] for row, label in zip(rows, labels, strict=True)
        )
    return str(path)


def run(capsys, folder, text, rows, labels, *options):
    path = folder / "proof.json"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    code = main([str(path), table(folder, rows, labels), *options])
    out, err = capsys.readouterr()
    assert (out + err).count("\n") == 1
    assert bool(err) == (code == 2)
    return code, out + err


@everyone
def test_the_command_accepts(name, tmp_path, capsys):
    rows, labels, proof = CASES[name]
    code, said = run(capsys, tmp_path, json.dumps(proof), rows, labels)
    assert code == 0
    assert said.strip() == check(proof, rows, labels)


AND, OVERLAP, OR = CASES["and"].proof, CASES["overlap at a point"].proof, CASES["or, margin"].proof


def with_field(proof, path, value):
    return json.dumps(put(proof, tuple(path.split(".")), value))


and_with, or_with, overlap_with = (partial(with_field, proof) for proof in (AND, OR, OVERLAP))
WIDE = put(put(AND, ("data", "features"), 10**18), ("hyperplane", "w"), {"columns": [10**17], "values": ["0x1"]})
LONG = "0" * 300_000
HOSTILE = {
    "deep lists": "[" * 100_000,
    "deep objects": '{"a":' * 100_000,
    "deep inside": and_with("hyperplane.w", "DEEP").replace('"DEEP"', "[" * 5000 + "]" * 5000),
    "not JSON": "perceptron",
    "nothing": "",
    "a list": "[]",
    "NaN": and_with("hyperplane.b", math.nan),
    "Infinity": and_with("data.rows", math.inf),
    "a float": and_with("data.rows", 4.0),
    "a huge float": json.dumps(AND).replace('"version": 1', '"version": 1e999999999'),
    "a field twice": json.dumps(AND)[:-1] + ', "bias": true}',
    "a field twice, inside": json.dumps(AND).replace('"rows": 4', '"rows": 4, "rows": 4'),
    "a huge integer": json.dumps(AND).replace('"rows": 4', '"rows": ' + "4" * 5000),
    "a large integer": json.dumps(AND).replace('"rows": 4', '"rows": ' + "4" * 4000),
    "many rows": and_with("data.rows", 10**18),
    "many features": json.dumps(WIDE),
    "negative rows": and_with("data.rows", -4),
    "true for one": and_with("version", True),
    "another version": and_with("version", 2),
    "a list as verdict": and_with("verdict", ["separable"]),
    "a list as kind": overlap_with("ties.kind", ["overlap"]),
    "ties as text": overlap_with("ties", "overlap"),
    "negative row": overlap_with("combination.rows", [0, -1]),
    "row twice": overlap_with("combination.rows", [1, 1]),
    "row out of range": overlap_with("combination.rows", [0, 10**30]),
    "true as row": overlap_with("combination.rows", [0, True]),
    "exponent": and_with("hyperplane.b", "-0x4p-100001"),
    "huge exponent": and_with("hyperplane.b", "-0x4p" + "9" * 5000),
    "long number": and_with("hyperplane.b", "-0x" + "f" * 300_000),
    "exponents": json.dumps(put(AND, ("hyperplane",), {"w": ["0x2p-100001", "0x3p-100001"], "b": "-0x4p-100001"})),
    "long numbers": json.dumps(put(AND, ("hyperplane",), {"w": [f"0x2{LONG}", f"0x3{LONG}"], "b": f"-0x4{LONG}"})),
    "negative column": and_with("hyperplane.w", {"columns": [-1, 0, 1], "values": ["0x0", "0x2", "0x3"]}),
    "zero denominator": and_with("hyperplane.b", "-0x4/0x0"),
    "line feed": and_with("hyperplane.b", "-0x4\n"),
    "other digits": and_with("hyperplane.b", "-0x4p-٤"),
    "columns reversed": and_with("hyperplane.w", {"columns": [1, 0], "values": ["0x3", "0x2"]}),
    "column twice": and_with("hyperplane.w", {"columns": [0, 0, 1], "values": ["0x2", "0x2", "0x3"]}),
    "column out of range": and_with("hyperplane.w", {"columns": [0, 2], "values": ["0x2", "0x3"]}),
    "values missing": and_with("hyperplane.w", {"columns": [0, 1], "values": ["0x2"]}),
    "w too long": and_with("hyperplane.w", ["0x2", "0x3", "0x0"]),
    "half a character": and_with("data.positive", "\ud800"),
    "half a character as field": json.dumps(AND | {"\ud800": 1}),
    "hash in capitals": and_with("data.sha256", "F" * 64),
    "the same label": and_with("data.negative", "1.0"),
    "three bounds": or_with("margin.squared", ["0x1p-3"] * 3),
    "many null vectors": overlap_with("ties.null", [{"columns": [], "values": []}] * 100_000),
    "dependent null vectors": overlap_with("ties.null", [numbers(1, 0, -3), numbers(2, 0, -6)]),
}  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_proofs_are_rejected_in_one_line(name, tmp_path, capsys):
    source = CASES["or, margin"] if name == "three bounds" else CASES["and"]
    if OVERLAP["data"]["sha256"] in HOSTILE[name]:
        source = CASES["overlap at a point"]
    code, said = run(capsys, tmp_path, HOSTILE[name], source.rows, source.labels)
    try:
        read_proof(HOSTILE[name])
    except ProofError:
        assert code == 2
        assert said.startswith(f"{tmp_path / 'proof.json'} is not a proof: ")
    else:
        assert code == 1
        assert said.startswith("Rejected: ")
    assert len(said) < 300 + len(str(tmp_path))
    said.encode()


def test_denominators_without_end_are_rejected(monkeypatch):
    monkeypatch.setattr(checker, "LARGEST_BITS", 2**14)
    made = case(
        [[1.0] * 2000], "1", hyperplane={"w": [f"0x1/{2**1000 + 2 * k + 1:#x}" for k in range(2000)], "b": "0x1"}
    )
    with pytest.raises(ProofError, match="common denominator of w is too large"):
        check(read_proof(json.dumps(made.proof)), made.rows, made.labels)


def test_ranks_without_end_are_rejected(monkeypatch):
    rows, labels, proof = CASES["overlap at a point"]
    for limit in ("LARGEST_MATRIX", "MOST_WORK"):
        with monkeypatch.context() as patch:
            patch.setattr(checker, limit, 1)
            with pytest.raises(ProofError, match="rank"):
                check(proof, rows, labels)


def test_a_rank_that_one_prime_hides():
    p = 2**61 - 1
    rows = [[float(2**60), 0.0, 0.0], [0.0, 1.0, 0.0]]
    assert checker.has_rank(
        [checker.Vector(range(3), [(int(x) % p * p if x > 1 else int(x), 0) for x in r]) for r in rows], 3, 2
    )


def test_weights_of_any_size_are_taken():
    huge = "0x" + "f" * 10_000
    made = case([(1,), (1,)], "0 1", combination={"rows": [0, 1], "weights": [huge, huge]})
    assert accepted(made.proof, made.rows, made.labels)
    made.proof["combination"]["weights"] = [huge, huge[:-1] + "e"]
    assert not accepted(made.proof, made.rows, made.labels)
    made.proof["combination"]["weights"] = ["0x1p100000", "0x1p-100000"]
    assert not accepted(made.proof, made.rows, made.labels)


def test_files_that_cannot_be_read(tmp_path, capsys, monkeypatch):
    rows, labels, proof = CASES["and"]
    path, data = tmp_path / "proof.json", table(tmp_path, rows, labels)
    assert main([str(path), data]) == 2
    path.write_bytes(b"\xff\xfe")
    assert main([str(path), data]) == 2
    assert main([str(tmp_path), data]) == 2
    path.write_text(json.dumps(proof))
    assert main([str(path), str(tmp_path / "none.csv")]) == 2
    assert main([str(path), data, "--delimiter", ";;"]) == 2
    assert main([str(path), data, "--delimiter", '"']) == 2
    monkeypatch.setattr(checker, "LARGEST_FILE", 100)
    assert main([str(path), data]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 7
    assert "larger than 100 bytes" in err


@pytest.mark.parametrize("arguments", [[], ["one"], ["one", "two", "three"], ["--what"]])
def test_wrong_usage(arguments, capsys):
    assert main(arguments) == 2
    assert "usage" in capsys.readouterr().err


def test_help_is_no_error(capsys):
    assert main(["--help"]) == 0
    assert "PROOF" in capsys.readouterr().out


def read(tmp_path, content, name="data.csv", **options):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return list(read_table(str(path), **options))


PLAIN = [([1.0, 2.0], "a"), ([3.0, -4.5], "b")]


@pytest.mark.parametrize(
    "content, options",
    [
        ("1,2,a\n3,-4.5,b\n", {}),
        ("\ufeffx1,x2,class\r\n1,2,a\r\n\r\n3,-4.5,b", {}),
        ("1\t2\ta\n3\t-4.5\tb\n", {"name": "data.TSV"}),
        ("1;2;a\n3;-4.5;b\n", {"delimiter": ";"}),
        ("class,x1,x2\na,1,2\nb,3,-4.5\n", {"target": "class"}),
        ("1,a,2\n3,b,-4.5\n", {"target": "2"}),
        ("x,3,y\n1,2,a\n3,-4.5,b\n", {"header": True}),
        ('"1","2","a"\n 3, -45e-1,b\n', {"header": False}),
    ],
)
def test_tables_are_read(content, options, tmp_path):
    assert read(tmp_path, content, **options) == PLAIN


@pytest.mark.parametrize(
    "content, options, message",
    [
        ("1,2,a\n3,b\n", {}, "line 2 has 2 columns, the first has 3"),
        ("1,2,a\n3,x,b\n", {}, "line 2, column 2: 'x' is not a finite number"),
        ("1,2,a\n\n3,,b\n", {}, "line 3, column 2: ''"),
        ("1,nan,a\n", {}, "line 1, column 2: 'nan'"),
        ("nan,nan,a\n", {}, "line 1, column 1: 'nan'"),
        ("a,1,-inf\n", {"target": "1"}, "line 1, column 3: '-inf'"),
        ("1,1e999,a\n", {}, "line 1, column 2: '1e999'"),
        ("1,two,a\n", {}, "line 1, column 2: 'two' .*the option header"),
        (",,\n1,2,a\n1,2\n", {}, "line 3 has 2"),
        ("1,2,a\n,,\n", {}, "line 2, column 1: ''"),
        ("a\nb\n", {}, "one column"),
        ("1,2,a\n", {"target": "class"}, "'class' is neither a name in the first line nor 1 to 3"),
        ("1,2,a\n", {"target": "0"}, "neither"),
        ("1,2,a\n", {"target": "-1"}, "neither"),
        ('1,"2,a\n', {}, "line 1: unexpected end of data"),
        (b"1,2,a\n1,2,\xff\n", {}, "not UTF-8"),
    ],
)
def test_tables_that_cannot_be_read(content, options, message, tmp_path):
    with pytest.raises(checker.DataError, match=message):
        read(tmp_path, content, **options)


def test_an_empty_table_is_no_data(tmp_path, capsys):
    path, data = tmp_path / "proof.json", tmp_path / "data.csv"
    path.write_text(json.dumps(AND))
    data.write_text("\n")
    assert main([str(path), str(data)]) == 2
    assert "no rows" in capsys.readouterr().err


def test_bad_rows_in_memory_are_named():
    rows, labels, proof = CASES["and"]
    for bad in ([math.nan, 1.0], [1.0], [math.inf, 0.0]):
        with pytest.raises(checker.DataError, match="row 2 does not have 2 finite values"):
            check(proof, [*rows[:2], bad, rows[3]], labels)


@given(
    st.lists(
        st.lists(st.sampled_from([0.0, -0.0, 1.5, -2.0, 5e-324, 1e300]), min_size=3, max_size=3),
        min_size=1,
        max_size=5,
    ),
    st.data(),
)
def test_fingerprints_are_those_of_the_format(rows, data):
    signs = [data.draw(st.sampled_from([1, -1, 0])) for _ in rows]
    assert checker.fingerprint(rows, signs, 3) == hash_of(rows, signs)


def test_the_fingerprint_is_pinned():
    assert (
        checker.fingerprint([[0.0, 1.0], [0.5, -3.0]], [1, -1], 2)
        == "9b9175e5c1e82bcc280ea502c7794242cca2900c71326079d0dbffe062c7e3ae"
    )


SOURCE = Path(checker.__file__)


def test_the_checker_imports_the_standard_library_alone():
    for node in ast.walk(ast.parse(SOURCE.read_text(encoding="utf-8"))):
        names = (
            [a.name for a in node.names]
            if isinstance(node, ast.Import)
            else [node.module]
            if isinstance(node, ast.ImportFrom)
            else []
        )
        assert all(name.split(".")[0] in sys.stdlib_module_names for name in names)


@pytest.mark.parametrize(
    "name, bug, code", [("or, margin", None, 0), ("xor", None, 0), ("and", ("bias",), 1), ("and", ("data",), 2)]
)
def test_a_copy_of_the_checker_works_alone(name, bug, code, tmp_path):
    rows, labels, proof = CASES[name]
    (tmp_path / "check.py").write_bytes(SOURCE.read_bytes())
    (tmp_path / "proof.json").write_text(json.dumps(put(proof, bug, False) if bug else proof))
    table(tmp_path, rows, labels, "data.tsv", "\t")
    command = [sys.executable, "-I", "-S", "-W", "error", "check.py", "proof.json", "data.tsv"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False)
    assert done.returncode == code, done.stderr
    assert (done.stderr if code == 2 else done.stdout).count(b"\n") == 1
    assert (done.stdout if code == 2 else done.stderr) == b""


def test_the_module_runs_without_a_warning(tmp_path):
    rows, labels, proof = CASES["or, margin"]
    (tmp_path / "proof.json").write_text(json.dumps(proof))
    path = table(tmp_path, rows, labels)
    command = [sys.executable, "-W", "error", "-m", "rosenblatt.certify.check", str(tmp_path / "proof.json"), path]
    ascii_only = {**os.environ, "PYTHONIOENCODING": "ascii"}  # which has no γ
    done = subprocess.run(command, capture_output=True, check=False, text=True, env=ascii_only)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("Separable: a hyperplane has '1' (3 rows)")


def test_a_list_of_proofs(tmp_path, capsys):
    from sklearn.datasets import load_iris

    import rosenblatt as rb

    X, y = load_iris(return_X_y=True)
    (tmp_path / "proofs.json").write_text(rb.certify(X, y).to_json())
    lines = [",".join(map(str, [*row, label])) for row, label in zip(X.tolist(), y.tolist(), strict=True)]
    (tmp_path / "iris.csv").write_text("\n".join(lines))
    arguments = [str(tmp_path / "proofs.json"), str(tmp_path / "iris.csv")]
    assert main(arguments) == 0
    told = capsys.readouterr().out.splitlines()
    assert "".join(line[0] for line in told) == "SSISII"  # three pairs, then each against the rest
    (tmp_path / "iris.csv").write_text("\n".join([*lines[:-1], lines[0]]))
    assert main(arguments) == 1
    (tmp_path / "proofs.json").write_text("[]")
    assert main(arguments) == 2
    assert "empty list" in capsys.readouterr().err
