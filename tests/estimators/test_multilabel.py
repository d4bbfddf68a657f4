"""Several labels a row: each hyperplane is that of a binary learner; sets, streams, replay and files."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.model_selection import cross_val_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import rosenblatt as rb
from rosenblatt.exceptions import LabelError, ParameterError, ShapeError
from tests.shared.examples import slowly

RNG = np.random.default_rng(5)
X = RNG.integers(-4, 5, (50, 6)) / 4
SETS = [{label for label, score in zip("abcd", row, strict=True) if score > 0.5} for row in X[:, :4] + X[:, 2:]]
TABLE = np.array([[int(label in each) for label in "abcd"] for each in SETS])
BINARY = {
    "perceptron": lambda: rb.Perceptron(margin=0.25, decide=False),
    "pa1": lambda: rb.PassiveAggressiveClassifier(C=0.3),
    "pa2": lambda: rb.PassiveAggressiveClassifier(C=0.3, loss="squared_hinge"),
    "arow": lambda: rb.ConfidenceWeightedClassifier(r=2.0),
}
PARAMETERS = {"margin": 0.25, "C": 0.3, "r": 2.0}


@pytest.mark.parametrize("layout", [np.asarray, *slowly(csr_array)])
@pytest.mark.parametrize("rule", ["perceptron", "pa1", *slowly("pa2", "arow")])
@pytest.mark.parametrize("average", [False, *slowly(True)])
def test_each_label_is_a_learner_of_its_own(layout, rule, average):
    """A pass without an update changes nothing, so that binary fits may end earlier."""
    once = {"max_iter": 1, "average": average}
    clf = rb.MultilabelPerceptron(rule, shuffle=False, **PARAMETERS, **once)
    with pytest.warns(match="Allow more") if not average else nothing():
        clf.fit(layout(X), TABLE)
    for k in range(4):
        one = BINARY[rule]().set_params(order="cyclic", **once)
        with pytest.warns(match="max_iter") if not average else nothing():
            one.fit(layout(X), TABLE[:, k])
        assert clf.coef_[k].tobytes() == one.coef_[0].tobytes()
        assert clf.intercept_[k] == one.intercept_[0]
        assert (clf.updates().machine == k).sum() == one.n_updates_
    assert clf.replay(layout(X), TABLE).tobytes() == clf._hypothesis().tobytes()
    assert (
        clf.replay(layout(X), [set(np.flatnonzero(row)) for row in TABLE]).tobytes() == clf._hypothesis().tobytes()
    )


def nothing():
    from contextlib import nullcontext

    return nullcontext()


def test_it_predicts_what_one_against_the_rest_of_scikit_learn_predicts():
    ours = rb.MultilabelPerceptron(shuffle=False, average=True, max_iter=1).fit(X, TABLE)
    theirs = OneVsRestClassifier(rb.Perceptron(order="cyclic", average=True, max_iter=1)).fit(X, TABLE)
    assert ours.predict(X).tolist() == theirs.predict(X).tolist()
    assert ours.score(X, TABLE) == theirs.score(X, TABLE)


def test_sets_and_matrices_say_the_same():
    by_sets = rb.MultilabelPerceptron(average=True).fit(X, SETS)
    assert by_sets.classes_.tolist() == ["a", "b", "c", "d"]
    for table in (TABLE, TABLE.astype(bool), csr_array(TABLE), TABLE.astype(float), TABLE.tolist()):
        by_table = rb.MultilabelPerceptron(average=True).fit(X, table)
        assert by_table.coef_.tobytes() == by_sets.coef_.tobytes()
        assert by_table.classes_.tolist() == [0, 1, 2, 3]
        assert by_table.score(X, table) == by_sets.score(X, SETS)
    found = by_sets.predict_sets(X)
    assert [sorted(each) for each in found] == [
        [label for label, is_there in zip("abcd", row, strict=True) if is_there] for row in by_sets.predict(X)
    ]
    lists = rb.MultilabelPerceptron(average=True).fit(X, [sorted(each) for each in SETS])
    assert lists.coef_.tobytes() == by_sets.coef_.tobytes()


@pytest.mark.parametrize("rule", ["perceptron", "pa1", *slowly("pa2", "arow")])
def test_streams_and_files_leave_the_bits_of_a_fit(rule, tmp_path):
    whole = rb.MultilabelPerceptron(rule, shuffle=False, max_iter=1, average=True).fit(X, SETS)
    chunks = rb.MultilabelPerceptron(rule, average=True).partial_fit(X[:21], SETS[:21], classes=list("abcd"))
    rb.save(chunks, tmp_path / "model")
    for each in (chunks, rb.load(tmp_path / "model")):
        each.partial_fit(X[21:], SETS[21:])
        assert each.coef_.tobytes() == whole.coef_.tobytes()
    single = rb.MultilabelPerceptron(rule, average=True)
    assert single.predict_one(X[0]) is None
    for x, labels in zip(X, SETS, strict=True):
        single.learn_one(x, labels, classes=list("abcd"))
    assert single.coef_.tobytes() == whole.coef_.tobytes()
    assert single.predict_one(X[3]) == whole.predict_sets(X[3:4])[0]


def test_examples_may_be_mappings():
    clf = rb.MultilabelPerceptron()
    for _ in range(5):
        clf.learn_one({"barks": 1.0}, {"dog"}, classes=["cat", "dog"])
        clf.learn_one({"purrs": 1.0, "small": 0.5}, {"cat"})
        clf.learn_one({"small": 1.0}, set())
        clf.learn_one({"barks": 1.0, "purrs": 1.0}, {"dog", "cat"})
    assert clf.predict_one({"barks": 2.0, "unknown": 1.0}) == {"dog"}
    assert clf.predict_one({"barks": 2.0, "purrs": 2.0}) == {"cat", "dog"}
    assert clf.feature_names_in_.tolist() == ["barks", "purrs", "small"]


def test_scikit_learn_tools_take_it():
    model = make_pipeline(StandardScaler(), rb.MultilabelPerceptron("pa1", average=True))
    assert cross_val_score(model, X, TABLE, cv=3).mean() > 0.4


def test_rows_of_weight_zero_count_nothing_and_warm_starts_go_on():
    weight = np.r_[np.ones(30), np.zeros(20)]
    some = rb.MultilabelPerceptron(shuffle=False, max_iter=1, average=False)
    with pytest.warns(match="Allow more"):
        some.fit(X, TABLE, sample_weight=weight)
    assert some.updates().index.max() < 30
    half = rb.MultilabelPerceptron(max_iter=2, average=True, warm_start=True, random_state=3)
    half.fit(X, TABLE).fit(X, TABLE)
    whole = rb.MultilabelPerceptron(max_iter=4, average=True, random_state=3).fit(X, TABLE)
    assert half.coef_.tobytes() == whole.coef_.tobytes()


def test_bad_input_is_refused():
    clf = rb.MultilabelPerceptron()
    with pytest.raises(ShapeError, match="several labels a row"):
        clf.fit(X, TABLE[:, 0])
    with pytest.raises(LabelError, match="zeros and ones"):
        clf.fit(X, TABLE * 2)
    with pytest.raises(LabelError, match="nothing to learn"):
        clf.fit(X, [set()] * 50)
    with pytest.raises(ParameterError, match="rule"):
        rb.MultilabelPerceptron("svm").fit(X, TABLE)
    clf.partial_fit(X, SETS, classes=list("abcd"))
    with pytest.raises(LabelError, match="'z' at row 0"):
        clf.partial_fit(X[:1], [{"z"}])
    with pytest.raises(ShapeError, match="4 labels"):
        clf.partial_fit(X, TABLE[:, :3])
    with pytest.raises(LabelError):
        clf.partial_fit(X, SETS, classes=["a", "b"])
