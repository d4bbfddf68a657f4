"""Whatever is written as svmlight text reads back the same."""

from io import BytesIO

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from scipy.sparse import csr_array

from rosenblatt.exceptions import LabelError, NonFiniteError, ShapeError
from rosenblatt.tables.svmlight import SvmlightReader
from rosenblatt.tables.svmlight_plain import write_svmlight
from tests.shared.examples import examples
from tests.tables.svmlight_texts import by

EXTREMES = [5e-324, 2.2250738585072014e-308, 1.7976931348623157e308, -0.0, 0.1, 1 / 3, 1e22, 1e23, 2.0**53 + 2]
finite = st.one_of(st.floats(allow_nan=False, allow_infinity=False), st.sampled_from(EXTREMES), st.just(0.0))


def back(X, y, *, way, zero_based=False):
    file = BytesIO()
    write_svmlight(file, X, y, zero_based=zero_based)
    file.seek(0)
    with pytest.MonkeyPatch.context() as patch:
        by(patch, way)
        reader = SvmlightReader(file, file="f", zero_based=zero_based, width=X.shape[1])
        (chunk,) = reader.chunks()
    assert reader.unmet == 0
    return chunk, chunk.labels


@settings(max_examples=examples(100))
@given(
    X=array_shapes(min_dims=2, max_dims=2, max_side=6).flatmap(
        lambda shape: arrays(float, shape, elements=finite)
    ),
    zero_based=st.booleans(),
    way=st.sampled_from(["loop", "plain"]),
    data=st.data(),
)
@example(X=np.array([EXTREMES]), zero_based=False, way="loop", data=None)
def test_any_finite_matrix_is_the_same_when_read(X, zero_based, way, data):
    y = np.array(EXTREMES[: len(X)]) if data is None else data.draw(arrays(float, len(X), elements=finite))
    features, labels = back(X, y, way=way, zero_based=zero_based)
    again = np.zeros_like(X)
    rows = np.repeat(np.arange(len(X)), np.diff(features.rows.indptr))
    again[rows, features.rows.indices] = features.rows.data
    assert again.tobytes() == X.tobytes()
    assert np.array_equal(labels, y)


def test_stored_zeros_and_the_bits_of_float32_stay():
    X = csr_array((np.array([0.0, 0.1, 2.0], dtype=np.float32), [0, 2, 1], [0, 2, 3]), shape=(2, 3))
    features, labels = back(X, [True, False], way="loop")
    assert features.rows.indices.tolist() == [0, 2, 1]
    assert features.rows.data.tolist() == X.data.astype(float).tolist()
    assert labels.tolist() == [1, 0]


def test_numbers_are_as_short_as_they_can_be():
    file = BytesIO()
    write_svmlight(file, [[1.0, 0, 0.1], [0, 0, 0]], np.array([1.0, 2.5]), zero_based=True)
    assert file.getvalue() == b"1 0:1 2:0.1\n2.5\n"


def test_a_path_is_written_whole_or_not_at_all(tmp_path):
    path = tmp_path / "rows.svm"
    path.write_bytes(b"old")
    with pytest.raises(NonFiniteError):
        write_svmlight(path, [[np.inf]], [1])
    assert path.read_bytes() == b"old"
    write_svmlight(path, np.eye(3000), np.arange(3000))  # more rows than are written at once
    assert path.read_bytes() == b"".join(b"%d %d:1\n" % (i, i + 1) for i in range(3000))


@pytest.mark.parametrize(
    "y, error, says",
    [
        (["spam"], LabelError, "number the classes"),
        ([np.nan], LabelError, "nan at row 0"),
        ([1, 2], ShapeError, "one label for each of the 1 rows"),
    ],
)
def test_bad_labels(y, error, says):
    with pytest.raises(error, match=says):
        write_svmlight(BytesIO(), [[1.0]], y)
