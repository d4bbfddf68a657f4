"""Cycles: an exactly repeated state ends training with a proof, one that rounding made does not."""

import json
import pickle
from fractions import Fraction
from itertools import count

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from sklearn.exceptions import ConvergenceWarning

import rosenblatt as rb
from rosenblatt.certify import Inseparable, check
from rosenblatt.certify import verdict as witness
from rosenblatt.datasets import load_or, load_xor
from rosenblatt.exceptions import ParameterError, TrivialSeparationWarning
from rosenblatt.learning import plan as cycles
from rosenblatt.learning import visitor
from tests.certify.oracle import Problem, decide
from tests.shared.examples import examples
from tests.shared.relatives import CONVENTIONS, laid_out, problems
from tests.shared.strategies import bits, noisy, quietly, trained

ABSORBED = np.array([[2.0**60, 1.0], [1.0, -(2.0**-70)]]), np.array([1, -1])


def proved(clf, X, y):
    """Whether training ended in a cycle; if so with a proof that holds, also by the checker that stands alone."""
    if clf.stop_reason_ != "cycle":
        assert clf.certificate_ is None
        return False
    assert isinstance(clf.certificate_, Inseparable)
    assert not clf.converged_
    assert clf.certificate_.verify(X, y)
    table = X.toarray() if hasattr(X, "toarray") else X
    proof = check.read_proof(clf.certificate_.to_json())
    check.check(proof, table.astype(float).tolist(), [str(label) for label in y])
    return True


def first_repeat(trace, X, y):
    """Return the pass after which the weights are what they were after an earlier one, in rationals; or None."""
    padded = [[*map(Fraction, row), Fraction(trace.bias)] for row in X.tolist()]
    w = [*map(Fraction, trace.start.w.tolist())]
    seen, at = {tuple(w)}, 0
    for number, mistakes in enumerate(trace.mistakes_per_pass.tolist(), 1):
        for k in range(at, at + mistakes):
            row, step = trace.index[k], Fraction(trace.step[k])
            w = [a + step * int(y[row]) * x for a, x in zip(w, padded[row], strict=True)]
        at += mistakes
        if mistakes and tuple(w) in seen:
            return number
        seen.add(tuple(w))
    return None


def test_xor_ends_with_its_first_pass():
    X, y = load_xor()
    clf = rb.Perceptron(order="cyclic", stop_on_cycle=True)
    with pytest.warns(
        ConvergenceWarning, match=r"ended with pass 1: .* no hyperplane separates .* rows 0, 1, 2, 3"
    ):
        clf.fit(X, y)
    assert proved(clf, X, y)
    assert (clf.n_iter_, clf.n_mistakes_) == (1, 4)
    assert clf.coef_.tolist() == [[0.0, 0.0]]
    assert clf.certificate_.support == (0, 1, 2, 3)
    assert clf.certificate_.weights == (Fraction(1, 2),) * 4
    assert "½·(0,0) + ½·(1,1) = ½·(1,0) + ½·(0,1)" in str(clf.certificate_)


def test_an_update_absorbed_by_rounding_is_no_proof():
    X, y = ABSORBED
    clf = trained(X, y, bias=None, order="cyclic", max_iter=50, stop_on_cycle=True)
    same = trained(X, y, bias=None, order="cyclic", max_iter=50)
    assert (clf.stop_reason_, clf.n_iter_, clf.certificate_) == ("max_iter", 50, None)
    assert bits(clf) == bits(same)
    assert len({w.coef.tobytes() for w in clf.trace_.after_each_pass(X, y)}) == 1  # it does stand still
    with pytest.warns(TrivialSeparationWarning):
        assert clf.certify(X, y).verdict == "separable"


@settings(max_examples=examples(200))
@given(
    problem=problems(most_classes=2),
    rule=CONVENTIONS,
    layout=st.sampled_from(["dense", "csr", "dense32", "csr32"]),
    kept=st.sampled_from(["auto", "counts", None]),
    average=st.booleans(),
    balanced=st.booleans(),
)
def test_the_first_repeat_in_rationals_is_where_it_ends(problem, rule, layout, kept, average, balanced):
    """On small dyadic numbers floats are exact, so that every repeat is a proof and none is missed."""
    X, y, weight = problem
    y = 2 * y - 1
    rule = rule | {"max_iter": 25, "n_iter_no_change": 100, "class_weight": {-1: 0.5, 1: 2} if balanced else None}
    fit = {"sample_weight": weight}
    assume(X.any())  # R = 0 is tested by itself
    whole = trained(X, y, fit=fit, **rule)
    clf = trained(laid_out(X, layout), y, fit=fit, average=average, trace=kept, stop_on_cycle=True, **rule)
    ends = first_repeat(whole.trace_, X, y)
    assert proved(clf, laid_out(X, layout), y) == (ends is not None)
    if ends is None:
        assert (clf.stop_reason_, clf.n_iter_) == (whole.stop_reason_, whole.n_iter_)
        return
    assert clf.n_iter_ == ends
    shorter = trained(X, y, fit=fit, **rule | {"max_iter": ends})
    assert clf._state.w.tolist() == shorter._state.w.tolist()
    assert clf.mistakes_per_pass_.tolist() == shorter.mistakes_per_pass_.tolist()
    assert clf.certificate_.bias == (rule["bias"] is not None)
    assert set(clf.certificate_.support) <= set(whole.trace_.index.tolist())
    assert len(clf.certificate_.support) <= X.shape[1] + 1 + (rule["bias"] is not None)


SIZES = st.sampled_from([0.0, 1.0, -1.0, 3.0, 0.1, -0.3, 2.0**60, -(2.0**60), 2.0**-70, -(2.0**-70), 1e30])


@settings(max_examples=examples(150))
@given(
    rows=st.lists(st.tuples(SIZES, SIZES, st.booleans()), min_size=2, max_size=5),
    bias=st.sampled_from(["unit", "radius", None, 1e-20]),
    margin=st.sampled_from([0.0, 1.0]),
    eta0=st.sampled_from([1.0, 0.1]),
    order=st.sampled_from(["cyclic", "shuffle", "random"]),
)
@example(rows=[(2.0**60, 1.0, True), (1.0, -(2.0**-70), False)], bias=None, margin=0.0, eta0=1.0, order="cyclic")
def test_data_that_is_separable_never_ends_in_a_cycle(rows, bias, margin, eta0, order):
    """Rounding makes states repeat here that are no proof of anything."""
    X, y = np.array([row[:2] for row in rows]), np.array([1 if row[2] else -1 for row in rows])
    assume(len(set(y)) == 2)
    clf = trained(X, y, bias=bias, margin=margin, eta0=eta0, order=order, max_iter=30, stop_on_cycle=True)
    if proved(clf, X, y):
        assert decide(Problem(X.tolist(), y.tolist(), bias is not None)) != "separable"


def test_a_longer_cycle_and_one_that_is_met_on_the_way():
    """One row twice as far on one side: it takes several passes, from wherever it begins, to come round."""
    X, y = np.array([[1.0], [2.0], [3.0]]), np.array([1, -1, 1])
    clf = trained(X, y, order="cyclic", stop_on_cycle=True, fit={"coef_init": [5.0], "intercept_init": [0.25]})
    assert proved(clf, X, y)
    assert clf.n_iter_ > 2
    assert first_repeat(clf.trace_, X, y) == clf.n_iter_
    assert clf.certificate_.weights == (Fraction(1, 2), Fraction(1), Fraction(1, 2))


def test_a_zero_is_a_zero_whatever_its_sign():
    X, y = load_xor()
    clf = trained(X, y, order="cyclic", stop_on_cycle=True, fit={"coef_init": [-0.0, -0.0]})
    assert proved(clf, X, y)
    assert clf.n_iter_ == 1


def test_steps_that_differ_in_blocks_of_a_visit_each(monkeypatch):
    monkeypatch.setattr(visitor, "BLOCK_MISTAKES", 1)
    X, y = np.array([[1.0], [1.0]]), np.array([1, -1])
    clf = trained(X, y, order="cyclic", stop_on_cycle=True, fit={"sample_weight": [1.0, 2.0]})
    assert proved(clf, X, y)
    assert clf.n_iter_ == first_repeat(clf.trace_, X, y)


def test_a_fit_that_goes_on():
    X, y = load_xor()
    clf = trained(X, y, order="cyclic", max_iter=1, warm_start=True, stop_on_cycle=False)
    assert clf.certificate_ is None
    quietly(clf.set_params(stop_on_cycle=True, max_iter=10).fit, X, y)
    assert proved(clf, X, y)
    assert clf.n_iter_ == 1


def test_many_rows_are_brought_down_to_few(monkeypatch):
    rng = np.random.default_rng(3)
    X = rng.integers(-2, 3, (40, 2)).astype(float)
    y = rng.choice([-1, 1], 40)
    clf = trained(X, y, order="cyclic", stop_on_cycle=True, max_iter=20_000, n_iter_no_change=20_000)
    assert proved(clf, X, y)
    assert len(clf.certificate_.support) <= 4
    for name, value in {"MAX_REDUCED_VALUES": 0, "REDUCTION_SECONDS": 0.0}.items():
        with monkeypatch.context() as patch:
            patch.setattr(witness, name, value)
            patch.setattr(witness.Simplex, "meets", False)
            all_rows = trained(X, y, order="cyclic", stop_on_cycle=True, max_iter=20_000, n_iter_no_change=20_000)
        assert proved(all_rows, X, y)
        assert len(all_rows.certificate_.support) > 4


def test_a_bias_that_never_moves_is_not_that_of_a_plane_through_the_origin():
    """−¾ x + 1 tells these rows apart, though nothing through the origin does and the weights repeat."""
    X, y = np.array([[1.0], [2.0]]), np.array([1, -1])
    started = {"coef_init": [0.0], "intercept_init": [1.0]}
    clf = trained(X, y, bias=None, order="cyclic", max_iter=20, stop_on_cycle=True, fit=started)
    assert first_repeat(clf.trace_, X, y) is not None
    assert not proved(clf, X, y)
    same = np.array([[1.0], [1.0]])
    clf = trained(same, y, bias=None, order="cyclic", stop_on_cycle=True, fit=started)
    assert proved(clf, same, y)
    assert clf.certificate_.bias


@pytest.mark.parametrize("wide", [1, 100_000])
def test_a_row_of_zeros_and_columns_that_are_not_used(wide):
    X = csr_array(([1.0, 1.0], ([0, 1], [0, 0])), shape=(3, wide))
    y = np.array(["no", "yes", "no"])
    clf = trained(X, y, order="cyclic", stop_on_cycle=True)
    assert clf.certificate_.verify(X, y)
    assert clf.certificate_.support == (0, 1)
    zeros = csr_array((2, wide))
    clf = trained(zeros, ["a", "b"], bias=None, order="cyclic", stop_on_cycle=True)
    assert clf.certificate_.verify(zeros, ["a", "b"])
    assert len(clf.certificate_.support) == 1


def test_a_radius_of_zero_moves_no_bias_yet_speaks_of_hyperplanes_with_one():
    X, y = np.zeros((2, 1)), np.array([1, -1])
    clf = trained(X, y, bias="radius", stop_on_cycle=True)
    assert proved(clf, X, y)
    assert clf.certificate_.bias
    assert clf.certificate_.support == (0, 1)


def test_rows_held_out_take_no_part_in_the_cycle_and_the_best_pass_is_kept():
    X, y = np.tile(load_xor()[0], (10, 1)), np.tile(load_xor()[1], 10)
    clf = trained(X, y, order="cyclic", early_stopping=True, stop_on_cycle=True, n_iter_no_change=500)
    assert proved(clf, X, y)
    held_out = set(clf._drawn.held_out.tolist())
    assert not held_out & set(clf.certificate_.support)
    assert clf.curve_.best == len(clf.trace_.mistakes_per_pass)


def test_other_ends_come_first_or_stay():
    X, y = load_or()
    assert trained(X, y, order="cyclic", stop_on_cycle=True).stop_reason_ == "separated"
    X, y = noisy(60, 8)
    clf = trained(X, y, stop_on_cycle=True, max_iter=5)
    assert (clf.stop_reason_, clf.certificate_) == ("max_iter", None)
    assert bits(clf) == bits(trained(X, y, max_iter=5))
    X, y = load_xor()
    told = trained(X, y, order="cyclic", stop_on_cycle=True, callbacks=[lambda report: True])
    assert told.stop_reason_ == "interrupted"


def test_what_it_says_is_kept_and_let_go():
    X, y = load_xor()
    clf = trained(X, y, order="cyclic", stop_on_cycle=True)
    again = pickle.loads(pickle.dumps(clf))
    assert json.loads(again.certificate_.to_json()) == json.loads(clf.certificate_.to_json())
    clf.partial_fit(X, y)
    assert not hasattr(clf, "certificate_")  # of a fit, not of a stream
    assert trained(*load_or()).certificate_ is None


def test_refusals_leave_it_as_it_was():
    X, y = load_or()
    clf = trained(X, y, stop_on_cycle=True)
    before = pickle.dumps(clf.certificate_), bits(clf)
    with pytest.raises(ParameterError, match="cannot be combined with penalty='l2'"):
        clf.set_params(penalty="l2").fit(X, y)
    for multiclass in ("direct", "ovr", "ovo"):
        with pytest.raises(ParameterError, match=r"two classes .* but y has 3"):
            clf.set_params(penalty=None, multiclass=multiclass).fit(X, [0, 1, 2, 1])
    with pytest.raises(ParameterError, match="stop_on_cycle='yes' must be True or False"):
        clf.set_params(multiclass="direct", stop_on_cycle="yes").fit(X, y)
    assert (pickle.dumps(clf.certificate_), bits(clf)) == before


def test_control_c_during_the_proof_leaves_the_last_pass(monkeypatch):
    def interrupted(*arguments, **named):
        raise KeyboardInterrupt

    monkeypatch.setattr(witness, "witness", interrupted)
    X, y = load_xor()
    clf = rb.Perceptron(order="cyclic", stop_on_cycle=True)
    with pytest.raises(KeyboardInterrupt):
        clf.fit(X, y)
    assert (clf.stop_reason_, clf.n_iter_, clf.certificate_) == ("interrupted", 1, None)


@pytest.mark.parametrize(("name", "few", "enough"), [("MAX_KEPT_STATES", 13, 14), ("MAX_KEPT_MISTAKES", 21, 22)])
def test_memory_is_bounded(name, few, enough, monkeypatch):
    """A cycle of 14 passes and 22 mistakes is noticed only by who remembers as many."""
    X, y = np.array([[1.0], [10.0], [100.0]]), np.array([1, -1, 1])
    rule = {"order": "cyclic", "stop_on_cycle": True, "max_iter": 400, "n_iter_no_change": 400}
    monkeypatch.setattr(cycles, name, few)
    assert not proved(trained(X, y, **rule), X, y)
    monkeypatch.setattr(cycles, name, enough)
    assert proved(trained(X, y, **rule), X, y)


@pytest.mark.parametrize("remembered", [1, 2, cycles.MAX_KEPT_STATES])
def test_repeats_that_are_refuted_are_tried_ever_more_rarely(remembered, monkeypatch):
    calls = count()
    monkeypatch.setattr(cycles, "MAX_KEPT_STATES", remembered)

    def refuted(*arguments, **named):
        next(calls)

    monkeypatch.setattr(witness, "witness", refuted)
    X, y = load_xor()
    clf = trained(X, y, order="cyclic", stop_on_cycle=True, max_iter=1000, n_iter_no_change=1000)
    assert clf.stop_reason_ == "max_iter"
    assert next(calls) == 10  # 1 + 2 + 3 + 5 + … of a thousand


def test_nothing_is_said_of_more_values_than_are_checked(monkeypatch):
    monkeypatch.setattr(witness, "MAX_CHECKED_VALUES", 11)
    X, y = load_xor()
    assert trained(X, y, order="cyclic", stop_on_cycle=True, max_iter=5).stop_reason_ == "max_iter"
