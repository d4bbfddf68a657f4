"""A whole server in this process, without a socket: the host, its guard and a client of them."""

import asyncio
import threading
from contextlib import contextmanager

import httpx

import rosenblatt as rb
from rosenblatt.client import new_key
from rosenblatt.server.front_door import FrontDoor
from rosenblatt.server.host import Host

PORT = 8000
ADDRESS = f"http://localhost:{PORT}"
MAIL = ["win a prize now", "see you at lunch", "free prize inside", "lunch at noon"]
SIDES = ["spam", "ham", "spam", "ham"]
PLACES = [[0.0, 0.0], [0.25, 0.0], [4.0, 0.0], [4.5, 0.25], [0.0, 4.0], [0.25, 4.5]]
TABLE = [{"age": 1.0, "city": "Ulm"}, {"age": 7.0, "city": "Bonn"}, {"age": 2.0, "city": "Ulm"}]


def save_models(folder):
    """Write a model of texts, one of numbers with three classes, and one of a table; return them by name."""
    import pandas as pd
    from sklearn.pipeline import make_pipeline

    made = {
        "spam": make_pipeline(rb.TableEncoder(bits=8), rb.Perceptron(average=True)).fit(MAIL, SIDES),
        "places": rb.Perceptron().fit(PLACES, [0, 0, 1, 1, 2, 2]),
        "people": make_pipeline(rb.TableEncoder(), rb.Perceptron()).fit(pd.DataFrame(TABLE), ["a", "b", "a"]),
    }
    for name, model in made.items():
        rb.save(model, folder / f"{name}.model")
    return {name: folder / f"{name}.model" for name in made}


class Inside(httpx.BaseTransport):
    """Sends requests to an ASGI application that runs in the event loop of another thread."""

    def __init__(self, guard):
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self.loop.run_forever, name="loop")
        self.thread.start()
        self.life = guard.app.router.lifespan_context(guard.app)
        self.door = httpx.ASGITransport(guard, raise_app_exceptions=False)
        self.run(self.life.__aenter__())

    def run(self, coroutine):
        return asyncio.run_coroutine_threadsafe(coroutine, self.loop).result()

    async def _answer(self, request):
        answer = await self.door.handle_async_request(request)
        return httpx.Response(answer.status_code, headers=answer.headers, content=await answer.aread())

    def handle_request(self, request):
        return self.run(self._answer(request))

    def close(self):
        if self.thread.is_alive():
            self.run(self.life.__aexit__(None, None, None))
            self.loop.call_soon_threadsafe(self.loop.stop)
            self.thread.join()
            self.loop.close()


@contextmanager
def serving(folder, sources=None, door=None, **options):
    """Lend a client of a server in this process; its `host` is the server's."""
    host = Host(folder, sources or {}, **options)
    try:
        door = FrontDoor(limits=host.limits) if door is None else door
        with httpx.Client(transport=Inside(door.behind(host, PORT)), base_url=ADDRESS) as client:
            client.host = host
            yield client
    finally:
        host.close()


def learn(client, name, rows, labels, key=None, **more):
    """Learn rows, and return the response."""
    headers = {"idempotency-key": key or new_key()} | more.pop("headers", {})
    return client.post(f"/v1/models/{name}/learn", json={"rows": rows, "labels": labels} | more, headers=headers)
