"""What an estimator with a kernel does before it trains: from parameters and data to a kernel that is one."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from rosenblatt.data.features import Features
from rosenblatt.estimators._parameters import check_choice, check_count, check_number, generator
from rosenblatt.estimators.schemas import link_stream
from rosenblatt.exceptions import KernelWarning, ParameterError, ShapeError
from rosenblatt.kernels.points import Points
from rosenblatt.kernels.psd import COMPUTED, is_psd
from rosenblatt.kernels.values import Kernel, Precomputed, as_kernel
from rosenblatt.learners.kernel import KernelPlan
from rosenblatt.model.budget import POLICIES, Budget
from rosenblatt.model.kernel_state import KernelState
from rosenblatt.model.schemas import require_problem
from rosenblatt.model.scheme import Scheme
from rosenblatt.model.support import Support
from rosenblatt.schema.codecs import require
from rosenblatt.schema.rows import require_width

SAMPLE = 200  # rows that a function is tried on


def check_kernel_parameters(p: Any) -> None:
    """Require those parameters to be usable that a kernel perceptron has and others have not."""
    as_kernel(p.kernel)
    check_choice("init", p.init, ("zero", "first"))
    check_number("cache_size", p.cache_size, least=0)
    check_choice("budget_policy", p.budget_policy, POLICIES)
    if p.budget is None:
        return
    check_count("budget", p.budget)
    if p.average and p.budget_policy != "projection":
        raise ParameterError(
            f"average=True does not go with budget_policy={p.budget_policy!r}: rows that gave way would be "
            "missing from the average. Use budget_policy='projection'."
        )


def own_plan(p: Any, kernel: Kernel) -> KernelPlan:
    """Return what the kernel's parameters say; draws of a budget are the same in `fit` and in a stream."""
    budget = None
    if p.budget is not None:
        seed = int(generator(p.random_state).integers(2**63)) if p.budget_policy == "random" else 0
        budget = Budget(int(p.budget), p.budget_policy, seed)
    return KernelPlan(kernel, budget, float(p.cache_size), bool(p.warm_start))


def beginning(p: Any, kernel: Kernel, scheme: Scheme, n_features: int) -> KernelState:
    """Return the start at zero."""
    machines = None if scheme.kind == "binary" else scheme.n_machines
    return KernelState.empty(machines, Support(n_features, keeps_rows=kernel.streams), average=p.average)


def require_gram(kernel: Kernel, rows: Features) -> None:
    """Require that precomputed values are those of each training row with each."""
    if isinstance(kernel, Precomputed) and rows.n_rows != rows.n_features:
        raise ShapeError(
            f"With kernel='precomputed' X must be a square matrix of kernel values between training rows; its "
            f"shape is ({rows.n_rows}, {rows.n_features})."
        )


def stream_kernel(p: Any, n_features: int) -> Kernel:
    """Return the kernel of a stream that no fit came before."""
    kernel = as_kernel(p.kernel)
    if not kernel.streams:
        raise ParameterError(
            "kernel='precomputed' knows values between training rows alone, and a stream has rows to come. Use "
            "fit, or a kernel of rows."
        )
    if getattr(kernel, "gamma", None) == "scale":
        raise ParameterError(
            f"kernel={p.kernel!r} takes gamma='scale' from the variance of all rows, which a stream has yet to "
            "show. Give a number, as in kernel=kernels.RBF(0.1), or 'auto' for 1 / n_features; or fit first."
        )
    return kernel.resolve(Points(np.empty((1, n_features)), 1, n_features))


def warn_unless_kernel(kernel: Kernel, points: Points) -> None:
    """Warn if a function is no kernel on (a sample of) the training rows, which no theorem vouches for (S-36)."""
    if kernel.known:
        return
    few = np.unique(np.linspace(0, points.n_rows - 1, min(SAMPLE, points.n_rows)).astype(np.int64))
    sample = points.take(few)
    found = is_psd(kernel.gram(sample, sample), ulps=COMPUTED)
    if found.verdict != "no":
        return
    where = f"On {len(few)} of the training rows" if len(few) < points.n_rows else "On the training rows"
    warnings.warn(
        f"kernel={kernel!r} is not positive semidefinite, and so no kernel. {where}: {found.reason} No bound on "
        "mistakes holds, and training may not end. Use another function, or ignore this warning.",
        KernelWarning,
        stacklevel=3,
    )


def link_kernel(held: dict[str, Any]) -> None:
    """Require that state, kernel, stream and features of a stored kernel perceptron agree."""
    require_problem(held)
    state, scheme, kernel, width = held["_state"], held["_scheme"], held["_kernel"], held["_width"]
    require(scheme.n_classes < 2**20, "there are too many classes")
    shape = () if scheme.kind == "binary" else (scheme.n_machines,)
    require(state.w.shape[:-1] == shape, "weights do not have the shape of their scheme")
    support = state.support
    require(width <= state.n_features, "kept rows have fewer features than the model")
    if support.keeps_rows and support.count:  # sparse rows may have room for features to come
        require_width(support.points.rows, support.count, width)
    require(kernel.streams == support.keeps_rows, "kernel and kept rows contradict each other")
    require(kernel.resolved, "the kernel has a parameter that it takes from data")
    link_stream(held)
