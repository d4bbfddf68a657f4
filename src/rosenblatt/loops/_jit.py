"""The one way loops are compiled.

No fastmath: training adds in a fixed order, so that the same visits give the same bits on every machine.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import suppress
from functools import wraps
from types import FunctionType
from typing import Any, ParamSpec, TypeAlias, TypeVar, cast

import numba
from numba import _dynfunc, types
from numba.core.caching import FunctionCache
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.compiler_machinery import register_pass
from numba.core.environment import lookup_environment
from numba.core.sigutils import normalize_signature
from numba.core.typed_passes import NativeLowering
from numba.extending import overload, typeof_impl

from rosenblatt.loops.compilation import compiling
from rosenblatt.loops.layout import CSR, Direct, Machines, Pairs, Ranks, Sets, Sides, Values

# Loops own no array: Python keeps the arrays alive. Otherwise numba would count references to every view on every
# visit, which costs more than scoring a short row. So loops neither make nor return arrays.
COUNTS_NO_REFERENCES = {"_nrt": False}


class LoopLibrary(JITCodeLibrary):  # type: ignore[misc]
    """The machine code of a loop, with all parts that it calls."""

    def finalize(self) -> None:
        """Make machine code, and tell the parts in it where the globals of their modules are."""
        super().finalize()
        for variable in self._final_module.global_variables:
            if (found := lookup_environment(variable.name)) is not None:
                self._codegen.set_env(variable.name, found)


class PartLibrary(JITCodeLibrary):  # type: ignore[misc]
    """The unoptimised code of a function that loops call, with all that it calls; each loop optimises its copy."""

    def finalize(self) -> None:
        """Put the code together."""
        for each in dict.fromkeys(self._linking_libraries):
            self._reload_init.update(each._reload_init)
            self._final_module.link_in(each._get_module_for_linking(), preserve=True)
        self._finalized = True


@register_pass(mutates_CFG=True, analysis_only=False)
class PartLowering(NativeLowering):  # type: ignore[misc]
    """Writes the code of a part, which loops can call and Python cannot."""

    def run_pass(self, state: Any) -> bool:
        """Write the code, and register it under an entry without an address."""
        state.flags.no_compile = True
        super().run_pass(state)
        library, written = state.library, state["cr"]
        module, name = written.fndesc.lookup_module(), written.fndesc.qualname.split(".")[-1]
        entry = _dynfunc.make_function(module, name, "", 0, written.env, (library,))
        state.targetctx.insert_user_function(entry, written.fndesc, [library])
        state["cr"] = written._replace(cfunc=entry)
        return True


class LoopCompiler(Compiler):  # type: ignore[misc]
    """Compiles a loop, and says so."""

    def compile_extra(self, function: FunctionType) -> Any:
        """Compile into a library of this package's kind."""
        with compiling():
            return self._compile_into(LoopLibrary, function)

    def _compile_into(self, kind: type[JITCodeLibrary], function: FunctionType) -> Any:
        self.state.library = kind(self.state.targetctx.codegen(), function.__qualname__)
        self.state.library.enable_object_caching()  # so that it can be stored
        return super().compile_extra(function)


class PartCompiler(LoopCompiler):
    """Compiles a part of loops, as far as numba needs it compiled to compile loops that call it.

    numba would optimise each part and make machine code of it, with that of the parts that it calls, and so once
    more at each level of calls. Nothing would run that code: loops have all of it inside.
    """

    def compile_extra(self, function: FunctionType) -> Any:
        """Compile into a library of this package's kind."""
        return self._compile_into(PartLibrary, function)

    def define_pipelines(self) -> list[Any]:
        """Return numba's steps, of which another one writes the code."""
        (manager,) = super().define_pipelines()
        manager.passes = [
            (PartLowering if step is NativeLowering else step, title) for step, title in manager.passes
        ]
        return [manager]


LOOP = COUNTS_NO_REFERENCES | {
    "nogil": True,
    "error_model": "numpy",
    "no_cfunc_wrapper": True,
    "pipeline_class": LoopCompiler,
}
PART = LOOP | {"forceinline": True, "no_cpython_wrapper": True, "pipeline_class": PartCompiler}

Kind: TypeAlias = types.Type
"""What functions are given that choose an implementation: numba's type of an argument, in place of its value."""

VERB = {"strict": False, "jit_options": PART}
"""How the implementations of a verb are compiled: one chosen by the types of its arguments, into each caller."""


numba_log = logging.getLogger("numba")
if numba_log.level == logging.NOTSET:
    numba_log.setLevel(logging.WARNING)  # it writes thousands of lines for each loop where everything is logged


class OwnTypesCache(FunctionCache):  # type: ignore[misc]
    """A cache on disk of loops compiled for types of this package alone.

    It holds no loop for a rule of another package: other processes could not read the file without that package,
    and numba would not notice that the rule was edited. Such loops are compiled once in each process.
    """

    def load_overload(self, sig: tuple[types.Type, ...], target_context: Any) -> Any:
        """Return a compiled loop, or None."""
        return super().load_overload(sig, target_context) if _is_own(sig) else None

    def save_overload(self, sig: tuple[types.Type, ...], data: Any) -> None:
        """Write a compiled loop to the disk."""
        if _is_own(sig):
            super().save_overload(sig, data)


def _is_own(sig: tuple[types.Type, ...]) -> bool:
    named = [each.instance_class for each in normalize_signature(sig)[0] if isinstance(each, types.BaseNamedTuple)]
    return all(each.__module__.startswith("rosenblatt.") for each in named)


def _type_of_read(read: Any, context: Any) -> Any:
    """Return the type of rows or labels, whose arrays loops only read: others need no loop of their own."""
    kinds = [typeof_impl(each, context) for each in read]
    kinds = [each.copy(readonly=True) if isinstance(each, types.Array) else each for each in kinds]
    return types.BaseTuple.from_types(kinds, type(read))


for _read in CSR, Sides, Direct, Machines, Values, Ranks, Pairs, Sets:
    typeof_impl.register(_read, _type_of_read)

P = ParamSpec("P")
T = TypeVar("T")


def jit(function: Callable[P, T]) -> Callable[P, T]:
    """Compile `function` with numba, release the GIL, and cache the result on disk where that is possible."""
    compiled = numba.njit(**LOOP)(function)
    # Where neither the package's folder nor the user's can be written to, each process compiles anew.
    with suppress(RuntimeError):
        compiled._cache = OwnTypesCache(function)
    return cast("Callable[P, T]", compiled)


def inline(function: Callable[P, T], **options: Any) -> Callable[P, T]:
    """Compile `function` into each loop that calls it: a call would pass a dozen words for each array.

    Called from Python it stays Python.
    """
    overload(function, strict=False, jit_options=PART | options)(lambda *_: function)
    return function


def inline_any_order(function: Callable[P, T]) -> Callable[P, T]:
    """Like `inline`, but sums may be reordered: only for sums whose error bound holds in any order."""
    return inline(function, fastmath={"reassoc", "contract"})


def verb(choose: Callable[..., Any]) -> Callable[..., Any]:
    """Make a function that means something else for other types, such as dense and sparse rows.

    `choose` takes the numba types of the arguments and returns the implementation, which is compiled into each
    loop that calls the verb.
    """

    @wraps(choose)
    def called(*_: Any) -> Any:
        raise TypeError(f"{choose.__name__} is called from compiled loops only")

    overload(called, **VERB)(choose)
    return called
