"""Files that the command line wrote once are read for ever, and lead to what they led to."""

import json
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

import rosenblatt as rb
from tests.golden import make_files as golden
from tests.golden.make_files import CASES, FOLDER, PROOFS, RECORDS, TRACES, done, said

TOLERANCE = 1e-6

every_case = pytest.mark.parametrize("name", CASES)
every_proof = pytest.mark.parametrize("name", PROOFS)


def stored(pattern, *names):
    return (FOLDER / pattern.format(*names)).read_bytes()


def cells(table):
    return [line.split("\t") for line in table.decode().splitlines()]


def require_same(name, predicted):
    expected = stored(golden.PREDICTED, name)
    if CASES[name].exact:
        assert predicted == expected
        return
    (heading, *rows), (heading_then, *rows_then) = cells(predicted), cells(expected)
    assert heading == heading_then
    assert [row[0] for row in rows] == [row[0] for row in rows_then]
    scores, scores_then = (np.array([row[1:] for row in each], float) for each in (rows, rows_then))
    np.testing.assert_allclose(scores, scores_then, rtol=TOLERANCE, atol=TOLERANCE)


def test_they_are_small():
    assert sum(path.stat().st_size for path in FOLDER.iterdir()) < 400_000


@every_case
def test_a_model_predicts_what_it_predicted(name):
    require_same(name, done("predict", golden.MODEL.format(name), CASES[name].new, "--scores"))


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.labelled])
def test_a_model_is_as_good_as_it_was(name):
    found = json.loads(done("evaluate", golden.MODEL.format(name), CASES[name].new, "--json"))
    then = json.loads(stored(golden.EVALUATED, name))
    assert {key: found[key] for key in then} == then


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.linear])
def test_weights_have_the_names_they_had(name):
    found, then = golden.weights_of(golden.MODEL.format(name)), json.loads(stored(golden.WEIGHTS, name))
    assert found == then


@every_case
def test_training_anew_leads_to_the_same_model(name, tmp_path):
    golden.train(name, tmp_path / "model")
    require_same(name, done("predict", tmp_path / "model", CASES[name].new, "--scores"))


@pytest.mark.parametrize("name", ["classes-direct", "classes-ovr", "classes-ovo"])
def test_python_loads_them(name):
    X = pd.read_csv(FOLDER / CASES[name].new).drop(columns="target")
    model = rb.load(FOLDER / golden.MODEL.format(name))
    rows = cells(stored(golden.PREDICTED, name))[1:]
    np.testing.assert_array_equal(model.predict(X), [int(row[0]) for row in rows])
    np.testing.assert_array_equal(model.decision_function(X), np.array([row[1:] for row in rows], float))


def data_of(name):
    if name.startswith("six-points"):
        return rb.datasets.load_six_points()
    return golden.recorded(next(iter(RECORDS)))[1:]


@pytest.mark.parametrize("name", [*TRACES, *RECORDS])
def test_a_record_replays_to_the_same_weights(name, tmp_path):
    record = rb.Trace.load(FOLDER / golden.RECORD.format(name, "npz"))
    model = record.replay(*data_of(name))
    found = [golden.hexadecimal(model.coef), golden.hexadecimal(model.intercept)]
    assert found == json.loads(stored(golden.REPLAYED))[name]
    record.save(tmp_path / "again.csv")
    assert (tmp_path / "again.csv").read_bytes() == stored(golden.RECORD, name, "csv")


@pytest.mark.parametrize("name", TRACES)
def test_a_run_shown_step_by_step_is_the_same(name, tmp_path):
    assert done("trace", *TRACES[name].split(), "-o", tmp_path / "t.csv") == stored(golden.RECORD, name, "txt")
    assert (tmp_path / "t.csv").read_bytes() == stored(golden.RECORD, name, "csv")


@pytest.mark.parametrize("name", RECORDS)
def test_a_run_in_python_is_the_same(name, tmp_path):
    golden.recorded(name)[0].save(tmp_path / "t.csv")
    assert (tmp_path / "t.csv").read_bytes() == stored(golden.RECORD, name, "csv")


def target_of(options):
    words = options.split()
    return words[words.index("--target") :][:2] if "--target" in words else []


@every_proof
def test_a_proof_still_holds(name):
    proof, path = PROOFS[name], golden.PROOF.format(name)
    for data in {proof.data, proof.table}:
        assert json.loads(done("check", path, data, *target_of(proof.options), "--json"))["holds"]


@every_proof
def test_a_proof_holds_by_the_standard_library_alone(name):
    proof, path = PROOFS[name], golden.PROOF.format(name)
    arguments = ["-m", "rosenblatt.certify.check", path, proof.table, *target_of(proof.options)]
    found = subprocess.run([sys.executable, *arguments], cwd=FOLDER, capture_output=True, text=True, check=False)
    assert found.returncode == 0, found


@every_proof
def test_the_verdict_is_the_same(name):
    proof = PROOFS[name]
    assert said("certify", proof.data, *proof.options.split())[0] == proof.code
