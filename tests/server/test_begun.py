"""A coroutine that was begun ends as if it had been awaited from the start."""

import asyncio

import pytest

from rosenblatt.server.guard import Begun
from tests.shared.virtual_time import run


async def at_once():
    return 5


async def later(steps):
    for _ in range(steps):
        await asyncio.sleep(1.0)
    return steps


async def fails():
    await asyncio.sleep(1.0)
    raise KeyError("x")


async def stubborn():
    """Ends in its own way when it is cancelled."""
    try:
        await asyncio.sleep(100.0)
    except asyncio.CancelledError:
        await asyncio.sleep(1.0)
        return "cleaned"


def test_what_ends_at_once_needs_no_awaiting():
    begun = Begun(at_once())
    assert (begun.is_done, begun.result) == (True, 5)


def test_what_waits_is_awaited():
    async def main():
        begun = Begun(later(3))
        assert not begun.is_done
        return await begun

    assert run(main()) == (3, 3.0)


def test_an_error_comes_through():
    async def main():
        with pytest.raises(KeyError):
            await Begun(fails())

    run(main())


def test_a_deadline_ends_it():
    async def main():
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(2.5):
                await Begun(later(10))

    assert run(main())[1] == 2.5


def test_a_cancelled_one_may_clean_up():
    async def main():
        async def waits():
            return await Begun(stubborn())

        task = asyncio.create_task(waits())
        await asyncio.sleep(1.0)
        task.cancel()
        return await task

    assert run(main()) == ("cleaned", 2.0)
