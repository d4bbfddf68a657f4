"""Certificates for more than two classes: every pair of them, and each against the rest."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self

from rosenblatt.certify.certificate import Answer, Certificate, Verification
from rosenblatt.certify.class_rows import ClassRows
from rosenblatt.certify.verify import first_refuted
from rosenblatt.escaping import printable
from rosenblatt.exceptions import UndecidedError

MARKS = {"separable": "yes", "inseparable": "no", "undecided": "?"}


class Verdicts(NamedTuple):
    """The verdicts about pairs of classes, and about classes against all others."""

    pairs: Sequence[str]
    rest: Sequence[str]

    @classmethod
    def of(cls, proofs: Sequence[Mapping[str, Any]]) -> Verdicts:
        """Return what proofs claim."""
        pairs = [proof["verdict"] for proof in proofs if proof["data"]["negative"] is not None]
        return cls(pairs, [proof["verdict"] for proof in proofs if proof["data"]["negative"] is None])

    @property
    def verdict(self) -> str:
        """The verdict of the pairs, or of all classes if there are no pairs."""
        found = self.pairs or self.rest
        return next((each for each in ("inseparable", "undecided") if each in found), "separable")

    @property
    def reason(self) -> str:
        """The reason for the verdict, in one sentence."""
        apart, alone = self.pairs.count("separable"), self.rest.count("separable")
        return (
            f"{apart} of {len(self.pairs)} pairs of classes are separable, and {alone} of {len(self.rest)} "
            "classes from all others."
        )


@dataclass(frozen=True, eq=False)
class ClassTables(Certificate):
    """Certificates for more than two classes.

    The verdict is that of the pairs: "separable" if every pair of classes is, "inseparable" if some pair is not.

    Attributes
    ----------
    pairs : dict of (label, label) to Answer
        For two classes each, in the order of the labels; rows of other classes are left out.
    rest : dict of label to Answer
        For each class against all others.

    Examples
    --------
    >>> import rosenblatt as rb
    >>> found = rb.certify([[0.0], [1.0], [2.0]], ["low", "middle", "high"])
    >>> found.pairs["low", "middle"].verdict, found.rest["middle"].verdict
    ('separable', 'inseparable')
    """

    pairs: Mapping[tuple[Hashable, Hashable], Answer]
    rest: Mapping[Hashable, Answer]

    @classmethod
    def of(cls, answers: Sequence[Answer]) -> ClassTables:
        """Return the tables of answers; labels are text."""
        pairs: dict[tuple[Hashable, Hashable], Answer] = {}
        rest: dict[Hashable, Answer] = {}
        for each in answers:
            if each.data.negative is None:
                rest[each.data.positive] = each
            else:
                pairs[each.data.positive, each.data.negative] = each
        return cls(pairs, rest)

    @property
    def _verdicts(self) -> Verdicts:
        pairs, rest = ([each.verdict for each in table.values()] for table in (self.pairs, self.rest))
        return Verdicts(pairs, rest)

    @property
    def verdict(self) -> str:
        """The verdict of the pairs."""
        return self._verdicts.verdict

    @property
    def reason(self) -> str:
        """The reason for the verdict, in one sentence."""
        return self._verdicts.reason

    def renamed(self, names: tuple[str, ...]) -> Self:
        """Return the same answers with other feature names."""
        pairs = {labels: each.renamed(names) for labels, each in self.pairs.items()}
        return replace(self, pairs=pairs, rest={label: each.renamed(names) for label, each in self.rest.items()})

    def verify(self, X: Any, y: Any) -> Verification:
        """Check every proof on data; see `Certificate.verify`."""
        named = list(self)
        refuted = first_refuted([each for _, each in named], ClassRows.of(X, y))
        if refuted is None:
            return Verification(True, self.reason)
        place, found = refuted
        return Verification(False, f"{named[place][0]}: {found.reason}")

    def to_json(self) -> str:
        """Return the proofs of all decided questions as a JSON list that `check.py` reads."""
        proofs = [certificate.to_json() for _, certificate in decided_among(self)]
        if not proofs:
            raise UndecidedError("There is no proof to write: nothing was decided. Allow more time.")
        return "[" + ",\n".join(proofs) + "]"

    def __iter__(self) -> Iterator[tuple[str, Answer]]:
        for (a, b), certificate in self.pairs.items():
            yield f"{a} against {b}", certificate
        for a, certificate in self.rest.items():
            yield f"{a} against the rest", certificate

    def __str__(self) -> str:
        named = dict.fromkeys([*(label for pair in self.pairs for label in pair), *self.rest])
        labels = [printable(label) for label in (self.rest or named)]
        cells = {(printable(a), printable(b)): MARKS[each.verdict] for (a, b), each in self.pairs.items()}
        rest = {printable(a): MARKS[each.verdict] for a, each in self.rest.items()}
        width = max([4, *map(len, labels)])
        rows = [["", *labels, "rest"]]
        for a in labels:
            own = [cells.get((a, b)) or cells.get((b, a)) or "·" for b in labels]
            rows.append([a, *own, rest.get(a, "·")])
        table = "\n".join("  ".join(cell.rjust(width) for cell in row) for row in rows)
        return f"{self.verdict.capitalize()}: {self.reason}\n{table}"


def decided_among(tables: ClassTables) -> ClassTables:
    """Return the tables without the undecided questions."""
    pairs = {labels: each for labels, each in tables.pairs.items() if each.verdict != "undecided"}
    return ClassTables(pairs, {label: each for label, each in tables.rest.items() if each.verdict != "undecided"})
