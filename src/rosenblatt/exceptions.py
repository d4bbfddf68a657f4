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
    │   └── ParameterError                  any other argument
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
    "InputError",
    "KernelWarning",
    "LabelError",
    "NonFiniteError",
    "NotSeparableError",
    "OrderError",
    "ParameterError",
    "RosenblattError",
    "ShapeError",
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


class ParameterError(InputError):
    """An argument outside the values it may take."""


class UndecidedError(RosenblattError, ValueError):
    """A proof is asked for of what was not decided."""


class TrainingOverflowError(RosenblattError, ValueError, OverflowError):
    """Training on finite data drove a score or a weight beyond the largest float."""


class TrivialSeparationWarning(UserWarning):
    """Data so few in so many dimensions that they are separable whatever their labels."""


class KernelWarning(UserWarning):
    """A function handed in as a kernel that is none on the training data: not symmetric positive semidefinite."""
