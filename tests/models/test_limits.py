"""What a model file claims takes no memory, and no value that a loop would stumble over."""

import re

import numpy as np
import pytest

import rosenblatt as rb
from rosenblatt.codecs import Tensors, UnsoundError, pack_file, read_container, read_labels, write_labels
from rosenblatt.exceptions import ModelFileError


@pytest.mark.parametrize(
    "labels",
    [
        [f"{k}" for k in range(5000)],  # 20 GB of 30 kB
        ["x" * 2**20, *(f"{k}" for k in range(5000))],  # 20 GB of 1 MB
    ],
)
def test_labels_of_very_different_lengths_are_not_padded(labels):
    with pytest.raises(UnsoundError, match="far more memory than their characters"):
        read_labels({"type": "text1048576", "labels": labels}, "classes")


def test_labels_that_exceed_the_free_memory_are_refused(monkeypatch):
    labels = {"type": "text500", "labels": [f"{k:010}" for k in range(20_000)]}  # 40 MB of 200 kB
    assert read_labels(labels, "classes").nbytes == 40_000_000
    monkeypatch.setattr("rosenblatt.codecs.free_memory", lambda: 30_000_000)
    with pytest.raises(UnsoundError, match="would take 40 MB, but 30 MB of memory are free"):
        read_labels(labels, "classes")


def test_labels_that_could_not_be_read_are_not_written():
    labels = np.empty(5000, "<U4000")
    labels[:] = [f"{k}" for k in range(5000)]
    with pytest.raises(UnsoundError, match="far longer than the others"):
        write_labels(labels, "classes")
    short = labels.astype("<U4")
    assert read_labels(write_labels(short, "classes"), "classes").tolist() == short.tolist()


def test_a_truth_value_is_true_or_false(tmp_path):
    tensors = Tensors()
    tensors.put("flags", np.array([True, False]))
    path = tmp_path / "file"
    content = pack_file(path, {"a": 1}, tensors)
    path.write_bytes(content)
    read_container(path)
    assert content.endswith(b"\x01\x00")
    path.write_bytes(content[:-1] + b"\x07")
    with pytest.raises(ModelFileError, match="neither true nor false"):
        read_container(path)


@pytest.mark.parametrize("literal", ["NaN", "Infinity", "-Infinity", "1e999"])
def test_numbers_that_json_does_not_have_are_refused(tmp_path, literal):
    rb.save(rb.Perceptron().fit([[0.0], [1.0]], [0, 1]), tmp_path / "model")
    content = (tmp_path / "model").read_bytes()
    changed = re.sub(rb'eta0\\":1\.0', rb'eta0\\":' + literal.encode(), content)
    assert changed != content
    length = int.from_bytes(content[:8], "little") + len(changed) - len(content)
    (tmp_path / "model").write_bytes(length.to_bytes(8, "little") + changed[8:])
    with pytest.raises(ModelFileError, match="is no number"):
        rb.load(tmp_path / "model")
