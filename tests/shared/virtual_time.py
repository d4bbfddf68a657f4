"""An event loop in which time passes only when nothing else can happen: deadlines without waiting."""

import asyncio
import selectors


class _Selector:
    """A selector that does not wait: the loop's time jumps forward instead."""

    def __init__(self, loop):
        self.real, self.loop = selectors.DefaultSelector(), loop

    def select(self, timeout=None):
        ready = self.real.select(0)
        if not ready:
            assert timeout is not None, "nothing will ever happen in this loop"
            self.loop.now += timeout
        return ready

    def __getattr__(self, name):
        return getattr(self.real, name)


class VirtualLoop(asyncio.SelectorEventLoop):
    """A loop whose clock jumps to the next timer when nothing is ready."""

    def __init__(self):
        self.now = 0.0
        super().__init__(_Selector(self))

    def time(self):
        return self.now


def run(coroutine):
    """Run a coroutine in virtual time, and return its result and the seconds that passed."""
    loop = VirtualLoop()
    try:
        result = loop.run_until_complete(coroutine)
        return result, loop.now
    finally:
        loop.close()
