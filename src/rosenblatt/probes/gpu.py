"""The engine of one NVIDIA GPU: the library's loop in a blocked form that gives the same bits.

Rows go through in blocks of 256. A matrix product scores a block by the weights at its start; a walk corrects the
scores by the Gram matrix of the block, in whole numbers, and decides each row whose side a proved bound leaves no
doubt of; the few others are scored as the loop does it. The mistakes are then added in order. The kernels are in
`kernels.cu`; the page "Probes on a GPU" of the documentation derives the bound.
"""

from __future__ import annotations

import ctypes
import glob
import os
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from functools import cache
from importlib import import_module, resources
from typing import Any, NamedTuple

import numpy as np

from rosenblatt.exceptions import DeviceError, NonFiniteError, TrainingOverflowError
from rosenblatt.probes.engine import KINDS, ON_CPU, Matrix, Plan, Problems, States
from rosenblatt.stopping import stop_if_interrupted
from rosenblatt.typing import Floats, Ints

__all__ = ["GpuEngine", "Shape", "require_gpu"]

BLOCK_ROWS = 256  # rows whose mistakes are known only after a walk; `B` of the kernels
GROUP_ROWS = 16_384  # rows that are widened at a time, and launched as one graph
BLOCK_CHUNKS = BLOCK_ROWS // 32
WORKSPACE_BYTES = 32 << 20  # bytes of cuBLAS for each stream
OVERHEAD_BYTES = 512 << 20  # bytes that compiled kernels, graphs and cuBLAS take besides
USED_SHARE = 0.95  # of the free memory is used at most
EXACT_VISITS = 2**29  # so many visits times a float32 value need no rounding
LARGEST_WHOLE = 2.0**52
MOST_PROBLEM_GROUPS = 4
URGENT_PRIORITY = -5  # the priority of what decides rows, above that of what prepares the next ones
LEAST_ACTIVE_SHARE = 0.8  # problems lie side by side anew when more than a fifth have ended
FEW_PROBLEMS = 2  # problems that are scored without cuBLAS
TILE_STAGES, TILE_DEPTH, TILE_PITCH = 3, 32, 4  # of `update_tiles`
BYTES_OF_A_PROBLEM = 32 * 8 + (BLOCK_ROWS + BLOCK_ROWS // 4) * 8 + 16  # `Shared` of `walk`
BYTES_OF_WALK = BLOCK_ROWS * 64 * 4 + BLOCK_ROWS * 8 + BLOCK_CHUNKS * 8  # besides
MEASURED_SHARED_BYTES = 227 << 10  # bytes of shared memory of a block, on the GPU that shapes were measured on
SHARED_MEMORY_ATTRIBUTE = 97  # the attribute of a GPU: bytes of shared memory that a block may ask for
NEVER_VISIT = 2**62
LEAST_CAPABILITY = 80  # 8.0: the kernels copy by `cp.async`
INSTALL = (
    "Install it with its parts of CUDA: pip install 'cupy-cuda13x[ctk]', or 'cupy-cuda12x[ctk]' for an older "
    "driver. Or use " + ON_CPU + "."
)
ERRORS_OF_CUDA = {
    "CUDARuntimeError",
    "CUDADriverError",
    "CUBLASError",
    "CompileException",
    "NVRTCError",
    "_BlasError",
}
NOT_READY_STATUS = 600  # of CUDA, about work that goes on
MULTIPROCESSORS = 132  # of the GPU that shapes were measured on


class Shape(NamedTuple):
    """How work is laid out on the GPU; it changes times and no bits."""

    groups: int  # of problems, each in a stream of its own
    warps: int  # that walk the rows of one problem
    problems: int  # that share a copy of a block's Gram entries
    tile: tuple[int, int, int, int] | None  # of `update_tiles`: PW, FW, MT, NT

    @classmethod
    def of(cls, k: int, shared: int = MEASURED_SHARED_BYTES) -> Shape:
        """Return what was fastest for k problems, of what fits into the shared memory of a block."""
        groups = 1 if k < 768 else 2 if k < 2048 else MOST_PROBLEM_GROUPS
        warps = 8 if k <= 132 else 4 if k <= 528 else 2 if k <= 1056 else 1
        problems = min(16 // warps, -(-k // MULTIPROCESSORS), (shared - BYTES_OF_WALK) // BYTES_OF_A_PROBLEM)
        tiles = {16: (1, 4, 1, 1), 256: (4, 2, 1, 2), 1056: (4, 2, 2, 4)}
        tile = next((tile for most, tile in tiles.items() if k <= most), (2, 2, 2, 4))
        return cls(groups, warps, problems, tile)

    @property
    def macros(self) -> dict[str, int]:
        """What the kernels are compiled with."""
        threads = max(128, 32 * self.warps * self.problems)
        tile = dict(zip(("PW", "FW", "MT", "NT"), self.tile or (1, 4, 1, 1), strict=True))
        return {"WARPS": self.warps, "PROBLEMS": self.problems, "CTAS": max(1, min(8, 512 // threads)), **tile}


@cache
def _cupy() -> Any:
    try:
        return import_module("cupy")
    except Exception as error:
        missing = isinstance(error, ModuleNotFoundError) and error.name == "cupy"
        fault = "is not installed" if missing else f"cannot be loaded ({_line(error)})"
        raise DeviceError(f"The GPU engine needs CuPy, which {fault}. " + INSTALL) from error


def _line(error: Exception) -> str:
    """Return the first line of what an error says."""
    return next((line.strip() for line in str(error).splitlines() if line.strip("= ")), type(error).__name__)


def require_gpu(device: int = 0) -> str:
    """Return the name of the GPU, or raise `DeviceError` that says what is missing."""
    cupy = _cupy()
    try:
        count = cupy.cuda.runtime.getDeviceCount()
        name = cupy.cuda.runtime.getDeviceProperties(device)["name"].decode() if device < count else ""
        capability = int(cupy.cuda.Device(device).compute_capability) if name else 0
    except cupy.cuda.runtime.CUDARuntimeError as error:
        raise DeviceError(f"No NVIDIA GPU can be used: {error}. Use " + ON_CPU + ".") from error
    if not name:
        raise DeviceError(f"There is no NVIDIA GPU number {device}: {count} were found. Use " + ON_CPU + ".")
    if capability < LEAST_CAPABILITY:
        raise DeviceError(
            f"The GPU {name} has compute capability {capability / 10}, and the GPU engine needs 8.0 or more. Use "
            + ON_CPU
            + "."
        )
    return str(name)


@contextmanager
def _told(what: str) -> Iterator[None]:
    """Turn errors of CUDA, and those of CuPy about missing parts of CUDA, into sentences."""
    try:
        yield
    except Exception as error:
        kind = type(error).__name__
        if kind == "OutOfMemoryError" or "MemoryAllocation" in str(error) or "ALLOC_FAILED" in str(error):
            raise DeviceError(
                f"The memory of the GPU ran out while {what}; another program may use it. Try again, train fewer "
                "problems at a time, or use " + ON_CPU + "."
            ) from error
        if kind in ERRORS_OF_CUDA:
            raise DeviceError(
                f"The GPU failed while {what}: {error}. Start Python anew to use the GPU again, or use "
                + ON_CPU
                + "."
            ) from error
        if isinstance(error, ImportError | OSError) or (kind == "RuntimeError" and _of_parts(str(error))):
            raise DeviceError(f"CuPy lacks a part of CUDA ({_line(error)}). " + INSTALL) from error
        raise


def _of_parts(message: str) -> bool:
    return "failed to load" in message or "CUDA headers" in message


class _BlasError(Exception):
    pass


REAL, REAL_SUMS = 1, 70  # float64, and sums of float64, as cuBLAS names them
_ONE, _ZERO = ctypes.c_double(1.0), ctypes.c_double(0.0)
_pointer = ctypes.c_void_p


class _Blas:
    """The two matrix products, by cuBLAS through ctypes: CuPy refuses to call it while a graph is captured."""

    def __init__(self, cupy: Any, stream: Any) -> None:
        lib = _cublas()
        self._handle, self._lib = ctypes.c_void_p(), lib
        self._check(lib.cublasCreate_v2(ctypes.byref(self._handle)))
        self._workspace = cupy.empty(WORKSPACE_BYTES, np.uint8)
        self._check(lib.cublasSetStream_v2(self._handle, ctypes.c_void_p(stream.ptr)))
        pointer, size = ctypes.c_void_p(self._workspace.data.ptr), ctypes.c_size_t(WORKSPACE_BYTES)
        self._check(lib.cublasSetWorkspace_v2(self._handle, pointer, size))

    def score(self, x: int, w: int, out: int, shape: tuple[int, int, int], pitch: int) -> None:
        """Write <w_p, x_r> to out[p, r]; `shape` is the number of rows x, of w, and their length."""
        rows, weights = (_pointer(x), REAL, pitch), (_pointer(w), REAL, pitch)
        scores = (_pointer(out), REAL, shape[0])
        one, zero = ctypes.byref(_ONE), ctypes.byref(_ZERO)
        multiply = self._lib.cublasGemmEx
        self._check(multiply(self._handle, 1, 0, *shape, one, *rows, *weights, zero, *scores, REAL_SUMS, -1))

    def gram(self, x: int, out: int, n: int, d: int, pitch: int, count: int) -> None:
        """Write the upper triangle of the Gram matrix, in three quarters of it, of `count` blocks of n rows."""
        half, size = n // 2, 8  # bytes of a number
        step, room = ctypes.c_longlong(n * pitch), ctypes.c_longlong(n * n)
        one, zero = ctypes.byref(_ONE), ctypes.byref(_ZERO)
        multiply = self._lib.cublasGemmStridedBatchedEx
        for first, width in ((0, n), (half, half)):  # rows from `first`, half of them, by columns from `first`
            rows = (_pointer(x + first * pitch * size), REAL, pitch, step)
            products = (_pointer(out + first * (n + 1) * size), REAL, n, room)
            shape = (width, half, d)
            self._check(
                multiply(self._handle, 1, 0, *shape, one, *rows, *rows, zero, *products, count, REAL_SUMS, -1)
            )

    def _check(self, status: int) -> None:
        if status:
            raise _BlasError(
                "CUBLAS_STATUS_ALLOC_FAILED" if status == 3 else f"cuBLAS answered with status {status}"
            )

    def close(self) -> None:
        if self._handle:
            self._lib.cublasDestroy_v2(self._handle)
        self._handle = ctypes.c_void_p()


@cache
def _cublas() -> Any:
    """Load the cuBLAS that CuPy loads."""
    if os.environ.get("CUBLAS_EMULATE_DOUBLE_PRECISION", "0") not in ("", "0"):
        raise DeviceError(
            "CUBLAS_EMULATE_DOUBLE_PRECISION is set, but the proof needs float64 products. Unset it."
        )
    _cupy().ones((2, 2)).dot(_cupy().ones((2, 2)))  # makes CuPy load it
    paths = []
    with suppress(OSError), open("/proc/self/maps") as maps:  # of Linux
        paths = [line.split()[-1] for line in maps if "libcublas.so" in line]
    root = os.path.dirname(os.path.dirname(str(_cupy().__file__)))
    paths += [*glob.glob(f"{root}/nvidia/*/lib/libcublas.so*"), "libcublas.so.13", "libcublas.so.12"]
    for path in paths:
        with suppress(OSError):
            return ctypes.CDLL(path)
    raise DeviceError("cuBLAS was not found. " + INSTALL)


class _Kernels:
    """The kernels, compiled with some macros; CuPy keeps the result on disk."""

    def __init__(self, macros: tuple[tuple[str, int], ...]) -> None:
        source = resources.files("rosenblatt.probes").joinpath("kernels.cu").read_text()
        options = ("-std=c++17", *(f"-D{name}={value}" for name, value in macros))
        self._module = _cupy().RawModule(code=source, options=options, backend="nvrtc")
        self._found: dict[tuple[str, int], Any] = {}

    def __call__(self, name: str, memory: int = 0) -> Any:
        """Return a kernel that may take so many bytes of shared memory."""
        if (name, memory) not in self._found:
            self._found[name, memory] = kernel = self._module.get_function(name)
            if memory:
                kernel.max_dynamic_shared_size_bytes = memory
        return self._found[name, memory]

    def run(self, name: str, grid: tuple[int, ...], threads: int, *values: Any, memory: int = 0) -> None:
        """Launch a kernel: int is int32, float is float64, an array is its address, None is no array."""
        self(name, memory)(grid, (threads,), tuple(map(_argument, values)), shared_mem=memory)


def _argument(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value
    if isinstance(value, int):
        return np.int32(value)
    return np.float64(value) if isinstance(value, float) else _at(value)


@cache
def _kernels(device: int, macros: tuple[tuple[str, int], ...]) -> _Kernels:
    return _Kernels(macros)


@cache
def _tensor_cores_are_chains(device: int) -> bool:
    """Test whether float64 tensor cores add products in order, each fused; this is not documented."""
    cupy = _cupy()
    if int(cupy.cuda.Device(device).compute_capability) < 90:
        return False
    kernel = _kernels(device, _macros({}, Shape.of(1)))("chains")
    random, differ, count = np.random.RandomState(0), cupy.zeros(1, np.uint32), 2000
    for spread in (0, 1, 30):
        numbers = [
            cupy.asarray(
                random.standard_normal((count, size)) * 2.0 ** random.randint(-spread, spread + 1, (count, size))
            )
            for size in (256, 128, 128)
        ]
        numbers[0] *= cupy.asarray(random.randint(0, 2, (count, 256)))  # rows that are no mistakes add 0
        kernel((count,), (32,), (*numbers, differ))
    return int(differ[0]) == 0


def _macros(flags: dict[str, int], shape: Shape) -> tuple[tuple[str, int], ...]:
    return tuple(sorted({"KIND": 0, "WHOLE": 0, "AVERAGE": 0, "JUDGE": 0, **flags, **shape.macros}.items()))


def _at(array: Any, offset: int = 0) -> Any:
    """Return the address of an element, as kernels take it; 0 for None."""
    return np.uintp(0 if array is None else array.data.ptr + offset * array.itemsize)


class _Crew:
    """Problems whose weights lie side by side, a few of which may rest."""

    def __init__(self, members: Ints, shared: int) -> None:
        self.members, self.count = members, len(members)
        self.shape = Shape.of(self.count, shared)


class GpuEngine:
    """Trains all problems on one NVIDIA GPU, with the bits of the engine of the CPU.

    Parameters
    ----------
    device : int
        The number of the GPU.
    resident : bool or None
        Whether X is kept on the GPU; None keeps it where there is enough memory. Otherwise each pass streams it.
    shape : Shape or None
        How work is laid out, for measurements; None is what was fastest.
    """

    def __init__(self, device: int = 0, *, resident: bool | None = None, shape: Shape | None = None) -> None:
        self._gpu = require_gpu(device)
        self._device, self._wanted, self._shape = device, resident, shape
        self._cupy: Any = _cupy()
        self._all: dict[str, Any] = {}
        self._graphs: dict[tuple[Any, ...], Any] = {}
        self._blas: list[_Blas] = []
        self._pool: ThreadPoolExecutor | None = None
        self._crew: _Crew | None = None
        self.exact_scores = 0  # rows of problems that the bound left in doubt, for tests

    @property
    def name(self) -> str:
        """What the engine computes on."""
        return f"the GPU {self._gpu}"

    # Before the first pass

    def start(self, matrix: Matrix, problems: Problems, plan: Plan, begin: States | None = None) -> None:
        """Prepare training from zero weights, or from given ones; check that there is enough memory."""
        rule = plan.rule
        if type(rule).__name__ != "Rule" or not {rule.tie_plus, rule.tie_minus} <= {0.0, 1.0}:
            raise DeviceError(
                "The GPU trains the perceptron's rule with whole steps; half steps on ties, uneven margins and "
                "other rules run with " + ON_CPU + "."
            )
        if begin is not None and rule.beta == 0.0 and begin.w[:, -1].any():
            raise DeviceError(
                "The training starts with a bias and has no bias step (fit_intercept=False). The proof of the GPU "
                "needs a bias of 0 there. Start from one, or use " + ON_CPU + "."
            )
        self.close()
        self._matrix, self._problems, self._plan = matrix, problems, plan
        self._rows, self._d, self._k = matrix.n_rows, matrix.n_features, problems.count
        self._pitch = -(-self._d // 64) * 64
        self._group = min(GROUP_ROWS, -(-self._rows // BLOCK_ROWS) * BLOCK_ROWS)
        self._kept, self._made = 0, [np.zeros(self._k, np.int64)] * 2
        self._negative_zero, self._starts_whole = False, True
        with self._working("preparing the training"):
            self._shared = self._cupy.cuda.runtime.deviceGetAttribute(SHARED_MEMORY_ATTRIBUTE, self._device)
            self._resident = self._plan_memory()
            self._allocate()
            self._put_rows()
            if begin is not None:
                self._put_states(begin)

    @contextmanager
    def _working(self, what: str) -> Iterator[None]:
        """Use the GPU; after an error or Ctrl-C, wait until it rests."""
        with _told(what), self._cupy.cuda.Device(self._device):
            try:
                yield
            except BaseException:
                with suppress(Exception):
                    self._cupy.cuda.Device().synchronize()
                raise

    def _rooms(self, resident: bool) -> dict[str, tuple[tuple[int, ...], Any]]:
        """Return the shape and type of everything that is kept on the GPU, by name."""
        k, d, group, blocks = self._k, self._pitch, self._group, self._group // BLOCK_ROWS
        problems, real, word = self._problems, np.float64, np.uint32
        rooms: dict[str, tuple[tuple[int, ...], Any]] = {}
        for a in "01":  # while one group of rows is trained on, the next one is prepared
            rooms |= {
                "X" + a: ((group, d), real),
                "norm" + a: ((group,), real),
                "inverse" + a: ((group,), real),
                "step" + a: ((group,), real),
                "clock" + a: ((1,), real),
                "far" + a: ((blocks, BLOCK_ROWS + 1, BLOCK_ROWS), np.int32),
                "near" + a: ((group, 64), np.int32),
                "shift" + a: ((blocks,), np.int32),
                "drift" + a: ((blocks,), real),
                "up" + a: ((group // 32, k), word),
                "in" + a: ((group // 32, k), word),
            }
            if not resident:
                rooms["ring" + a] = ((group, self._d), KINDS[self._matrix.kind])
        sums = ("U", "bias_sum") if self._plan.average else ()
        shapes = {"W": (k, d), "bias": (k,), "potential": (k,), "U": (k, d), "bias_sum": (k,)}
        for name in ("W", "bias", "potential", *sums):
            rooms[name] = rooms["kept " + name + "0"] = rooms["kept " + name + "1"] = (shapes[name], real)
        rooms |= {
            "gram": ((blocks, BLOCK_ROWS, BLOCK_ROWS), real),
            "S": ((k, BLOCK_ROWS), real),
            "made": ((k, BLOCK_CHUNKS), word),
            "mistakes": ((k,), word),
            "exacts": ((k,), word),
            "seen": ((k,), word),
            "broken": ((2,), np.int64),  # the first visit of a row, and of a score, that is not finite
            "order": ((self._rows,), np.int64),
            "labels": (problems.labels.shape, np.int8),
            "crew column": ((k,), np.int64),
        }
        if problems.fold is not None:
            rooms |= {"fold": ((self._rows,), np.int8), "crew left_out": ((k,), np.int8)}
        if problems.weight is not None:
            rooms["weight"] = ((self._rows,), real)
        if resident and not self._matrix.on_device:
            rooms["rows"] = ((self._rows, self._d), KINDS[self._matrix.kind])
        return rooms

    def _plan_memory(self) -> bool:
        """Return whether X is kept on the GPU; raise if there is not enough memory either way."""
        free = int(self._cupy.cuda.runtime.memGetInfo()[0] * USED_SHARE)
        need = {True: 0, False: 0}
        for resident in need:
            sizes = (
                int(np.prod(shape)) * np.dtype(kind).itemsize for shape, kind in self._rooms(resident).values()
            )
            copied = 8 * self._k * (self._d + 1)  # weights on their way to the GPU, to begin with or to be judged
            need[resident] = sum(sizes) + copied + (MOST_PROBLEM_GROUPS + 2) * WORKSPACE_BYTES + OVERHEAD_BYTES
        if self._matrix.on_device or (need[True] <= free and self._wanted is not False):
            least, resident = need[True], True
        else:
            least, resident = need[False], False
        if least > free or (self._wanted and not resident):
            gib = 2.0**30
            raise DeviceError(
                f"Training {self._k} problems on {self._rows} rows of {self._d} features needs {least / gib:.1f} "
                f"GiB of the GPU's memory, and {free / gib:.1f} GiB are free. Train fewer problems at a time, or "
                "use " + ON_CPU + "."
            )
        return resident

    def _allocate(self) -> None:
        cupy = self._cupy
        self._all = {name: cupy.zeros(shape, kind) for name, (shape, kind) in self._rooms(self._resident).items()}
        problems = self._problems
        for name in ("labels", "fold", "weight"):
            if name in self._all:
                self._all[name].set(np.ascontiguousarray(getattr(problems, name), self._all[name].dtype))
        self._main, self._side = cupy.cuda.Stream(non_blocking=True), cupy.cuda.Stream(non_blocking=True)
        self._streams = [
            cupy.cuda.Stream(non_blocking=True, priority=URGENT_PRIORITY) for _ in range(MOST_PROBLEM_GROUPS)
        ]
        self._blas = [_Blas(cupy, stream) for stream in (self._side, *self._streams)]
        self._done = [cupy.cuda.Event(disable_timing=True) for _ in "01"]
        self._ready = [cupy.cuda.Event(disable_timing=True) for _ in "01"]
        if not self._resident:
            shape, kind = (self._group, self._d), np.dtype(KINDS[self._matrix.kind])
            size = shape[0] * shape[1]
            self._pinned = [
                np.frombuffer(cupy.cuda.alloc_pinned_memory(size * kind.itemsize), kind, size).reshape(shape)
                for _ in "01"
            ]
            self._pool = ThreadPoolExecutor(min(8, os.cpu_count() or 1))

    def _put_rows(self) -> None:
        """Make the table of parts on the GPU that X lies in."""
        cupy, matrix = self._cupy, self._matrix
        starts = matrix.starts[:-1]
        if matrix.on_device:
            parts = [self._on_device(part) for part in matrix.parts]
        elif self._resident:
            for first, part in zip(starts.tolist(), matrix.parts, strict=True):
                for i in range(0, len(part), GROUP_ROWS):
                    rows = np.ascontiguousarray(part[i : i + GROUP_ROWS])
                    self._all["rows"][first + i : first + i + len(rows)].set(rows)
            parts, starts = [self._all["rows"]], starts[:1]
        else:
            parts, starts = [self._all["ring0"], self._all["ring1"]], np.zeros(1, np.int64)
        self._parts = parts  # they must live as long as their addresses are used
        self._all["parts"] = cupy.asarray(np.array([part.data.ptr for part in parts], np.uint64))
        self._all["starts"] = cupy.asarray(np.ascontiguousarray(starts, np.int64))

    def _on_device(self, part: Any) -> Any:
        """Return rows that lie on a GPU as an array of CuPy, without a copy."""
        cupy = self._cupy
        part = part.detach() if hasattr(part, "detach") else part  # a tensor of torch
        if self._matrix.kind == "bfloat16" and type(part).__module__.split(".")[0] == "torch":
            part = part.view(import_module("torch").int16)  # the same bits
        array = cupy.asarray(part) if hasattr(part, "__cuda_array_interface__") else cupy.from_dlpack(part)
        if array.device.id != self._device:
            raise DeviceError(f"X lies on GPU {array.device.id}, and training is to run on GPU {self._device}.")
        return array if array.flags.c_contiguous else cupy.ascontiguousarray(array)

    def _put_states(self, begin: States) -> None:
        d, beta, kept = self._d, self._plan.rule.beta, self._all
        pairs = [("W", "bias", begin.w), *([("U", "bias_sum", begin.u)] if self._plan.average else [])]
        for name, bias, values in pairs:
            if values is not None:
                kept["kept " + name + "0"][:, :d] = self._cupy.asarray(values[:, :-1])
                kept["kept " + bias + "0"][:] = self._cupy.asarray(values[:, -1])
                self._negative_zero |= bool((np.signbit(values) & (values == 0.0)).any())
        kept["kept potential0"].set(_potential(begin.w, beta))
        self._starts_whole = bool((begin.w == np.rint(begin.w)).all())
        self._made[0] = begin.visits.astype(np.int64)

    # A pass

    def train_pass(self, active: Ints, order: Any | None) -> Ints:
        """Make one pass of the problems `active`; return the mistakes of each."""
        visits = int(self._made[self._kept][active[0]]) if len(active) else 0
        with self._working("training"):
            crew = self._take(np.asarray(active, np.int64))
            if order is not None:
                self._all["order"].set(np.ascontiguousarray(order).view(np.int64))
            flags = self._flags(visits)
            tiles = self._tiles(flags, visits)
            shape = self._shape or crew.shape
            kernels = _kernels(self._device, _macros(flags, shape if tiles else shape._replace(tile=None)))
            runs = [self._graph(crew, kernels, shape, tiles, flags, a) for a in (0, 1)]
            self._sweep(kernels, crew.count, order, visits, self._rows, lambda a: runs[a].launch(self._main))
            self._check(order, visits)
            counts = self._all["mistakes"][: crew.count].get().astype(np.int64)
            self.exact_scores += int(self._all["exacts"][: crew.count].sum())
            other = self._keep(crew, active)
            mistakes: Ints = counts[np.searchsorted(crew.members, active)]
        self._kept = other  # one step, so that no Ctrl-C comes between the weights and their visits
        self._crew = crew
        return mistakes

    def _names(self) -> list[str]:
        return ["W", "bias", "potential", *(["U", "bias_sum"] if self._plan.average else [])]

    def _take(self, active: Ints) -> _Crew:
        """Gather the weights of the active problems, unless they lie side by side already."""
        crew, self._crew = self._crew, None  # until they are those of a whole pass again
        if (
            crew is None
            or len(active) < LEAST_ACTIVE_SHARE * crew.count
            or not np.isin(active, crew.members).all()
        ):
            crew = _Crew(active, self._shared)
            self._gather(crew)
        column = np.where(np.isin(crew.members, active), self._problems.column[crew.members], -1)
        self._all["crew column"].set(np.pad(column, (0, self._k - crew.count)))
        if self._problems.left_out is not None:
            self._all["crew left_out"].set(
                np.pad(self._problems.left_out[crew.members], (0, self._k - crew.count))
            )
        return crew

    def _gather(self, crew: _Crew) -> None:
        """Copy the weights of the last whole pass to where they are trained."""
        index = self._cupy.asarray(crew.members)
        for name in self._names():
            self._cupy.take(self._last(name), index, axis=0, out=self._all[name][: crew.count])

    def _last(self, name: str) -> Any:
        """Return the weights of all problems after the last whole pass."""
        return self._all[f"kept {name}{self._kept}"]

    def _keep(self, crew: _Crew, active: Ints) -> int:
        """Write all weights and visits after a pass to the other of two places; return which it is."""
        index, other = self._cupy.asarray(crew.members), 1 - self._kept
        for name in self._names():
            kept = self._all[f"kept {name}{other}"]
            kept[...] = self._last(name)
            kept[index] = self._all[name][: crew.count]
        self._made[other] = self._made[self._kept].copy()
        self._made[other][active] += self._rows
        self._cupy.cuda.Device().synchronize()
        return other

    def _flags(self, visits: int) -> dict[str, int]:
        """Return the macros that depend on the data: above all whether all sums are exact whole numbers."""
        rule, kind, problems = self._plan.rule, self._matrix.kind, self._problems
        numbers = (rule.eta, rule.beta, rule.margin)
        whole = (
            kind == "uint8" and problems.weight is None and rule.eta == 1.0 and all(x == int(x) for x in numbers)
        )
        if whole:
            longest = 255.0 * self._d**0.5 + 1.0
            square = float(self._last("potential").max()) * max(1.0, rule.beta)
            reach = square**0.5 + self._rows * longest * max(1.0, rule.beta)
            whole = (
                longest**2 + rule.beta < 2.0**30
                and reach * longest + abs(rule.margin) < LARGEST_WHOLE
                and self._starts_whole
            )
        codes = dict(zip(KINDS, range(5), strict=True))
        return {"KIND": codes[kind], "WHOLE": int(whole), "AVERAGE": int(self._plan.average)}

    def _tiles(self, flags: dict[str, int], visits: int) -> bool:
        """Return whether c x and c t x need no rounding for any row, so that tensor cores give the same bits."""
        rule, average, wide = self._plan.rule, self._plan.average, self._matrix.kind == "float64"
        power = np.frexp(rule.eta)[0] == 0.5 and 2.0**-400 < rule.eta < 2.0**400
        exact = power and self._problems.weight is None and not self._negative_zero
        if wide:
            exact = exact and rule.eta == 1.0 and not average
        if average:
            exact = exact and visits + self._rows < EXACT_VISITS
        wanted = self._shape is None or self._shape.tile is not None
        return bool(wanted and exact and _tensor_cores_are_chains(self._device))

    def _sweep(
        self,
        kernels: _Kernels,
        k: int,
        order: Any | None,
        visits: int,
        n: int,
        run: Callable[[int], Any],
        first: int = 0,
        judge: bool = False,
    ) -> None:
        """Prepare group after group of rows, and run each when it is ready."""
        everything = self._all
        for name in ("mistakes", "exacts", "seen"):
            everything[name].fill(0)
        everything["broken"].fill(NEVER_VISIT)
        self._cupy.cuda.Device().synchronize()
        for s, at in enumerate(range(first, n, self._group)):
            stop_if_interrupted()
            a = s % 2
            if s > 1:
                _wait(self._done[a])
            self._prepare(kernels, a, k, at, n, order, visits, judge)
            self._ready[a].record(self._side)
            self._main.wait_event(self._ready[a])
            run(a)
            self._done[a].record(self._main)
        for event in self._done:
            _wait(event)

    def _prepare(
        self, kernels: _Kernels, a: int, k: int, first: int, n: int, order: Any | None, visits: int, judge: bool
    ) -> None:
        """Widen and measure a group of rows, and compute the Gram matrix of each block; in the side stream."""
        rows, problems, rule, each = self._group, self._problems, self._plan.rule, self._all.get
        everything, ordered = self._all, self._all["order"] if order is not None else None
        mine = {name[:-1]: array for name, array in everything.items() if name[-1] == str(a)}
        if not self._resident:
            self._fetch(a, first, min(n, first + rows), order)
        parts, blocks, at = everything["parts"], rows // BLOCK_ROWS, (np.int64(first), np.int64(n))
        measures = [mine[name] for name in ("norm", "inverse", "step")]
        with self._side:
            where = (_at(parts, 0 if self._resident else a), everything["starts"], len(everything["starts"]))
            how = (self._d, self._pitch, int(not self._resident), float(rule.eta), float(visits))
            made = (mine["X"], *measures, mine["clock"], everything["broken"])
            kernels.run("prepare", (rows // 8,), 256, *where, ordered, each("weight"), *at, *how, *made)
            labels = (everything["labels"], np.int64(problems.labels.shape[1]), everything["crew column"])
            folds = (each("fold"), each("crew left_out"), each("weight"))
            bits = (mine["up"], mine["in"], everything["seen"])
            kernels.run("label", (-(-k // 128), rows // 32), 128, *labels, *folds, ordered, *at, k, *bits)
            if judge:
                return
            self._blas[0].gram(
                mine["X"].data.ptr, everything["gram"].data.ptr, BLOCK_ROWS, self._d, self._pitch, blocks
            )
            fixed = [mine[name] for name in ("far", "near", "shift", "drift")]
            kernels.run("quantise", (16 * blocks,), 256, everything["gram"], *fixed, *measures, float(rule.beta))

    def _fetch(self, a: int, first: int, last: int, order: Any | None) -> None:
        """Copy rows from the host to one of two places on the GPU, in the order of their visits."""
        assert self._pool is not None
        pinned, ring, matrix = self._pinned[a], self._all["ring" + str(a)], self._matrix
        if len(matrix.parts) > 1:
            pinned[: last - first] = matrix.gather(np.arange(first, last) if order is None else order[first:last])
        else:
            part, step = matrix.parts[0], -(-(last - first) // 16)

            def copy(i: int) -> None:
                j = min(i + step, last)
                if order is None:
                    pinned[i - first : j - first] = part[i:j]
                else:
                    np.take(
                        part, order[i:j].astype(np.int64), axis=0, out=pinned[i - first : j - first], mode="clip"
                    )

            copies: list[Future[None]] = []
            try:
                copies.extend(self._pool.submit(copy, i) for i in range(first, last, step))
                for each in copies:
                    each.result()
            finally:
                wait(copies)  # none may go on writing where the next rows will lie
        size = (last - first) * pinned.strides[0]
        self._cupy.cuda.runtime.memcpyAsync(ring.data.ptr, pinned.ctypes.data, size, 1, self._side.ptr)

    def _graph(
        self, crew: _Crew, kernels: _Kernels, shape: Shape, tiles: bool, flags: dict[str, int], a: int
    ) -> Any:
        """Return all launches for a group of rows as one graph."""
        key = (crew.count, tuple(sorted(flags.items())), shape, tiles, a)
        if key not in self._graphs:
            self._blocks(kernels, crew.count, shape, tiles, a, 1)  # loads what must not be loaded while capturing
            self._cupy.cuda.Device().synchronize()
            self._main.begin_capture()
            try:
                self._blocks(kernels, crew.count, shape, tiles, a, self._group // BLOCK_ROWS)
            except BaseException:
                with suppress(Exception):  # of a graph that is cut short
                    self._main.end_capture()
                raise
            self._graphs[key] = self._main.end_capture()
            self._gather(crew)  # the trial may have moved them
        return self._graphs[key]

    def _blocks(self, kernels: _Kernels, k: int, shape: Shape, tiles: bool | None, a: int, count: int) -> None:
        """Launch score, walk and update for each block, the groups of problems side by side."""
        event = self._cupy.cuda.Event(disable_timing=True)
        event.record(self._main)
        size = -(-k // shape.groups)
        for stream, blas, first in zip(self._streams, self._blas[1:], range(0, k, size), strict=False):
            stream.wait_event(event)
            for block in range(count):
                self._block(kernels, blas, stream, shape, tiles, a, block, (first, min(size, k - first), k))
            end = self._cupy.cuda.Event(disable_timing=True)
            end.record(stream)
            self._main.wait_event(end)

    def _block(
        self,
        kernels: _Kernels,
        blas: _Blas,
        stream: Any,
        shape: Shape,
        tiles: bool | None,
        a: int,
        block: int,
        span: tuple[int, int, int],
    ) -> None:
        """Score, walk and update the problems of a span on one block; None for `tiles` judges alone."""
        (p, count, k), judge = span, tiles is None
        rule, d, pitch, row, everything = self._plan.rule, self._d, self._pitch, block * BLOCK_ROWS, self._all

        def mine(name: str, width: int = 1) -> Any:
            return _at(everything[name + str(a)], row * width)

        def of(name: str, width: int = 1) -> Any:
            return _at(everything.get(name), p * width)

        by_block = [_at(everything[name + str(a)], block) for name in ("shift", "drift")]
        words = [_at(everything[name + str(a)], row // 32 * k + p) for name in ("up", "in")]
        x, beta, clock = mine("X", pitch), float(rule.beta), everything["clock" + str(a)]
        far = _at(everything["far" + str(a)], block * (BLOCK_ROWS + 1) * BLOCK_ROWS)
        ties = (1, 0, 0.0) if judge else (int(rule.tie_plus), int(rule.tie_minus), float(rule.margin))
        with stream:
            if count <= FEW_PROBLEMS:
                kernels.run(
                    "score_few", (BLOCK_ROWS // 8,), 256, of("W", pitch), x, of("S", BLOCK_ROWS), count, d, pitch
                )
            else:
                blas.score(int(x), int(of("W", pitch)), int(of("S", BLOCK_ROWS)), (BLOCK_ROWS, count, d), pitch)
            gram = (far, mine("near", 64), *by_block, mine("norm"), mine("inverse"), mine("step"))
            weights = (x, of("W", pitch), of("bias"), of("potential"))
            counts = (of("made", BLOCK_CHUNKS), of("mistakes"), of("exacts"))
            when = (clock, block, _at(everything["broken"], 1))
            decide = (beta, ties[2], *ties[:2], error_factor(d))
            kernels.run(
                "walk",
                (-(-count // shape.problems),),
                max(128, 32 * shape.warps * shape.problems),
                *(of("S", BLOCK_ROWS), *words, k, *gram, *weights, *counts, *when, *decide, count, d, pitch),
                memory=BYTES_OF_WALK + shape.problems * BYTES_OF_A_PROBLEM,
            )
            if judge:
                return
            moved = (of("W", pitch), of("U", pitch), of("bias"), of("bias_sum"), x)
            mistakes = (of("made", BLOCK_CHUNKS), words[0], k, mine("step"), beta, clock, block, count, pitch)
            if tiles and shape.tile is not None:
                pw, fw, mt, nt = shape.tile
                grid = (-(-pitch // (8 * nt * fw)) + 1, -(-count // (16 * mt * pw)))
                memory = TILE_STAGES * TILE_DEPTH * (8 * nt * fw + TILE_PITCH) * 8
                kernels.run("update_tiles", grid, 32 * pw * fw, *moved, *mistakes, memory=memory)
            else:
                kernels.run("update", (-(-pitch // 64) + 1, -(-count // 4)), 128, *moved, *mistakes)

    def _check(self, order: Any | None, visits: int) -> None:
        """Raise if a row or a score was not finite; what is kept is the last pass."""
        score = self._broken_score(order)
        sound = all(
            bool(self._cupy.isfinite(self._all[name]).all()) for name in self._names() if name != "potential"
        )
        if score < NEVER_VISIT or not sound:
            after = score if score < NEVER_VISIT else visits + self._rows
            raise TrainingOverflowError(
                f"Training overflowed: a score, weight or squared length exceeds the largest float after {after} "
                "visits, although X is finite. Scale the features down, or lower eta0 or the weights."
            )

    def _broken_score(self, order: Any | None) -> int:
        """Return the first visit whose score was not finite, or `NEVER_VISIT`; raise if a row was not finite."""
        row, score = self._all["broken"].get().tolist()
        if row < NEVER_VISIT:
            at = row if order is None else int(order[row])
            raise NonFiniteError(
                f"Row {at} of X has a value that is NaN or infinite. Impute such values or drop their rows.",
                row=at,
            )
        return int(score)

    # After it

    def states(self) -> States:
        """Return copies of the states of all problems, on the host."""
        with self._working("reading the weights"):
            w = self._joined("W", "bias")
            u = self._joined("U", "bias_sum") if self._plan.average else None
            return States(w, u, self._made[self._kept].copy())

    def _joined(self, weights: str, bias: str) -> Floats:
        joined = np.empty((self._k, self._d + 1))
        joined[:, :-1] = self._last(weights).get()[:, : self._d]
        joined[:, -1] = self._last(bias).get()
        return joined

    def count_right(self, hypothesis: Floats, rows: slice | None = None) -> Ints:
        """Return how many of the rows that judge a problem it predicts right."""
        first, last, _ = (rows or slice(None)).indices(self._rows)
        with self._working("judging"):
            crew = self._take(np.arange(self._k))
            values = self._cupy.asarray(np.ascontiguousarray(hypothesis))
            self._all["W"].fill(0.0)
            self._all["W"][:, : self._d] = values[:, :-1]
            self._all["bias"][:] = values[:, -1]
            self._all["potential"].set(_potential(hypothesis, self._plan.rule.beta))
            del values
            shape = self._shape or crew.shape
            flags = self._flags(0) | {"WHOLE": 0, "JUDGE": 1, "AVERAGE": 0}
            kernels = _kernels(self._device, _macros(flags, shape))
            group = self._group // BLOCK_ROWS

            def judge(a: int) -> None:
                self._blocks(kernels, self._k, shape, None, a, group)

            self._sweep(kernels, self._k, None, 0, last, judge, first, judge=True)
            score = self._broken_score(None)
            if score < NEVER_VISIT:
                raise TrainingOverflowError(
                    f"The score of row {score} exceeds the largest float. Scale the features down.", row=score
                )
            wrong, seen = (self._all[name].get().astype(np.int64) for name in ("mistakes", "seen"))
        right: Ints = seen - wrong
        return right

    def close(self) -> None:
        """Give all memory back. Calling it again does nothing."""
        for blas in self._blas:
            blas.close()
        if self._pool is not None:
            self._pool.shutdown()
        held = bool(self._all)
        self._all, self._graphs, self._blas, self._pool, self._crew = {}, {}, [], None, None
        self._parts, self._pinned = [], []
        if held:
            with suppress(self._cupy.cuda.runtime.CUDARuntimeError):  # of a lost GPU, which was told already
                self._cupy.get_default_memory_pool().free_all_blocks()
                self._cupy.get_default_pinned_memory_pool().free_all_blocks()


def error_factor(d: int) -> float:
    """Return the factor of (A + D) in the bound T: that of a score over the norm of its row; see the page.

    Examples
    --------
    >>> error_factor(1024) < 1e-12
    True
    """
    return 1.01 * 2.0**-53 * (4 * (d + BLOCK_ROWS) + 64)


def _potential(w: Floats, beta: float) -> Floats:
    """Return a bound of |w|² + b² / β for each problem, from which the norm follows; see the page.

    With β = 0 it is |w|² + b². Training starts with b = 0 there; hypotheses that are judged may have any bias.
    """
    with np.errstate(over="ignore"):
        squares = (w[:, :-1] ** 2).sum(axis=1) + w[:, -1] ** 2 / (beta or 1.0)
    potential: Floats = squares * (1.0 + 1e-12 + 1e-15 * w.shape[1]) + 1e-300
    return potential


def _wait(event: Any) -> None:
    """Wait for work on the GPU, or Ctrl-C; `Event.done` of CuPy is False for ever once the GPU is lost."""
    runtime = _cupy().cuda.runtime
    while (status := runtime.eventQuery(event.ptr)) == NOT_READY_STATUS:
        stop_if_interrupted()
        time.sleep(5e-5)
    if status:
        raise runtime.CUDARuntimeError(status)
