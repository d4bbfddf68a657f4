"""Bounds as values, and a table of them to read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from math import inf
from typing import Any, Literal

Interval = tuple[float, float]
Limits = Literal["mistakes", "sweeps", "error"]
DIGITS = 6
SHORT = 1000  # bits of a rational that is worth writing out


@dataclass(frozen=True, eq=False)
class Bound:
    """One theorem, evaluated.

    Attributes
    ----------
    name, spec, formula : str
        What it is called here, where the specification has it, and what it says.
    value : float
        At least the true value: rounded up.
    rational : Fraction or None
        What `value` was rounded from, where that is a rational.
    limits : {"mistakes", "sweeps", "error"}
        What it bounds.
    rule : str
        The training rule that it speaks of.
    of : str
        The problem whose margin, or other quantities, it uses.
    uses : dict
        These quantities, each between two floats.
    applies : bool
        Whether its conditions hold; `reason` says which does not.
    note : str
        What it takes for granted and the data cannot show.
    observed : float or None
        What the model did, where the bound speaks of that.
    """

    name: str
    spec: str
    formula: str
    value: float = inf
    rational: Fraction | None = field(default=None, repr=False)
    limits: Limits = "mistakes"
    rule: str = ""
    of: str = ""
    uses: Mapping[str, Interval] = field(default_factory=dict)
    applies: bool = True
    reason: str = ""
    note: str = ""
    observed: float | None = None

    def without(self, reason: str) -> Bound:
        """Return the bound as one that does not apply; the first reason stays."""
        return replace(self, applies=False, reason=self.reason or reason, observed=None)

    @property
    def at_most(self) -> str:
        """The value as text, rounded up."""
        return _rounded(self.value, ROUND_CEILING)

    @property
    def seen(self) -> str:
        """What the model did, as text; empty where the bound does not speak of that."""
        return _seen(self.observed)

    @property
    def quantities(self) -> str:
        """What it uses, as text."""
        return _with(self)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values; a value that is not finite is None."""
        short = self.rational is not None and self.rational.numerator.bit_length() < SHORT
        return {
            "name": self.name,
            "spec": self.spec,
            "formula": self.formula,
            "value": None if self.value == inf else self.value,
            "rational": str(self.rational) if short else None,
            "limits": self.limits,
            "rule": self.rule,
            "of": self.of,
            "uses": {name: list(interval) for name, interval in self.uses.items()},
            "applies": self.applies,
            "reason": self.reason,
            "note": self.note,
            "observed": self.observed,
        }


class Bounds(Mapping[str, Bound]):
    """All bounds, by name; printing them gives a table.

    Parameters
    ----------
    bounds : sequence of Bound
        In the order they are listed.
    separable : bool
        Whether a hyperplane separates the rows.
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
        """Return plain values, as JSON can hold them."""
        return {"separable": self.separable, "bounds": [each.to_dict() for each in self.values()]}

    def __str__(self) -> str:
        head = ("bound", "", "at most", "observed", "rule", "with")
        lines = [
            (each.name, each.spec, each.at_most, each.seen, each.rule, each.quantities)
            for each in self.values()
            if each.applies
        ]
        widths = [max(map(len, column)) for column in zip(head, *lines, strict=True)]
        text = ["  ".join(map(str.ljust, line, widths)).rstrip() for line in (head, *lines)]
        others = [f"{each.name} ({each.spec}): {each.reason}" for each in self.values() if not each.applies]
        granted = [f"{each.name}: {each.note}" for each in self.values() if each.applies and each.note]
        parts = [
            text,
            ["Provided that", *granted] if granted else [],
            ["Not applicable", *others] if others else [],
        ]
        return "\n\n".join("\n".join(part) for part in parts if part)


def _rounded(value: float, towards: str) -> str:
    if value in (inf, -inf):
        return str(value)
    short = Context(prec=DIGITS, rounding=towards).create_decimal(Decimal(value))
    return f"{short.normalize():g}" if abs(short.adjusted()) > DIGITS else f"{short.normalize():f}"


def _seen(value: float | None) -> str:
    if value is None:
        return ""
    return str(int(value)) if value == int(value) else f"{value:g}"


def _with(bound: Bound) -> str:
    quantities = []
    for name, (low, high) in bound.uses.items():
        texts = [_rounded(low, ROUND_FLOOR), _rounded(high, ROUND_CEILING)]
        near = high - low <= 10.0**-DIGITS * abs(high)
        quantities.append(f"{name} = {low:.{DIGITS}g}" if near else f"{name} in [{', '.join(texts)}]")
    return ", ".join(quantities) + (f" of {bound.of}" if bound.of and quantities else "")
