"""How commands come by their options: declared once, handed over as one value, and listed under a heading."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any, TypeAlias

import click

__all__ = ["Sectioned", "taking"]

Command: TypeAlias = Callable[..., Any]
OWN = "Options"


class Sectioned(click.Command):
    """A command whose help lists its options under the headings that `taking` gave them, its own ones first."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options."""
        sections: dict[str, list[tuple[str, str]]] = {OWN: []}
        for each in self.get_params(ctx):
            record = each.get_help_record(ctx)
            if record is not None and not isinstance(each, click.Argument):
                sections.setdefault(getattr(each, "section", OWN), []).append(record)
        for title, records in sections.items():
            with formatter.section(title):
                formatter.write_dl(records)


def taking(
    options: Sequence[Callable[[Any], Any]], gather: Callable[[dict[str, Any]], dict[str, Any]], section: str = OWN
) -> Callable[[Command], Command]:
    """Give a command options, under a heading; it is called with what `gather` makes of all its values."""

    def decorate(command: Command) -> Command:
        @wraps(command)
        def called(**values: Any) -> Any:
            return command(**gather(values))

        decorated: Command = called
        for option in reversed(options):
            decorated = option(decorated)
            decorated.__click_params__[-1].section = section  # type: ignore[attr-defined]
        return decorated

    return decorate
