"""Association units, each wired to a few random photocells (Rosenblatt 1958)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.memory import require_neurons
from rosenblatt.data.reals import read_only
from rosenblatt.exceptions import ParameterError
from rosenblatt.typing import Floats, Ints

FEW = 16
"""For fewer images it is faster to add the wired photocells than to multiply by the whole matrix."""


@dataclass(frozen=True, eq=False, repr=False)
class Wiring:
    """The photocells that excite and inhibit each association unit.

    A unit is on if the light that excites it exceeds the light that inhibits it by at least the threshold.

    Attributes
    ----------
    excitatory : ndarray of int, shape (n_units, n_excitatory)
        The photocells that excite each unit, numbered line by line from the top left.
    inhibitory : ndarray of int, shape (n_units, n_inhibitory)
        The photocells that inhibit it, all different from those.
    threshold : float
        The least difference between the light that excites a unit and the light that inhibits it.
    retina : pair of int
        The rows and columns of photocells.

    Examples
    --------
    >>> wiring = Wiring.draw(3, 2, 1, 1.0, (4, 4), np.random.default_rng(0))
    >>> wiring
    <Wiring: 3 association units on 4 × 4 photocells, each excited by 2 and inhibited by 1, threshold 1>
    >>> wiring.picture(0)
    array([[ 0,  0,  0,  0],
           [ 0,  0,  0,  0],
           [ 1,  1,  0, -1],
           [ 0,  0,  0,  0]], dtype=int8)
    """

    excitatory: Ints
    inhibitory: Ints
    threshold: float
    retina: tuple[int, int]

    @classmethod
    def draw(
        cls, n_units: int, excitatory: int, inhibitory: int, threshold: float, retina: tuple[int, int], rng: Any
    ) -> Wiring:
        """Wire each unit to different photocells, all equally likely."""
        n_cells = retina[0] * retina[1]
        n_wires = excitatory + inhibitory
        if n_wires > n_cells:
            raise ParameterError(
                f"excitatory={excitatory} and inhibitory={inhibitory} are more wires than the retina's {n_cells} "
                "photocells. Lower them, or enlarge the retina."
            )
        n_bytes = n_units * (200 + 32 * n_wires + 9 * n_cells)  # lists, and a matrix as bytes and as floats
        require_neurons(f"Wiring {n_units:,} association units to {n_cells:,} photocells", n_bytes)
        wires = np.array([rng.choice(n_cells, n_wires, replace=False) for _ in range(n_units)], np.int64)
        parts = np.ascontiguousarray(wires[:, :excitatory]), np.ascontiguousarray(wires[:, excitatory:])
        return cls(read_only(parts[0]), read_only(parts[1]), threshold, retina)

    @property
    def n_units(self) -> int:
        """The number of association units."""
        return len(self.excitatory)

    def matrix(self) -> NDArray[np.int8]:
        """Return the wires as numbers, shape (n_units, n_photocells): 1 excites, −1 inhibits, 0 is no wire."""
        wires = np.zeros((self.n_units, self.retina[0] * self.retina[1]), np.int8)
        unit = np.arange(self.n_units)[:, None]
        wires[unit, self.excitatory] = 1
        wires[unit, self.inhibitory] = -1
        return wires

    def picture(self, unit: int) -> NDArray[np.int8]:
        """Return the wires of one unit, in the layout of the retina."""
        wires = np.zeros(self.retina, np.int8)
        wires.flat[self.excitatory[unit]] = 1
        wires.flat[self.inhibitory[unit]] = -1
        return wires

    def respond(self, light: Floats) -> NDArray[np.float32]:
        """Return which units are on, 1 or 0, for the light on the photocells, shape (n_rows, n_photocells).

        float32 holds both exactly, in half the memory. Sums of light are exact, so both ways of adding agree.
        """
        if len(light) < FEW:
            excited = light[:, self.excitatory].sum(axis=2) - light[:, self.inhibitory].sum(axis=2)
        else:
            excited = light @ self.matrix().T.astype(np.float64)
        on: NDArray[np.float32] = (excited >= self.threshold).astype(np.float32)
        return on

    def __repr__(self) -> str:
        rows, columns = self.retina
        return (
            f"<Wiring: {self.n_units} association units on {rows} × {columns} photocells, each excited by "
            f"{self.excitatory.shape[1]} and inhibited by {self.inhibitory.shape[1]}, "
            f"threshold {self.threshold:g}>"
        )
