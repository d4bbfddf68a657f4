"""A Sphinx extension: the reference, a page for each class or group of functions, and tables that lead to them.

``look_up/reference.md`` lists names, each with the members to show. In a block ``{pages}`` every name gets a page;
the names of a block ``{page} Title`` share one. ``module: *`` stands for all that a module exports, and
``module: * -Name`` for all but one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib import import_module
from inspect import isclass
from pathlib import Path
from typing import Any, NamedTuple

INDEX = Path(__file__).parent / "look_up" / "reference.md"
FOLDER = INDEX.with_suffix("")
BLOCK = re.compile(r"^:::\{(pages?)\} *(.*)\n((?:(?!:::).*\n)*):::$", re.MULTILINE)


class Entry(NamedTuple):
    """A public name, and the members that its page shows."""

    name: str
    members: str

    def names(self) -> list[str]:
        """Return the names for the table: those of a module's exports, if it is a module."""
        if not self.members.startswith("*"):
            return [self.name]
        module = import_module(self.name)
        exported = getattr(module, "__all__", None) or _defined(module)
        return [f"{self.name}.{name}" for name in exported if name not in self.left_out()]

    def left_out(self) -> list[str]:
        """Return the exports of a module that have an entry of their own."""
        return re.findall(r"-(\w+)", self.members)

    def directive(self) -> str:
        """Return the lines that document it."""
        if self.members.startswith("*"):
            imported = "   :imported-members:\n" if hasattr(import_module(self.name), "__all__") else ""
            left_out = f"   :exclude-members: {', '.join(self.left_out())}\n" if self.left_out() else ""
            return f".. automodule:: {self.name}\n   :members:\n{imported}{left_out}"
        found = _object(self.name)
        kind = "class" if isclass(found) else "method" if "." in found.__qualname__ else "function"
        members = f"   :members: {self.members}\n" if self.members else ""
        return f".. auto{kind}:: {self.name}\n{members}"


class Page(NamedTuple):
    """A page of the reference."""

    title: str
    entries: list[Entry]

    @property
    def stem(self) -> str:
        """The name of its file, without the suffix."""
        return (
            re.sub(r"\W+", "_", self.title.lower()).strip("_") if len(self.entries) > 1 else self.entries[0].name
        )

    def text(self) -> str:
        """Return the page as reStructuredText; with a table on top, if there is more than one name."""
        names = [name for entry in self.entries for name in entry.names()]
        parts = [f"{self.title}\n{'=' * len(self.title)}\n"]
        if len(names) > 1:
            parts.append(table(names))
        return "\n".join([*parts, *(entry.directive() for entry in self.entries)])


def pages(kind: str, title: str, lines: str) -> list[Page]:
    """Return the pages of a block."""
    entries = []
    for line in filter(None, map(str.strip, lines.splitlines())):
        name, _, members = line.partition(":")
        entries.append(Entry(name.strip(), members.strip()))
    if kind == "page":
        return [Page(title.strip(), entries)]
    return [Page(entry.name.rpartition(".")[2], [entry]) for entry in entries]


def all_pages() -> Iterator[Page]:
    """Yield every page that the index names."""
    for kind, title, lines in BLOCK.findall(INDEX.read_text(encoding="utf-8")):
        yield from pages(kind, title, lines)


def table(names: list[str]) -> str:
    """Return a table: each name as a link, and its first sentence."""
    return ".. autosummary::\n   :nosignatures:\n\n" + "".join(f"   ~{name}\n" for name in names)


def write(app: Any) -> None:
    """Write the pages that changed, and remove those that the index no longer names."""
    FOLDER.mkdir(exist_ok=True)
    kept = {f"{page.stem}.rst": page.text() for page in all_pages()}
    for path in FOLDER.glob("*.rst"):
        if path.name not in kept:
            path.unlink()
    for name, text in kept.items():
        path = FOLDER / name
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


def _object(name: str) -> Any:
    """Import what a dotted name stands for; the longest part that is a module comes first."""
    parts = name.split(".")
    for i in range(len(parts) - 1, 0, -1):
        module = ".".join(parts[:i])
        try:
            found: Any = import_module(module)
        except ModuleNotFoundError as error:
            if not f"{module}.".startswith(f"{error.name}."):  # a package that the module needs is missing
                raise
            continue
        for part in parts[i:]:
            found = getattr(found, part)
        return found
    raise ImportError(name)


def _defined(module: Any) -> list[str]:
    """Return the public names that a module without ``__all__`` defines itself."""
    found = [name for name, each in vars(module).items() if getattr(each, "__module__", "") == module.__name__]
    return [name for name in found if not name.startswith("_")]


def setup(app: Any) -> dict[str, bool]:
    """Register the directives, and write the pages before they are read."""
    from sphinx.util.docutils import SphinxDirective  # tests read `all_pages` without it

    class Table(SphinxDirective):
        """``{page} Title`` or ``{pages}``: a table, and the pages below this one."""

        has_content = True
        optional_arguments = 1
        final_argument_whitespace = True

        def run(self) -> list[Any]:
            """Return the table, and a hidden list of contents."""
            below = pages(self.name, " ".join(self.arguments), "\n".join(self.content))
            names = [name for page in below for entry in page.entries for name in entry.names()]
            tree = ".. toctree::\n   :hidden:\n\n" + "".join(f"   {FOLDER.name}/{page.stem}\n" for page in below)
            return self.parse_text_to_nodes(f"```{{eval-rst}}\n{table(names)}\n{tree}```\n")

    app.add_directive("pages", Table)
    app.add_directive("page", Table)
    app.connect("builder-inited", write, priority=100)
    return {"parallel_read_safe": True}
