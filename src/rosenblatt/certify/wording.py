"""Certificates in words, with numbers where they are few."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from reprlib import repr as short

from rosenblatt.certify.certificate import Answer, Inseparable, Separable
from rosenblatt.certify.tie_verdicts import Overlap, Quasi

FEW = 8  # the most terms that are written out
LONG = 12  # the most digits that are written out
LISTED = 12  # the most row numbers that are listed
HALVES = dict(zip([Fraction(each) for each in ("1/2", "1/3", "2/3", "1/4", "3/4")], "½⅓⅔¼¾", strict=True))


def wording(certificate: Answer, *, first: int = 0) -> str:
    """Return a certificate in words; `first` is the number of the first row."""
    data = certificate.data
    other = short(data.negative) if data.negative is not None else "all others"
    lines = [f"{certificate.verdict.capitalize()}: {short(data.positive)} against {other}. {certificate.reason}"]
    if isinstance(certificate, Separable):
        lines += _plane(certificate)
    if isinstance(certificate, Inseparable):
        lines += _combination(certificate, first) + _ties(certificate, first)
    if certificate.chance is not None:
        chance = f"{certificate.chance:.3g}" if certificate.chance >= 1e-300 else "less than 1e-300"
        chance = "1" if certificate.chance == 1.0 else chance
        lines.append(f"Labels drawn at random would be separable with probability {chance} (Cover 1965).")
    return "\n".join(lines)


def number(value: Fraction) -> str:
    """Write a rational exactly if it is short, and else approximately.

    Examples
    --------
    >>> number(Fraction(1, 2)), number(Fraction(-7, 3)), number(Fraction(1, 3**40))
    ('½', '-7/3', '≈8.225e-20')
    """
    if value in HALVES:
        return HALVES[value]
    if max(abs(value.numerator), value.denominator) < 10**LONG:
        return str(value)
    try:
        return f"≈{float(value):.4g}"
    except OverflowError:
        return f"≈2^{abs(value.numerator).bit_length() - value.denominator.bit_length()}"


def listed(rows: Sequence[object]) -> str:
    """Write a list of row numbers or names, only the first of them if they are many."""
    more = f" and {len(rows) - LISTED} more" if len(rows) > LISTED else ""
    return ", ".join(map(str, rows[:LISTED])) + more


def _plane(certificate: Separable) -> list[str]:
    lines = []
    if _few(certificate.w):
        f = _function(certificate, certificate.w, certificate.b)
        lines.append(f"f(x) = {f} is positive for {short(certificate.data.positive)} and negative otherwise.")
    if certificate.margin is not None:
        low, high = certificate.margin
        square = number(certificate.margin.squared[0]) if certificate.margin.exact else "≈"
        square = "" if square.startswith("≈") else f"; exactly, γ² = {square}"
        lines.append(f"The largest margin γ lies between {low:.17g} and {high:.17g}{square}.")
    return lines


def _few(w: Sequence[Fraction]) -> bool:
    return sum(map(bool, w)) <= FEW


def _function(certificate: Answer, w: Sequence[Fraction], b: Fraction) -> str:
    """Write <w, x> + b."""
    terms = [(value, certificate.feature(j)) for j, value in enumerate(w) if value]
    if b or not terms:
        terms.append((b, ""))
    written = ""
    for value, name in terms:
        size = abs(value)
        term = name if size == 1 and name else f"{number(size)}{'·' * bool(name)}{name}"
        sign = ("−" if value < 0 else "") if not written else (" − " if value < 0 else " + ")
        written += sign + term
    return written


def _combination(certificate: Inseparable, first: int) -> list[str]:
    rows = listed([row + first for row in certificate.support])
    points = certificate.points
    few = len(certificate.support) <= FEW and certificate.data.features <= FEW
    if points is None or not few:
        return [f"Its rows are {rows}."]
    if certificate.bias and len(points) == 2:
        return [f"Rows {rows} are equal: {_point(points[0][0])}."]
    sides: dict[int, list[str]] = {1: [], -1: []}
    for weight, (values, side) in zip(certificate.weights, points, strict=True):
        share = "" if weight == 1 else f"{number(weight)}·"
        sides[side].append(share + _point(values))
    if certificate.bias:
        return [" + ".join(sides[-1]) + " = " + " + ".join(sides[1])]
    return [" − ".join([" + ".join(sides[1]) or "0", *sides[-1]]) + " = 0"]


def _point(values: Sequence[float]) -> str:
    return "(" + ",".join(f"{value:g}" for value in values) + ")"


def _ties(certificate: Inseparable, first: int) -> list[str]:
    ties = certificate.ties
    if isinstance(ties, Overlap):
        return ["Even allowing rows exactly on the plane, none separates the classes."]
    if not isinstance(ties, Quasi):
        why = (
            "was not determined within the budget; ties=True has no limit"
            if certificate.ties_open
            else "is not known"
        )
        return [f"Whether a plane separates the classes if rows may lie on it {why}."]
    rows = "" if ties.rows is None else f" (rows {listed([row + first for row in ties.rows])})"
    plane = f" {_function(certificate, ties.w, ties.b)} = 0" if _few(ties.w) else ""
    features = [certificate.feature(j) for j in ties.features]
    return [
        f"Quasi-separated: the hyperplane{plane} has no row on its wrong side, {ties.strict} strictly on their "
        f"correct side{rows}, and the others on it.",
        f"Logistic regression diverges along it; the features involved are {listed(features)}.",
    ]
