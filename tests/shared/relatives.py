"""What tests of the perceptron's relatives share: problems of two or more classes, all hypotheses of a run."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from hypothesis import strategies as st
from scipy.sparse import csr_array

from rosenblatt.learning import fit_loop, visitor
from rosenblatt.loops import reference
from tests.oracles import family

CONVENTIONS = st.fixed_dictionaries(
    {
        "tie": st.sampled_from(["mistake", "sign", "half", "correct"]),
        "zero": st.sampled_from([-1, 1]),
        "margin": st.sampled_from([0.0, 0.0, 0.5, 2.0]),
        "eta0": st.sampled_from([0.25, 1.0, 3.0]),
        "bias": st.sampled_from(["unit", "radius", None, 0.5]),
        "order": st.sampled_from(["cyclic", "shuffle", "random"]),
        "init": st.sampled_from(["zero", "first"]),
        "multiclass": st.sampled_from(["direct", "ovr"]),
        "random_state": st.integers(0, 3),
    }
)


class Classes(NamedTuple):
    """Rows of small integers and their classes 0, 1, …, all of which occur."""

    X: np.ndarray
    y: np.ndarray
    weight: np.ndarray | None


@st.composite
def problems(draw: Any, most_classes: int = 4, weights: bool = True) -> Classes:
    """Draw a problem small enough that ties, repeated rows and contradictions are common."""
    K = draw(st.integers(2, most_classes))
    n, d = draw(st.integers(K, 9)), draw(st.integers(1, 3))
    X = draw(st.lists(st.lists(st.integers(-3, 3), min_size=d, max_size=d), min_size=n, max_size=n))
    y = [*range(K), *draw(st.lists(st.integers(0, K - 1), min_size=n - K, max_size=n - K))]
    heavy = st.lists(st.sampled_from([0.0, 0.5, 1.0, 2.0]), min_size=n, max_size=n).filter(any)
    weight = draw(st.none() | heavy) if weights else None
    return Classes(np.array(X, float), np.array(y), None if weight is None else np.array(weight))


def laid_out(X: np.ndarray, layout: str) -> Any:
    """Return a table as numpy or as scipy holds it, in double or single precision."""
    X = X.astype(np.float32) if layout.endswith("32") else X
    return csr_array(X) if layout.startswith("csr") else X


LAYOUTS = st.sampled_from(["dense", "csr"])


class Told(NamedTuple):
    """All hypotheses of a run, rebuilt from its trace by the reference alone, and how they predict."""

    path: list[family.Hypothesis]
    kind: str
    pairs: list[tuple[int, int]]
    zero: int

    def predict(self, w: family.Weights, x: Any) -> int:
        """Return the class of one row."""
        return family.predicted(w, x, self.kind, self.pairs, self.zero)


def told(trace: Any, X: np.ndarray, y: np.ndarray) -> Told:
    """Rebuild the hypotheses of a run; sums of small dyadic fractions are exact."""
    kind, K = trace.scheme.kind, len(trace.classes)
    sides = [[-1, 1]] if kind == "binary" else [] if kind == "direct" else reference.sides(kind, K)
    mistakes = [
        reference.Mistake(*known)
        for known in zip(
            (trace.visit - trace.start.visits).tolist(),
            trace.index.tolist(),
            trace.score.tolist(),
            trace.step.tolist(),
            trace.machine.tolist() if kind != "binary" else [0] * len(trace),
            strict=True,
        )
    ]
    start = np.atleast_2d(trace.start.w).tolist()
    path = family.hypotheses(
        X.tolist(), mistakes, start, trace.bias, lambda m: family.moves(kind, sides, m, int(y[m.index]))
    )
    return Told(path, kind, trace.scheme.pairs, trace.zero)


def interrupt_at(monkeypatch: Any, moment: int) -> None:
    """Have Ctrl-C come after so many blocks of visits, ten to a block."""
    add, calls = fit_loop.Recorder.add, []

    def interrupted(recorder: Any, stretch: Any, mistakes: int) -> None:
        calls.append(stretch)
        if len(calls) == moment:
            raise KeyboardInterrupt
        add(recorder, stretch, mistakes)

    monkeypatch.setattr(visitor, "BLOCK_MISTAKES", 10)
    monkeypatch.setattr(fit_loop.Recorder, "add", interrupted)
