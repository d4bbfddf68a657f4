"""Learners and scalers in river: its own checks, its pipelines and its evaluation."""

import pytest

import rosenblatt as rb

river = pytest.importorskip("river", reason="river is not installed: pip install river, or the group bench")

from river import (  # noqa: E402
    checks,
    compose,
    datasets,
    ensemble,
    evaluate,
    linear_model,
    metrics,
    multiclass,
    preprocessing,
)

from rosenblatt.compat.river import RiverClassifier, RiverRegressor, RiverScaler  # noqa: E402
from rosenblatt.exceptions import ParameterError  # noqa: E402
from rosenblatt.rows.features import as_rows  # noqa: E402

MAKERS = {
    "perceptron": lambda: RiverClassifier(rb.Perceptron()),
    "default": lambda: RiverClassifier(),
    "averaged": lambda: RiverClassifier(rb.Perceptron(average=True)),
    "arow": lambda: RiverClassifier(rb.ConfidenceWeightedClassifier()),
    "pa": lambda: RiverClassifier(rb.PassiveAggressiveClassifier()),
    "regressor": lambda: RiverRegressor(rb.PassiveAggressiveRegressor()),
    "scaler": lambda: RiverScaler(rb.OnlineScaler()),
    "scaled": lambda: compose.Pipeline(RiverScaler(), RiverClassifier()),
    "scaled average": lambda: compose.Pipeline(RiverScaler(), RiverClassifier(rb.Perceptron(average=True))),
    "scaled regressor": lambda: compose.Pipeline(RiverScaler(), RiverRegressor()),
}
LONG = "check_bounded_memory_growth"
CASES = [
    pytest.param(
        MAKERS[name],
        check,
        id=f"{name}-{check.__name__}-{k}",
        marks=[pytest.mark.slow] if check.__name__ == LONG or name in {"averaged", "arow", "pa"} else [],
    )
    for name in MAKERS
    for k, check in enumerate(checks.yield_checks(MAKERS[name]()))
]


@pytest.mark.parametrize(("make", "check"), CASES)
def test_the_checks_of_river(make, check):
    check(make())


def test_probabilities_are_those_of_river_s_perceptron():
    ours, theirs = RiverClassifier(), linear_model.Perceptron()
    for x, y in datasets.Phishing().take(300):
        if ours.model.score_one(x) is not None:
            assert ours.predict_proba_one(x) == pytest.approx(theirs.predict_proba_one(x), abs=1e-12)
        ours.learn_one(x, y)
        theirs.learn_one(x, y)


@pytest.mark.parametrize("name", ["perceptron", "averaged", "arow", "pa"])
def test_the_most_probable_label_is_the_predicted_one(name):
    model = MAKERS[name]()
    assert model.predict_proba_one({"a": 1.0}) == {}
    for x, y in datasets.ImageSegments().take(300):
        found, chosen = model.predict_proba_one(x), model.predict_one(x)
        assert not found or found[chosen] == max(found.values())
        model.learn_one(x, y)


def test_one_boolean_label_brings_the_other_and_another_label_is_sure():
    model = RiverClassifier()
    model.learn_one({"a": 1.0}, False)
    found = model.predict_proba_one({"a": 2.0})
    assert found == pytest.approx({True: 0.04742587317756678, False: 0.9525741268224333})
    model = RiverClassifier()
    model.learn_one({"a": 1.0}, 0)
    assert model.predict_proba_one({"a": 2.0}) == {0: 1.0}
    model.learn_one({"a": 1e4}, 1)
    assert model.predict_proba_one({"a": 2.0}) == {0: 0.0, 1: 1.0}


def test_a_vote_gives_the_shares_of_its_votes():
    for labels in ([0, 1], [0, 1, 2]):
        model = RiverClassifier(rb.VotedPerceptron())
        for k in range(30):
            model.learn_one({"a": float(k % 7), "b": float(k % 3)}, labels[k % len(labels)])
        x = {"a": 2.0, "b": 1.0}
        decision = model.model._vote().decision(as_rows([[2.0, 1.0]]))[0]
        shares = [(1 - decision) / 2, (1 + decision) / 2] if len(labels) == 2 else list(decision)
        assert model.predict_proba_one(x) == pytest.approx(dict(zip(labels, shares, strict=True)))
        assert len({*shares}) > 1


def test_a_learner_without_scores_says_so():
    model = RiverClassifier(rb.OrdinalPerceptron(), classes=[1, 2, 3])
    model.learn_one({"a": 1.0}, 2)
    with pytest.raises(NotImplementedError, match="OrdinalPerceptron has no score of each label"):
        model.predict_proba_one({"a": 1.0})


@pytest.mark.parametrize(
    "around",
    [
        multiclass.OneVsRestClassifier,
        multiclass.OneVsOneClassifier,
        lambda model: multiclass.OutputCodeClassifier(model, code_size=8, seed=1),
        lambda model: ensemble.BaggingClassifier(model, n_models=3, seed=1),
        lambda model: ensemble.ADWINBaggingClassifier(model, n_models=3, seed=1),
        lambda model: multiclass.OneVsRestClassifier(ensemble.BaggingClassifier(model, n_models=3, seed=1)),
    ],
)
def test_it_learns_inside_other_models_of_river(around):
    pipeline = compose.Pipeline(RiverScaler(), around(RiverClassifier(rb.Perceptron(average=True))))
    assert progressive(pipeline, datasets.ImageSegments()) > 0.6


def test_metrics_of_probabilities_take_it():
    for metric in (metrics.ROCAUC(), metrics.LogLoss()):
        pipeline = compose.Pipeline(RiverScaler(), RiverClassifier(rb.Perceptron(average=True)))
        theirs = compose.Pipeline(preprocessing.StandardScaler(), linear_model.Perceptron())
        found = evaluate.progressive_val_score(datasets.Phishing().take(600), pipeline, metric.clone()).get()
        known = evaluate.progressive_val_score(datasets.Phishing().take(600), theirs, metric.clone()).get()
        assert (found > known) == metric.bigger_is_better


def progressive(model, data, n=600):
    return evaluate.progressive_val_score(data.take(n), model, metrics.Accuracy()).get()


def test_a_pipeline_predicts_and_learns_as_single_calls_do():
    """Each example is scaled by what was met before it, predicted, and learned."""
    pipeline = compose.Pipeline(RiverScaler(), RiverClassifier(rb.Perceptron(average=True)))
    found = progressive(pipeline, datasets.ImageSegments())
    scaler, model, right, n = rb.OnlineScaler(), rb.Perceptron(average=True), 0, 0
    for x, y in datasets.ImageSegments().take(600):
        predicted = model.predict_one(scaler.transform_one(x))
        right += predicted == y
        n += predicted is not None
        scaler.learn_one(x)  # river's pipelines learn the scaler first
        model.learn_one(scaler.transform_one(x), y, classes="grow")
    assert found == right / n > 0.8
    assert pipeline[1].model.coef_.tobytes() == model.coef_.tobytes()


def test_two_classes_are_those_of_river_s_perceptron():
    ours, theirs = RiverClassifier(), linear_model.Perceptron()
    for x, y in datasets.Phishing().take(300):
        ours.learn_one(x, y)
        theirs.learn_one(x, y)
    weights = dict(zip(ours.model.feature_names_in_.tolist(), ours.model.coef_[0].tolist(), strict=True))
    assert weights == pytest.approx(dict(theirs.weights))


def test_weights_of_examples_reach_the_learner():
    once, twice = RiverClassifier(), RiverClassifier()
    for x, y in datasets.Phishing().take(50):
        once.learn_one(x, y)
        twice.learn_one(x, y, w=2.0)
    assert (twice.model.coef_ == 2 * once.model.coef_).all()


def test_our_scaler_agrees_with_river_s():
    ours, theirs = RiverScaler(), preprocessing.StandardScaler()
    for x, _ in datasets.ImageSegments().take(200):
        ours.learn_one(x)
        theirs.learn_one(x)
    x, _ = next(iter(datasets.ImageSegments()))
    assert ours.transform_one(x) == pytest.approx(theirs.transform_one(x))


def test_a_learner_without_streams_is_refused():
    with pytest.raises(ParameterError, match="MaxMarginClassifier has no learn_one"):
        RiverClassifier(rb.MaxMarginClassifier())
