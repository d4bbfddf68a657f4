"""Steps before a learner: bit for bit what scikit-learn's are."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.sparse import csr_array
from sklearn.preprocessing import Normalizer, StandardScaler

from rosenblatt.exceptions import InputError, NonFiniteError, ShapeError
from rosenblatt.models.files import _step_of
from rosenblatt.rows.features import as_rows
from rosenblatt.tables.preparation import Encoding, Preparation, Standardisation, encoding_of
from rosenblatt.tables.recipe import SparseRecipe, TableRecipe
from rosenblatt.tables.scaling import Filling, Transformation

ROWS = hnp.arrays(
    st.sampled_from([np.float64, np.float32]),
    (5, 3),
    elements=st.floats(-1e6, 1e6, width=32, allow_subnormal=False),
)


@given(ROWS, ROWS, st.booleans(), st.booleans())
def test_standard_scalers(rows, others, with_mean, with_std):
    scaler = StandardScaler(with_mean=with_mean, with_std=with_std).fit(rows)
    step = _step_of(scaler)
    found = step.features(as_rows(others)).native()
    expected = scaler.transform(others)
    assert (found.dtype, found.tobytes()) == (expected.dtype, expected.tobytes())
    if with_mean:
        with pytest.raises(ShapeError, match="cannot be centred"):
            step.features(as_rows(csr_array(others)))
        return
    sparse = step.features(as_rows(csr_array(others))).native()
    assert sparse.data.tobytes() == scaler.transform(csr_array(others)).data.tobytes()


@given(ROWS)
def test_normalizers(rows):
    rows[0] = 0.0
    normalizer = Normalizer().fit(rows)
    step = _step_of(normalizer)
    found, expected = step.features(as_rows(rows)).native(), normalizer.transform(rows)
    assert (found.dtype, found.tobytes()) == (expected.dtype, expected.tobytes())
    sparse = step.features(as_rows(csr_array(rows))).native()
    assert sparse.data.tobytes() == normalizer.transform(csr_array(rows)).data.tobytes()
    assert not found[0].any()
    with pytest.raises(ShapeError, match="2 features, but the model has 3"):
        step.features(as_rows(rows[:, :2]))


def test_steps_leave_their_input_alone():
    rows = np.arange(6.0).reshape(3, 2)
    step = _step_of(StandardScaler().fit(rows))
    features = as_rows(rows)
    step.features(features)
    assert rows.tolist() == [[0, 1], [2, 3], [4, 5]]
    with pytest.raises(ShapeError, match="3 features, but the model has 2"):
        step.features(as_rows(np.eye(3)))
    assert Preparation((step,)).names is None
    assert isinstance(step, Standardisation)


def test_names_through_steps():
    import pandas as pd

    frame = pd.DataFrame(np.eye(2), columns=["a", "b"])
    ready = Preparation((_step_of(StandardScaler().fit(frame)),))
    assert ready.names == ("a", "b")
    assert ready.n_outputs == 2
    with pytest.raises(InputError, match="'a' and 'b'"):
        ready.read(frame[["b", "a"]])
    assert Preparation().n_outputs is None
    assert Preparation().read([[1.0]]).n_features == 1


def test_encodings_of_sources():
    assert encoding_of(None, Transformation(), ("a",), 1) is None
    filled = encoding_of(None, Transformation(Filling(np.array([2.0]))), ("a",), 1)
    assert filled.recipe == TableRecipe.of_numbers(("a",), 1, "mean")
    assert filled.features(filled.read([{"a": None}])).rows.tolist() == [[2.0]]
    nameless = encoding_of(None, Transformation(Filling(np.array([2.0]))), None, 1)
    assert nameless.encoder_parameters["missing"] == "mean"
    assert nameless.features(nameless.read([[np.nan]])).rows.tolist() == [[2.0]]
    sparse = Encoding(SparseRecipe(2, None))
    with pytest.raises(NonFiniteError):
        sparse.read([[1.0, np.nan]])
    assert sparse.encoder_parameters == {"scale": False, "missing": "error"}
