"""Whether the rows are separable: the certificate, its picture and its check."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from rosenblatt.certify.certificate import Certificate, Separable
from rosenblatt.certify.class_tables import MARKS, ClassTables, decided_among
from rosenblatt.exceptions import InputError, TrivialSeparationWarning, UndecidedError
from rosenblatt.reports.pictures import picture
from rosenblatt.reports.subject import PLANE, Subject

if TYPE_CHECKING:
    from markupsafe import Markup

    from rosenblatt.certify.time_limit import Clock

READ = 2 * 10**9
"""Several classes are not certified if that would read more values than this."""
TABLED = 24
"""Up to so many classes the page has a table of their pairs."""
EMBEDDED = 48 * 1024
"""A proof of up to so many letters is part of the page."""


@dataclass(frozen=True)
class Separability:
    """The section about separability."""

    verdict: str = ""  # "separable", "inseparable", "undecided", or empty if nothing was certified
    text: str = ""  # the certificate in words
    checked: str = ""  # the result of the check of the proof; empty without a proof
    holds: bool = False  # whether the proof holds for these rows
    labels: list[str] = field(default_factory=list)  # the classes, if there are more than two
    # for several classes: yes, no or ? for each pair, and for each against the rest; empty for too many
    table: list[list[str]] = field(default_factory=list)
    picture: Markup | None = None  # why the classes are separable, or why not
    json: str = ""  # the proof, if it is short; `size` is its length
    size: int = 0
    notes: list[str] = field(default_factory=list)  # further remarks
    space: Separability | None = None  # the same in the space of a kernel

    @property
    def words(self) -> str:
        """The words after the verdict."""
        if self.verdict == "undecided":
            return "in the time allowed"
        if not self.holds:
            return "says a proof that does not hold"
        who = "every two classes" if self.verdict == "separable" else "some two classes"
        return f"{who if self.labels else 'by a hyperplane'}; proved, and checked"


def separability_of(subject: Subject, given: Certificate | None, clock: Clock) -> Separability:
    """Decide whether the rows are separable, as far as time allows, or check the given certificate."""
    if given is not None:
        return _told(subject, given, [])
    space = _in_space(subject, clock) if hasattr(subject.model, "coordinates") else None
    if space is not None and subject.pairwise:
        note = "The rows are kernel values, so separability is decided in the kernel's space."
        return Separability(notes=[note], space=space)
    K = len(subject.batch.classes)
    if K > 2 and subject.batch.stored * (2 * K - 1) > READ:
        pairs = K * (K - 1) // 2
        note = f"Whether the {pairs:,} pairs of classes are separable was not decided: it would take too long."
        return Separability(notes=[note], space=space)
    notes: list[str] = []
    try:
        with _noted(notes):
            found = _certified(subject, clock)
    except InputError as error:
        return Separability(notes=[str(error)], space=space)
    return _told(subject, found, notes, space)


def _certified(subject: Subject, clock: Clock) -> Certificate:
    from rosenblatt.certify.separability import certify

    params = subject.model.get_params(deep=False)
    bias = bool(params.get("fit_intercept", True)) and params.get("bias", "unit") not in (None, 0)
    asked: dict[str, Any] = {"bias": bias, "guess": _guess(subject)}
    found = certify(subject.X, subject.y, time_limit=_left(clock), **asked)
    if isinstance(found, Separable) and any(found.w) and not subject.dear:
        left = _left(clock)
        some = None if left is None else left / 3  # the bounds need time for margins as well
        wider = certify(subject.X, subject.y, margin=True, time_limit=some, **asked)
        found = wider if isinstance(wider, Separable) else found
    return found


def _guess(subject: Subject) -> Any:
    """Return the hyperplane of the model, to be tried first, if the rows have both classes."""
    planes = subject.hyperplanes
    both = len(set(subject.batch.codes.tolist())) == len(subject.batch.classes) == 2
    return planes[0][0] if planes is not None and both and len(planes[0]) == 1 else None


def _told(
    subject: Subject, found: Certificate, notes: list[str], space: Separability | None = None
) -> Separability:
    """Check a certificate, and present it in words, tables and pictures."""
    if subject.named is not None:
        found = found.renamed(subject.named)
    checked, holds = _checked(found, subject.X, subject.y)
    labels, table = _table(found) if isinstance(found, ClassTables) else ([], [])
    try:
        proof = found.to_json()
    except UndecidedError:
        proof = ""
    return Separability(
        verdict=found.verdict,
        text=f"{found.verdict.capitalize()}: {found.reason}" if isinstance(found, ClassTables) else str(found),
        checked=checked,
        holds=holds,
        labels=labels,
        table=table,
        picture=_picture(subject, found) if holds else None,
        json=proof if len(proof) <= EMBEDDED else "",
        size=len(proof),
        notes=notes,
        space=space,
    )


def _checked(found: Certificate, X: Any, y: Any) -> tuple[str, bool]:
    """Check every proof; return the result in words, and whether all hold."""
    decided = decided_among(found) if isinstance(found, ClassTables) else found
    count = len(list(decided)) if isinstance(decided, ClassTables) else int(found.verdict != "undecided")
    if not count:
        return "", False
    verified = decided.verify(X, y)
    if not verified:
        return verified.reason, False
    if count == 1:
        return "The proof was checked on these rows, in exact arithmetic: it holds.", True
    return f"All {count} proofs were checked on these rows, in exact arithmetic: they hold.", True


def _table(tables: ClassTables) -> tuple[list[str], list[list[str]]]:
    labels = [str(label) for label in tables.rest]
    if len(labels) > TABLED:
        return labels, []
    cells = {}
    for (a, b), each in tables.pairs.items():
        cells[str(a), str(b)] = cells[str(b), str(a)] = MARKS[each.verdict]
    rest = {str(label): MARKS[each.verdict] for label, each in tables.rest.items()}
    return labels, [[*(cells.get((a, b), "") for b in labels), rest[a]] for a in labels]


def _picture(subject: Subject, found: Certificate) -> Markup | None:
    from rosenblatt.plot import certificate, style

    if isinstance(found, ClassTables):
        return None
    names = None
    if subject.batch.n_features <= PLANE and subject.named is not None:
        names = [style.plain(name) for name in subject.named]
    size = (6.8, 4.0 if subject.batch.n_features == PLANE else 2.4)
    try:
        return picture(
            lambda ax: certificate(found, subject.X, subject.y, ax=ax, feature_names=names),
            size,
            "proof",
            f"Why the classes are {found.verdict}",
        )
    except InputError:
        return None  # this proof has no picture


def _in_space(subject: Subject, clock: Clock) -> Separability | None:
    """Decide the same in the space of the model's kernel, unless that is linear."""
    if subject.hyperplanes is not None:
        return None
    notes: list[str] = []
    try:
        with _noted(notes):
            found = subject.model.certify(subject.X, subject.y, time_limit=_left(clock))
            Z = subject.model.coordinates(subject.X)
    except InputError as error:
        return Separability(notes=[str(error)])
    checked, holds = _checked(found, Z, subject.y)
    return Separability(found.verdict, str(found), checked, holds, notes=notes)


def _left(clock: Clock) -> float | None:
    return None if clock.left is None else max(clock.left, 0.0)


@contextmanager
def _noted(notes: list[str]) -> Iterator[None]:
    """Collect the warnings of `certify` as notes of the page."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", TrivialSeparationWarning)
        yield
    for each in caught:
        if not issubclass(each.category, TrivialSeparationWarning):
            warnings.warn_explicit(each.message, each.category, each.filename, each.lineno)
        elif str(each.message) not in notes:
            notes.append(str(each.message))
