"""A story is one text: the files that a person has, what the person types, and all that the person then sees."""

import io
import os
import re
import shlex
import sys
import warnings
from contextlib import chdir, redirect_stderr, redirect_stdout
from pathlib import Path

from rosenblatt.cli.main import main

CASES = Path(__file__).parent / "cases"
PART = re.compile(r"^--- (file|make|python|output|\$)(?: (.*))?$", re.MULTILINE)


def tell(text, folder):
    """Return a story as it goes today: its files are made in a folder, its commands run, their output written in.

    The first lines say what it is about. Then come parts, each under a line: "--- file NAME" and
    "--- file NAME as ENCODING" are files, "--- make" is Python that makes others. "--- $ rosenblatt …" is a
    command with its output; "--- python" is a program, and "--- output" after it what it prints. Lines of
    standard error begin with "! ".
    """
    about, *parts = PART.split(text)
    parts = [tuple(parts[at : at + 3]) for at in range(0, len(parts), 3)]
    told = [about]
    with chdir(folder):
        for kind, name, body in parts:
            if kind == "output":
                continue
            if kind == "$":
                told.append(f"--- $ {name}\n{_command(name)}\n")
                continue
            told.append(f"--- {kind}{f' {name}' if name else ''}{body}")
            if kind == "file":
                path, _, encoding = name.partition(" as ")
                Path(path).write_text(body[1:].rstrip("\n") + "\n", encoding=encoding or "utf-8")
            elif kind == "make":
                exec(body, {"__name__": "story"})
            else:
                told.append(f"--- output\n{_program(body)}\n")
    return "".join(told).rstrip("\n") + "\n"


def _command(line):
    name, *arguments = shlex.split(line)
    assert name == "rosenblatt", line
    return _seen(lambda: main(arguments))


def _program(text):
    def run():
        with warnings.catch_warnings():
            warnings.simplefilter("default")
            warnings.showwarning = lambda message, category, *_, **__: print(
                f"{category.__name__}: {message}", file=sys.stderr
            )
            try:
                exec(text, {"__name__": "story"})
            except Exception as error:
                print(f"{type(error).__name__}: {error}", file=sys.stderr)
        return 0

    return _seen(run)


def _seen(call):
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", newline="\n") for _ in "oe")
    with redirect_stdout(out), redirect_stderr(err):
        code = call()
    printed, remarks = (_steady(each) for each in (out, err))
    lines = printed + [f"! {each}" for each in remarks] + [f"exit code {code}"] * bool(code)
    return "\n".join(f"{each}".rstrip() for each in lines) + "\n" * bool(lines)


def _steady(stream):
    """Return lines without what differs from run to run: seconds, sizes of files, the folder, and compiling."""
    stream.flush()
    text = stream.buffer.getvalue().decode("utf-8").replace(os.getcwd() + os.sep, "")
    text = re.sub(r" \(and \d+\.\d\d s to compile, once\)", "", text)
    text = re.sub(r"\b\d+(\.\d+)? (s|ms|min)\b", "… s", text)
    text = re.sub(r"\bMSE [\d.e-]+", "MSE …", text)  # by BLAS, which differs
    text = re.sub(r"(?m)^(  (?:rosenblatt|numpy|python|created) +).*", r"\1…", text)
    text = re.sub(r"(saved in \S+|written to \S+|report in \S+) \([\d.]+ [kM]?B\)", r"\1 (… kB)", text)
    return [line for line in text.splitlines() if not line.startswith("Compiling ")]
