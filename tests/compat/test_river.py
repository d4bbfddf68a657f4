"""Learners and scalers in river: its own checks, its pipelines and its evaluation."""

import pytest

import rosenblatt as rb

river = pytest.importorskip("river", reason="river is not installed: pip install river, or the group bench")

from river import checks, compose, datasets, evaluate, linear_model, metrics, preprocessing  # noqa: E402

from rosenblatt.compat.river import RiverClassifier, RiverRegressor, RiverScaler  # noqa: E402
from rosenblatt.exceptions import ParameterError  # noqa: E402

MAKERS = {
    "perceptron": lambda: RiverClassifier(rb.Perceptron()),
    "default": lambda: RiverClassifier(),
    "averaged": lambda: RiverClassifier(rb.Perceptron(average=True)),
    "arow": lambda: RiverClassifier(rb.ConfidenceWeightedClassifier()),
    "pa": lambda: RiverClassifier(rb.PassiveAggressiveClassifier()),
    "regressor": lambda: RiverRegressor(rb.PassiveAggressiveRegressor()),
    "scaler": lambda: RiverScaler(rb.OnlineScaler()),
}
CASES = []
for name, maker in MAKERS.items():
    met = set()
    for k, check in enumerate(checks.yield_checks(maker())):
        # Measuring memory takes a second: the fast tests do so once for each class of ours, on one stream.
        again = check.__name__ in met or name in ("default", "averaged", "arow", "pa")
        long = check.__name__ == "check_bounded_memory_growth" and again
        marks = pytest.mark.slow if long else ()
        CASES.append(pytest.param(maker, check, id=f"{name}-{check.__name__}-{k}", marks=marks))
        met.add(check.__name__)


@pytest.mark.parametrize(("make", "check"), CASES)
def test_the_checks_of_river(make, check):
    check(make())


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
