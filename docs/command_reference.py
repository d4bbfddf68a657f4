"""A Sphinx extension: ``{command-reference}`` lists every command and option, from the parser."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import click

from rosenblatt.cli.main import COMMANDS, commands

SHARED = {
    "Reading": "These options say how DATA is read. Every command that reads DATA takes them.",
    "Learning": "These options choose the learner and its parameters, for `train` and `evaluate --cv`.",
}
FOR_ALL = "`--help` is for every command; the others are for all that print results."
EVERYWHERE = {"--json", "--quiet", "--debug", "--help"}


def reference() -> str:
    """Return the reference as Markdown: a section for each command, and one for each group of shared options."""
    shared: dict[str, dict[str, tuple[str, str]]] = {title: {} for title in SHARED}
    everywhere: dict[str, tuple[str, str]] = {}
    parts = []
    for name, command in _all_commands():
        own, groups = [], []
        with click.Context(command, click.Context(commands, **commands.context_settings)) as context:
            usage = " ".join(command.collect_usage_pieces(context))
            for each in command.get_params(context):
                record = each.get_help_record(context)
                section = getattr(each, "section", "Options")
                if record is None or isinstance(each, click.Argument):
                    continue
                if section in SHARED:
                    shared[section][record[0]] = record
                    groups.append(section)
                elif EVERYWHERE & set(each.opts):
                    everywhere[record[0]] = record
                else:
                    own.append(record)
        parts.append(f"## {name}\n\n`rosenblatt {name} {usage}`\n\n{_prose(command.help)}\n")
        parts.append(_table(own) if own else "It has no options of its own.\n")
        for title in dict.fromkeys(groups):
            parts.append(f"It also takes the options of [{title.lower()}](#{title.lower()}).\n")
        parts.append(_epilog(command.epilog))
    for title, line in SHARED.items():
        parts.append(f"## {title}\n\n{line}\n\n{_table(shared[title].values())}")
    parts.append(f"## Every command\n\n{FOR_ALL}\n\n{_table(everywhere.values())}")
    return "\n".join(parts)


def _all_commands() -> Iterator[tuple[str, click.Command]]:
    for name in COMMANDS:
        command = commands.get_command(click.Context(commands), name)
        assert command is not None
        yield name, command
        if isinstance(command, click.Group):
            for each in command.list_commands(click.Context(command)):
                inner = command.get_command(click.Context(command), each)
                assert inner is not None
                yield f"{name} {each}", inner


def _table(records: Any) -> str:
    rows = [f"| `{_cell(names)}` | {_cell(_escaped(text))} |" for names, text in records]
    return "\n".join(["| option | meaning |", "|---|---|", *rows, ""])


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", r"\|")


def _escaped(text: str) -> str:
    """Return text without marks that Markdown would take for its own; options become code."""
    text = re.sub(r"([\[\]<*_^~$])", r"\\\1", text)
    return re.sub(r"(?<![\w-])(--[a-z][a-z0-9-]*)", r"`\1`", text)


def _prose(text: str | None) -> str:
    return _escaped(" ".join((text or "").split()))


def _epilog(text: str | None) -> str:
    """Return the examples of a command as code, and what stands below them as paragraphs."""
    parts = []
    for paragraph in re.split(r"\n\s*\n", text or ""):
        plain = paragraph.replace("\b", "").strip("\n")
        if not plain.strip():
            continue
        if "\b" in paragraph:
            first, *rest = plain.strip("\n").splitlines()
            lines = "\n".join(line.strip() for line in rest)
            parts.append(f"{_escaped(first.strip())}\n\n```sh\n{lines}\n```\n")
        else:
            parts.append(f"{_prose(plain)}\n")
    return "\n".join(parts)


def setup(app: Any) -> dict[str, bool]:
    """Register the directive."""
    from sphinx.util.docutils import SphinxDirective  # tests read `reference` without it

    class CommandReference(SphinxDirective):
        """The directive."""

        def run(self) -> list[Any]:
            """Return the nodes of the reference."""
            return self.parse_text_to_nodes(reference(), allow_section_headings=True)

    app.add_directive("command-reference", CommandReference)
    return {"parallel_read_safe": True}
