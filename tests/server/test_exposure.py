"""The server listens to strangers only with tokens, and with TLS unless its owner says otherwise."""

import pytest

from rosenblatt.exceptions import ParameterError
from rosenblatt.server.front_door import host_names, require_safe


@pytest.mark.parametrize("host", ["127.0.0.1", "::1", "localhost", "127.8.9.1"])
def test_loopback_needs_nothing(host):
    require_safe(host, tokens=False, tls=False, without_tls=False)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.2", "spam.example", "localhost.example", ""])
def test_elsewhere_needs_tokens_and_tls(host):
    with pytest.raises(ParameterError, match="without tokens"):
        require_safe(host, tokens=False, tls=True, without_tls=True)
    with pytest.raises(ParameterError, match="without TLS"):
        require_safe(host, tokens=True, tls=False, without_tls=False)
    require_safe(host, tokens=True, tls=True, without_tls=False)
    require_safe(host, tokens=True, tls=False, without_tls=True)


def test_the_names_of_hosts():
    assert host_names("192.168.1.2", 8000) == {b"192.168.1.2:8000"}
    assert host_names("0.0.0.0", 443, ["Spam.example"]) >= {b"spam.example", b"spam.example:443", b"localhost"}
    assert host_names("::1", 80) == {
        b"localhost:80",
        b"127.0.0.1:80",
        b"[::1]:80",
        b"localhost",
        b"127.0.0.1",
        b"[::1]",
    }
    assert b"spam.example:8000" not in host_names("127.0.0.1", 8000, ["spam.example:9000"])
