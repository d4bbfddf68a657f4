"""From blocks of a table to features and labels, by a recipe that is given or learned on the way."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rosenblatt.exceptions import FormatError, Remedy, fit_note
from rosenblatt.loops.layout import CSR, Unsigned
from rosenblatt.rows.batch import Batch, Skipped
from rosenblatt.rows.features import Features, read_only, show_value
from rosenblatt.tables.dates import days_of, parts_of
from rosenblatt.tables.recipe import TableRecipe, Words
from rosenblatt.tables.scaling import mark_missing
from rosenblatt.tables.table import (
    MISSING_NAMES,
    SKIP,
    Block,
    Problem,
    Table,
    asked_words,
    distinct,
    error_at,
    from_numpy,
    from_strings,
    label_problems,
    missing_words,
    read_labels,
)
from rosenblatt.threads import Pool, allowed
from rosenblatt.typing import Ints, Reals

if TYPE_CHECKING:
    import pyarrow as pa

    from rosenblatt.tables.words import MetWords

__all__ = ["Encoder", "of_columns", "of_dense", "side_by_side"]


# Sparse rows joined from parts, each of which counts its features from 0.


def of_dense(rows: Reals) -> CSR:
    """Return dense rows as sparse ones; NaN is stored."""
    row, column = np.nonzero(rows)
    starts = _starts(np.count_nonzero(rows, axis=1))
    return CSR(rows[row, column].astype(np.float64), column.astype(np.uint32), starts)


def of_columns(features: NDArray[np.int64]) -> CSR:
    """Return rows with ones at the features listed for each row, ascending; numbers below 0 are skipped."""
    present = features >= 0
    indices = features[present].astype(np.uint32)
    return CSR(np.ones(len(indices)), indices, _starts(present.sum(axis=1)))


def side_by_side(parts: Sequence[CSR], starts: Sequence[int], n_rows: int) -> CSR:
    """Join parts row by row.

    Parameters
    ----------
    parts : sequence of CSR
        Each with `n_rows` rows whose features ascend.
    starts : sequence of int
        The first feature of each part; ascending, so that the features of joined rows ascend as well.

    Returns
    -------
    CSR
        Of float64, with unsigned column numbers of 32 bits.

    Examples
    --------
    >>> left = of_dense(np.array([[0.0, 5.0], [7.0, 0.0]]))
    >>> right = of_columns(np.array([[0], [-1]]))
    >>> joined = side_by_side([left, right], [0, 10], 2)
    >>> joined.indices.tolist(), joined.indptr.tolist(), joined.data.tolist()
    ([1, 10, 0], [0, 2, 3], [5.0, 1.0, 7.0])
    """
    begins = [part.indptr.astype(np.int64) for part in parts]
    counts = [np.diff(begin) for begin in begins]
    indptr = _starts(np.sum(counts, axis=0, dtype=np.int64) if counts else np.zeros(n_rows, np.int64))
    data, indices = np.empty(indptr[-1]), np.empty(indptr[-1], np.uint32)
    free = indptr[:-1].astype(np.int64)  # where the next part of each row goes
    for part, start, begin, count in zip(parts, starts, begins, counts, strict=True):
        goal = np.arange(len(part.data)) + np.repeat(free - begin[:-1], count)
        data[goal] = part.data
        indices[goal] = part.indices + np.uint32(start)
        free += count
    return CSR(read_only(data), read_only(indices), read_only(indptr))


def _starts(counts: NDArray[np.integer]) -> Unsigned:
    starts = np.zeros(len(counts) + 1, np.int64)
    np.cumsum(counts, out=starts[1:])
    return starts.view(np.uint64)


FILL = "fill it in"
FILL_NAN = "fill it in (NaN is no number)"
FILL_NUMBERS = "use " + Remedy("missing", "zero") + " or " + Remedy("missing", "mean")
"""What to do about a missing number."""

MOST_CATEGORIES = 2**20
"""The most different values of a categorical column."""

FEW_CATEGORIES, IDENTIFIER_ROWS_SHARE = 10, 0.8
"""A column of more than this many categories, and more than this share of the rows, may be an identifier."""

WORDS_SHOWN = 3
MOST_BITS_OF_MET_WORDS = 20
"""Up to so many features a column keeps a word of each without being asked, which takes 8 bytes a feature."""


PROBLEMS_SHOWN = 5


@dataclass(slots=True)
class Refused:
    """Rows that cannot be read, where none may be left out: the first of each kind of problem, and how many."""

    counts: Counter[tuple[object, object]] = field(default_factory=Counter)
    first: dict[tuple[object, object], FormatError] = field(default_factory=dict)

    def add(self, problem: FormatError) -> None:
        """Count one more problem; problems of one code in one column are of one kind."""
        kind = problem.code, problem.column if problem.code != FormatError.code else problem.problem
        self.counts[kind] += 1
        self.first.setdefault(kind, problem)

    def raise_any(self) -> None:
        """Raise one error about all problems, at the place of the first; do nothing if there are none."""
        if not self.counts:
            return
        first, *others = self.first.values()
        if sum(self.counts.values()) == 1:
            raise first
        counts = iter(self.counts[kind] - 1 for kind in self.first)
        more = next(counts)
        told = first.problem + (f", and {_rows(more)} more" if more else "")
        for problem, more in zip(others[: PROBLEMS_SHOWN - 1], counts, strict=False):
            line, row = problem.line, problem.row
            place = f"line {line}" if line is not None else f"row {row}"
            told += "; " + problem.problem + f" ({place}{f', and {_rows(more)} more' if more else ''})"
        rest = [*self.counts.values()][PROBLEMS_SHOWN:]
        if rest:
            told += f"; {len(rest)} more kinds of problems in {_rows(sum(rest))}"
        ways = dict.fromkeys(way for each in self.first.values() for way in each.ways)
        where: dict[str, Any] = {
            name: getattr(first, name) for name in ("argument", "file", "line", "row", "column")
        }
        raise FormatError(told, tuple(ways), code=first.code, value=first.value, **where)


def _rows(count: int) -> str:
    return f"{count:,} row{'' if count == 1 else 's'}"


MetWord: TypeAlias = tuple[int, int, bytes]
"""A hashed column, a feature of it, and a word that falls into it."""
Categories: TypeAlias = tuple[list[Any], NDArray[np.int32]]
"""The distinct values of a column, and which of them each row has."""


class Encoder:
    """Turns blocks into features, with labels if the blocks have them.

    Parameters
    ----------
    recipe : TableRecipe
        How to encode. Learning adds to its categories and words.
    learning : bool
        Whether unseen categories become new features; if not, they get zeros and are counted.
    skipped : Skipped or None
        Counts the rows that cannot be read; None: the first one is an error.
    unlabelled : Skipped or None
        Counts the rows whose label is missing, which are left out whatever else is wrong with them; None: they
        cannot be read.
    vocabulary : bool or None
        Whether to remember which words fall into which hashed feature, up to three of each. None: the first word
        of each feature, where that is cheap.
    chosen : set of int
        The categorical columns that were asked for, by their place among these: no note tells that their values
        differ in most rows.

    Attributes
    ----------
    n_rows : int
        The number of rows encoded.
    unknown : Counter of str
        For each categorical column, the number of rows whose value was not seen in training.
    """

    def __init__(
        self,
        recipe: TableRecipe,
        *,
        learning: bool,
        skipped: Skipped | None = None,
        unlabelled: Skipped | None = None,
        vocabulary: bool | None = False,
        chosen: frozenset[int] = frozenset(),
    ) -> None:
        self._recipe = recipe
        self._learning, self._skipped, self._chosen = learning, skipped, chosen
        self._unlabelled = unlabelled
        self._categories = {category: feature for feature, category in enumerate(recipe.categories)}
        self._counts = Counter(column for column, _ in recipe.categories)
        self._words_for_missing = {
            True: frozenset(asked_words(recipe.na)),
            False: frozenset(missing_words(recipe.na, MISSING_NAMES)),
        }  # by whether the table is typed
        self.n_rows, self.unknown, self._refused = 0, Counter[str](), Refused()
        self._words: list[dict[int, tuple[str, ...]]] | None = None
        self._met: list[MetWords] = []
        known: Sequence[Words] = recipe.words or tuple({} for _ in recipe.texts + recipe.hashed)
        if vocabulary and learning:
            self._words = [dict(each) for each in known]
        elif vocabulary is None and learning and known and recipe.bits <= MOST_BITS_OF_MET_WORDS:
            from rosenblatt.tables.words import MetWords  # which tables without text do not need

            self._met = [MetWords.of(recipe.bits, each) for each in known]

    @property
    def recipe(self) -> TableRecipe:
        """The recipe, with what was learned so far."""
        if not self._learning:
            return self._recipe
        words: tuple[Words, ...] | None = None
        if self._words is not None:
            words = tuple(dict(each) for each in self._words)
        elif self._met:
            words = tuple(each.copy() for each in self._met)
        return replace(self._recipe, categories=tuple(self._categories), words=words)

    @property
    def n_features(self) -> int:
        """How many features there are so far."""
        recipe = self._recipe
        return recipe.n_features - len(recipe.categories) + len(self._categories)

    def notes(self) -> Iterator[str]:
        """Yield a note about the categorical columns that were not asked for and differ in almost every row."""
        least = max(FEW_CATEGORIES, IDENTIFIER_ROWS_SHARE * self.n_rows)
        found = [
            (name, self._counts[which])
            for which, (name, _) in enumerate(self._recipe.categorical)
            if self._learning and which not in self._chosen and self._counts[which] > least
        ]
        if found:
            about = f"columns with different values in most of the {self.n_rows:,} rows: "
            names = tuple(name for name, _ in found)
            yield fit_note(
                [f"{name!r} ({count:,})" for name, count in found],
                lambda told, shown: (
                    f"{about}{told}; leave out with " + Remedy("ignore", names[:shown]) + " what names rows"
                ),
                lambda told, shown: f"{about}{told}; " + Remedy("ignore") + " leaves out what names rows",
                lambda told, shown: (
                    f"values differ in most rows: {told}; " + Remedy("ignore") + " leaves out what names rows"
                ),
            )

    def begin_again(self) -> None:
        """Count rows and unknown values from zero."""
        self.n_rows = 0
        self.unknown.clear()
        self._refused = Refused()

    def chunk(self, block: Block, table: Table) -> Features | None:
        """Return the features of a block, a `Batch` if it has labels, or None if no row of it could be read."""
        *_, features = self._steps(block, table)
        self._refused.raise_any()
        return features

    def chunks(self, parts: Iterable[Callable[[], Block]], table: Table) -> Iterator[Features]:
        """Yield the features of blocks, each of which a function reads, by as many threads as are allowed.

        Categories are learned in the order of the blocks, with any number of threads. Where a row must not be left
        out, learning reads on behind the first that cannot be read, to name all problems in one error.
        """
        with Pool(allowed()) as pool:
            begun = pool.ordered(lambda read: _after_a_step(self._steps(read(), table)), parts)
            for features in pool.ordered(next, map(_after_a_step, begun)):
                if features is not None:
                    yield features
        self._refused.raise_any()

    def _steps(self, block: Block, table: Table) -> Iterator[Features | None]:
        """Encode a block in three steps, each of which ends with a yield; the last one yields the features.

        Any thread may take the first step and the last. The second is taken in the order of the blocks.
        """
        # What needs no other block.
        recipe, missing = self._recipe, self._words_for_missing[table.typed]
        block, problems, unlabelled = self._without_bad_rows(self._with_dates(block, table), table)
        n_rows, labels, known = len(block.numbers), None, []
        parts: list[CSR] = []  # the features before those of categories
        met: list[MetWord] = []
        columns: list[Categories] = []
        if n_rows and block.label is not None and recipe.labels is not None:
            labels = read_labels(block.label, recipe.labels)
        if recipe.missing == "zero":
            np.nan_to_num(block.numbers, copy=False)
        if n_rows and not recipe.only_numbers:
            if self._words is None:
                parts = self._before_categories(block, missing, met)
            columns = [distinct(column) for column in block.strings[len(recipe.texts) + len(recipe.hashed) :]]
        yield None

        # What depends on the blocks before.
        self._note(problems, unlabelled)
        if self._refused.counts:
            n_rows = 0  # nothing is made of further rows
        self.n_rows += n_rows
        if n_rows and not recipe.only_numbers:
            if self._words is not None:  # which remembers words in the order of the blocks
                parts = self._before_categories(block, missing, met)
            for which, number, word in met:
                if number not in self._met[which]:
                    self._met[which].add(number, word)
            if self._learning:
                self._learn(columns, missing, table)
            known = [self._features_of(which, column, missing) for which, column in enumerate(columns)]
        n_features = self.n_features
        yield None

        # What puts the features together.
        if not n_rows:
            yield None
            return
        rows: Reals | CSR
        if recipe.only_numbers:
            rows = read_only(self._marked(block.numbers))
        else:
            features = np.empty((n_rows, len(columns)), np.int64)
            for which, (_, values) in enumerate(columns):
                features[:, which] = known[which][values]
            features.sort(axis=1)
            parts.append(of_columns(features))
            starts = [0, *(recipe.first_word + (1 << recipe.bits) * k for k in range(len(parts) - 1))]
            rows = side_by_side(parts, starts, n_rows)
        if labels is None:
            yield Features(rows, n_rows, n_features)
        else:
            classes, codes = map(read_only, labels)
            yield Batch(rows, n_rows, n_features, codes=codes, classes=classes)

    def _with_dates(self, block: Block, table: Table) -> Block:
        """Return a block with days in place of dates, and with their parts as columns of categories."""
        recipe = self._recipe
        if not recipe.dates:
            return block
        missing = self._words_for_missing[table.typed] | {""}
        n_dates, bad = len(recipe.dates), dict(block.bad)
        days, parts = np.full((len(block.numbers), n_dates), np.nan), []
        for k, column in enumerate(block.strings[-n_dates:]):
            name, form = recipe.dates[k][0], recipe.date_forms[k]
            values, codes = distinct(column)
            known = [None if _is_missing(value, missing) else days_of(value, form) for value in values]
            days[:, k] = np.array([np.nan if each is None else each for each in known])[codes]
            for code, value in enumerate(values):
                if known[code] is None and not _is_missing(value, missing):
                    problem = no_date(value, name)
                    for row in np.flatnonzero(codes == code).tolist():
                        bad.setdefault(row, error_at(problem, table, block.line(row), name))
            for which, part in recipe.date_parts:
                if which == k:
                    levels = [None if each is None else parts_of(each)[part] for each in known]
                    parts.append(from_strings([levels[code] for code in codes.tolist()]))
        numbers = np.concatenate([block.numbers, days], axis=1)
        return Block(numbers, [*block.strings[:-n_dates], *parts], block.label, block.line, bad, block.lost)

    def _note(self, problems: list[FormatError], unlabelled: Skipped) -> None:
        """Count the rows of a block that were left out, or raise their error."""
        kept: Skipped | Refused = self._refused if self._skipped is None else self._skipped
        for problem in problems:
            kept.add(problem)
        if self._unlabelled is not None:
            self._unlabelled.merge(unlabelled)
        if not self._learning:
            self._refused.raise_any()

    def _without_bad_rows(self, block: Block, table: Table) -> tuple[Block, list[FormatError], Skipped]:
        """Return the rows that can be used, the problems of the others, and those that only lack a label."""
        wrong = self._label_problems(block, table)
        unlabelled, left = Skipped(), set[int]()
        if self._unlabelled is not None:
            left = {row for row, problem in wrong.items() if problem.code == "missing-label"}
            if not table.typed:  # a title above a table without a header is an error, which says so
                left -= {row for row in left & block.bad.keys() if block.line(row) == 1}
        if left:
            row = min(left)
            unlabelled.add(error_at(wrong[row], table, block.line(row), self._target))
            unlabelled.count = len(left)
        bad = {row: problem for row, problem in block.bad.items() if row not in left}
        every = [*bad.values(), *block.lost]
        for row, problem in self._problems(block, table, wrong, left):
            read = row not in block.bad or block.bad[row].column != problem.column
            every += [problem] if read else []  # what cannot be read is NaN, but not missing
            bad.setdefault(row, problem)
        if not every and not left:
            return block, [], unlabelled
        if self._skipped is not None:
            every = [*bad.values(), *block.lost]  # one for each row, which are counted
        problems = sorted(every, key=lambda problem: problem.line or problem.row or 0)
        keep = np.ones(len(block.numbers), bool)
        keep[[*bad, *left]] = False
        line, kept, mask = block.line, np.flatnonzero(keep), from_numpy(keep)
        label = None if block.label is None else block.label.filter(mask)
        strings = [each.filter(mask) for each in block.strings]
        return Block(block.numbers[keep], strings, label, lambda row: line(int(kept[row]))), problems, unlabelled

    @property
    def _target(self) -> str:
        """The name of the column of labels, or ""."""
        return self._recipe.target[0] if self._recipe.target else ""

    def _label_problems(self, block: Block, table: Table) -> dict[int, Problem]:
        recipe = self._recipe
        if block.label is None or recipe.labels is None:
            return {}
        return label_problems(block.label, recipe.labels, recipe.na, typed=table.typed)

    def _problems(
        self, block: Block, table: Table, wrong: dict[int, Problem], left: set[int]
    ) -> list[tuple[int, FormatError]]:
        """Return what is wrong with numbers and labels; rows that were `left` out do not count."""
        found: list[tuple[int, FormatError]] = []

        def add(row: int, problem: Problem, column: str) -> None:
            if row not in left:
                found.append((row, error_at(problem, table, block.line(row), column)))

        with np.errstate(over="ignore", invalid="ignore"):
            total = block.numbers.sum(dtype=np.float64)
        if not np.isfinite(total):  # one sum is faster than a look at each value; it may also overflow
            ways = (FILL_NAN, FILL_NUMBERS) if table.argument else (FILL, FILL_NUMBERS, SKIP)
            self._look_at_numbers(block.numbers, ways, add)
        for row, problem in wrong.items():
            add(row, problem, self._target)
        return found

    def _look_at_numbers(
        self, numbers: Reals, ways: tuple[str, ...], add: Callable[[int, Problem, str], None]
    ) -> None:
        allowed = self._recipe.missing != "error"
        wrong = np.isinf(numbers) if allowed else ~np.isfinite(numbers)
        for row, column in np.argwhere(wrong):
            name = self._recipe.measured[column]
            value = numbers[row, column]
            if np.isnan(value):
                add(int(row), Problem(f"{name!r} is missing", ways, "missing-value"), name)
            else:
                told = f"{name!r} is {value}, but a number must be finite and below 1.8e308"
                add(int(row), Problem(told, code="non-finite", value=float(value)), name)

    def _before_categories(self, block: Block, missing: frozenset[str], met: list[MetWord]) -> list[CSR]:
        """Return the features of a block that come before those of categories; `met` gets words of new ones."""
        recipe = self._recipe
        parts, strings = [of_dense(self._marked(block.numbers))], iter(enumerate(block.strings))
        parts += [self._bag_of_words(*next(strings), met) for _ in recipe.texts]
        parts += [self._hashed(*next(strings), name, missing, met) for name, _ in recipe.hashed]
        return parts

    def _marked(self, numbers: Reals) -> Reals:
        recipe = self._recipe
        return mark_missing(numbers, recipe.n_numbers, recipe.indicators) if recipe.indicators else numbers  # type: ignore[return-value]

    def _bag_of_words(self, which: int, column: pa.Array, met: list[MetWord]) -> CSR:
        from rosenblatt.tables.words import bucket_of, find_grams, grams, hash_texts, text_buffers

        recipe = self._recipe
        values, offsets = text_buffers(column)
        if self._words is not None:
            for text in column.to_pylist():
                for gram in grams((text or "").encode(), recipe.ngrams):
                    self._remember(which, gram, bucket_of(gram, recipe.ngrams, recipe.bits))
        rows = hash_texts(values, offsets, ngrams=recipe.ngrams, bits=recipe.bits)
        if self._met and isinstance(recipe.ngrams, int):
            wanted = np.zeros(1 << recipe.bits, np.bool_)
            wanted[rows.indices] = True
            wanted &= self._met[which].starts == 0
            met += [(which, *each) for each in find_grams(values, offsets, wanted, ngrams=recipe.ngrams)]
        return rows

    def _hashed(self, which: int, column: pa.Array, name: str, missing: frozenset[str], met: list[MetWord]) -> CSR:
        from rosenblatt.tables.words import bucket

        values, codes = distinct(column)
        buckets = np.full(len(values), -1, np.int64)
        for code, value in enumerate(values):
            if not _is_missing(value, missing):
                buckets[code] = bucket(f"{name}={value}".encode(), self._recipe.bits)
                if self._words is not None:
                    self._remember(which, str(value).encode(), int(buckets[code]))
                elif self._met and int(buckets[code]) not in self._met[which]:
                    met.append((which, int(buckets[code]), str(value).encode()))
        return of_columns(buckets[codes].reshape(-1, 1))

    def _remember(self, which: int, gram: bytes, number: int) -> None:
        from rosenblatt.tables.words import LONGEST_WORD

        assert self._words is not None
        known = self._words[which]
        words = known.get(number, ())
        if len(words) < WORDS_SHOWN:
            word = gram.decode(errors="replace")
            word = word if len(word) <= LONGEST_WORD else word[: LONGEST_WORD - 1] + "…"
            if word not in words:
                known[number] = (*words, word)

    def _features_of(self, which: int, column: Categories, missing: frozenset[str]) -> Ints:
        """Return the feature of each value of a categorical column, or −1; count rows whose value has none."""
        values, codes = column
        levels = [(which, self._level(which, value, missing)) for value in values]
        features = np.array([self._categories.get(level, -1) for level in levels], np.int64)
        lost = int(np.count_nonzero(features[codes] < 0)) if (features < 0).any() else 0
        if lost and which < len(self._recipe.categorical):  # a month that training had not seen is no matter
            self.unknown[self._recipe.categorical[which][0]] += lost
        return features

    def _level(self, which: int, value: str | None, missing: frozenset[str]) -> str | None:
        """Return the level of a value: itself, or None if it stands for a missing value and is no level."""
        return None if _is_missing(value, missing) and (which, value) not in self._categories else value

    def _learn(self, columns: list[Categories], missing: frozenset[str], table: Table) -> None:
        new: dict[tuple[int, str | None], int] = {}
        for which, (values, codes) in enumerate(columns):
            first = np.full(len(values), len(codes))
            first[codes[::-1]] = np.arange(len(codes))[::-1]  # of several numbers for one place the last stays
            for code, row in enumerate(first.tolist()):
                level = which, self._level(which, values[code], missing)
                if level[1] is None and which >= len(self._recipe.categorical):
                    continue  # a missing date has a mark
                if row < len(codes) and level not in self._categories:
                    new[level] = min(row, new.get(level, row))
        for which, value in sorted(new, key=lambda level: (new[level], level[0])):
            self._categories[which, value] = len(self._categories)
            self._counts[which] += 1
            if self._counts[which] > MOST_CATEGORIES:
                raise self._too_many(which, table)

    def _too_many(self, which: int, table: Table) -> FormatError:
        name = self._recipe.categorical[which][0]
        kinds = Remedy("text", (name,)) + " (words), " + Remedy("hashed", (name,)) + " (categories, hashed)"
        told = (
            f"column {name!r} holds more than {MOST_CATEGORIES:,} different values. Leave it out with "
            + Remedy("ignore", (name,))
            + " if it names the rows, or say what it is: "
        )
        return error_at(told + kinds, table, code="too-many-categories")


def _after_a_step(steps: Iterator[Features | None]) -> Iterator[Features | None]:
    next(steps)
    return steps


def no_date(value: object, name: str) -> Problem:
    """Return what is wrong with a word among dates."""
    told = f"{name!r} is {show_value(value)}, but the column holds dates"
    missing = "use " + Remedy("na", (str(value).strip(),)) + " if it means a missing value"
    names = Remedy("categorical", (name,)) + " if the values are names"
    return Problem(told, ("correct it", missing, names, SKIP), "not-a-date", value)


def _is_missing(value: str | None, missing: frozenset[str]) -> bool:
    return value is None or value.strip() in missing
