"""What each section says, on data small enough to know it."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

import rosenblatt as rb
from rosenblatt.certify.class_tables import ClassTables
from rosenblatt.certify.time_limit import Clock
from rosenblatt.reports.page import _number, _percent, render_report
from rosenblatt.reports.sections import Weight, best_bound, cases_of, looks_of, separability_of
from rosenblatt.reports.subject import subject_of
from tests.shared.examples import examples


def fitted(model, X, y):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(X, y)


def about(model, X, y, **told):
    return subject_of(fitted(model, X, y), X, y, told.get("names"), told.get("rows"))


def clouds(n_classes, n=60, d=4, seed=1):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n)
    return rng.standard_normal((n, d)) + 1.5 * np.eye(n_classes, d)[y], y


def test_six_points(read):
    """11 mistakes, w = (1.5, 7.5), b = 8, in the 6th pass."""
    X, y = rb.datasets.load_six_points()
    clf = rb.Perceptron(order="cyclic", bias="radius").fit(X, y)
    page = read(render_report(clf, X, y, names=["length", "width"]))
    assert "100% accuracy on its training rows 6 of 6 rows right" in page.sections["head"]
    assert "11 mistakes in training" in page.sections["head"]
    assert "A whole pass went by without a mistake." in page.sections["head"]
    assert "width 7.5 length 1.5 bias 8" in page.sections["looks"]
    counts = ", ".join(map(str, clf.mistakes_per_pass_))
    assert f"mistakes of each pass {counts}" in page.sections["training"]
    assert "at most 36 (Novikoff 1962, from margin, rows with R as a feature)" in page.sections["training"]
    assert "margin and radius mistakes 65 11" in page.sections["training"]
    assert "No row is wrong." in page.sections["errors"]
    assert "positive for '1' and negative otherwise" in page.sections["certificate"]
    assert "The largest margin γ lies between" in page.sections["certificate"]
    assert "it holds" in page.sections["certificate"]
    assert "rosenblatt check proof.json DATA" in page.sections["certificate"]
    assert "rosenblatt-proof" in page.sections["certificate"]
    assert [name.split()[0] for name in page.pictures()] == ["The", "Share", "Mistakes", "Why"]


def test_xor(read):
    X, y = rb.datasets.load_xor()
    page = read(render_report(fitted(rb.Perceptron(order="cyclic"), X, y), X, y))
    assert "½·(0,0) + ½·(1,1) = ½·(1,0) + ½·(0,1)" in page.sections["certificate"]
    assert "inseparable by a hyperplane; proved, and checked" in page.sections["head"]


def test_xor_in_the_space_of_a_kernel(read):
    X, y = rb.datasets.load_xor()
    page = read(render_report(rb.KernelPerceptron("poly").fit(X, y), X, y))
    plain, space = page.sections["certificate"].split("And in the space of its kernel?")
    assert "Inseparable" in plain
    assert "Separable" in space
    assert "it holds" in space
    assert "separable for any labels" in space
    assert "not in the space of a kernel" in page.sections["training"]


def test_precomputed_kernels_are_no_features(read):
    X, y = rb.datasets.load_or()
    K = X @ X.T + 1
    page = read(render_report(rb.KernelPerceptron("precomputed").fit(K, y), K, y))
    assert "decided in the kernel's space" in page.sections["certificate"]
    assert "Separable" in page.sections["certificate"]


def test_several_classes(read):
    X, y = clouds(3)
    clf = fitted(rb.Perceptron(max_iter=20), X, y)
    page = read(render_report(clf, X, y))
    assert "The bounds are for two classes; this model has 3." in page.sections["training"]
    assert "2 of 3 pairs of classes are not separable (0 and 1, 1 and 2)" in page.sections["certificate"]
    assert "rest" in page.sections["certificate"]


def test_confusion_matrix_stands_as_counted(read):
    y = np.repeat([0, 1, 2], [5, 3, 2])
    X = np.eye(3)[[0, 0, 0, 0, 1, 1, 1, 0, 2, 1]]
    clf = rb.Perceptron().fit(np.eye(3), [0, 1, 2])
    text = read(render_report(clf, X, y)).sections["scores"]
    assert "0 1 2 0 4 1 · 1 1 2 · 2 · 1 1" in text
    assert "0 0.800 0.800 0.800 5 1 0.500 0.667 0.571 3 2 1.000 0.500 0.667 2" in text
    assert "Accuracy 70.0%, 95% interval 39.7% to 89.2% (Wilson)." in text


@pytest.mark.slow
def test_many_classes(read):
    K = 70
    X = np.eye(K)
    clf = rb.Perceptron(max_iter=3, order="cyclic")
    page = read(render_report(fitted(clf, X, np.arange(K)), X, np.arange(K), time_limit=1.0))
    assert "10 more classes are left out" in page.sections["looks"]
    assert "Rates of each of 70 classes" in page.sections["scores"]


def test_the_best_bound_in_words():
    """Of overlapping rows it holds for one run only; that of a tiny margin is said to be no help."""
    X, y = rb.datasets.load_xor()
    clf = fitted(rb.Perceptron(), X, y)
    told = best_bound(rb.bounds(X, y, model=clf), clf.t_)
    assert told.startswith(
        f"Training made {clf.n_mistakes_} mistakes in {clf.t_} visits to rows. Knowing which rows"
    )
    assert "No hyperplane separates the rows" in told
    X, y = np.array([[1e4, 1e-4], [1e4, -1e-4]]), [1, 0]
    clf = fitted(rb.Perceptron(max_iter=3, bias=None), X, y)
    found = rb.bounds(X, y, model=clf)
    told = best_bound(found, clf.t_)
    assert found["origin"].value == pytest.approx(1e16)
    assert "about 10¹⁶" in told
    assert "no help in practice: the margin is tiny" in told


def test_rows_are_counted_from_the_number_that_was_asked_for(read):
    X, y = rb.datasets.load_six_points()
    clf = rb.Perceptron().fit(X, y)
    page = read(render_report(clf, X, y, first=1, prepared={"scale": "none", "split": "all"}))
    assert "Rows are counted from 1." in page.sections["errors"]
    assert {case.row for case in cases_of(subject_of(clf, X, y, None, None, first=1)).close} == set(range(1, 7))
    assert "scale none split all passes" in page.sections["training"]


def test_links_at_the_top_lead_to_all_sections(read):
    X, y = rb.datasets.load_six_points()
    page = read(render_report(rb.Perceptron().fit(X, y), X, y))
    links = [value.removeprefix("#") for name, value in page.attributes if name == "href"]
    sections = [name for name in page.sections if name != "head"]
    assert links[: len(sections)] == sections  # what follows is inside of pictures


def test_other_rows_than_those_of_training(read):
    X, y = clouds(2)
    clf = fitted(rb.Perceptron(max_iter=10), X[:40], y[:40])
    page = read(render_report(clf, X[40:], y[40:]))
    assert "these are other rows" in page.sections["training"]
    assert "training rows" not in page.sections["head"]
    assert "expect less" not in page.sections["scores"]


def test_no_time_is_said(read):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((400, 30))
    y = rng.integers(0, 2, 400)
    page = read(render_report(fitted(rb.Perceptron(max_iter=2), X, y), X, y, time_limit=0))
    assert "undecided" in page.sections["head"]
    assert "Allow more (time_limit)" in page.sections["certificate"]
    assert "The bounds are not known" in page.sections["training"]
    assert "proof.json" not in page.sections["certificate"]


@pytest.mark.slow
def test_a_given_certificate_is_checked(read):
    X, y = rb.datasets.load_or()
    clf = rb.Perceptron().fit(X, y)
    assert "it holds" in read(render_report(clf, X, y, certificate=rb.certify(X, y))).sections["certificate"]
    wrong = read(render_report(clf, X, y, certificate=rb.certify(*rb.datasets.load_and())))
    assert "The proof does not hold of these rows" in wrong.sections["certificate"]
    assert "says a proof that does not hold" in wrong.sections["head"]


EXPLAINED = [
    *(rb.Perceptron(multiclass=multiclass, max_iter=5) for multiclass in ("direct", "ovr", "ovo")),
    rb.Perceptron(average=True, max_iter=5),
    rb.VotedPerceptron(max_iter=2),
    rb.KernelPerceptron("rbf", max_iter=2),
]


@pytest.mark.parametrize("model", EXPLAINED, ids=str)
@pytest.mark.parametrize("n_classes", [2, 3, 4])
@pytest.mark.parametrize("sparse", [False, True])
def test_what_spoke_is_the_explanation_of_the_row(model, n_classes, sparse):
    X, y = clouds(n_classes)
    X = csr_array(X) if sparse else X
    subject = about(clone(model), X, y)
    cases = cases_of(subject)
    assert not cases.unexplained
    assert cases.wrong
    assert cases.close
    for case in [*cases.wrong, *cases.close]:
        [found] = rb.explain(subject.model, X[[case.row]])
        shown = [(name, part) for name, *_, part in found.lines(5)]
        most = max(abs(part) for _, part in shown)
        assert case.parts == [each for each in shown if each[0] != "rounding" or abs(each[1]) > 1e-9 * most]
        assert sum(part for _, part in case.parts) == pytest.approx(found.score, abs=1e-12)
        assert str(found.label) == case.predicted
        assert case.favours == (-1 if n_classes == 2 and found.label == 0 else 1)


def test_what_spoke_is_on_the_page(read):
    X, y = clouds(2)
    kernel = fitted(rb.KernelPerceptron("rbf", max_iter=2), X, y)
    found = read(render_report(kernel, X, y)).sections["errors"]
    assert "what spoke for that, and against" in found
    assert "support point" in found
    assert "the parts of the score, which is positive for 1" in found
    network = fitted(rb.MultilayerPerceptron(max_iter=2), X, y)
    found = read(render_report(network, X, y)).sections["errors"]
    assert "what spoke" not in found
    assert "The score of MultilayerPerceptron is not a sum over features" in found


def models():
    return st.sampled_from(
        [
            rb.Perceptron(max_iter=3),
            rb.Perceptron(max_iter=3, zero=1),
            rb.VotedPerceptron(max_iter=2),
            rb.MultilayerPerceptron(max_iter=3),
            rb.KernelPerceptron("rbf", max_iter=2),
        ]
    )


@settings(max_examples=25)
@given(models(), st.integers(2, 3), st.integers(0, 50))
def test_rows_are_chosen_by_their_lead(model, n_classes, seed):
    X, y = clouds(n_classes, seed=seed)
    if len(set(y)) < n_classes:
        return
    subject = about(model, X, y)
    cases = cases_of(subject)
    right = subject.model.predict(X) == y
    assert (subject.lead[right] >= 0).all()
    assert (subject.lead[~right] <= 0).all()
    assert [case.row for case in cases.wrong] == sorted(np.flatnonzero(~right), key=lambda i: subject.lead[i])[:10]
    assert [case.row for case in cases.close] == sorted(np.flatnonzero(right), key=lambda i: subject.lead[i])[:10]
    assert cases.n_wrong == (~right).sum()
    for case in [*cases.wrong, *cases.close]:
        assert case.truth == str(y[case.row])
        assert case.predicted == str(subject.model.predict(X[[case.row]])[0])


def test_confidence_is_the_distance_from_the_hyperplane():
    X, y = clouds(2)
    subject = about(rb.Perceptron(max_iter=5), X, y)
    distance = rb.geometry.signed_distance(X, subject.model.coef_[0], subject.model.intercept_[0])
    assert_allclose(subject.lead, np.where(y == 1, distance, -distance))


def test_rows_are_called_by_what_they_are(read):
    X, y = clouds(2)
    clf = fitted(rb.Perceptron(max_iter=2), X, y)
    texts = [f"message {i} " + "very " * 60 for i in range(len(y))]
    cases = cases_of(subject_of(clf, X, y, None, texts))
    assert all(case.called.startswith(f"message {case.row} very") for case in cases.wrong)
    assert all(len(case.called) == 160 for case in cases.wrong)


def test_strongest_features_by_what_they_move():
    X = np.array([[1000.0, 1.0, 0.0], [1010.0, -1.0, 0.0], [1020.0, 1.0, 0.0], [990.0, -1.0, 0.0]])
    y = np.array([1, 0, 1, 0])
    subject = about(rb.SoftMarginClassifier(), X, y, names=["large", "small", "never"])
    looks = looks_of(subject)
    ((label, weights, _),) = looks.groups
    assert label == "1"
    assert {each.name for each in weights} <= {"large", "small"}
    for each in weights:
        j = ["large", "small", "never"].index(each.name)
        assert each.weight == subject.model.coef_[0, j]
        assert each.effect == pytest.approx(each.weight * X[:, j].std())
    assert max(each.share for each in weights) == 1.0
    assert [each.effect for each in weights] == sorted((each.effect for each in weights), reverse=True)


@settings(max_examples=examples(40))
@given(st.integers(0, 1000), st.integers(2, 9), st.integers(1, 5))
def test_spread_of_sparse_rows(seed, n, d):
    from rosenblatt.reports.sections import _spreads

    rng = np.random.default_rng(seed)
    X = rng.integers(-3, 4, (n, d)) * (rng.random((n, d)) < 0.5) + 0.0
    y = np.arange(n) % 2
    dense, sparse = (about(rb.Perceptron(max_iter=1), rows, y) for rows in (X, csr_array(X)))
    assert_allclose(_spreads(sparse), X.std(axis=0), atol=1e-14)
    assert_allclose(_spreads(dense), X.std(axis=0), atol=1e-14)


def test_of_many_features_the_strongest_are_shown(read):
    rng = np.random.default_rng(0)
    X = csr_array(rng.random((50, 5000)) * (rng.random((50, 5000)) < 0.01))
    y = rng.integers(0, 2, 50)
    clf = rb.Perceptron().fit(X, y)
    subject = subject_of(clf, X, y, [f"bucket {j}" for j in range(5000)], None)
    ((_, weights, _),) = looks_of(subject).groups
    moved = np.abs(clf.coef_[0] * X.toarray().std(axis=0))
    assert {each.name for each in weights} == {f"bucket {j}" for j in np.argsort(-moved)[:20]}
    assert f"of {5000:,} features have one" in read(render_report(clf, X, y)).sections["looks"]


@pytest.mark.parametrize(
    "share, text",
    [(1.0, "100%"), (0.99996, ">99.9%"), (0.99949, "99.9%"), (0.5, "50.0%"), (0.0004, "<0.1%"), (0.0, "0%")],
)
def test_percentages_do_not_claim_too_much(share, text):
    assert _percent(share) == text


@pytest.mark.parametrize(
    "value, text", [(1.0, "1"), (-0.5, "−0.5"), (1234.5, "1234"), (23456.7, "23,457"), (1e9, "1e9")]
)
def test_numbers_are_short(value, text):
    assert _number(value) == text


def test_what_was_decided_in_time_does_not_count_for_all():
    """Of several classes, some proofs may hold though others were not found."""
    X, y = clouds(3)
    X = X + 20 * np.eye(3, 4)[y]
    found, late = rb.certify(X, y), rb.certify(X, y, time_limit=0)
    assert (found.verdict, late.verdict) == ("separable", "undecided")
    first = next(iter(found.pairs))
    parts = ClassTables(late.pairs | {first: found.pairs[first]}, late.rest)
    proof = separability_of(about(rb.Perceptron(max_iter=2), X, y), parts, Clock(None))
    assert (proof.verdict, proof.holds, proof.words) == ("undecided", True, "in the time allowed")
    assert proof.checked.startswith("The proof was checked")
    assert proof.table == [["", "yes", "?", "?"], ["yes", "", "?", "?"], ["?", "?", "", "?"]]


def test_a_feature_speaks_for_a_class_or_against_it():
    assert [Weight("word", each, each, 0.5).towards for each in (2.0, -2.0)] == ["for", "against"]
