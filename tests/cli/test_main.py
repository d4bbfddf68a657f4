"""What holds of every command: exit codes, where words go, and how errors are told."""

import json
import subprocess
import sys

import click
import pytest

from rosenblatt.cli.main import COMMANDS, commands, main
from rosenblatt.exceptions import ParameterError


def test_every_command_has_help_with_examples_that_name_it(run):
    for name in COMMANDS:
        ran = run(name, "--help")
        assert ran.code == 0
        assert "Usage: rosenblatt " + name in ran.out
        if name != "demo":
            assert f"rosenblatt {name}" in ran.out.split("Examples:")[1]


def test_the_list_of_commands_says_what_their_help_says():
    for name, line in COMMANDS.items():
        command = commands.get_command(click.Context(commands), name)
        assert isinstance(command, click.Command)
        assert line.endswith(".")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["trian", "x.csv"], "did you mean 'train'?"),
        (["train"], "Missing argument 'DATA...'"),
        (["train", "x.csv", "-o", "m"], "x.csv"),
        (["train", "@irsi", "-o", "m"], "Did you mean @iris?"),
        (["train", "@iris", "@xor", "-o", "m"], "@iris must be named alone"),
        (["train", "@iris", "-o", "nowhere/m"], "there is no folder nowhere"),
        (["train", "@iris", "-o", "m", "--learner", "kernl"], "kernl"),
        (["train", "@iris", "-o", "m", "--learner", "max-margin", "--budget", "3"], "does not take --budget"),
        (["train", "@iris", "-o", "m", "--set", "eta"], "NAME=VALUE"),
        (["train", "@iris", "-o", "m", "--set", "eta=1"], "Did you mean eta0?"),
        (
            ["train", "@iris", "-o", "m", "--learner", "pocket", "--checkpoint", "1"],
            "keeps none. Drop --checkpoint",
        ),
        (["train", "@iris", "-o", "m", "--learner", "kernel", "--kernel", "rbf(gama=2)"], "gama"),
        (["train", "@iris", "-o", "m", "--target", "0"], "counted from 1"),
        (["evaluate", "@iris"], "--cv K"),
        (["evaluate", "--cv", "200", "@iris"], "Use at most 50 folds"),
        (["trace", "@xor", "--first", "9"], "beyond the 4 rows"),
        (["trace", "@xor", "--start", "1,b"], "numbers separated by commas"),
        (["predict", "no.model", "@iris"], "no.model"),
        (["inspect", "no.model"], "no.model"),
    ],
)
def test_bad_usage_is_one_line_and_code_2(run, arguments, told):
    ran = run(*arguments)
    assert ran.code == 2
    assert ran.out == ""
    *remarks, line = ran.err.splitlines()
    assert line.startswith("rosenblatt: ")
    assert told in line
    assert all("built in" in remark for remark in remarks), ran.err


def test_debug_shows_where(run):
    with pytest.raises(ParameterError, match="Did you mean kernel"):
        run("train", "@iris", "-o", "m", "--learner", "kernl", "--debug")


def test_a_defect_is_told_as_one(run, monkeypatch):
    monkeypatch.setattr("rosenblatt.datasets.as_rows", lambda X: 1 / 0)
    ran = run("certify", "@xor")
    assert ran.code == 2
    assert "a defect in rosenblatt, not in your data: ZeroDivisionError" in ran.err
    assert "Traceback" not in ran.err


def test_quiet_leaves_results_alone(run):
    loud, quiet = run("certify", "@xor"), run("certify", "@xor", "--quiet")
    assert loud.out == quiet.out
    assert loud.err
    assert quiet.err == ""


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["certify", "@xor"], 1),
        (["certify", "@or"], 0),
        (["trace", "@six-points"], 0),
        (["evaluate", "--cv", "3", "@iris"], 0),
    ],
)
def test_json_is_one_value(run, arguments, code):
    ran = run(*arguments, "--json")
    assert ran.code == code
    assert isinstance(json.loads(ran.out), dict)


@pytest.mark.slow
def test_whoever_reads_may_stop_reading(tmp_path):
    script = (
        f"{sys.executable} -c 'import sys; from rosenblatt.cli.main import main; sys.exit(main(sys.argv[1:]))'"
    )
    ran = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {script} trace @digits --limit 100000 --max-iter 3 -q | head -1"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
    )
    assert "1797 rows" in ran.stdout
    assert "Traceback" not in ran.stderr
    assert "Broken" not in ran.stderr


def test_completion_scripts(run):
    for shell in ("bash", "zsh", "fish"):
        assert "_ROSENBLATT_COMPLETE" in run("completion", shell).out


def test_version(run):
    import rosenblatt

    assert run("--version").out == f"rosenblatt {rosenblatt.__version__}\n"


def test_ctrl_c_is_told(run, monkeypatch):
    def stop(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("rosenblatt.datasets.as_rows", stop)
    assert run("certify", "@xor").code == 130


def test_main_reads_the_arguments_of_the_process(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["rosenblatt", "--version"])
    assert main() == 0
    assert "rosenblatt" in capsys.readouterr().out
