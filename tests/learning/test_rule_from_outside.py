"""A rule is added by one module outside of the package; everything that learners do works with it."""

import numpy as np
import pytest
from scipy import sparse

import rosenblatt as rb
from rosenblatt.cli.main import main
from rosenblatt.rows.batch import as_batch
from rosenblatt.tables.blocks import MemoryBlocks
from tests.shared.outside_rule import CoolingPerceptron, Heat, plain_twin

X = np.random.default_rng(5).integers(-2, 3, (40, 6)).astype(float)
Y = np.where(X @ np.array([2, -1, 1, 0, 1, -2]) + np.random.default_rng(6).integers(-2, 3, 40) > 0, 1, -1)
LAYOUTS = {"dense": lambda rows: rows, "sparse": sparse.csr_array}
PASSES = 4


def heat(model):
    return np.asarray(model._state.memory["heat"].s)


def weights(model):
    return [*model.coef_[0].tolist(), model.intercept_[0]]


pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def trained(rows=X, y=Y, **given):
    given = {"order": "cyclic", "max_iter": PASSES, "n_iter_no_change": 100, "decide": False} | given
    return CoolingPerceptron(**given).fit(rows, y)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_fit_is_its_plain_twin(layout):
    model = trained(LAYOUTS[layout](X))
    w, s, mistakes = plain_twin(X.tolist(), Y.tolist(), [*range(len(X))] * PASSES)
    assert weights(model) == w
    assert heat(model).tolist() == s
    assert model.n_mistakes_ == mistakes
    assert model.trace_.replay(LAYOUTS[layout](X), Y).coef.tolist() == w[:-1]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_streams_are_its_plain_twin(layout, tmp_path):
    rows = LAYOUTS[layout](X)
    w, s, _ = plain_twin(X.tolist(), Y.tolist(), range(len(X)))
    chunks = CoolingPerceptron().partial_fit(rows[:25], Y[:25], classes=[-1, 1]).partial_fit(rows[25:], Y[25:])
    assert weights(chunks) == w
    assert heat(chunks).reshape(-1)[[*range(6), -1]].tolist() == s
    model = CoolingPerceptron()
    for x, label in zip(X, Y, strict=True):
        model.learn_one({f"f{j}": value for j, value in enumerate(x)}, int(label), classes=[-1, 1])
    assert weights(model) == w
    assert model.predict_one({"f0": 1.0}) in (-1, 1)
    rb.save(model, tmp_path / "m")
    loaded = rb.load(tmp_path / "m")
    for each in (model, loaded):
        each.learn_one({"new": 1.0, "f1": 2.0}, 1).learn_one({"new": 1.0, "f1": 2.0}, -1)
    assert weights(loaded) == weights(model)
    assert heat(loaded).tolist() == heat(model).tolist()


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("multiclass", ["direct", "ovr"])
def test_several_classes(layout, multiclass):
    y = np.arange(40) % 3
    given = {"y": y, "multiclass": multiclass, "average": True}
    model = trained(LAYOUTS[layout](X), **given)
    assert model.coef_.tobytes() == trained(X, **given).coef_.tobytes()
    assert model.trace_.replay(LAYOUTS[layout](X), y).coef.tobytes() == model.coef_.tobytes()
    assert heat(model).shape == (3, 7)
    assert heat(model).min() < 1.0


def test_an_average_is_that_of_the_weights_after_each_visit():
    model = CoolingPerceptron(average=True).partial_fit(X, Y)
    after = [plain_twin(X.tolist(), Y.tolist(), range(k + 1))[0] for k in range(len(X))]
    np.testing.assert_allclose(weights(model), np.mean(after, axis=0), rtol=1e-12)


def test_it_is_saved_and_predicts(tmp_path):
    model = trained()
    rb.save(model, tmp_path / "m")
    loaded = rb.load(tmp_path / "m")
    assert type(loaded) is CoolingPerceptron
    assert heat(loaded).tolist() == heat(model).tolist()
    assert np.array_equal(loaded.predict(X), model.predict(X))
    assert np.array_equal(loaded.decision_function(sparse.csr_array(X)), model.decision_function(X))
    loaded.set_params(warm_start=True).fit(X, Y)
    assert weights(loaded) == plain_twin(X.tolist(), Y.tolist(), [*range(len(X))] * 2 * PASSES)[0]


def test_blocks_and_checkpoints(tmp_path):
    blocks = MemoryBlocks(as_batch(X, Y), np.array([0, 15, 40]))
    given = {"order": "cyclic", "n_iter_no_change": 100, "decide": False, "average": True}
    whole = CoolingPerceptron(max_iter=4, **given).fit_blocks(blocks)
    CoolingPerceptron(max_iter=2, **given).fit_blocks(blocks, checkpoint=tmp_path / "c")
    resumed = CoolingPerceptron(max_iter=4, **given).fit_blocks(blocks, checkpoint=tmp_path / "c", resume=True)
    assert weights(resumed) == weights(whole)
    assert heat(resumed).tolist() == heat(whole).tolist()


def test_a_trace_keeps_what_the_start_remembers(tmp_path):
    model = trained().set_params(warm_start=True, callbacks=[lambda report: True])
    model.fit(X, Y)
    model.trace_.save(tmp_path / "t.npz")
    read = rb.Trace.load(tmp_path / "t.npz")
    assert isinstance(read.start.memory["heat"], Heat)
    assert read.replay(X, Y).coef.tolist() == model.coef_[0].tolist()


def test_from_the_command_line(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    np.savetxt("t.csv", np.column_stack([X, Y]), delimiter=",", header="a,b,c,d,e,f,label", comments="")
    how = ["--no-scale", "--order", "cyclic", "--max-iter", str(PASSES), "--n-iter-no-change", "100", "-q"]
    assert main(["train", "t.csv", "-o", "m", "--learner", "cooling", *how, "--set", "decide=false"]) == 0
    assert weights(rb.load("m")[-1]) == weights(trained())
    capfd.readouterr()
    assert main(["predict", "m", "t.csv", "-q"]) == 0
    assert len(capfd.readouterr().out.split()) == len(X)
