"""Tables to try, and what must hold of rows made of them."""

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from rosenblatt.loops.layout import CSR

matrices = hnp.arrays(
    st.sampled_from([np.float64, np.float32]),
    hnp.array_shapes(min_dims=2, max_dims=2, max_side=6),
    elements=st.floats(width=32, allow_nan=False, allow_infinity=False),
)


def dense(features):
    """The rows as a plain array, whatever their layout."""
    rows = features.rows
    if not isinstance(rows, CSR):
        return rows
    out = np.zeros((features.n_rows, features.n_features), rows.data.dtype)
    for i in range(features.n_rows):
        for p in range(int(rows.indptr[i]), int(rows.indptr[i + 1])):
            out[i, int(rows.indices[p])] += rows.data[p]
    return out


def arrays_of(rows):
    return tuple(rows) if isinstance(rows, CSR) else (rows,)


def assert_ready(features):
    for array in arrays_of(features.rows):
        assert type(array) is np.ndarray
        assert not array.flags.writeable
        assert array.flags.c_contiguous
        assert array.flags.aligned
        assert array.dtype.isnative
    values = features.values
    assert values.dtype in (np.float64, np.float32)
    if isinstance(features.rows, CSR):
        assert features.rows.indices.dtype.kind == "u"
        assert features.rows.indptr.dtype.kind == "u"
