"""The warning about columns of very different scales."""

import re
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.preprocessing import StandardScaler

import rosenblatt as rb
from rosenblatt.exceptions import ScaleWarning

RNG = np.random.default_rng(0)
PEOPLE = pd.DataFrame({"age": RNG.uniform(20, 70, 200), "income": RNG.uniform(1e5, 2e6, 200)})
Y = np.where(PEOPLE["income"] > 5e5, 1, 0)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("kind", [rb.Perceptron, rb.VotedPerceptron, rb.PocketPerceptron])
def test_a_column_that_drowns_the_others_is_named(kind):
    said = (
        "Column 'income' is more than 10⁴ times larger than column 'age'; the perceptron is not scale-free. "
        "Standardise (TableEncoder(scale=True), StandardScaler)."
    )
    with pytest.warns(ScaleWarning, match=re.escape(said)):
        kind(max_iter=1).fit(PEOPLE, Y)
    with pytest.warns(ScaleWarning, match=r"^Column 1 is more than 10⁴ times larger than column 0;"):
        kind(max_iter=1).fit(PEOPLE.to_numpy(), Y)


@pytest.mark.parametrize(
    "X",
    [
        StandardScaler().fit_transform(PEOPLE),
        PEOPLE.to_numpy() / [1, 1e4],
        csr_array(PEOPLE.to_numpy()),
        PEOPLE.to_numpy() * [1, 0],
        np.where(RNG.random((200, 3)) < 0.02, 1.0, [[200.0, 3.0, 0.0]]),  # seldom is not small
        PEOPLE.to_numpy()[:, 1:],
    ],
    ids=["standardised", "alike", "sparse", "constant zero", "seldom", "alone"],
)
def test_nothing_is_said_of_others(X):
    with warnings.catch_warnings():
        warnings.simplefilter("error", ScaleWarning)
        rb.Perceptron(max_iter=1, average=True).fit(X, Y)


def test_sizes_beyond_floats_are_left_to_training():
    with warnings.catch_warnings():
        warnings.simplefilter("error", ScaleWarning)
        with pytest.raises(rb.exceptions.NonFiniteError):
            rb.Perceptron().fit([[1.0, np.nan], [1.0, 1e5]], [0, 1])
