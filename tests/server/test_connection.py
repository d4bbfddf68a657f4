"""Connections: a cap on their number, and a deadline for the headers of each request."""

import asyncio

import pytest
import uvicorn
from uvicorn.server import ServerState

from rosenblatt.server.connection import MOST_HEADER_BYTES, guarded
from tests.shared.virtual_time import VirtualLoop

REQUEST = b"GET / HTTP/1.1\r\nhost: localhost\r\n\r\n"


class Wire(asyncio.Transport):
    """A transport that keeps what is written."""

    def __init__(self):
        super().__init__()
        self.written, self.closed = b"", False

    def write(self, data):
        assert not self.closed
        self.written += bytes(data)

    def close(self):
        self.closed = True

    def is_closing(self):
        return self.closed

    def pause_reading(self):
        pass

    def resume_reading(self):
        pass


async def hello(scope, receive, send):
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
    await send({"type": "http.response.body", "body": b"hi"})


class Place:
    """A server without sockets, in virtual time."""

    def __init__(self, most=10, seconds=10.0):
        self.loop = VirtualLoop()
        config = uvicorn.Config(
            hello,
            http=guarded(most, seconds),
            ws="none",
            log_config=None,
            h11_max_incomplete_event_size=MOST_HEADER_BYTES,
            timeout_keep_alive=60,
        )
        config.load()
        self.config, self.state = config, ServerState()

    def connect(self):
        wire = Wire()
        protocol = self.config.http_protocol_class(
            config=self.config, server_state=self.state, app_state={}, _loop=self.loop
        )
        protocol.connection_made(wire)
        return protocol, wire

    def wait(self, seconds):
        self.loop.run_until_complete(asyncio.sleep(seconds))


@pytest.fixture
def place():
    place = Place()
    yield place
    place.loop.close()


def test_a_request_in_time_is_answered(place):
    protocol, wire = place.connect()
    place.wait(9.0)
    protocol.data_received(REQUEST)
    place.wait(20.0)
    assert wire.written.startswith(b"HTTP/1.1 200")
    assert not wire.closed
    place.wait(30.0)
    protocol.data_received(REQUEST)
    place.wait(1.0)
    assert wire.written.count(b"HTTP/1.1 200") == 2


def test_slow_headers_end_at_the_deadline(place):
    protocol, wire = place.connect()
    for byte in REQUEST[:9]:
        protocol.data_received(bytes([byte]))
        place.wait(1.0)
    assert wire.written == b""
    place.wait(1.0)
    assert wire.written.startswith(b"HTTP/1.1 408")
    assert wire.closed
    protocol.data_received(REQUEST)  # what comes later is not read
    place.wait(1.0)
    assert b"200" not in wire.written


def test_a_silent_connection_ends(place):
    _, wire = place.connect()
    place.wait(10.0)
    assert wire.closed


def test_slow_headers_of_a_later_request_end_too(place):
    protocol, wire = place.connect()
    protocol.data_received(REQUEST)
    place.wait(1.0)
    for byte in REQUEST[:9]:
        protocol.data_received(bytes([byte]))
        place.wait(1.0)
    assert not wire.closed
    place.wait(1.0)
    assert wire.closed
    assert b"HTTP/1.1 408" in wire.written


def test_long_headers_are_refused(place):
    protocol, wire = place.connect()
    protocol.data_received(b"GET / HTTP/1.1\r\nhost: localhost\r\nx: " + b"a" * MOST_HEADER_BYTES)
    assert wire.written.startswith(b"HTTP/1.1 400")
    assert b"application/problem+json" in wire.written
    assert wire.closed


def test_one_connection_too_many_is_sent_away():
    place = Place(most=2)
    first, second = place.connect(), place.connect()
    _, third = place.connect()
    assert third.written.startswith(b"HTTP/1.1 503")
    assert b"retry-after: 1" in third.written
    assert third.closed
    first[0].data_received(REQUEST)
    second[0].data_received(REQUEST)
    place.wait(1.0)
    assert first[1].written.startswith(b"HTTP/1.1 200")
    assert second[1].written.startswith(b"HTTP/1.1 200")
    place.loop.close()
