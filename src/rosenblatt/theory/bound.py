"""One theorem, evaluated (`Bound`), and the table of all of them (`Bounds`)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from math import inf
from typing import Any, Literal

from rosenblatt.escaping import ShowsText, html_table

Interval = tuple[float, float]
SHOWN_DIGITS = 6
HEAD = ("bound", "author", "at most", "observed", "rule", "with")
TITLES = {
    "radius": "margin and radius",
    "radius_padded": "margin, rows with R as a feature",
    "unit_norm": "margin, rows of length 1 at most",
    "origin": "margin, line through the origin",
    "padded": "margin, bias as a feature",
    "offset": "margin, bias apart",
    "start": "margin, start and step",
    "passive": "margin, passive-aggressive",
    "p_norm": "margin in the p-norm",
    "mixed": "margin, mixed machines",
    "sweeps": "passes",
    "a_priori": "least losses of all visits",
    "rounds_last": "losses of the last weights",
    "rounds_soft": "losses at the soft margin",
    "rounds_widest": "losses at the widest margin",
    "rounds_pocket": "losses of the pocket",
    "passive_losses": "losses, passive-aggressive",
    "lifted": "margin of lifted rows",
}
"""What a bound is computed from, in words."""
MAX_WRITTEN_BITS = 1000  # a rational of fewer bits is written out


@dataclass(frozen=True, eq=False)
class Bound:
    """One theorem, evaluated.

    Attributes
    ----------
    name, author, formula : str
        Its name here, who stated it, and the statement.
    value : float
        The bound, rounded up.
    rational : Fraction or None
        The exact value that was rounded, if it is rational.
    limits : {"mistakes", "sweeps", "error"}
        The quantity that is bounded.
    rule : str
        The training rule that the theorem is about.
    of : str
        The problem whose margin or other quantities are used.
    uses : dict
        These quantities, each between two floats.
    applies : bool
        Whether the conditions of the theorem hold.
    reason : str
        The condition that does not hold.
    note : str
        Assumptions that the data cannot confirm.
    observed : float or None
        What the model did, if the theorem is about its rule.

    `vacuous` says whether the bound is on an error rate and not below 1, so that it says nothing.
    """

    name: str
    author: str
    formula: str
    value: float = inf
    rational: Fraction | None = field(default=None, repr=False)
    limits: Literal["mistakes", "sweeps", "error"] = "mistakes"
    rule: str = ""
    of: str = ""
    uses: Mapping[str, Interval] = field(default_factory=dict)
    applies: bool = True
    reason: str = ""
    note: str = ""
    observed: float | None = None

    def without(self, reason: str) -> Bound:
        """Return the bound as one that does not apply, for a reason; an earlier reason stays."""
        return replace(self, applies=False, reason=self.reason or reason, observed=None)

    @property
    def title(self) -> str:
        """What the bound is computed from, in words."""
        if self.name == "rounds_widest" and "given" in self.of:
            return "losses of the given hyperplane"
        return TITLES.get(self.name, self.name.replace("_", " "))

    @property
    def vacuous(self) -> bool:
        """Whether the bound says nothing: no error rate is above 1."""
        return self.limits == "error" and self.value >= 1.0

    @property
    def at_most(self) -> str:
        """The value as text, rounded up; bounds of 1 and more on an error rate are marked as vacuous."""
        return _rounded(self.value, ROUND_CEILING) + " (vacuous)" * self.vacuous

    @property
    def seen(self) -> str:
        """What the model did, as text; empty if the theorem is not about it."""
        if self.observed is None:
            return ""
        return str(int(self.observed)) if self.observed == int(self.observed) else f"{self.observed:g}"

    @property
    def quantities(self) -> str:
        """The quantities used, as text."""
        quantities = []
        for name, (low, high) in self.uses.items():
            texts = [_rounded(low, ROUND_FLOOR), _rounded(high, ROUND_CEILING)]
            near = high - low <= 10.0**-SHOWN_DIGITS * abs(high)
            quantities.append(f"{name} = {low:.{SHOWN_DIGITS}g}" if near else f"{name} in [{', '.join(texts)}]")
        return ", ".join(quantities) + (f" of {self.of}" if self.of and quantities else "")

    def to_dict(self) -> dict[str, Any]:
        """Return plain values; a value that is not finite is None."""
        short = self.rational is not None and self.rational.numerator.bit_length() < MAX_WRITTEN_BITS
        return vars(self) | {
            "value": None if self.value == inf else self.value,
            "rational": str(self.rational) if short else None,
            "vacuous": self.vacuous,
            "uses": {name: list(interval) for name, interval in self.uses.items()},
        }


class Bounds(ShowsText, Mapping[str, Bound]):
    """All bounds, by name, in the order of a list; `separable` says whether a hyperplane separates the rows.

    Printing them shows a table.
    """

    def __init__(self, bounds: list[Bound], *, separable: bool) -> None:
        self._bounds = {each.name: each for each in bounds}
        self.separable = separable

    def __getitem__(self, name: str) -> Bound:
        return self._bounds[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._bounds)

    def __len__(self) -> int:
        return len(self._bounds)

    def __repr__(self) -> str:
        return f"<Bounds: {', '.join(self)}>"

    def to_dict(self) -> dict[str, Any]:
        """Return plain values that JSON can hold."""
        return {"separable": self.separable, "bounds": [each.to_dict() for each in self.values()]}

    def __str__(self) -> str:
        lines = self._lines()
        widths = [max(map(len, column)) for column in zip(HEAD, *lines, strict=True)]
        text = ["  ".join(map(str.ljust, line, widths)).rstrip() for line in (HEAD, *lines)]
        return "\n\n".join("\n".join(part) for part in (text, *self._notes()))

    def _html_parts(self) -> tuple[object, ...]:
        notes = [line for part in self._notes() for line in part]
        return f"{len(self._lines())} bounds", html_table(HEAD, self._lines()), *notes

    def _lines(self) -> list[tuple[str, ...]]:
        """Return the bounds that apply, in the columns of HEAD."""
        return [
            (each.name, each.author, each.at_most, each.seen, each.rule, each.quantities)
            for each in self.values()
            if each.applies
        ]

    def _notes(self) -> list[list[str]]:
        """Return the assumptions, and the bounds that do not apply."""
        others = [f"{each.name} ({each.author}): {each.reason}" for each in self.values() if not each.applies]
        granted = [f"{each.name}: {each.note}" for each in self.values() if each.applies and each.note]
        parts = [["Assumptions", *granted] if granted else [], ["Not applicable", *others] if others else []]
        return [part for part in parts if part]


def _rounded(value: float, towards: str) -> str:
    if value in (inf, -inf):
        return str(value)
    short = Context(prec=SHOWN_DIGITS, rounding=towards).create_decimal(Decimal(value))
    return f"{short.normalize():g}" if abs(short.adjusted()) > SHOWN_DIGITS else f"{short.normalize():f}"
