"""Where the server may listen, and by which names it may be called."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable

from rosenblatt.exceptions import ParameterError

__all__ = ["host_names", "is_loopback", "origins_of", "require_safe"]


def is_loopback(host: str) -> bool:
    """Return whether an address is only reached from this computer.

    Examples
    --------
    >>> is_loopback("127.0.0.1"), is_loopback("::1"), is_loopback("localhost"), is_loopback("0.0.0.0")
    (True, True, True, False)
    """
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def require_safe(host: str, *, tokens: bool, tls: bool, without_tls: bool) -> None:
    """Raise `ParameterError` if listening at this address would let strangers in, or show them what is sent.

    Parameters
    ----------
    host : str
        The address to listen at.
    tokens : bool
        Whether calls need a token.
    tls : bool
        Whether there is a certificate.
    without_tls : bool
        Whether the user accepts unencrypted connections, as behind a proxy that encrypts.
    """
    if is_loopback(host):
        return
    if not tokens:
        raise ParameterError(
            f"others can reach {host}, and without tokens they could change your models. Make one first with "
            "`rosenblatt token create`, or listen at 127.0.0.1."
        )
    if not tls and not without_tls:
        raise ParameterError(
            f"others can reach {host}, and without TLS they could read tokens and rows on the way. Give "
            "--tls-cert and --tls-key, or --no-tls behind a proxy that encrypts."
        )


def host_names(host: str, port: int, further: Iterable[str] = ()) -> frozenset[bytes]:
    """Return the values of the header Host that are answered, in lower case.

    Parameters
    ----------
    host : str
        The address listened at.
    port : int
        The port listened at.
    further : iterable of str
        Names by which people call the server, with a port where it is not this one.

    Examples
    --------
    >>> sorted(host_names("127.0.0.1", 8000, ["spam.example"]))
    [b'127.0.0.1:8000', b'[::1]:8000', b'localhost:8000', b'spam.example', b'spam.example:8000']
    """
    names: list[str] = (
        ["localhost", "127.0.0.1", "[::1]"] if is_loopback(host) or host in ("0.0.0.0", "::") else []
    )
    if host not in ("0.0.0.0", "::", "localhost"):
        names.append(f"[{host}]" if ":" in host else host)
    found = {f"{name}:{port}" for name in names}
    if port in (80, 443):
        found |= set(names)
    for name in further:
        found |= {name} if ":" in name.rpartition("]")[2] else {name, f"{name}:{port}"}
    return frozenset(each.lower().encode("ascii", "replace") for each in found)


def origins_of(hosts: Iterable[bytes], *schemes: str) -> frozenset[bytes]:
    """Return the values of the header Origin that our own pages send.

    Examples
    --------
    >>> sorted(origins_of([b"localhost:8000"], "http"))
    [b'http://localhost:8000']
    """
    return frozenset(scheme.encode() + b"://" + host for host in hosts for scheme in schemes)
