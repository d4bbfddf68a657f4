"""How to read files, as one value.

Text: lines of a stream, rows of delimited text, and words as features.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

from rosenblatt.exceptions import ParameterError

__all__ = [
    "MISSING_RULES",
    "MOST_BITS",
    "MOST_NGRAMS",
    "THOUSANDS",
    "WEIGHTINGS",
    "Column",
    "Missing",
    "Options",
    "Runs",
    "loop_pays",
    "runs_of",
]


MOST_BITS = 28
"""Hashed features are at most 2^28 for each column."""

MOST_NGRAMS = 16
"""The most words, or characters, of a run that counts as one feature."""

WEIGHTINGS = ("tfidf", "count")
"""What the counts of words can become; the first is the default."""

THOUSANDS = (",", ".", "'", " ")
"""What may stand between thousands."""

Missing: TypeAlias = Literal["error", "zero", "mean", "indicator"]
MISSING_RULES: tuple[Missing, ...] = ("error", "zero", "mean", "indicator")
"""What to do about missing numbers."""


def loop_pays(n_bytes: int, small: int) -> bool:
    """Return whether to use a compiled loop: it is loaded already, or there are more than `small` bytes.

    Loading numba takes about half a second; plain Python gives the same result on small inputs before that.
    """
    return n_bytes > small or "numba" in sys.modules


class Runs(NamedTuple):
    """Which runs of words, or of characters within words, count as one feature: those from `least` to `most`."""

    least: int
    most: int
    characters: bool = False

    @property
    def told(self) -> int | str:
        """The parameter `ngrams` that says so: the longest run, where it is of words and the shortest is one."""
        lengths = f"{self.least}-{self.most}"
        return f"char:{lengths}" if self.characters else self.most if self.least == 1 else lengths


def runs_of(ngrams: int | str) -> Runs:
    """Return what `ngrams` says: 2 and "1-2" are words and pairs of words, "char:2-5" two to five characters.

    Examples
    --------
    >>> runs_of("char:2-5")
    Runs(least=2, most=5, characters=True)
    >>> runs_of("1-2").told
    2
    """
    found = re.fullmatch(r"(char:)?(?:([0-9]{1,2})-)?([0-9]{1,2})", str(ngrams))
    if found is not None and not isinstance(ngrams, bool):
        characters, most = found[1] is not None, int(found[3])
        runs = Runs(int(found[2] or (most if characters else 1)), most, characters)
        if 1 <= runs.least <= most <= MOST_NGRAMS:
            return runs
    raise ParameterError(
        f"ngrams is {ngrams!r}, but must be the longest run of words, such as 2, or lengths such as '1-2', or "
        f"'char:2-5' for characters; each from 1 to {MOST_NGRAMS}."
    )


Column: TypeAlias = str | int
"""A column by its name, or by its position: from 1, or from the end as −1."""


@dataclass(frozen=True, kw_only=True)
class Options:
    """How to read a source; None means that the file tells.

    Attributes
    ----------
    format : str or None
        One of the names in `rosenblatt.tables.formats.FORMATS`.
    header : bool or None
        Whether the first line of CSV and TSV names the columns.
    delimiter : str or None
        What separates the fields of CSV.
    target : Column or None
        The labels. None: the column called label, target, class or y, or else the last one; of these two, the one
        that holds classes.
    labelled : bool
        Whether there must be labels; if not, those of a table are not read, so that their column may be empty.
    features, ignore : tuple of Column
        The columns to use (all if empty), and those not to.
    text : tuple of Column
        Columns of text, each turned into its words.
    categorical, hashed : tuple of Column
        Columns whose values are names: one feature a name, or hashed. Columns of strings are categorical anyway.
    ngrams : int or str
        Which runs of words count as one: the longest, or lengths such as "1-2"; "char:2-5" for runs of characters.
    weighting : {"tfidf", "count"}
        Whether words are weighted, (1 + log count) · idf and each text at length 1, or only counted.
    bits : int
        Hashed features are 2^bits, for each text or hashed column.
    vocabulary : bool
        Whether to remember which words fall into which hashed feature, so that weights have names.
    missing : {"error", "zero", "mean", "indicator"}
        What to do about missing numbers: refuse them, or use 0, or the mean of the column, or this mean and one
        more feature that marks them. Missing categories are a level of their own.
    date : {"auto", "none"}
        Whether columns of dates become numbers: days, and month and weekday as categories; or are left out.
    na : tuple of str
        More words that stand for a missing value. With a sign = before them, "=NA", they take the place of the
        usual words, and "=" alone leaves only empty fields.
    encoding : str or None
        The encoding of text files, such as "latin-1"; None: UTF-8.
    decimal : {".", ","} or None
        The decimal mark of CSV and TSV; None: a comma where numbers have it and columns are separated otherwise.
    thousands : {",", ".", "'", " "} or None
        What stands between thousands in the numbers of CSV and TSV; None: nothing.
    skip_bad : bool
        Whether rows that cannot be read are counted and left out.
    zero_based : bool or None
        Whether the column numbers of svmlight begin at 0.
    row_groups : tuple of int or None
        The row groups of Parquet to read, from 0; None: all.
    chunk_bytes : int
        About how much to read at once.
    """

    format: str | None = None
    header: bool | None = None
    delimiter: str | None = None
    target: Column | None = None
    labelled: bool = True
    features: tuple[Column, ...] = ()
    ignore: tuple[Column, ...] = ()
    text: tuple[Column, ...] = ()
    categorical: tuple[Column, ...] = ()
    hashed: tuple[Column, ...] = ()
    ngrams: int | str = 1
    weighting: Literal["tfidf", "count"] = "tfidf"
    bits: int = 18
    vocabulary: bool = False
    missing: Missing = "error"
    date: Literal["auto", "none"] = "auto"
    na: tuple[str, ...] = ()
    encoding: str | None = None
    decimal: Literal[".", ","] | None = None
    thousands: Literal[",", ".", "'", " "] | None = None
    skip_bad: bool = False
    zero_based: bool | None = None
    row_groups: tuple[int, ...] | None = None
    chunk_bytes: int = 1 << 21
