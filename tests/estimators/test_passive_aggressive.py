"""PA, PA-I and PA-II: the reference, the problems they solve, and what every learner of the family promises."""

import math
import warnings
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from sklearn import linear_model
from sklearn.exceptions import ConvergenceWarning

import rosenblatt as rb
from rosenblatt.exceptions import ParameterError, TrainingOverflowError
from rosenblatt.loops import reference
from rosenblatt.loops.rules import Passive
from rosenblatt.rows.batch import as_batch
from rosenblatt.tables.blocks import MemoryBlocks
from tests.shared.examples import slowly


def exact_rule(**own):
    """Return a rule whose numbers are fractions, but for infinity."""
    rule = Passive(**own)
    return Passive(*(each if each == math.inf else Fraction(each) for each in rule))


RULES = {
    "pa": ({"C": math.inf}, exact_rule()),
    "pa1": ({"C": 0.25}, exact_rule(most=0.25)),
    "pa2": ({"C": 0.25, "loss": "squared_hinge"}, exact_rule(soft=2)),
    "relaxed": ({"C": math.inf, "eta0": 1.5, "margin": 0.5}, exact_rule(eta=1.5, margin=0.5)),
    "relaxed pa1": ({"C": 0.25, "eta0": 0.75}, exact_rule(eta=0.75, most=0.25)),
}
RNG = np.random.default_rng(3)
X = RNG.integers(-8, 9, (40, 6)) / 8
TWO = np.where(X[:, 0] + X[:, 1] + RNG.integers(-2, 3, 40) / 4 > 0, 1, -1)
THREE = np.digitize(X[:, 0] - X[:, 2], (-0.5, 0.5))
WEIGHT = RNG.integers(0, 5, 40) / 2


def exact(rows):
    return [[Fraction(value) for value in row] for row in rows.tolist()]


@pytest.fixture(params=["dense", *slowly("sparse")])
def layout(request):
    return np.asarray if request.param == "dense" else csr_array


@pytest.mark.parametrize("name", RULES)
@pytest.mark.parametrize("weighted", [False, True])
def test_two_classes_are_the_reference_over_fractions(name, weighted, layout):
    parameters, rule = RULES[name]
    weight = WEIGHT if weighted else None
    clf = rb.PassiveAggressiveClassifier(order="cyclic", max_iter=3, n_iter_no_change=None, **parameters)
    with pytest.warns(ConvergenceWarning, match="before every row reached the margin"):
        clf.fit(layout(X), TWO, sample_weight=weight)
    weights = None if weight is None else [Fraction(each) for each in weight.tolist()]
    # A visit that rounding puts on the other side of its margin moves weights by rounding only.
    true = reference.train(exact(X), TWO.tolist(), list(range(40)) * 3, rule, weight=weights)
    np.testing.assert_allclose(clf.coef_[0], np.array(true.w, float), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(clf.intercept_, float(true.b), rtol=1e-9)


@pytest.mark.parametrize("name", RULES)
@pytest.mark.parametrize("multiclass", ["direct", *slowly("ovr", "ovo")])
def test_several_classes_are_the_reference_over_fractions(name, multiclass, layout):
    parameters, rule = RULES[name]
    clf = rb.PassiveAggressiveClassifier(
        order="cyclic", max_iter=2, multiclass=multiclass, average=True, **parameters
    )
    clf.fit(layout(X), THREE)
    start = [[Fraction(0)] * 7 for _ in range(3)]
    visits = list(range(40)) * 2
    if multiclass == "direct":
        true = reference.train_direct(exact(X), THREE.tolist(), visits, rule, w=start)
    else:
        sides = reference.sides(multiclass, 3)
        true = reference.train_machines(exact(X), THREE.tolist(), visits, rule, sides=sides, w=start)
    np.testing.assert_allclose(clf._state.last(), np.array(true.w, float), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(clf.coef_, np.array(true.average, float)[:, :-1], rtol=1e-9, atol=1e-12)


numbers = st.fractions(min_value=-3, max_value=3, max_denominator=8)


@given(st.lists(numbers, min_size=2, max_size=4), numbers, numbers.filter(lambda C: C > 0), numbers.map(abs))
@settings(deadline=None)
def test_no_other_step_is_better(x, f, C, other):
    """PA-I minimises ½‖Δw‖² + C ℓ, and PA-II ½‖Δw‖² + C ℓ², along the row."""
    x2 = reference.dot(x, x) + 1

    def loss(c):
        return max(Fraction(0), 1 - f - c * x2)

    one = reference.step_of(exact_rule(most=C), 1, f, x)
    two = reference.step_of(exact_rule(soft=1 / (2 * C)), 1, f, x)
    assert one * one * x2 / 2 + C * loss(one) <= other * other * x2 / 2 + C * loss(other)
    assert two * two * x2 / 2 + C * loss(two) ** 2 <= other * other * x2 / 2 + C * loss(other) ** 2
    whole = reference.step_of(exact_rule(), 1, f, x)
    assert loss(whole) == 0
    assert whole == 0 or loss(whole * Fraction(9, 10)) > 0


@given(
    st.lists(numbers, min_size=2, max_size=2),
    st.lists(
        st.tuples(st.lists(numbers, min_size=2, max_size=2), st.sampled_from([-1, 1])), min_size=1, max_size=5
    ),
    st.sampled_from([Fraction(1, 4), Fraction(1), Fraction(7, 4), Fraction(2)]),
)
@settings(deadline=None)
def test_relaxation_comes_nearer_to_every_solution(u, rows, eta):
    """For 0 < λ ≤ 2 no update moves the weights away from a solution (Agmon 1954; Motzkin and Schoenberg 1954)."""
    u_b, margin = Fraction(1, 2), Fraction(1)
    rows = [(x, y) for x, y in rows if y * (reference.dot(u, x) + u_b) >= margin]
    rule = exact_rule(eta=eta, margin=margin)
    w, b = [Fraction(0), Fraction(0)], Fraction(0)
    for x, y in rows * 3:
        f = reference.dot(w, x) + b
        step = reference.step_of(rule, y, f, x)
        before = sum((p - q) ** 2 for p, q in zip([*w, b], [*u, u_b], strict=True))
        w, b = reference.plus(w, step * y, x), b + step * y
        after = sum((p - q) ** 2 for p, q in zip([*w, b], [*u, u_b], strict=True))
        short = max(Fraction(0), margin - y * f)
        assert before - after >= eta * (2 - eta) * short**2 / (reference.dot(x, x) + 1)
        assert y * (reference.dot(w, x) + b) == y * f + eta * short


@pytest.mark.parametrize("eta", [0.25, 1.0, 1.75])
def test_relaxation_separates_what_can_be_separated(eta):
    rows, y = rb.datasets.make_separable(60, 3, margin=0.1, seed=4)
    clf = rb.PassiveAggressiveClassifier(C=math.inf, eta0=eta, n_iter_no_change=400, max_iter=400, average=True)
    clf.fit(rows, y)
    last = rb.geometry.functional_margin(rows, y, clf._state.last()[:-1], clf._state.last()[-1])
    assert last.min() > 0.0
    assert clf.mistakes_per_pass_[-1] == 0


def test_relaxation_with_margin_zero_needs_a_start():
    rows, y = rb.datasets.load_six_points()
    resting = rb.PassiveAggressiveClassifier(C=math.inf, margin=0.0)
    with pytest.warns(ConvergenceWarning):
        assert resting.fit(rows, y).stop_reason_ == "plateau"
    assert not resting.coef_.any()
    begun = rb.PassiveAggressiveClassifier(C=math.inf, margin=0.0, eta0=1.5, order="cyclic")
    begun.fit(rows, y, coef_init=[[1.0, 0.5]], intercept_init=[0.0])
    assert (begun.stop_reason_, begun.converged_, begun.score(rows, y)) == ("separated", True, 1.0)


def test_pa_does_not_overshoot():
    clf = rb.PassiveAggressiveClassifier(C=math.inf, max_iter=1).partial_fit([[3.0, 4.0]], [1], classes=[0, 1])
    assert clf.decision_function([[3.0, 4.0]])[0] == pytest.approx(1.0, abs=1e-15)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("multiclass", ["direct", *slowly("ovr")])
@pytest.mark.parametrize("y", [TWO, *slowly(THREE)], ids=["two", "three"])
@pytest.mark.parametrize("average", [False, *slowly(True)])
def test_fit_replay_stream_and_blocks_leave_the_same_bits(multiclass, y, average, layout):
    rows = layout(X)
    options = {"multiclass": multiclass, "average": average, "order": "cyclic", "trace": "mistakes", "C": 0.3}
    fitted = rb.PassiveAggressiveClassifier(max_iter=1, n_iter_no_change=None, **options)
    fitted.fit(rows, y)
    assert np.array_equal(fitted.trace_.replay(rows, y).coef, np.squeeze(fitted.coef_))
    chunks = rb.PassiveAggressiveClassifier(**options)
    for part in (slice(0, 7), slice(7, 40)):
        chunks.partial_fit(rows[part], y[part], classes=np.unique(y))
    single = rb.PassiveAggressiveClassifier(**options)
    for x, label in zip(X, y, strict=True):
        single.learn_one(x, label, classes=np.unique(y))
    blocks = rb.PassiveAggressiveClassifier(max_iter=1, n_iter_no_change=None, **options)
    blocks.fit_blocks(MemoryBlocks(as_batch(rows, y), np.array([0, 13, 40])))
    others = [chunks, blocks, *([single] if isinstance(rows, np.ndarray) else [])]
    for other in others:
        assert other.coef_.tobytes() == fitted.coef_.tobytes()
        assert (other.n_mistakes_, other.n_updates_) == (fitted.n_mistakes_, fitted.n_updates_)
    assert 0 < fitted.n_mistakes_ < fitted.n_updates_ == len(fitted.trace_)


def test_mistakes_are_the_visits_on_the_wrong_side():
    clf = rb.PassiveAggressiveClassifier(order="cyclic", max_iter=4, n_iter_no_change=None, average=True).fit(
        X, TWO
    )
    trace = clf.trace_
    wrong = TWO[trace.index] * trace.score <= 0.0
    assert clf.mistakes_per_pass_.tolist() == np.bincount(trace.epoch[wrong] - 1, minlength=4).tolist()
    assert clf.updates_per_pass_.tolist() == trace.mistakes_per_pass.tolist()


def test_a_pass_without_an_update_ends_training():
    rows = [[2.0, 0.0], [-2.0, 0.0]]
    clf = rb.PassiveAggressiveClassifier(bias=None, C=math.inf).fit(rows, [1, 0])
    assert (clf.stop_reason_, clf.converged_, clf.n_iter_, clf.n_updates_) == ("margin", True, 2, 1)


def test_updates_that_no_longer_fall_end_training():
    clf = rb.PassiveAggressiveClassifier().fit([[0, 0], [1, 0], [0, 1], [1, 1]], [0, 1, 1, 0])
    assert clf.stop_reason_ == "plateau"


def test_a_row_of_zeros_without_a_bias_changes_nothing():
    rows = [[0.0, 0.0], [1.0, 0.0], [-1.0, 0.0]]
    for C in (0.5, math.inf):
        clf = rb.PassiveAggressiveClassifier(bias=None, C=C, order="cyclic", max_iter=2, average=True)
        assert np.isfinite(clf.fit(rows, [1, 1, 0]).coef_).all()
        one = rb.PassiveAggressiveClassifier(bias=None, C=C).learn_one([0.0, 0.0], 1)
        assert one.n_updates_ == 1
        assert not one.coef_.any()


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_a_squared_length_beyond_floats_is_an_overflow(loss):
    """The step divides by it; a step of 0 would pass for a row that has its margin."""
    clf = rb.PassiveAggressiveClassifier(loss=loss)
    X, y = [[1e300, 1.0], [-1e300, 2.0], [5e-324, 0.0]], [-1, 1, -1]
    with pytest.raises(TrainingOverflowError, match="squared length exceeds"):
        clf.fit(X, y)
    with pytest.raises(TrainingOverflowError):
        clf.partial_fit(X[:1], y[:1], classes=[-1, 1])
    assert not hasattr(clf, "coef_")


def test_tol_ends_by_the_hinge_loss():
    losses = []
    clf = rb.PassiveAggressiveClassifier(tol=10.0, callbacks=[lambda report: losses.append(report.loss)])
    clf.fit(X, TWO)
    assert clf.stop_reason_ == "tol"
    assert clf.n_iter_ == 6
    trace, first = clf.trace_, clf.updates_per_pass_[0]
    hinge = np.maximum(0.0, 1.0 - TWO[trace.index] * trace.score)[:first].sum() / 40
    assert losses[0] == pytest.approx(hinge)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"C": 0.0}, "C=0.0 must be"),
        ({"C": "x"}, "C='x' must be"),
        ({"loss": "log"}, "loss='log' is not one of"),
        ({"eta0": 0.0}, "eta0=0.0 must be"),
        ({"margin": (1.0, 0.0)}, "margin="),
    ],
)
def test_parameters_are_checked(parameters, message):
    with pytest.raises(ParameterError, match=message):
        rb.PassiveAggressiveClassifier(**parameters).fit(X, TWO)


def test_resuming_a_checkpoint_counts_on(tmp_path):
    blocks = MemoryBlocks(as_batch(X, TWO))
    whole = rb.PassiveAggressiveClassifier(max_iter=6, n_iter_no_change=None, average=True).fit_blocks(blocks)
    part = rb.PassiveAggressiveClassifier(max_iter=2, n_iter_no_change=None, average=True)
    part.fit_blocks(blocks, checkpoint=tmp_path / "c")
    part.set_params(max_iter=6).fit_blocks(blocks, checkpoint=tmp_path / "c", resume=True)
    assert part.coef_.tobytes() == whole.coef_.tobytes()
    assert part.mistakes_per_pass_.tolist() == whole.mistakes_per_pass_.tolist()


def test_the_parameters_are_those_of_scikit_learn_and_more():
    if not hasattr(linear_model, "PassiveAggressiveClassifier"):
        pytest.skip("this release of scikit-learn has no PassiveAggressiveClassifier any more")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = linear_model.PassiveAggressiveClassifier().get_params()
    assert theirs.keys() <= rb.PassiveAggressiveClassifier().get_params().keys()
