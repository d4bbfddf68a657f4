"""Tokens: 256 bits, kept as hashes, with scopes, an end, and an effect on a running server."""

import base64
import json
import os
import stat

import pytest

from rosenblatt.cli.main import main
from rosenblatt.exceptions import ParameterError, StorageError
from rosenblatt.server.tokens import PREFIX, TokenFile, TokenWatch, read_grants


class Clock:
    def __init__(self, now=1_000_000.0):
        self.now = now

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def file(tmp_path, clock):
    return TokenFile(tmp_path / "data", clock)


def test_a_token_has_256_bits_and_only_its_hash_is_stored(file):
    token, secret = file.create("site", read_grants(["predict"]))
    assert len(base64.urlsafe_b64decode(secret.removeprefix(PREFIX) + "=")) == 32
    written = file.path.read_text()
    assert secret not in written
    assert secret.removeprefix(PREFIX) not in written
    assert json.loads(written)["tokens"][0]["sha256"] == token.sha256
    assert len({file.create("site", read_grants(["predict"]))[1] for _ in range(5)}) == 5


@pytest.mark.skipif(os.name != "posix", reason="file permissions are those of POSIX")
def test_the_file_is_private(file):
    file.create("site", read_grants(["predict"]))
    assert stat.S_IMODE(file.path.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.path.parent.stat().st_mode) == 0o700
    file.path.chmod(0o666)
    with pytest.raises(StorageError, match="other users may write"):
        file.read()


def test_scopes_are_for_each_model(file):
    token, _ = file.create("t", read_grants(["predict", "learn:spam", "learn:spam"]))
    assert token.scopes == {"*": ("predict",), "spam": ("learn",)}
    assert token.allows("spam", "predict")
    assert token.allows("ham", "predict")
    assert token.allows("spam", "learn")
    assert not token.allows("ham", "learn")
    assert not token.allows("spam", "admin")
    only, _ = file.create("o", read_grants(["admin:spam"]))
    assert only.sees("spam")
    assert not only.sees("ham")
    assert not only.allows("spam", "predict")  # no scope implies another


@pytest.mark.parametrize("words", [[], ["write"], ["learn:../x"], ["learn:a b"], ["predict:" + "a" * 65]])
def test_bad_scopes_are_refused(words):
    with pytest.raises(ParameterError):
        read_grants(words)


def test_a_token_expires(file, clock):
    token, secret = file.create("t", read_grants(["predict"]), days=2)
    watch = TokenWatch(file, ticks=clock)
    assert watch.find(secret) == token
    clock.now += 2 * 86_400 - 1
    assert watch.find(secret) == token
    clock.now += 1
    assert watch.find(secret) is None


def test_a_running_server_notices_new_and_revoked_tokens(file, clock):
    watch = TokenWatch(file, every=1.0, ticks=clock)
    assert not watch.is_on()
    _, secret = file.create("t", read_grants(["predict"]))
    assert not watch.is_on()
    clock.now += 1.0
    assert watch.is_on()
    assert watch.find(secret) is not None
    file.revoke("t")
    clock.now += 1.0
    assert watch.find(secret) is None
    assert watch.is_on()  # without tokens left, nobody may call
    file.path.unlink()
    clock.now += 1.0
    assert watch.is_on()
    assert watch.find(secret) is None


def test_revoking_needs_one_token(file):
    first, _ = file.create("t", read_grants(["predict"]))
    second, _ = file.create("t", read_grants(["predict"]))
    with pytest.raises(ParameterError, match="several"):
        file.revoke("t")
    with pytest.raises(ParameterError, match="no token"):
        file.revoke("u")
    assert file.revoke(first.id) == first
    assert file.read() == [second]


@pytest.mark.parametrize(
    "content", [b"", b"{}", b"[]", b'{"version":2,"tokens":[]}', b'{"version":1,"tokens":[{}]}']
)
def test_a_damaged_file_lets_nobody_in(file, content):
    file.create("t", read_grants(["predict"]))
    file.path.write_bytes(content)
    with pytest.raises(StorageError):
        TokenWatch(file)


def test_a_file_that_cannot_be_read_any_more_lets_nobody_in(file, clock, caplog):
    _, secret = file.create("t", read_grants(["predict"]))
    watch = TokenWatch(file, every=1.0, ticks=clock)
    good = file.path.read_bytes()
    for change in (lambda: file.path.write_bytes(b"{"), lambda: file.path.chmod(0o666), unreadable(file)):
        assert watch.find(secret) is not None
        change()
        clock.now += 1.0
        assert watch.find(secret) is None
        assert watch.is_on()
        clock.now += 1.0
        assert watch.find(secret) is None
        file.path.unlink(missing_ok=True) if file.path.is_file() else file.path.rmdir()
        file.path.write_bytes(good)
        file.path.chmod(0o600)
        clock.now += 1.0
    assert watch.find(secret) is not None
    assert [record.message.count("Nobody may call") for record in caplog.records] == [1, 1, 1]


def unreadable(file):
    def change():
        file.path.unlink()
        file.path.mkdir()

    return change


def test_every_hash_is_compared(file, monkeypatch):
    """Leaving the loop at the first match would tell where a token stands."""
    made = [file.create(str(n), read_grants(["predict"])) for n in range(4)]
    watch = TokenWatch(file)
    seen = []
    import rosenblatt.server.tokens as module

    real = module.hmac.compare_digest
    monkeypatch.setattr(module.hmac, "compare_digest", lambda a, b: (seen.append(a), real(a, b))[1])
    assert watch.find(made[0][1]) == made[0][0]
    assert len(seen) == 4


def test_the_commands(tmp_path, capsys):
    folder = ["--data", str(tmp_path / "d")]
    assert main(["token", "create", "site", "--scope", "predict", "--scope", "learn:spam", *folder]) == 0
    out, err = capsys.readouterr()
    assert out.startswith(PREFIX)
    assert out.count("\n") == 1
    assert "only time" in err
    assert main(["token", "create", "old", "--scope", "admin", "--forever", "--json", *folder]) == 0
    made = json.loads(capsys.readouterr().out)
    assert made["expires"] is None
    assert made["scopes"] == {"*": ["admin"]}
    assert main(["token", "list", *folder]) == 0
    listed = capsys.readouterr().out
    assert "predict, learn:spam  expires" in listed
    assert "does not expire" in listed
    assert PREFIX not in listed
    assert main(["token", "revoke", made["id"], *folder]) == 0
    assert main(["token", "list", "--json", *folder]) == 0
    assert [each["name"] for each in json.loads(capsys.readouterr().out.partition("\n")[2])] == ["site"]
    assert main(["token", "revoke", "nobody", *folder]) == 2
    assert main(["token", "create", "x", "--scope", "write", *folder]) == 2
    assert "no scope 'write'" in capsys.readouterr().err
