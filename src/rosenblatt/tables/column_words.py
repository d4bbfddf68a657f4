"""How messages about columns name places and ways out: by the options of the command line, or by parameters."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from rosenblatt.exceptions import FormatError

if TYPE_CHECKING:
    from rosenblatt.tables.reading import Column
    from rosenblatt.tables.table import Problem, Table

__all__ = ["COMMAND_LINE", "PARAMETERS", "SKIP", "Wording"]


SKIP = "leave such rows out with --skip-bad"
"""The remedy for a row that cannot be read."""


class Wording:
    """The words of the command line: options, files, lines, and columns counted from 1.

    Examples
    --------
    >>> COMMAND_LINE.use("ignore", "age", "size"), PARAMETERS.use("ignore", "age", "size")
    ('--ignore age --ignore size', "ignore=['age', 'size']")
    """

    first_column = 1
    missing: tuple[str, ...] = (
        "fill it in",
        "use --missing zero or --missing mean",
        SKIP,
    )
    nothing_left = "there is only one column, so nothing is left to learn from: the target is {target}. Check "
    nothing_left += "--delimiter, --target and --ignore"
    header: int | None = 1  # the line that names the columns
    reads_labels = True
    skips_columns = True  # of dates, and those without a name

    def option(self, name: str) -> str:
        """Return what an option is called."""
        return f"--{name}"

    def use(self, name: str, *columns: str) -> str:
        """Return how an option is given columns."""
        several = ('"' + column.replace('"', '""') + '"' if "," in column else column for column in columns)
        return " ".join(f"--{name} {shlex.quote(column)}" for column in several)

    def other_width(self, width: int, trained: int, labelled: bool) -> str:
        """Return what is said of a table without names that has another number of columns."""
        without = f" (or {trained - 1} without the labels)" if labelled else ""
        return (
            f"the table has {width} columns, but the one that was learned from had {trained}{without}, and they "
            "have no names to find them by"
        )

    def position(self, column: Column) -> int | None:
        """Return the number that a column is given by, or None where it is given by name."""
        try:
            return int(column)
        except ValueError:
            return None

    def error(
        self, problem: Problem | str, table: Table, line: int | None = None, column: str | None = None
    ) -> FormatError:
        """Return an error that names the place: file, line and number of the column."""
        names = [field.name for field in table.fields]
        position = names.index(column) + 1 if column in names else None
        told = (problem,) if isinstance(problem, str) else problem
        return FormatError(*told, file=table.file, line=line, column=position)


class _Parameters(Wording):
    """The words of Python: parameters of `TableEncoder`, rows and columns of X counted from 0."""

    first_column = 0
    missing = ("impute it (NaN is no number)", "set missing='zero' or missing='mean'")
    nothing_left = "no column is left: ignore names all of them"
    header = None
    reads_labels = False
    skips_columns = False

    def option(self, name: str) -> str:
        return name

    def use(self, name: str, *columns: str) -> str:
        return f"{name}={list(columns)!r}"

    def other_width(self, width: int, trained: int, labelled: bool) -> str:
        return (  # scikit-learn's estimator checks look for these words
            f"X has {width} features, but TableEncoder is expecting {trained - labelled} features as input. "
            "Pass the columns of training, or a table whose columns have names"
        )

    def position(self, column: Column) -> int | None:
        return None if isinstance(column, str) else column

    def error(
        self, problem: Problem | str, table: Table, line: int | None = None, column: str | None = None
    ) -> FormatError:
        places = [] if line is None else [f"row {line}"]
        places += [] if column is None else [f"column {column!r}"]
        told = FormatError(problem) if isinstance(problem, str) else FormatError(*problem)
        error = FormatError(f"{', '.join([table.file, *places])}: {told}.")
        error.line = line
        return error


COMMAND_LINE, PARAMETERS = Wording(), _Parameters()
