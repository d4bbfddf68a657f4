"""Parameters of constructors, each declared once: its type, its default, its condition and its meaning.

A class that inherits from `Declared` names its parameters as fields::

    class PassiveAggressiveClassifier(OwnRule):
        C: float = param(1.0, "The largest step.", above=0)

The signature, `__init__`, the checks, the section Parameters of the docstring and the options of the command line
follow from the fields. As scikit-learn asks, `__init__` stores its arguments and does nothing else.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from inspect import get_annotations
from numbers import Integral, Real
from textwrap import TextWrapper
from types import MappingProxyType
from typing import Any, ClassVar, Literal, TypeAlias, dataclass_transform

from rosenblatt.exceptions import ParameterError

Check: TypeAlias = Callable[[str, Any], Any]
"""A function of the name and the value of a parameter, which raises `ParameterError`."""

# Checks: each error names the parameter, the value, and what it may be. numpy takes long to import, and is there
# before any value is checked.


def check_choice(name: str, value: object, choices: Collection[Any]) -> None:
    """Require one of a few values."""
    import numpy as np

    plain = value.item() if isinstance(value, np.generic) else value
    if not any(plain is choice or (type(plain) is type(choice) and plain == choice) for choice in choices):
        raise ParameterError(f"{name}={value!r} is not one of {', '.join(map(repr, choices))}.")


def check_number(
    name: str,
    value: Any,
    *,
    above: float | None = None,
    least: float | None = None,
    below: float | None = None,
) -> float:
    """Require a finite real number within bounds."""
    wanted = "a finite number"
    wanted += f" above {above:g}" if above is not None else f" of at least {least:g}" if least is not None else ""
    wanted += f" and below {below:g}" if below is not None else ""
    fits = is_kind(value, Real) and math.isfinite(value)
    if (
        not fits
        or (above is not None and not value > above)
        or (least is not None and not value >= least)
        or (below is not None and not value < below)
    ):
        raise ParameterError(f"{name}={value!r} must be {wanted}.")
    return float(value)


def is_kind(value: object, kind: type) -> bool:
    """Return whether a value is a number of a kind; True and False are none."""
    import numpy as np

    return isinstance(value, kind) and not isinstance(value, bool | np.bool_)


def check_count(name: str, value: Any, *, least: int = 1, most: float = math.inf) -> int:
    """Require an integer of at least 1, or within other bounds."""
    if not is_kind(value, Integral) or value < least:
        raise ParameterError(f"{name}={value!r} must be an integer of at least {least}.")
    if value > most:
        raise ParameterError(f"{name}={value!r} must be at most {most}.")
    return int(value)


def check_flag(name: str, value: object) -> None:
    """Require True or False."""
    import numpy as np

    if not isinstance(value, bool | np.bool_):
        raise ParameterError(f"{name}={value!r} must be True or False.")


def check_verbose(name: str, value: object) -> None:
    """Require an integer of at least 0, or a flag."""
    if not isinstance(value, Integral) or value < 0:
        raise ParameterError(f"{name}={value!r} must be an integer of at least 0.")


def check_callbacks(name: str, value: object, report: str = "PassReport") -> None:
    """Require None or a list of functions; `report` is the class of their argument."""
    if value is None:
        return
    if not isinstance(value, list | tuple) or not all(callable(callback) for callback in value):
        raise ParameterError(f"{name}={value!r} must be a list of functions of a {report}.")


def check_share(name: str, value: Any) -> None:
    """Require a number from 0 to 1."""
    check_number(name, value, least=0)
    if value > 1:
        raise ParameterError(f"{name}={value!r} must be a number from 0 to 1.")


def optional(check: Check) -> Check:
    """Return a check that allows None as well."""
    return lambda name, value: None if value is None else check(name, value)


def or_infinite(check: Check) -> Check:
    """Return a check that allows infinity as well."""
    return lambda name, value: None if isinstance(value, float) and value == math.inf else check(name, value)


POSITIVE = partial(check_number, above=0)

# Fields

_ABSENT: Any = object()


@dataclass(frozen=True)
class Parameter:
    """A declared parameter.

    Attributes
    ----------
    default : object
        Its default; `required` says whether there is none.
    doc : str
        What it means, in sentences.
    kind : str
        Its type, as documentation names it.
    check : callable or None
        What raises `ParameterError` for values that cannot be used. None: they are checked where they are used.
    annotation : str
        Its type, as Python code names it.
    choices : tuple
        The values it may have, if they are few.
    keyword : bool
        Whether it can be given by name only.
    help : str
        What the command line says of it.
    bounds : mapping
        The bounds of a number: above, least, below, most.
    more : str
        What is added to the meaning that a base class gave it.
    """

    default: Any = _ABSENT
    doc: str = ""
    kind: str = ""
    check: Check | None = _ABSENT
    annotation: str = "Any"
    choices: tuple[Any, ...] = ()
    keyword: bool = True
    help: str = ""
    bounds: Mapping[str, float] = field(default_factory=dict)
    more: str = ""

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
    **bounds : float
        The bounds: of a float `above`, `least`, `below`; of an int `least`, `most`.
    """
    return Parameter(default, doc, kind, check, choices=tuple(one_of), help=help, bounds=bounds, more=more)


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
