"""Lists of proofs, files without end, readers that leave: in the checker and in `rosenblatt check` alike."""

import json
import os
import subprocess
import sys

import pytest

from rosenblatt.certify import check as checker
from rosenblatt.certify import proof_reader
from rosenblatt.certify.certificate import Certificate
from rosenblatt.certify.check import ProofError
from rosenblatt.cli.main import main as rosenblatt
from tests.certify.proofs import CASES, case, plane, put
from tests.certify.test_check_files import table

SQUARE = [(0, 0), (1, 0), (0, 1), (1, 1)]
AND, OR = CASES["and"], CASES["or"]


def rest(label, rows="a b c c"):
    """Return a true proof that a class is separable from the rest."""
    planes = {"a": plane(-2, -2, b=1), "b": plane(2, -3, b=-1), "c": plane(0, 2, b=-1), "x": plane(0, 0, b=-1)}
    return case(SQUARE, rows, positive=label, negative=None, hyperplane=planes[label]).proof


@pytest.fixture
def both(tmp_path, capfd):
    """Check a text by both programs; return the exit code, on which they must agree, and what each said."""

    def run(text, rows=SQUARE, labels="a b c c", data=None):
        path = tmp_path / "proof.json"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        if data is None:
            data = table(tmp_path, [list(map(float, row)) for row in rows], labels.split())
        said, codes = [], set()
        files = [str(path), str(data)]
        for program in (lambda: checker.main(files), lambda: rosenblatt(["check", "-q", *files])):
            codes.add(program())
            out, err = capfd.readouterr()
            said.append(out + err)
            assert "defect" not in err
            assert "Traceback" not in err
        (code,) = codes
        return code, said

    return run


def test_a_list_of_true_proofs_holds(both):
    code, _ = both(json.dumps([rest("a"), rest("b"), rest("c")]))
    assert code == 0


NO_PROOFS = ["{", "[]", "{}", "null", "[1]", '{"format": 1}', "[" * 100_000, "1" * 10_000, "NaN"]


@pytest.mark.parametrize("text", NO_PROOFS)
def test_what_is_not_a_proof_has_its_exit_code(both, text):
    code, said = both(text)
    assert code == 2
    assert all("proof" in each and each.count("\n") == 1 for each in said)


def test_what_is_not_utf_8_is_not_a_proof(both):
    code, said = both(b"\xff\xfe")
    assert code == 2
    assert all("not UTF-8" in each for each in said)


def test_copies_of_a_proof_are_checked_once(both, monkeypatch):
    passes = []
    plain = checker.read_table
    monkeypatch.setattr(checker, "read_table", lambda *args, **how: passes.append(1) or plain(*args, **how))
    code, _ = both(json.dumps([rest("a")] * 5000))
    assert code == 0
    assert len(passes) == 1
    code, _ = both(json.dumps([rest("a"), rest("b")] * 5000))
    assert code == 0
    assert len(passes) == 1 + 3  # the labels, and each of the two


def test_two_proofs_of_one_question_are_refused(both):
    """The first of these is false, and must not hide behind the second."""
    false = put(rest("a"), ("hyperplane", "b"), "0x5")
    for proofs in ([false, rest("a")], [rest("a"), false]):
        code, said = both(json.dumps(proofs))
        assert code == 2
        assert all("two different proofs for 'a' and the rest" in each for each in said)
    with pytest.raises(ProofError, match="two different"):
        Certificate.from_json(json.dumps([false, rest("a")]))


def test_proofs_about_labels_that_there_are_not_are_rejected(both):
    """Each true, and as many as one likes: they would be as many passes over the data."""
    others = [put(rest("x"), ("data", "positive"), f"x{k}") for k in range(200)]
    code, said = both(json.dumps([rest("a"), *others]))
    assert code == 1
    assert all("no row has the label 'x0'" in each for each in said)


def test_a_false_proof_in_a_list_is_rejected(both):
    code, _ = both(json.dumps([rest("a"), put(rest("b"), ("hyperplane", "b"), "0x5"), rest("c")]))
    assert code == 1


def test_a_list_without_each_class_against_the_rest_has_a_table():
    pair = case(SQUARE, "0 0 0 1", hyperplane=plane(2, 3, b=-4)).proof
    other = case(SQUARE, "2 0 0 1", positive="2", hyperplane=plane(-2, -2, b=1)).proof
    assert "·" in str(Certificate.from_json(json.dumps([pair, other])))


def test_a_proof_larger_than_the_limit_is_refused(both, monkeypatch):
    monkeypatch.setattr(checker, "LARGEST_FILE", 100)
    code, said = both(json.dumps(rest("a")))
    assert code == 2
    assert all("larger than 100 bytes" in each for each in said)


def test_vectors_without_end_are_not_made(both):
    """A few bytes could describe vectors of 2^24 numbers, and thousands of them."""
    wide = put(put(AND.proof, ("data", "features"), 2**24), ("hyperplane", "w"), {"columns": [], "values": []})
    code, _ = both(json.dumps(wide), labels="0 0 0 1")
    assert code == 1
    many = put(CASES["overlap at a point"].proof, ("ties", "null"), [{"columns": [], "values": []}] * 1000)
    many = put(many, ("data", "features"), 2**23)
    with pytest.raises(ProofError, match="numbers"):
        Certificate.from_json(json.dumps(many))
    assert proof_reader.MAX_NUMBERS <= 2**27


NUMERALS = [
    "1_0",
    "１",
    "1\u0660",
    "٣",
    "0x1",
    "1e1_0",
    "1,0",
    "nan",
    "inf",
    "Infinity",
    "1d5",
    "1e",
    "--1",
    "½",
    "",
]


@pytest.mark.parametrize("numeral", NUMERALS)
def test_both_refuse_what_is_not_a_number_of_ascii_digits(both, tmp_path, numeral):
    cells = ["0", "1", "1"], [numeral, "1", numeral]  # among numbers, and so often that these seem to be names
    for others in cells:
        rows = [f'0,"{others[0]}",a', f'1,"{numeral}",b', f'0,"{others[1]}",c', f'1,"{others[2]}",c']
        (tmp_path / "data.csv").write_text("\n".join(rows), encoding="utf-8")
        code, said = both(json.dumps(rest("a")), data=tmp_path / "data.csv")
        assert code == 2
        assert all(each.count("\n") == 1 for each in said)
    assert checker.is_number(numeral) == (numeral in ("nan", "inf", "Infinity"))


def test_the_checker_refuses_python_numerals_in_rows(tmp_path):
    (tmp_path / "data.csv").write_text("0,0,a\n1_0,0,b\n", encoding="utf-8")
    with pytest.raises(checker.DataError, match="'1_0' is not a finite number"):
        list(checker.read_table(str(tmp_path / "data.csv")))


def test_a_line_without_end_is_refused(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(checker, "LARGEST_FILE", 2000)
    (tmp_path / "proof.json").write_text(json.dumps(AND.proof))
    (tmp_path / "data.csv").write_text("0,0,0\n" + "1" * 5000)
    assert checker.main([str(tmp_path / "proof.json"), str(tmp_path / "data.csv")]) == 2
    assert capsys.readouterr().err == "a line has more than 2000 characters\n"


@pytest.mark.slow
@pytest.mark.skipif(not os.path.exists("/dev/zero"), reason="this system has no /dev/zero, a file without end")
@pytest.mark.parametrize("program", [["-m", "rosenblatt.certify.check"], ["-m", "rosenblatt", "check"]])
def test_files_without_end_take_bounded_memory(tmp_path, program):
    """With 3 GB they would run out of memory, or run on for ever, if they read all of it."""
    script = (
        "import resource, runpy, sys\n"
        "resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30))\n"
        "sys.argv = sys.argv[1:]\n"
        "runpy.run_module(sys.argv[0], run_name='__main__', alter_sys=True)\n"
    )
    data = table(tmp_path, AND.rows, AND.labels)
    command = [sys.executable, "-c", script, *program[1:], "/dev/zero", data]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 2
    assert "larger than" in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.skipif(os.name == "nt", reason="Windows has no bash")
@pytest.mark.parametrize("answer", [0, 1])
def test_a_reader_that_leaves_changes_no_answer(tmp_path, answer):
    proof = rest("a") if answer == 0 else put(rest("a"), ("hyperplane", "b"), "0x5")
    (tmp_path / "proof.json").write_text(json.dumps(proof))
    data = table(tmp_path, SQUARE, ["a", "b", "c", "c"])
    command = f"{sys.executable} -m rosenblatt.certify.check {tmp_path}/proof.json {data} | (exec <&-; sleep 0)"
    for _ in range(5):
        done = subprocess.run(["bash", "-o", "pipefail", "-c", command], capture_output=True, text=True)
        assert (done.returncode, done.stderr) == (answer, "")
