"""Look for a wrong verdict: adversarial problems, decided in floats with bounds, and by an exact oracle.

    python scripts/attack_verdicts.py            # 100,000 problems, some minutes
    python scripts/attack_verdicts.py 1000 --seed 7 --output counts.json

Kinds: integers full of ties, hulls that touch, values one rounding apart, equal rows, rows on a line, values near
the ends of floats, nearly singular columns, one-hot columns, single precision, sums that are 0 up to a rounding.
One problem in fifty has 80 to 400 rows and up to 15 features; half of these are sparse, and most have zeros.
Problems this small would be decided exactly at once; here, floats get each of them first. The oracle is exact and
knows nothing of floats; of large problems it judges the rows that are said to contradict each other, and a plane
by its sides. Prints the counts, and writes them as JSON; exits with 1 at a wrong answer.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path
from unittest.mock import patch

import numpy as np
from scipy.sparse import csr_array

sys.path.insert(0, str(Path(__file__).parents[1]))

from rosenblatt.certify import decide as deciding
from rosenblatt.certify.hinge import Combined, HingeNewton
from rosenblatt.certify.problem import SeparationProblem
from rosenblatt.certify.rigorous import Contradiction, prove_contradiction
from rosenblatt.certify.shortcuts import peel
from rosenblatt.certify.simplex import Meeting
from rosenblatt.certify.time_limit import Clock
from rosenblatt.rows.features import as_rows
from rosenblatt.typing import Floats
from tests.certify import oracle

Rows = tuple[Floats, Floats]


def integers(r: np.random.Generator, n: int, d: int) -> Rows:
    """Small integers, full of ties, most on their side of a hyperplane."""
    X = r.integers(-2, 3, (n, d)).astype(float)
    return X, labels(r, X)


def touching(r: np.random.Generator, n: int, d: int) -> Rows:
    """Classes on both sides of a hyperplane that some rows of both lie on."""
    X = r.integers(-3, 4, (n, d)).astype(float)
    f = X @ r.integers(-2, 3, d)
    return X, np.where(f == 0, r.choice([-1.0, 1.0], n), np.sign(f))


def ulp(r: np.random.Generator, n: int, d: int) -> Rows:
    """Rows one rounding beside others, of either class."""
    X = r.standard_normal((n, d))
    half = n // 2
    X[half : 2 * half] = np.nextafter(X[:half], r.choice([-np.inf, np.inf], (half, d)))
    return X, labels(r, X)


def duplicates(r: np.random.Generator, n: int, d: int) -> Rows:
    """Rows that occur again and again."""
    X = r.standard_normal((max(2, n // 3), d))[r.integers(0, max(2, n // 3), n)]
    return X, labels(r, X)


def collinear(r: np.random.Generator, n: int, d: int) -> Rows:
    """Rows on a line, in exact arithmetic or up to a rounding."""
    t = r.integers(-4, 5, (n, 1)) if r.random() < 0.5 else r.standard_normal((n, 1))
    X = t * r.integers(-3, 4, (1, d)) + r.integers(-3, 4, (1, d))
    return X.astype(float), labels(r, X)


def extreme(r: np.random.Generator, n: int, d: int) -> Rows:
    """Values from 1e−300 to 1e300."""
    X = r.standard_normal((n, d)) * 10.0 ** r.integers(-300, 301, d if r.random() < 0.5 else (n, d))
    return X, labels(r, r.standard_normal((n, d)))


def singular(r: np.random.Generator, n: int, d: int) -> Rows:
    """Columns that are combinations of others, exactly or nearly."""
    X = r.integers(-4, 5, (n, d)).astype(float)
    X[:, -1] = X[:, :-1] @ r.integers(-2, 3, d - 1) if d > 1 else X[:, -1]
    if r.random() < 0.5:
        X += r.standard_normal(X.shape) * 10.0 ** -r.integers(6, 17)
    return X, labels(r, X)


def one_hot(r: np.random.Generator, n: int, d: int) -> Rows:
    """Categories as columns of 0 and 1, as they are or standardised."""
    X = np.eye(d)[r.integers(0, d, n)]
    if r.random() < 0.5:
        X = (X - X.mean(axis=0)) / (X.std(axis=0) + 0.1)
    return X, labels(r, r.standard_normal((n, d)))


def single(r: np.random.Generator, n: int, d: int) -> Rows:
    """Single precision."""
    X = r.standard_normal((n, d)).astype(np.float32)
    return X, labels(r, X)


def near(r: np.random.Generator, n: int, d: int) -> Rows:
    """Make combinations of rows that are 0 up to a rounding: one row is the mean of the others, rounded."""
    n = d + 1 + int(r.random() < 0.2)  # so few that only these weights can do
    X = r.standard_normal((n, d))
    weights = r.random(n - 1) + 0.1
    X[-1] = (weights @ X[:-1]) / weights.sum()
    return X, np.append(np.ones(n - 1), -1.0)


KINDS: dict[str, Callable[[np.random.Generator, int, int], Rows]] = {
    made.__name__: made
    for made in (integers, touching, ulp, duplicates, collinear, extreme, singular, one_hot, single, near)
}


def labels(r: np.random.Generator, X: Floats) -> Floats:
    """Return labels at random, or those of a hyperplane with few of them wrong."""
    y = r.choice([-1.0, 1.0], len(X))
    if r.random() < 0.6:
        with np.errstate(all="ignore"):
            f = X @ r.integers(-2, 3, X.shape[1]) + r.integers(-1, 2)
        y = np.where(f == 0, y, np.sign(f))
        wrong = r.random(len(X)) < r.choice([0.0, 0.1])
        y = np.where(wrong, -y, y)
    return y


def in_floats(problem: SeparationProblem) -> str:
    """Decide by peeling and floats alone."""
    left = np.flatnonzero(peel(problem.matrix.X, problem.y, bias=problem.bias).left)
    if not len(left):
        return "separable"
    part = problem.some(left)
    newton = HingeNewton(part, Clock(None), fixed=True)
    try:
        for proposed in newton.run():
            if isinstance(proposed, Combined):
                Z = part.signed_exactly(proposed.rows)
                if prove_contradiction(Z, proposed.weights, bias=part.bias) is not None:
                    return "inseparable"
    except FloatingPointError:
        pass
    rows = np.arange(part.n)  # any weights may be tried: the theorem is not about the solver
    if prove_contradiction(part.signed_exactly(rows), np.ones(part.n), bias=part.bias) is not None:
        return "inseparable"
    return "undecided"


def decided(problem: SeparationProblem) -> str:
    """Decide as fits do, without the exact method for small problems."""
    with patch.object(deciding, "SMALL_VALUES", 0), patch.object(deciding, "MANY_ROWS_A_WEIGHT", 2):
        found = deciding.decide_in_floats(problem, Clock(None))
    return "inseparable" if isinstance(found, Meeting | Contradiction) else "separable"


def large(kind: str, r: np.random.Generator, *, bias: bool) -> tuple[str, str]:
    """Decide a problem of 80 to 400 rows as fits do; return the answer, and the truth about it."""
    d = int(r.integers(2, 16))
    X, y = KINDS[kind](r, int(r.integers(80, 401)), d)
    if r.random() < 0.6:
        X = np.where(r.random(X.shape) < r.choice([0.1, 0.3, 0.6]), X, 0.0)
    if r.random() < 0.5:
        with np.errstate(all="ignore"):
            y = labels(r, X)
    if (y == y[0]).all():
        y[0] = -y[0]
    sparse = r.random() < 0.5
    problem = SeparationProblem(as_rows(csr_array(X) if sparse else X), y, bias=bias)
    margins = y * (X @ r.standard_normal(d)) if r.random() < 0.5 else None
    with patch.object(deciding, "SMALL_VALUES", 0), np.errstate(all="ignore"):
        found = deciding.decide_in_floats(problem, Clock(None), margins=margins)
    if isinstance(found, deciding.Plane):
        rows, answer = np.arange(len(X)), "separable"
    else:
        rows, answer = found.rows, "inseparable"
    told = truth(X[rows], y[rows], found, bias=bias)
    if isinstance(found, Contradiction) and found.spanning and told != "overlap":
        told = f"{told}, though these rows are said to span all features"
    return answer, told


def truth(X: Floats, y: Floats, found: deciding.Plane | Meeting | Contradiction, *, bias: bool) -> str:
    """Return what is exactly true of some rows: of a plane by its sides, else by the exact oracle."""
    if not isinstance(found, deciding.Plane):
        return oracle.decide(oracle.Problem(X.astype(float).tolist(), y.astype(int).tolist(), bias))
    problem = SeparationProblem(as_rows(X), y, bias=bias)
    v = problem.original(found.v.integers, found.v.power)
    b = found.b * (1 if bias else 0)
    right = all(
        side * (sum(Fraction(value) * weight for value, weight in zip(row, v, strict=True)) + b) > 0
        for row, side in zip(X.tolist(), y.astype(int).tolist(), strict=True)
    )
    return "separable" if right else "not shown by this plane"


def attack(
    count: int, seed: int = 0, *, whole: float = 0.1, larger: float = 0.02, kinds: Sequence[str] = tuple(KINDS)
) -> tuple[Counter[tuple[str, str]], list[str]]:
    """Decide problems; return counts by kind and answer, and the wrong ones in words.

    Shares of them go all the way, and have many rows.
    """
    counts: Counter[tuple[str, str]] = Counter()
    wrong = []
    for k in range(count):
        r = np.random.default_rng([seed, k])
        kind = kinds[k % len(kinds)]
        if r.random() < larger and kind != "near":  # which has few rows
            found, is_so = large(kind, r, bias=bool(r.random() < 0.7))
            counts[f"{kind}, 80 to 400 rows", found] += 1
            if found not in (is_so, "inseparable" if is_so in ("overlap", "quasi") else ""):
                wrong.append(f"problem {k} of seed {seed} ({kind}, large): {found}, but it is {is_so}")
            continue
        d = int(r.integers(1, 6))
        X, y = KINDS[kind](r, int(r.integers(d + 2, 6 * d + 8)), d)
        if (y == y[0]).all():
            y[0] = -y[0]
        bias = bool(r.random() < 0.7)
        problem = SeparationProblem(as_rows(X), y, bias=bias)
        with np.errstate(all="ignore"):
            found = decided(problem) if r.random() < whole else in_floats(problem)
        counts[kind, found] += 1
        if found == "undecided":
            continue
        truth = oracle.decide(oracle.Problem(X.astype(float).tolist(), y.astype(int).tolist(), bias))
        if (truth == "separable") != (found == "separable"):
            wrong.append(f"problem {k} of seed {seed} ({kind}): {found}, but it is {truth}")
    return counts, wrong


def main() -> int:
    """Attack, and print the counts."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("count", type=int, nargs="?", default=100_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--output", type=Path, help="a JSON file for the counts")
    given = parser.parse_args()
    began = time.process_time()
    counts, wrong = attack(given.count, given.seed)
    for kind in sorted({kind for kind, _ in counts}):
        told = ", ".join(f"{counts[kind, each]:,} {each}" for each in ("separable", "inseparable", "undecided"))
        print(f"{kind:>26}: {told}")
    decided_ = sum(counts.values()) - sum(number for (_, found), number in counts.items() if found == "undecided")
    print(
        f"{given.count:,} problems, {decided_:,} decided, {len(wrong)} wrong, {time.process_time() - began:.0f} s"
    )
    print("\n".join(wrong[:20]))
    if given.output is not None:
        answers = {f"{kind}: {found}": number for (kind, found), number in sorted(counts.items())}
        record = {"problems": given.count, "seed": given.seed, "decided": decided_, "wrong": wrong, **answers}
        given.output.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
