"""Small sentences and weights for the tests of sequences: whole numbers, so that every sum is exact."""

from __future__ import annotations

import itertools
from typing import Any, NamedTuple

import numpy as np
from hypothesis import strategies as st

from rosenblatt.sequences.sentences import SequenceRows
from tests.oracles.sequence import END, START, ReferenceWeights, is_allowed


class Corpus(NamedTuple):
    """Sentences as the reference reads them, their true labels, and how many labels and features there are."""

    sentences: list[list[list[tuple[int, int]]]]
    truths: list[list[int]]
    n_labels: int
    n_features: int
    forbidden: frozenset[tuple[int, int]]


@st.composite
def corpora(draw: Any, *, values: bool = True, constrained: bool = True) -> Corpus:
    """Draw a few short sentences; forbidden pairs are never those of the truth."""
    n_labels, n_features = draw(st.integers(2, 3)), draw(st.integers(1, 4))
    value = st.integers(-2, 3).filter(bool) if values else st.just(1)
    row = st.lists(st.tuples(st.integers(0, n_features - 1), value), max_size=6)
    sentences = draw(st.lists(st.lists(row, min_size=1, max_size=4), min_size=1, max_size=4))
    truths = [draw(st.lists(st.integers(0, n_labels - 1), min_size=len(s), max_size=len(s))) for s in sentences]
    pairs = set(itertools.product([START, *range(n_labels)], [*range(n_labels), END])) - {(START, END)}
    taken = {pair for truth in truths for pair in itertools.pairwise([START, *truth, END])}
    free = sorted(pairs - taken)
    forbidden = draw(st.sets(st.sampled_from(free), max_size=4)) if constrained and free else set()
    return Corpus(sentences, truths, n_labels, n_features, frozenset(forbidden))


@st.composite
def weights_for(draw: Any, corpus: Corpus) -> ReferenceWeights:
    """Draw small whole weights, with many ties."""
    small = st.integers(-2, 2)
    labels = range(corpus.n_labels)
    w = {(f, label): draw(small) for f in range(corpus.n_features) for label in labels}
    t = {(k, label): draw(small) for k in [START, *labels] for label in labels}
    return ReferenceWeights(w, t)


def as_rows(corpus: Corpus) -> SequenceRows:
    """Return the sentences as the loops read them."""
    tokens = [row for sentence in corpus.sentences for row in sentence]
    ends = np.cumsum([0, *map(len, tokens)])
    data = np.array([float(value) for row in tokens for _, value in row])
    return SequenceRows(
        np.array([feature for row in tokens for feature, _ in row], np.uint32),
        None if (data == 1.0).all() else data,
        ends.astype(np.int64),
        np.cumsum([0, *map(len, corpus.sentences)]).astype(np.int64),
    )


def codes_of(corpus: Corpus) -> Any:
    """Return the true labels of all tokens."""
    return np.array([label for truth in corpus.truths for label in truth], np.int64)


def barred(corpus: Corpus) -> tuple[Any, Any]:
    """Return the tables of forbidden pairs and last labels: 0, or −∞."""
    n = corpus.n_labels
    pairs, last = np.zeros((n + 1, n)), np.zeros(n)
    for k, label in corpus.forbidden:
        if label == END:
            last[k] = -np.inf
        else:
            pairs[n if k == START else k, label] = -np.inf
    return pairs, last


def tables(corpus: Corpus, weights: ReferenceWeights) -> tuple[Any, Any, Any]:
    """Return weights as the loops read them: of features, of pairs, and of last labels."""
    n = corpus.n_labels
    pairs, last = barred(corpus)
    w = np.zeros((corpus.n_features, n))
    for (f, label), value in weights.w.items():
        w[f, label] = value
    for (k, label), value in weights.t.items():
        pairs[n if k == START else k, label] += float(value)
    return w, pairs, last


def every_labelling(corpus: Corpus, sentence: int) -> list[list[int]]:
    """Return all labellings of a sentence that are not forbidden, ordered by their last labels, lowest first."""
    n = len(corpus.sentences[sentence])
    found = [list(reversed(each)) for each in itertools.product(range(corpus.n_labels), repeat=n)]
    return [each for each in found if is_allowed(each, corpus.forbidden)]
