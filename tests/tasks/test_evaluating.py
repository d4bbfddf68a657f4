"""Evaluation of models and learners, from files and from memory."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

import rosenblatt as rb
from rosenblatt import threads
from rosenblatt.exceptions import LabelError, NonFiniteError, ParameterError
from rosenblatt.models import OpenedModel


@pytest.fixture
def mail(tmp_path):
    path = tmp_path / "mail.csv"
    path.write_text("text,label\nwin a prize,spam\nsee you at home,ham\nfree prize,spam\nat six,ham\nwin,ham\n")
    return path


def test_every_form_of_a_model_and_of_data(mail, tmp_path):
    trained = rb.train(mail, text="text", bits=8, parameters={"max_iter": 3, "n_iter_no_change": 1})
    trained.save(tmp_path / "m")
    texts = ["win a prize", "see you at home", "free prize", "at six", "win"]
    labels = ["spam", "ham", "spam", "ham", "ham"]
    expected = None
    for model in (tmp_path / "m", str(tmp_path / "m"), OpenedModel.open(tmp_path / "m"), trained.model):
        for data in ((mail,), ([str(mail)],), (texts, labels)):
            found = rb.evaluate(model, *data)
            expected = found if expected is None else expected
            assert found.confusion.tolist() == expected.confusion.tolist()
            assert found.n_rows == 5


def test_classifiers_of_other_packages():
    X, y, _ = rb.read_table("@iris")
    clf = LogisticRegression(max_iter=1000).fit(X, y)
    assert rb.evaluate(clf, X, y).accuracy == clf.score(X, y)
    with pytest.raises(ParameterError, match="is no learner of this package"):
        rb.evaluate(clf, "@iris")


def test_labels_that_the_model_does_not_know():
    X, y, _ = rb.read_table("@or")
    model = rb.Perceptron().fit(X, y)
    with pytest.raises(LabelError, match="7"):
        rb.evaluate(model, X, [7, 7, 7, 7])


@pytest.mark.filterwarnings("ignore:.*:sklearn.exceptions.ConvergenceWarning")
def test_folds_from_places_and_from_memory_are_the_same():
    X, y, _ = rb.read_table("@iris")
    settings = {"folds": 4, "scale": True, "seed": 3}
    placed = rb.evaluate_folds("averaged", "@iris", parameters={"max_iter": 20}, **settings)
    held = rb.evaluate_folds(rb.Perceptron(average=True, max_iter=20, random_state=3), X, y, **settings)
    assert [each.confusion.tolist() for each in placed.folds] == [each.confusion.tolist() for each in held.folds]
    assert placed.total.n_rows == 150
    assert (placed.learner, held.learner) == ("averaged", "Perceptron")
    assert placed.to_json()["all"]["rows"] == 150


def test_each_row_is_predicted_once_by_a_model_that_did_not_see_it():
    seen = []

    class Remembering(rb.Perceptron):
        def fit_blocks(self, blocks, **kwargs):
            seen.append(blocks.n_rows)
            return super().fit_blocks(blocks, **kwargs)

    X, y = np.arange(20.0)[:, None], np.arange(20) >= 10
    found = rb.evaluate_folds(Remembering(), X, y, folds=5)
    assert seen == [16] * 5
    assert [each.n_rows for each in found.folds] == [4] * 5


@pytest.mark.parametrize("folds", [1, 6])
def test_impossible_numbers_of_folds(folds):
    with pytest.raises(ParameterError, match="fold"):
        rb.evaluate_folds("averaged", [[0], [1], [2], [3]], [0, 1, 0, 1], folds=folds)


@pytest.mark.parametrize(
    "learner",
    [
        rb.Perceptron(multiclass="ovr", average=True),
        rb.SoftMarginClassifier(),
        rb.MultilayerPerceptron(hidden_layer_sizes=(5,), max_iter=5),
    ],
    ids=lambda learner: type(learner).__name__,
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_folds_are_the_same_on_any_number_of_threads(monkeypatch, learner):
    monkeypatch.setattr(threads, "FEW_VALUES", 0)
    found = [rb.evaluate_folds(learner, "@iris", folds=7, scale=True, n_jobs=n).to_json() for n in (1, 2, 5)]
    assert found[0] == found[1] == found[2]


def test_the_first_fold_that_fails_is_told(monkeypatch):
    monkeypatch.setattr(threads, "FEW_VALUES", 0)
    X, y = np.arange(12.0)[:, None], np.arange(12) % 2
    X[11] = X[0] = np.nan
    with pytest.raises(NonFiniteError) as alone:
        rb.evaluate_folds("perceptron", X, y, folds=3)
    with pytest.raises(NonFiniteError) as together:
        rb.evaluate_folds("perceptron", X, y, folds=3, n_jobs=3)
    assert str(alone.value) == str(together.value)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("folds", 1),
        ("folds", 2.5),
        ("folds", "x"),
        ("scale", "online"),
        ("seed", None),
        ("parameters", "x"),
        ("log", 3),
        ("n_jobs", 0),
        ("n_jobs", "x"),
    ],
)
def test_arguments_of_folds_are_checked(name, value):
    with pytest.raises(ParameterError, match=rf"^{name}\W"):
        rb.evaluate_folds("averaged", "@iris", **{name: value})


@pytest.mark.parametrize(("name", "value"), [("label", 2.5), ("label", True), ("log", None)])
def test_arguments_of_an_evaluation_are_checked(name, value):
    with pytest.raises(ParameterError, match=f"^{name}="):
        rb.evaluate(rb.Perceptron(), "@iris", **{name: value})
