"""The pocket: never worse than any hypothesis of its run, counted by the reference over the whole run."""

import warnings

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import rosenblatt as rb
from rosenblatt import stopping
from rosenblatt.estimators import pocket as learner
from tests.oracles import family
from tests.shared.examples import examples, slowly
from tests.shared.relatives import CONVENTIONS, LAYOUTS, interrupt_at, laid_out, problems, told
from tests.shared.strategies import noisy, quietly, separable, trained


def pocketed(X, y, *, fit=None, **parameters):
    return quietly(rb.PocketPerceptron(**parameters).fit, X, y, **(fit or {}))


def _errors(hypotheses, X, y, weight, margin=0.0, geometric=True):
    """Return the function that weighs the rows which a hypothesis has wrong."""

    def wrong(w, x, label):
        if margin > 0:
            return not family.is_far(w[0], x, 2 * label - 1, margin, geometric=geometric)
        return hypotheses.predict(w, x) != label

    rows = list(zip(X.tolist(), y.tolist(), weight.tolist(), strict=True))
    return lambda w: sum(heavy for x, label, heavy in rows if wrong(w, x, label))


def _weight(problem):
    return np.ones(len(problem.y)) if problem.weight is None else problem.weight


def _assert_best(clf, problem, **measure):
    X, y, _ = problem
    hypotheses = told(clf.trace_, X, y)
    best, errors = family.pocket(hypotheses.path, _errors(hypotheses, X, y, _weight(problem), **measure))
    assert clf.pocket_errors_ == errors
    assert clf.pocket_visit_ == best.visits
    assert np.column_stack([clf.coef_, clf.intercept_]).tolist() == best.w


@pytest.fixture(params=["alone", "together"])
def counted(request, monkeypatch):
    """Count hypotheses one by one, or several at once even where copies of them cost more than they spare."""
    monkeypatch.setattr(learner, "MIN_COPY_RATIO", np.inf if request.param == "alone" else 0)


@pytest.mark.slow
@pytest.mark.usefixtures("counted")
@settings(max_examples=examples(300), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(problems(), CONVENTIONS, LAYOUTS, st.integers(1, 5))
def test_no_hypothesis_of_the_run_has_fewer_errors(problem, conventions, layout, passes):
    X, y, weight = problem
    alone = {"max_iter": passes, "averages": False, **conventions}
    clf = pocketed(laid_out(X, layout), y, fit={"sample_weight": weight}, **alone)
    _assert_best(clf, problem)
    wrong = clf.predict(X) != y
    assert clf.pocket_errors_ == (wrong * _weight(problem)).sum()
    assert clf.converged_ == (clf.pocket_errors_ == 0)
    assert clf.pocket_score_ == 1 - clf.pocket_errors_ / _weight(problem).sum()


@pytest.mark.slow
@settings(max_examples=examples(200))
@given(
    problems(most_classes=2),
    CONVENTIONS,
    LAYOUTS,
    st.sampled_from(["geometric", "functional"]),
    st.sampled_from([0.5, 1.0, 2.0]),
)
def test_rows_with_a_margin_are_counted_as_the_reference_counts_them(problem, conventions, layout, count, margin):
    X, y, weight = problem
    clf = pocketed(
        laid_out(X, layout),
        y,
        fit={"sample_weight": weight},
        max_iter=4,
        pocket_margin=margin,
        count=count,
        averages=False,
        **conventions,
    )
    _assert_best(clf, problem, margin=margin, geometric=count == "geometric")


@pytest.mark.slow
@settings(max_examples=examples(100))
@given(problems(), CONVENTIONS, LAYOUTS, st.integers(1, 4))
def test_averages_compete_after_each_pass(problem, conventions, layout, passes):
    X, y, weight = problem
    rows, given_ = laid_out(X, layout), {"sample_weight": weight}
    clf = pocketed(rows, y, fit=given_, max_iter=passes, **conventions)
    alone = pocketed(rows, y, fit=given_, max_iter=passes, averages=False, **conventions)
    held = [(alone.pocket_errors_, alone.pocket_visit_, alone.coef_.tolist())]
    for epoch in range(1, alone.t_ // len(y) + 1):
        mean = trained(rows, y, fit=given_, max_iter=epoch, average=True, **conventions)
        errors = ((mean.predict(rows) != y) * _weight(problem)).sum()
        held.append((errors, epoch * len(y) + 0.5, mean.coef_.tolist()))  # after the hypothesis of the last visit
    errors, visit, coef = min(held)
    assert (clf.pocket_errors_, clf.pocket_visit_, clf.coef_.tolist()) == (errors, int(visit), coef)
    assert clf.pocket_errors_ == ((clf.predict(rows) != y) * _weight(problem)).sum()


def test_an_average_makes_fewer_errors_on_noisy_rows():
    X, y = noisy(1000, 20, flip=0.15)
    alone, clf = (pocketed(X, y, max_iter=8, averages=averages) for averages in (False, True))
    assert clf.pocket_errors_ < alone.pocket_errors_
    assert clf.pocket_visit_ % 1000 == 0
    assert clf.trace_.visit.tolist() == alone.trace_.visit.tolist()


@given(problems(), CONVENTIONS)
def test_the_run_is_the_perceptrons_up_to_its_end(problem, conventions):
    """It ends earlier only where nothing is wrong any more."""
    X, y, weight = problem
    clf = pocketed(X, y, fit={"sample_weight": weight}, max_iter=4, **conventions)
    plain = trained(X, y, fit={"sample_weight": weight}, max_iter=4, **conventions)
    made = len(clf.trace_)
    for name in ("visit", "index", "score", "step", "machine"):
        assert getattr(clf.trace_, name).tolist() == getattr(plain.trace_, name)[:made].tolist()
    assert made == len(plain.trace_) or clf.pocket_errors_ == 0
    assert clf.n_mistakes_ == clf.mistakes_per_pass_.sum() == made
    assert clf.t_ == clf.trace_.visits_per_pass.sum() <= plain.t_


@pytest.mark.parametrize("layout", ["dense", *slowly("csr")])
def test_no_model_along_a_run_on_floats_is_better(layout):
    """By the bits that predict decides by, over a run whose counts are mostly given up."""
    X, y = noisy(300, 6, flip=0.15)
    X = laid_out(X, layout)
    clf = pocketed(X, y, max_iter=8, averages=False)
    coef, intercept = clf.trace_.path(X, y)
    errors = []
    for w, b in zip(coef, intercept, strict=True):
        state = rb.Perceptron().partial_fit(X[:2], y[:2])
        state._state.w[:] = [*w, b]
        errors.append(np.count_nonzero(state.predict(X) != y))
    assert clf.pocket_errors_ == min(errors) == np.count_nonzero(clf.predict(X) != y)
    assert clf.pocket_visit_ == clf.trace_.visit[np.argmin(errors) - 1] + 1
    assert clf.coef_[0].tolist() == coef[np.argmin(errors)].tolist()
    assert clf.n_rows_counted_ < len(errors) * 300 / 2


def test_weights_that_round_are_added_in_the_order_of_the_rows():
    """However counting moves rows about, and where it ends by a hair."""
    X, y = noisy(120, 3, flip=0.2)
    weight = np.random.default_rng(1).random(120) * 10.0 ** np.arange(120) ** 0.5
    clf = pocketed(X, y, fit={"sample_weight": weight}, max_iter=20)
    wrong = clf.predict(X) != y
    assert clf.pocket_errors_ == np.cumsum(weight[wrong])[-1]


def test_training_ends_at_once_when_nothing_is_wrong():
    X, y = separable(200, 4)
    clf = pocketed(X, y, margin=50.0)
    assert (clf.stop_reason_, clf.pocket_errors_, clf.converged_, clf.score(X, y)) == ("separated", 0, True, 1.0)
    assert clf.pocket_visit_ == clf.t_ < trained(X, y, margin=50.0).t_


def test_a_start_without_errors_is_kept():
    X, y = separable(50, 3)
    good = trained(X, y)
    clf = rb.PocketPerceptron().fit(X, y, coef_init=good.coef_, intercept_init=good.intercept_)
    assert (clf.pocket_visit_, clf.t_, clf.n_mistakes_, clf.n_iter_) == (0, 0, 0, 0)
    assert (clf.stop_reason_, clf.converged_, len(clf.curve_.training)) == ("separated", True, 0)
    assert clf.coef_.tolist() == good.coef_.tolist()


def test_callbacks_are_told_of_the_pass_that_ends_early():
    X, y = separable(200, 4)
    reports = []
    clf = pocketed(X, y, margin=50.0, callbacks=[reports.append])
    assert clf.trace_.visits_per_pass[-1] < 200
    assert [report.epoch for report in reports] == list(range(1, clf.n_iter_ + 1))
    assert [report.visits for report in reports] == clf.trace_.visits_per_pass.tolist()
    assert [report.mistakes for report in reports] == clf.mistakes_per_pass_.tolist()


def test_what_counting_reads_ends_a_plateau():
    X, y = noisy(1500, 20, flip=0.3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        clf = rb.PocketPerceptron().fit(X, y)
    assert clf.stop_reason_ == "plateau"
    assert clf.n_rows_counted_ * 20 < 10 * stopping.AFFORDABLE_VALUES
    plain = trained(X, y, max_iter=clf.n_iter_, decide=False)
    assert plain.stop_reason_ == "max_iter"  # which counts nothing, and would go on


def test_the_pocket_warns_of_nothing():
    X, y = noisy(100, 3, flip=0.2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert rb.PocketPerceptron(max_iter=2).fit(X, y).stop_reason_ == "max_iter"


def test_a_row_that_is_not_finite_is_found_though_training_could_end_before_it():
    X, y = separable(50, 3)
    good = trained(X, y)
    X[-1, 0] = np.nan
    for weight in (None, [*[1.0] * 49, 0.0]):
        with pytest.raises(rb.exceptions.NonFiniteError, match="row 49, column 0"):
            rb.PocketPerceptron(order="cyclic").fit(
                X, y, coef_init=good.coef_, intercept_init=good.intercept_, sample_weight=weight
            )


def test_the_zero_vector_is_at_no_distance():
    """At w = 0 the functional margin of a bias would count as any distance."""
    X, y = np.array([[0.0], [0.0]]), [1, 1]
    clf = pocketed([*X, [5.0]], [*y, 0], pocket_margin=0.1, max_iter=1, order=[0])
    assert clf.pocket_visit_ == 0


def test_margins_of_many_classes_are_leads():
    rng = np.random.default_rng(0)
    X, y = rng.integers(-5, 6, size=(40, 3)).astype(float), rng.integers(3, size=40)
    clf = pocketed(X, y, pocket_margin=2.0, count="functional", max_iter=5)
    coef, intercept = clf.trace_.path(X, y)
    short = []
    for w, b in zip(coef, intercept, strict=True):
        s = X @ w.T + b
        own = s[np.arange(40), y].copy()
        s[np.arange(40), y] = -np.inf
        short.append(np.count_nonzero(own - s.max(axis=1) < 2.0))
    assert clf.pocket_errors_ == min(short)
    with pytest.raises(rb.exceptions.ParameterError, match="count='functional'"):
        rb.PocketPerceptron(pocket_margin=2.0).fit(X, y)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("pocket_margin", -1),
        ("pocket_margin", np.nan),
        ("pocket_margin", "a"),
        ("count", "sum"),
        ("count", None),
        ("multiclass", "ovo"),
        ("eta0", 0),
        ("margin", -1),
        ("max_iter", 0),
        ("order", "sorted"),
    ],
)
def test_values_a_parameter_cannot_take(name, value):
    X, y = separable(20, 2)
    clf = rb.PocketPerceptron().set_params(**{name: value})
    with pytest.raises(rb.exceptions.InputError, match=name):
        clf.fit(X, y)
    assert not clf.__sklearn_is_fitted__()


@pytest.mark.parametrize("moment", range(1, 40, 3))
def test_an_interrupt_leaves_the_best_of_the_completed_passes(monkeypatch, moment):
    X, y = noisy(100, 3)
    interrupt_at(monkeypatch, moment)
    clf = rb.PocketPerceptron()
    with pytest.raises(KeyboardInterrupt):
        clf.fit(X, y)
    monkeypatch.undo()
    completed = clf.t_ // 100
    assert (clf.stop_reason_, clf.t_, clf.n_iter_) == ("interrupted", 100 * completed, completed)
    if completed:
        whole = pocketed(X, y, max_iter=completed)
        assert (clf.pocket_errors_, clf.pocket_visit_) == (whole.pocket_errors_, whole.pocket_visit_)
        assert clf.coef_.tolist() == whole.coef_.tolist()
    else:
        assert (clf.pocket_visit_, clf.coef_.any()) == (0, False)


@pytest.mark.parametrize("layout", ["dense", *slowly("csr")])
def test_a_run_ends_at_the_hypothesis_without_errors_though_others_were_found_since(layout, monkeypatch):
    X, y = separable(60, 3)
    runs = []
    for copied in (np.inf, 0):
        monkeypatch.setattr(learner, "MIN_COPY_RATIO", copied)
        clf = pocketed(laid_out(X, layout), y)
        runs.append((clf.t_, clf.n_mistakes_, clf.pocket_visit_, clf.coef_.tolist(), clf.trace_.index.tolist()))
        assert (clf.pocket_errors_, clf.pocket_visit_) == (0, clf.t_)
    assert runs[0] == runs[1]


@pytest.mark.parametrize("margin", [0.0, 0.3])
def test_weights_and_margins_are_counted_together_as_alone(margin, monkeypatch):
    X, y = noisy(200, 4, seed=3)
    weight = np.random.default_rng(0).random(200)
    found = []
    for copied in (np.inf, 0):
        monkeypatch.setattr(learner, "MIN_COPY_RATIO", copied)
        clf = pocketed(X, y, fit={"sample_weight": weight}, pocket_margin=margin, max_iter=20)
        found.append((clf.pocket_errors_, clf.pocket_visit_, clf.coef_.tolist()))
    assert found[0] == found[1]
