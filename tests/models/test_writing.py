"""A file is whole or as it was before, whatever happens while it is written."""

import errno
import os
import subprocess
import sys

import numpy as np
import pytest

import rosenblatt as rb
from rosenblatt.exceptions import ModelFileError, StorageError
from tests.models.models import answers, bits, made


@pytest.fixture
def old(tmp_path):
    """Give the path of a model that is there already."""
    path = tmp_path / "model"
    rb.save(made("Perceptron"), path)
    return path


def test_a_full_disk_is_said_and_leaves_the_old_file(old, monkeypatch):
    before = old.read_bytes()

    def full(descriptor):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(StorageError, match="No space left on device"):
        rb.save(made("KernelPerceptron"), old)
    assert old.read_bytes() == before
    assert list(old.parent.iterdir()) == [old]


@pytest.mark.slow
def test_a_limit_on_file_sizes_leaves_the_old_file(old):
    before = old.read_bytes()
    source = """
import resource, signal, sys
import numpy as np
import rosenblatt as rb
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
model = rb.MonomialMap().fit(np.zeros((1, 9)))
clf = rb.Perceptron(order="cyclic").fit(np.outer([1, -1], np.ones(20_000)), [0, 1])
resource.setrlimit(resource.RLIMIT_FSIZE, (65536, 65536))
rb.save(model, sys.argv[1] + ".small")
try:
    rb.save(clf, sys.argv[1])
except rb.exceptions.StorageError as error:
    assert "File too large" in str(error), error
else:
    raise SystemExit("it was written")
"""
    subprocess.run([sys.executable, "-c", source, str(old)], check=True, timeout=600)
    assert old.read_bytes() == before
    assert sorted(path.name for path in old.parent.iterdir()) == ["model", "model.small"]


def test_an_error_on_the_way_leaves_the_old_file(old):
    before = old.read_bytes()
    model = made("Perceptron").set_params(callbacks=[print])
    with pytest.raises(rb.exceptions.ParameterError):
        rb.save(model, old)
    assert old.read_bytes() == before


def test_a_new_model_takes_the_place_of_the_old(old):
    model = made("VotedPerceptron")
    rb.save(model, old)
    assert bits(answers(rb.load(old))) == bits(answers(model))


def test_any_name_will_do(tmp_path):
    model = made("Perceptron")
    for name in ("model", "ä b.safetensors", ".hidden", "x.model.gz"):
        rb.save(model, tmp_path / name)
        assert bits(answers(rb.load(str(tmp_path / name)))) == bits(answers(model))


def test_no_folder_is_said(tmp_path):
    with pytest.raises(StorageError, match="could not be written"):
        rb.save(made("Perceptron"), tmp_path / "none" / "model")


def test_names_beyond_what_a_header_holds(tmp_path, monkeypatch):
    monkeypatch.setattr("rosenblatt.codecs.LARGEST_HEADER", 20_000)
    model = rb.Perceptron(order="cyclic")
    model.learn_one({f"feature number {j}": 1.0 for j in range(1000)}, 1)
    with pytest.raises(ModelFileError, match="hash them"):
        rb.save(model, tmp_path / "model")
    assert not list(tmp_path.iterdir())


def test_many_names_do_fit(tmp_path):
    names = [f"feature number {j}" for j in range(20_000)]
    model = rb.Perceptron(order="cyclic").learn_one(dict.fromkeys(names, 1.0), "a").learn_one({"b": 1.0}, "b")
    rb.save(model, tmp_path / "model")
    loaded = rb.load(tmp_path / "model")
    assert loaded.feature_names_in_.tolist() == [*names, "b"]
    assert np.array_equal(loaded.coef_, model.coef_)
