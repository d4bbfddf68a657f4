"""A Sphinx extension: the companion of each lecture as a notebook, below ``_static/notebooks``.

A notebook is made of the page itself: prose becomes cells of Markdown, examples become cells of code without their
output, and pictures are embedded, so that it needs no network.
"""

from __future__ import annotations

import base64
import json
import re
from pathlib import Path
from typing import Any

SOURCES = Path(__file__).parent / "sources"
PAGES = ("koski", "hladka_holub", "harchaoui", "kernel_slides", "zhang")
BLOCK = re.compile(r"^```(python|console|bash)\n(.*?)^```\n?", re.DOTALL | re.MULTILINE)
IMAGE = re.compile(r"^:::\{image\} \.\./images/(\S+)\n:alt: (.*)\n:class: only-(light|dark)\n:::\n?", re.MULTILINE)
FIRST = """%matplotlib inline
import sys
import rosenblatt as rb"""
INSTALL = (
    "This notebook is made of a page of the documentation of rosenblatt. It needs no network. Install what it "
    "uses in the folder of the source, with Python 3.11 or newer:\n\n```bash\npip install . notebook\n"
    "jupyter notebook\n```"
)


def notebook(name: str) -> dict[str, Any]:
    """Return a page as a notebook: a dictionary in the format of Jupyter, version 4.5."""
    text = (SOURCES / f"{name}.md").read_text(encoding="utf-8")
    cells: list[dict[str, Any]] = []
    at = 0
    for match in BLOCK.finditer(text):
        _add_prose(cells, text[at : match.start()])
        language, block = match[1], match[2]
        if language == "python":
            cells.append(_code(_statements(block)))
        elif language == "console":
            cells.append(_code(_commands(block)))
        else:
            _add_prose(cells, match[0])
        at = match.end()
    _add_prose(cells, text[at:])
    cells[1:1] = [_markdown(INSTALL), _code(FIRST)]
    for i, cell in enumerate(cells):
        cell["id"] = f"{name}-{i}".replace("_", "-")
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return {
        "cells": cells,
        "metadata": {"kernelspec": kernel, "language_info": {"name": "python"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }


def _add_prose(cells: list[dict[str, Any]], text: str) -> None:
    """Append Markdown with its pictures; each section begins a cell."""
    for part in re.split(r"(?m)^(?=#{1,3} )", text):
        attached: dict[str, dict[str, str]] = {}

        def picture(match: re.Match[str], attached: dict[str, dict[str, str]] = attached) -> str:
            if match[3] == "dark":
                return ""
            data = (SOURCES.parent / "images" / match[1]).read_bytes()
            attached[match[1]] = {"image/svg+xml": base64.b64encode(data).decode("ascii")}
            return f"![{match[2]}](attachment:{match[1]})\n"

        prose = _plain(IMAGE.sub(picture, part)).strip("\n")
        if prose:
            cells.append(_markdown(prose, attached))


def _plain(text: str) -> str:
    """Return prose whose links lead nowhere outside of the notebook."""
    text = re.sub(r'<a href="[^"]*notebooks/[^\n]*\n[^\n]*\n?', "", text)
    text = re.sub(r'<a href="[^"]*"[^>]*>([^<]*)</a>', r"\1 (on the site)", text)
    text = re.sub(r"\[(\d+)\]\(exercises\.md#([\w-]+)\)", r"`\2`", text)
    return re.sub(r"(?<!!)\[([^\]]*)\]\((?!attachment:)[^)]*\)", r"\1", text)


def _statements(block: str) -> str:
    """Return the statements of an example without prompts and output."""
    lines = [line[4:] for line in block.splitlines() if line.startswith((">>> ", "... "))]
    return "\n".join(lines)


def _commands(block: str) -> str:
    """Return the commands of an example; ours run in the Python of the notebook."""
    commands = [line[2:] for line in block.splitlines() if line.startswith("$ ")]
    return "\n".join("!" + re.sub(r"^rosenblatt ", "{sys.executable} -m rosenblatt ", each) for each in commands)


def _markdown(text: str, attachments: dict[str, Any] | None = None) -> dict[str, Any]:
    cell: dict[str, Any] = {"cell_type": "markdown", "metadata": {}, "source": text}
    return cell | {"attachments": attachments} if attachments else cell


def _code(text: str) -> dict[str, Any]:
    return {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": [], "source": text}


def write(folder: Path) -> None:
    """Write all notebooks into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in PAGES:
        text = json.dumps(notebook(name), ensure_ascii=False, indent=1) + "\n"
        (folder / f"{name}.ipynb").write_text(text, encoding="utf-8")


def _finished(app: Any, error: Exception | None) -> None:
    if error is None and app.builder.format == "html":
        write(Path(app.outdir) / "_static" / "notebooks")


def setup(app: Any) -> dict[str, bool]:
    """Write the notebooks when the pages are built."""
    app.connect("build-finished", _finished)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
