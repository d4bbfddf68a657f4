"""A CuPy without a GPU: arrays of numpy, streams that work at once, and kernels that only count.

It shows what the engine does around its kernels: in which order it works, what it keeps, and what it says where
the GPU fails. Bits are compared on a GPU.
"""

from __future__ import annotations

import ctypes
from types import ModuleType, SimpleNamespace

import numpy as np

ERRORS = {2: "MemoryAllocation", 46: "DevicesUnavailable", 100: "NoDevice", 700: "IllegalAddress"}


class CUDARuntimeError(RuntimeError):
    """What CuPy raises; it is known by its name."""

    def __init__(self, status):
        self.status = status
        super().__init__(f"cudaError{ERRORS[status]}")


class Array(np.ndarray):
    """An array on the GPU."""

    @property
    def data(self):
        """Where it lies."""
        return SimpleNamespace(ptr=self.__array_interface__["data"][0])

    device = SimpleNamespace(id=0)

    def get(self):
        """Copy it to the host."""
        return np.array(self)

    def set(self, values):
        """Copy it from the host."""
        assert values.flags.c_contiguous
        assert (values.shape, values.dtype) == (self.shape, self.dtype)
        self[...] = values


class FakeCupy(ModuleType):
    """What `rosenblatt.probes.gpu` uses of CuPy.

    `told` is called with the name of each thing that happens. It may raise, and what it returns of an event is the
    status of this. After ``lose()`` the GPU is lost: all that asks it raises, and no event is ever done.
    """

    def __init__(self, capability="80", free=1 << 40, shared=166_912):
        super().__init__("cupy")
        self.__file__, self.ndarray = "/nowhere/cupy/__init__.py", Array
        self.told = lambda name: None
        self.status, self.launched, self.capturing, self.shared_memory = 0, [], None, {}
        fake = self

        class Device:
            def __init__(self, device=0):
                self.compute_capability = capability

            def __enter__(self):
                fake.ask("Device")
                return self

            def __exit__(self, *_):
                fake.ask("setDevice")

            def synchronize(self):
                fake.ask("synchronize")

        class Event:
            ptr = 1

            def __init__(self, disable_timing=False):
                pass

            def record(self, stream):
                fake.ask("record")

        class Stream:
            ptr = 1

            def __init__(self, non_blocking=False, priority=0):
                pass

            def __enter__(self):
                return self

            def __exit__(self, *_):
                pass

            def wait_event(self, event):
                fake.ask("wait_event")

            def begin_capture(self):
                fake.capturing = []

            def end_capture(self):
                made, fake.capturing = fake.capturing, None
                fake.ask("end_capture")
                return SimpleNamespace(launch=lambda stream: [work() for work in made])

        def query(event):
            return fake.told("eventQuery") or fake.status

        def pinned(size):
            fake.ask("alloc_pinned_memory")
            return bytearray(size)

        def copy(to, source, size, kind, stream):
            fake.ask("memcpyAsync")
            ctypes.memmove(to, source, size)

        runtime = SimpleNamespace(
            getDeviceCount=lambda: fake.ask("count") or 1,
            getDeviceProperties=lambda device: {"name": b"Fake"},
            deviceGetAttribute=lambda which, device: {97: shared}[which],
            memGetInfo=lambda: fake.ask("memGetInfo") or (free, free),
            eventQuery=query,
            memcpyAsync=copy,
            CUDARuntimeError=CUDARuntimeError,
        )
        self.cuda = SimpleNamespace(
            runtime=runtime, Device=Device, Event=Event, Stream=Stream, alloc_pinned_memory=pinned
        )
        pool = SimpleNamespace(free_all_blocks=lambda: fake.ask("free_all_blocks"))
        self.get_default_memory_pool = self.get_default_pinned_memory_pool = lambda: pool

    def ask(self, name):
        """Do something on the GPU, which may be lost."""
        self.told(name)
        if self.status:
            raise CUDARuntimeError(self.status)

    def lose(self, status=700):
        """Lose the GPU."""
        self.status = status

    def zeros(self, shape, kind=np.float64):
        """Make an array."""
        self.ask("zeros")
        return np.zeros(shape, kind).view(Array)

    empty = ones = zeros

    def asarray(self, values):
        """Make an array."""
        self.ask("asarray")
        return values if isinstance(values, Array) else np.array(values).view(Array)

    def take(self, values, index, axis, out):
        """Gather rows."""
        self.ask("take")
        np.take(values, index, axis=axis, out=out)

    def isfinite(self, values, out=None):
        """Look at values."""
        self.ask("isfinite")
        return np.isfinite(values, out=out)

    def RawModule(self, code, options, backend):  # noqa: N802 - a name of CuPy
        """Compile kernels."""
        self.ask("RawModule")
        return SimpleNamespace(get_function=lambda name: Kernel(self, name))


class Kernel:
    """A kernel. An update adds 1 to the first weight of its first problem; others only count."""

    max_dynamic_shared_size_bytes = 0

    def __init__(self, fake, name):
        self.fake, self.name = fake, name

    def __call__(self, grid, block, values, shared_mem=0):
        """Launch it, or note it for a graph."""
        self.fake.shared_memory[self.name] = shared_mem
        if self.fake.capturing is None:
            self.run(values)
        else:
            self.fake.told("capture " + self.name)
            self.fake.capturing.append(lambda: self.run(values))

    def run(self, values):
        """Do the work."""
        self.fake.ask(self.name)
        self.fake.launched.append(self.name)
        if self.name.startswith("update"):
            ctypes.c_double.from_address(int(values[0])).value += 1.0


class Blas:
    """A cuBLAS that does nothing."""

    def __getattr__(self, name):
        return lambda *_: 0
