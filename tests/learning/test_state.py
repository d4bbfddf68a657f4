"""States are turned into those of the original features."""

import numpy as np
import pytest

from rosenblatt.learning.state import fold_state
from rosenblatt.tables.scaling import Scaling
from tests.shared.strategies import noisy, trained


@pytest.mark.parametrize("penalty", [{}, {"penalty": "l2", "alpha": 0.01}, {"penalty": "l2", "alpha": 0.5}])
def test_an_average_of_scaled_rows_is_folded(penalty):
    """Weights of scaled features are turned into weights of the original ones, and so is their average."""
    X, y = noisy(80, 3)
    parameters = {"average": 100, "max_iter": 3, "order": "cyclic", **penalty}
    scaled = (X - X.mean(axis=0)) / X.std(axis=0)
    plain = trained(scaled, y, **parameters)
    state = fold_state(plain._state, Scaling(X.mean(axis=0), X.std(axis=0)))
    assert state.average == 100
    assert state.averaged == plain._state.averaged
    folded = state.hypothesis()
    np.testing.assert_allclose(X @ folded[:-1] + folded[-1], plain.decision_function(scaled), rtol=1e-7, atol=1e-9)
