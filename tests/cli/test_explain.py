"""`rosenblatt explain`, from files."""

import json

import numpy as np
import pytest

import rosenblatt as rb


@pytest.fixture
def trained(done, tmp_path):
    (tmp_path / "flats.csv").write_text(
        "rooms,balcony,rented\n1,no,slow\n2,yes,fast\n3,yes,fast\n2,no,slow\n1,yes,fast\n3,no,slow\n"
    )
    done("train", "flats.csv", "-o", "flats.model", "-q")
    return "flats.model"


def test_a_row_is_explained_by_the_names_of_its_features(done, run, trained):
    text = done("explain", trained, "flats.csv", "--row", "2", "-q")
    assert text.startswith("row 2: fast, by a score of -")
    assert "(positive: slow, negative: fast)" in text
    assert "balcony=yes" in text
    told = json.loads(done("explain", trained, "flats.csv", "--row", "2", "--row", "1", "--json", "-q"))
    assert [each["row"] for each in told] == [2, 1]
    scores = [
        float(line.split("\t")[1]) for line in done("predict", trained, "flats.csv", "--scores").split("\n")[1:3]
    ]
    assert [each["score"] for each in told] == scores[::-1]
    for each in told:
        assert np.isclose(sum(part["contribution"] for part in each["parts"]) + each["bias"], each["score"])
    assert len(json.loads(done("explain", trained, "flats.csv", "--json", "-q"))) == 5
    assert "no row 99: the rows are 1 to 6" in run("explain", trained, "flats.csv", "--row", "99").err


def test_a_class_of_several_is_chosen(done, run):
    done("train", "@iris", "-o", "iris.model", "-q")
    text = done("explain", "iris.model", "@iris", "--row", "1", "--class", "virginica", "--top", "2", "-q")
    assert "setosa; the score of virginica is -" in text
    assert "2 other features" in text
    ran = run("explain", "iris.model", "@iris", "--class", "rose")
    assert ran.code == 2
    assert "no class rose; its classes are setosa, versicolor, virginica" in ran.err


def test_a_network_cannot_be_explained(run, tmp_path):
    X, y = rb.datasets.load_xor()
    rb.save(rb.ExtremeLearningMachine(random_state=0).fit(X, y), tmp_path / "net.model")
    ran = run("explain", "net.model", "@xor")
    assert ran.code == 2
    assert "not a sum over features" in ran.err
