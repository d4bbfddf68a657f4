"""Find names in sentences
=======================

``SequencePerceptron`` learns from 60 made-up sentences. It then labels a name that no sentence had, and says
how sure it is.
"""

from __future__ import annotations

import numpy as np

import rosenblatt as rb
from rosenblatt.sequences.tag_scores import evaluate_sequences

FIRST = ["Ada", "Grace", "Frank", "Alan", "Emmy", "Marvin", "Rosalind", "Warren", "Barbara", "Seymour"]
FAMILY = [
    "Lovelace",
    "Hopper",
    "Rosenblatt",
    "Turing",
    "Noether",
    "Minsky",
    "Franklin",
    "McCulloch",
    "Liskov",
    "Papert",
]
CITY = ["Paris", "Oslo", "Ithaca", "Bologna", "Kyoto", "Lima", "Cairo", "Leeds"]
PATTERNS = (
    "{p} flew to {l} .",
    "in {l} , {p} met {p} and left .",
    "the river of {l} is wide",
    "{p} of {l} wrote to {p}",
    "nobody in {l} knew {p} .",
)


def sentence(rng: np.random.Generator) -> tuple[list[str], list[str]]:
    """Make one sentence and its labels: B- begins a name, I- goes on with it, O is no name."""
    words, labels = [], []
    for part in PATTERNS[rng.integers(len(PATTERNS))].split():
        if part == "{p}":
            name = [FIRST[rng.integers(len(FIRST))], FAMILY[rng.integers(len(FAMILY))]][rng.integers(2) :]
            words += name
            labels += ["B-person", "I-person"][: len(name)]
        elif part == "{l}":
            words += ["New"] * bool(rng.random() < 0.3) + [CITY[rng.integers(len(CITY))]]
            labels += ["B-place", "I-place"][: len(words) - len(labels)]
        else:
            words.append(part)
            labels.append("O")
    return words, labels


def main() -> None:
    """Train on 60 sentences, measure on 40 others, and label one with a name that no sentence had."""
    rng = np.random.default_rng(0)
    corpus = [sentence(rng) for _ in range(100)]
    words, labels = [each[0] for each in corpus], [each[1] for each in corpus]
    tagger = rb.SequencePerceptron(templates="words", constraints="bio").fit(words[:60], labels[:60])
    print(f"{tagger.stop_reason_} after {tagger.n_iter_} passes; mistakes {tagger.mistakes_per_pass_.tolist()}")
    print(evaluate_sequences(labels[60:], tagger.predict(words[60:])))
    new = ["in", "New", "Delhi", ",", "Claude", "Shannon", "met", "Ada"]
    [best, second] = tagger.predict([new], k=2)[0]
    behind = [-sorted(row)[-2] for row in tagger.margins([new])[0].tolist()]
    print("\nword      best      behind by  second best")
    for word, label, gap, other in zip(new, best, behind, second, strict=True):
        print(f"{word:8}  {label:8}  {gap:9.2f}  {other if other != label else ''}".rstrip())


if __name__ == "__main__":
    main()
