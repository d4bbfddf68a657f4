"""Features of tokens from templates: numbered exactly, or hashed into a fixed number.

Features of tokens made from templates, numbered inside the loop.

A template is a tuple of pairs (column, offset). Its feature at a token is the tuple of the values that the columns
have at the offsets. Values are numbers already, one for each column of each kind of token, so that no text is made
for a feature.

Tuples are numbered exactly. A template begins at the node with its own number. One table holds the node that a
node and a value lead to; a second one holds the feature that the last node and the last value lead to. Both are
open hash tables of 64-bit keys: the node above, the value below.

`hash_templates` needs no tables: it hashes the tuples to a fixed number of features.
"""

from __future__ import annotations

import re
import threading
from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable, Iterator, Sequence
from hashlib import blake2b
from itertools import chain
from typing import Any, ClassVar, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rosenblatt.exceptions import DataTypeError, Given, ParameterError
from rosenblatt.loops._jit import inline, jit
from rosenblatt.loops.order import split_mix
from rosenblatt.parameters import refusal
from rosenblatt.sequences.sentences import Sentences, SequenceRows, place_of, starts_of
from rosenblatt.tables.reading import MOST_BITS
from rosenblatt.typing import Ints

BEFORE, BEHIND, UNKNOWN = 0, 1, 2
"""The values before the first token of a sentence, behind the last, and of texts that training did not meet."""
EMPTY = np.uint64(2**64 - 1)
_SHIFT = np.uint64(32)
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


class HashTable(NamedTuple):
    """Keys by slot and the number of each, keys by number, and how many there are (one number)."""

    slots: NDArray[np.uint64]
    numbers: NDArray[np.int32]
    keys: NDArray[np.uint64]
    used: Ints


def empty_table(room: int) -> HashTable:
    """Return a table with room for so many keys, half full with them."""
    size = 1 << max(6, int(2 * room - 1).bit_length())
    return HashTable(
        np.full(size, EMPTY), np.zeros(size, np.int32), np.zeros(size // 2, np.uint64), np.zeros(1, np.int64)
    )


@inline
def _slot(table: HashTable, key: Any) -> Any:
    """Return the slot of a key, or the empty one where it would go."""
    mask = np.uint64(table.slots.size - 1)
    at = split_mix(key) & mask
    while table.slots[at] != key and table.slots[at] != EMPTY:
        at = (at + np.uint64(1)) & mask
    return at


@inline
def _number(table: HashTable, key: Any, grows: bool) -> int:
    """Return the number of a key: of a new one the next number if the table grows, and otherwise −1."""
    at = _slot(table, key)
    if table.slots[at] != EMPTY:
        return int(table.numbers[at])
    if not grows:
        return -1
    number = table.used[0]
    table.slots[at], table.numbers[at], table.keys[number] = key, number, key
    table.used[0] += 1
    return number


@jit
def insert_keys(table: HashTable, keys: NDArray[Any]) -> None:
    """Give keys numbers in their order."""
    for i in range(keys.size):
        _number(table, keys[i], True)


@jit
def apply_templates(
    kinds: NDArray[Any],
    values: NDArray[Any],
    starts: NDArray[Any],
    template_starts: NDArray[Any],
    columns: NDArray[Any],
    offsets: NDArray[Any],
    inner: HashTable,
    features: HashTable,
    grows: bool,
    indices: NDArray[Any],
    indptr: NDArray[Any],
) -> int:
    """Write the features of each token; return how many there are in all.

    `values` has a row for each kind of token. Template k consists of the pairs from ``template_starts[k]``.
    Features and values that the tables do not hold are left out unless the tables grow.
    """
    n_templates = np.uint64(template_starts.size - 1)
    count = 0
    indptr[0] = 0
    for sentence in range(starts.size - 1):
        begin, end = starts[sentence], starts[sentence + 1]
        for i in range(begin, end):
            for k in range(template_starts.size - 1):
                node = np.uint64(k)
                number, last = 0, template_starts[k + 1] - 1
                for p in range(template_starts[k], last + 1):
                    at = i + offsets[p]
                    value = BEFORE
                    if at >= end:
                        value = BEHIND
                    elif at >= begin:
                        value = int(values[kinds[at], columns[p]])
                    if value == UNKNOWN:
                        number = -1
                        break
                    key = (node << _SHIFT) | np.uint64(value)
                    if p == last:
                        number = _number(features, key, grows)
                    else:
                        number = _number(inner, key, grows)
                        if number < 0:
                            break
                        node = np.uint64(number) + n_templates
                if number >= 0:
                    indices[count] = number
                    count += 1
            indptr[i + 1] = count
    return count


@jit
def hash_templates(
    kinds: NDArray[Any],
    values: NDArray[Any],
    starts: NDArray[Any],
    template_starts: NDArray[Any],
    columns: NDArray[Any],
    offsets: NDArray[Any],
    bits: int,
    indices: NDArray[Any],
) -> None:
    """Write the hashed features of each token, one for each template.

    `values` has a hash for each kind of token and column. The hash of a template folds its number and the values
    of its pairs: h ← mix(h ⊕ value) + 2⁶⁴/φ. The feature is its highest `bits`.
    """
    shift = np.uint64(64 - bits)
    count = 0
    for sentence in range(starts.size - 1):
        begin, end = starts[sentence], starts[sentence + 1]
        for i in range(begin, end):
            for k in range(template_starts.size - 1):
                state = np.uint64(k + 1) * _GOLDEN
                for p in range(template_starts[k], template_starts[k + 1]):
                    at = i + offsets[p]
                    value = np.uint64(BEFORE)
                    if at >= end:
                        value = np.uint64(BEHIND)
                    elif at >= begin:
                        value = values[kinds[at], columns[p]]
                    state = split_mix(state ^ value) + _GOLDEN
                indices[count] = split_mix(state) >> shift
                count += 1


# Templates: which columns of which neighbours of a token are its features.
#
# Columns are computed once for each kind of token, and the loop combines their numbers. So no text is made for the
# features of a token, which is what takes most of the time elsewhere.

Column: TypeAlias = str | int
Template: TypeAlias = tuple[tuple[Column, int], ...]

WORDS: tuple[Template, ...] = (
    *((("lower", offset),) for offset in (-2, -1, 0, 1, 2)),
    (("form", 0),),
    *(((column, 0),) for column in ("prefix1", "prefix2", "prefix3", "suffix1", "suffix2", "suffix3", "suffix4")),
    *((("shape", offset),) for offset in (-1, 0, 1)),
    (("lower", -1), ("lower", 0)),
    (("lower", 0), ("lower", 1)),
)
"""The templates called "words", for tagging words of a language written with letters."""
MOST_TEMPLATES, FARTHEST_OFFSET, LONGEST_AFFIX = 256, 100, 20
AFFIX = re.compile(r"(prefix|suffix)([1-9]\d?)")


def as_templates(templates: Any) -> tuple[Template, ...]:
    """Return templates as tuples of pairs (column, offset), or raise `ParameterError`.

    Examples
    --------
    >>> as_templates(["lower", ("suffix3", -1), [("lower", -1), ("lower", 0)]])
    ((('lower', 0),), (('suffix3', -1),), (('lower', -1), ('lower', 0)))
    """
    if isinstance(templates, str) and templates == "words":
        return WORDS
    if (
        isinstance(templates, str)
        or not isinstance(templates, Sequence)
        or not 0 < len(templates) <= MOST_TEMPLATES
    ):
        wanted = f"must be None, 'words', or a list of up to {MOST_TEMPLATES} templates such as 'lower', "
        raise refusal("templates", templates, wanted + "('lower', -1) or (('lower', -1), ('lower', 0))")
    return tuple(_template(each) for each in templates)


def word_templates(n_fields: int) -> Any:
    """Return templates for words with so many further fields: "words", and pairs of neighbours of each field."""
    if not n_fields:
        return "words"
    of_fields: list[Template] = []
    for field in range(1, n_fields + 1):
        of_fields += [((field, offset),) for offset in (-2, -1, 0, 1, 2)]
        of_fields += [((field, offset), (field, offset + 1)) for offset in (-1, 0)]
        of_fields.append((("lower", 0), (field, 0)))
    return [*WORDS, *of_fields]


def _template(given: Any) -> Template:
    parts = [given] if isinstance(given, str | int) or _is_pair(given) else given
    if not isinstance(parts, list | tuple) or not parts:
        told = f": {given!r} is not a template. Use (column, offset) or a tuple of such pairs."
        raise ParameterError(Given("templates") + told)
    return tuple(_part(part) for part in parts)


def _part(given: Any) -> tuple[Column, int]:
    column, offset = given if _is_pair(given) else (given, 0)
    affix = AFFIX.fullmatch(column) if isinstance(column, str) else None
    known = column in ("form", "lower", "shape") or (affix is not None and int(affix[2]) <= LONGEST_AFFIX)
    further = type(column) is int and 0 <= column <= FARTHEST_OFFSET
    if not (known or further):
        raise ParameterError(
            Given("templates")
            + f": {column!r} is not a column. Use form, lower, shape, prefixN, suffixN (N up to "
            f"{LONGEST_AFFIX}), or the number of a field of the tokens, from 0."
        )
    if abs(offset) > FARTHEST_OFFSET:
        told = f": the offset {offset} of {column!r} is beyond ±{FARTHEST_OFFSET}."
        raise ParameterError(Given("templates") + told)
    return column, offset


def _is_pair(given: Any) -> bool:
    if not isinstance(given, list | tuple) or len(given) != 2:
        return False
    return isinstance(given[0], str | int) and type(given[1]) is int


def shape(form: str) -> str:
    """Return the shape of a word: X for capitals, x for other letters, d for digits; each run counts once.

    Examples
    --------
    >>> shape("McDonald's"), shape("3.14"), shape("U.S.")
    ("XxXx'x", 'd.d', 'X.X.')
    """
    letters = ["X" if c.isupper() else "x" if c.isalpha() else "d" if c.isdigit() else c for c in form]
    return "".join(c for i, c in enumerate(letters) if i == 0 or letters[i - 1] != c)


def cell(token: Hashable, column: Column) -> str:
    """Return the text of a column of a token."""
    fields: tuple[Any, ...] = token if isinstance(token, tuple) else (token,)
    if type(column) is int:
        return str(fields[column])
    form: str = fields[0]
    match column:
        case "form":
            return form
        case "lower":
            return form.lower()
        case "shape":
            return shape(form)
    assert isinstance(column, str)
    length = int(column[6:])
    return form[:length] if column.startswith("prefix") else form[-length:]


FIRST_VALUE = UNKNOWN + 1
MOST_KINDS = 2**18
"""So many kinds of tokens are remembered with their values; then remembering begins from none."""
TOKENS_AT_ONCE = 4096
_LOW = np.uint64(2**32 - 1)
_numbering = threading.Lock()


class TokenKinds(ABC):
    """Computes the columns of templates once for each kind of token, and remembers them.

    A token must have `width` fields.
    """

    _dtype: ClassVar[Any]

    def __init__(self, templates: tuple[Template, ...]) -> None:
        self.templates = templates
        self.columns = list(dict.fromkeys(column for template in templates for column, _ in template))
        self.width = 1 + max((column for column in self.columns if type(column) is int), default=0)
        number = {column: k for k, column in enumerate(self.columns)}
        parts = list(chain.from_iterable(templates))
        self._starts = np.concatenate([[0], np.cumsum([len(each) for each in templates])]).astype(np.int64)
        self._columns = np.array([number[column] for column, _ in parts], np.int64)
        self._offsets = np.array([offset for _, offset in parts], np.int64)
        self._forget()

    @property
    @abstractmethod
    def n_features(self) -> int:
        """The number of features."""

    @abstractmethod
    def names(self) -> list[str]:
        """Return the names of all features by number."""

    @abstractmethod
    def keep(self, kept: NDArray[np.bool_]) -> None:
        """Keep some of the features, which get new numbers in the same order."""

    @abstractmethod
    def rows(self, sentences: Sentences, *, grows: bool) -> SequenceRows:
        """Return the features of all tokens; unknown ones are added, or left out."""

    @abstractmethod
    def _values_of(self, token: Hashable, grows: bool) -> list[int]:
        """Return the value of each column of a token."""

    def _forget(self) -> None:
        self._kinds: dict[Hashable, int] = {}
        self._unsure: list[Hashable] = []  # kinds with a value that was unknown
        self._made = 0  # rows that are taken
        self._rows = np.empty((64, len(self.columns)), self._dtype)

    def _kinds_of(self, sentences: Sentences, grows: bool) -> tuple[Ints, Ints, NDArray[Any]]:
        """Return where sentences begin, the kind of each token, and the values of each kind."""
        starts = starts_of(sentences)
        with _numbering:
            return starts, self._numbered(sentences, starts, grows), self._rows

    def _numbered(self, sentences: Sentences, starts: NDArray[Any], grows: bool) -> NDArray[np.int64]:
        """Return the kind of each token; new kinds are remembered."""
        if self._made > MOST_KINDS:
            self._forget()
        elif grows:
            for token in self._unsure:
                del self._kinds[token]
            self._unsure = []
        flat = list(chain.from_iterable(sentences))
        try:
            found = list(map(self._kinds.get, flat))
        except TypeError:
            flat = [tuple(token) if isinstance(token, list) else token for token in flat]
            self._check(flat, starts)
            found = list(map(self._kinds.get, flat))
        if None in found:
            new = [token for token, kind in zip(flat, found, strict=True) if kind is None]
            self._check(flat, starts)
            for token in dict.fromkeys(new):
                self._remember(token, grows)
            found = list(map(self._kinds.get, flat))
        return np.array(found, np.int64)

    def _check(self, flat: Iterable[Any], starts: NDArray[Any]) -> None:
        """Require tokens that are texts, or as many fields as the templates use, beginning with a text."""
        for i, token in enumerate(flat):
            if self.width == 1 and isinstance(token, str):
                continue
            fields = token if isinstance(token, tuple) else (token,)
            if len(fields) < self.width or not all(isinstance(each, str) for each in fields):
                sentence, at = place_of(i, starts)
                raise DataTypeError(
                    f"X[{sentence}][{at}] is {token!r:.60}, but with templates a token is a text, or a tuple of "
                    f"texts with at least {self.width} field{'s' * (self.width > 1)}."
                )

    def _remember(self, token: Hashable, grows: bool) -> None:
        row = self._made
        if row == len(self._rows):
            self._rows = np.concatenate([self._rows, np.empty_like(self._rows)])
        self._rows[row] = self._values_of(token, grows)
        self._kinds[token] = row
        self._made += 1


class TemplateVocabulary(TokenKinds):
    """Numbers the features that templates find, and remembers the values of each kind of token.

    Examples
    --------
    >>> vocabulary = TemplateVocabulary(as_templates(["lower", [("lower", -1), ("lower", 0)]]))
    >>> rows = vocabulary.rows([["The", "cat"]], grows=True)
    >>> vocabulary.names()
    ['lower=the', 'lower[-1]=^ & lower=the', 'lower=cat', 'lower[-1]=the & lower=cat']
    """

    _dtype = np.int32

    def __init__(self, templates: tuple[Template, ...]) -> None:
        super().__init__(templates)
        self._values: list[dict[str, int]] = [{} for _ in self.columns]
        self._texts: list[tuple[int, str]] = []
        self._inner, self._features = empty_table(0), empty_table(0)

    def __getstate__(self) -> dict[str, Any]:
        kept = ("templates", "_texts", "_inner", "_features")
        return {name: getattr(self, name) for name in kept}

    def __setstate__(self, kept: dict[str, Any]) -> None:
        TemplateVocabulary.__init__(self, kept["templates"])
        self._learn_texts(kept["_texts"])
        self._inner, self._features = kept["_inner"], kept["_features"]

    @classmethod
    def of(
        cls,
        templates: Any,
        columns: NDArray[Any],
        texts: Sequence[str],
        inner: NDArray[Any],
        features: NDArray[Any],
    ) -> TemplateVocabulary:
        """Return the vocabulary with these texts, each of a column, and these keys, which must fit."""
        vocabulary = cls(as_templates(templates))
        pairs = list(zip(map(int, columns), texts, strict=True))
        if not all(0 <= column < len(vocabulary.columns) for column, _ in pairs) or len(set(pairs)) < len(pairs):
            raise ValueError("a text belongs to no column, or is there twice")
        vocabulary._learn_texts(pairs)
        n_nodes = len(vocabulary.templates) + len(inner)
        for keys in (inner, features):
            if len(np.unique(keys)) < len(keys) or (keys >> np.uint64(32) >= n_nodes).any():
                raise ValueError("a feature is there twice, or comes from a node that does not exist")
            if (keys & _LOW >= len(texts) + FIRST_VALUE).any() or (keys & _LOW == UNKNOWN).any():
                raise ValueError("a feature has a value that does not exist")
        if (inner >> np.uint64(32) >= np.arange(len(inner)) + len(vocabulary.templates)).any():
            raise ValueError("a node comes after its successor")
        vocabulary._require_paths(inner, features)
        vocabulary._inner, vocabulary._features = _table_of(inner), _table_of(features)
        return vocabulary

    def _require_paths(self, inner: NDArray[Any], features: NDArray[Any]) -> None:
        """Raise ValueError unless each key goes on with the next part of its template, and features end it."""
        first, n = np.arange(len(self.templates)), len(self.templates)
        before, depth = np.append(first, inner >> np.uint64(32)).astype(np.int64), np.arange(n + len(inner)) >= n
        depth = depth.astype(np.int64)
        while (before >= n).any():  # jump to the template, in steps twice as long each time
            before, depth = before[before], depth + depth[before]
        column_of = np.array([column for column, _ in self._texts], np.int64)
        for keys, ends in ((inner, False), (features, True)):
            node = (keys >> np.uint64(32)).astype(np.int64)
            part = self._starts[before[node]] + depth[node]
            if ((part + 1 < self._starts[before[node] + 1]) == ends).any():
                raise ValueError("a feature is longer or shorter than its template")
            value = (keys & _LOW).astype(np.int64) - FIRST_VALUE
            if (column_of[value[value >= 0]] != self._columns[part[value >= 0]]).any():
                raise ValueError("a feature has a value of another column")

    @property
    def parts(self) -> dict[str, Any]:
        """What `of` makes the vocabulary from."""
        return {
            "templates": self.templates,
            "columns": np.array([column for column, _ in self._texts], np.int64),
            "texts": [text for _, text in self._texts],
            "inner": _keys_of(self._inner),
            "features": _keys_of(self._features),
        }

    @property
    def n_features(self) -> int:
        """The number of features."""
        return int(self._features.used[0])

    def names(self) -> list[str]:
        """Return the names of all features by number, made of columns, offsets and values."""
        nodes: list[tuple[int, int, str]] = [(k, 0, "") for k in range(len(self.templates))]
        for key in _keys_of(self._inner).tolist():
            nodes.append(self._extended(nodes[key >> 32], key))
        return [self._extended(nodes[key >> 32], key)[2] for key in _keys_of(self._features).tolist()]

    def _extended(self, node: tuple[int, int, str], key: int) -> tuple[int, int, str]:
        template, depth, before = node
        column, offset = self.templates[template][depth]
        value = key & (2**32 - 1)
        text = "^" if value == 0 else "$" if value == 1 else self._texts[value - FIRST_VALUE][1]
        place = f"[{offset:+d}]" if offset else ""
        return template, depth + 1, f"{before}{' & ' if before else ''}{column}{place}={text}"

    def keep(self, kept: NDArray[np.bool_]) -> None:
        """Keep some of the features, which get new numbers in the same order."""
        self._features = _table_of(_keys_of(self._features)[kept])

    def rows(self, sentences: Sentences, *, grows: bool) -> SequenceRows:
        """Return the features of all tokens; unknown ones are added, or left out.

        An error leaves the vocabulary unchanged.
        """
        starts, kinds, values = self._kinds_of(sentences, grows)
        indices, ends = [], [np.zeros(1, np.int64)]
        count = 0
        for first, stop in _parts(starts):
            begin, end = int(starts[first]), int(starts[stop])
            most = (end - begin) * len(self.templates)
            if grows:
                self._inner = _with_room(self._inner, (end - begin) * len(self._columns))
                self._features = _with_room(self._features, most)
            found, own_ends = np.empty(most, np.uint32), np.empty(end - begin + 1, np.int64)
            templates = self._starts, self._columns, self._offsets
            tables = self._inner, self._features
            own = starts[first : stop + 1] - begin
            n = apply_templates(kinds[begin:end], values, own, *templates, *tables, grows, found, own_ends)
            indices.append(found[:n])
            ends.append(own_ends[1:] + count)
            count += n
        joined = np.concatenate(indices) if indices else np.empty(0, np.uint32)
        return SequenceRows(joined, None, np.concatenate(ends), starts)

    def _values_of(self, token: Hashable, grows: bool) -> list[int]:
        found = []
        for k, column in enumerate(self.columns):
            text = cell(token, column)
            value = self._values[k].get(text)
            if value is None and grows:
                value = self._learn(k, text)
            found.append(UNKNOWN if value is None else value)
        if not grows and UNKNOWN in found:
            self._unsure.append(token)
        return found

    def _learn(self, column: int, text: str) -> int:
        value = self._values[column][text] = len(self._texts) + FIRST_VALUE
        self._texts.append((column, text))
        return value

    def _learn_texts(self, texts: Iterable[tuple[int, str]]) -> None:
        for column, text in texts:
            self._learn(column, text)


class HashedTemplates(TokenKinds):
    """Hashes the features that templates find to 2^bits numbers; nothing about words is remembered.

    Different features may share a number. Words that training did not meet have features, too.

    Examples
    --------
    >>> hashed = HashedTemplates(as_templates(["lower", "suffix2"]), 10)
    >>> [hashed.rows([[word]], grows=False).indices.tolist() for word in ("cat", "Cat", "dog")]
    [[413, 574], [413, 574], [540, 541]]
    """

    _dtype = np.uint64

    def __init__(self, templates: Any, bits: int) -> None:
        super().__init__(as_templates(templates))
        if not 1 <= bits <= MOST_BITS:
            raise ValueError(f"{bits} bits are not 1 to {MOST_BITS}")
        self.bits = bits

    def __getstate__(self) -> dict[str, Any]:
        return {"templates": self.templates, "bits": self.bits}

    def __setstate__(self, kept: dict[str, Any]) -> None:
        HashedTemplates.__init__(self, **kept)

    @property
    def n_features(self) -> int:
        """The number of features."""
        return 1 << self.bits

    def names(self) -> list[str]:
        """Return the numbers of all features as names: hashed features have no others."""
        return [f"#{i}" for i in range(self.n_features)]

    def keep(self, kept: NDArray[np.bool_]) -> None:
        """Raise `TypeError`: hashed features are all kept."""
        raise TypeError("hashed features are all kept")

    def rows(self, sentences: Sentences, *, grows: bool) -> SequenceRows:
        """Return the features of all tokens."""
        starts, kinds, values = self._kinds_of(sentences, grows)
        n_templates = len(self.templates)
        indices = np.empty(len(kinds) * n_templates, np.uint32)
        hash_templates(kinds, values, starts, self._starts, self._columns, self._offsets, self.bits, indices)
        return SequenceRows(indices, None, np.arange(len(kinds) + 1, dtype=np.int64) * n_templates, starts)

    def _values_of(self, token: Hashable, grows: bool) -> list[int]:
        coded = (cell(token, column).encode("utf-8", "surrogatepass") for column in self.columns)
        return [int.from_bytes(blake2b(each, digest_size=8).digest(), "little") for each in coded]


def _parts(starts: Ints) -> Iterator[tuple[int, int]]:
    """Return runs of sentences with at most `TOKENS_AT_ONCE` tokens each, or one sentence."""
    first, n = 0, len(starts) - 1
    while first < n:
        stop = int(np.searchsorted(starts, starts[first] + TOKENS_AT_ONCE, side="right")) - 1
        stop = max(stop, first + 1)
        yield first, stop
        first = stop


def _keys_of(table: HashTable) -> NDArray[np.uint64]:
    return table.keys[: int(table.used[0])]


def _table_of(keys: NDArray[np.uint64]) -> HashTable:
    table = empty_table(len(keys))
    insert_keys(table, np.ascontiguousarray(keys, np.uint64))
    return table


def _with_room(table: HashTable, room: int) -> HashTable:
    """Return a table with room for so many more keys."""
    wanted = int(table.used[0]) + room
    if wanted <= len(table.keys):
        return table
    larger = empty_table(max(wanted, 2 * len(table.keys)))
    insert_keys(larger, _keys_of(table))
    return larger
