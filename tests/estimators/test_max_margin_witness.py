"""Data without a widest hyperplane: the error holds the exact reason, of the data as it was given."""

import pickle
from fractions import Fraction

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.datasets import load_digits

import rosenblatt as rb
from rosenblatt.certify import check
from rosenblatt.datasets import load_xor
from rosenblatt.estimators import max_margin as _witness
from rosenblatt.exceptions import NotSeparableError


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
    monkeypatch.setattr(_witness, "SECONDS", 0.0)
    error = refused(*load_xor())
    assert "of the radius of the data" in str(error)
    assert error.certificate is None
