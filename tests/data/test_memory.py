"""How much memory is free, and how much weights would take."""

import resource
import subprocess
import sys

import pytest

import rosenblatt as rb
from rosenblatt.data import memory
from rosenblatt.data.memory import LITTLE, free_memory, require_memory, weights_bytes
from rosenblatt.exceptions import ParameterError
from rosenblatt.model.state import State

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
    code = "from rosenblatt.data.memory import free_memory; print(free_memory())"
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
    require_memory("A small thing", LITTLE, "None.")
    with pytest.raises(
        ParameterError, match=r"A thing would take 16.8 MB, but 0 bytes of memory are free\. None\."
    ):
        require_memory("A thing", LITTLE + 1, "None.")


def test_weights_are_counted_before_they_are_made(monkeypatch):
    monkeypatch.setattr(memory, "free_memory", lambda: 15 * 10**9)
    shape = (2**28 + 1,)
    with pytest.raises(
        ParameterError, match=r"268,435,456 features would take 17.2 GB, but 15 GB .* free.*--bits"
    ):
        State.zero(shape)
    assert weights_bytes(shape, average=True) == 2 * weights_bytes(shape)
    assert weights_bytes((3, 11), shrinks=True) == 2 * 3 * weights_bytes((11,))


@pytest.mark.parametrize("learner", ["soft-margin", "max-margin"])
def test_one_large_index_is_refused_with_the_figure(tmp_path, monkeypatch, learner):
    monkeypatch.setattr(memory, "free_memory", lambda: GIB)
    (tmp_path / "large.svm").write_text("+1 1:1 268435456:1\n-1 2:1\n")
    with pytest.raises(ParameterError, match=r"Working on 268,435,456 features would take 42.9 GB, but 1.07 GB"):
        rb.train(tmp_path / "large.svm", learner)


def test_means_are_counted_before_they_are_made(tmp_path, monkeypatch):
    monkeypatch.setattr(memory, "free_memory", lambda: GIB)
    (tmp_path / "large.svm").write_text("+1 1:1 268435456:1\n-1 2:1\n")
    with pytest.raises(ParameterError, match=r"The means of 268,435,456 features would take 25.8 GB, but 1.07 GB"):
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
