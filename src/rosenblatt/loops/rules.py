"""The update rule as a value.

The perceptron's rules are one sentence: *if y f falls short of the margin, add η y x to w and η y β to b.* They
differ in five numbers, so a rule is those five numbers, and no loop asks which rule it runs:

===============  =======================  ==============================================
radius           ``beta = R**2``          the bias moves with the radius R of the data
unit             ``beta = 1``             the bias is the weight of a constant feature
no bias          ``beta = 0``             the hyperplane passes through the origin
ties             ``tie_plus, tie_minus``  the share of a step that is taken at y f = margin
===============  =======================  ==============================================

Rules of other kinds have numbers of their own after these five, and register their steps: see
`rosenblatt.loops.steps`. A rule that keeps more than weights declares its memory, next to it: a `Memory`. One with
a field `margin_minus` has another margin for y = −1.

A penalty and its effect on weights as values, which need no compiled loop; `decay` trains with them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Literal, NamedTuple, Self, TypeAlias, TypeVar

import numpy as np

from rosenblatt.exceptions import Given, ParameterError
from rosenblatt.typing import Floats, Ints

PLAIN: set[type] = set()
"""Rules by which each update is a mistake, and each step has the same length."""
T = TypeVar("T", bound=type)


def plain(rule: T) -> T:
    """Declare that each update of a rule is a mistake, and that each step has the same length."""
    PLAIN.add(rule)
    return rule


class Slot(NamedTuple):
    """An array of the shape of the weights, as a memory declares it."""

    fill: float = 0.0  # the value that belongs to a weight that nothing has moved
    odd: bool = True  # whether training with the opposite labels leads to the opposite values


_LAYOUTS: dict[str, list[tuple[str, Slot | None]]] = {}
MEMORIES: dict[str, type[Memory]] = {}
"""The memories that rules and penalties have declared, by name."""


@dataclass(frozen=True, eq=False)
class Memory:
    """What training keeps besides weights and their sums: arrays and numbers that a rule or a penalty asks for.

    A subclass is a frozen dataclass, whose fields have the names of its parts in files. States copy, grow, sort
    and store memories by what they declare, and know nothing else about them.
    """

    name: ClassVar[str]
    slots: ClassVar[Mapping[str, Slot]]  # the fields of the shape of the weights; others belong to all of them
    least: ClassVar[Mapping[str, float]] = {}  # the fields that are numbers, each with its least value
    exported: ClassVar[Mapping[str, str]] = {}  # the names of fields in files of traces, where they are others
    rule: ClassVar[type | None] = None  # whose updates move this memory with the weights
    divides: ClassVar[bool] = True  # whether several threads can train some machines each

    def __init_subclass__(cls) -> None:
        known = MEMORIES.get(cls.name)
        if known is not None and (known.__module__, known.__qualname__) != (cls.__module__, cls.__qualname__):
            told = f"The name {cls.name!r} of {cls.__name__} is that of {known.__name__}. Choose another."
            raise ParameterError(told, parameter="name", value=cls.name)
        MEMORIES[cls.name] = cls

    @classmethod
    def begin(cls, rule: Any, w: Floats, n_features: int) -> Self:
        """Return the memory from which a rule goes on with weights that another one trained, or with zeros."""
        raise NotImplementedError

    def suits(self, rule: Any) -> bool:
        """Return whether a rule can go on with this memory."""
        return True

    def anew(self, w: Floats, n_features: int) -> Self:
        """Return the memory that goes with other weights."""
        raise NotImplementedError

    def rule_of_loops(self, rule: Any) -> Any:
        """Return a rule as the loops read it, with this memory."""
        return rule

    def rule_of_replay(self, beta: float) -> Any:
        """Return all of the rule that recorded steps depend on."""
        raise NotImplementedError

    def weights(self, w: Floats) -> Floats:
        """Return the weights that stored ones stand for."""
        return w

    def fault(self) -> str | None:
        """Return why this memory from a file is not safe for the loops, if it is not."""
        return None

    # By what is declared

    @classmethod
    def layout(cls) -> list[tuple[str, Slot | None]]:
        """Return the fields in order, with the slots of those of the shape of the weights."""
        if cls.name not in _LAYOUTS:
            _LAYOUTS[cls.name] = [(each.name, cls.slots.get(each.name)) for each in fields(cls)]
        return _LAYOUTS[cls.name]

    @property
    def parts(self) -> dict[str, Any]:
        """All fields."""
        return {each.name: getattr(self, each.name) for each in fields(self)}

    @property
    def shared(self) -> list[Floats]:
        """The arrays that belong to all weights."""
        return [getattr(self, name) for name, slot in self.layout() if slot is None and name not in self.least]

    @property
    def shaped(self) -> list[Floats]:
        """The arrays of the shape of the weights."""
        return [getattr(self, name) for name in self.slots]

    @property
    def moved(self) -> list[Floats]:
        """The same arrays, with bits of zero for weights that nothing has moved."""
        return [_without(getattr(self, name), slot.fill) for name, slot in self.slots.items()]

    def each(self, change: Callable[[Floats], Floats], even: Callable[[Floats], Floats] | None = None) -> Self:
        """Return a copy whose features or machines are chosen as `change` chooses weights.

        New weights have the bits of zero, and get the value that is declared for them. Values that are the same
        for opposite labels are changed by `even`, if it is given.
        """

        def changed(name: str, slot: Slot | None) -> Any:
            value = getattr(self, name)
            if slot is None:
                return value if name in self.least else value.copy()
            chosen = change if slot.odd or even is None else even
            return _without(chosen(_without(value, slot.fill)), slot.fill)

        return type(self)(*(changed(name, slot) for name, slot in self.layout()))

    def oriented_by(self, orient: Callable[[Floats], Floats]) -> Self:
        """Return the same values in another memory order; arrays that have it already are not copied."""
        turned = {name: orient(array) for name, array in zip(self.slots, self.shaped, strict=True)}
        same = all(array is getattr(self, name) for name, array in turned.items())
        return self if same else type(self)(**self.parts | turned)

    def become(self, other: Memory) -> None:
        """Copy the values of another memory of this kind and shape."""
        for name, _ in self.layout():
            if name not in self.least:
                np.copyto(getattr(self, name), getattr(other, name))

    def take(self, other: Memory, machines: slice | Ints) -> None:
        """Copy the values of another memory of this kind, whose machines these are."""
        for own, value in zip(self.shaped, other.shaped, strict=True):
            own.T[..., machines] = value.T
        for own, value in zip(self.shared, other.shared, strict=True):
            np.copyto(own, value)


def memory_of(rule: object) -> type[Memory] | None:
    """Return the memory that a rule, or a kind of rule, asks for."""
    kind = rule if isinstance(rule, type) else type(rule)
    return next((memory for memory in MEMORIES.values() if memory.rule is kind), None)


def _without(values: Floats, fill: float) -> Floats:
    """Take the bits of a number out of those of all values, or put them back."""
    if fill == 0.0:
        return values
    return (values.view(np.int64) ^ np.float64(fill).view(np.int64)).view(np.float64)


class Penalty(NamedTuple):
    """Every visit multiplies each weight by `keep` and moves it towards zero by `rent`."""

    keep: float
    rent: float


class Shrunk(NamedTuple):
    """How far stored weights have shrunk: `sums` holds scale and total, `paid` has the shape of the weights."""

    sums: Floats
    paid: Floats

    def weights(self, w: Floats) -> Floats:
        """Return the weights that stored ones stand for: scale · soft(w, total − paid), and the same bias."""
        scale, total = self.sums
        v, rent = w[..., :-1], total - self.paid[..., :-1]
        weights = w.copy(order="K")
        weights[..., :-1] = scale * (np.sign(v) * np.maximum(np.abs(v) - rent, 0.0))
        return weights


@dataclass(frozen=True, eq=False)
class Shrinking(Memory):
    """How far the weights have shrunk since they were written; see `rosenblatt.loops.decay`."""

    name = "shrunk"
    slots: ClassVar[Mapping[str, Slot]] = {"paid": Slot(odd=False)}
    exported: ClassVar[Mapping[str, str]] = {"sums": "start_sums", "paid": "start_paid"}

    sums: Floats
    paid: Floats

    @classmethod
    def none_of(cls, w: Floats) -> Shrinking:
        """Return that weights have not shrunk."""
        return cls(np.array([1.0, 0.0]), np.zeros_like(w))

    @property
    def machines(self) -> Shrunk:
        """What the loops read, one row for each machine: a view, through which training changes it."""
        return Shrunk(self.sums, np.atleast_2d(self.paid))

    def weights(self, w: Floats) -> Floats:
        """Return the weights that stored ones stand for."""
        return Shrunk(self.sums, self.paid).weights(w)

    def fault(self) -> str | None:
        """Return why this memory is not safe for the loops, which read the two sums without a check."""
        sound = _is_pair(self.sums) and bool(np.isfinite(self.sums).all()) and self.sums[0] > 0.0
        return None if sound else "the state of the penalty is invalid"


class Mean(NamedTuple):
    """The sums of an average as the loops with a penalty read them, one row of `u` for each machine."""

    u: Floats
    sums: Floats


@dataclass(frozen=True, eq=False)
class Averaging(Memory):
    """When an average begins, and the sums of one whose weights shrink; see `rosenblatt.loops.decay`.

    An average over all visits without a penalty needs none of it.
    """

    name = "averaging"
    slots: ClassVar[Mapping[str, Slot]] = {}

    sums: Floats  # the visits before it, the sum of scales, and the scale when that sum began

    @classmethod
    def needed(cls, average: int, visits: int, *, shrinks: bool) -> dict[str, Averaging]:
        """Return what an average from visit `average` on keeps, after `visits` visits of a scale of 1."""
        late = int(average) - 1
        needed = bool(average) and (late > 0 or shrinks)
        return {cls.name: cls(np.array([late, max(visits - late, 0), 1.0]))} if needed else {}

    def fault(self) -> str | None:
        """Return why this memory is not safe for the loops."""
        sums = self.sums
        sound = sums.dtype == np.float64 and sums.shape == (3,) and bool(np.isfinite(sums).all())
        sound = sound and min(sums) >= 0.0 and sums[2] > 0.0 and sums[0] == int(sums[0]) < 2**53
        return None if sound else "the state of the average is invalid"


def _is_pair(array: Floats) -> bool:
    return array.dtype == np.float64 and array.shape == (2,)


Tie: TypeAlias = Literal["mistake", "sign", "half", "correct"]
Zero: TypeAlias = Literal[-1, 1]


@plain
class Rule(NamedTuple):
    """When a visit is a mistake, and what the mistake adds."""

    eta: float = 1.0  # the learning rate η
    beta: float = 1.0  # what the bias gains for each unit of step: 1, R² or 0
    margin: float = 0.0  # a visit is a mistake if y f < margin; y f = margin is a tie
    tie_plus: float = 1.0  # the share of a step taken at a tie, for y = +1
    tie_minus: float = 1.0  # and for y = −1


@plain
class Margins(NamedTuple):
    """The perceptron with uneven margins (Li et al. 2002): `margin` is for y = +1, `margin_minus` for y = −1."""

    eta: float = 1.0
    beta: float = 1.0
    margin: float = 0.0
    tie_plus: float = 1.0
    tie_minus: float = 1.0
    margin_minus: float = 0.0


@plain
class Power(NamedTuple):
    """The p-norm perceptron (Grove, Littlestone and Schuurmans 2001): the perceptron's rule moves θ, not w.

    The weights follow by w_j = sgn(θ_j) |θ_j|^(p − 1), so that p = 2 is the perceptron. `p` is a whole number;
    0 stands for the even number nearest to 2 ln d, for d features.
    """

    eta: float = 1.0
    beta: float = 1.0
    margin: float = 0.0
    tie_plus: float = 1.0
    tie_minus: float = 1.0
    p: float = 0.0


@dataclass(frozen=True, eq=False)
class Dual(Memory):
    """The vector θ that weights follow by a link of power p, and its unit; see `rosenblatt.loops.rule_steps`."""

    name = "dual"
    slots: ClassVar[Mapping[str, Slot]] = {"theta": Slot()}
    least: ClassVar[Mapping[str, float]] = {"p": 2.0}
    exported: ClassVar[Mapping[str, str]] = {"theta": "start_theta", "unit": "unit", "p": "p"}
    rule = Power
    divides = False  # machines share a unit

    theta: Floats
    unit: Floats
    p: float

    @classmethod
    def begin(cls, rule: Power, w: Floats, n_features: int) -> Dual:
        """Return θ of weights; p = 0 stands for the even number nearest to 2 ln d."""
        p = rule.p or max(2.0, 2.0 * round(math.log(n_features)))
        theta = w.copy(order="K") if p == 2.0 else np.sign(w) * np.abs(w) ** (1.0 / (p - 1.0))
        return cls(theta, np.array([1.0, np.abs(theta).max(initial=0.0)]), p)

    def suits(self, rule: Power) -> bool:
        """Return whether the power is the same; 0 leaves it as it is."""
        return rule.p in (0.0, self.p)

    def anew(self, w: Floats, n_features: int) -> Dual:
        """Return θ of other weights."""
        return self.begin(Power(p=self.p), w, n_features)

    def rule_of_loops(self, rule: Power) -> Linked:
        """Return the rule with θ, its unit, and the power that was chosen."""
        return Linked(**rule._asdict() | {"p": self.p}, theta=self.theta, unit=self.unit)

    def rule_of_replay(self, beta: float) -> Power:
        """Return all of the rule that recorded steps depend on."""
        return Power(beta=beta)

    def fault(self) -> str | None:
        """Return why the unit or the power is not safe for the loops."""
        sound = _is_pair(self.unit) and self.unit[0] > 0.0 and self.unit[1] >= 0.0
        whole = 2.0 <= self.p < math.inf and self.p == int(self.p)
        return None if sound and whole else "the powers of the weights are invalid"


@plain
class Linked(NamedTuple):
    """A `Power` rule as the loops read it: with θ, of the shape of the weights, and two numbers in `unit`.

    θ is kept divided by a power of two, the first of these numbers, so that the powers stay within floats. The
    second is the largest |θ_j| so far.
    """

    eta: float
    beta: float
    margin: float
    tie_plus: float
    tie_minus: float
    p: float
    theta: Floats
    unit: Floats


def is_plain(rule: object) -> bool:
    """Return whether each update of a rule is a mistake, and each step has the same length."""
    return type(rule) in PLAIN


def margin_of(rule: Rule, y: float | Floats) -> Any:
    """Return the margin of a rule for rows with label y; of several rows where y is an array."""
    minus = getattr(rule, "margin_minus", rule.margin)
    return np.where(y > 0, rule.margin, minus) if isinstance(y, np.ndarray) else rule.margin if y > 0 else minus


class Passive(NamedTuple):
    """A passive-aggressive rule: the shortest step that gives a visit its margin (Crammer et al. 2006).

    For a row with x² = ‖x‖² + β and the weight m, the step is η min(most · m, (margin − y f) / (x² + soft / m)).
    PA has no bound on the step and nothing to soften it; PA-I has ``most = C`` and PA-II ``soft = 1 / (2C)``. PA
    with another η is the relaxation method (Agmon 1954; Motzkin and Schoenberg 1954).
    """

    eta: float = 1.0
    beta: float = 1.0
    margin: float = 1.0
    tie_plus: float = 0.0
    tie_minus: float = 0.0
    most: float = math.inf
    soft: float = 0.0


class Confidence(NamedTuple):
    """A rule that keeps a variance s_j for each weight, and moves weights of large variance most.

    With v = Σ s_j x_j², the bias counting as β s_b, an update adds c y s_j x_j to each weight and subtracts
    b s_j² x_j² from its variance. AROW (Crammer, Kulesza and Dredze 2009) has ``phi = 0`` and updates if y f < 1.
    SCW-I (Wang, Zhao and Hoi 2012) has ``phi > 0`` and updates if y f < φ √v.
    """

    eta: float = 1.0
    beta: float = 1.0
    margin: float = 1.0
    tie_plus: float = 0.0
    tie_minus: float = 0.0
    r: float = 1.0  # AROW: how slowly variances shrink
    C: float = 1.0  # SCW-I: the longest step
    phi: float = 0.0  # SCW-I: φ = Φ⁻¹(confidence)


@dataclass(frozen=True, eq=False)
class Variance(Memory):
    """The variances of the weights, and the φ of the rule that changes them; see `rosenblatt.loops.rule_steps`."""

    name = "variance"
    slots: ClassVar[Mapping[str, Slot]] = {"s": Slot(fill=1.0, odd=False)}
    least: ClassVar[Mapping[str, float]] = {"phi": 0.0}
    exported: ClassVar[Mapping[str, str]] = {"s": "start_s", "phi": "phi"}
    rule = Confidence

    s: Floats
    phi: float

    @classmethod
    def begin(cls, rule: Confidence, w: Floats, n_features: int) -> Variance:
        """Return variances of 1."""
        return cls(np.ones_like(w), rule.phi)

    def suits(self, rule: Confidence) -> bool:
        """Return whether φ is the same."""
        return self.phi == rule.phi

    def anew(self, w: Floats, n_features: int) -> Variance:
        """Return variances of 1: those of shifted features are not variances of single weights."""
        return Variance(np.ones_like(w), self.phi)

    def rule_of_loops(self, rule: Confidence) -> Shaped:
        """Return the rule with the variances."""
        return Shaped(*rule, self.s)

    def rule_of_replay(self, beta: float) -> Confidence:
        """Return all of the rule that recorded steps depend on."""
        return Confidence(beta=beta, phi=self.phi)


class Shaped(NamedTuple):
    """A `Confidence` rule as the loops read it: with the variances, an array of the shape of the weights."""

    eta: float
    beta: float
    margin: float
    tie_plus: float
    tie_minus: float
    r: float
    C: float
    phi: float
    s: Floats


def tie_shares(tie: Tie, zero: Zero = -1) -> tuple[float, float]:
    """Return the share of a step taken at a tie, for a positive and for a negative example.

    ``"mistake"`` counts every tie as a mistake and ``"correct"`` none; ``"half"`` takes half a step, as if sgn(0)
    were 0; ``"sign"`` takes a full step if sgn(0) = `zero` is not the label.

    Examples
    --------
    >>> tie_shares("sign", zero=-1)
    (1.0, 0.0)
    """
    match tie:
        case "mistake":
            return 1.0, 1.0
        case "correct":
            return 0.0, 0.0
        case "half":
            return 0.5, 0.5
        case "sign":
            return (1.0, 0.0) if zero < 0 else (0.0, 1.0)
    raise ParameterError(Given("tie", tie) + " is not known. Use 'mistake', 'sign', 'half' or 'correct'.")
