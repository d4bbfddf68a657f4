"""Connections: a cap on their number, and a deadline for whatever a client owes."""

import asyncio
import errno
import os
import socket
import ssl
from contextlib import contextmanager

import pytest
import uvicorn
from uvicorn.server import ServerState

from rosenblatt.server import connection
from rosenblatt.server.connection import MOST_HEADER_BYTES, SLOWEST_READER, Listener, make_protocol
from tests.shared.virtual_time import VirtualLoop

REQUEST = b"GET / HTTP/1.1\r\nhost: localhost\r\n\r\n"


class Wire(asyncio.Transport):
    """A transport that keeps what is written; a client that reads nothing leaves it waiting, as asyncio does."""

    def __init__(self):
        super().__init__()
        self.written, self.closed, self.reads, self.waiting, self.high = b"", False, True, 0, 65_536
        self.protocol, self.lost = None, False

    def set_write_buffer_limits(self, high=None, low=None):
        self.high = high

    def get_write_buffer_size(self):
        return self.waiting

    def write(self, data):
        assert not self.closed
        self.written += bytes(data)
        if not self.reads:
            self.waiting += len(data)
            if self.waiting > self.high and not self.protocol.flow.write_paused:
                self.protocol.pause_writing()

    def read(self):
        """Let the client read all."""
        self.waiting = 0
        if self.protocol.flow.write_paused:
            self.protocol.resume_writing()
        if self.closed:
            self._end()

    def close(self):
        self.closed = True
        if not self.waiting:
            self._end()

    def abort(self):
        self.closed = True
        self._end()

    def _end(self):
        if not self.lost:
            self.lost = True
            self.protocol.connection_lost(None)

    def is_closing(self):
        return self.closed

    def pause_reading(self):
        pass

    def resume_reading(self):
        pass


async def hello(scope, receive, send):
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
    await send({"type": "http.response.body", "body": b"hi"})


async def large(scope, receive, send):
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"1048576")]})
    await send({"type": "http.response.body", "body": bytes(1 << 20)})


async def slow(scope, receive, send):
    await asyncio.sleep(1000.0)
    await hello(scope, receive, send)


class Place:
    """A server without sockets, in virtual time."""

    def __init__(self, most=10, app=hello):
        self.loop = VirtualLoop()
        config = uvicorn.Config(
            app,
            http=make_protocol(most, 10.0, 30.0),
            ws="none",
            log_config=None,
            h11_max_incomplete_event_size=MOST_HEADER_BYTES,
            timeout_keep_alive=60,
        )
        config.load()
        self.config, self.state = config, ServerState()

    def connect(self):
        wire = Wire()
        wire.protocol = protocol = self.config.http_protocol_class(
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


UNREAD_BODY = b"GET / HTTP/1.1\r\nhost: localhost\r\ncontent-length: 1000000\r\n\r\n"


def test_a_body_that_nobody_reads_ends_at_the_deadline(place):
    """Not even a byte now and then extends it."""
    protocol, wire = place.connect()
    protocol.data_received(UNREAD_BODY)
    place.wait(0.5)
    assert wire.written.startswith(b"HTTP/1.1 200")
    for _ in range(29):
        protocol.data_received(b"x")
        place.wait(1.0)
    assert not wire.closed
    place.wait(1.0)
    assert wire.lost


def test_a_body_that_nobody_reads_may_arrive_in_time(place):
    protocol, wire = place.connect()
    protocol.data_received(UNREAD_BODY)
    place.wait(20.0)
    protocol.data_received(bytes(1_000_000))
    place.wait(1.0)
    protocol.data_received(REQUEST)
    place.wait(1.0)
    assert wire.written.count(b"HTTP/1.1 200") == 2


def test_a_client_that_is_silent_after_such_a_body_ends_too(place):
    protocol, wire = place.connect()
    protocol.data_received(UNREAD_BODY)
    place.wait(1.0)
    protocol.data_received(bytes(1_000_000))
    place.wait(59.0)
    assert not wire.closed
    place.wait(1.0)
    assert wire.lost


def test_answers_that_nobody_reads_end_at_the_deadline(place):
    """Pipelined requests: one answer waits, the next ones are not made, and after a time the connection ends."""
    protocol, wire = place.connect()
    wire.reads = False
    protocol.data_received(REQUEST * 300)
    for _ in range(29):
        place.wait(1.0)
        protocol.data_received(REQUEST)
    assert wire.written.count(b"HTTP/1.1 200") == 1
    assert not wire.closed
    place.wait(1.1)
    assert wire.lost


def test_requests_that_are_sent_at_once_take_turns():
    """With 100 connections, each of them has its turn after a tenth of a second."""
    place = Place(most=200)
    others = [place.connect() for _ in range(99)]
    protocol, wire = place.connect()
    protocol.data_received(REQUEST * 3)
    place.wait(0.05)
    assert wire.written.count(b"HTTP/1.1 200") == 1
    place.wait(0.1)
    assert wire.written.count(b"HTTP/1.1 200") == 2
    others[0][0].data_received(REQUEST)
    place.wait(0.001)
    assert others[0][1].written.startswith(b"HTTP/1.1 200")  # one alone does not wait
    place.wait(0.1)
    assert wire.written.count(b"HTTP/1.1 200") == 3
    place.loop.close()


def test_an_answer_that_nobody_reads_ends_although_its_connection_was_closed(place):
    """A transport closes only once everything was read."""
    protocol, wire = place.connect()
    wire.reads = False
    protocol.data_received(b"GET / HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n")
    place.wait(1.0)
    wire.close()
    place.wait(28.0)
    assert not wire.lost
    place.wait(1.1)
    assert wire.lost


def test_a_large_answer_has_more_time():
    place = Place(app=large)
    protocol, wire = place.connect()
    wire.reads = False
    protocol.data_received(REQUEST)
    place.wait(0.1)
    wire.read()  # the headers; now the body waits
    place.wait(30.0 + (1 << 20) / SLOWEST_READER - 0.1)
    assert not wire.lost
    place.wait(0.2)
    assert wire.lost
    place.loop.close()


def test_a_new_connection_takes_the_place_of_the_slowest():
    place = Place(most=3)
    slow, idle, newer = (place.connect() for _ in range(3))
    slow[0].data_received(REQUEST[:9])
    place.wait(1.0)
    idle[0].data_received(REQUEST)
    place.wait(1.0)
    newer[0].data_received(UNREAD_BODY)
    place.wait(1.0)
    for gone in (slow, idle, newer):
        _, wire = fresh = place.connect()
        fresh[0].data_received(UNREAD_BODY)
        place.wait(1.0)
        assert gone[1].lost
        assert wire.written.startswith(b"HTTP/1.1 200")
    assert slow[1].written.startswith(b"HTTP/1.1 503")
    assert b"retry-after: 1" in slow[1].written
    place.loop.close()


def test_nobody_gives_way_while_the_server_works_for_all():
    place = Place(most=2, app=slow)
    for _ in range(2):
        protocol, _ = place.connect()
        protocol.data_received(REQUEST)
        place.wait(1.0)
    _, third = place.connect()
    assert third.written.startswith(b"HTTP/1.1 503")
    assert third.closed
    place.wait(1000.0)
    place.loop.close()


@contextmanager
def listening(most, tls=None):
    """A real socket on this computer, whose connections are answered by `hello`."""
    state = ServerState()
    config = uvicorn.Config(hello, http=make_protocol(most, 10.0, 30.0), ws="none", log_config=None)
    config.load()
    kind = config.http_protocol_class

    def make():
        return kind(config=config, server_state=state, app_state={})

    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        yield found, lambda: Listener(found, make, state, kind, tls)


def test_the_log_has_one_line_when_no_connection_can_be_accepted(monkeypatch, caplog):
    async def scenario():
        loop = asyncio.get_running_loop()
        accept, failures = loop.sock_accept, 5
        with listening(10) as (found, listen):

            async def failing(sock):
                nonlocal failures
                if failures:
                    failures -= 1
                    raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))
                return await accept(sock)

            monkeypatch.setattr(loop, "sock_accept", failing)
            monkeypatch.setattr(connection, "ACCEPT_PAUSE_SECONDS", 0.0)
            listener = listen()
            reading, writing = await asyncio.open_connection(*found.getsockname())
            writing.write(REQUEST)
            assert (await reading.readline()).startswith(b"HTTP/1.1 200")
            writing.close()
            listener.close()
            await listener.wait_closed()

    asyncio.run(scenario())
    assert [record.message.partition(":")[0] for record in caplog.records] == ["A connection cannot be accepted"]


def test_others_do_not_wait_where_slow_clients_give_way(monkeypatch, caplog):
    """Each attempt without a free descriptor ends the slowest connection, and the next one follows at once."""

    async def scenario():
        loop = asyncio.get_running_loop()
        accept, room = loop.sock_accept, 5
        with listening(100) as (found, listen):
            listener = listen()

            async def failing(sock):
                if len(listener.state.connections) >= room:
                    raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))
                return await accept(sock)

            monkeypatch.setattr(loop, "sock_accept", failing)
            monkeypatch.setattr(connection, "ACCEPT_PAUSE_SECONDS", 1000.0)
            silent = [await asyncio.open_connection(*found.getsockname()) for _ in range(40)]
            reading, writing = await asyncio.open_connection(*found.getsockname())
            writing.write(REQUEST)
            assert (await asyncio.wait_for(reading.readline(), 60)).startswith(b"HTTP/1.1 200")
            assert len(listener.state.connections) <= room
            listener.close()
            await listener.wait_closed()
            for _, each in (*silent, (reading, writing)):
                each.close()

    asyncio.run(scenario())
    assert len(caplog.records) == 1


def test_handshakes_that_do_not_end_give_way():
    """At most so many are under way; the oldest gives way."""
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)

    async def scenario():
        with listening(2, tls) as (found, listen):
            listener = listen()
            silent = [await asyncio.open_connection(*found.getsockname()) for _ in range(3)]
            assert await silent[0][0].read() == b""  # the first is closed by the server
            assert len(listener.arriving) == 2
            listener.close()
            await listener.wait_closed()
            for _, writing in silent:
                writing.close()

    asyncio.run(scenario())
