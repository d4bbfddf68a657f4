"""Certificates for more than two classes: every pair of them, and each against the rest."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, NamedTuple, Self

from rosenblatt.certify.certificate import Answer, Certificate, Verification
from rosenblatt.certify.check import label_key
from rosenblatt.certify.class_rows import ClassRows
from rosenblatt.certify.verify import first_refuted
from rosenblatt.escaping import html_table, printable
from rosenblatt.exceptions import UndecidedError

MAX_NAMED = 5  # the most pairs, and classes, that are named in a sentence
MARKS = {"separable": "yes", "inseparable": "no", "undecided": "?"}


class Verdicts(NamedTuple):
    """The verdicts about pairs of classes, and about classes against all others.

    A question about the labels that has no verdict is undecided. Without a single verdict about pairs, or about
    classes against all others, nothing is said of them.
    """

    pairs: Mapping[tuple[Hashable, Hashable], str]
    rest: Mapping[Hashable, str]
    labels: Sequence[Hashable]

    @classmethod
    def of(cls, proofs: Sequence[Mapping[str, Any]], labels: Sequence[object]) -> Verdicts:
        """Return what proofs claim about classes with these labels, which proofs hold as text."""
        texts = {label_key(text): text for text in map(str, labels)}
        pairs: dict[tuple[Hashable, Hashable], str] = {}
        rest: dict[Hashable, str] = {}
        for proof in proofs:
            a, b = (proof["data"][side] for side in ("positive", "negative"))
            a, b = texts.get(label_key(a), a), None if b is None else texts.get(label_key(b), b)
            if b is None:
                rest[a] = proof["verdict"]
            else:
                pairs[a, b] = proof["verdict"]
        return cls(pairs, rest, list(texts.values()))

    @property
    def n_pairs(self) -> int:
        """The number of pairs of classes."""
        return len(self.labels) * (len(self.labels) - 1) // 2

    @property
    def verdict(self) -> str:
        """The verdict of the pairs, or of all classes if there are no pairs."""
        found = list((self.pairs or self.rest).values())
        if "inseparable" in found:
            return "inseparable"
        missing = len(found) < (self.n_pairs if self.pairs else len(self.labels))
        return "undecided" if missing or "undecided" in found else "separable"

    @property
    def reason(self) -> str:
        """The reason for the verdict, in one sentence.

        Examples
        --------
        >>> three = {("a", "b"): "separable", ("a", "c"): "separable", ("b", "c"): "separable"}
        >>> Verdicts(three, {"a": "separable", "b": "inseparable", "c": "separable"}, "abc").reason
        'Every pair of classes is separable; class b is not separable from the rest.'
        """
        said = "; ".join([*self._about_pairs(), *self._about_rest()])
        return f"{said[0].upper()}{said[1:]}."

    def _about_pairs(self) -> Iterator[str]:
        yes, no, total = *_sorted(self.pairs), self.n_pairs
        if not self.pairs:
            return
        if len(yes) == total:
            yield "every pair of classes is separable"
        elif len(no) == total:
            yield "no pair of classes is separable"
        elif no:
            named = ", ".join(f"{printable(a)} and {printable(b)}" for a, b in no[:MAX_NAMED])
            named += ", …" if len(no) > MAX_NAMED else ""
            yield f"{len(no)} of {total} pairs of classes {_are(no)} not separable ({named})"
        if unknown := total - len(yes) - len(no):
            many = f"all {total}" if unknown == total else f"{unknown} of {total}"
            yield f"{many} pairs of classes {_are(range(unknown))} undecided"

    def _about_rest(self) -> Iterator[str]:
        yes, no = _sorted(self.rest)
        unknown = [label for label in self.labels if label not in {*yes, *no}]
        if not self.rest:
            return
        if len(yes) == len(self.labels):
            yield "each class is separable from the rest"
        elif len(no) == len(self.labels):
            yield "no class is separable from the rest"
        elif no:
            yield f"{_classes(no, len(self.labels))} {_are(no)} not separable from the rest"
        if unknown:
            which = f"{_classes(unknown, len(self.labels))} {_are(unknown)}"
            which = "any class is" if len(unknown) == len(self.labels) else which
            yield f"whether {which} separable from the rest is undecided"


def _sorted(verdicts: Mapping[Any, str]) -> tuple[list[Any], list[Any]]:
    """Return what is separable, and what is not."""
    yes, no = ([what for what, each in verdicts.items() if each == said] for said in ("separable", "inseparable"))
    return yes, no


def _are(several: Sequence[Any]) -> str:
    return "is" if len(several) == 1 else "are"


def _classes(labels: Sequence[Hashable], n_classes: int) -> str:
    """Return classes by name, or how many they are if they are many."""
    names = [printable(label) for label in labels]
    if len(names) == 1:
        return f"class {names[0]}"
    if len(names) > MAX_NAMED:
        return f"{len(names)} of {n_classes} classes"
    return f"classes {', '.join(names[:-1])} and {names[-1]}"


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
        pairs = {labels: each.verdict for labels, each in self.pairs.items()}
        return Verdicts(pairs, {label: each.verdict for label, each in self.rest.items()}, self._labels)

    @property
    def _labels(self) -> list[Hashable]:
        """The labels that questions are about."""
        return list(dict.fromkeys([*self.rest, *(label for pair in self.pairs for label in pair)]))

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
        sides = [*self.pairs, *((a, None) for a in self.rest)]
        for (a, b), (name, each) in zip(sides, named, strict=True):
            if (str(a), None if b is None else str(b)) != (each.data.positive, each.data.negative):
                return Verification(False, f"{name}: This is a proof about other classes.")
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
        rows = self._rows()
        width = max([4, *map(len, rows[0])])
        table = "\n".join("  ".join(cell.rjust(width) for cell in row) for row in rows)
        return "\n".join([self.reason, table, *self._why()])

    def _html_parts(self) -> tuple[object, ...]:
        head, *rows = self._rows()
        return self.verdict, self.reason, html_table(head, rows), *self._why()

    def _rows(self) -> list[list[str]]:
        """Return the verdicts as a table: each class against each other one, and against the rest."""
        labels = [printable(label) for label in self._labels]
        cells = {(printable(a), printable(b)): MARKS[each.verdict] for (a, b), each in self.pairs.items()}
        rest = {printable(a): MARKS[each.verdict] for a, each in self.rest.items()}
        rows = [["", *labels, "rest"]]
        for a in labels:
            own = [cells.get((a, b)) or cells.get((b, a)) or "·" for b in labels]
            rows.append([a, *own, rest.get(a, "·")])
        return rows

    def _why(self) -> list[str]:
        """Say why the first undecided question is so."""
        found = (f"{name} is undecided: {each.reason}" for name, each in self if each.verdict == "undecided")
        return list(islice(found, 1))


def decided_among(tables: ClassTables) -> ClassTables:
    """Return the tables without the undecided questions."""
    pairs = {labels: each for labels, each in tables.pairs.items() if each.verdict != "undecided"}
    return ClassTables(pairs, {label: each for label, each in tables.rest.items() if each.verdict != "undecided"})
