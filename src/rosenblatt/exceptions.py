"""The exceptions of this package.

::

    RosenblattError
    ├── InputError (also a ValueError)      an argument that cannot be used
    │   ├── ShapeError                      wrong number of dimensions, rows or features
    │   ├── DataTypeError (also TypeError)  values that are not real numbers
    │   ├── NonFiniteError                  NaN or infinity
    │   ├── LabelError                      labels that do not name classes
    │   ├── WeightError                     sample or class weights
    │   ├── OrderError                      an order of visits
    │   ├── NotSeparableError               no hyperplane separates the classes, but one is needed
    │   ├── FormatError                     a data file that violates its format, and where
    │   │   └── NoRowsError                 … or that has no rows
    │   ├── ModelFileError                  a file that is no model, or a damaged one
    │   └── ParameterError                  a parameter outside its allowed values, or several that do not fit
    ├── StorageError (also an OSError)      a file that could not be written; the old one is unchanged
    ├── ClusterError (also a RuntimeError)  a Dask cluster that cannot go on
    ├── DeviceError (also a RuntimeError)   a GPU that is missing, too small or lost, or cannot do what is asked
    ├── MissingRoomError (an ImportError)   a part of the package that this installation was made without
    ├── UndecidedError (also a ValueError)  a proof is needed, but the question is undecided
    ├── TrainingOverflowError               finite data, but weights beyond the largest float
    │   (also a ValueError and an OverflowError)
    └── PredictionOverflowError             a finite row whose score is beyond the largest float
        (also a ValueError and an OverflowError)

Each message names the argument, the place in it, and what to do. There are three warnings, `KernelWarning`,
`ScaleWarning` and `TrivialSeparationWarning`. Training that ends on a limit warns by scikit-learn's
``ConvergenceWarning``.

An error is data too: `RosenblattError` lists its attributes. Its `Message` is a string in the words of Python that
knows where it names parameters (`Given`, `Remedy`) and things that have other names elsewhere (`Term`). So the
command line says ``--missing mean`` and the server sends JSON where Python says ``missing='mean'``.

Examples
--------
>>> import rosenblatt as rb
>>> try:
...     rb.Perceptron(eta0=0.0).fit([[0.0], [1.0]], [0, 1])
... except rb.exceptions.InputError as error:
...     print(type(error).__name__)
ParameterError
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence, Sized
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

# What messages are made of.


class _Slot:
    """A part of a message that each face of the package says in its own words."""

    __slots__ = ()

    def __add__(self, other: str | _Slot) -> Message:
        return Message(self, other)

    def __radd__(self, other: str) -> Message:
        return Message(other, self)

    def __format__(self, spec: str) -> str:
        raise TypeError("An f-string would forget what this is. Add it to the text with +.")


@dataclass(frozen=True, slots=True)
class Remedy(_Slot):
    """A parameter to set: a way out of a problem.

    Attributes
    ----------
    parameter : str
        Its name in Python. The command line knows which of its options sets it.
    value
        What to set it to; several values for a parameter that takes several. None: it is only named.
    python : str or None
        How Python says it where this is no parameter there, such as the class of a learner.

    Examples
    --------
    >>> str(Remedy("missing", "mean")), str(Remedy("ignore", ("age", "size")))
    ("missing='mean'", "ignore=['age', 'size']")
    >>> "Use " + Remedy("learner", "pocket", "PocketPerceptron") + "."
    'Use PocketPerceptron.'
    """

    parameter: str
    value: Any = None
    python: str | None = None

    def __str__(self) -> str:
        if self.python is not None or self.value is None:
            return self.python or self.parameter
        return f"{self.parameter}={list(self.value) if isinstance(self.value, tuple) else self.value!r}"


@dataclass(frozen=True, slots=True)
class Given(_Slot):
    """A parameter that cannot be used so, with its value, or only named: an error that says it knows both.

    Examples
    --------
    >>> error = ParameterError(Given("eta0", 0.0) + " must be above 0.")
    >>> str(error), error.parameter, error.value
    ('eta0=0.0 must be above 0.', 'eta0', 0.0)
    >>> ParameterError("Drop " + Given("bias", "unit") + " or " + Given("radius") + ".").parameters
    ('bias', 'radius')
    """

    parameter: str
    value: Any = ...

    @property
    def is_named(self) -> bool:
        """Whether it is only named."""
        return self.value is ...

    def __str__(self) -> str:
        return self.parameter if self.is_named else f"{self.parameter}={self.value!r}"

    def __reduce__(self) -> tuple[Any, ...]:
        return Given, (self.parameter, self.value if self.is_named else _portable(self.value))


class _Shown(str):
    """What is left of a value in a pickle: its repr."""

    __slots__ = ()
    __repr__ = str.__str__


def _portable(value: Any) -> Any:
    """Return a value as a pickle of an error holds it: a number or a text; of anything else its repr."""
    return value if value is None or type(value) in (bool, int, float, str) else _Shown(repr(value))


SOFT_MARGIN = Remedy("learner", "soft-margin", "SoftMarginClassifier")
"""What learns from rows that no hyperplane separates."""


@dataclass(frozen=True, slots=True)
class Term(_Slot):
    """A thing that is called otherwise outside Python, such as X: its name for other faces, and Python's words."""

    name: str
    python: str

    def __str__(self) -> str:
        return self.python


class Message(str):
    """A message: a string in the words of Python that knows its parts.

    Adding keeps the parts; an f-string forgets them.

    Attributes
    ----------
    parts : tuple of str, Remedy, Given and Term
        What it is made of.

    Examples
    --------
    >>> text = "Fill it in, or use " + Remedy("missing", "mean") + "."
    >>> text
    "Fill it in, or use missing='mean'."
    >>> text.told(lambda slot: "another way")
    'Fill it in, or use another way.'
    """

    __slots__ = ("parts",)
    parts: tuple[str | _Slot, ...]

    def __new__(cls, *parts: str | _Slot) -> Message:
        """Put parts together."""
        flat: list[str | _Slot] = []
        for part in parts:
            flat += part.parts if isinstance(part, Message) else (part,)
        text = super().__new__(cls, "".join(map(str, flat)))
        text.parts = tuple(flat)
        return text

    def __add__(self, other: str | _Slot) -> Message:
        return Message(self, other)

    def __radd__(self, other: str) -> Message:
        return Message(other, self)

    def __reduce__(self) -> tuple[Any, ...]:
        return Message, self.parts

    def told(self, say: Callable[[Any], str]) -> str:
        """Return the message in other words: `say` takes a `Remedy`, a `Given` or a `Term` and returns them."""
        return "".join(part if isinstance(part, str) else say(part) for part in self.parts)


def join_messages(between: str, texts: Iterable[str]) -> Message:
    """Return texts with something between them, as ``between.join`` does, with all their parts."""
    joined: list[str | _Slot] = []
    for text in texts:
        joined += [between, text] if joined else [text]
    return Message(*joined)


def list_ways(ways: Iterable[str | _Slot]) -> Message:
    """Return ways out with "or" before the last one.

    Examples
    --------
    >>> list_ways(["correct it", "use " + Remedy("na", "-"), "leave it out"])
    "correct it, use na='-', or leave it out"
    """
    several = list(ways)
    if len(several) > 1:
        several[-1] = "or " + Message(several[-1])
    return join_messages(", ", (Message(each) for each in several))


NOTE = "note: "
"""How a line begins that tells what was decided about the data."""
MOST_NOTES, NOTE_WIDTH = 5, 120


def list_first(told: Sequence[str]) -> str:
    """Return all of up to three things, else the first two and how many more.

    Examples
    --------
    >>> list_first(["a", "b", "c"]), list_first(["a", "b", "c", "d"])
    ('a, b, c', 'a, b and 2 more')
    """
    shown = told[: few_of(told)]
    return ", ".join(shown) + (f" and {len(told) - len(shown)} more" if len(shown) < len(told) else "")


def few_of(things: Sized) -> int:
    """Return how many things a note names, so that it stays one line."""
    return len(things) if len(things) <= 3 else 2


def fit_note(things: Sequence[str], *forms: Callable[[str, int], str]) -> str:
    """Return a note that fits into one line: it names as many things as there is room for, and cuts a long name.

    Parameters
    ----------
    things : sequence of str
        What the note is about.
    *forms : callable
        Each takes the list of things in words, and how many it names, and returns a note; the first that fits is
        taken.

    Examples
    --------
    >>> fit_note(["'a'", "'b'"], lambda told, shown: f"{told} were left out")
    "'a', 'b' were left out"
    >>> fit_note([f"'{'a' * 99}'", "'b'"], lambda told, shown: f"{told} were left out; give each a name to use it")
    "'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa…', 'b' were left out; give each a name to use it"
    """
    few, made = few_of(things), ""
    for width in (None, *CUT_NAMES):
        named = [thing if width is None else _cut(thing, width) for thing in things]
        for shown in range(few, 0, -1):
            more = len(things) - shown
            told = ", ".join(named[:shown]) + (f" and {more:,} more" if more else "")
            for form in forms:
                made = form(told, shown)
                if len(NOTE) + len(made) + 2 * _longer_as_options(made) <= NOTE_WIDTH:
                    return made
    return made


def _longer_as_options(note: str) -> int:
    """Return how many parameters of a note are two characters longer as options: alone, or with a comma."""
    commas = ("," in str(each) for way in remedies_of(note) if isinstance(way.value, tuple) for each in way.value)
    return sum(way.value is None for way in remedies_of(note)) + sum(commas)


CUT_NAMES = 40, 24, 12
"""To so many characters a note cuts a name, if that is what it takes to fit into one line."""


def _cut(thing: str, width: int) -> str:
    """Return a thing with the name in quotes that it begins with cut to a width."""
    found = re.match(r"(['\"])(.*)\1(?=$| )", thing, re.DOTALL)
    if found is None or len(found[0]) <= width:
        return thing
    return found[0][: width - 2] + "…" + found[1] + thing[found.end() :]


def brief_notes(notes: Sequence[str]) -> list[str]:
    """Return notes as lines, at most five of them: the last one sums up what is left, and names where it is.

    Examples
    --------
    >>> notes = [f"{name!r} was left out; give it a name" for name in "abcdef"]
    >>> brief_notes(notes)[3:]
    ["note: 'd' was left out; give it a name", "note: 2 more (notes): 'e' was left out; 'f' was left out"]
    """
    most = len(notes) if len(notes) <= MOST_NOTES else MOST_NOTES - 1
    lines = [NOTE + note for note in notes[:most]]
    rest = notes[most:]
    if rest:
        where = NOTE + f"{len(rest)} more (" + Remedy("verbose", python="notes") + "): "
        room = (NOTE_WIDTH - len(where)) // len(rest) - 2
        lines.append(where + "; ".join(_beginning(note, room) for note in rest))
    return lines


def _beginning(note: str, room: int) -> str:
    """Return the first clause of a note, cut to a width."""
    clause = re.split("[:;] ", note, maxsplit=1)[0]
    return clause if len(clause) <= room else clause[: room - 1].rstrip() + "…"


def remedies_of(text: object) -> tuple[Remedy, ...]:
    """Return the remedies that a message names; none for one that is a plain string."""
    return tuple(part for part in text.parts if isinstance(part, Remedy)) if isinstance(text, Message) else ()


class RosenblattError(Exception):
    """The base class of all errors of this package.

    Attributes
    ----------
    code : str
        The kind of problem, for programs: a short name such as ``"missing-value"``. Each class has one, and some
        errors have one of their own.
    file, line : str and int, or None
        The place in a file, if there is one; lines count from 1.
    row : int or None
        The row of an argument such as X, from 0.
    column : int, str or None
        The column: its number in a file, from 1, or its name or number in an argument.
    parameters : tuple of str
        The parameters that cannot be used so, by their names in Python; several that do not fit together.
    parameter : str or None
        The first of them.
    value : object
        The value of the first that cannot be used, if there is one.
    remedies : tuple of Remedy
        The parameters that the message names as ways out.

    Examples
    --------
    >>> error = RosenblattError("Give it a number, or use " + Remedy("missing", "mean") + ".", row=3)
    >>> error.code, error.row, error.remedies
    ('error', 3, (Remedy(parameter='missing', value='mean', python=None),))
    """

    code: str = "error"

    def __init__(
        self,
        *message: object,
        code: str | None = None,
        file: str | None = None,
        line: int | None = None,
        row: int | None = None,
        column: int | str | None = None,
        parameter: str | None = None,
        parameters: Iterable[str] = (),
        value: Any = None,
    ) -> None:
        super().__init__(*message)
        parts = message[0].parts if message and isinstance(message[0], Message) else ()
        given = [each for each in parts if isinstance(each, Given)]
        names = [*([] if parameter is None else [parameter]), *parameters, *(each.parameter for each in given)]
        if given and names[0] == given[0].parameter and not given[0].is_named:
            value = given[0].value
        self.code = code or type(self).code
        self.file, self.line, self.row, self.column = file, line, row, column
        self.parameters, self.value = tuple(dict.fromkeys(names)), value

    @property
    def parameter(self) -> str | None:
        """The first of the parameters that cannot be used so."""
        return next(iter(self.parameters), None)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self)._again, (self.args, self.__dict__ | {"value": _portable(self.value)})

    @classmethod
    def _again(cls, args: tuple[Any, ...], state: dict[str, Any]) -> RosenblattError:
        """Return an error from its pickle."""
        error = cls.__new__(cls, *args)
        error.args = args
        error.__dict__.update(state)
        return error

    @property
    def remedies(self) -> tuple[Remedy, ...]:
        """The parameters that the message names as ways out."""
        return remedies_of(self.args[0]) if self.args else ()


class InputError(RosenblattError, ValueError):
    """An argument cannot be used."""

    code = "input"


class ShapeError(InputError):
    """The number of dimensions, rows or features is wrong."""

    code = "shape"


class DataTypeError(InputError, TypeError):
    """Values that are not real numbers, or that float64 cannot hold."""

    code = "data-type"


class NonFiniteError(InputError):
    """NaN or infinity instead of a finite number."""

    code = "non-finite"


class LabelError(InputError):
    """Labels that do not name the classes of a problem."""

    code = "label"


class WeightError(InputError):
    """Sample or class weights that are negative, not finite, or of the wrong length."""

    code = "weight"


class OrderError(InputError):
    """An order of visits that names rows which do not exist."""

    code = "order"


class NotSeparableError(InputError):
    """No hyperplane separates the classes, or only by rounding, but one is needed.

    Attributes
    ----------
    certificate : Inseparable, Separable or None
        The proof of whether they are separable, if that was decided exactly; see `rosenblatt.certify`.
    """

    code = "not-separable"

    certificate: Any = None


class FormatError(InputError):
    """A data file that violates its format.

    Attributes
    ----------
    problem : str
        What is wrong.
    ways : tuple of str
        What can be done about it, each the end of a sentence such as "correct it".
    argument : str or None
        What is read if that is no file: X of an estimator.
    file, line, column, row, code, value, remedies
        See `RosenblattError`; the file is ``<stdin>`` for standard input. The column of a line of text counts
        bytes, and that of a table counts fields.

    Examples
    --------
    >>> FormatError("a quote is never closed", ("close it", "save it as TSV"), file="a.csv", line=3)
    FormatError('a.csv:3: a quote is never closed; close it, or save it as TSV')
    >>> FormatError("it is missing", ("fill it in",), argument="X", row=0, column="age")
    FormatError("X, row 0, column 'age': it is missing; fill it in.")
    """

    code = "format"

    def __init__(
        self,
        problem: str,
        ways: tuple[str, ...] = (),
        *,
        code: str | None = None,
        argument: str | None = None,
        file: str | None = None,
        line: int | None = None,
        row: int | None = None,
        column: int | str | None = None,
        value: Any = None,
    ) -> None:
        super().__init__(code=code, file=file, line=line, row=row, column=column, value=value)
        self.problem, self.ways, self.argument = problem, ways, argument
        self.args = (self.told(ways),)

    def told(self, ways: tuple[str, ...]) -> Message:
        """Return the message with some of the ways out, or none."""
        text = Message(self.problem, "; " * bool(ways), list_ways(ways))
        if self.argument is not None:
            row = "" if self.row is None else f", row {self.row}"
            column = "" if self.column is None else f", column {self.column!r}"
            return Term("rows", self.argument) + f"{row}{column}: " + text + "."
        places = [str(each) for each in (self.file, self.line, self.column) if each is not None]
        return Message(f"{':'.join(places)}: ", text) if places else text


class NoRowsError(FormatError):
    """A data file that follows its format, but has no row that can be read."""

    code = "no-rows"


class ModelFileError(InputError):
    """A file that is no model, or a damaged one."""

    code = "model-file"


class ParameterError(InputError):
    """An argument outside its allowed values, or several that do not fit together: it names them."""

    code = "parameter"


class MissingRoomError(RosenblattError, ImportError):
    """A part of the package is needed that this installation was made without."""

    code = "missing-room"


class UndecidedError(RosenblattError, ValueError):
    """A proof is needed, but the question is undecided."""

    code = "undecided"


class StorageError(RosenblattError, OSError):
    """A file could not be written; the old one is unchanged."""

    code = "storage"


class ClusterError(RosenblattError, RuntimeError):
    """A Dask cluster cannot go on: its scheduler is lost, it has no workers, or a task ends them."""

    code = "cluster"


class DeviceError(RosenblattError, RuntimeError):
    """A GPU is missing, too small or lost, or cannot do what is asked; the message says what can."""

    code = "device"


class TrainingOverflowError(RosenblattError, ValueError, OverflowError):
    """Training on finite data drove a score or a weight beyond the largest float."""

    code = "training-overflow"


class PredictionOverflowError(RosenblattError, ValueError, OverflowError):
    """The score of a finite row is beyond the largest float."""

    code = "prediction-overflow"


class TrivialSeparationWarning(UserWarning):
    """There are so few rows, compared with the features, that almost any labels are separable."""


class ScaleWarning(UserWarning):
    """Training has not separated the rows, and their columns should be scaled."""


class LeftOutWarning(UserWarning):
    """A `TableEncoder` leaves out columns that seem to name or to number the rows."""


class KernelWarning(UserWarning):
    """A function passed as a kernel is not symmetric positive semidefinite on the training data."""


# What is said where training ends without success.

teller: ContextVar[Callable[[str], object] | None] = ContextVar("rosenblatt_teller", default=None)


@contextmanager
def told_by(tell: Callable[[str], object]) -> Iterator[None]:
    """Inside, fits that end without success call this, in place of a warning by a class of scikit-learn.

    Examples
    --------
    >>> import rosenblatt as rb
    >>> with told_by(print):
    ...     _ = rb.Perceptron().fit([[0.0], [1.0], [2.0]], [0, 1, 0])  # doctest: +ELLIPSIS
    No hyperplane separates these rows (proved: see certificate_). ...
    """
    before = teller.set(tell)
    try:
        yield
    finally:
        teller.reset(before)
