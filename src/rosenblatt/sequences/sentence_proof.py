"""Answers, with their proofs, to whether some weights label every sentence correctly."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, NamedTuple, Self

from rosenblatt.certify import check
from rosenblatt.certify.certificate import Certificate, OutOfTime, Verification, proof_text
from rosenblatt.certify.rationals import common, root_above, root_below
from rosenblatt.certify.time_limit import Clock
from rosenblatt.sequences.exchanges import Inconsistency
from rosenblatt.sequences.sentence_problem import Labelled, SequenceProblem, SequenceScores


@dataclass(frozen=True)
class SequenceData:
    """The data of a proof about sentences.

    Attributes
    ----------
    sentences, tokens : int
        How many there are.
    labels : tuple of str
        The labels, as text.
    templates : tuple of str or None
        Templates such as ``"lower[-1] & lower"``; None if the items are features.
    forbidden : tuple of pairs of int
        Pairs of labels by their places in `labels`; the number of labels stands for the start and for the end.
    without : tuple of int
        Sentences that take no part.
    sha256 : str
        The fingerprint of tokens and labels.
    """

    sentences: int
    tokens: int
    labels: tuple[str, ...]
    templates: tuple[str, ...] | None
    forbidden: tuple[tuple[int, int], ...]
    without: tuple[int, ...]
    sha256: str

    @property
    def taking_part(self) -> int:
        """The number of sentences that take part, empty ones included."""
        return self.sentences - len(set(self.without))


class SequenceMargin(NamedTuple):
    """An interval that contains the largest margin γ.

    Attributes
    ----------
    squared : tuple of two Fractions
        lo ≤ γ² ≤ hi; hi is None if no upper bound is known. The weights of the answer prove lo. The perceptron's
        run proves hi: after k updates ‖w‖ ≥ kγ.
    """

    squared: tuple[Fraction, Fraction | None]

    @property
    def low(self) -> float:
        """The largest float that is a lower bound on γ."""
        return root_below(self.squared[0])

    @property
    def high(self) -> float | None:
        """The smallest float that is an upper bound on γ."""
        return None if self.squared[1] is None else root_above(self.squared[1])


@dataclass(frozen=True, eq=False, kw_only=True)
class SequenceAnswer(Certificate):
    """An answer to whether some weights have the true labelling of every sentence above all others.

    Attributes
    ----------
    data : SequenceData
        The data of the question.
    """

    data: SequenceData

    def renamed(self, names: tuple[str, ...]) -> Self:
        """Return the same answer: templates name the features of tokens."""
        return self

    def to_json(self) -> str:
        """Return the proof as text, in the format that `check.py` reads."""
        about = {"data": dict(vars(self.data))}
        return proof_text(self.verdict, {**about, **self._proof()})

    def verify(self, X: Iterable[Any], y: Any) -> Verification:
        """Check the proof on sentences and their labels, exactly.

        Parameters
        ----------
        X : iterable of sentences
            As they were passed to `certify`.
        y : iterable of sequences of labels
            One label for each token.

        Returns
        -------
        Verification
            True if these are the sentences of the proof, and the proof holds.
        """
        from rosenblatt.sequences.sentence_verdict import problem_of

        found = problem_of(self.data, X, y, getattr(self, "names", None))
        if isinstance(found, str):
            return Verification(False, found)
        fault = self._fault(found)
        return Verification(not fault, fault or self.reason)

    def __str__(self) -> str:
        return f"{self.verdict.capitalize()}: {self.reason}"

    @property
    def _about(self) -> str:
        """The number of sentences and labels, in words."""
        data = self.data
        left_out = f", without {len(set(data.without)):,} of {data.sentences:,}" if data.without else ""
        sentences = "1 sentence" if data.taking_part == 1 else f"{data.taking_part:,} sentences"
        return f"{sentences}{left_out}, {len(data.labels)} labels"

    @abstractmethod
    def _proof(self) -> dict[str, Any]:
        """Return the fields of the proof that depend on the verdict."""

    @abstractmethod
    def _fault(self, problem: SequenceProblem) -> str:
        """Return why the proof does not hold for its data; "" if it does."""


@dataclass(frozen=True, eq=False, kw_only=True)
class SequenceSeparable(SequenceAnswer):
    """Yes: some weights have the true labelling of every sentence strictly above all others.

    Attributes
    ----------
    w : dict
        From (feature, label) to whole numbers; features are numbers in the order in which they first occur.
    t : dict
        From (label before, label) to whole numbers; the label before is None at the start.
    features : int
        The number of features.
    names : tuple of str or None
        The features by number, if items are features; else the templates make them.
    least : int, Fraction or None
        The smallest gap: the score of the truth minus that of the best other labelling. None if there is none.
    highest : Fraction or None
        An upper bound on the squared margin; None in a proof read from a file.

    Examples
    --------
    >>> import rosenblatt as rb
    >>> tagger = rb.SequencePerceptron(templates=["lower"])
    >>> tagger.certify([["the", "dog"]], [["DET", "NOUN"]]).verdict
    'separable'
    """

    scores: SequenceScores = field(repr=False)
    features: int
    names: tuple[str, ...] | None = field(default=None, repr=False)
    least: Fraction | None = None
    highest: Fraction | None = field(default=None, repr=False)

    verdict: ClassVar[str] = "separable"

    @property
    def reason(self) -> str:
        """The reason for the verdict, in one sentence."""
        return f"Some weights score the true labelling of every sentence above all others ({self._about})."

    @cached_property
    def w(self) -> dict[tuple[int, str], int]:
        """The weights of features with labels, without zeros."""
        labels = self.data.labels
        return {
            (feature, labels[k]): value
            for feature, row in self.scores.features.items()
            for k, value in enumerate(row)
            if value
        }

    @cached_property
    def t(self) -> dict[tuple[str | None, str], int]:
        """The weights of pairs of labels, without zeros."""
        labels = self.data.labels
        before: list[str | None] = [*labels, None]
        return {
            (before[j], labels[k]): value
            for j, row in enumerate(self.scores.pairs)
            for k, value in enumerate(row)
            if value
        }

    @property
    def margin(self) -> SequenceMargin | None:
        """An interval that contains the largest margin; None if no sentence has another labelling."""
        if not self.least:
            return None
        return SequenceMargin((self.least**2 / self.scores.square, self.highest))

    def _proof(self) -> dict[str, Any]:
        n = len(self.data.labels)
        written = {"names": list(self.names)} if self.names is not None else {}
        pairs = dict(enumerate(self.scores.pairs))
        return {
            "scores": {
                "count": self.features,
                "features": _sparse(self.scores.features, n),
                "pairs": _sparse(pairs, n),
                **written,
            }
        }

    def _fault(self, problem: SequenceProblem) -> str:
        n = len(self.data.labels)
        if self.features != problem.n_features or max(self.scores.features, default=-1) >= problem.n_features:
            return f"These sentences have {problem.n_features} features, not {self.features}."
        if len(self.scores.pairs) != n + 1:
            return "The weights are of other labels."
        given = problem.multiplied(self.scores)
        tables = problem.whole_tables(given)
        if tables is not None:
            gaps, rivals = problem.float_gaps(*tables, Clock(None))
            wrong = [rivals[i].sentence for i in (gaps <= 0.0).nonzero()[0][:1].tolist()]
            return f"The true labelling of sentence {wrong[0]} is not strictly above all others." if wrong else ""
        least = problem.least_gap(given, Clock(None))
        return "" if least is None or least > 0 else "A true labelling is not strictly above all others."


@dataclass(frozen=True, eq=False, kw_only=True)
class SequenceInseparable(SequenceAnswer):
    """No: some labellings have weights with which their Δ sum to 0, so that one of them is not below the truth.

    Attributes
    ----------
    others : tuple of Labelled
        The labellings: a sentence, and the places of its labels in ``data.labels``.
    weights : tuple of int
        Their weights, above 0.
    kind : str
        How they were found: "exchange", "cycle", "one sentence" or "cutting planes"; "" in a proof read from a
        file.
    inconsistencies : tuple of Inconsistency
        All inconsistencies of annotation; empty in a proof read from a file.

    Examples
    --------
    >>> import rosenblatt as rb
    >>> tagger = rb.SequencePerceptron(templates=["lower"])
    >>> found = tagger.certify([["a", "run"], ["a", "run"]], [["DET", "NOUN"], ["DET", "VERB"]])
    >>> found.verdict, found.kind
    ('inseparable', 'exchange')
    """

    others: tuple[Labelled, ...]
    weights: tuple[int, ...] = field(repr=False)
    kind: str = ""
    inconsistencies: tuple[Inconsistency, ...] = field(default=(), repr=False)

    verdict: ClassVar[str] = "inseparable"

    @property
    def reason(self) -> str:
        """The reason for the verdict, in one sentence."""
        n = len({other.sentence for other in self.others})
        if self.kind == "exchange":
            return (
                f"{len(self.inconsistencies):,} inconsistenc{'y' if len(self.inconsistencies) == 1 else 'ies'} of "
                "annotation. No weights can label places with the same features and neighbouring labels "
                f"differently ({self._about})."
            )
        some = "one sentence" if n == 1 else f"one of {n:,} sentences"
        return f"Any weights label {some} wrongly: a sum of differences from the truth is 0 ({self._about})."

    @property
    def minority(self) -> tuple[int, ...]:
        """The sentences whose labels most of the places like them do not have, from 0."""
        return tuple(sorted({sentence for each in self.inconsistencies for sentence in each.minority}))

    def _proof(self) -> dict[str, Any]:
        return {
            "combination": {
                "sentences": [other.sentence for other in self.others],
                "labellings": [list(other.labels) for other in self.others],
                "weights": [check.text_of(weight) for weight in self.weights],
            }
        }

    def _fault(self, problem: SequenceProblem) -> str:
        if not self.others or not len(self.others) == len(self.weights) == len(set(self.others)):
            return "A combination needs different labellings, with a weight each."
        if min(self.weights) <= 0:
            return "A combination needs positive weights."
        taking_part = set(problem.sentences.tolist())
        for other in self.others:
            if other.sentence not in taking_part or max(other.labels, default=0) >= problem.n_labels:
                return f"Sentence {other.sentence} takes no part, or has other labels."
            if not problem.is_rival(other):
                return f"A labelling of sentence {other.sentence} is the truth, forbidden, or of another length."
        return "The combination of labellings is not 0." if problem.combined(self.others, self.weights) else ""


@dataclass(frozen=True, eq=False, kw_only=True)
class SequenceUndecided(OutOfTime, SequenceAnswer):
    """The limit was reached before an answer was found.

    Attributes
    ----------
    why : str
        What was being computed then.

    Examples
    --------
    >>> import rosenblatt as rb
    >>> tagger = rb.SequencePerceptron(templates=["lower"])
    >>> X, y = [["a", "a", "b"], ["b", "a"]], [["X", "Y", "X"], ["Y", "Y"]]
    >>> tagger.certify(X, y, time_limit=0).verdict
    'undecided'
    """

    def _fault(self, problem: SequenceProblem) -> str:
        return "An undecided question has no proof."


def _sparse(rows: Mapping[int, Sequence[int]], width: int) -> dict[str, Any]:
    """Write the rows of a table one after the other, as a vector without its zeros."""
    stored = [(f * width + k, value) for f in sorted(rows) for k, value in enumerate(rows[f]) if value]
    return {"columns": [at for at, _ in stored], "values": [check.text_of(value) for _, value in stored]}


def read_sentences(proof: Mapping[str, Any]) -> SequenceAnswer:
    """Return the certificate of a proof about sentences."""
    given = proof["data"]
    n, templates = len(given["labels"]), given["templates"]
    if any(len(pair) != 2 or max(pair) > n or pair == [n, n] for pair in given["forbidden"]):
        raise check.ProofError(f"a forbidden pair is not one of labels from 0 to {n}")
    if any(i >= given["sentences"] for i in given["without"]):
        raise check.ProofError("it leaves out a sentence that there is not")
    known = {
        "labels": tuple(given["labels"]),
        "templates": None if templates is None else tuple(templates),
        "forbidden": tuple(map(tuple, given["forbidden"])),
        "without": tuple(given["without"]),
    }
    data = SequenceData(**{**given, **known})
    if proof["verdict"] == "separable":
        part = proof["scores"]
        features = check.whole_table(part["features"], part["count"], n, "scores.features")
        held = check.whole_table(part["pairs"], n + 1, n, "scores.pairs")
        names = tuple(part["names"]) if "names" in part else None
        if names is not None and not len(set(names)) == len(names) == part["count"]:
            raise check.ProofError("scores.names are not as many different names as there are features")
        scores = SequenceScores(features, [held.get(k, [0] * n) for k in range(n + 1)])
        return SequenceSeparable(data=data, scores=scores, features=part["count"], names=names)
    part = proof["combination"]
    lines = list(zip(part["sentences"], map(tuple, part["labellings"]), strict=False))
    if not len(lines) == len(part["sentences"]) == len(part["labellings"]) == len(part["weights"]):
        raise check.ProofError("combination does not give labellings of sentences a weight each")
    weights = tuple(common([check.number(each) for each in part["weights"]])[0])
    return SequenceInseparable(data=data, others=tuple(Labelled(*line) for line in lines), weights=weights)
