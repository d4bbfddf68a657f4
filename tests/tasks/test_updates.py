"""The updates of a run, of files and of arrays."""

import numpy as np
import pandas as pd
import pytest

import rosenblatt as rb
from rosenblatt.exceptions import ParameterError
from rosenblatt.tasks.updates import trace_updates


def test_arrays_are_traced_as_files_are(tmp_path):
    X, y = rb.datasets.load_six_points()
    frame = pd.DataFrame(X, columns=["a", "b"])
    frame.assign(label=y).to_csv(tmp_path / "six.csv", index=False)
    of_file = trace_updates(tmp_path / "six.csv", first=5)
    for rows in (X, frame, X.tolist()):
        found = trace_updates(rows, y, first=5)
        assert found.to_text() == of_file.to_text()
        assert len(found.estimator.trace_) > 0
    assert trace_updates(frame, y).table.names == ("a", "b")
    # X alone does not make the run of the lecture
    assert trace_updates(X, y).to_text() != trace_updates("@six-points").to_text()


def test_what_is_no_data_is_refused():
    X, y = np.eye(2), [0, 1]
    with pytest.raises(ParameterError, match=r"got 1 objects that are no files\. Call trace_updates\(X, y\)"):
        trace_updates(X)
    with pytest.raises(ParameterError, match="target is an option of reading files"):
        trace_updates(X, y, target="label")
