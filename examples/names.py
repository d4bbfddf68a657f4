"""Find names in sentences
=======================

``SequencePerceptron`` learns from 60 made-up sentences. It then labels a name that no sentence had, and says
how sure it is.
"""

from __future__ import annotations

import numpy as np
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

import rosenblatt as rb
from rosenblatt.plot import style
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


def picture(words: list[str], labels: list[str], behind: list[float]) -> Figure:
    """Draw each word with its label, as far to the right as the second best label is behind."""
    figure, ax = plt.subplots(figsize=(7.5, 3.4), layout="constrained")
    colours = {"B": style.POSITIVE, "I": style.POSITIVE, "O": style.FAINT}
    bars = ax.barh(range(len(words)), behind, color=[colours[label[0]] for label in labels])
    ax.bar_label(bars, labels, padding=4, fontsize=style.SMALL_FONT_POINTS)
    ax.set_yticks(range(len(words)), words)
    ax.invert_yaxis()
    ax.set_xlim(0, 1.25 * max(behind))
    ax.set_title("Two names that no sentence had, and one that some had", fontsize=style.NORMAL_FONT_POINTS)
    style.tidy(ax, "how far the second best label is behind", "")
    return figure


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
    picture(new, best, behind)


if __name__ == "__main__":
    main()
