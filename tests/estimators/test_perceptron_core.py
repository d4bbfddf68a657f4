"""A perceptron without scikit-learn is the same perceptron."""

import inspect
import pickle

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

import rosenblatt as rb
from rosenblatt import registry
from rosenblatt.estimators.perceptron_core import BarePerceptron
from rosenblatt.exceptions import ParameterError
from rosenblatt.rows.batch import as_batch
from rosenblatt.tables.blocks import MemoryBlocks


def test_it_has_the_parameters_of_the_estimator():
    bare, known = BarePerceptron(average=True).get_params(), rb.Perceptron(average=True).get_params()
    assert list(bare.items()) == list(known.items())  # model files keep this order
    assert inspect.signature(BarePerceptron) == inspect.signature(rb.Perceptron)
    changed = BarePerceptron().set_params(eta0=0.5, max_iter=3)
    assert changed.get_params() == rb.Perceptron(eta0=0.5, max_iter=3).get_params()
    with pytest.raises(ParameterError, match="'gamma' is not a parameter"):
        changed.set_params(gamma=1)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("average", [False, True])
def test_it_trains_the_same_model(classes, average):
    rng = np.random.default_rng(1)
    X, y = rng.standard_normal((300, 4)), rng.integers(classes, size=300)
    own = {"average": average, "max_iter": 5, "n_iter_no_change": 9}
    bare = BarePerceptron(**own).fit_blocks(MemoryBlocks(as_batch(X, y)))
    known = rb.Perceptron(**own).fit_blocks(MemoryBlocks(as_batch(X, y)))
    made = bare.estimator()
    assert type(made) is rb.Perceptron
    assert vars(made).keys() == vars(known).keys()
    assert made.coef_.tobytes() == known.coef_.tobytes()
    assert made.mistakes_per_pass_.tolist() == known.mistakes_per_pass_.tolist()
    assert np.array_equal(bare.predict(X), known.predict(X))


def test_its_file_is_that_of_the_estimator(tmp_path):
    trained = rb.train("@iris", "averaged")
    trained.save(tmp_path / "bare")
    rb.save(trained.estimator, tmp_path / "known", provenance=trained.provenance)
    one, other = rb.load(tmp_path / "bare"), rb.load(tmp_path / "known")
    assert type(one) is type(other) is type(trained.estimator) is rb.Perceptron
    assert one.coef_.tobytes() == other.coef_.tobytes() == trained.estimator.coef_.tobytes()
    assert one.get_params() == other.get_params()


def test_changes_of_the_estimator_are_saved(tmp_path):
    trained = rb.train("@iris", "averaged")
    trained.estimator.set_params(verbose=1)
    trained.save(tmp_path / "m")
    assert rb.load(tmp_path / "m").verbose == 1


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("second", [0, 1])
def test_a_checkpoint_of_either_is_one_of_both(tmp_path, second):
    """A run that was begun by name goes on with an estimator, and the other way round."""
    X, y, _ = rb.read_table("@digits")
    table = tmp_path / "digits.npz"
    np.savez(table, X=X, y=y)
    ways = [("averaged", {"parameters": {"max_iter": n}}) for n in (2, 5)]
    ways[second] = rb.Perceptron(average=True, max_iter=(2, 5)[second]), {}
    rb.train(table, ways[0][0], **ways[0][1], checkpoint=tmp_path / "c")
    gone_on = rb.train(table, ways[1][0], **ways[1][1], checkpoint=tmp_path / "c", resume=True)
    whole = rb.train(table, "averaged", parameters={"max_iter": 5})
    assert gone_on.estimator.coef_.tobytes() == whole.estimator.coef_.tobytes()


def test_a_result_shows_and_keeps_the_estimator():
    trained = rb.train("@iris", "averaged")
    assert repr(trained).startswith("TrainingResult(estimator=Perceptron(average=True), preparation=")
    copy = pickle.loads(pickle.dumps(rb.train("@iris", "averaged")))
    assert type(vars(copy)["_trained"]) is type(copy.estimator) is rb.Perceptron
    assert copy.estimator.coef_.tobytes() == trained.estimator.coef_.tobytes()


def test_messages_name_the_estimator(tmp_path):
    with pytest.raises(NotFittedError, match="This Perceptron is not trained"):
        BarePerceptron().predict([[1.0]])
    with pytest.raises(TypeError, match=r"^Perceptron\.__init__\(\) got"):
        rb.Perceptron(avrage=True)


def test_the_registry_knows_it_by_the_name_of_the_estimator():
    assert registry.command("averaged", bare=True) == (BarePerceptron, {"average": True})
    assert registry.command("averaged") == (rb.Perceptron, {"average": True})
    assert registry.command("pocket", bare=True)[0] is rb.PocketPerceptron
    assert registry.name_of(BarePerceptron()) == "Perceptron"
    assert registry.is_registered(BarePerceptron())

    class Other(BarePerceptron):
        pass

    assert not registry.is_registered(Other())
