import pytest

from rosenblatt.cli.main import main


class Ran:
    """What a command left behind."""

    def __init__(self, code, out, err):
        self.code, self.out, self.err = code, out, err

    def __repr__(self):
        return f"exit code {self.code}\n{self.out}\n{self.err}"


@pytest.fixture
def run(capfd, tmp_path, monkeypatch):
    """Run a command in an empty folder, in this process."""
    monkeypatch.chdir(tmp_path)

    def rosenblatt(*arguments):
        code = main([str(each) for each in arguments])
        return Ran(code, *capfd.readouterr())

    return rosenblatt


@pytest.fixture
def done(run):
    """Run a command that must succeed, and return what it printed."""

    def rosenblatt(*arguments):
        ran = run(*arguments)
        assert ran.code == 0, ran
        return ran.out

    return rosenblatt
