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
    │   └── ParameterError                  any other argument
    ├── StorageError (also an OSError)      a file that could not be written; the old one is unchanged
    ├── ClusterError (also a RuntimeError)  a Dask cluster that cannot go on
    ├── MissingRoomError (an ImportError)   a part of the package that this installation was made without
    ├── UndecidedError (also a ValueError)  a proof is needed, but the question is undecided
    ├── TrainingOverflowError               finite data, but weights beyond the largest float
    │   (also a ValueError and an OverflowError)
    └── PredictionOverflowError             a finite row whose score is beyond the largest float
        (also a ValueError and an OverflowError)

Each message names the argument, the place in it, and what to do. There are three warnings, `KernelWarning`,
`ScaleWarning` and `TrivialSeparationWarning`. Training that ends on a limit warns by scikit-learn's
``ConvergenceWarning``.

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

from typing import Any


class RosenblattError(Exception):
    """The base class of all errors of this package."""


class InputError(RosenblattError, ValueError):
    """An argument cannot be used."""


class ShapeError(InputError):
    """The number of dimensions, rows or features is wrong."""


class DataTypeError(InputError, TypeError):
    """Values that are not real numbers, or that float64 cannot hold."""


class NonFiniteError(InputError):
    """NaN or infinity instead of a finite number."""


class LabelError(InputError):
    """Labels that do not name the classes of a problem."""


class WeightError(InputError):
    """Sample or class weights that are negative, not finite, or of the wrong length."""


class OrderError(InputError):
    """An order of visits that names rows which do not exist."""


class NotSeparableError(InputError):
    """No hyperplane separates the classes, or only by rounding, but one is needed.

    Attributes
    ----------
    certificate : Inseparable, Separable or None
        The proof of whether they are separable, if that was decided exactly; see `rosenblatt.certify`.
    """

    certificate: Any = None


class FormatError(InputError):
    """A data file that violates its format.

    Attributes
    ----------
    problem : str
        What is wrong.
    remedies : tuple of str
        What can be done about it, each the end of a sentence such as "correct it".
    file : str or None
        Its name; ``<stdin>`` for standard input.
    line, column : int or None
        The place, both from 1; the column counts bytes in lines of text, and fields in tables.

    Examples
    --------
    >>> FormatError("a quote is never closed", ("close it", "save it as TSV"), file="a.csv", line=3)
    FormatError('a.csv:3: a quote is never closed; close it, or save it as TSV')
    """

    def __init__(
        self,
        problem: str,
        remedies: tuple[str, ...] = (),
        *,
        file: str | None = None,
        line: int | None = None,
        column: int | None = None,
    ) -> None:
        self.problem, self.remedies = problem, remedies
        self.file, self.line, self.column = file, line, column
        super().__init__(self.told(remedies))

    def told(self, remedies: tuple[str, ...]) -> str:
        """Return the message with some of the remedies, or none."""
        places = [str(each) for each in (self.file, self.line, self.column) if each is not None]
        *others, last = remedies or ("",)
        ways = "; " * bool(last) + ", ".join([*others, f"or {last}" if others else last])
        return f"{':'.join(places)}: {self.problem}{ways}" if places else f"{self.problem}{ways}"


class NoRowsError(FormatError):
    """A data file that follows its format, but has no row that can be read."""


class ModelFileError(InputError):
    """A file that is no model, or a damaged one."""


class ParameterError(InputError):
    """An argument outside its allowed values."""


class MissingRoomError(RosenblattError, ImportError):
    """A part of the package is needed that this installation was made without."""


class UndecidedError(RosenblattError, ValueError):
    """A proof is needed, but the question is undecided."""


class StorageError(RosenblattError, OSError):
    """A file could not be written; the old one is unchanged."""


class ClusterError(RosenblattError, RuntimeError):
    """A Dask cluster cannot go on: its scheduler is lost, it has no workers, or a task ends them."""


class TrainingOverflowError(RosenblattError, ValueError, OverflowError):
    """Training on finite data drove a score or a weight beyond the largest float."""


class PredictionOverflowError(RosenblattError, ValueError, OverflowError):
    """The score of a finite row is beyond the largest float."""


class TrivialSeparationWarning(UserWarning):
    """There are so few rows, compared with the features, that almost any labels are separable."""


class ScaleWarning(UserWarning):
    """Training has not separated the rows, and their columns should be scaled."""


class KernelWarning(UserWarning):
    """A function passed as a kernel is not symmetric positive semidefinite on the training data."""
