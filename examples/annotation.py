"""Find mistakes of annotation
===========================

A small corpus has sentences that contradict each other. ``certify`` finds them and proves that the rest
agrees.
"""

from __future__ import annotations

import random
import tempfile
from pathlib import Path

from matplotlib import pyplot as plt
from matplotlib.figure import Figure

import rosenblatt as rb
from rosenblatt.plot import style
from rosenblatt.sequences.annotation import CorpusCertificate

PARTS = {
    "DET": ["the", "a", "this", "every"],
    "NOUN": ["house", "barn", "car", "ship", "farm", "boat", "shop", "desk"],
    "AUX": ["was", "is"],
    "VERB": ["put", "set", "brought", "taken"],
    "ADP": ["up", "down"],
}
SHAPE = ["DET", "NOUN", "AUX", "VERB", "ADP", "for", "sale"]
ENDING = {"for": "ADP", "sale": "NOUN"}


def made_corpus(path: Path, sentences: int = 400, wrong: int = 6) -> set[int]:
    """Write sentences in CoNLL-U of which some have ADV for ADP, and return the numbers of these, from 1.

    Each wrong sentence repeats an earlier one, so that its mistake can be seen.
    """
    rng = random.Random(0)
    made: list[list[tuple[str, str]]] = []
    for _ in range(sentences - wrong):
        words = [(rng.choice(PARTS[part]), part) if part in PARTS else (part, ENDING[part]) for part in SHAPE]
        made.append(words)
    chosen = set(rng.sample(range(sentences - wrong), wrong))
    for source in sorted(chosen):
        made.append([(word, "ADV" if i == 4 else part) for i, (word, part) in enumerate(made[source])])
    lines = []
    for n, sentence in enumerate(made, 1):
        lines.append(f"# sent_id = s{n}")
        lines += [f"{i}\t{word}\t_\t{part}" + "\t_" * 6 for i, (word, part) in enumerate(sentence, 1)]
        lines.append("")
    path.write_text("\n".join(lines), encoding="utf-8")
    return set(range(sentences - wrong + 1, sentences + 1))


def checked(path: Path) -> tuple[CorpusCertificate, CorpusCertificate]:
    """Certify the corpus, and the corpus without the minority."""
    return rb.certify(path, label="upos"), rb.certify(path, label="upos", without_inconsistent=True)


def picture(found: CorpusCertificate) -> Figure:
    """Draw how often each contradicted word has each of its labels."""
    figure, ax = plt.subplots(figsize=(8, 3), layout="constrained")
    lines = [line.split(":")[0] for line in found.text().splitlines() if line.startswith('"')]
    for label, colour in (("ADP", style.FAINT), ("ADV", style.NEGATIVE)):
        chosen = (found.answer.data.labels.index(label),)
        counts = [len(each.variants[chosen]) for each in found.inconsistencies]
        before = [len(each.variants[(found.answer.data.labels.index("ADP"),)]) for each in found.inconsistencies]
        ax.barh(lines, counts, left=None if label == "ADP" else before, color=colour, label=label)
    ax.invert_yaxis()
    ax.set_title("The same words, labelled in two ways", fontsize=style.NORMAL_FONT_POINTS)
    style.tidy(ax, "sentences", "")
    style.legend_beside(ax)
    return figure


def main() -> None:
    """Make the corpus, print what is wrong with it, and draw it."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "corpus.conllu"
        made_corpus(path)
        before, after = checked(path)
        print(before.text().replace(f"{folder}/", ""), after.answer, sep="\n")
        picture(before)


if __name__ == "__main__":
    main()
