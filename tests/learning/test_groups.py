"""One against the rest and one against one on several threads: the bits of one thread, whatever is trained."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

import rosenblatt as rb
from rosenblatt.exceptions import NonFiniteError, ParameterError, TrainingOverflowError
from rosenblatt.learning import visitor
from rosenblatt.learning import visitor as groups
from rosenblatt.learning.checkpoint import Checkpoint
from rosenblatt.loops import passes
from rosenblatt.rows.batch import as_batch
from rosenblatt.tables.blocks import MemoryBlocks
from rosenblatt.tables.collect import collect
from rosenblatt.tables.svmlight_plain import write_svmlight
from rosenblatt.threads import using
from tests.shared.examples import slowly

N_CLASSES = 10


@pytest.fixture(autouse=True)
def small_data(monkeypatch):
    """Let threads train on small data too, in several stretches."""
    monkeypatch.setattr(visitor, "WORTH_THREADS", 0)
    monkeypatch.setattr(visitor, "WORTH_COPIES", 0)
    monkeypatch.setattr(visitor, "BLOCK_MISTAKES", 1000)
    monkeypatch.setattr(visitor, "GROUP_MISTAKES", 1000)
    monkeypatch.setattr(groups, "LEAST_DENSE", 2)
    monkeypatch.setattr(groups, "LEAST_SPARSE", 4)


@pytest.fixture
def used(monkeypatch):
    """Return the sizes of the groups that were trained."""
    sizes = []
    train = groups.Groups.train
    monkeypatch.setattr(
        groups.Groups, "train", lambda self, block: (sizes.append(len(self.groups)), train(self, block))[1]
    )
    return sizes


def problem(layout="dense", n_rows=700, n_classes=N_CLASSES):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, 21)).round(2) * (rng.random((n_rows, 21)) < 0.5)
    y = (X @ rng.normal(size=(21, n_classes)) + rng.normal(size=(n_rows, n_classes))).argmax(axis=1)
    return (sp.csr_array(X) if layout == "csr" else X), y


def trained(n_jobs, X, y, kind=rb.Perceptron, fit=None, **parameters):
    losses = []
    clf = kind(
        n_jobs=n_jobs, callbacks=[lambda report: losses.append((report.mistakes, report.loss))], **parameters
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        clf.fit(X, y) if fit is None else fit(clf)
    state, trace = clf._state, clf.trace_
    memory = state.memory.values()
    kept = [state.w, state.u, *(array for each in memory for array in (*each.shared, *each.shaped))]
    bits = [None if each is None else np.ascontiguousarray(each).tobytes() for each in kept]
    mistakes = None if trace.mistakes is None else [np.array(column).tolist() for column in trace.mistakes]
    counts = clf.mistakes_per_pass_.tolist(), clf.n_iter_, clf.stop_reason_, state.visits, losses
    return bits, mistakes, counts, clf.predict(X).tolist()


@pytest.mark.parametrize("multiclass", ["ovr", "ovo"])
@pytest.mark.parametrize("layout", ["dense", *slowly("csr")])
@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"average": True, "trace": "counts"},
        {"penalty": "elasticnet", "alpha": 0.01, "tol": 1e-3},
        {"init": "first", "class_weight": "balanced", "early_stopping": True},
        {"kind": rb.PassiveAggressiveClassifier},
        *slowly({"kind": rb.ConfidenceWeightedClassifier}, {"kind": rb.PNormPerceptron}),
    ],
    ids=lambda parameters: "-".join(map(str, parameters.values())) or "plain",
)
def test_any_number_of_threads_gives_the_same_bits(used, multiclass, layout, parameters):
    X, y = problem(layout)
    parameters = {"max_iter": 6, "multiclass": multiclass} | parameters
    alone = trained(None, X, y, **parameters)
    assert used == []
    for n_jobs in (2, 5):
        assert trained(n_jobs, X, y, **parameters) == alone
        if parameters.get("kind") is rb.PNormPerceptron:  # its machines share a unit
            assert used == []
            continue
        assert max(used) == min(n_jobs, {"csr": 2, "dense": 5}[layout] if multiclass == "ovr" else 9)
        used.clear()


@pytest.mark.parametrize("n_classes", [3, 4, 5, 7])
@pytest.mark.parametrize("multiclass", ["ovr", "ovo"])
def test_few_and_odd_numbers_of_classes(multiclass, n_classes):
    X, y = problem(n_classes=n_classes)
    parameters = {"max_iter": 4, "multiclass": multiclass}
    assert trained(3, X, y, **parameters) == trained(1, X, y, **parameters)


def test_blocks_and_checkpoints(tmp_path, used):
    X, y = problem()
    blocks = MemoryBlocks(as_batch(X, y), np.array([0, 250, 500, 700]))
    parameters = {"multiclass": "ovr", "max_iter": 5, "average": True}
    alone = trained(None, X, y, fit=lambda clf: clf.fit_blocks(blocks), **parameters)
    path = tmp_path / "c"
    cut = {**parameters, "max_iter": 2}
    trained(2, X, y, fit=lambda clf: clf.fit_blocks(blocks, checkpoint=path), **cut)
    found = trained(2, X, y, fit=lambda clf: clf.fit_blocks(blocks, checkpoint=path, resume=True), **parameters)
    assert found[0] == alone[0]
    assert found[1] == alone[1]
    assert used


@pytest.mark.parametrize("multiclass", ["ovr", "ovo"])
def test_rows_that_are_read_again_for_each_pass(tmp_path, used, multiclass):
    """Blocks of different lengths, the last one shorter."""
    X, y = problem("csr")
    write_svmlight(tmp_path / "rows.svm", X, y)
    blocks = collect(rb.open_data(tmp_path / "rows.svm"), memory=1, block_bytes=40_000)
    assert not isinstance(blocks, MemoryBlocks)
    parameters = {"multiclass": multiclass, "max_iter": 3, "average": True}
    alone = trained(None, X, y, fit=lambda clf: clf.fit_blocks(blocks), **parameters)
    assert not used
    assert trained(2, X, y, fit=lambda clf: clf.fit_blocks(blocks), **parameters) == alone
    assert used


def test_a_checkpoint_within_a_pass_holds_the_weights_of_all_groups(monkeypatch, tmp_path):
    """Threads train copies of the state, and a checkpoint is written between stretches."""
    X, y = problem()
    seen = {}

    def keep(self, loop):
        seen.setdefault(n_jobs, []).append(loop.state.w.tobytes())

    monkeypatch.setattr(Checkpoint, "__call__", keep)
    for n_jobs in (1, 2, 5):
        clf = rb.Perceptron(multiclass="ovr", max_iter=2, average=True, n_jobs=n_jobs)
        clf.fit_blocks(MemoryBlocks(as_batch(X, y)), checkpoint=tmp_path / "c")
    assert len(seen[1]) > 4
    assert seen[1] == seen[2] == seen[5]


def test_time_that_is_over_within_a_pass_loses_no_update(monkeypatch):
    from rosenblatt.learning.fit_loop import PerceptronFit

    X, y = problem()
    found = []
    for n_jobs in (1, 2):
        looks = iter([False] * 3 + [True] * 9)
        monkeypatch.setattr(PerceptronFit, "out_of_time", lambda self, looks=looks: next(looks))
        found.append(trained(n_jobs, X, y, multiclass="ovr", max_time=1.0))
    assert found[0] == found[1]
    assert found[0][2][2] == "max_time"


def test_errors_are_the_same():
    X, y = problem()
    X[600, 3] = np.nan
    X[601, 3] = np.inf
    told = []
    for n_jobs in (1, 2, 5):
        with pytest.raises(NonFiniteError) as error:
            rb.Perceptron(multiclass="ovr", n_jobs=n_jobs).fit(X, y)
        told.append(str(error.value))
    assert len(set(told)) == 1
    X, y = problem()
    X[20:] *= 1e200
    told = []
    for n_jobs in (1, 2, 5):
        with pytest.raises(TrainingOverflowError) as error:
            rb.Perceptron(multiclass="ovr", order="cyclic", n_jobs=n_jobs).fit(X * 1e107, y)
        told.append(str(error.value))
    assert len(set(told)) == 1


@pytest.mark.parametrize("layout", ["dense", "csr"])
def test_threads_use_the_loops_of_one_thread(used, layout):
    """Arrays of another type would be compiled for anew."""
    X, y = problem(layout)
    for average in (False, True):
        parameters = {"multiclass": "ovr", "max_iter": 2, "average": average}
        trained(1, X, y, **parameters)
        compiled = [len(loop.signatures) for loop in (passes.train, passes.defer, passes.machine_scores)]
        trained(2, X, y, **parameters)
        assert [len(loop.signatures) for loop in (passes.train, passes.defer, passes.machine_scores)] == compiled
        assert compiled[0] > 0
    assert used


def test_one_thread_where_there_is_little_to_do(used, monkeypatch):
    monkeypatch.undo()
    X, y = problem()
    with using(2):
        trained(None, X, y, max_iter=2, multiclass="ovr")
    assert used == []


def test_zero_threads_are_refused():
    with pytest.raises(ParameterError, match="n_jobs=0 must"):
        rb.Perceptron(n_jobs=0).fit(*problem())
