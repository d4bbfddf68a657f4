"""Fits that end by proof: asked where mistakes no longer fall, only about this fit, with counted work."""

import pickle
import warnings
from copy import deepcopy
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from sklearn.exceptions import ConvergenceWarning

import rosenblatt as rb
from rosenblatt.certify import Inseparable, InseparableVerdict
from rosenblatt.certify.verdict import verdict
from rosenblatt.estimators import perceptron_core as deciding
from rosenblatt.exceptions import UndecidedError
from rosenblatt.learning import fit_loop as learner
from rosenblatt.rows.batch import as_batch
from rosenblatt.stopping import Plateau
from rosenblatt.tables.blocks import MemoryBlocks
from rosenblatt.tables.collect import transform_blocks
from rosenblatt.tables.scaling import Statistics, Transformation
from tests.shared.examples import examples
from tests.shared.strategies import bits, noisy, problems, quietly, trained

XOR = rb.datasets.load_xor()
ADVICE = (
    "The last weights are those after the last mistake; "
    "average=True, PocketPerceptron or SoftMarginClassifier suit such data."
)


@pytest.fixture
def asked(monkeypatch):
    """Return the work of every question asked; its `answer` replaces the true one if it is set."""
    kept = SimpleNamespace(work=[], answer=...)
    plain = deciding.ask

    def ask(blocks, plan, weight, work, model):
        kept.work.append(work)
        return plain(blocks, plan, weight, work, model) if kept.answer is ... else kept.answer

    monkeypatch.setattr(deciding, "ask", ask)
    return kept


def _said(clf, *data, **fit):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        clf.fit(*data, **fit)
    return [str(each.message) for each in caught if issubclass(each.category, ConvergenceWarning)]


@pytest.mark.parametrize("layout", [np.asarray, csr_array])
def test_a_proof_ends_training(layout):
    clf = rb.Perceptron(order="cyclic")
    said = _said(clf, layout(XOR[0]), XOR[1])
    assert (clf.stop_reason_, clf.converged_, clf.n_iter_) == ("inseparable", False, 6)
    assert clf.certificate_.verify(*XOR)
    assert said == [f"No hyperplane separates these rows (proved: see certificate_). {ADVICE}"]


def test_the_weights_are_those_of_before():
    X, y = noisy(200, 4)
    clf = trained(X, y)
    assert clf.stop_reason_ == "inseparable"
    same = trained(X, y, max_iter=clf.n_iter_, decide=False)
    assert bits(clf)[0] == bits(same)[0]
    assert clf.mistakes_per_pass_.tolist() == same.mistakes_per_pass_.tolist()


def test_hyperplanes_through_the_origin_are_named():
    X, y = [[1.0, 2.0], [2.0, 4.0]], [0, 1]
    for how in ({"bias": None}, {"fit_intercept": False}, {"bias": 0.0}):
        clf = rb.Perceptron(**how)
        assert _said(clf, X, y)[0].startswith("No hyperplane through the origin separates these rows (proved")
        assert not clf.certificate_.bias
    assert trained(X, y).stop_reason_ == "separated"


def test_a_proof_of_separability_lifts_patience_but_not_max_iter(asked):
    X, y = np.array([[0.0, 1.0], [1.0, 0.0], [0.997, 0.0]]), [0, 1, 0]
    clf = rb.Perceptron(order="cyclic", max_iter=20)
    said = _said(clf, X, y)
    assert (clf.stop_reason_, clf.n_iter_, len(asked.work)) == ("max_iter", 20, 1)
    assert clf.certificate_.verdict == "separable"
    assert clf.certificate_.verify(X, y)
    assert "Some hyperplane does (proved: see certificate_.coef_ and certificate_.intercept_). The" in said[0]
    assert said[0].endswith("Allow more passes.")
    clf = rb.Perceptron(order="cyclic", n_iter_no_change=100, max_iter=10**6).fit(X, y)
    assert (clf.stop_reason_, clf.certificate_, len(asked.work)) == ("separated", None, 2)
    assert clf.n_iter_ > 300


def test_patience_grows_tenfold_and_the_end_names_a_hyperplane(tmp_path, monkeypatch):
    X, y = np.array([[0.0, 1.0], [1.0, 0.0], [0.997, 0.0]]), np.array([0, 1, 0])
    clf = rb.Perceptron(order="cyclic", n_iter_no_change=2)
    assert _said(clf, X, y) == []  # so few rows go on until they are separated
    assert clf.stop_reason_ == "separated"
    monkeypatch.setattr(learner, "HOPEFUL_WORK", 0.0)
    (said,) = _said(clf, X, y)
    assert clf.stop_reason_ == "plateau"
    assert 20 <= clf.n_iter_ < 60
    assert "Some hyperplane does separate it (proved: see certificate_.coef_ and certificate_.intercept_)" in said
    proof = clf.certificate_
    assert ((X @ proof.coef_[0] + proof.intercept_[0] > 0.0) == (y == 1)).all()
    rb.save(clf, tmp_path / "m")
    assert rb.load(tmp_path / "m").certificate_.verify(X, y)


def test_undecided_leaves_the_trend_or_the_patience_given(asked):
    asked.answer = None
    clf = trained(*XOR, order="cyclic")
    assert (clf.stop_reason_, clf.n_iter_, clf.certificate_) == ("plateau", 12, None)
    assert trained(*XOR, order="cyclic", n_iter_no_change=3).n_iter_ == 4
    assert len(asked.work) == 2


def test_a_plateau_without_an_answer_says_what_decides(asked):
    asked.answer = None
    for parameters in ({}, {"n_iter_no_change": 3}):
        (said,) = _said(rb.Perceptron(order="cyclic", **parameters), *XOR)
        assert "because mistakes no longer fall. Whether it can be separated was not decided" in said
        assert "rosenblatt.certify(X, y) decides. The last pass made" in said
    assert _said(rb.Perceptron(order="cyclic", decide=False, n_iter_no_change=3), *XOR) == []


def test_what_was_not_decided_ends_on_a_long_plateau(asked, monkeypatch):
    """Where mistakes fall slowly the trend goes on for very long."""
    asked.answer = None
    X, y = rb.datasets.make_separable(400, 5, margin=0.005, seed=3)
    whole = trained(X, y)
    monkeypatch.setattr(learner, "UNDECIDED_PATIENCE_FACTOR", 2)
    short = trained(X, y)
    assert (whole.stop_reason_, short.stop_reason_) == ("separated", "plateau")
    assert 10 < short.n_iter_ < whole.n_iter_
    counts, ends = short.mistakes_per_pass_.tolist(), Plateau(10)
    assert [ends.ends(epoch, count) for epoch, count in enumerate(counts, 1)].index(True) == len(counts) - 1


def test_a_question_is_asked_again_before_the_end_when_twice_the_work_is_allowed(asked, monkeypatch):
    monkeypatch.setattr(learner, "LEAST_WORK", 0.0)
    asked.answer = None
    X, y = noisy(300, 4, flip=0.2)
    clf = trained(X, y)
    first, *again = asked.work
    whole = (
        learner.VISIT * 300 * clf.n_iter_ + learner.MISTAKE * clf.n_mistakes_ + learner.VALUE * 1200 * clf.n_iter_
    )
    assert clf.stop_reason_ == "plateau"
    assert again == [pytest.approx(whole / 2.0)] if whole / 2.0 >= first else again == []
    assert first + sum(again) <= whole
    assert len(asked.work) == 1 + (whole / 2.0 >= first)


@pytest.mark.parametrize("scores", ["none", "fitted", "reversed"])
def test_scores_change_which_rows_are_tried_and_no_verdict(scores):
    X, y = noisy(3000, 6, flip=0.005)
    batch = as_batch(X, y)
    f = trained(X, y, max_iter=5, decide=False).decision_function(X)
    told = {"none": None, "fitted": f, "reversed": -f}[scores]
    found = verdict(batch, scores=told)
    assert found.verdict == "inseparable"
    assert found.verify(X, y)
    weight = np.where(np.arange(3000) % 3 == 0, 0.0, 1.0)
    part = verdict(replace(batch, weight=weight), scores=told)
    assert part.verify(X, y)
    assert not (set(part.support) & set(range(0, 3000, 3)))


def test_nothing_is_asked_that_cannot_be_decided_with_the_work_allowed(monkeypatch):
    """Newton's method is not begun where it would take more than is left; equal rows are looked for anyhow."""
    X, y = noisy(3000, 40, flip=0.1)
    with monkeypatch.context() as patch:
        patch.setattr("rosenblatt.certify.decide.HingeNewton", None)
        assert verdict(as_batch(X, y), work=400_000.0) is None
        X[1], y[:2] = X[0], [0, 1]
        assert verdict(as_batch(X, y), work=400_000.0).verdict == "inseparable"
    assert verdict(as_batch(X[2:], y[2:]), work=10_000_000.0).verdict == "inseparable"


PARAMETERS = [
    {"tie": "correct"},
    {"tie": "sign"},
    {"penalty": "l2"},
    {"order": "random"},
    {"order": [0, 1, 2]},
    {"order": lambda _: [0, 1, 2, 3]},
    {"average": True},
    {"decide": False},
    {"tol": 1e-3},
    {"early_stopping": True, "validation_fraction": 0.5},
    {"stop_on_cycle": True},
]


@pytest.mark.parametrize("parameters", PARAMETERS, ids=lambda each: next(iter(each)))
def test_it_is_asked_only_where_the_answer_is_about_this_fit(asked, parameters):
    clf = trained(*XOR, max_iter=40, **parameters)
    assert not asked.work
    assert clf.stop_reason_ != "inseparable"


def test_a_bias_that_never_moves_is_not_asked_about(asked):
    trained(*XOR, bias=None, max_iter=30, fit={"coef_init": [0, 0], "intercept_init": [1]})
    assert not asked.work


@pytest.mark.parametrize("parameters", [{"tie": "half"}, {"margin": 2.0}, {"order": [3, 1, 0, 2, 2]}])
def test_it_is_asked_with_margins_halves_and_arrays(parameters):
    assert trained(*XOR, **parameters).stop_reason_ == "inseparable"


def test_rows_without_weight_do_not_count():
    X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1]
    clf = trained(X, y, fit={"sample_weight": [1, 1, 1, 0]})
    assert clf.stop_reason_ == "inseparable"
    assert set(clf.certificate_.support) == {0, 1, 2}
    assert clf.certificate_.verify(X, y)
    assert trained(X, y, fit={"sample_weight": [1, 1, 0, 1]}).stop_reason_ == "separated"
    assert trained(X, y, class_weight={0: 0.0}).stop_reason_ == "separated"


def test_the_work_is_counted_from_the_mistakes(asked, monkeypatch):
    monkeypatch.setattr(learner, "LEAST_WORK", 0.0)
    asked.answer = None
    X, y = noisy(20_000, 20, flip=0.2)
    clf = trained(X, y, n_iter_no_change=5)
    visits = learner.VISIT * 20_000 + learner.VALUE * 400_000
    assert asked.work == [pytest.approx(visits * clf.n_iter_ + learner.MISTAKE * clf.n_mistakes_)]


@pytest.mark.parametrize("multiclass", ["direct", "ovr", "ovo"])
def test_several_classes_with_two_that_cannot_be_told_apart(multiclass):
    X, y = [[0.0], [1.0], [1.0], [2.0]], ["a", "b", "c", "c"]
    clf = rb.Perceptron(multiclass=multiclass)
    said = _said(clf, X, y)
    assert clf.stop_reason_ == "inseparable"
    assert clf.certificate_.verify(X, y)
    shown = {
        "direct": "No linear functions, one for each class, are right on all of these rows",
        "ovr": "No hyperplane separates the class 'b' from the rest",
        "ovo": "No hyperplane separates the class 'b' from 'c'",
    }
    assert said == [f"{shown[multiclass]} (proved: see certificate_). {ADVICE}"]


def test_a_middle_class_ends_machines_against_the_rest_but_not_direct_ones():
    X, y = [[0.0], [1.0], [2.0]], [0, 1, 2]
    assert trained(X, y, multiclass="ovr").stop_reason_ == "inseparable"
    assert trained(X, y, multiclass="direct").stop_reason_ == "separated"


def test_labels_that_a_proof_cannot_tell_apart_do_not_end_a_fit_in_an_error():
    clf = trained(XOR[0], np.array(["a" if label == 1 else "a " for label in XOR[1]]))
    assert clf.stop_reason_ == "plateau"


@pytest.mark.filterwarnings("ignore::rosenblatt.exceptions.TrivialSeparationWarning")
@settings(max_examples=examples(60))
@given(problems(), st.sampled_from([None, "unit"]), st.sampled_from([1, 3, None]))
def test_the_end_agrees_with_certify(problem, bias, patience):
    X, y = problem
    clf = trained(X, y, bias=bias, n_iter_no_change=patience, max_iter=200)
    answer = quietly(rb.certify, X, y, bias=bias is not None).verdict
    assert clf.stop_reason_ != "plateau"  # such small problems are decided
    if clf.stop_reason_ == "separated":
        assert answer == "separable"
    if clf.stop_reason_ == "inseparable":
        assert answer == "inseparable"
        assert clf.certificate_.verify(X, y)


def test_a_proof_is_about_rows_before_they_were_scaled():
    X = np.array([[1.0], [1.0 + 2.0**-52], [1e17]])
    y = np.array([-1, 1, 1])
    statistics = Statistics()
    batch = as_batch(X, y)
    statistics.add(batch.rows, 3, 1)
    scaled = transform_blocks(MemoryBlocks(batch), *Transformation.of(statistics, fill=False, scale=True))
    assert rb.certify(scaled.whole.rows, y).verdict == "inseparable"
    clf = quietly(rb.Perceptron(max_iter=50).fit_blocks, scaled)
    assert clf.stop_reason_ == "max_iter"
    assert clf.certificate_.verify(X, y)


def test_a_run_that_was_cut_short_asks_no_more(tmp_path, asked, monkeypatch):
    monkeypatch.setattr("rosenblatt.learning.fit_loop.HOPEFUL_PATIENCE_FACTOR", 1000)
    X, y = rb.datasets.make_separable(200, 10, margin=0.002, seed=1)
    blocks, path = MemoryBlocks(as_batch(X, y)), tmp_path / "c"

    def fit(passes, **checkpoint):
        return quietly(rb.Perceptron(max_iter=passes, n_iter_no_change=1).fit_blocks, blocks, **checkpoint)

    whole = fit(60)
    fit(30, checkpoint=path)
    assert len(asked.work) == 2
    again = fit(60, checkpoint=path, resume=True)
    assert len(asked.work) == 2
    assert bits(whole)[0] == bits(again)[0]
    assert whole.stop_reason_ == again.stop_reason_


def test_an_undecided_run_goes_on_by_the_trend_after_it_was_cut_short(tmp_path, asked):
    asked.answer = None
    X, y = noisy(300, 4)
    blocks, path = MemoryBlocks(as_batch(X, y)), tmp_path / "c"
    whole = quietly(rb.Perceptron().fit_blocks, blocks)
    quietly(rb.Perceptron(max_iter=whole.n_iter_ - 2).fit_blocks, blocks, checkpoint=path)
    again = quietly(rb.Perceptron().fit_blocks, blocks, checkpoint=path, resume=True)
    assert (again.n_iter_, again.stop_reason_, len(asked.work)) == (whole.n_iter_, "plateau", 2)


@pytest.mark.parametrize("data", [XOR, ([[0.0], [1.0], [1.0], [2.0]], [0, 1, 2, 2])], ids=["two", "three"])
def test_the_proof_is_kept_in_the_file(tmp_path, data):
    clf = trained(*data)
    rb.save(clf, tmp_path / "m")
    again = rb.load(tmp_path / "m")
    assert again.stop_reason_ == "inseparable"
    assert again.certificate_.verify(*data)


def test_a_verdict_becomes_a_proof_when_it_is_looked_at(tmp_path):
    X, y = noisy(500, 4)
    clf = trained(X, y)
    held = clf.__dict__["certificate_"]
    assert isinstance(held, InseparableVerdict)
    rb.save(clf, tmp_path / "m")
    for again in (pickle.loads(pickle.dumps(clf)), rb.load(tmp_path / "m")):  # they do not keep the rows
        assert again.certificate_.verify(X, y)
        assert "made by rosenblatt.certify(X, y)" in str(again.certificate_)
        with pytest.raises(UndecidedError, match=r"rosenblatt\.certify"):
            again.certificate_.to_json()
    assert isinstance(deepcopy(clf).certificate_, Inseparable)
    assert isinstance(clf.certificate_, Inseparable)
    assert clf.certificate_.verify(X, y)
    rb.save(clf, tmp_path / "m")
    for again in (pickle.loads(pickle.dumps(clf)), rb.load(tmp_path / "m")):
        assert again.certificate_.to_json() == clf.certificate_.to_json()


def test_a_stream_afterwards_forgets_the_proof():
    clf = trained(*XOR)
    clf.partial_fit(*XOR)
    assert not hasattr(clf, "certificate_")
