"""Every kind of data becomes the same partitions, and files are read by the workers."""

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import rosenblatt as rb
import rosenblatt.distributed as rd
from rosenblatt.exceptions import FormatError, InputError, ParameterError, ShapeError
from rosenblatt.rows.batch import as_batch

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")]


@pytest.fixture
def frame(labelled):
    X, y = labelled(n=90, d=4, noise=0.3)
    return pd.DataFrame(X, columns=["a", "b", "c", "d"]).assign(label=y)


@pytest.fixture
def model():
    return lambda: rb.Perceptron(max_iter=4, average=True)


def weights(model):
    """Return all weights."""
    return np.append(model.coef_, model.intercept_).tobytes()


def test_all_kinds_of_data_give_the_same_bits(client, frame, model, tmp_path):
    X, y = frame.drop(columns="label").to_numpy(), frame["label"].to_numpy().astype(str)
    wanted = weights(
        rd.fit(model(), da.from_array(X, chunks=(30, 4)), da.from_array(y, chunks=(30,)), client=client)
    )
    cut = [slice(k, k + 30) for k in (0, 30, 60)]
    assert weights(rd.fit(model(), [dask.delayed((X[c], y[c])) for c in cut], client=client)) == wanted
    batches = [dask.delayed(as_batch)(X[c], y[c]) for c in cut]
    assert weights(rd.fit(model(), batches, client=client)) == wanted
    table = dd.from_pandas(frame, npartitions=3, sort=False)
    assert [len(part) for part in table.partitions] == [30, 30, 30]
    assert weights(rd.fit(model(), table, "label", client=client)) == wanted
    assert weights(rd.fit(model(), table.drop(columns="label"), table["label"], client=client)) == wanted
    for k, c in enumerate(cut):
        frame[c].to_csv(tmp_path / f"{k}.csv", index=False)
    assert weights(rd.fit(model(), f"{tmp_path}/*.csv", client=client)) == wanted
    pq.write_table(pa.Table.from_pandas(frame), tmp_path / "all.parquet", row_group_size=30)
    blocks = rd.partition(tmp_path / "all.parquet", client=client)
    assert blocks.boundaries.tolist() == [0, 30, 60, 90]
    assert weights(rd.fit(model(), blocks)) == wanted


def test_columns_in_chunks_and_labels_in_others(client, labelled, model):
    X, y = labelled(n=60)
    wanted = weights(
        rd.fit(model(), da.from_array(X, chunks=(20, 8)), da.from_array(y, chunks=(20,)), client=client)
    )
    mixed = da.from_array(X, chunks=(20, 3)), da.from_array(y, chunks=(60,))
    assert weights(rd.fit(model(), *mixed, client=client)) == wanted
    with pytest.raises(ShapeError, match="60 rows, but y has 59"):
        rd.partition(mixed[0], mixed[1][:59], client=client)


def test_partitions_larger_than_memory_go_through_a_cache(client, frame, model, tmp_path):
    for k in range(3):
        frame[30 * k : 30 * k + 30].to_csv(tmp_path / f"{k}.csv", index=False)
    files = f"{tmp_path}/?.csv"
    wanted = weights(rd.fit(model(), files, client=client))
    for _ in range(2):
        blocks = rd.partition(files, client=client, memory=1)
        assert weights(rd.fit(model(), blocks)) == wanted
        assert not list(tmp_path.glob(".*"))
        assert not any(each.in_memory for each in blocks.known)


def test_scaling_is_that_of_all_partitions(client, frame, tmp_path):
    frame["a"] *= 1000.0
    frame["b"] += 50.0
    for k in range(2):
        frame[45 * k : 45 * k + 45].to_csv(tmp_path / f"{k}.csv", index=False)
    scaled = rd.partition(f"{tmp_path}/*.csv", client=client, scale=True)
    numbers = frame.drop(columns="label").to_numpy()
    np.testing.assert_allclose(scaled.scaling.mean, numbers.mean(axis=0), rtol=1e-12)
    np.testing.assert_allclose(scaled.scaling.deviation, numbers.std(axis=0), rtol=1e-12)
    model = rd.fit(rb.Perceptron(max_iter=20), scaled)
    assert model.score(frame.drop(columns="label"), frame["label"]) > 0.8


@pytest.mark.parametrize("vocabulary", [False, True, None])
def test_categories_and_words_are_merged_to_those_of_one_reading(client, tmp_path, vocabulary):
    tables = [
        "size,colour,note,label\n1,red,old car,x\n2,,new car,y\n3,blue,a b,x\n",
        "size,colour,note,label\n",
        "size,colour,note,label\n4,green,car x,y\n5,red,zebra,y\n6,blue,new new,x\n",
    ]
    for k, text in enumerate(tables):
        (tmp_path / f"{k}.csv").write_text(text)
    files = [str(tmp_path / f"{k}.csv") for k in range(3)]
    how = {"text": ("note",), "bits": 4, "vocabulary": vocabulary}
    source = rb.open_data(*files[::2], **how)
    for _ in source.chunks():
        pass
    blocks = rd.partition(files, client=client, **how)
    assert blocks.recipe == source.recipe
    assert blocks.recipe.words == source.recipe.words
    model = rd.fit(rb.Perceptron(max_iter=3, order="cyclic"), blocks)
    assert (model.mixing_.partitions, model.n_features_in_) == (2, 1 + 16 + 4)


@pytest.mark.parametrize("kind", ["frame", "files"])
def test_a_pipeline_of_an_encoder_and_a_perceptron(client, tmp_path, kind):
    from sklearn.pipeline import make_pipeline

    rng = np.random.default_rng(5)
    frame = pd.DataFrame(
        {
            "size": rng.standard_normal(80) * 9 + 4,
            "colour": rng.choice(["red", "blue", "green"], 80),
            "label": rng.choice(["no", "yes"], 80),
        }
    )
    frame.loc[3, "size"] = np.nan
    data = dd.from_pandas(frame, npartitions=2, sort=False), "label"
    if kind == "files":
        for k in range(2):
            frame[40 * k : 40 * k + 40].to_csv(tmp_path / f"{k}.csv", index=False)
        data = f"{tmp_path}/*.csv", None
    made = make_pipeline(rb.TableEncoder(scale=True, missing="mean"), rb.Perceptron(max_iter=5))
    rd.fit(made, *data, client=client)
    plain = rb.TableEncoder(scale=True, missing="mean").fit(frame.drop(columns="label"))
    assert made[0].get_feature_names_out().tolist() == plain.get_feature_names_out().tolist()
    np.testing.assert_allclose(made[0].encoding_.scaling.mean, plain.encoding_.scaling.mean, rtol=1e-12)
    np.testing.assert_allclose(made[0].encoding_.scaling.deviation, plain.encoding_.scaling.deviation, rtol=1e-12)
    np.testing.assert_allclose(made[0].encoding_.statistics.mean, plain.encoding_.statistics.mean, rtol=1e-12)
    rb.save(made, tmp_path / "model")
    again = rb.load(tmp_path / "model")
    assert again.predict(frame).tolist() == made.predict(frame).tolist()


def test_sparse_files_agree_on_their_base_and_width(client, tmp_path, model):
    (tmp_path / "0.svm").write_text("+1 1:2 3:1\n-1 2:1\n+1 1:1\n")
    (tmp_path / "1.svm").write_text("-1 0:1 5:1\n+1 1:3\n-1 4:2\n")
    blocks = rd.partition(f"{tmp_path}/*.svm", client=client)
    assert (blocks.n_features, blocks.recipe.zero_based) == (6, True)
    assert rd.fit(model(), blocks).n_features_in_ == 6


def test_bad_rows_have_their_file_and_line(client, tmp_path):
    (tmp_path / "0.csv").write_text("a,label\n1,x\n2,y\n")
    (tmp_path / "1.csv").write_text("a,label\n1,x\nbad,y\n")
    with pytest.raises(FormatError) as caught:
        rd.partition(f"{tmp_path}/*.csv", client=client)
    assert (caught.value.file, caught.value.line) == (str(tmp_path / "1.csv"), 3)
    blocks = rd.partition(f"{tmp_path}/*.csv", client=client, skip_bad=True)
    assert blocks.n_rows == 3
    with pytest.raises(InputError, match=r"nothing\.csv"):
        rd.partition(tmp_path / "nothing.csv", client=client)


def test_data_that_is_none(client):
    with pytest.raises(InputError, match="X is a ndarray"):
        rd.partition(np.zeros((3, 2)), np.zeros(3), client=client)
    with pytest.raises(ParameterError, match="y is missing"):
        rd.partition(da.zeros((3, 2)), client=client)
    with pytest.raises(ParameterError, match="target is an option of reading files"):
        rd.partition(da.zeros((3, 2)), da.zeros(3), client=client, target="x")
