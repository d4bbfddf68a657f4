"""Run the examples of a page: ``python -m tests.shared.pages docs/learn/tour.md`` fills in what they print."""

import contextlib
import doctest
import io
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

from rosenblatt.cli.main import main

BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.DOTALL | re.MULTILINE)  # the language and the lines
VARYING = re.compile(r"\d+\.\d\d s\b|\([\d.]+ [kM]B\)")  # seconds, and files that hold names of versions
COMPILED = re.compile(r" \(and \d+\.\d\d s to compile, once\)")
COMPILING = "Compiling for this processor (once) …\n"  # said where no loop has been compiled before


def commands_of(block: str) -> list[tuple[str, str]]:
    """Return each command of a block, with what stands below it."""
    found: list[list[str]] = []
    for line in block.splitlines():
        if line.startswith("$ "):
            found.append([line[2:]])
        else:
            found[-1].append(line)
    parted = []
    for command, *rest in found:
        if "<<'END'" in command:
            end = rest.index("END") + 1
            parted.append(("\n".join([command, *rest[:end]]), "\n".join(rest[end:])))
        else:
            parted.append((command, "\n".join(rest)))
    return parted


def run(command: str, folder: Path) -> str:
    """Return what a command prints, as a terminal shows it; run in this process if it is one of ours alone."""
    if command.startswith("rosenblatt ") and not set(command) & set("|<>'"):
        return _run_here(shlex.split(command)[1:], folder)
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    environment = os.environ | {"PATH": path, "LC_ALL": "C.UTF-8"}
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    return subprocess.run(["bash", "-c", command], cwd=folder, env=environment, **streams).stdout.rstrip("\n")


def _run_here(arguments: list[str], folder: Path) -> str:
    printed = io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True)
    with contextlib.chdir(folder), contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
        main(arguments)
    return printed.buffer.getvalue().decode().rstrip("\n")


def plain(text: str) -> str:
    """Return text without what differs from one time to the next."""
    return VARYING.sub("…", COMPILED.sub("", text.replace(COMPILING, "")))


def write(page: Path, folder: Path) -> None:
    """Write what the commands and the Python of a page print below them."""
    names: dict[str, object] = {"__name__": "__main__"}

    def filled(match: re.Match[str]) -> str:
        language, block = match[1], match[2]
        if language == "console":
            return f"```console\n{_console(block, folder)}```"
        return f"```python\n{_python(block, names)}```" if language == "python" else match[0]

    text = page.read_text(encoding="utf-8")
    with contextlib.chdir(folder):
        text = BLOCK.sub(filled, text)
    page.write_text(text, encoding="utf-8")


def _console(block: str, folder: Path) -> str:
    lines = []
    for command, _ in commands_of(block):
        printed = run(command, folder)
        lines += [f"$ {command}\n", f"{printed}\n" if printed else ""]
    return "".join(lines)


def _python(block: str, names: dict[str, object]) -> str:
    parts = []
    for example in doctest.DocTestParser().parse(block):
        if isinstance(example, str):
            parts.append(example)
            continue
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(example.source, "<page>", "single"), names)
        first, *rest = example.source.splitlines()
        shown = re.sub(r"^$(?=\n)", "<BLANKLINE>", printed.getvalue(), flags=re.MULTILINE)
        parts += [f">>> {first}\n", *(f"... {line}".rstrip() + "\n" for line in rest), shown]
    return "".join(parts)


if __name__ == "__main__":
    from tempfile import TemporaryDirectory

    with TemporaryDirectory() as folder:
        write(Path(sys.argv[1]).resolve(), Path(folder))
