"""Whether the rows are separable: the certificate, its picture, and its check."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from rosenblatt.certify.certificate import Certificate, Separable
from rosenblatt.certify.class_tables import MARKS, ClassTables
from rosenblatt.exceptions import InputError, TrivialSeparationWarning, UndecidedError
from rosenblatt.reports.pictures import picture
from rosenblatt.reports.subject import PLANE, Subject

if TYPE_CHECKING:
    from markupsafe import Markup

    from rosenblatt.certify.time_limit import Clock

READ = 2 * 10**9
"""Values read by questions about several classes, beyond which none is asked."""
TABLED = 24
"""Classes whose pairs are shown in a table."""
EMBEDDED = 48 * 1024
"""Letters up to which a proof is part of the page."""


@dataclass(frozen=True)
class Proof:
    """What is told of separability.

    Attributes
    ----------
    verdict : str
        "separable", "inseparable", "undecided", or empty where nothing was asked.
    text : str
        The certificate in words.
    checked : str
        What the check of the proof said; empty where there is no proof.
    holds : bool
        Whether it holds of these rows.
    labels : list of str
        Several classes; empty of two.
    table : list of list of str
        Of several classes: yes, no or ? for each pair, and for each against the rest; empty of too many.
    picture : Markup or None
        Why the classes are separable, or why not.
    json : str
        The proof itself, if it is short; `size` is its length.
    notes : list of str
        What else is to be said.
    space : Proof or None
        The same in the space of a kernel.
    """

    verdict: str = ""
    text: str = ""
    checked: str = ""
    holds: bool = False
    labels: list[str] = field(default_factory=list)
    table: list[list[str]] = field(default_factory=list)
    picture: Markup | None = None
    json: str = ""
    size: int = 0
    notes: list[str] = field(default_factory=list)
    space: Proof | None = None

    @property
    def words(self) -> str:
        """What goes with the verdict, in a few words."""
        if self.verdict == "undecided":
            return "in the time allowed"
        if not self.holds:
            return "says a proof that does not hold"
        who = "every two classes" if self.verdict == "separable" else "some two classes"
        return f"{who if self.labels else 'by a hyperplane'}; proved, and checked"


def proof_of(subject: Subject, given: Certificate | None, clock: Clock) -> Proof:
    """Find out whether rows are separable, as far as time allows, or check the certificate given."""
    if given is not None:
        return _told(subject, given, [])
    space = _in_space(subject, clock) if hasattr(subject.model, "coordinates") else None
    if space is not None and subject.pairwise:
        return Proof(
            notes=["The rows are kernel values, so that the question is put in the kernel's space."], space=space
        )
    K = len(subject.batch.classes)
    if K > 2 and subject.batch.stored * (2 * K - 1) > READ:
        pairs = K * (K - 1) // 2
        note = f"Whether the {pairs:,} pairs of classes are separable was not asked: it would take too long."
        return Proof(notes=[note], space=space)
    notes: list[str] = []
    try:
        with _noted(notes):
            found = _certified(subject, clock)
    except InputError as error:
        return Proof(notes=[str(error)], space=space)
    return _told(subject, found, notes, space)


def _certified(subject: Subject, clock: Clock) -> Certificate:
    from rosenblatt.certify.separability import certify

    params = subject.model.get_params(deep=False)
    bias = bool(params.get("fit_intercept", True)) and params.get("bias", "unit") not in (None, 0)
    asked: dict[str, Any] = {"bias": bias, "guess": _guess(subject)}
    found = certify(subject.X, subject.y, time_limit=_left(clock), **asked)
    if isinstance(found, Separable) and any(found.w) and not subject.dear:
        left = _left(clock)
        some = None if left is None else left / 3  # the bounds want margins, too
        wider = certify(subject.X, subject.y, margin=True, time_limit=some, **asked)
        found = wider if isinstance(wider, Separable) else found
    return found


def _guess(subject: Subject) -> Any:
    """Return the model's own hyperplane, to be tried first, where the rows are of both its classes."""
    planes = subject.hyperplanes
    both = len(set(subject.batch.codes.tolist())) == len(subject.batch.classes) == 2
    return planes[0][0] if planes is not None and both and len(planes[0]) == 1 else None


def _told(subject: Subject, found: Certificate, notes: list[str], space: Proof | None = None) -> Proof:
    """Check a certificate, and put it in words, tables and pictures."""
    if subject.named is not None:
        found = found.renamed(subject.named)
    checked, holds = _checked(found, subject.X, subject.y)
    labels, table = _table(found) if isinstance(found, ClassTables) else ([], [])
    try:
        proof = found.to_json()
    except UndecidedError:
        proof = ""
    return Proof(
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
    """Check what was decided; what was not has nothing to check."""
    parts = [(f"{name}: ", each) for name, each in found] if isinstance(found, ClassTables) else [("", found)]
    decided = [(name, each) for name, each in parts if each.verdict != "undecided"]
    for name, each in decided:
        verified = each.verify(X, y)
        if not verified:
            return f"{name}{verified.reason}", False
    if not decided:
        return "", False
    if len(decided) == 1:
        return "The proof was checked on these rows, in exact arithmetic: it holds.", True
    return f"All {len(decided)} proofs were checked on these rows, in exact arithmetic: they hold.", True


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
        return None  # what proves it has no picture; the words stand for themselves


def _in_space(subject: Subject, clock: Clock) -> Proof | None:
    """Ask the same in the space of the model's kernel; a linear one is no other space."""
    if subject.hyperplanes is not None:
        return None
    notes: list[str] = []
    try:
        with _noted(notes):
            found = subject.model.certify(subject.X, subject.y, time_limit=_left(clock))
            Z = subject.model.coordinates(subject.X)
    except InputError as error:
        return Proof(notes=[str(error)])
    checked, holds = _checked(found, Z, subject.y)
    return Proof(found.verdict, str(found), checked, holds, notes=notes)


def _left(clock: Clock) -> float | None:
    return None if clock.left is None else max(clock.left, 0.0)


@contextmanager
def _noted(notes: list[str]) -> Iterator[None]:
    """Let what `certify` warns of be said on the page."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", TrivialSeparationWarning)
        yield
    for each in caught:
        if not issubclass(each.category, TrivialSeparationWarning):
            warnings.warn_explicit(each.message, each.category, each.filename, each.lineno)
        elif str(each.message) not in notes:
            notes.append(str(each.message))
