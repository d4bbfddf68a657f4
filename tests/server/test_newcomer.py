"""The commands of docs/learn/server.md and docs/do/operations.md, run as a newcomer pastes them."""

import json
import re
import shutil
import socket
import ssl
import subprocess
import sys
from pathlib import Path

import pytest

from rosenblatt.client import Client, UnreachableError

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r"```(bash|json)\n(.*?)```", re.DOTALL)


def has_curl():
    """Whether there is a curl with --json."""
    found = shutil.which("curl")
    return (
        found is not None
        and "--json"
        in subprocess.run([found, "--help", "all"], capture_output=True, text=True, check=False).stdout
    )


pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        sys.platform == "win32" or not has_curl(),
        reason="the commands of the page need a POSIX shell, and a curl that knows --json",
    ),
]


@pytest.fixture
def shell(tmp_path):
    """A folder with commands `rosenblatt` and `python` of this environment, and a free port."""
    commands = tmp_path / "commands"
    commands.mkdir()
    for name, words in (("rosenblatt", f"{sys.executable} -m rosenblatt"), ("python", sys.executable)):
        (commands / name).write_text(f'#!/bin/sh\nexec {words} "$@"\n')
        (commands / name).chmod(0o755)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    folder = tmp_path / "work"
    folder.mkdir()

    def run(script, **options):
        ended = "trap 'kill $(jobs -p) 2>/dev/null || true' EXIT"
        whole = f"set -eu -o pipefail\nexport PATH={commands}:$PATH\n{ended}\n{script}"
        return subprocess.run(
            ["bash", "-c", whole.replace("8000", str(port))],
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
            **options,
        )

    run.folder, run.port = folder, port
    return run


def test_the_newcomers_path(shell):
    page = (ROOT / "docs" / "learn" / "server.md").read_text(encoding="utf-8").partition("## The calls")[0]
    blocks = BLOCK.findall(page)
    expected = [json.loads(text) for kind, text in blocks if kind == "json"]
    done = shell("\n".join(text for kind, text in blocks if kind == "bash"))
    assert done.returncode == 0, done.stderr
    answers = [json.loads(line) for line in re.findall(r"\{.*?\}(?=\{|\s|$)", done.stdout) if "version" in line]
    assert answers == expected
    assert expected[0]["labels"] != expected[2]["labels"]


def test_the_protocol_of_others_and_a_backup(shell):
    page = (ROOT / "docs" / "learn" / "server.md").read_text(encoding="utf-8")
    first = page.partition("## The calls")[0]
    infer = BLOCK.findall(page.partition("## The Open Inference Protocol")[2])[0][1]
    operations = (ROOT / "docs" / "do" / "operations.md").read_text(encoding="utf-8")
    backup = BLOCK.findall(operations.partition("## Backup and restore")[2])[0][1]
    erase = BLOCK.findall(operations.partition("## When someone asks")[2])[0][1]
    blocks = [text for kind, text in BLOCK.findall(first) if kind == "bash"]
    restored = "rosenblatt serve --data backup --port 8000 &\nSERVER=$!\n"
    waiting = "until curl -sf localhost:8000/readyz; do sleep 0.2; done\n"
    shown = "\necho; curl -s localhost:8000/v1/models/spam; kill $SERVER; wait $SERVER || true\n"
    ended = "wait $SERVER || true"  # the next server takes its port
    parts = [*blocks[:-1], backup, erase, f"kill $SERVER; {ended}", infer, ended, restored, waiting, shown]
    script = "\n".join(parts)
    done = shell(script)
    assert done.returncode == 0, done.stderr
    assert '"model_name":"spam"' in done.stdout
    assert '"erased":1' in done.stdout
    told = json.loads(done.stdout.splitlines()[-1])
    assert (told["version"], told["rows_learned"]) == (1, 1)


def test_the_commands_of_tokens(shell):
    operations = (ROOT / "docs" / "do" / "operations.md").read_text(encoding="utf-8")
    done = shell(BLOCK.findall(operations.partition("## Tokens")[2])[0][1])
    assert done.returncode == 0, done.stderr
    assert "predict:spam, learn:spam" in done.stdout
    assert "revoked" in done.stdout


@pytest.mark.skipif(shutil.which("openssl") is None, reason="there is no openssl here to make a certificate")
def test_tls(shell, tmp_path):
    made = shell(
        "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost "
        "-addext subjectAltName=DNS:localhost -keyout key.pem -out cert.pem\n"
        "rosenblatt train @six-points -o m.model --quiet\n"
        "rosenblatt token create me --scope predict --quiet > token\n"
    )
    assert made.returncode == 0, made.stderr
    command = [sys.executable, "-m", "rosenblatt", "serve", "m.model", "--host", "0.0.0.0", "--port", "0"]
    refused = subprocess.run(command, cwd=shell.folder, capture_output=True, text=True, timeout=120, check=False)
    assert refused.returncode == 2
    assert "without TLS" in refused.stderr
    command += ["--tls-cert", "cert.pem", "--tls-key", "key.pem"]
    with subprocess.Popen(command, cwd=shell.folder, stderr=subprocess.PIPE, text=True) as server:
        try:
            port = re.search(r"https://0.0.0.0:(\d+)", server.stderr.readline())[1]
            token = (shell.folder / "token").read_text().strip()
            trusted = ssl.create_default_context(cafile=shell.folder / "cert.pem")
            with Client(f"https://localhost:{port}", token, verify=trusted) as client:
                assert [each.name for each in client.models()] == ["m"]
            with Client(f"http://localhost:{port}", token, attempts=1) as client, pytest.raises(UnreachableError):
                client.models()
        finally:
            server.terminate()
    assert server.returncode == 0
