"""Predictions on Dask collections are lazy, and are those of the model on rows in memory."""

import dask.array as da
import dask.dataframe as dd
import pandas as pd
import pytest

import rosenblatt as rb
import rosenblatt.distributed as rd
from rosenblatt.exceptions import InputError

pytestmark = pytest.mark.slow


@pytest.fixture(params=[2, 3])
def trained(request, labelled):
    X, y = labelled(n=120, d=4, classes=request.param, noise=0.3)
    return rb.Perceptron(max_iter=20, average=True).fit(X, y), X, y


def test_arrays(trained):
    model, X, y = trained
    rows, labels = da.from_array(X, chunks=(50, 3)), da.from_array(y, chunks=(50,))
    found = rd.predict(model, rows)
    assert isinstance(found, da.Array)
    assert (found.shape, found.dtype) == ((120,), model.classes_.dtype)
    assert found.compute(scheduler="sync").tolist() == model.predict(X).tolist()
    scores = rd.decision_function(model, rows)
    assert scores.shape == model.decision_function(X).shape
    assert scores.compute(scheduler="sync").tobytes() == model.decision_function(X).tobytes()
    assert rd.score(model, rows, labels).compute(scheduler="sync") == model.score(X, y)
    found = rd.evaluate(model, rows, labels).compute(scheduler="sync")
    assert found.confusion.sum() == 120
    assert found.accuracy == model.score(X, y)


def test_frames(labelled):
    X, y = labelled(n=90, d=3)
    frame = pd.DataFrame(X, columns=list("abc"))
    model = rb.Perceptron().fit(frame, y)
    parts = dd.from_pandas(frame.assign(label=y), npartitions=3, sort=False)
    rows = parts.drop(columns="label")
    found = rd.predict(model, rows)
    assert isinstance(found, dd.Series)
    assert found.compute(scheduler="sync").tolist() == model.predict(frame).tolist()
    scores = rd.decision_function(model, rows).compute(scheduler="sync")
    assert scores.tobytes() == model.decision_function(frame).tobytes()
    assert rd.score(model, parts, "label").compute(scheduler="sync") == model.score(frame, y)


def test_on_the_cluster(client, trained):
    model, X, y = trained
    rows, labels = da.from_array(X, chunks=(50, 4)), da.from_array(y, chunks=(50,))
    assert client.compute(rd.score(model, rows, labels)).result() == model.score(X, y)


def test_rows_in_memory_are_refused(trained):
    model, X, _ = trained
    with pytest.raises(InputError, match="X is a ndarray"):
        rd.predict(model, X)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_searches_of_scikit_learn_run_on_the_cluster(client, labelled):
    import joblib
    from sklearn.model_selection import GridSearchCV

    X, y = labelled(n=80, d=3, noise=0.3)
    grid = {"margin": [0.0, 1.0], "average": [True]}
    local = GridSearchCV(rb.Perceptron(max_iter=4), grid, cv=2).fit(X, y)
    with client.as_current(), joblib.parallel_config("dask"):
        found = GridSearchCV(rb.Perceptron(max_iter=4), grid, cv=2).fit(X, y)
    assert found.cv_results_["mean_test_score"].tolist() == local.cv_results_["mean_test_score"].tolist()
