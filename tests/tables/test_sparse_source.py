"""Where files of sparse rows count features from."""

import io
import sys

import numpy as np
import pytest
from scipy.sparse import random_array
from sklearn.datasets import dump_svmlight_file

import rosenblatt as rb
from rosenblatt.exceptions import FormatError
from rosenblatt.tables.file_source import ReadAgainError
from rosenblatt.tables.recipe import SparseRecipe
from tests.tables.files import read

LATE = b"".join(b"%d 1:1.5 2:%d\n" % (k % 2, k) for k in range(100_000)) + b"1 0:5\n"
"""A 0 beyond the first mebibyte."""


@pytest.fixture
def late(tmp_path):
    path = tmp_path / "late.svm"
    path.write_bytes(LATE)
    return path


@pytest.mark.parametrize("skip_bad", [False, True])
def test_a_late_zero_begins_reading_again(late, skip_bad):
    X, y, _ = rb.read_table(late, skip_bad=skip_bad)
    expected, labels, _ = rb.read_table(late, zero_based=True)
    assert X.shape == (100_001, 3)
    assert (X != expected).nnz == 0
    np.testing.assert_array_equal(y, labels)
    blocks = rb.open_data(late, skip_bad=skip_bad).blocks(memory=1 << 16, cache=late.with_name("cache"))
    assert (blocks.n_rows, blocks.n_features) == X.shape
    with pytest.raises(ReadAgainError, match="zero_based=True"):
        list(rb.open_data(late).chunks())


def test_a_late_zero_of_another_file(late, tmp_path):
    (tmp_path / "first.svm").write_bytes(b"1 1:1\n0 2:1\n")
    X, _, _ = rb.read_table(tmp_path / "first.svm", late)
    assert X.shape == (100_003, 3)
    assert X[[0]].toarray().tolist() == [[0, 1, 0]]


def test_standard_input_names_the_option(monkeypatch):
    class Stdin:
        buffer = io.BytesIO(LATE)

    monkeypatch.setattr(sys, "stdin", Stdin)
    with pytest.raises(FormatError, match=r"index 0.*zero_based=True") as caught:
        rb.read_table("-")
    assert not isinstance(caught.value, ReadAgainError)


def test_what_scikit_learn_writes(tmp_path):
    X = random_array((60, 9), density=0.3, rng=np.random.default_rng(0), format="csr")
    y = np.arange(60) % 2
    dump_svmlight_file(X, y, str(tmp_path / "t.svm"))
    found, labels, source = read(str(tmp_path / "t.svm"))
    np.testing.assert_allclose(found, X.toarray(), rtol=1e-15)  # it writes 16 digits
    assert labels.tolist() == y.tolist()
    assert source.recipe == SparseRecipe(9, zero_based=True)


def test_a_model_knows_its_base(tmp_path):
    path = tmp_path / "t.svm"
    path.write_text("1 0:1 2:2\n")
    one_based, zero_based = SparseRecipe(3, zero_based=False), SparseRecipe(3, zero_based=True)
    assert read(str(path), one_based)[0].tolist() == [[1, 0, 2]]  # converted
    path.write_text("1 1:1 3:2\n")
    assert read(str(path), one_based)[0].tolist() == [[1, 0, 2]]
    with pytest.raises(FormatError, match="counts its 3 features from 0, but this file has the index 3 and no 0"):
        read(str(path), zero_based)
    assert read(str(path), zero_based, zero_based=False)[0].tolist() == [[1, 0, 2]]
    assert read(str(path), zero_based, zero_based=True)[0].tolist() == [[0, 1, 0]]
    path.write_text("1 1:1 2:2\n")
    assert read(str(path), zero_based)[0].tolist() == [[0, 1, 2]]
