"""Every process of a server stands behind the guard, with its tokens and its TLS."""

import re
import shutil
import ssl
import subprocess
import sys

import httpx
import pytest

import rosenblatt as rb
from rosenblatt.client import Client
from rosenblatt.server.tokens import TokenFile, read_grants

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        sys.platform == "win32" or shutil.which("openssl") is None,
        reason="it needs Unix sockets, which Windows lacks, and openssl, which makes a certificate",
    ),
]


def test_tokens_and_tls_in_all_processes(tmp_path):
    rb.save(rb.Perceptron().fit([[0.0], [1.0]], ["no", "yes"]), tmp_path / "m.model")
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost",
         "-addext", "subjectAltName=DNS:localhost", "-keyout", "key.pem", "-out", "cert.pem"],
        cwd=tmp_path, check=True, capture_output=True,
    )  # fmt: skip
    _, secret = TokenFile(tmp_path / "d").create("t", read_grants(["predict", "learn"]))
    command = [sys.executable, "-m", "rosenblatt", "serve", "m.model", "--data", "d", "--port", "0"]
    command += ["--workers", "1", "--tls-cert", "cert.pem", "--tls-key", "key.pem"]
    with subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True) as server:
        try:
            port = re.search(r"https://127.0.0.1:(\d+)", server.stderr.readline())[1]
            trusted = ssl.create_default_context(cafile=tmp_path / "cert.pem")
            address = f"https://localhost:{port}"
            counted = 0
            for _ in range(6):  # connections go to either process
                with httpx.Client(base_url=address, verify=trusted) as stranger:
                    asked = {"rows": [[1.0]]}
                    assert stranger.post("/v1/models/m/predict", json=asked).status_code == 401
                    wrong = {"authorization": f"Bearer {secret}", "host": "evil.example"}
                    assert stranger.post("/v1/models/m/predict", json=asked, headers=wrong).status_code == 421
                with Client(address, secret, verify=trusted) as client:
                    learned = client.learn("m", [[1.0]], ["yes"])
                    counted += 1
                    assert client.predict("m", [[1.0]], min_version=learned.version).labels == ["yes"]
            assert learned.version == counted
        finally:
            server.terminate()
            server.stderr.read()
    assert server.returncode == 0
    left = [each.name for each in (tmp_path / "d").glob("*.figures")]
    assert len(left) <= 1
