"""Sentences read from files: the texts of their tokens by column, and where each token stands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.reals import read_only
from rosenblatt.data.sequences import place_of
from rosenblatt.exceptions import ParameterError
from rosenblatt.typing import Ints

__all__ = ["Corpus", "TokenColumn"]


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
    >>> from rosenblatt.formats.conll import read_corpus_text
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
            raise ParameterError(
                f"{self.files[0]} has no column {name!r}. Its columns are {', '.join(self.columns)}."
            )
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

    def place_of_token(self, token: int) -> str:
        """Return ``file:line`` of a token, counted from the first of the corpus."""
        return self.place(*place_of(token, self.starts))
