"""Training on a cluster: the bits of the reference, of `fit_blocks`, and of any number of workers."""

import warnings

import dask
import dask.array as da
import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import rosenblatt as rb
import rosenblatt.distributed as rd
from rosenblatt.distributed.cluster import Cluster, WorkerRoom
from rosenblatt.distributed.mixing import PartialPass, PassCounts, mix_states, train_passes
from rosenblatt.exceptions import ClusterError, LabelError, NonFiniteError, ParameterError, ShapeError
from rosenblatt.learning.state import State
from rosenblatt.rows.batch import as_batch
from rosenblatt.tables.blocks import MemoryBlocks
from tests.oracles.mixing import train_mixed

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def arrays(X, y, parts):
    """Return rows and labels as Dask arrays of so many chunks."""
    step = -(-len(X) // parts)
    return da.from_array(X, chunks=(step, X.shape[1])), da.from_array(y, chunks=(step,))


def same(one, other):
    """Say whether two models have the same bits and the same history."""
    return (
        one.coef_.tobytes() == other.coef_.tobytes()
        and one.intercept_.tobytes() == other.intercept_.tobytes()
        and one.mistakes_per_pass_.tolist() == other.mistakes_per_pass_.tolist()
        and (one.stop_reason_, one.converged_) == (other.stop_reason_, other.converged_)
    )


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"order": "cyclic", "average": True},
        {"penalty": "l2"},
        {"tol": 1e-3, "margin": 0.5},
        {"bias": "radius", "class_weight": "balanced"},
        {"init": "random"},
    ],
    ids=str,
)
def test_one_partition_is_fit_blocks(client, labelled, parameters):
    X, y = labelled(noise=0.3)
    local = rb.Perceptron(max_iter=8, **parameters).fit_blocks(MemoryBlocks(as_batch(X, y)))
    assert same(rd.fit(rb.Perceptron(max_iter=8, **parameters), *arrays(X, y, 1), client=client), local)


@pytest.mark.parametrize("multiclass", ["direct", "ovr", "ovo"])
def test_one_partition_of_several_classes_is_fit_blocks(client, labelled, multiclass):
    X, y = labelled(n=200, classes=3, noise=0.2)
    make = {"max_iter": 5, "multiclass": multiclass, "average": True}
    local = rb.Perceptron(**make).fit_blocks(MemoryBlocks(as_batch(X, y)))
    assert same(rd.fit(rb.Perceptron(**make), *arrays(X, y, 1), client=client), local)
    if multiclass != "direct":
        assert same(rd.fit(rb.Perceptron(**make), *arrays(X, y, 1), client=client, by="machines"), local)


@pytest.mark.parametrize("mixing", ["uniform", "mistakes"])
def test_partitions_give_the_bits_of_the_reference(client, mixing):
    """Integers in four partitions: every sum is exact, so that plain Python gives the same bits."""
    rng = np.random.default_rng(1)
    X = rng.integers(-3, 4, (64, 3)).astype(float)
    y = np.where(X @ [2, -1, 1] + rng.integers(-2, 3, 64) > 0, 1, -1)
    passes = 4 if mixing == "uniform" else 1  # thirds of mistakes are not exact
    wanted = train_mixed(
        [(X[k : k + 16].tolist(), y[k : k + 16].tolist()) for k in range(0, 64, 16)], passes, mixing=mixing
    )
    model = rd.fit(rb.Perceptron(max_iter=passes, order="cyclic"), *arrays(X, y, 4), client=client, mixing=mixing)
    assert [*model.coef_[0], model.intercept_[0]] == wanted.w
    assert model.mistakes_per_pass_.tolist() == [sum(each) for each in wanted.mistakes]
    assert model.mixing_.weighted_mistakes == float(wanted.weighted)


@pytest.mark.parametrize("parts", [2, 3])
@pytest.mark.parametrize("mixing", ["uniform", "mistakes"])
@pytest.mark.parametrize("average", [False, True])
def test_partitions_give_the_bits_of_single_fits(client, labelled, parts, mixing, average):
    """Mix what `Perceptron.fit` makes of each partition in one pass, in numpy, one partition after the other."""
    X, y = labelled(n=150, noise=0.5)
    w, passes = np.zeros(X.shape[1] + 1), 4
    cuts = [slice(k, k + -(-150 // parts)) for k in range(0, 150, -(-150 // parts))]
    averages = []
    for _ in range(passes):
        found, counts, means = [], [], []
        for cut in cuts:
            one = {"max_iter": 1, "order": "cyclic", "tol": None}
            start = {"coef_init": w[None, :-1], "intercept_init": w[-1:]}
            last = rb.Perceptron(**one).fit(X[cut], y[cut], **start)
            mean = rb.Perceptron(**one, average=True).fit(X[cut], y[cut], **start)
            found.append(np.append(last.coef_[0], last.intercept_))
            means.append(np.append(mean.coef_[0], mean.intercept_))
            counts.append(last.n_mistakes_)
        weights = [k / sum(counts) for k in counts] if mixing == "mistakes" else [1 / len(cuts)] * len(cuts)
        w = sum((share * each for share, each in zip(weights[1:], found[1:], strict=True)), weights[0] * found[0])
        averages.append(sum(share * each for share, each in zip(weights, means, strict=True)))
    model = rb.Perceptron(max_iter=passes, order="cyclic", average=average)
    rd.fit(model, *arrays(X, y, parts), client=client, mixing=mixing)
    assert model._state.last().tobytes() == w.tobytes()
    if average:
        wanted = np.mean(averages, axis=0)
        np.testing.assert_allclose(np.append(model.coef_[0], model.intercept_), wanted, rtol=1e-12)


def test_the_average_of_uneven_partitions_is_mixed_by_their_own_visits():
    state = State(np.array([0.0]), np.array([0.0]))
    parts = [
        PartialPass(State(np.array([4.0]), np.array([2.0]), 10), PassCounts(1, 10)),
        PartialPass(State(np.array([8.0]), np.array([3.0]), 30), PassCounts(1, 30)),
    ]
    found = mix_states(state, parts, "uniform")
    assert found.visits == 40
    assert found.hypothesis()[0] == pytest.approx(((4 - 0.2) + (8 - 0.1)) / 2)


def test_workers_do_not_change_a_bit(client, cluster, labelled):
    """One worker or two, partitions wherever they are: the result is that of the partitions."""
    X, y = labelled(n=300, noise=0.3)
    model = {"max_iter": 6, "average": True}
    first = next(iter(client.scheduler_info()["workers"]))
    parts = [dask.delayed((X[k : k + 100], y[k : k + 100])) for k in (0, 100, 200)]
    both = rd.fit(rb.Perceptron(**model), parts, client=client)
    with dask.annotate(workers=[first]):
        one = rd.fit(rb.Perceptron(**model), parts, client=client)
    assert same(both, one)
    assert both.coef_.tobytes() != rd.fit(rb.Perceptron(**model), parts[::-1], client=client).coef_.tobytes()


def test_eight_workers_do_not_change_a_bit(client, labelled):
    """Eight workers of this process give what two processes give, by partitions of different sizes."""
    from distributed import Client, LocalCluster

    X, y = labelled(n=330, classes=3, noise=0.3)
    cuts = [slice(0, 7), slice(7, 90), slice(90, 91), *(slice(k, k + 30) for k in range(90, 330, 30))]
    parts = [dask.delayed((X[cut], y[cut])) for cut in cuts]
    model = {"max_iter": 5, "average": True}
    wanted = rd.fit(rb.Perceptron(**model), parts, client=client, mixing="mistakes")
    how = {"processes": False, "threads_per_worker": 1, "dashboard_address": ":0"}
    with LocalCluster(n_workers=8, **how) as eight, Client(eight, set_as_default=False) as own:
        assert len(own.scheduler_info(n_workers=-1)["workers"]) == 8
        assert same(rd.fit(rb.Perceptron(**model), parts, client=own, mixing="mistakes"), wanted)


def test_large_weights_are_mixed_by_a_worker_to_the_same_bits(client, labelled, monkeypatch):
    X, y = labelled(n=120, classes=3, noise=0.3)
    small = rd.fit(rb.Perceptron(max_iter=3), *arrays(X, y, 3), client=client)
    machines = rd.fit(rb.Perceptron(max_iter=3, multiclass="ovr"), *arrays(X, y, 1), client=client, by="machines")
    monkeypatch.setattr("rosenblatt.distributed.mixing.SMALL_WEIGHTS_BYTES", 0)
    assert same(rd.fit(rb.Perceptron(max_iter=3), *arrays(X, y, 3), client=client), small)
    again = rd.fit(rb.Perceptron(max_iter=3, multiclass="ovr"), *arrays(X, y, 1), client=client, by="machines")
    assert same(again, machines)


@pytest.mark.parametrize("parameters", [{}, {"penalty": "l2"}, {"tol": 1e-9}, {"average": True}], ids=str)
def test_several_passes_of_one_task_change_no_bit(client, labelled, monkeypatch, parameters):
    """A task makes 1, 2, 4 … passes over all partitions, and training ends where it ends otherwise."""
    X, y = labelled(n=150, noise=1.0)
    made = {"max_iter": 13, "random_state": 3} | parameters
    apart = rd.fit(rb.Perceptron(**made), *arrays(X, y, 3), client=client)
    calls, run = [], Cluster.run
    monkeypatch.setattr(Cluster, "run", lambda self, *given: calls.append(given) or run(self, *given))
    monkeypatch.setattr(Cluster, "holders", lambda self, futures: [["here"]] * len(futures))
    monkeypatch.setattr(Cluster, "rooms", lambda self: {"here": WorkerRoom(1, 0)})
    monkeypatch.setattr("rosenblatt.distributed.mixing.SECONDS_A_TASK", 1e9)
    together = rd.fit(rb.Perceptron(**made), *arrays(X, y, 3), client=client)
    assert same(together, apart)
    assert together.mixing_ == apart.mixing_
    batches = [given[5] for given in calls if given[0] is train_passes]
    assert batches == [1, 2, 4, 6][: len(batches)]
    assert sum(batches[:-1]) < together.n_iter_ <= sum(batches)


def test_an_error_in_a_later_pass_is_raised_when_it_is_needed(monkeypatch):
    def failing(parts, state, task, epoch, numbers):
        if epoch == 3:
            raise OverflowError("pass 3")
        return [PartialPass(state, PassCounts(1, 10))]

    monkeypatch.setattr("rosenblatt.distributed.mixing.train_group", failing)
    state = State(np.zeros(2))
    assert len(train_passes([None], state, None, 1, 9, "uniform")) == 2
    with pytest.raises(OverflowError, match="pass 3"):
        train_passes([None], state, None, 3, 9, "uniform")


def test_sparse_rows_with_few_weights_give_the_bits_of_all_weights(client, monkeypatch):
    import scipy.sparse as sp

    X = sp.random_array((90, 40), density=0.1, rng=np.random.default_rng(2), format="csr")
    y = np.where(np.random.default_rng(3).standard_normal(90) > 0, "yes", "no")
    parts = [dask.delayed((X[k : k + 30], y[k : k + 30])) for k in (0, 30, 60)]
    every = rd.fit(rb.Perceptron(max_iter=4, average=True), parts, client=client)
    monkeypatch.setattr("rosenblatt.estimators._fitting.is_wide", lambda *_: True)
    few = rd.fit(rb.Perceptron(max_iter=4, average=True), parts, client=client)
    assert few._state.met is not None
    assert same(every, few)


def test_it_ends_when_a_pass_of_all_partitions_makes_no_mistake(client, labelled):
    X, y = labelled(n=200, d=3)
    keep = np.abs(X @ np.ones(3)) > 0.5
    X, y = X[keep], np.where(X[keep] @ np.ones(3) > 0, "up", "down")
    model = rd.fit(rb.Perceptron(), *arrays(X, y, 3), client=client)
    assert (model.stop_reason_, model.converged_, model.mistakes_per_pass_[-1]) == ("separated", True, 0)
    assert model.score(X, y) == 1.0
    assert rb.Perceptron().fit(X, y).n_iter_ <= model.n_iter_


def test_the_other_ends(client, labelled):
    X, y = labelled(n=120, noise=3.0)
    data = arrays(X, y, 2)
    with pytest.warns(ConvergenceWarning, match="max_iter=2"):
        assert rd.fit(rb.Perceptron(max_iter=2), *data, client=client).stop_reason_ == "max_iter"
    assert rd.fit(rb.Perceptron(max_time=1e-9), *data, client=client).stop_reason_ == "max_time"
    assert rd.fit(rb.Perceptron(n_iter_no_change=1), *data, client=client).stop_reason_ == "plateau"
    seen = []
    stopped = rb.Perceptron(callbacks=[lambda report: seen.append(report) or report.epoch == 2])
    assert rd.fit(stopped, *data, client=client).stop_reason_ == "interrupted"
    assert [(report.epoch, report.visits) for report in seen] == [(1, 120), (2, 120)]
    assert seen[0].loss > 0.0


def test_one_partition_in_memory_asks_as_a_local_fit_does(client):
    X, y = np.array([[0.0, 0], [1, 0], [0, 1], [1, 1]]), np.array([0, 1, 1, 0])
    model = rd.fit(rb.Perceptron(), *arrays(X, y, 1), client=client)
    assert model.stop_reason_ == "inseparable"
    assert model.certificate_.verify(X, y)


def test_a_partition_with_one_class_and_an_empty_one(client, labelled):
    X, y = labelled(n=90, noise=0.2)
    order = np.argsort(y, kind="stable")
    X, y = X[order], y[order]
    parts = [slice(0, 30), slice(30, 30), slice(30, 90)]
    assert len(set(y[:30])) == 1
    batches = [dask.delayed((X[cut], y[cut])) for cut in parts]
    model = rd.fit(rb.Perceptron(max_iter=5), batches, client=client)
    assert model.mixing_.partitions == 2
    assert same(model, rd.fit(rb.Perceptron(max_iter=5), [batches[0], batches[2]], client=client))
    with pytest.raises(ShapeError, match="All 1 partitions are empty"):
        rd.fit(rb.Perceptron(), [batches[1]], client=client)
    with pytest.raises(LabelError, match="only one class"):
        rd.fit(rb.Perceptron(), [batches[0]], client=client)


def test_a_checkpoint_goes_on_elsewhere_to_the_same_bits(client, labelled, tmp_path):
    X, y = labelled(n=200, noise=0.5)
    data = arrays(X, y, 4)
    whole = rd.fit(rb.Perceptron(max_iter=7, average=True), *data, client=client, mixing="mistakes")
    place = {"client": client, "mixing": "mistakes", "checkpoint": tmp_path / "run"}
    rd.fit(rb.Perceptron(max_iter=3, average=True), *data, **place)
    with pytest.raises(ParameterError, match="mixing"):
        rd.fit(rb.Perceptron(max_iter=7, average=True), *data, **place | {"mixing": "uniform"}, resume=True)
    went_on = rd.fit(rb.Perceptron(max_iter=7, average=True), *data, **place, resume=True)
    assert same(went_on, whole)
    assert went_on.mixing_ == whole.mixing_


def test_errors_name_the_partition(client, labelled):
    X, y = labelled(n=60)
    X[45, 1] = np.nan
    with pytest.raises(NonFiniteError, match=r"partition 2: .*row 5"):
        rd.fit(rb.Perceptron(), *arrays(X, y, 3), client=client)
    with pytest.raises(ShapeError, match="partition 1 has 2 features"):
        rd.fit(
            rb.Perceptron(), [dask.delayed((X[:9, :3], y[:9])), dask.delayed((X[:9, :2], y[:9]))], client=client
        )
    with pytest.raises(LabelError, match="partition 0 are text, and those of partition 1 are numbers"):
        rd.fit(rb.Perceptron(), [dask.delayed((X[:9], y[:9])), dask.delayed((X[:9], [1] * 9))], client=client)


@pytest.mark.parametrize(
    "parameters",
    [
        {"early_stopping": True},
        {"stop_on_cycle": True},
        {"init": "first"},
        {"trace": "mistakes"},
        {"order": "random"},
        {"average": 2},
        {"average": True, "penalty": "l2"},
    ],
    ids=str,
)
def test_what_needs_one_place_is_refused(parameters):
    with pytest.raises(ParameterError, match=next(iter(parameters))):
        rd.fit(rb.Perceptron(**parameters), None)


@pytest.mark.parametrize(
    "estimator", [rb.PNormPerceptron(p=8), rb.ConfidenceWeightedClassifier(), rb.OrdinalPerceptron()], ids=str
)
def test_learners_that_keep_more_than_weights_are_refused(estimator):
    with pytest.raises(ParameterError, match=r"parameter mixing\. Use Perceptron or PassiveAggressiveClassifier"):
        rd.fit(estimator, None)


def test_more_than_weights_is_refused_whatever_a_learner_declares(client, labelled):
    class Undeclared(rb.PNormPerceptron):
        _learner = rb.Perceptron._learner

    with pytest.raises(ParameterError, match="only weights are mixed"):
        rd.fit(Undeclared(p=8), *arrays(*labelled(), 2), client=client)


def test_no_client_and_no_scheduler():
    X = da.zeros((4, 2))
    with pytest.raises(ParameterError, match="no Dask client in use"):
        rd.fit(rb.Perceptron(), X, da.arange(4))
    with warnings.catch_warnings(), dask.config.set({"distributed.comm.timeouts.connect": "0.2s"}):
        warnings.simplefilter("ignore")
        with pytest.raises(ClusterError, match=r"no scheduler at tcp://127\.0\.0\.1:9"):
            rd.fit(rb.Perceptron(), X, da.arange(4), client="tcp://127.0.0.1:9")
