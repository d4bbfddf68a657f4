"""The maximum margin: what other programs find, with bounds that meet; or an error with the exact reason."""

import contextlib
import pickle
import re
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from scipy.sparse import csr_array
from sklearn.datasets import load_breast_cancer, load_digits, load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC

import rosenblatt as rb
from rosenblatt.certify import check
from rosenblatt.datasets import load_xor
from rosenblatt.estimators import max_margin as _witness
from rosenblatt.exceptions import (
    LabelError,
    NonFiniteError,
    NotSeparableError,
    ParameterError,
    TrainingOverflowError,
)
from rosenblatt.margins import widest
from rosenblatt.rows.batch import as_batch
from tests.shared.examples import examples
from tests.shared.margin_oracles import largest_margin
from tests.shared.strategies import full_state, problems, separable


def digits(a, b):
    X, y = load_digits(return_X_y=True)
    kept = (y == a) | (y == b)
    return X[kept], np.where(y[kept] == a, 1, -1)


def setosa():
    X, y = load_iris(return_X_y=True)
    return X, np.where(y == 0, 1, -1)


def breast_cancer():
    X, y = load_breast_cancer(return_X_y=True)
    return X, np.where(y == 0, 1, -1)


def assert_widest(clf, X, y):
    """What holds of every widest hyperplane, evaluated here."""
    w, b = clf.coef_[0], clf.intercept_[0]
    dense = X.toarray() if sp.issparse(X) else X
    z = y * (dense @ w + b)
    scale = np.linalg.norm(dense, axis=1).max() * np.linalg.norm(w) * 1e-13 + 1e-9
    assert z.min() == pytest.approx(1, abs=scale)
    assert z[clf.support_] == pytest.approx(1, abs=scale)
    assert clf.margin_ == pytest.approx(1 / np.linalg.norm(w), rel=1e-9)
    alpha = clf.dual_coef_[0] * y[clf.support_]
    assert (alpha > 0).all()
    assert alpha.sum() == pytest.approx(1 / clf.margin_**2, rel=1e-6)
    if clf.fit_intercept:
        assert clf.dual_coef_.sum() == pytest.approx(0, abs=1e-9 * alpha.sum())
    assert clf.gap_ < 1e-9


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("data", [lambda: digits(0, 1), lambda: digits(3, 8), lambda: digits(1, 8), setosa])
def test_an_independent_program_finds_the_same_margin(data, bias):
    X, y = data()
    clf = rb.MaxMarginClassifier(fit_intercept=bias).fit(X, y)
    assert clf.margin_ == pytest.approx(largest_margin(X, y, bias=bias), rel=1e-9)
    assert clf.gap_ < 1e-12
    assert_widest(clf, X, y)
    rebuilt = clf.dual_coef_ @ clf.support_vectors_
    assert rebuilt == pytest.approx(clf.coef_, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("bias", [True, False])
def test_badly_scaled_features_are_no_obstacle(bias):
    """The margin of raw breast cancer is 10⁻⁸ of its radius. Its bounds, both evaluated here, meet."""
    X, y = breast_cancer()
    clf = rb.MaxMarginClassifier(fit_intercept=bias).fit(X, y)
    assert_widest(clf, X, y)
    assert clf.margin_ == pytest.approx(4.13713684254e-05 if bias else 4.0475602358e-05, rel=1e-9)
    w = clf.coef_[0].astype(np.longdouble)
    f = X.astype(np.longdouble) @ w
    lower = ((f[y > 0].min() - f[y < 0].max()) / 2 if bias else (y * f).min()) / np.sqrt(w @ w)
    lam = (clf.dual_coef_[0] * y[clf.support_]).astype(np.longdouble)
    s = y[clf.support_]
    lam = np.where(s > 0, lam / lam[s > 0].sum(), lam / lam[s < 0].sum()) if bias else lam / lam.sum()
    v = (lam * s) @ X[clf.support_].astype(np.longdouble)
    upper = np.sqrt(v @ v) / (2 if bias else 1)
    assert float((upper - lower) / upper) < 1e-9
    assert float(lower) == pytest.approx(clf.margin_, rel=1e-9)


def test_a_support_vector_machine_that_forgives_nothing_is_the_same():
    X, y = digits(3, 8)
    clf = rb.MaxMarginClassifier().fit(X, y)
    svm = SVC(kernel="linear", C=1e6, tol=1e-9).fit(X, y)
    assert clf.coef_ == pytest.approx(svm.coef_, rel=1e-5, abs=1e-7)
    assert clf.intercept_ == pytest.approx(svm.intercept_, rel=1e-5)
    assert set(clf.support_) == set(svm.support_)
    assert (clf.predict(X) == y).all()


@pytest.mark.parametrize("layout", [sp.csr_array, lambda X: X.astype(np.float32), np.asfortranarray])
def test_layouts_and_precisions_find_the_same(layout):
    X, y = digits(1, 8)
    base = rb.MaxMarginClassifier().fit(X, y)
    clf = rb.MaxMarginClassifier().fit(layout(X), y)
    assert clf.margin_ == pytest.approx(base.margin_, rel=1e-12)
    assert clf.coef_ == pytest.approx(base.coef_, rel=1e-9, abs=1e-12)
    assert (clf.support_ == base.support_).all()


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize(("small", "large"), [(0, 0), (0, 2**22), (300, 0)])
@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array])
def test_more_features_than_rows(layout, small, large, bias, monkeypatch):
    monkeypatch.setattr(widest, "MAX_DENSE_VALUES", large)
    monkeypatch.setattr(widest, "MAX_DENSE_FEATURES", 100)
    monkeypatch.setattr(widest, "MAX_UNREDUCED_FEATURES", small)
    rng = np.random.default_rng(1)
    X = rng.standard_normal((30, 200)) * (rng.random((30, 200)) < 0.2)
    y = np.where(rng.random(30) < 0.5, 1, -1)
    clf = rb.MaxMarginClassifier(fit_intercept=bias).fit(layout(X), y)
    assert clf.margin_ == pytest.approx(largest_margin(X, y, bias=bias), rel=1e-9)
    assert_widest(clf, X, y)


@pytest.mark.parametrize("bias", [True, False])
def test_many_rows_are_met_a_few_at_a_time(bias, monkeypatch):
    X, y = separable(3000, 5, gap=0.01)
    whole = rb.MaxMarginClassifier(fit_intercept=bias).fit(X, y)
    monkeypatch.setattr(widest, "MAX_NEW_ROWS", 4)
    monkeypatch.setattr(widest, "MANY_ROWS", 20)
    clf = rb.MaxMarginClassifier(fit_intercept=bias).fit(X, y)
    assert clf.n_iter_ > whole.n_iter_
    assert clf.margin_ == pytest.approx(whole.margin_, rel=1e-12)
    assert_widest(clf, X, y)
    with pytest.raises(NotSeparableError, match=r"After 2 rounds .* Allow more rounds .* are separable") as error:
        rb.MaxMarginClassifier(fit_intercept=bias, max_iter=2).fit(X, y)
    assert error.value.certificate.verdict == "separable"
    assert error.value.certificate.verify(X, y)
    for rounds in range(3, clf.n_iter_):
        with contextlib.suppress(NotSeparableError):
            early = widest.max_margin(as_batch(X, y), bias=bias, max_iter=rounds)
            assert early.margin <= clf.margin_ * (1 + 1e-12)
            assert early.upper >= clf.margin_ * (1 - 1e-12)


def test_a_gap_that_is_not_closed_is_told():
    X, y = breast_cancer()
    with pytest.warns(ConvergenceWarning, match=r"the margin 4.13714e-05 is up to .* below the largest"):
        rb.MaxMarginClassifier(tol=0).fit(X, y)


def separated(X, y, *, bias):
    rows = -y[:, None] * np.column_stack([X, np.full(len(y), float(bias))])
    return linprog(np.zeros(rows.shape[1]), rows, -np.ones(len(y)), bounds=(None, None)).status == 0


@settings(max_examples=examples(150))
@given(problem=problems(), bias=st.booleans())
def test_a_verdict_is_right_and_the_largest_margin_found(problem, bias):
    X, y = problem
    clf = rb.MaxMarginClassifier(fit_intercept=bias)
    if separated(X, y, bias=bias):
        clf.fit(X, y)
        assert clf.margin_ == pytest.approx(largest_margin(X, y, bias=bias), rel=1e-9)
        assert_widest(clf, X, y)
    else:
        with pytest.raises(NotSeparableError, match=r"^No hyperplane") as error:
            clf.fit(X, y)
        rows = np.array(re.search(r"rows? ([\d, ]+) ", str(error.value))[1].split(", "), int)
        assert rows.tolist() == list(error.value.certificate.support)
        assert error.value.certificate.verify(X, y)
        assert not separated(X[rows], y[rows], bias=bias)  # the rows named are enough of a reason


@pytest.mark.parametrize("far", [0.0, 1e3, 1e6])
@pytest.mark.parametrize("scale", [1e-12, 1.0, 1e12])
def test_neither_scale_nor_place_matters(scale, far):
    X, y = separable(60, 3, gap=0.3)
    X = X.round(6)
    base = rb.MaxMarginClassifier().fit(X, y).margin_
    clf = rb.MaxMarginClassifier().fit(scale * (X + far), y)
    assert clf.margin_ == pytest.approx(scale * base, rel=1e-8)


def test_classes_a_hair_apart_are_told_apart_and_classes_that_touch_are_not():
    X, y = np.array([[0.0], [1.0], [1.0 + 2**-30], [2.0]]), np.array([0, 0, 1, 1])
    assert rb.MaxMarginClassifier().fit(X, y).margin_ == pytest.approx(2**-31, rel=1e-6)
    with pytest.raises(NotSeparableError, match="rows 1, 2 "):
        rb.MaxMarginClassifier().fit(np.array([[0.0], [1.0], [1.0], [2.0]]), y)


def test_what_floats_cannot_decide_is_said_to_be_so():
    rng = np.random.default_rng(0)
    X = np.column_stack([1e13 * rng.integers(-3, 4, 20), rng.standard_normal(20) * 1e-7])
    y = np.where(rng.random(20) < 0.5, 1, -1)
    X[:, 1] = np.where(y > 0, 1, -1) * 1e-7
    try:
        clf = rb.MaxMarginClassifier().fit(X, y)
    except NotSeparableError as error:
        assert "The classes are separable" in str(error)  # noqa: PT017 - both answers are right, a no is not
    else:
        assert clf.margin_ == pytest.approx(1e-7)


def test_weights_leave_rows_out_and_change_nothing_else():
    X, y = digits(3, 8)
    clf = rb.MaxMarginClassifier().fit(X, y)
    kept = np.ones(len(y))
    kept[clf.support_[:3]] = 0
    some = rb.MaxMarginClassifier().fit(X, y, sample_weight=kept)
    rest = kept > 0
    same = rb.MaxMarginClassifier().fit(X[rest], y[rest])
    assert some.margin_ == same.margin_ > clf.margin_
    assert (some.support_ == np.flatnonzero(rest)[same.support_]).all()
    assert (some.support_vectors_ == X[some.support_]).all()
    heavy = rb.MaxMarginClassifier().fit(X, y, sample_weight=np.arange(1, len(y) + 1))
    assert (heavy.coef_ == clf.coef_).all()


@pytest.mark.parametrize("exponent", [1000, 530, 201, -201, -500])
@pytest.mark.parametrize("convert", [np.asarray, sp.csr_array])
def test_margins_scale_with_the_data_to_the_ends_of_floats(convert, exponent):
    X, y = separable(60, 3)
    plain = rb.MaxMarginClassifier().fit(convert(X), y)
    clf = rb.MaxMarginClassifier().fit(convert(np.ldexp(X, exponent)), y)
    assert np.ldexp(clf.margin_, -exponent) == pytest.approx(plain.margin_, rel=1e-12)
    assert np.ldexp(clf.coef_, exponent) == pytest.approx(plain.coef_, rel=1e-9)
    assert clf.intercept_ == pytest.approx(plain.intercept_, rel=1e-9)
    assert (clf.support_ == plain.support_).all()
    if abs(exponent) < 500:
        assert np.ldexp(clf.dual_coef_, 2 * exponent) == pytest.approx(plain.dual_coef_, rel=1e-6)


def test_features_that_no_finite_weights_fit_are_refused():
    with pytest.raises(TrainingOverflowError, match="Scale the features"):
        rb.MaxMarginClassifier().fit(np.array([[-1.0], [1.0]]) * 1e-310, [0, 1])


@pytest.mark.parametrize("scale", [1e-160, 1e-200, 1e-300])
def test_features_whose_support_vectors_need_infinite_weights_are_refused(scale):
    X, y = separable(60, 3)
    with pytest.raises(TrainingOverflowError, match=r"support vectors.*Scale the features"):
        rb.MaxMarginClassifier().fit(X * scale, y)
    assert np.isfinite(rb.MaxMarginClassifier().fit(X * 1e-140, y).dual_coef_).all()


def test_the_data_is_measured_once_and_from_its_center(monkeypatch):
    X, y = separable(2000, 3)
    there = widest.Hulls(as_batch(X + 1e6, y), y.astype(float), bias=True)
    assert there.radius == pytest.approx(np.linalg.norm(X - X.mean(axis=0), axis=1).max(), rel=1e-6)
    seen, squares = [], widest.Matrix.squares
    counted = property(lambda matrix: seen.append(1) or squares.__get__(matrix))
    monkeypatch.setattr(widest.Matrix, "squares", counted)
    assert rb.MaxMarginClassifier().fit(X, y).n_iter_ > 1
    assert len(seen) == 1


def test_the_perceptron_s_margin_is_never_larger():
    X, y = digits(3, 8)
    widest = rb.MaxMarginClassifier().fit(X, y)
    for seed in range(3):
        p = rb.Perceptron(random_state=seed).fit(X, y)
        assert rb.geometry.geometric_margin(X, y, p.coef_[0], p.intercept_[0]).min() < widest.margin_


def test_what_cannot_be_used_leaves_it_as_it_was():
    X, y = digits(3, 8)
    clf = rb.MaxMarginClassifier().fit(X, y)
    before = full_state(clf)
    with pytest.raises(LabelError, match="Only binary classification"):
        clf.fit(*load_iris(return_X_y=True))
    with pytest.raises(LabelError, match="only one class"):
        clf.fit(X, np.ones(len(y)))
    with pytest.raises(LabelError, match="Only rows of one class"):
        clf.fit(X, y, sample_weight=(y > 0).astype(float))
    with pytest.raises(NonFiniteError, match="NaN"):
        clf.fit(np.where(X > 15, np.nan, X), y)
    with pytest.raises(NotSeparableError, match=r"Use SoftMarginClassifier"):
        clf.fit(X, np.tile([0, 1], len(y))[: len(y)])
    assert full_state(clf) == before
    assert (pickle.loads(pickle.dumps(clf)).predict(X) == y).all()


@pytest.mark.parametrize("parameters", [{"fit_intercept": 1}, {"tol": -1}, {"tol": "x"}, {"max_iter": 0}])
def test_bad_parameters(parameters):
    with pytest.raises(ParameterError, match=next(iter(parameters))):
        rb.MaxMarginClassifier(**parameters).fit(*setosa())


def refused(X, y, *, bias=True, **fit):
    with pytest.raises(NotSeparableError) as error:
        rb.MaxMarginClassifier(fit_intercept=bias).fit(X, y, **fit)
    return error.value


@pytest.mark.parametrize("layout", [np.asarray, csr_array, lambda X: X.astype(np.float32)])
def test_xor(layout):
    X, y = load_xor()
    error = refused(layout(X), y)
    assert "rows 0, 1, 2, 3 that is exact" in str(error)
    assert error.certificate.support == (0, 1, 2, 3)
    assert error.certificate.weights == (Fraction(1, 2),) * 4
    assert error.certificate.verify(layout(X), y)
    check.check(check.read_proof(error.certificate.to_json()), X.tolist(), [str(label) for label in y])
    assert pickle.loads(pickle.dumps(error)).certificate.support == (0, 1, 2, 3)


def test_many_rows_of_which_a_few_are_named():
    X, y = load_digits(return_X_y=True)
    error = refused(X, y == 8)
    assert error.certificate.verdict == "inseparable"
    assert error.certificate.verify(X, y == 8)
    assert f"and {len(error.certificate.support) - 12} more that is exact" in str(error)


def test_without_a_bias():
    X, y = np.array([[1.0, 1.0], [2.0, 2.0]]), np.array([0, 1])
    error = refused(X, y, bias=False)
    assert "No hyperplane through the origin" in str(error)
    assert not error.certificate.bias
    assert error.certificate.verify(X, y)
    assert rb.MaxMarginClassifier().fit(X, y).margin_ > 0


@pytest.mark.parametrize("bias", [True, False])
def test_rows_of_no_weight_are_not_named_and_the_proof_is_of_all_data(bias):
    X, y = np.vstack([load_xor()[0]] * 2), np.append(load_xor()[1], [1, 1, 1, 1])
    weight = np.array(
        [0, 0, 1, 1, 1, 1, 0, 0]
    )  # the rows (0, 1) and (1, 1) as they are, and (0, 0) and (1, 0) as +
    y[3] = y[2]
    X[4] = X[3]
    y[4] = -y[3]
    error = refused(X, y, bias=bias, sample_weight=weight)
    assert set(error.certificate.support) <= set(np.flatnonzero(weight))
    assert error.certificate.verify(X, y)


def test_classes_an_ulp_apart_are_said_to_be_separable():
    X, y = np.array([[0.0], [1.0], [1.0 + 2**-52], [2.0]]), np.array([0, 0, 1, 1])
    error = refused(X, y)
    assert str(error).startswith("The classes are separable (")
    assert "by less than floats can resolve" in str(error)
    assert error.certificate.verdict == "separable"
    assert error.certificate.verify(X, y)
    more = np.vstack([X, [[1.5]]]), np.append(y, 0)
    error = refused(*more, sample_weight=[1, 1, 1, 1, 0])
    assert "for the rows that have weight" in str(error)
    assert error.certificate.verify(X, y)


def test_what_is_not_decided_in_time_is_told_as_floats_see_it(monkeypatch):
    monkeypatch.setattr(_witness, "MAX_PROOF_SECONDS", 0.0)
    error = refused(*load_xor())
    assert "of the radius of the data" in str(error)
    assert error.certificate is None
