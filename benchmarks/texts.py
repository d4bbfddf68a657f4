"""Text to rows: svmlight files of short and of long numbers, and messages into bags of hashed words."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa
from sklearn.datasets import load_svmlight_file
from sklearn.feature_extraction.text import HashingVectorizer

from benchmarks.comparison import AtLeast, Comparison
from benchmarks.peers import VW, installed
from benchmarks.timing import Setup, race
from rosenblatt.datasets import make_text
from rosenblatt.tables.svmlight import SvmlightReader
from rosenblatt.tables.svmlight_plain import write_svmlight
from rosenblatt.tables.words import hash_texts, text_buffers

BITS = 18
MEGABYTE = 1e6


def svmlight(setup: Setup) -> Iterator[Comparison]:
    """Read a file of about 100 MB to compressed rows; VW learns from what it reads, in one pass."""
    data = make_text(setup.rows(75_000), 1 << 20, seed=0)
    rng = np.random.default_rng(0)
    for name, values in (
        ("6 digits", np.round(data.X.data, 6)),
        ("17 digits", rng.standard_normal(data.X.data.size)),
        ("ones", np.ones(data.X.data.size)),
    ):
        data.X.data[:] = values
        with TemporaryDirectory() as folder:
            yield from _read(setup, name, Path(folder), data.X, data.y)


def _read(setup: Setup, name: str, folder: Path, X: Any, y: Any) -> Iterator[Comparison]:
    ours, theirs = folder / "rows.svm", folder / "rows.vw"
    write_svmlight(ours, X, y)
    with ours.open("rb") as lines, theirs.open("wb") as file:
        file.writelines(line.replace(b" ", b" | ", 1) for line in lines)
    _rows_of(ours)  # compiles
    contestants = {"ours": lambda: _rows_of(ours), "sklearn": lambda: load_svmlight_file(ours)}
    if (vw := installed("vowpalwabbit")) is not None:
        contestants["vw"] = lambda: vw.Workspace(f"{VW} --data {theirs}").finish()
    timed = race(contestants, setup.repeats)
    assert np.array_equal(np.concatenate([values for values, _ in timed["ours"].result]), X.data)
    assert np.array_equal(np.concatenate([indices for _, indices in timed["ours"].result]), X.indices)
    speeds = {each: ours.stat().st_size / MEGABYTE / min(timed[each].seconds) for each in timed}
    for peer, called, target in (("sklearn", "load_svmlight_file", 5), ("vw", "VW learning", 1)):
        seconds = timed[peer].seconds if peer in timed else []
        said = f"{speeds['ours']:.0f} / {speeds.get(peer, 0):.0f} MB/s"
        yield Comparison(f"svmlight, {name}", called, timed["ours"].seconds, seconds, AtLeast(target), models=said)


def _rows_of(path: Path) -> list[tuple[Any, Any]]:
    with path.open("rb", buffering=0) as file:
        chunks = SvmlightReader(file, file=path.name).chunks()
        return [(chunk.rows.data, chunk.rows.indices) for chunk in chunks]


def words(setup: Setup) -> Iterator[Comparison]:
    """Hash 50,000 short messages, word by word and with pairs of words."""
    messages = _messages(setup.rows(50_000), seed=0)
    array = pa.array(messages)
    size = len(text_buffers(array)[0])
    for pattern, said in ((r"(?u)\b\w\w+\b", "its words"), (r"(?u)\w+", "our words")):
        for ngrams in (1, 2):
            peer = HashingVectorizer(
                n_features=1 << BITS,
                alternate_sign=False,
                norm=None,
                token_pattern=pattern,
                ngram_range=(1, ngrams),
            )

            def ours(ngrams: int = ngrams) -> Any:
                return hash_texts(*text_buffers(array), ngrams=ngrams, bits=BITS)

            def theirs(peer: HashingVectorizer = peer) -> Any:
                return peer.transform(messages)

            ours()  # compiles
            timed = race({"ours": ours, "peer": theirs}, setup.repeats)
            if said == "our words":
                assert timed["ours"].result.data.sum() == timed["peer"].result.sum()
            speeds = " / ".join(f"{size / MEGABYTE / min(timed[each].seconds):.0f}" for each in ("ours", "peer"))
            yield Comparison(
                f"hashed words, up to {ngrams}",
                f"HashingVectorizer, {said}",
                timed["ours"].seconds,
                timed["peer"].seconds,
                AtLeast(10),
                models=f"{speeds} MB/s",
            )


def _messages(n: int, *, seed: int) -> list[str]:
    """Return messages of about sixteen words that are as long and as frequent as those of people."""
    rng = np.random.default_rng(seed)
    letters = np.array(list("etaoinshrdlucmfwypvbgkjqxz0123456789"))
    chances = 1.0 / np.arange(2, len(letters) + 2)
    drawn = [rng.choice(letters, size=1 + rng.poisson(2.8), p=chances / chances.sum()) for _ in range(8000)]
    vocabulary = list(dict.fromkeys("".join(word) for word in drawn))
    frequency = 1.0 / np.arange(1, len(vocabulary) + 1)
    ends = [" ", " ", " ", " ", " ", " ", ", ", ". ", "... ", "! "]
    messages = []
    for length in (1 + rng.poisson(15, size=n)).tolist():
        ranks = rng.choice(len(vocabulary), size=length, p=frequency / frequency.sum())
        pieces = [
            vocabulary[rank] + ends[end] for rank, end in zip(ranks, rng.integers(10, size=length), strict=True)
        ]
        messages.append("".join(pieces).capitalize())
    return messages
