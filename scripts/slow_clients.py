"""Hold a server with slow connections, and see whether an honest client is answered: exit 0 if it always is.

``python scripts/slow_clients.py [--connections 1000] [--seconds 12] [--workers 1 4]`` starts servers on this
computer, one after the other: with one and with four processes that predict, without tokens and with tokens and
TLS. Slow clients of seven kinds open connections and keep them as long as they can; when one ends, they come
again. Beside them an honest client, in a process of its own, predicts on new connections and on one that it
keeps. The slowest of its answers is printed.
"""

from __future__ import annotations

import argparse
import asyncio
import http.client
import json
import logging
import multiprocessing
import os
import random
import re
import resource
import ssl
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path

ROW = [0.5, -1.0]
NARROW = json.dumps({"rows": [ROW]}).encode()
WIDE = json.dumps({"rows": [ROW] * 500}).encode()  # its answer is large
PATIENCE = 30.0  # seconds until the honest client gives up
ATTEMPTS = 3  # a connection that it kept may have given way to others
AGAIN = 1.0  # seconds until a slow client comes again, on average
WARM = 3.0  # seconds of predictions before the slow clients come
DRIP = 0.5  # seconds between two bytes


class Slow:
    """Slow clients of one server; each kind is a coroutine that ends when the server ends its connection."""

    def __init__(self, port, tls, token):
        self.port, self.tls, self.token = port, tls, token
        self.opened = self.ended = 0
        self.kinds = [
            self.headers, self.body, self.unread_body, self.unread_body_of_a_stranger, self.pipeline,
            self.unread_answer, self.idle,
        ]  # fmt: skip

    def head(self, method, path, length, token):
        """Return the headers of a request."""
        lines = [f"{method} {path} HTTP/1.1", f"Host: localhost:{self.port}", "Content-Type: application/json"]
        lines += [f"Content-Length: {length}"] if length else []
        lines += [f"Authorization: Bearer {token}"] if token else []
        return "\r\n".join([*lines, "", ""]).encode()

    async def headers(self, reading, writing, token):
        """Send headers byte by byte."""
        await drip(reading, writing, b"GET /healthz HTTP/1.1\r\nx: " + b"a" * 10_000)

    async def body(self, reading, writing, token):
        """Send a body byte by byte."""
        writing.write(self.head("POST", "/v1/models/m/predict", 10_000, token))
        await drip(reading, writing, b" " * 10_000)

    async def unread_body(self, reading, writing, token):
        """Send a body that nobody reads."""
        writing.write(self.head("GET", "/healthz", 1_000_000, token))
        await reading.readuntil(b"}")
        await drip(reading, writing, b" " * 10_000)

    async def unread_body_of_a_stranger(self, reading, writing, token):
        """Send a body that nobody reads, because the token is wrong."""
        writing.write(self.head("POST", "/v1/models/m/predict", 1_000_000, token and "wrong"))
        if token:  # otherwise nobody refuses it, and the body is read
            await reading.readuntil(b"}")
        await drip(reading, writing, b" " * 10_000)

    async def pipeline(self, reading, writing, token):
        """Send requests without end, and read no answer."""
        writing.transport.pause_reading()
        some = self.head("GET", "/healthz", 0, token) * 50
        while not writing.is_closing():
            writing.write(some)
            await writing.drain()
            await asyncio.sleep(DRIP / 10)

    async def unread_answer(self, reading, writing, token):
        """Ask, and do not read the answer."""
        writing.transport.pause_reading()
        writing.write(self.head("POST", "/v1/models/m/predict", len(WIDE), token) + WIDE)
        await drip(
            reading, writing, b"G" * 10_000
        )  # another request, so that the end of the connection is noticed

    async def idle(self, reading, writing, token):
        """Send nothing, after the connection is made and encrypted."""
        await drip(reading, writing)

    async def keep_coming(self, number, rng):
        """Open a connection, hold it, and come again."""
        act = self.kinds[number % len(self.kinds)]
        token = self.token if number // len(self.kinds) % 2 else None
        await asyncio.sleep(rng.random() * AGAIN)
        while True:
            writing = None
            with suppress(OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, ssl.SSLError):
                reading, writing = await asyncio.open_connection(
                    "127.0.0.1",
                    self.port,
                    ssl=self.tls,
                    server_hostname="localhost" if self.tls else None,
                    limit=1024,
                )
                self.opened += 1
                await act(reading, writing, token)
            if writing is not None:
                self.ended += 1
                writing.transport.abort()
            await asyncio.sleep(AGAIN * (0.5 + rng.random()))

    async def hold(self, connections, done):
        """Let clients come until all is done."""
        rng = random.Random(0)
        tasks = [asyncio.create_task(self.keep_coming(k, rng)) for k in range(connections)]
        await done.wait()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def drip(reading, writing, content=b""):
    """Send byte by byte, until the server ends the connection."""
    for k in range(10_000):
        if writing.is_closing() or reading.at_eof():
            return
        writing.write(content[k : k + 1])
        await writing.drain()
        await asyncio.sleep(DRIP)


class Honest:
    """Predicts again and again; one time on a new connection, one time on the one that it keeps."""

    def __init__(self, port, certificate, token, seconds, asked=NARROW):
        self.asked = asked
        self.port, self.seconds = port, seconds
        self.tls = None if certificate is None else ssl.create_default_context(cafile=certificate)
        self.headers = {"Content-Type": "application/json"} | (
            {"Authorization": f"Bearer {token}"} if token else {}
        )
        self.times, self.failures, self.repeated = [], [], 0

    def run(self):
        """Predict until the time is over."""
        kept, end, turn = None, time.monotonic() + self.seconds, 0
        while time.monotonic() < end:
            turn += 1
            began = time.monotonic()
            for _ in range(ATTEMPTS):
                connection = kept if turn % 2 and kept is not None else self.connect()
                try:
                    answer = self.ask(connection)
                except (OSError, http.client.HTTPException) as error:
                    answer, kept = f"{type(error).__name__}: {error}", None
                    connection.close()
                    self.repeated += 1
                    continue
                break
            self.times.append(time.monotonic() - began)
            if answer != 200:
                self.failures.append(answer)
                connection.close()
                kept = None
            elif turn % 2:
                kept = connection
            else:
                connection.close()
            time.sleep(0.02)

    def connect(self):
        """Return a new connection."""
        if self.tls is None:
            return http.client.HTTPConnection("localhost", self.port, timeout=PATIENCE)
        return http.client.HTTPSConnection("localhost", self.port, timeout=PATIENCE, context=self.tls)

    def ask(self, connection):
        """Predict one row, and return the status."""
        connection.request("POST", "/v1/models/m/predict", self.asked, self.headers)
        answer = connection.getresponse()
        answer.read()
        return answer.status


def predict_beside(*arguments):
    """Be an honest client for a while; return the times of its answers, its failures, and how much it repeated."""
    honest = Honest(*arguments)
    honest.run()
    return honest.times, honest.failures, honest.repeated


@contextmanager
def server(folder, workers, guarded):
    """Start a server; lend its port, its certificate, and a token."""
    command = [sys.executable, "-m", "rosenblatt", "serve", "m.model", "--data", "data", "--port", "0"]
    command += ["--workers", str(workers)]
    certificate = token = None
    if guarded:
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost",
             "-addext", "subjectAltName=DNS:localhost", "-keyout", "key.pem", "-out", "cert.pem"],
            cwd=folder, check=True, capture_output=True,
        )  # fmt: skip
        command += ["--tls-cert", "cert.pem", "--tls-key", "key.pem"]
        certificate = str(folder / "cert.pem")
        made = [sys.executable, "-m", "rosenblatt", "token", "create", "t", "--scope", "predict", "--data", "data"]
        token = subprocess.run(made, cwd=folder, check=True, capture_output=True, text=True).stdout.strip()
    with (folder / "log").open("w+") as log:
        process = subprocess.Popen(command, cwd=folder, stderr=log)
        try:
            port = None
            while port is None:
                if process.poll() is not None:
                    raise SystemExit((folder / "log").read_text())
                time.sleep(0.1)
                port = re.search(r"://127\.0\.0\.1:(\d+)", (folder / "log").read_text())
            yield int(port[1]), certificate, token
            if process.poll() is not None:
                raise SystemExit("The server ended: " + (folder / "log").read_text()[-2000:])
        finally:
            process.terminate()
            process.wait(60)


async def campaign(port, certificate, token, connections, seconds):
    """Let slow clients come, and an honest one beside them; return the slow ones, and what the honest one got."""
    tls = None if certificate is None else ssl.create_default_context(cafile=certificate)
    slow, done = Slow(port, tls, token), asyncio.Event()
    loop, one = asyncio.get_running_loop(), (port, certificate, token)
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as another:
        # Each process of the server loads what it needs with its first predictions.
        await loop.run_in_executor(another, predict_beside, *one, WARM, WIDE)
        holding = asyncio.create_task(slow.hold(connections, done))
        await asyncio.sleep(2 * AGAIN)
        honest = await loop.run_in_executor(another, predict_beside, *one, seconds)
        done.set()
        await holding
    return slow, honest


def main(arguments=None):
    """Run all servers; return 0 if the honest client was always answered."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--connections", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=12.0)
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 4])
    options = parser.parse_args(arguments)
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    logging.getLogger("asyncio").setLevel(logging.CRITICAL)  # it notes each connection that a server ends
    failed = False
    for guarded in (False, True):
        for workers in options.workers:
            with tempfile.TemporaryDirectory() as name:
                folder = Path(name)
                make_model(folder / "m.model")
                with server(folder, workers, guarded) as (port, certificate, token):
                    both = campaign(port, certificate, token, options.connections, options.seconds)
                    slow, (times, failures, repeated) = asyncio.run(both)
            times.sort()
            print(
                f"{workers} workers, {'tokens and TLS' if guarded else 'no tokens'}: {options.connections} slow "
                f"clients opened {slow.opened} connections, {slow.ended} of which ended; the honest one got "
                f"{len(times) - len(failures)} of {len(times)} answers and repeated {repeated}, "
                f"median {times[len(times) // 2] * 1000:.0f} ms, slowest {times[-1] * 1000:.0f} ms",
                *failures[:3], flush=True,
            )  # fmt: skip
            failed |= bool(failures) or not times
    return int(failed)


def make_model(path):
    """Write a model of two columns."""
    import rosenblatt as rb

    rb.save(rb.Perceptron().fit([[0.0, 1.0], [1.0, 0.0]], ["no", "yes"]), path)


if __name__ == "__main__":
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    sys.exit(main())
