"""Models to serve, and calls of a server without a network."""

from __future__ import annotations

import asyncio
import warnings
from contextlib import asynccontextmanager, contextmanager

import httpx
import numpy as np

import rosenblatt as rb
from rosenblatt.server.application import application
from rosenblatt.server.front_door import ALL_CALLS
from rosenblatt.server.host import Host
from rosenblatt.server.messages import new_id

LABELS = ["a", "b", "c"]


def table(n=40, seed=0, classes=3):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 4)).round(2)
    return X, np.array(LABELS)[np.argmax(X[:, :classes], axis=1)]


def quiet(fit):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return fit()


def trained(learner, classes=3):
    return quiet(lambda: learner.fit(*table(classes=classes)))


@contextmanager
def hosted(folder, sources, **options):
    host = Host(folder, sources, **options)
    try:
        yield host
    finally:
        host.close()


class Caller:
    """Calls of one server."""

    def __init__(self, client, name):
        self.client, self.name = client, name

    async def post(self, call, body, key=None, name=None):
        headers = {} if key is None else {"Idempotency-Key": key}
        return await self.client.post(f"/v1/models/{name or self.name}/{call}", json=body, headers=headers)

    async def learn(self, rows, labels, key=None, **more):
        return await self.post("learn", {"rows": rows, "labels": labels, **more}, key or str(new_id()))

    async def get(self, path, **query):
        return await self.client.get(path, params=query)

    async def of_model(self, call, **query):
        return await self.get(f"/v1/models/{self.name}/{call}".rstrip("/"), **query)


@asynccontextmanager
async def calling(folder, sources, *, name="m", **options):
    """Serve models in this event loop."""
    host = Host(folder, sources, **options)
    host.start()
    transport = httpx.ASGITransport(application(host, calls=ALL_CALLS))
    try:
        async with httpx.AsyncClient(transport=transport, base_url="http://server") as client:
            caller = Caller(client, name)
            caller.host = host
            yield caller
    finally:
        await asyncio.to_thread(host.close)


def saved(model, folder, name="m"):
    path = folder / f"{name}.model"
    rb.save(model, path)
    return {name: path}


async def noted(host):
    """Wait until the snapshot that is due after the last event, if any, is written and noted."""
    model = host.models["m"]
    await host.special(model, lambda _: None)  # an event is answered before its snapshot begins
    if host._saving is not None:
        await asyncio.to_thread(host._saving.join)
    await host.special(model, lambda _: None)
