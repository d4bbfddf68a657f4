"""Sentences of tokens and their labels, from anything that people hold them in.

Items are read as python-crfsuite reads them. An item is a list or set of feature names, or a dictionary:
``{"w": "the"}`` is the feature ``w:the``, a number is the value of a feature, and True is 1. Dictionaries, lists
and sets inside are read with the name before them as a prefix.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import chain, pairwise
from numbers import Real
from types import MappingProxyType
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rosenblatt.exceptions import DataTypeError, InputError, LabelError, NonFiniteError, ParameterError, ShapeError
from rosenblatt.rows.features import read_only, show_value
from rosenblatt.rows.labels import as_labels
from rosenblatt.typing import Floats, Ints

IN_MEMORY = "sentences"
"""What stands for the file of sentences in memory."""


# Sentences read from files: the texts of their tokens by column, and where each token stands.


class TokenColumn(NamedTuple):
    """A column of a corpus: each text once, and the number of the text of each token.

    Attributes
    ----------
    texts : tuple of str
        The different texts, in the order in which they first occur.
    codes : ndarray of int32
        For each token the index of its text.
    """

    texts: tuple[str, ...]
    codes: NDArray[np.int32]

    @classmethod
    def of(cls, texts: Sequence[str]) -> TokenColumn:
        """Return the column with these texts, one for each token.

        Examples
        --------
        >>> TokenColumn.of(["the", "cat", "the"])
        TokenColumn(texts=('the', 'cat'), codes=array([0, 1, 0], dtype=int32))
        """
        numbers = {text: i for i, text in enumerate(dict.fromkeys(texts))}
        codes = np.fromiter(map(numbers.__getitem__, texts), np.int32, len(texts))
        return cls(tuple(numbers), read_only(codes))

    def all_texts(self) -> list[str]:
        """Return the text of each token."""
        texts = self.texts
        return [texts[code] for code in self.codes.tolist()]


@dataclass(frozen=True, eq=False)
class Corpus:
    r"""Annotated sentences; nothing in it changes.

    Attributes
    ----------
    columns : mapping from str to TokenColumn
        The columns by name, in the order of the file. CoNLL-U has ``id``, ``form``, ``lemma``, ``upos`` and so on;
        columns without names are called ``"1"``, ``"2"``, ….
    starts : ndarray of int
        Where the tokens of each sentence begin, and the number of all.
    lines : ndarray of int
        For each token its line, from 1.
    files : tuple of str
        The names of the files.
    file_of : ndarray of int
        For each sentence the index of its file.
    ids : tuple of str or None
        For each sentence its ``sent_id``, if the file has one.

    Examples
    --------
    >>> from rosenblatt.sequences.conll import read_corpus_text
    >>> corpus = read_corpus_text("The DET\ncat NOUN\n\nIt PRON", file="cats.conll")
    >>> corpus.tokens("1"), corpus.tokens("1", "2")[1]
    ([['The', 'cat'], ['It']], [('It', 'PRON')])
    >>> corpus.place(1, 0)
    'cats.conll:4'
    """

    columns: Mapping[str, TokenColumn]
    starts: Ints
    lines: Ints
    files: tuple[str, ...]
    file_of: Ints
    ids: tuple[str | None, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", MappingProxyType(dict(self.columns)))

    @classmethod
    def of(cls, sentences: Iterable[Sequence[Any]]) -> Corpus:
        """Return sentences in memory, of words or of tuples with the texts of all columns.

        The columns are called ``"1"``, ``"2"``, …. The line of a token is the number of its sentence.

        Examples
        --------
        >>> corpus = Corpus.of([[("the", "DET"), ("cat", "NOUN")], [("it", "PRON")]])
        >>> corpus.tokens("2"), corpus.place(1)
        ([['DET', 'NOUN'], ['PRON']], 'sentences:2')
        """
        kept = [[(word,) if isinstance(word, str) else tuple(word) for word in each] for each in sentences]
        fields = [field for each in kept for field in each]
        width = len(fields[0]) if fields else 0
        for field in fields:
            if len(field) != width or not all(isinstance(text, str) and text for text in field):
                raise DataTypeError(
                    f"A token of the sentences is {show_value(field)}, but each needs {width} texts, none empty."
                )
        lengths = [len(each) for each in kept]
        if not fields or not all(lengths):
            raise ShapeError("The sentences hold one without tokens. Leave it out.")
        columns = {str(k + 1): TokenColumn.of([field[k] for field in fields]) for k in range(width)}
        starts = read_only(np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64))
        lines = read_only(np.repeat(np.arange(1, len(kept) + 1), lengths))
        file_of = read_only(np.zeros(len(kept), np.int64))
        return cls(columns, starts, lines, (IN_MEMORY,), file_of, (None,) * len(kept))

    @property
    def n_sentences(self) -> int:
        """The number of sentences."""
        return len(self.starts) - 1

    @property
    def n_tokens(self) -> int:
        """The number of tokens."""
        return int(self.starts[-1])

    def column(self, name: str) -> TokenColumn:
        """Return a column by its name, or raise `ParameterError` with the names that there are."""
        if name not in self.columns:
            told = f"{self.files[0]} has no column {name!r}. Its columns are {', '.join(self.columns)}."
            raise ParameterError(told, code="no-such-column", parameter="name", value=name)
        return self.columns[name]

    def tokens(self, name: str, *more: str) -> list[list[Any]]:
        """Return the texts of the tokens of each sentence: of one column as texts, of several as tuples."""
        lists = [self.column(each).all_texts() for each in (name, *more)]
        bounds = list(pairwise(self.starts.tolist()))
        if more:
            fields = list(zip(*lists, strict=True))
            return [fields[begin:end] for begin, end in bounds]
        return [lists[0][begin:end] for begin, end in bounds]

    def place(self, sentence: int, token: int = 0) -> str:
        """Return ``file:line`` of a token of a sentence."""
        line = int(self.lines[self.starts[sentence] + token])
        return f"{self.files[self.file_of[sentence]]}:{line}"


Sentences: TypeAlias = list[list[Any]]


class SequenceRows(NamedTuple):
    """The features of all tokens of all sentences."""

    indices: NDArray[np.uint32]  # the features of the tokens, one token after the other
    data: Floats | None  # their values; None if all are 1
    indptr: Ints  # where the features of each token begin, and the number of all
    starts: Ints  # where the tokens of each sentence begin, and the number of all

    @property
    def longest(self) -> int:
        """The number of tokens of the longest sentence, at least 1."""
        return int(np.diff(self.starts).max(initial=1))

    @property
    def n_sentences(self) -> int:
        """The number of sentences."""
        return len(self.starts) - 1


def starts_of(sentences: Sequence[Sequence[Any]]) -> Ints:
    """Return where the tokens of each sentence begin, and behind them the number of tokens."""
    return np.concatenate([[0], np.cumsum([len(each) for each in sentences], dtype=np.int64)]).astype(np.int64)


def as_sentences(X: Iterable[Any], name: str = "X") -> Sentences:
    """Return sentences as lists of tokens; generators will do."""
    if isinstance(X, str | bytes | Mapping) or not isinstance(X, Iterable):
        raise DataTypeError(
            f"{name} must be a sequence of sentences, each a sequence of tokens, but it is {show_value(X)}. "
            "Put a single sentence in a list."
        )
    sentences = []
    for i, sentence in enumerate(X):
        if isinstance(sentence, str | bytes | Mapping) or not isinstance(sentence, Iterable):
            raise DataTypeError(
                f"{name}[{i}] must be a sequence of tokens, but it is {show_value(sentence)}. Split texts "
                "into tokens, "
                "and put a single sentence in a list."
            )
        sentences.append(list(sentence))
    return sentences


def as_label_codes(
    y: Any, sentences: Sentences, classes: NDArray[Any] | None
) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Return the classes and the code of each token's label; sentences and labels must have the same lengths."""
    labels = as_sentences(y, "y")
    if len(labels) != len(sentences):
        raise ShapeError(
            f"X has {len(sentences)} sentences, but y has {len(labels)}. Pass labels for each sentence."
        )
    for i, (tokens, own) in enumerate(zip(sentences, labels, strict=True)):
        if len(tokens) != len(own):
            raise ShapeError(
                f"X[{i}] has {len(tokens)} tokens, but y[{i}] has {len(own)} labels. Pass one for each token."
            )
    flat = list(chain.from_iterable(labels))
    if not flat:
        raise LabelError("X has no tokens, so there is nothing to learn from. Pass at least one sentence.")
    if classes is None:
        codes, classes = as_labels(flat, len(flat))
        return classes, np.asarray(codes, np.int64)
    number = {label: code for code, label in enumerate(classes.tolist())}
    try:
        found = [number.get(label, -1) for label in flat]
    except TypeError as error:
        raise LabelError(f"A label cannot be compared with others: {error}. Use texts or numbers.") from None
    if -1 in found:
        sentence, token = place_of(found.index(-1), starts_of(labels))
        raise LabelError(
            f"y[{sentence}][{token}] is {show_value(labels[sentence][token])}, which is not a label of "
            "the model. Pass "
            "all labels as classes to the first partial_fit, or train again with fit."
        )
    return classes, np.array(found, np.int64)


def place_of(token: int, starts: Ints) -> tuple[int, int]:
    """Return the sentence of a token, and its position there."""
    sentence = int(np.searchsorted(starts, token, side="right")) - 1
    return sentence, token - int(starts[sentence])


class ItemVocabulary:
    """Numbers the features of items in the order in which it meets them.

    Examples
    --------
    >>> vocabulary = ItemVocabulary()
    >>> rows = vocabulary.rows([[{"w": "the", "length": 3}, ["w:cat"]]], grows=True)
    >>> vocabulary.names(), rows.indices.tolist(), rows.data.tolist()
    (['w:the', 'length', 'w:cat'], [0, 1, 2], [1.0, 3.0, 1.0])
    """

    def __init__(self, names: Iterable[str] = ()) -> None:
        self._numbers: dict[str, int] = {name: i for i, name in enumerate(names)}

    width = None
    """Items hold features, not columns of a file."""

    @property
    def n_features(self) -> int:
        """The number of features."""
        return len(self._numbers)

    def names(self) -> list[str]:
        """Return the names of all features by number."""
        return list(self._numbers)

    def keep(self, kept: NDArray[np.bool_]) -> None:
        """Keep some of the features, which get new numbers in the same order."""
        names = [name for name, stays in zip(self._numbers, kept.tolist(), strict=True) if stays]
        self._numbers = {name: i for i, name in enumerate(names)}

    def rows(self, sentences: Sentences, *, grows: bool) -> SequenceRows:
        """Return the features of all tokens; unknown ones are added, or left out.

        An error leaves the vocabulary unchanged.
        """
        known = len(self._numbers)
        try:
            return self._rows(sentences, grows)
        except BaseException:
            while len(self._numbers) > known:
                self._numbers.popitem()
            raise

    def _rows(self, sentences: Sentences, grows: bool) -> SequenceRows:
        indices: list[int] = []
        values: dict[int, float] = {}
        ends = [0]
        number = _numbering(self._numbers, grows)
        for i, sentence in enumerate(sentences):
            for j, item in enumerate(sentence):
                if type(item) is list and set(map(type, item)) <= {str}:
                    indices += number(item)
                else:
                    try:
                        read = read_item(item)
                    except InputError as error:
                        raise type(error)(f"X[{i}][{j}]: {error}") from None
                    for name, value in read:
                        for code in number([name]):
                            if value != 1.0:
                                values[len(indices)] = value
                            indices.append(code)
                ends.append(len(indices))
        data = None
        if values:
            data = np.ones(len(indices))
            data[list(values)] = list(values.values())
        return SequenceRows(np.array(indices, np.uint32), data, np.array(ends, np.int64), starts_of(sentences))


def frequent(rows: SequenceRows, vocabulary: Any, least: int) -> SequenceRows:
    """Return rows without the features that occur less often, which the vocabulary forgets."""
    if least == 1:
        return rows
    kept = np.bincount(rows.indices, minlength=vocabulary.n_features) >= least
    vocabulary.keep(kept)
    stays = kept[rows.indices]
    numbers = (np.cumsum(kept) - 1).astype(np.uint32)
    ends = np.concatenate([[0], np.cumsum(stays)])
    data = None if rows.data is None else rows.data[stays]
    return SequenceRows(numbers[rows.indices[stays]], data, ends[rows.indptr], rows.starts)


def _numbering(numbers: dict[str, int], grows: bool) -> Callable[[Iterable[str]], list[int]]:
    """Return a function that numbers names, adding those that are new or leaving them out."""
    if grows:
        return lambda names: [numbers.setdefault(name, len(numbers)) for name in names]
    return lambda names: [numbers[name] for name in names if name in numbers]


def read_item(item: Any, prefix: str = "") -> list[tuple[str, float]]:
    """Return the features of an item with their values, without those that are 0.

    Examples
    --------
    >>> read_item({"w": "the", "size": 3, "title": True, "near": {"next": "cat"}, "ends": ["e", "he"]})
    [('w:the', 1.0), ('size', 3.0), ('title', 1.0), ('near:next:cat', 1.0), ('ends:e', 1.0), ('ends:he', 1.0)]
    """
    features: list[tuple[str, float]] = []
    if isinstance(item, Mapping):
        for name, value in item.items():
            features += _read_value(_name(name, prefix), value)
    elif isinstance(item, list | tuple | AbstractSet):
        names = sorted(item, key=str) if isinstance(item, AbstractSet) else item
        features += [(_name(name, prefix), 1.0) for name in names]
    else:
        raise DataTypeError(
            f"an item is {show_value(item)}, but must be a dict, list or set of features. Set templates "
            "to pass words."
        )
    return features


def _read_value(name: str, value: object) -> list[tuple[str, float]]:
    if isinstance(value, str):
        return [(f"{name}:{value}", 1.0)]
    if isinstance(value, Real | np.bool_):
        number = float(value)
        if not math.isfinite(number):
            raise NonFiniteError(f"the value of {name!r} is {number}. Leave the feature out, or give it a number.")
        return [(name, number)] if number else []
    return read_item(value, f"{name}:")


def _name(name: Hashable, prefix: str) -> str:
    if not isinstance(name, str):
        raise DataTypeError(f"a feature is called {show_value(name)}, but names are texts. Convert it with str.")
    return prefix + name
