"""Parameters of constructors, each declared once: its type, its default, its condition and its meaning.

A class that inherits from `Declared` names its parameters as fields::

    class PassiveAggressiveClassifier(OwnRule):
        C: float = param(1.0, "The largest step.", above=0)

The signature, `__init__`, the checks, the section Parameters of the docstring and the options of the command line
follow from the fields. As scikit-learn asks, `__init__` stores its arguments and does nothing else.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from functools import partial
from inspect import get_annotations
from numbers import Integral, Real
from textwrap import TextWrapper
from types import MappingProxyType
from typing import Any, ClassVar, Literal, TypeAlias, dataclass_transform

from rosenblatt.exceptions import Given, ParameterError

Check: TypeAlias = Callable[[str, Any], Any]
"""A function of the name and the value of a parameter, which raises `ParameterError`."""

# Checks: each error names the parameter, the value, and what it may be. numpy takes long to import, and is there
# before any value is checked.


TYPE, RANGE, UNUSED = "parameter.type", "parameter.range", "parameter.unused"
COMBINATION = "parameter.combination"
"""Codes of errors about parameters: of another type, beyond what is allowed, given where they have no effect, and
two that do not fit together."""


def refusal(name: str, value: object, wanted: str, code: str = TYPE) -> ParameterError:
    """Return the error of a parameter with a value that cannot be used; `wanted` is the rest of the sentence."""
    return ParameterError(Given(name, value) + f" {wanted}.", code=code)


def unused(name: str, value: object, before: str = "", after: str = "") -> ParameterError:
    """Return the error of a parameter that would have no effect; the sentence names it between two texts.

    Examples
    --------
    >>> unused("header", False, "t.parquet is parquet, which has no option ")
    ParameterError('t.parquet is parquet, which has no option header=False. Drop header=False.')
    """
    has_an_option = isinstance(value, bool) or (isinstance(value, str) and value in ("online", "no"))
    given = Given(name, value) if has_an_option else Given(name)
    return ParameterError(
        before + given + after + ". Drop " + given + ".", code=UNUSED, parameter=name, value=value
    )


def contradiction(one: Given, other: Given, why: str = "") -> ParameterError:
    """Return the error of two parameters that do not fit together; `why` is the end of the sentence.

    Examples
    --------
    >>> contradiction(Given("order", "random"), Given("shuffle", False)).parameters
    ('order', 'shuffle')
    """
    return ParameterError(
        one + " cannot be combined with " + other + f"{why}. Drop one of them.", code=COMBINATION
    )


def unknown_name(parameter: str, value: object, told: str, names: Iterable[str]) -> ParameterError:
    """Return the error of a name that is not known, with the nearest that is, or all of them.

    Examples
    --------
    >>> unknown_name("learner", "pocet", "is not a learner", ["pocket", "voted"])
    ParameterError("'pocet' is not a learner. Did you mean pocket?")
    """
    known = list(names)
    near = get_close_matches(str(value), known, 1)
    hint = f"Did you mean {near[0]}?" if near else f"Use one of {', '.join(known)}."
    return ParameterError(f"{value!r:.60} {told}. {hint}", code=RANGE, parameter=parameter, value=value)


def check_choice(name: str, value: object, choices: Collection[Any]) -> None:
    """Require one of a few values."""
    import numpy as np

    plain = value.item() if isinstance(value, np.generic) else value
    if not any(plain is choice or (type(plain) is type(choice) and plain == choice) for choice in choices):
        raise refusal(name, value, f"is not one of {', '.join(map(repr, choices))}", RANGE)


def check_number(
    name: str,
    value: Any,
    *,
    above: float | None = None,
    least: float | None = None,
    below: float | None = None,
    most: float | None = None,
) -> float:
    """Require a finite real number within bounds."""
    bounds = {" above ": above, " of at least ": least, " below ": below, " of at most ": most}
    wanted = "a finite number" + " and".join(
        f"{told}{each:g}" for told, each in bounds.items() if each is not None
    )
    if least is not None and most is not None:
        wanted = f"a number from {least:g} to {most:g}"
    fits = is_kind(value, Real) and math.isfinite(value)
    if (
        not fits
        or (above is not None and not value > above)
        or (least is not None and not value >= least)
        or (below is not None and not value < below)
        or (most is not None and not value <= most)
    ):
        raise refusal(name, value, f"must be {wanted}", RANGE if is_kind(value, Real) else TYPE)
    return float(value)


def is_kind(value: object, kind: type) -> bool:
    """Return whether a value is a number of a kind; True and False are none."""
    import numpy as np

    return isinstance(value, kind) and not isinstance(value, bool | np.bool_)


def check_count(name: str, value: Any, *, least: int = 1, most: float = math.inf) -> int:
    """Require an integer of at least 1, or within other bounds."""
    if not is_kind(value, Integral) or value < least:
        raise refusal(
            name, value, f"must be an integer of at least {least}", RANGE if is_kind(value, Integral) else TYPE
        )
    if value > most:
        raise refusal(name, value, f"must be at most {most}", RANGE)
    return int(value)


def check_flag(name: str, value: object) -> None:
    """Require True or False."""
    import numpy as np

    if not isinstance(value, bool | np.bool_):
        raise refusal(name, value, "must be True or False")


def check_type(name: str, value: object, *, types: tuple[type, ...], wanted: str) -> None:
    """Require a value of one of some types; True and False are no numbers."""
    if not isinstance(value, types) or isinstance(value, bool):
        raise refusal(name, value, f"must be {wanted}")


def check_verbose(name: str, value: object) -> None:
    """Require an integer of at least 0, or a flag."""
    if not isinstance(value, Integral) or value < 0:
        raise refusal(name, value, "must be an integer of at least 0")


def check_callbacks(name: str, value: object, report: str = "PassReport") -> None:
    """Require None or a list of functions; `report` is the class of their argument."""
    if value is None:
        return
    if not isinstance(value, list | tuple) or not all(callable(callback) for callback in value):
        raise refusal(name, value, f"must be a list of functions of a {report}")


def optional(check: Check) -> Check:
    """Return a check that allows None as well."""
    return lambda name, value: None if value is None else check(name, value)


def or_infinite(check: Check) -> Check:
    """Return a check that allows infinity as well."""
    return lambda name, value: None if isinstance(value, float) and value == math.inf else check(name, value)


POSITIVE = partial(check_number, above=0)
SECONDS = optional(or_infinite(partial(check_number, least=0)))

# Fields

_ABSENT: Any = object()


@dataclass(frozen=True)
class Parameter:
    """A declared parameter."""

    default: Any = _ABSENT  # its default; `required` says whether there is none
    doc: str = ""  # what it means, in sentences
    kind: str = ""  # its type, as documentation names it
    # What raises `ParameterError` for values that cannot be used. None: they are checked where they are used.
    check: Check | None = _ABSENT
    annotation: str = "Any"  # its type, as Python code names it
    choices: tuple[Any, ...] = ()  # the values it may have, if they are few
    keyword: bool = True  # whether it can be given by name only
    help: str = ""  # what the command line says of it
    bounds: Mapping[str, float] = field(default_factory=dict)  # the bounds of a number: above, least, below, most
    more: str = ""  # what is added to the meaning that a base class gave it
    # Where it has an effect: with "rows" of tables, with "sentences", or with an ability of the learner. "" means
    # everywhere.
    needs: str = ""

    @property
    def required(self) -> bool:
        """Whether it has no default."""
        return self.default is _ABSENT

    @property
    def type(self) -> str:
        """The name of its type, but for None."""
        return self.annotation.removesuffix(" | None")

    def completed(self, annotation: str, before: Parameter | None) -> Parameter:
        """Return it with what its annotation says, and with what was said of it `before` and not said again."""
        given = replace(self, annotation=annotation)
        given = replace(given, kind=self.kind or given._documented(), check=given._checked())
        if before is None:
            return replace(given, help=given.help or given.doc.partition(". ")[0].removesuffix(".") + ".")
        changes: dict[str, Any] = {} if self.required else {"default": self.default}
        if self.needs:
            changes["needs"] = self.needs
        if self.doc or self.more:
            changes |= {"doc": self.doc or f"{before.doc} {self.more}"}
        if self.bounds or self.choices or self.check is not _ABSENT or annotation != before.annotation:
            changes |= {name: getattr(given, name) for name in ("check", "choices", "bounds")}
        if self.kind or self.choices or annotation != before.annotation:
            changes["kind"] = given.kind
        return replace(before, annotation=annotation, keyword=self.keyword, **changes)

    def _documented(self) -> str:
        if not self.choices:
            return self.annotation.replace(" | None", " or None")
        named = ", ".join(
            f'"{each}"' if isinstance(each, str) else repr(each) for each in self.choices if each is not None
        )
        return f"{{{named}}}" + (" or None" if None in self.choices else "")

    def _checked(self) -> Check | None:
        check = self.check
        if self.choices:
            check = partial(check_choice, choices=self.choices)
        elif check is _ABSENT:
            kinds: dict[str, Any] = {"bool": check_flag, "int": check_count, "float": check_number}
            check = kinds.get(self.type)
            check = partial(check, **self.bounds) if check is not None and self.bounds else check
        return optional(check) if check is not None and self.annotation.endswith(" | None") else check


@dataclass(frozen=True)
class _Fixed:
    """The value of a parameter that a class has fixed."""

    value: Any


@dataclass(frozen=True)
class _Like:
    """A parameter that another class has declared."""

    owner: type[Declared]
    given: Parameter


class _Learned:
    """An attribute that training sets."""


def param(
    default: Any,
    doc: str = "",
    *,
    kind: str = "",
    one_of: Collection[Any] = (),
    check: Check | None = _ABSENT,
    help: str = "",
    more: str = "",
    needs: str = "",
    **bounds: float,
) -> Any:
    """Declare a parameter.

    What is not said again is as a base class has declared it.

    Parameters
    ----------
    default : object
        The default.
    doc : str
        What the parameter means, in sentences.
    kind : str
        The type as documentation names it, where that is not the annotation.
    one_of : collection
        The values it may have.
    check : callable or None
        A check in place of that of the annotation: of `bool`, of `int` (at least 1) and of `float` (finite, within
        `bounds`), each also with `| None`. None leaves it to where the value is used.
    help : str
        What the command line says, in place of the first sentence of `doc`.
    more : str
        Sentences to add to what a base class says.
    needs : str
        Where it has an effect; see `Parameter`.
    **bounds : float
        The bounds: of a float `above`, `least`, `below`, `most`; of an int `least`, `most`.
    """
    more_of: dict[str, Any] = {"help": help, "bounds": bounds, "more": more, "needs": needs}
    return Parameter(default, doc, kind, check, choices=tuple(one_of), **more_of)


def positional(
    *,
    kw_only: bool,
    doc: str,
    default: Any = _ABSENT,
    kind: str = "",
    one_of: Collection[Any] = (),
    check: Check | None = _ABSENT,
    **bounds: float,
) -> Any:
    """Declare a parameter that can be given by position: say ``kw_only=False``, by which type checkers know it."""
    return Parameter(default, doc, kind, check, choices=tuple(one_of), keyword=kw_only, bounds=bounds)


def like(owner: type[Declared], default: Any = _ABSENT, doc: str = "", **changed: Any) -> Any:
    """Declare a parameter as another class has declared the one of the same name, but for what is given."""
    return _Like(owner, Parameter(default, doc, **changed))


def fixed(value: object, init: Literal[False] = False) -> Any:
    """Fix a parameter of a base class: it becomes an attribute, and the constructor does not take it."""
    return _Fixed(value)


def learned(init: Literal[False] = False) -> Any:
    """Declare an attribute that training sets."""
    return _Learned()


@dataclass_transform(kw_only_default=True, eq_default=False, field_specifiers=(positional, fixed, learned))
class Declared:
    """A class whose constructor follows from its fields; see the module.

    A subclass takes the parameters of its base classes, after its own. One that is declared again keeps its place.
    The class argument `signature` names all of them in another order. A subclass may have its own `__init__`.

    Examples
    --------
    >>> class Circle(Declared):
    ...     radius: float = param(1.0, "The radius.", above=0)
    >>> class Sphere(Circle):
    ...     hollow: bool = param(False, "Whether it is empty inside.")
    >>> ball = Sphere(radius=-1)
    >>> ball._check_parameters()
    Traceback (most recent call last):
    rosenblatt.exceptions.ParameterError: radius=-1 must be a finite number above 0.
    """

    _declared: ClassVar[Mapping[str, Parameter]] = MappingProxyType({})
    _not_taken: ClassVar[frozenset[str]] = frozenset()  # parameters that are fixed

    def __init_subclass__(cls, signature: str = "", **others: Any) -> None:
        super().__init_subclass__(**others)
        inherited: dict[str, Parameter] = {}
        not_taken: set[str] = set()
        for base in reversed(cls.__bases__):
            theirs: Mapping[str, Parameter] = getattr(base, "_declared", {})
            fixed_there: frozenset[str] = getattr(base, "_not_taken", frozenset())
            rest = {name: each for name, each in inherited.items() if name not in fixed_there | theirs.keys()}
            inherited = {**theirs, **rest}
            not_taken = (not_taken - theirs.keys()) | fixed_there
        fields = {name: each for name, each in vars(cls).items() if isinstance(each, Parameter | _Fixed | _Like)}
        annotations = get_annotations(cls)
        own: dict[str, Parameter] = {}
        for name, each in fields.items():
            if isinstance(each, _Fixed):
                inherited.pop(name, None)
                not_taken.add(name)
                setattr(cls, name, each.value)
                continue
            delattr(cls, name)
            before, given = inherited.get(name), each
            if isinstance(given, _Like):
                before, given = given.owner._declared[name], given.given
            declared = given.completed(_named(annotations[name]), before)
            (inherited if name in inherited else own)[name] = declared
        for name in [name for name, each in vars(cls).items() if isinstance(each, _Learned)]:
            delattr(cls, name)
        declared_now = own | inherited
        if signature:
            if set(signature.split()) != declared_now.keys():
                odd = ", ".join(sorted(set(signature.split()) ^ declared_now.keys()))
                raise TypeError(f"The signature of {cls.__name__} and its fields differ: {odd}.")
            declared_now = {name: declared_now[name] for name in signature.split()}
        cls._declared, cls._not_taken = MappingProxyType(declared_now), frozenset(not_taken - declared_now.keys())
        if (fields or signature or hasattr(cls.__init__, "is_made")) and "__init__" not in vars(cls):
            cls.__init__ = _initialiser(cls, declared_now)  # type: ignore[method-assign]
        if cls.__doc__ and "__doc__" in vars(cls):
            cls.__doc__ = _with_parameters(cls.__doc__, declared_now)

    def _check_parameters(self) -> None:
        """Require that every parameter can be used."""
        for name, each in self._declared.items():
            if each.check is not None:
                each.check(name, getattr(self, name))


def _named(annotation: Any) -> str:
    return annotation if isinstance(annotation, str) else getattr(annotation, "__name__", str(annotation))


def _initialiser(cls: type, parameters: Mapping[str, Parameter]) -> Any:
    """Return an `__init__` that stores its arguments."""
    arguments = ["self"]
    for name, each in parameters.items():
        if each.keyword and "*" not in arguments:
            arguments.append("*")
        arguments.append(name if each.required else f"{name}=defaults[{name!r}]")
    lines = [f"def __init__({', '.join(arguments)}):", *(f"    self.{name} = {name}" for name in parameters)]
    space: dict[str, Any] = {"defaults": {name: each.default for name, each in parameters.items()}}
    exec("\n".join([*lines, "    return None"]), space)
    made = space["__init__"]
    made.is_made = True
    made.__module__, made.__qualname__ = cls.__module__, f"{cls.__qualname__}.__init__"
    made.__annotations__ = {name: each.annotation for name, each in parameters.items()} | {"return": "None"}
    return made


_SECTION = re.compile(r"^    (Parameters|Attributes|Notes|Examples)\n    -+$", re.MULTILINE)
_WRAPPED = TextWrapper(width=115, initial_indent=" " * 8, subsequent_indent=" " * 8, break_long_words=False,
                       break_on_hyphens=False)  # fmt: skip


def _with_parameters(doc: str, parameters: Mapping[str, Parameter]) -> str:
    """Return the docstring of a class with a section of its parameters, before its other sections."""
    found = _SECTION.search(doc)
    if found is None or found[1] == "Parameters" or not parameters:
        return doc
    entries = [f"    {name} : {each.kind}\n{_WRAPPED.fill(each.doc)}\n" for name, each in parameters.items()]
    section = "    Parameters\n    ----------\n" + "".join(entries) + "\n"
    return doc[: found.start()] + section + doc[found.start() :]


# What perceptrons and their relatives are given: the parameters that more than one learner has.
#
# The command line reads them, so that this imports neither numpy nor scikit-learn.


def _check_bias(name: str, value: object) -> None:
    if value is None or isinstance(value, str | bool):
        check_choice(name, value, ("unit", "radius", None))
    else:
        check_number(name, value, least=0)


def _check_margin(name: str, value: object) -> None:
    if not isinstance(value, tuple | list):
        check_number(name, value, least=0)
        return
    if len(value) != 2:
        raise refusal(name, value, "must be a number, or a pair: of positive and of negative rows")
    for each in value:
        check_number(name, each, least=0)


def _check_average(name: str, value: object) -> None:
    if type(value).__name__ not in ("bool", "bool_"):
        check_count(name, value, least=0, most=MOST_VISITS_BEFORE)


DEVICES = ("cpu", "cuda", "auto")
"""Where hyperplanes can be trained."""
MOST_VISITS_BEFORE = 10**12
"""Visits that an average may wait for; a record of a run holds as many."""


class PerceptronParameters(Declared):
    """The parameters of `rosenblatt.Perceptron`."""

    penalty: Any = param(
        None,
        'Shrink the weights (not the bias) with every visit. "l2" multiplies them by 1 − η·alpha before the '
        'update, as in scikit-learn. "l1" moves them by η·alpha towards zero after it; there what is owed at '
        'zero adds up. "elasticnet" does both, in the shares 1 − l1_ratio and l1_ratio. "l2" can be averaged; '
        "for weights that stop at zero, an exact average would touch all of them on every visit.",
        one_of=(None, "l2", "l1", "elasticnet"),
    )
    alpha: float = param(0.0001, "The strength of the penalty.", least=0)
    l1_ratio: float = param(0.15, 'The share of "l1" in "elasticnet".', least=0, most=1)
    fit_intercept: bool = param(True, "False means ``bias=None``.")
    max_iter: int = param(1000, "The maximum number of passes over the data.", help="Maximum number of passes.")
    tol: float | None = param(
        None,
        "If given, training ends when the mean loss of a pass has not fallen by `tol` for `n_iter_no_change` "
        "passes (None means 5), as in scikit-learn. It then does not end on a plateau of mistakes, and no proof "
        "is sought.",
        help="Stop by the loss, once it falls by less than X.",
    )
    shuffle: bool = param(True, 'False means ``order="cyclic"``.')
    verbose: int = param(
        0, "1 shows a progress bar, and prints how training ended to standard error.", check=check_verbose
    )
    eta0: float = param(1.0, "The learning rate η.", help="Learning rate η.", above=0)
    n_jobs: int | None = param(
        None,
        'The number of threads, −1 for all cores. They share the hyperplanes of "ovr" and "ovo", and the rows to '
        "predict; the bits are the same. None means ROSENBLATT_THREADS, or one.",
        check=None,
    )
    random_state: Any = param(
        0,
        "The random seed for the order, the start and the held-out rows.",
        kind="int, RandomState, Generator or None",
    )
    early_stopping: bool = param(
        False,
        "Whether to hold out `validation_fraction` of each class. Training ends when their error has not fallen "
        "for `n_iter_no_change` passes, by default the larger of 10 and half of the passes so far, and not on a "
        "plateau of mistakes. The best hypothesis by this error is returned.",
        help="Stop by the error on held-out rows.",
    )
    validation_fraction: float = param(0.1, "The share of rows to hold out.", above=0, below=1)
    n_iter_no_change: int | None = param(
        None,
        "How many passes may go by before the mistakes of a pass fall by 2 %. Then an average ends on a plateau, "
        "and any other fit asks whether the rows can be separated (see `decide`). None means 5 passes. Without "
        "an answer, training ends after that number of passes if one is given. With None it ends on a trend: the "
        "mistakes of the second half of all passes are not 5 % fewer than those of the quarter before, three "
        "times in a row.",
        help="Stop after N passes without progress.",
    )
    class_weight: Any = param(
        None,
        'Multiplies the step of each class. "balanced" is n / (classes · count of the class); in a stream, of '
        "what it has seen so far.",
        kind='dict, "balanced" or None',
        help="Weigh rare classes more.",
    )
    warm_start: bool = param(
        False,
        "Whether to continue from the last fit, as if it had not ended: weights, averaging and random order.",
    )
    bias: Any = param(
        "unit",
        "The change of the bias in each update, for a step of 1: 1, R², this number, or no bias.",
        kind='{"unit", "radius"}, float or None',
        check=_check_bias,
        help="Change of the bias by an update: 1, R², or none.",
    )
    radius: float | None = param(
        None, "R, the largest norm of a row. None computes it from the data; a stream needs a number.", above=0
    )
    zero: Any = param(
        -1,
        "The predicted side if f = 0; for several classes, whether the lowest or the highest class wins a tie.",
        kind="{-1, +1}",
        one_of=(-1, 1),
    )
    tie: Any = param(
        "mistake",
        "How to treat y f = margin: as a mistake, as a mistake if sgn(0) = `zero` is not the label, as half a "
        "step, or as correct.",
        one_of=("mistake", "sign", "half", "correct"),
    )
    init: Any = param(
        "zero",
        "The start: the origin, standard normal weights, or y₁x₁ of the first row visited.",
        one_of=("zero", "random", "first"),
    )
    order: Any = param(
        "shuffle",
        "The order of visits in `fit`. An array of row numbers is one pass, repeated; a list of arrays, or a "
        "callable of the pass number from 1, gives each pass a different order.",
        kind='{"shuffle", "cyclic", "random"}, array, list of arrays or callable',
        help="Order of the rows.",
    )
    margin: float = param(
        0.0,
        'A visit is a mistake if y f ≤ margin. With ``multiclass="direct"`` the lead over the best other class '
        "counts. A pair (τ₊, τ₋) is for positive and negative rows (Li et al. 2002): (10, 0) helps a rare class.",
        kind="float or pair of floats",
        check=_check_margin,
        help="Update if y·f is not greater than X.",
    )
    average: bool | int = param(
        False,
        "Whether to predict with the average of the hypotheses after each visit. Training ends when the mistakes "
        "no longer fall. It need not separate the rows, and gives no warning. A number such as 10 averages the "
        "hypotheses from the tenth visit on, as in scikit-learn; visits of all passes count. After fewer visits "
        "the weights are the last ones.",
        kind="bool or int",
        check=_check_average,
    )
    multiclass: str = param(
        "direct",
        'How to treat more than two classes. "direct" compares one weight vector for each class at each visit. '
        '"ovr" trains one hyperplane for each class against the rest, and "ovo" one for each pair of classes.',
        one_of=("direct", "ovr", "ovo"),
        help="Method for more than two classes.",
    )
    max_time: float | None = param(
        None, "The maximum training time of `fit` in seconds.", help="Maximum seconds of training.", above=0
    )
    trace: Any = param(
        "auto",
        'What to record of a run. "auto" keeps the mistakes of a fit, up to half a million of them, or 1 for '
        'every 320 values of X if that is more. Of a longer fit and of a stream it keeps counts. "mistakes" '
        "keeps every mistake.",
        one_of=("auto", "mistakes", "counts", None),
    )
    callbacks: Any = param(
        None,
        "Each is called after each pass with a `PassReport`; training ends if one returns True.",
        kind="sequence of callables or None",
        check=check_callbacks,
    )
    stop_on_cycle: bool = param(
        False,
        "Whether to end when the weights after a pass equal those after an earlier pass, and the mistakes in "
        "between sum to zero in exact arithmetic. This proves that no hyperplane separates the data; "
        "`certificate_` is the proof. Two classes, without a penalty. It finds repeats within the last 65,536 "
        "passes and 16,777,216 mistakes. No other proof is sought.",
    )
    decide: bool = param(
        True,
        "Whether to ask, when mistakes no longer fall, if some hyperplanes separate the rows (see "
        "`rosenblatt.certify`), with about as much work as the passes before. A proof that none do ends "
        "training. A proof that some do lets it continue with ten times the patience. It is asked where the "
        'answer is about this fit: rows in memory, tie "mistake" or "half", no penalty, an order that visits '
        "every row in each pass; without `average`, `tol`, `early_stopping` and `stop_on_cycle`. With False, "
        "small sets are visited until 5·10⁸ values were read, before training may end on a plateau.",
    )
    device: str = param(
        "cpu",
        'Where to train: on the CPU, on an NVIDIA GPU ("cuda", with CuPy), or on a GPU if one is there and can do '
        'what is asked ("auto"). The bits are the same. A GPU trains dense rows in memory, two classes or '
        '``multiclass="ovr"`` or "ovo", and keeps counts of the mistakes.',
        one_of=DEVICES,
    )


class RelatedParameters(
    PerceptronParameters,
    signature="fit_intercept bias radius zero tie init order shuffle margin eta0 class_weight multiclass max_iter "
    "tol n_iter_no_change max_time random_state verbose trace callbacks",
):
    """The parameters of relatives of `rosenblatt.Perceptron` that train by its rule, and have no penalty."""

    penalty: Any = fixed(None)
    alpha: float = fixed(0.0001)
    l1_ratio: float = fixed(0.15)
    n_jobs: int | None = fixed(None)
    early_stopping: bool = fixed(False)
    validation_fraction: float = fixed(0.1)
    warm_start: bool = fixed(False)
    average: bool | int = fixed(False)
    stop_on_cycle: bool = fixed(False)
    decide: bool = fixed(False)
    device: str = fixed("cpu")


class OwnRuleParameters(
    PerceptronParameters,
    signature="fit_intercept max_iter tol early_stopping validation_fraction n_iter_no_change shuffle verbose "
    "n_jobs random_state warm_start class_weight average bias radius zero init order multiclass max_time trace "
    "callbacks",
):
    """The parameters of perceptrons by another rule. Those of a perceptron that they do not have are fixed."""

    penalty: Any = fixed(None)
    alpha: float = fixed(0.0001)
    l1_ratio: float = fixed(0.15)
    eta0: float = fixed(1.0)
    tie: Any = fixed("correct")
    margin: float = fixed(1.0)
    stop_on_cycle: bool = fixed(False)
    decide: bool = fixed(False)  # a proof of inseparability would not end the updates of such a rule
    device: str = fixed("cpu")
    n_iter_no_change: int | None = param(
        5,
        "How many passes may go by before the updates of a pass fall by 2 %; then training ends on a plateau.",
    )


class PassiveParameters(OwnRuleParameters):
    """The parameters of `rosenblatt.PassiveAggressiveClassifier`."""

    C: float = param(
        1.0,
        "The aggressiveness. ``math.inf`` is PA, which always takes the whole step.",
        check=or_infinite(POSITIVE),
    )
    loss: str = param(
        "hinge",
        '"hinge" is PA-I, with the step min(C, c). "squared_hinge" is PA-II, with x² + 1 / (2C) in place of x².',
        one_of=("hinge", "squared_hinge"),
    )
    eta0: float = like(
        PerceptronParameters,
        doc="Multiplies every step: the λ of the relaxation method. 1 goes to the margin, 2 as far beyond it.",
    )
    margin: float = param(
        1.0,
        "The margin that an update gives the row, in place of 1. With 0 the weights 0 are never corrected, so "
        "that a start is needed.",
        least=0,
    )
    tol: float | None = param(
        None,
        "If given, training ends when the mean loss of a pass, max(0, margin − y f), has not fallen by `tol` for "
        "`n_iter_no_change` passes, and not on a plateau.",
    )
    class_weight: Any = param(
        None,
        "Multiplies C for each class, as a sample weight does for each row: a row of weight m counts as one with "
        "the aggressiveness m C. With ``C=math.inf`` only weights of zero matter.",
    )


# What functions are given beside models and data, where the command line has options for it: it makes the types of
# these options of the same conditions.


def _check_columns(name: str, value: Any) -> None:
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise refusal(name, value, "must be a list of names or positions of columns")
    for each in value:
        _check_column(name, each)


def _check_log(name: str, value: object) -> None:
    if not callable(value):
        raise refusal(name, value, "must be a function of a sentence, such as print")


_check_column = partial(check_type, types=(str, int), wanted="the name or the position of a column")
_check_mapping = partial(check_type, types=(Mapping,), wanted="a mapping of names to values")
_check_path = partial(check_type, types=(str, os.PathLike), wanted="a path")


class EvaluationArguments(Declared):
    """What `evaluate` is given beside a model and its data."""

    label: str | int | None = param(None, check=_check_column)
    log: Any = positional(kw_only=True, doc="", check=_check_log)


class _LearningArguments(Declared):
    """What both `train` and `evaluate_folds` are given."""

    parameters: Mapping[str, Any] | None = param(None, check=_check_mapping)
    seed: int = param(0, least=0)
    min_class: int | str | None = param(None)  # `RareClasses.of` checks it
    log: Any = positional(kw_only=True, doc="", check=_check_log)


class FoldArguments(_LearningArguments):
    """What `evaluate_folds` is given beside a learner and data."""

    folds: int = param(5, least=2)
    scale: bool | None = param(None, one_of=(None, False, True))


class TrainingArguments(_LearningArguments):
    """What `train` is given beside a learner and data; `needs` says where it would have no effect."""

    label: str | int | None = param(None, check=_check_column, needs="sentences")
    columns: Sequence[str | int] | None = param(None, check=_check_columns, needs="sentences")
    scale: bool | Literal["online"] | None = param(None, one_of=(None, False, True, "online"), needs="rows")
    holdout: float | None = param(None, above=0, below=1)
    min_class: int | str | None = param(None, needs="rows")  # `RareClasses.of` checks it
    probabilities: str | None = param(None, one_of=(None, "sigmoid", "isotonic"), needs="rows")
    memory: int | None = param(None, needs="blocks")
    cache: Any = param("auto", check=_check_path, needs="blocks")
    resume: bool = param(False, needs="checkpoints")
    every: int = param(1, needs="checkpoints")
    checkpoint: Any = param(None, check=optional(_check_path), needs="checkpoints")
    progress: bool = param(False)


class CertifyArguments(Declared):
    """What `certify` is asked about rows."""

    bias: bool = param(True)
    margin: bool = param(False)
    ties: bool | None = param(None)
    time_limit: float | None = param(None, least=0)
    multiclass: Literal["direct"] | None = param(None, one_of=(None, "direct"))
    proof: Literal["exact", "verdict"] = param("exact", one_of=("exact", "verdict"))
