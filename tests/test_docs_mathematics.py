"""What pages say about mathematics, in plain Python and exact numbers, without the library where that is possible.

Examples on pages are run by `test_docs`. Here are the sentences around them: each test computes what a page says.
Numbers in sentences are read from the page.
"""

import json
import re
import warnings
from fractions import Fraction
from itertools import permutations
from math import comb
from pathlib import Path

import numpy as np
import pytest

import rosenblatt as rb
from rosenblatt.learning.trace import exact_curve

DOCS = Path(__file__).parents[1] / "docs"
if not DOCS.exists():
    pytest.skip("there is only the package here", allow_module_level=True)


def page(name):
    """Return a page with its line breaks as spaces."""
    return " ".join((DOCS / f"{name}.md").read_text(encoding="utf-8").split())


def dot(a, b):
    return sum((x * z for x, z in zip(a, b, strict=True)), Fraction(0))


def exact(X):
    return [[Fraction(float(value)) for value in row] for row in X]


def run(rows, labels, order=None, passes=10_000, start=None):
    """Train a perceptron without a bias, in the same order each pass; return weights and mistakes."""
    w, mistakes = start or [Fraction(0)] * len(rows[0]), 0
    for _ in range(passes):
        before = mistakes
        for i in order or range(len(rows)):
            if labels[i] * dot(w, rows[i]) <= 0:
                w = [a + labels[i] * b for a, b in zip(w, rows[i], strict=True)]
                mistakes += 1
        if mistakes == before:
            break
    return w, mistakes


def padded(rows, constant=1):
    return [[*row, Fraction(constant)] for row in rows]


def draw(seed, n=8, d=2, width=6):
    """Return rows of whole numbers with both labels."""
    rng = np.random.default_rng(seed)
    X, y = rng.integers(-width, width + 1, (n, d)), np.where(rng.integers(0, 2, n), 1, -1)
    y[:2] = 1, -1
    return X.astype(float), y


# Which margin: understand/widest, convergence, bounds


def test_the_free_margin_does_not_bound_mistakes():
    rows, labels = [[Fraction(10), Fraction(0)], [Fraction(12), Fraction(0)]], [-1, 1]
    assert min(label * (row[0] - 11) for row, label in zip(rows, labels, strict=True)) == 1  # x1 = 11, distance 1
    longest = max(dot(row, row) for row in padded(rows))
    _, mistakes = run(padded(rows), labels)
    u = [1, 0, -11]
    margin = min(label * dot(u, row) for row, label in zip(padded(rows), labels, strict=True))
    assert (longest, mistakes, longest * dot(u, u) / margin**2) == (145, 233, 17690)
    assert longest < mistakes
    text = page("understand/widest")
    assert all(number in text for number in ("145 mistakes. It makes 233", r"145 \cdot 122 = 17690"))
    assert "This is the $\\gamma$ of [the mistake bound]" not in text


@pytest.mark.parametrize("seed", range(30))
def test_margins_and_bounds_are_ordered_as_the_pages_say(seed):
    X, y = draw(seed, n=5)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        free = rb.certify(X, y, margin=True)
        through = rb.certify(np.column_stack([X, np.ones(len(X))]), y, bias=False, margin=True)
    assert free.verdict == through.verdict
    if free.verdict == "separable":
        assert free.margin.squared[1] >= through.margin.squared[0]  # never smaller
        found = rb.bounds(X, y)
        assert found["radius_padded"].value <= found["radius"].value
        w = np.array([float(value) for value in free.w])
        assert abs(float(free.b)) / np.linalg.norm(w) <= np.linalg.norm(X, axis=1).max()


def test_the_margin_of_sets_that_touch_is_zero():
    from rosenblatt.theory.set_margin import set_margin

    assert set_margin([[0.0], [1.0], [1.0]], [1, 1, -1]).rational == 0
    assert set_margin([[0.0, 0.0], [1.0, 0.0], [2.0, 0.0]], [1, -1, 1]).rational == 0  # all lie on x2 = 0
    assert set_margin([[0.0], [1.0], [2.0]], [1, -1, 1]).high < 0
    says = "it is negative, or 0 where the hulls only touch, or where all rows lie in one hyperplane"
    assert says in page("understand/bounds")


@pytest.mark.slow
def test_batch_steps_make_at_most_n_times_the_mistakes():
    """The errors of all steps are at most n C²/γ² (sources/kernel_slides)."""
    sets = [draw(seed, n=6) for seed in range(30)]
    separable = [(X, y, found["padded"]) for X, y in sets if (found := rb.bounds(X, y)).separable]
    assert len(separable) > 5
    for X, y, bound in separable:
        rows, w, errors = padded(exact(X)), [Fraction(0)] * 3, 0
        while wrong := [i for i in range(6) if y[i] * dot(w, rows[i]) <= 0]:
            errors += len(wrong)
            assert errors <= 6 * bound.value
            w = [a + sum(int(y[i]) * rows[i][j] for i in wrong) for j, a in enumerate(w)]


@pytest.mark.parametrize("seed", [11, 13])
def test_stochastic_descent_makes_the_steps_of_the_perceptron_and_may_end_before_it(seed):
    """Of sources/zhang."""
    X, y = rb.datasets.make_separable(200, 7, margin=0.02, seed=seed)
    clf = rb.Perceptron(order="cyclic").fit(X, y)
    how = {
        "margin": 0,
        "penalty": None,
        "solver": "sgd",
        "learning_rate": "constant",
        "eta0": 1.0,
        "shuffle": False,
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        early = rb.SoftMarginClassifier("perceptron", **how).fit(X, y)
        patient = rb.SoftMarginClassifier("perceptron", **how, n_iter_no_change=1000).fit(X, y)
    assert early.stop_reason_ == "plateau"
    assert early.n_iter_ < clf.n_iter_
    assert patient.coef_.tobytes() == clf.coef_.tobytes()
    assert "It may end before the examples are separated" in page("sources/zhang")


# The update: understand/update, order_and_start, do/teaching, six_points


@pytest.mark.parametrize("start", [Fraction(-7, 2), Fraction(-1), Fraction(-4000)])
def test_an_example_shown_alone_needs_as_many_updates_as_the_page_says(start):
    x = [Fraction(-1), Fraction(3, 2)]
    square = dot(x, x)
    w, b, updates = [start / square * value for value in x], Fraction(0), 0
    assert dot(w, x) + b == start
    while dot(w, x) + b <= 0:
        before = w
        w, b, updates = [a + c for a, c in zip(w, x, strict=True)], b + 1, updates + 1
        moved = [a - c for a, c in zip(w, before, strict=True)]
        assert dot(moved, moved) == square  # the step has the length η‖x‖, not η
    assert updates == -start // (square + 1) + 1
    text = page("understand/update")
    assert r"the weights move by $\eta \|x\|$" in text
    assert r"n (\|x\|^2 + 1) > -y f(x)" in text
    assert "a few always are" not in text


def test_a_far_start_breaks_the_bound_that_holds_from_zero():
    X, y = rb.datasets.load_six_points()
    rows, labels = padded(exact(X)), [int(label) for label in y]
    _, mistakes = run(rows, labels, start=[Fraction(1000), Fraction(500), Fraction(0)])
    assert mistakes == 263
    assert mistakes > rb.bounds(X, y)["padded"].rational > run(rows, labels)[1]
    assert "makes 263 mistakes, not 262" in page("understand/learning_rate")


def test_the_orders_of_the_six_points_end_at_six_lines():
    X, y = rb.datasets.load_six_points()
    rows, labels = padded(exact(X)), [int(label) for label in y]
    runs = [run(rows, labels, order) for order in permutations(range(6))]
    assert len({tuple(w) for w, _ in runs}) == 6
    assert {k: [m for _, m in runs].count(k) for k in (3, 4, 5, 6)} == {3: 497, 4: 49, 5: 110, 6: 64}
    assert all(min(label * dot(w, row) for row, label in zip(rows, labels, strict=True)) > 0 for w, _ in runs)
    text = page("do/teaching")
    assert "not the end" not in text
    assert "[six lines](../understand/order_and_start.md)" in text


def test_after_the_second_update_five_points_are_positive_and_one_is_on_the_line():
    X, _ = rb.datasets.load_six_points()
    scores = [dot([Fraction(-1, 2), Fraction(1, 2), 2], row) for row in padded(exact(X))]
    assert [score > 0 for score in scores].count(True) == 5
    assert scores[4] == 0


def test_the_lab_does_not_show_the_numbers_of_the_blackboard():
    X, y = rb.datasets.load_six_points()
    lab = rb.Perceptron(order="cyclic").fit(X, y)
    board = rb.Perceptron(eta0=0.2, order=[4, 5, 0, 1, 2, 3]).fit(X, y, coef_init=[1, 0.5])
    assert lab.trace_.index.tolist() != board.trace_.index.tolist()
    assert "the lab shows the same numbers" not in page("do/teaching")


# Data that does not separate: understand/margins, cycling, conventions, geometry


@pytest.mark.parametrize("rows", ["xor", "noisy"])
def test_a_perceptron_ends_with_a_proof_on_rows_that_do_not_separate(rows):
    sets = {
        "xor": rb.datasets.load_xor(),
        "noisy": rb.datasets.make_separable(400, 5, margin=0.1, flip=0.1, seed=3),
    }
    X, y = sets[rows]
    with pytest.warns(match="No hyperplane separates"):
        assert rb.Perceptron().fit(X, y).stop_reason_ == "inseparable"
    told = "| data that does not separate | ends [`inseparable`](stopping.md), with a proof"
    assert told in page("understand/margins")


def test_separable_rows_may_make_no_fewer_mistakes_for_long():
    from rosenblatt.stopping import Plateau, Trend

    clf = rb.Perceptron(order="cyclic").fit([[10.0, 0.0], [12.0, 0.0]], [-1, 1])
    counts = clf.mistakes_per_pass_.tolist()
    assert (clf.stop_reason_, len(counts), counts[127]) == ("separated", 128, 0)
    assert set(counts[:127]) == {1, 2}
    trend = Trend()
    assert any(trend.ends(count) for count in counts[:16])
    text = page("understand/stopping")
    assert "127 passes make one or two mistakes each, and the next makes none" in text
    plateau = Plateau(patience=1)
    assert [plateau.ends(epoch, count) for epoch, count in ((1, 100), (2, 98), (3, 97))] == [False, True, False]
    assert "if they are more than 2 % below the mark" in text


def test_the_eighty_rows_cycle_in_exact_numbers():
    rng = np.random.default_rng(7)
    y = np.repeat([1, -1], 40).tolist()
    X = (0.85 * rng.standard_normal((80, 2)) + np.array(y)[:, None] * [1.0, 0.7]).round(2)
    rows = [[*map(int, row), 100] for row in (100 * X).round()]
    w, seen = (0, 0, 0), {}
    while w not in seen:
        seen[w] = len(seen)
        for row, label in zip(rows, y, strict=True):
            if label * sum(a * b for a, b in zip(w, row, strict=True)) <= 0:
                w = tuple(a + label * b for a, b in zip(w, row, strict=True))
    assert len(seen) == 149
    assert "'cycle', 149)" in page("understand/cycling")


def test_the_product_of_a_foot_and_its_distance_is_zero_on_the_line_or_without_a_bias():
    w = [Fraction(3), Fraction(4)]
    for b in (Fraction(0), Fraction(-2)):
        for x in ([Fraction(1), Fraction(1)], [Fraction(2), Fraction(-1)], [Fraction(4, 3), Fraction(-1)]):
            r = (dot(w, x) + b) / dot(w, w)
            foot = [value - r * weight for value, weight in zip(x, w, strict=True)]
            product = dot(foot, [a - c for a, c in zip(x, foot, strict=True)])
            assert product == -b * r
            assert (product == 0) == (b == 0 or r == 0)
    assert "This holds if $x$ lies on $D$" in page("understand/geometry")


@pytest.mark.parametrize("penalty", ["l2", "l1"])
def test_a_penalty_acts_after_the_score(penalty):
    """The first visit is right before its weights shrink, and would be a mistake after it."""
    X, y, alpha, eta = [[1.0, -1.0], [0.5, 0.25]], [1, -1], 0.25, 0.5
    w, b = np.array([1.0, 0.25]), -0.7
    start = w.copy()
    for x, label in zip(X, y, strict=True):
        mistake = label * (w @ x + b) <= 0
        w = w * (1 - eta * alpha) if penalty == "l2" else w
        if mistake:
            w, b = w + eta * label * np.array(x), b + eta * label
        w = np.sign(w) * np.maximum(np.abs(w) - eta * alpha, 0) if penalty == "l1" else w
    clf = rb.Perceptron(penalty=penalty, alpha=alpha, eta0=eta, order="cyclic", max_iter=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        clf.fit(X, y, coef_init=[start], intercept_init=[-0.7])
    np.testing.assert_allclose(clf.coef_[0], w, rtol=1e-15)
    text = page("understand/conventions")
    assert "every visit scores its row, and then multiplies them by" in text
    assert "at the end of every visit they move by" in text


def test_the_rate_matters_with_an_l2_penalty_and_not_with_an_l1_penalty():
    X, y = rb.datasets.make_separable(60, 3, margin=0.02, flip=0.1, seed=3)
    for penalty in ("l1", "l2"):
        runs = [
            rb.Perceptron(penalty=penalty, alpha=0.01, eta0=eta, order="cyclic", max_iter=5, decide=False)
            for eta in (1.0, 0.25)  # powers of two only scale, but for the factor 1 - eta alpha
        ]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            one, quarter = (each.fit(X, y) for each in runs)
        same = np.array_equal(one.trace_.index, quarter.trace_.index) and (one.coef_ == 4 * quarter.coef_).all()
        assert same == (penalty == "l1")
    assert "from zero $\\eta$ changes no mistake" in page("understand/learning_rate")


def test_a_vote_counts_the_visits_after_which_a_hypothesis_was_the_current_one():
    X, y = rb.datasets.load_or()
    rows, w, counts = padded(exact(X)), [Fraction(0)] * 3, [0]
    while True:
        before = len(counts)
        for row, label in zip(rows, y.tolist(), strict=True):
            if label * dot(w, row) <= 0:
                w = [a + label * b for a, b in zip(w, row, strict=True)]
                counts.append(0)
            counts[-1] += 1
        if len(counts) == before:
            break
    clf = rb.VotedPerceptron(order="cyclic").fit(X, y)
    assert clf.survived_.tolist() == counts
    assert sum(counts) == clf.t_
    assert "They sum to the number of visits" in page("understand/not_separable")


def test_the_bound_of_relaxation_needs_a_margin_and_a_start_at_zero():
    X, y = rb.datasets.make_separable(50, 3, margin=0.1, seed=1)
    for margin, start in ((0.0, None), (1.0, [[-100, 50, 20]])):
        clf = rb.PassiveAggressiveClassifier(C=np.inf, margin=margin, max_iter=2)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            clf.fit(X, y, coef_init=start)
        assert not rb.bounds(X, y, model=clf)["passive"].applies
    assert "on separable rows, from zero and with a margin above 0, there are at most" in page("do/online_rules")


def test_liblinear_penalises_the_bias_and_other_solvers_do_not():
    from sklearn.linear_model import LogisticRegression

    X, y = rb.datasets.load_six_points()
    moved = {}
    for solver in ("lbfgs", "liblinear"):
        here, there = (LogisticRegression(solver=solver, tol=1e-10).fit(X + shift, y).coef_ for shift in (0, 5))
        moved[solver] = abs(here - there).max()
    assert moved["lbfgs"] < 1e-4
    assert moved["liblinear"] > 1e-2
    assert 'but for its solver `"liblinear"`' in page("understand/widest")


@pytest.mark.parametrize("d", [1, 2, 40])
def test_random_labels_of_twice_as_many_rows_as_weights_separate_half_of_the_time(d):
    def chance(n):
        return Fraction(2 * sum(comb(n - 1, k) for k in range(d + 1)), 2**n)  # Cover 1965, with a bias

    assert chance(d + 1) == 1 > chance(d + 2)
    assert chance(2 * (d + 1)) == Fraction(1, 2)
    assert "with probability one half, if n = 2 (d + 1)" in page("do/probes")


def test_what_is_said_of_ties_that_are_never_corrected():
    X, y = rb.datasets.load_six_points()
    assert rb.Perceptron(tie="correct", margin=1.0).fit(X, y).n_mistakes_ > 0
    with pytest.warns(match="3 rows lie exactly on the hyperplane and are predicted wrong"):
        assert rb.Perceptron(tie="correct").fit(X, y).converged_ is False
    assert "how many rows on the hyperplane are predicted wrong" in page("understand/conventions")


@pytest.mark.parametrize("step", [Fraction(1, 4), Fraction(1), Fraction(7, 4), Fraction(2)])
def test_a_correction_of_a_filter_leaves_one_minus_mu_of_the_error(step):
    taps, samples = [Fraction(1, 3), Fraction(-2), Fraction(0)], [Fraction(3), Fraction(1, 2), Fraction(-1)]
    error = Fraction(5) - dot(taps, samples)
    moved = [w + step * error * x / dot(samples, samples) for w, x in zip(taps, samples, strict=True)]
    assert Fraction(5) - dot(moved, samples) == (1 - step) * error
    assert (abs(1 - step) < 1) == (0 < step < 2)
    assert "leaves $(1 - \\mu) \\, e$ of the error" in page("understand/adaptive_filters")


# Beyond lines: understand/feature_maps, lifting, networks, certify


def test_the_number_of_monomials_of_a_million_words():
    told = re.search(r"degree 2 of a million words is no list of (\d+) billion", page("understand/feature_maps"))
    assert round(comb(10**6 + 2, 2) / 10**9) == int(told[1])


@pytest.mark.parametrize("seed", range(10))
def test_the_lemma_of_lifting(seed):
    X, y = draw(seed)
    rows, labels = exact(X), [int(label) for label in y]
    a, root, gamma, u = Fraction(3, 5), Fraction(4, 5), Fraction(1, 2), [Fraction(5, 13), Fraction(12, 13)]
    lacks = [max(Fraction(0), gamma - label * dot(u, row)) for row, label in zip(rows, labels, strict=True)]
    v = [*u, *(a / root * label * lack for label, lack in zip(labels, lacks, strict=True))]
    assert dot(v, v) == 1 + a**2 / (1 - a**2) * sum(lack**2 for lack in lacks)
    for i, (row, label) in enumerate(zip(rows, labels, strict=True)):
        lifted = [*(a * value for value in row), *(root if j == i else Fraction(0) for j in range(len(rows)))]
        assert label * dot(v, lifted) >= a * gamma
        assert dot(lifted, lifted) == a**2 * dot(row, row) + 1 - a**2


@pytest.mark.parametrize(("bias", "square"), [("unit", 3), (None, 2)])
def test_the_constant_is_lifted_and_counts_in_the_bound(bias, square):
    X, y = rb.datasets.load_xor()
    clf = rb.LiftedPerceptron(a=0.5, bias=bias, order="cyclic").fit(X, y)
    a2 = Fraction(1, 4)  # the best v is 0: then each of four rows lacks all of the margin
    bound = (a2 * square + 1 - a2) * (a2 / (1 - a2) * 4) / a2
    assert clf.mistake_bound_ == pytest.approx(float(bound), abs=1e-9)
    assert "which is lifted like the other features, and counts in $d$ and in $C$ below" in page(
        "understand/lifting"
    )


@pytest.mark.slow
def test_two_hidden_neurons_do_not_solve_xor_from_every_start():
    X, y = rb.datasets.load_xor()
    solved = {}
    for size in (2, 4):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            nets = [rb.MultilayerPerceptron(hidden_layer_sizes=size, random_state=seed) for seed in range(10, 18)]
            solved[size] = [net.fit(X, y).score(X, y) == 1 for net in nets]
    assert True in solved[2]
    assert False in solved[2]
    assert all(solved[4])


def test_all_pairs_of_digits_and_all_digits_but_two_are_separable():
    from sklearn.datasets import load_digits

    digits = load_digits()
    found = rb.certify(digits.data, digits.target, ties=False)
    assert {proof.verdict for proof in found.pairs.values()} == {"separable"}
    assert [k for k, proof in found.rest.items() if proof.verdict == "inseparable"] == [8, 9]
    told = "Any two digits are separable, but 8 and 9 are not separable from all the others"
    assert told in page("understand/certify")


# Pictures and tables


def test_the_learning_curve_is_described_as_it_is():
    X, y = rb.datasets.make_separable(1000, 60, margin=0.05, flip=0.1, seed=2)
    clf = rb.Perceptron().fit(X[:150], y[:150])
    curve = exact_curve(clf.trace_, X[:150], y[:150], validation=(X[150:], y[150:]))
    training, validation = 100 * np.array(curve.training), 100 * np.array(curve.validation)
    text = page("do/trace")
    told = re.search(
        r"over (\d+) passes\. Training: from (\d+) % after the first pass up and down, with peaks up to (\d+) %, "
        r"to 0 % in the last two\. Validation: lowest after the first pass, with ([\d.]+) %, "
        r"then between (\d+) % and (\d+) %, and (\d+) % at the end",
        text,
    )
    assert [float(value) for value in told.groups()] == [
        len(training),
        round(training[0]),
        round(training.max()),
        round(validation[0], 1),
        int(validation[1:].min()),
        round(validation[1:].max()),
        round(validation[-1]),
    ]
    assert training[-2:].tolist() == [0, 0]
    assert training[-3] > 0
    assert validation.argmin() == 0


def test_the_history_has_sixteen_lines_in_order():
    text = (DOCS / "understand" / "mark_one.md").read_text("utf-8")
    table = re.findall(r"^\| (\d{4}) \| (.*) \|$", text, re.MULTILINE)
    years = [int(year) for year, _ in table]
    assert len(years) == 16
    assert years == sorted(years)
    assert ("1986", "Gallant's [pocket](pocket.md)") in table


# Errata of the lectures: each has a row in the table of its page, and the numbers are examples there

ERRATA = {
    "koski": [
        r"| hyperplane, twice | $w$ is orthogonal to any vector in $D$ |",
        r"| scale, before XOR | $\lVert\alpha w\rVert = 1$ with $\alpha = 1/\lVert w_*\rVert$ |",
        r"| algorithm, prose | add to $w$ a vector proportional to $y_i(\langle w_k, x_i\rangle + b_k)$",
        r"| proof (3) |",
        r"| networks, a layer |",
        r"| theorem, twice | $\gamma_i \ge \gamma$ for all $i$ | and $\gamma > 0$ |",
        "| separability, in words |",
    ],
    "zhang": [
        "| convergence | the algorithm starts at any $w_0$ and $b_0$ |",
        r"| proof | the larger $\gamma$, the faster | the larger $\gamma/C$, the smaller the bound |",
    ],
    "harchaoui": [r"| 2.4.3 | $t\gamma \le W^{*T}W_{t+1} \le \lVert W_{t+1}\rVert \le \sqrt t$ |"],
    "hladka_holub": [
        r"| geometry | $\Theta^T x$ is the length of the projection |",
        r"| MaxIter | one pass underfits |",
        r"| properties | separable data yields a hyperplane that classifies all examples |",
    ],
}


@pytest.mark.parametrize(("name", "row"), [(name, row) for name, rows in ERRATA.items() for row in rows])
def test_an_erratum_is_listed(name, row):
    heading = {"hladka_holub": "Hladká and Holub", "kernel_slides": "Kernel slides"}.get(name, name.capitalize())
    table = (DOCS / "sources" / "errata.md").read_text("utf-8").split(f"## {heading}")[1].split("\n## ")[0]
    assert row in table


@pytest.mark.parametrize("name", ["koski", "harchaoui", "hladka_holub", "kernel_slides", "zhang"])
def test_a_page_of_sources_says_what_is_not_in_the_library(name):
    end = page(f"sources/{name}").split("## Not in the library")[1]
    assert "Everything" not in end
    assert len(end.split()) > 10


def test_the_step_of_the_prose_has_the_wrong_sign():
    """Adding c · y f · y x with y f < 0 lowers y f; the relaxation step in koski.md raises it."""
    w, x, label = [Fraction(1), Fraction(1, 2)], [Fraction(2), Fraction(-2)], -1
    wrong = label * dot(w, x)
    assert wrong == -1
    for sign in (1, -1):
        moved = [a + sign * Fraction(1, 10) * wrong * label * b for a, b in zip(w, x, strict=True)]
        assert (label * dot(moved, x) < wrong) == (sign == 1)
    assert "to the letter" not in page("sources/koski")


# What a step does: understand/update, do/online_rules, do/multiclass, understand/learning_rate


@pytest.mark.parametrize("seed", range(10))
def test_both_parts_of_an_update_raise_the_score_and_the_distance_may_grow(seed):
    rng = np.random.default_rng(seed)
    w, x, b = exact([rng.integers(-9, 10, 3), rng.integers(1, 10, 3), [rng.integers(-9, 10)]])
    b = b[0] - dot(w, x) - 10  # the positive row is on its wrong side
    score, turned = dot(w, x) + b, [a + c for a, c in zip(w, x, strict=True)]
    assert score < 0
    assert dot(turned, x) + b > score
    assert dot(w, x) + b + 1 > score
    text = page("understand/update")
    start = r"from \$w = (\S+)\$ and \$b = (\S+)\$ the update by \$x = (\S+)\$"
    told = re.search(start + r" moves the boundary from \$(\S+)\$ to \$(\S+)\$", text)
    w, b, x, before, after = map(int, told.groups())
    assert w * x + b < 0
    assert (-b / w, -(b + 1) / (w + x)) == (before, after)
    assert abs(x - after) > abs(x - before)


@pytest.mark.parametrize("step", [Fraction(1, 10), Fraction(1), Fraction(19, 10)])
def test_each_relaxation_step_comes_nearer_to_every_solution(step):
    """And the mistakes stay below the bound of the page."""
    rng = np.random.default_rng(3)
    X = rng.integers(-6, 7, (30, 2))
    rows = [row for row in padded(exact(X)) if abs(dot(row, [2, -1, 1])) >= 2]
    labels = [1 if dot(row, [2, -1, 1]) > 0 else -1 for row in rows]
    solutions = [[Fraction(2), Fraction(-1), Fraction(1)], [Fraction(21, 10), Fraction(-1), Fraction(1)]]
    assert all(y * dot(u, row) >= 1 for u in solutions for row, y in zip(rows, labels, strict=True))
    w, mistakes = [Fraction(0)] * 3, 0
    for _ in range(3):
        for row, y in zip(rows, labels, strict=True):
            lead = y * dot(w, row)
            mistakes += lead <= 0
            if lead >= 1:
                continue
            moved = [a + step * (1 - lead) / dot(row, row) * y * c for a, c in zip(w, row, strict=True)]
            for u in solutions:
                near, far = ([a - c for a, c in zip(u, v, strict=True)] for v in (moved, w))
                assert dot(near, near) < dot(far, far)
            w = [value.limit_denominator(10**6) for value in moved]
    largest = max(dot(row, row) for row in rows)
    least = min(y * dot(solutions[0], row) for row, y in zip(rows, labels, strict=True))
    assert 0 < mistakes <= largest * dot(solutions[0], solutions[0]) / (least**2 * step * (2 - step))
    assert "at most (R² + β)/(λ(2 − λ)γ²) mistakes" in page("do/online_rules")


def test_uneven_margins_end_within_the_bound_and_with_the_margin_of_the_page():
    X, y = rb.datasets.make_separable(60, 2, margin=0.2, seed=0)
    rows = np.c_[X, np.ones(len(X))]
    best = rb.MaxMarginClassifier(fit_intercept=False).fit(rows, y)
    gamma, square = best.margin_, (rows**2).sum(axis=1).max()
    for tau, eta in (((3.0, 1.0), 1.0), ((0.5, 2.0), 0.5)):
        clf = rb.Perceptron(margin=tau, eta0=eta, order="cyclic", max_iter=10**5).fit(X, y)
        w = np.append(clf.coef_[0], clf.intercept_)
        assert 0 < clf.n_mistakes_ <= (square + 2 * max(tau) / eta) / gamma**2
        reached = (y * (rows @ w)).min() / np.linalg.norm(w)
        assert reached >= gamma * min(tau) / (eta * square + 2 * max(tau))
    text = page("do/online_rules")
    assert "at most (C² + 2τ/η)/γ² updates" in text
    assert "γ min(τ₊, τ₋)/(ηC² + 2τ)" in text


def test_classes_compared_directly_make_at_most_so_many_mistakes():
    X, y = np.random.default_rng(0).integers(-5, 6, (60, 2)).astype(float), np.arange(60) % 3
    X = X + np.array([[-9.0, 0.0], [0.0, 9.0], [9.0, 0.0]])[y]
    clf = rb.Perceptron(order="cyclic").fit(X, y)
    assert clf.stop_reason_ == "separated"
    vectors = np.c_[clf.coef_, clf.intercept_]
    rows = np.c_[X, np.ones(len(X))]
    scores = rows @ vectors.T
    own = scores[np.arange(60), y].copy()
    scores[np.arange(60), y] = -np.inf
    gamma = (own - scores.max(axis=1)).min() / np.linalg.norm(vectors)  # of vectors of joint length 1
    assert 0 < clf.n_mistakes_ <= 2 * (rows**2).sum(axis=1).max() / gamma**2
    assert "at most 2R²/γ² mistakes" in page("do/multiclass")


def test_the_smallest_lift_excuses_each_row_after_one_mistake():
    X, y = draw(1, n=12)
    a, rows = Fraction(1, 1000), exact(X)
    labels = [int(label) for label in y]
    alpha = [0] * len(rows)
    for _ in range(3):
        for i, row in enumerate(rows):
            pulls = [alpha[j] * labels[j] * dot(rows[j], row) for j in range(len(rows))]
            score = a**2 * sum(pulls) + (1 - a**2) * alpha[i] * labels[i]
            alpha[i] += labels[i] * score <= 0
    assert max(alpha) == 1
    assert "As $a$ goes to 0 every row is excused after one mistake" in page("understand/lifting")


@pytest.mark.parametrize("seed", range(5))
def test_a_common_point_of_the_hulls_defeats_either_sign_of_zero(seed):
    """Also a row on the hyperplane cannot be excused by what sign(0) is."""
    rng = np.random.default_rng(seed)
    rows, labels = exact([[0, 0], [2, 0], [1, 0], [1, 3]]), [-1, -1, 1, 1]  # the third lies between the first two
    for w1, w2, b in rng.integers(-3, 4, (200, 3)).tolist():
        scores = [w1 * x1 + w2 * x2 + b for x1, x2 in rows]
        for zero in (-1, 1):
            assert [zero if not f else (1 if f > 0 else -1) for f in scores] != labels
    assert "every linear model is wrong on at least one of these rows" in page("do/certificate")


def test_the_threshold_of_known_costs():
    told = re.search(
        r"If a miss costs (\w+) times as much as a false alarm, .* above 1/(\d+)\.", page("do/thresholds")
    )
    at = Fraction(1, int(told[2]))
    assert told[1] == "ten"
    assert 10 * at == 1 - at  # both errors cost the same there


def test_standardised_columns_differ_by_less_than_the_factor_that_warns():
    """With values other than zero in a tenth of the rows or more, their root mean square is at most √10."""
    n = 1000
    for share in (0.1, 0.3, 1.0):
        column = np.zeros(n)
        column[: int(share * n)] = np.where(np.arange(int(share * n)) % 2, 1.0, -1.0)
        column /= column.std()
        scale = np.sqrt((column[column != 0] ** 2).mean())
        assert 1.0 - 1e-12 <= scale <= np.sqrt(10) + 1e-12
    assert "Standardised rows never warn." in page("do/scaling")


@pytest.mark.parametrize(
    ("how", "plain"),
    [
        ({}, True),
        ({"average": True}, True),
        ({"average": 50}, False),
        ({"penalty": "l2"}, False),
        ({"penalty": "l2", "average": True}, False),
    ],
    ids=str,
)
def test_weights_are_read_from_a_model_file_as_the_page_says(how, plain, tmp_path):
    from safetensors import safe_open

    X, y = rb.datasets.make_separable(60, 3, margin=0.02, flip=0.1, seed=3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        clf = rb.Perceptron(alpha=0.01, max_iter=5, decide=False, **how).fit(X, y)
    rb.save(clf, tmp_path / "m.model")
    with safe_open(tmp_path / "m.model", "np") as file:
        state = json.loads(file.metadata()["rosenblatt"])["state"]["state"]
        arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    weights = arrays[state["w"]] - (arrays[state["u"]] / state["visits"] if state["u"] else 0.0)
    assert (state["shrunk"] is None and "averaging" not in state) == plain
    assert np.allclose(weights, np.append(clf.coef_, clf.intercept_)) == plain
    assert "where `shrunk` is null and there is no `averaging`" in page("look_up/model_files")


def test_arrays_of_a_model_are_what_the_page_says():
    clf = rb.Perceptron().fit([[0.0], [1.0]], [0, 1])
    before = clf.coef_
    kept = before.copy()
    with pytest.raises(ValueError, match="read-only"):
        before[0] = 0.0
    clf.partial_fit([[1.0]], [0])
    assert (before == kept).all()
    assert (clf.coef_ != kept).any()
    assert "are read-only copies: writing into them raises an error" in page("understand/conventions")
