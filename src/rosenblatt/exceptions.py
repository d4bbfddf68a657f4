"""Every error this package raises on purpose.

The tree is small so that a caller can catch as much or as little as they like::

    RosenblattError
    ├── InputError (also a ValueError)      something handed in cannot be used
    │   ├── ShapeError                      wrong number of dimensions, rows or features
    │   ├── DataTypeError (also TypeError)  values that are not real numbers
    │   ├── NonFiniteError                  NaN or infinity
    │   ├── LabelError                      labels that do not name classes
    │   ├── WeightError                     sample or class weights
    │   ├── OrderError                      an order of visits
    │   ├── NotSeparableError               classes that no hyperplane separates, where one is asked for
    │   ├── FormatError                     a data file that is not what its format says, and where
    │   ├── ModelFileError                  a file that is no model, or none that can be trusted
    │   └── ParameterError                  any other argument
    ├── StorageError (also an OSError)      a file that could not be written; the old one is as it was
    ├── UndecidedError (also a ValueError)  a proof is asked for of what was not decided
    └── TrainingOverflowError               finite data, but weights beyond the largest float
        (also a ValueError and an OverflowError)

Each message names the argument, the place in it, and the way out. There are two warnings of its own,
`KernelWarning` and `TrivialSeparationWarning`; those about limits that training ended on are scikit-learn's
``ConvergenceWarning``.
"""

from __future__ import annotations

from typing import Any

__all__ = [
    "DataTypeError",
    "FormatError",
    "InputError",
    "KernelWarning",
    "LabelError",
    "ModelFileError",
    "NonFiniteError",
    "NotSeparableError",
    "OrderError",
    "ParameterError",
    "RosenblattError",
    "ShapeError",
    "StorageError",
    "TrainingOverflowError",
    "TrivialSeparationWarning",
    "UndecidedError",
    "WeightError",
]


class RosenblattError(Exception):
    """Anything this package raises on purpose."""


class InputError(RosenblattError, ValueError):
    """Something handed in cannot be used."""


class ShapeError(InputError):
    """The number of dimensions, rows or features does not fit."""


class DataTypeError(InputError, TypeError):
    """Values that are not real numbers, or that float64 cannot hold."""


class NonFiniteError(InputError):
    """NaN or infinity where a number is needed."""


class LabelError(InputError):
    """Labels that do not name the classes of a problem."""


class WeightError(InputError):
    """Sample or class weights that are negative, not finite, or of the wrong length."""


class OrderError(InputError):
    """An order of visits that names rows which do not exist."""


class NotSeparableError(InputError):
    """Classes that no hyperplane separates, or not by more than rounding, where one is asked for.

    Attributes
    ----------
    certificate : Inseparable, Separable or None
        The proof of which of the two it is, where it was decided exactly; see `rosenblatt.certify`.
    """

    certificate: Any = None


class FormatError(InputError):
    """A data file that is not what its format says.

    Attributes
    ----------
    file : str or None
        As it was named; ``<stdin>`` for standard input.
    line, column : int or None
        Where, both from 1; the column counts bytes in lines of text, and fields in tables.
    """

    def __init__(
        self, problem: str, *, file: str | None = None, line: int | None = None, column: int | None = None
    ) -> None:
        self.file, self.line, self.column = file, line, column
        places = [str(each) for each in (file, line, column) if each is not None]
        super().__init__(f"{':'.join(places)}: {problem}" if places else problem)


class ModelFileError(InputError):
    """A file that is no model, or none that can be trusted."""


class ParameterError(InputError):
    """An argument outside the values it may take."""


class UndecidedError(RosenblattError, ValueError):
    """A proof is asked for of what was not decided."""


class StorageError(RosenblattError, OSError):
    """A file could not be written; what stood there before is as it was."""


class TrainingOverflowError(RosenblattError, ValueError, OverflowError):
    """Training on finite data drove a score or a weight beyond the largest float."""


class TrivialSeparationWarning(UserWarning):
    """Data so few in so many dimensions that they are separable whatever their labels."""


class KernelWarning(UserWarning):
    """A function handed in as a kernel that is none on the training data: not symmetric positive semidefinite."""
