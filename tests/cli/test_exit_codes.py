"""A reader that leaves, a full disk and a closed output change no answer into another."""

import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(os.name == "nt", reason="Windows has no bash")


def bash(command, folder):
    program = f"{sys.executable} -m rosenblatt"
    line = command.replace("rosenblatt", program, 1)
    done = subprocess.run(["bash", "-o", "pipefail", "-c", line], cwd=folder, capture_output=True, text=True)
    assert "Traceback" not in done.stderr, done.stderr
    assert "defect" not in done.stderr, done.stderr
    assert "Exception ignored" not in done.stderr, done.stderr
    return done


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "answers"),
    [
        ("rosenblatt certify @and | (exec <&-; sleep 30)", {0, 141}),
        ("rosenblatt certify @xor | (exec <&-; sleep 30)", {1, 141}),
        ("rosenblatt certify @xor --json 2>&1 | (exec <&-; sleep 30)", {1, 141}),
        ("rosenblatt --help | (exec <&-; sleep 30)", {0, 141}),
        ("rosenblatt certify --nonsense 2>&1 | (exec <&-; sleep 30)", {2, 141}),
    ],
)
def test_a_reader_that_leaves_changes_no_answer(tmp_path, command, answers):
    """The reader closes its end first: what is written then breaks the pipe."""
    done = bash(command.replace("sleep 30", "sleep 0"), tmp_path)
    assert done.returncode in answers


@pytest.mark.slow
def test_a_reader_that_leaves_a_check_changes_no_answer(tmp_path):
    bash("rosenblatt certify @xor -o proof.json", tmp_path)
    for _ in range(3):
        assert bash("rosenblatt check proof.json @xor | true", tmp_path).returncode in (0, 141)
        assert bash("rosenblatt check proof.json @and | true", tmp_path).returncode in (1, 141)


@pytest.mark.slow
def test_head_ends_predict_as_it_ends_others(tmp_path):
    (tmp_path / "data.csv").write_text("x,y\n" + "0,no\n1,yes\n" * 200_000)
    assert bash("rosenblatt train data.csv -o model -q", tmp_path).returncode == 0
    done = bash("rosenblatt predict model data.csv -q | head -n 1", tmp_path)
    assert (done.returncode, done.stdout) == (141, "no\n")


@pytest.mark.slow
def test_a_full_output_is_an_error(tmp_path):
    done = bash("rosenblatt certify @and > /dev/full", tmp_path)
    assert done.returncode == 2
    assert "No space left on device" in done.stderr


@pytest.mark.slow
def test_a_closed_output_is_no_defect(tmp_path):
    assert bash("rosenblatt certify @xor >&-", tmp_path).returncode == 1
