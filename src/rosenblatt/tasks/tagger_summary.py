"""How the training of a tagger went, in a few lines."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from rosenblatt.escaping import printable
from rosenblatt.sequence_evaluation import SequenceEvaluation
from rosenblatt.tasks.plain_text import count, percent
from rosenblatt.tasks.summary import ENDINGS

__all__ = ["TaggerSummary"]


@dataclass(frozen=True, eq=False)
class TaggerSummary:
    """How the training of a tagger went; ``print`` shows it.

    Attributes
    ----------
    n_sentences, n_tokens, n_features : int
        The size of the training data, and the number of features with weights.
    labels : dict
        The number of tokens of each label.
    n_passes, stop_reason, mistakes_per_pass
        How training went.
    trained_on, held_out : SequenceEvaluation or None
        The tagger on its training sentences, and on those held out, if there are any.
    seconds : float
        The time that training took, without reading.
    """

    n_sentences: int
    n_tokens: int
    n_features: int
    labels: dict[str, int]
    n_passes: int
    stop_reason: str
    mistakes_per_pass: list[int]
    trained_on: SequenceEvaluation
    held_out: SequenceEvaluation | None
    seconds: float

    def __str__(self) -> str:
        named = [f"{printable(label)} {n:,}" for label, n in self.labels.items()]
        more = ", …" if len(named) > 8 else ""
        listed = [f"{each:,}" for each in self.mistakes_per_pass]
        if len(listed) > 8:
            listed = [*listed[:5], "…", *listed[-2:]]
        lines = [
            f"tagger: {count(self.n_sentences, 'sentence')}, {count(self.n_tokens, 'token')}, "
            f"{count(self.n_features, 'feature')}, {count(len(named), 'label')} ({', '.join(named[:8])}{more})",
            f"{ENDINGS.get(self.stop_reason, self.stop_reason)} after {count(self.n_passes, 'pass', 'passes')}, "
            f"{self.seconds:.2f} s; {count(sum(self.mistakes_per_pass), 'mistake')}: {', '.join(listed)}",
            f"training: {_rates(self.trained_on)}",
        ]
        if self.held_out is not None:
            lines.append(f"{count(self.held_out.n_sentences, 'held-out sentence')}: {_rates(self.held_out)}")
        return "\n".join(lines)

    def to_json(self) -> dict[str, Any]:
        """Return plain values, as JSON can hold them."""
        return {
            "sentences": self.n_sentences,
            "tokens": self.n_tokens,
            "features": self.n_features,
            "labels": self.labels,
            "passes": self.n_passes,
            "stop_reason": self.stop_reason,
            "mistakes_per_pass": self.mistakes_per_pass,
            "trained_on": self.trained_on.to_json(),
            "held_out": None if self.held_out is None else self.held_out.to_json(),
            "seconds": round(self.seconds, 3),
        }


def _rates(found: SequenceEvaluation) -> str:
    spans = "" if found.spans is None else f", F1 of spans {percent(found.spans.f1)}"
    return f"{percent(found.accuracy)} of tokens, {percent(found.sentence_accuracy)} of sentences{spans}"
