"""How much memory is free, and how much weights would take."""

import resource
import subprocess
import sys

import numpy as np
import pytest
from scipy.sparse import csr_array

import rosenblatt as rb
from rosenblatt.exceptions import InputError
from rosenblatt.learning.state import State
from rosenblatt.rows import memory
from rosenblatt.rows.memory import UNCHECKED_BYTES, free_memory, require_memory, weights_bytes
from tests.shared.memory import refused_beyond

GIB = 1 << 30


@pytest.fixture
def groups(tmp_path, monkeypatch):
    """Return a function that lays out control groups: what /proc/self/cgroup says, and the files of each."""

    def lay_out(own, files):
        (tmp_path / "own").write_text(own)
        (tmp_path / "meminfo").write_text("MemTotal: 99999999 kB\nMemAvailable: 8388608 kB\n")
        for name, text in files.items():
            path = tmp_path / "groups" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        monkeypatch.setattr(memory, "_LINUX", tmp_path / "meminfo")
        monkeypatch.setattr(memory, "_OWN_GROUPS", tmp_path / "own")
        monkeypatch.setattr(memory, "_GROUPS", tmp_path / "groups")
        monkeypatch.setattr(memory, "_left_to_the_process", lambda: iter(()))
        return free_memory()

    return lay_out


def group(folder, most, used, inactive=0, names=("memory.max", "memory.current")):
    return {
        f"{folder}/{names[0]}": f"{most}\n",
        f"{folder}/{names[1]}": f"{used}\n",
        f"{folder}/memory.stat": f"anon 5\ninactive_file {inactive}\n",
    }


OLD = ("memory.limit_in_bytes", "memory.usage_in_bytes")


def test_without_groups_it_is_what_the_system_has(groups):
    assert groups("", {}) == 8 * GIB
    assert groups("0::/\n", group(".", "max", 5)) == 8 * GIB


def test_a_group_limits_it(groups):
    assert groups("0::/\n", group(".", 3 * GIB, GIB)) == 2 * GIB


def test_files_that_can_be_dropped_are_free(groups):
    assert groups("0::/\n", group(".", 3 * GIB, 2 * GIB, GIB)) == 2 * GIB


def test_a_group_around_limits_it_too(groups):
    files = group("a/b", "max", GIB) | group("a", 4 * GIB, 3 * GIB)
    assert groups("0::/a/b\n", files) == GIB


def test_the_root_counts_where_the_path_is_that_of_the_host(groups):
    assert groups("0::/kubepods/pod1\n", group(".", 3 * GIB, GIB)) == 2 * GIB


def test_groups_of_version_1_count(groups):
    files = group("memory/job", 3 * GIB, GIB, names=OLD)
    assert groups("5:cpu,cpuacct:/job\n4:memory:/job\n", files) == 2 * GIB


def test_a_full_group_leaves_nothing(groups):
    assert groups("0::/\n", group(".", GIB, 2 * GIB)) == 0


def test_ulimit_counts():
    code = "from rosenblatt.rows.memory import free_memory; print(free_memory())"
    limit = 4 * GIB
    ran = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)),
    )
    assert 0 < int(ran.stdout) < limit


def test_little_is_not_looked_at(monkeypatch):
    monkeypatch.setattr(memory, "free_memory", lambda: 0)
    require_memory("A small thing", UNCHECKED_BYTES, "None.")
    with pytest.raises(InputError, match=r"A thing would take 16.8 MB, but 0 bytes of memory are free\. None\."):
        require_memory("A thing", UNCHECKED_BYTES + 1, "None.")


def test_weights_are_counted_before_they_are_made(monkeypatch):
    monkeypatch.setattr(memory, "free_memory", lambda: 15 * 10**9)
    shape = (2**28 + 1,)
    with pytest.raises(InputError, match=r"268,435,456 features would take 17.2 GB, but 15 GB .* free.*\(bits\)"):
        State.zero(shape)
    assert weights_bytes(shape, average=True) == 2 * weights_bytes(shape)
    assert weights_bytes((3, 11), shrinks=True) == 2 * 3 * weights_bytes((11,))


@pytest.mark.parametrize("learner", ["soft-margin", "max-margin"])
def test_one_large_index_is_refused_with_the_figure(tmp_path, monkeypatch, learner):
    monkeypatch.setattr(memory, "free_memory", lambda: GIB)
    (tmp_path / "large.svm").write_text("+1 1:1 268435456:1\n-1 2:1\n")
    with pytest.raises(InputError, match=r"Working on 268,435,456 features would take 42.9 GB, but 1.07 GB"):
        rb.train(tmp_path / "large.svm", learner)


def test_means_are_counted_before_they_are_made(tmp_path, monkeypatch):
    monkeypatch.setattr(memory, "free_memory", lambda: GIB)
    (tmp_path / "large.svm").write_text("+1 1:1 268435456:1\n-1 2:1\n")
    with pytest.raises(InputError, match=r"The means of 268,435,456 features would take 25.8 GB, but 1.07 GB"):
        rb.train(tmp_path / "large.svm", scale=True)


@pytest.mark.slow
@pytest.mark.parametrize("average", [False, True])
def test_the_estimate_is_near_the_truth(tmp_path, average):
    width = 4_000_000
    (tmp_path / "wide.svm").write_text(f"+1 1:1 {width}:1\n-1 2:1\n")
    code = (
        "import sys, resource, rosenblatt as rb\n"
        "def peak(): return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024\n"
        "rb.train('@and', sys.argv[2]).save(sys.argv[3])\n"
        "before = peak()\n"
        "rb.train(sys.argv[1], sys.argv[2]).save(sys.argv[3])\n"
        "print(peak() - before)\n"
    )
    learner = "averaged" if average else "perceptron"
    arguments = [str(tmp_path / "wide.svm"), learner, str(tmp_path / "model")]
    ran = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=True)
    needed = int(ran.stdout.split()[-1])
    assert needed < 1.25 * weights_bytes((width + 1,), average=average)


X = np.random.default_rng(0).standard_normal((30, 16))
Y = X[:, 0] > 0
WIDE = csr_array((np.ones(3), ([0, 1, 2], [0, 5, 2**31 - 2])), shape=(3, 2**31 - 1))
MANY = 10**9
TOO_LARGE = {
    "two layers": (
        lambda: rb.MultilayerPerceptron(hidden_layer_sizes=(20_000,) * 2).partial_fit(X, Y),
        "400,380,001 par",
    ),
    "a stream": (lambda: rb.MultilayerPerceptron(hidden_layer_sizes=MANY).partial_fit(X, Y), "18,000,000,001 par"),
    "a wide network": (
        lambda: rb.MultilayerPerceptron(hidden_layer_sizes=10).partial_fit(WIDE, [0, 1, 0]),
        "parameters",
    ),
    "a batch": (
        lambda: rb.MultilayerPerceptron(hidden_layer_sizes=300_000).fit(np.tile(X, (7, 1)), np.tile(Y, 7)),
        "200 rows through 300,001 neurons",
    ),
    "random neurons": (
        lambda: rb.ExtremeLearningMachine(MANY).partial_fit(X, Y, classes=np.unique(Y)),
        "Drawing 1,000,000,000 neurons",
    ),
    "least squares": (lambda: rb.ExtremeLearningMachine(20_000).fit(X, Y), "Least squares for 20,000 neurons"),
    "a hierarchy": (lambda: rb.VisualHierarchy((MANY, 5, 4)).fit(X), "parameters of neurons"),
    "units": (lambda: rb.MarkOne(MANY, retina=(4, 4)).fit(X, Y), "Wiring 1,000,000,000 association units"),
    "a retina": (lambda: rb.MarkOne(20, retina=(10**5, 10**5)).fit(X, Y), "to 10,000,000,000 photocells"),
    "taps": (lambda: rb.AdaptiveFilter(MANY).fit(X[:, 0], X[:, 1]), "A filter of 1,000,000,000 taps"),
    "a budget": (lambda: rb.KernelPerceptron("rbf", budget=MANY).fit(X, Y), "1,000,000,000 support vectors"),
    "a soft margin": (lambda: rb.SoftMarginClassifier().fit(WIDE, [0, 1, 0]), "Working on 2,147,483,647 features"),
    "a margin": (lambda: rb.MaxMarginClassifier().fit(WIDE, [0, 1, 0]), "Working on 2,147,483,647 features"),
    "a verdict": (lambda: rb.certify(WIDE, [0, 1, 0]), "Working on 2,147,483,647 features"),
    "pairs of labels": (
        lambda: rb.SequencePerceptron().fit([[["a"]] * 9000], [range(9000)]),
        "pairs of 9,000 la",
    ),
    "labels and features": (
        lambda: rb.SequencePerceptron().fit([[[f"f{i}"] for i in range(4000)]], [range(4000)]),
        "weights of 4,000 features and 4,000 labels",
    ),
}


@pytest.mark.parametrize("case", TOO_LARGE)
def test_parameters_that_take_more_than_is_free_are_refused(case):
    """Each is refused before it is taken: the true memory would not suffice, or the test would take minutes."""
    make, match = TOO_LARGE[case]
    with refused_beyond(GIB, match):
        make()


def test_a_stream_grows_within_the_free_memory():
    model = rb.Perceptron(average=True)
    model.learn_one({"a": 1.0}, "no").learn_one({"b": 1.0}, "yes")
    many = {f"f{i}": 1.0 for i in range(2**18)}
    with refused_beyond(GIB // 100, r"Going on with 262,147 weights would take 16.8 MB, but 10.7 MB"):
        model.learn_one(many, "no")
    assert model.n_features_in_ == 2
    assert model.learn_one({"c": 1.0}, "yes").predict_one({"b": 1.0}) == "yes"
    assert model.learn_one(many, "no").n_features_in_ == 3 + 2**18


@pytest.mark.slow
def test_classes_grow_within_the_free_memory():
    wide = csr_array((np.ones(2), ([0, 1], [0, 500_000])), shape=(2, 500_001))
    model = rb.Perceptron().partial_fit(wide, [0, 1], classes="grow")
    with refused_beyond(2**25, r"Going on with 1,500,006 weights"):
        model.partial_fit(wide, [2, 1])
    assert model.partial_fit(wide, [2, 1]).classes_.tolist() == [0, 1, 2]


def test_a_tagger_grows_within_the_free_memory():
    model = rb.SequencePerceptron().partial_fit([[["a"], ["b"]]], [["A", "B"]])
    many = [[[f"f{i}"] for i in range(100_000)]]
    with refused_beyond(2**24, r"Training weights of 100,002 features and 2 labels"):
        model.partial_fit(many, [["A", "B"] * 50_000])
    assert len(model._vocabulary.names()) == 2
    assert model.predict([[["a"], ["f9"]]]) == [["A", "B"]]


def test_a_small_file_of_a_tagger_does_not_take_much_memory(tmp_path):
    """Weights are stored without zeros: labels and features that have none take little of a file."""
    words = [[f"w{i}" for i in range(3000)]]
    labels = [[f"t{i % 300}" for i in range(3000)]]
    rb.save(rb.SequencePerceptron(max_iter=1).fit([[[w] for w in words[0]]], labels), tmp_path / "tagger")
    with refused_beyond(2**26, "Training weights of .* features and 300 labels"):
        rb.load(tmp_path / "tagger")
