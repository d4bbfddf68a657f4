"""What the companion pages state about all data, on random problems, in fractions and without the library.

Each theorem is tried with any machine that separates, not only with the best one, and its constant is pinned: a
problem that meets the bound exactly shows that a smaller one would be wrong.
"""

import re
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

F = Fraction
SOURCES = Path(__file__).parents[2] / "docs" / "sources"
SEEDS = range(60)


def dot(a, b):
    return sum((x * z for x, z in zip(a, b, strict=True)), F(0))


def train(rows, labels, start, strict=False):
    """Return the weights after each mistake of the plain rule; with `strict`, a tie is no mistake."""
    w, path = list(start), [list(start)]
    while True:
        before = len(path)
        for row, label in zip(rows, labels, strict=True):
            signed = label * dot(w, row)
            if signed < 0 or (signed == 0 and not strict):
                w = [a + label * b for a, b in zip(w, row, strict=True)]
                path.append(list(w))
        if len(path) == before:
            return path


def problem(seed, unit=False, bias=True):
    """Return rows, labels and a machine (w, b) that separates them; with `unit`, of rows of length 1."""
    rng = np.random.default_rng(seed)
    while True:
        d = int(rng.integers(1, 4)) + unit
        machine = [F(int(v)) for v in rng.integers(-3, 4, d + 1)]
        machine[-1] *= bias
        rows = [[F(int(v)) for v in rng.integers(-4, 5, d)] for _ in range(int(rng.integers(3, 9)))]
        if unit:  # the point of the unit circle at the slope t, in the first two coordinates
            slopes = [F(int(p), int(q)) for p, q in rng.integers([-5, 1], 6, (len(rows), 2))]
            rows = [[(1 - t * t) / (1 + t * t), 2 * t / (1 + t * t), *[F(0)] * (d - 2)] for t in slopes]
        scores = [dot(machine, [*row, F(1)]) for row in rows]
        labels = [1 if score > 0 else -1 for score in scores]
        if any(machine[:-1]) and 0 not in scores and len(set(labels)) == 2:
            return rows, labels, machine[:-1], machine[-1]


def says(page, formula):
    assert formula in " ".join((SOURCES / f"{page}.md").read_text(encoding="utf-8").split())


@pytest.mark.parametrize("seed", SEEDS)
def test_zhang_mistakes_are_at_most_c_squared_over_gamma_squared(seed):
    rows, labels, w, b = problem(seed)
    padded, u = [[*row, F(1)] for row in rows], [*w, b]
    least = min(y * dot(u, x) for x, y in zip(padded, labels, strict=True))
    bound = max(dot(x, x) for x in padded) * dot(u, u) / least**2
    path = train(padded, labels, [F(0)] * len(u))
    assert len(path) - 1 <= bound
    for k, state in enumerate(path):  # the two inequalities of the proof
        assert dot(state, u) >= k * least
        assert dot(state, state) <= k * max(dot(x, x) for x in padded)
    says("zhang", "at most $C^2/\\gamma^2$ mistakes")


@pytest.mark.parametrize("seed", SEEDS)
def test_kernel_slides_updates_are_at_most_their_bound(seed):
    rows, labels, w, b = problem(seed)
    least = min(y * (dot(w, x) + b) for x, y in zip(rows, labels, strict=True))
    square = max(dot(x, x) for x in rows)
    bound = (b * b + dot(w, w)) * (square + 1) / least**2  # of w/‖w‖ and b/‖w‖
    assert len(train([[*row, F(1)] for row in rows], labels, [F(0)] * (len(w) + 1))) - 1 <= bound
    says("kernel_slides", "$(b^{*2} + 1)(R^2 + 1)/\\rho^2$")


@pytest.mark.parametrize("seed", SEEDS)
def test_koski_mistakes_are_at_most_four_r_squared_over_gamma_squared(seed):
    rows, labels, w, b = problem(seed)
    least = min(y * (dot(w, x) + b) for x, y in zip(rows, labels, strict=True))
    square = max(dot(x, x) for x in rows)
    assert b * b < square * dot(w, w)  # |b|/‖w‖ < R, because both labels occur
    bound = 4 * square * dot(w, w) / least**2
    w_k, b_k, mistakes = [F(0)] * len(w), F(0), 0
    while True:
        before = mistakes
        for x, y in zip(rows, labels, strict=True):
            if y * (dot(w_k, x) + b_k) <= 0:
                w_k, b_k, mistakes = (
                    [a + y * c for a, c in zip(w_k, x, strict=True)],
                    b_k + y * square,
                    mistakes + 1,
                )
        if mistakes == before:
            break
    assert mistakes <= bound
    says("koski", "Mistakes are at most $(2R/\\gamma)^2$.")


@pytest.mark.parametrize("seed", SEEDS)
def test_harchaoui_from_the_first_row_one_update_less_is_enough(seed):
    rows, labels, u, _ = problem(seed, unit=True, bias=False)
    least = min(y * dot(u, x) for x, y in zip(rows, labels, strict=True))
    start = [labels[0] * v for v in rows[0]]
    path = train(rows, labels, start, strict=True)
    assert len(path) <= dot(u, u) / least**2
    for t, state in enumerate(path, 1):
        assert dot(state, u) >= t * least
        assert dot(state, state) <= t
    says("harchaoui", "At most $1/\\gamma^2$ updates.")


@pytest.mark.parametrize("seed", SEEDS)
def test_harchaoui_mistakes_on_any_rows(seed):
    """M ≤ Σ l + √(Σ‖x‖²)/γ over the mistakes, at any unit u and γ; here as (M − Σ l)²γ² ≤ Σ‖x‖²."""
    rng = np.random.default_rng(seed)
    rows = [[F(int(v)) for v in rng.integers(-4, 5, 2)] for _ in range(8)]
    labels = [int(v) for v in rng.choice([-1, 1], 8)]
    u, gamma = [F(3, 5), F(4, 5)], F(int(rng.integers(1, 20)), 4)
    w, losses, squares, mistakes = [F(0), F(0)], F(0), F(0), 0
    for _ in range(5):
        for x, y in zip(rows, labels, strict=True):
            if y * dot(w, x) <= 0:
                w, mistakes = [a + y * b for a, b in zip(w, x, strict=True)], mistakes + 1
                losses, squares = losses + max(F(0), 1 - y * dot(u, x) / gamma), squares + dot(x, x)
    rest = mistakes - losses
    assert rest <= 0 or (rest * gamma) ** 2 <= squares


@pytest.mark.parametrize("seed", SEEDS)
def test_harchaoui_lifted_rows_have_the_margin_of_the_lemma(seed):
    rng = np.random.default_rng(seed)
    rows = [[F(int(v)) for v in rng.integers(-4, 5, 2)] for _ in range(6)]
    labels = [int(v) for v in rng.choice([-1, 1], 6)]
    best, gamma = [F(3, 5), F(-4, 5)], F(int(rng.integers(1, 12)), 3)
    a, b = F(5, 13), F(12, 13)  # b = √(1 − a²)
    losses = [max(F(0), gamma - y * dot(best, x)) for x, y in zip(rows, labels, strict=True)]
    w = [*best, *[a / b * y * loss for y, loss in zip(labels, losses, strict=True)]]
    assert dot(w, w) == 1 + a**2 / b**2 * sum(loss**2 for loss in losses)
    for i, (x, y) in enumerate(zip(rows, labels, strict=True)):
        lifted = [a * v for v in x] + [b if j == i else F(0) for j in range(6)]
        assert y * dot(w, lifted) >= a * gamma  # divide by ‖w‖ for γ'


@pytest.mark.parametrize("seed", SEEDS)
def test_hladka_holub_without_a_bias_updates_are_at_most_one_over_gamma_squared(seed):
    rows, labels, u, _ = problem(seed, unit=True, bias=False)
    least = min(y * dot(u, x) for x, y in zip(rows, labels, strict=True))
    path = train(rows, labels, [F(0)] * len(u))
    assert len(path) - 1 <= dot(u, u) / least**2
    for before, after in pairwise(path):  # the same example has gained ‖x‖²
        step = [c - a for a, c in zip(before, after, strict=True)]
        assert dot(after, step) - dot(before, step) == dot(step, step) == 1


def test_the_constants_cannot_be_smaller():
    """Rows 1 and −1 meet the bounds of Zhang and of the kernel slides; without a bias, those of the others."""
    rows, labels = [[F(1)], [F(-1)]], [1, -1]
    padded = [[*row, F(1)] for row in rows]
    assert len(train(padded, labels, [F(0), F(0)])) - 1 == 2  # C²/γ² = 2/1, (0 + 1)(1 + 1)/1 = 2
    assert len(train(rows, labels, [F(0)])) - 1 == 1  # 1/γ² = 1


@pytest.mark.parametrize("seed", range(20))
def test_zhang_an_affine_function_is_known_from_its_values_at_zero_and_at_unit_vectors(seed):
    rng = np.random.default_rng(seed)
    d = int(rng.integers(1, 6))
    w, b = [F(int(v), 7) for v in rng.integers(-9, 10, d)], F(int(rng.integers(-9, 10)), 3)
    unit = [[F(int(j == i)) for j in range(d)] for i in range(d)]
    at_zero = dot(w, [F(0)] * d) + b
    found = [dot(w, e) + b - at_zero for e in unit]
    x = [F(int(v), 5) for v in rng.integers(-9, 10, d)]
    assert (found, at_zero) == (w, b)
    assert dot(found, x) + at_zero == dot(w, x) + b


@pytest.mark.parametrize("seed", range(20))
def test_koski_near_points_have_near_scores(seed):
    rng = np.random.default_rng(seed)
    w, x, z = ([F(int(v)) for v in rng.integers(-9, 10, 3)] for _ in range(3))
    apart = [a - b for a, b in zip(x, z, strict=True)]
    assert dot(w, apart) ** 2 <= dot(w, w) * dot(apart, apart)


CHAPTERS = [
    *("neuron", "geometry", "update", "six_points", "convergence", "learning_rate", "order_and_start", "cycling"),
    *("xor", "pocket", "lifting", "widest", "kernel_trick", "layers", "not_separable"),
]


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_chapters_and_companions_link_each_other(chapter):
    companions = [path.read_text(encoding="utf-8") for path in SOURCES.glob("*.md")]
    assert any(f"(../understand/{chapter}.md" in text for text in companions)
    assert "(../sources/" in (SOURCES.parent / "understand" / f"{chapter}.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "page", ["koski", "hladka_holub", "harchaoui", "kernel_slides", "zhang", "index", "errata"]
)
def test_sentences_of_the_companions_are_short(page):
    """Outside tables, formulas and code, sentences have at most 18 words on average."""
    text = (SOURCES / f"{page}.md").read_text(encoding="utf-8")
    prose = re.sub(r"```.*?```|:::.*?:::|^\|.*$|^#.*$|\$\$.*?\$\$", "", text, flags=re.DOTALL | re.MULTILINE)
    prose = re.sub(r"\$[^$]*\$|`[^`]*`", "it", re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", prose))
    sentences = [each for each in re.split(r"(?<=[.!?:])\s+", prose) if re.search(r"\w", each)]
    assert sum(len(each.split()) for each in sentences) <= 18 * len(sentences)
