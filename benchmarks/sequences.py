"""Parts of speech: an averaged structured perceptron, against CRFsuite's on the same features."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from functools import partial
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from benchmarks.comparison import AtLeast, AtMost, Comparison
from benchmarks.timing import Setup, race
from rosenblatt import SequencePerceptron
from rosenblatt.sequences.conll import read_corpus
from rosenblatt.sequences.sentences import SequenceRows, as_label_codes
from rosenblatt.sequences.tagger_fit import SequenceFit, SequencePlan
from rosenblatt.sequences.tagger_model import SequenceState
from rosenblatt.sequences.templates import TemplateVocabulary, as_templates

FOLDER, TRAIN, TEST = "sequences", "ewt-train.tsv.gz", "ewt-test.tsv.gz"
SHORT, LONG = 1, 6
"""Passes of two runs: their difference is the time of passes alone."""
TOKENS_A_SECOND = 400_000
LEAST_ACCURACY = 0.949
MARGIN = 10
"""Of the models whose accuracy is told, chosen on the development set; passes are timed without, as CRFsuite's."""


def sequences(setup: Setup) -> Iterator[Comparison]:
    """Time a pass of training, and tagging from words; the last column tells the accuracy of three seeds."""
    folder = None if setup.data is None else setup.data / FOLDER
    if folder is None or not (folder / TRAIN).exists():
        print(f"sequences: left out; --data DIR names the folder that holds {FOLDER}/{TRAIN}", file=sys.stderr)
        return
    (X, y), (X_test, y_test) = (
        (corpus.tokens("1"), corpus.tokens("2"))
        for corpus in (read_corpus(str(folder / name)) for name in (TRAIN, TEST))
    )
    n = setup.rows(len(X))
    X, y = X[:n], y[:n]
    vocabulary = TemplateVocabulary(as_templates("words"))
    rows = vocabulary.rows(X, grows=True)
    classes, codes = as_label_codes(y, X, None)

    def passes(count: int) -> None:
        state = SequenceState.zero(vocabulary.n_features, np.zeros((len(classes) + 1, len(classes))), average=True)
        ones, last = np.ones(rows.n_sentences), np.zeros(len(classes))
        SequenceFit(rows, codes, ones, state, last, SequencePlan(count, seed=0), lambda state: state).run()

    passes(1)  # compiles
    contestants: dict[str, Any] = {f"ours {count}": partial(passes, count) for count in (SHORT, LONG)}
    with TemporaryDirectory() as place:
        trainer = _crfsuite(rows, vocabulary.names(), y)
        if trainer is not None:
            contestants |= {f"peer {k}": partial(_crf_passes, trainer, place, k) for k in (SHORT, LONG)}
        timed = race(contestants, setup.repeats)
    models = [
        SequencePerceptron(templates="words", margin=MARGIN, random_state=seed).fit(X, y) for seed in range(3)
    ]
    right = np.mean([model.score(X_test, y_test) for model in models])
    assert setup.quick or right >= LEAST_ACCURACY, right
    yield Comparison(
        "parts of speech (EWT), a pass",
        "CRFsuite ap",
        _a_pass(timed, "ours"),
        _a_pass(timed, "peer") if trainer is not None else [],
        AtLeast(4),
        models=f"{right:.2%} of test words right, margin {MARGIN}",
    )
    tagged = race({"ours": partial(models[0].predict, X_test)}, setup.repeats + 1)["ours"].seconds[1:]
    words = sum(map(len, X_test))
    yield Comparison(
        f"tagging {words:,} words",
        "",
        tagged,
        [],
        AtMost(words / TOKENS_A_SECOND),
        models=f"{words / min(tagged):,.0f} words a second",
    )


def _a_pass(timed: Any, name: str) -> list[float]:
    """Return the time of a pass: the least disturbed long run less the least disturbed short one."""
    short, long = (min(timed[f"{name} {count}"].seconds) for count in (SHORT, LONG))
    return [(long - short) / (LONG - SHORT)]


def _crfsuite(rows: SequenceRows, names: list[str], y: list[list[str]]) -> Any:
    """Return a trainer that holds the same features; None if CRFsuite is not installed."""
    try:
        import pycrfsuite
    except ImportError:
        return None
    trainer = pycrfsuite.Trainer("ap", verbose=False)
    features, ends = [names[f] for f in rows.indices.tolist()], rows.indptr.tolist()
    for labels, (begin, end) in zip(y, pairwise(rows.starts.tolist()), strict=True):
        items = [features[ends[i] : ends[i + 1]] for i in range(begin, end)]
        trainer.append(pycrfsuite.ItemSequence(items), labels)
    return trainer


def _crf_passes(trainer: Any, place: str, count: int) -> None:
    trainer.set_params({"max_iterations": count, "epsilon": 0.0})
    trainer.train(str(Path(place) / "crf.model"))
