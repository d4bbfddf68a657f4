"""`rosenblatt train --workers` and `--dask`: models from globs of files, by a cluster."""

import json
import re
import shutil
import subprocess

import numpy as np
import pytest

import rosenblatt as rb
from rosenblatt.cli.main import main
from rosenblatt.exceptions import ParameterError
from rosenblatt.registry import able_in_words
from tests.shared.clusters import workers_environment

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")]


@pytest.fixture(scope="module")
def address():
    import dask
    from distributed import LocalCluster

    with (
        dask.config.set({"distributed.nanny.pre-spawn-environ": workers_environment()}),
        LocalCluster(n_workers=1, threads_per_worker=2, processes=True, dashboard_address=":0") as cluster,
    ):
        yield cluster.scheduler_address


@pytest.fixture
def files(tmp_path):
    rng = np.random.default_rng(0)
    for k in range(3):
        lines = ["size,colour,label"]
        for size, colour in zip(rng.normal(50, 9, 40), rng.choice(["red", "blue"], 40), strict=True):
            lines.append(f"{size:.3f},{colour},{'big' if size + 9 * (colour == 'red') > 55 else 'small'}")
        (tmp_path / f"{k}.csv").write_text("\n".join(lines) + "\n")
    return f"{tmp_path}/*.csv"


def test_a_model_of_a_cluster_predicts_files(address, files, tmp_path, capsys):
    how = ["-o", str(tmp_path / "m"), "--max-iter", "30", "--checkpoint", "1", "--dask", address, "--json"]
    assert main(["train", files, *how]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["rows"], told["features"], told["passes"] > 0) == (120, 3, True)
    model = rb.load(tmp_path / "m")
    assert model[-1].mixing_.partitions == 3
    assert rb.evaluate(tmp_path / "m", files).accuracy > 0.85
    assert not list(tmp_path.glob(".m.checkpoint"))


def test_one_file_gives_the_weights_of_a_local_run(address, files, tmp_path):
    from rosenblatt.distributed.cluster_files import train_on_cluster

    file = tmp_path / "1.csv"
    far = train_on_cluster(file, "perceptron", client=address, parameters={"max_iter": 9}, scale=None)
    near = rb.train(file, "perceptron", parameters={"max_iter": 9, "decide": False}, scale=True)
    assert far.estimator.coef_.tobytes() == near.estimator.coef_.tobytes()
    assert far.estimator.intercept_.tobytes() == near.estimator.intercept_.tobytes()


def test_the_default_learner_is_that_of_one_machine(address, files, tmp_path):
    from rosenblatt.distributed.cluster_files import train_on_cluster

    sparse = tmp_path / "t.svm"
    sparse.write_text("1 1:1 3:2\n-1 2:1\n1 1:2\n-1 2:3\n")
    for file, own in (tmp_path / "1.csv", {"C": 0.5}), (sparse, {"tie": "half"}):
        parameters = {"max_iter": 9, **own}
        far = train_on_cluster(file, client=address, parameters=parameters)
        near = rb.train(file, parameters=parameters)
        assert far.summary.learner == near.summary.learner
        assert far.estimator.coef_.tobytes() == near.estimator.coef_.tobytes()


def test_what_stays_on_one_machine_is_refused(address, files, tmp_path, capsys):
    from rosenblatt.distributed.cluster_files import train_on_cluster

    for extra, words in (
        (["--dask", address, "--workers", "2"], "Drop one of them"),
        (["--dask", address, "--holdout", "0.2"], "needs all rows on one machine"),
        (["--dask", address, "--learner", "pocket"], "pocket is not trained on a cluster"),
        (["--dask", address, "--learner", "prank"], f"cluster; {able_in_words('mixing')} are."),
    ):
        assert main(["train", files, "-o", str(tmp_path / "m"), *extra]) == 2
        assert words in capsys.readouterr().err
    with pytest.raises(ParameterError, match="A cluster reads files"):
        train_on_cluster("@iris", client=address)


@pytest.mark.slow
def test_workers_of_this_machine(files, tmp_path, capsys):
    assert main(["train", files, "-o", str(tmp_path / "m"), "--max-iter", "9", "--workers", "2"]) == 0
    captured = capsys.readouterr()
    assert "starting 2 worker processes\n" in captured.err
    assert re.search(r"3 partitions on 2 threads of tcp://\S+\n", captured.err)
    assert "120 rows" in captured.out


def test_idle_threads_are_named(address, files, tmp_path, capsys):
    how = ["-o", str(tmp_path / "m"), "--max-iter", "2", "--dask", address]
    assert main(["train", str(tmp_path / "1.csv"), *how]) == 0
    told = capsys.readouterr().err
    assert f"connecting to {address}\n" in told
    assert f"1 partition on 2 threads of {address}; 1 of the threads stay idle" in told


@pytest.mark.parametrize("wrong", ["scheduler", "tcp://127.0.0.1", "http://127.0.0.1:8786"])
def test_what_is_no_address_is_named_at_once(wrong, files, tmp_path, capsys):
    assert main(["train", files, "-o", str(tmp_path / "m"), "--dask", wrong]) == 2
    told = capsys.readouterr().err
    assert f"{wrong!r} is not the address of a scheduler. Write it as tcp://host:8786." in told
    assert "Traceback" not in told


@pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl makes the certificates")
def test_encrypted_connections(files, tmp_path, capsys):
    """A `tls://` scheduler takes those who have a certificate, named in Dask's configuration, and no others."""
    import dask
    from distributed import LocalCluster, Security

    key, certificate = str(tmp_path / "key.pem"), str(tmp_path / "certificate.pem")
    made = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=cluster"]
    subprocess.run([*made, "-keyout", key, "-out", certificate], check=True, capture_output=True)
    own = {f"tls_{who}_{what}": file for who in ("scheduler", "worker", "client") for what, file in
           (("cert", certificate), ("key", key))}  # fmt: skip
    security = Security(require_encryption=True, tls_ca_file=certificate, **own)
    local = {"processes": False, "n_workers": 1, "threads_per_worker": 1, "dashboard_address": ":0"}
    with LocalCluster(protocol="tls", security=security, **local) as cluster:
        train = ["train", files, "-o", str(tmp_path / "m"), "--max-iter", "3", "--dask", cluster.scheduler_address]
        assert cluster.scheduler_address.startswith("tls://")
        assert main(train) == 2
        assert "asks for certificates, but Dask's configuration names none" in capsys.readouterr().err
        tls = {"ca-file": certificate, "client.cert": certificate, "client.key": key}
        with dask.config.set({f"distributed.comm.tls.{name}": file for name, file in tls.items()}):
            assert main(train) == 0
        assert "120 rows" in capsys.readouterr().out
