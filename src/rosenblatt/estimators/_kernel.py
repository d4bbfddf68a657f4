"""Parameters of a kernel perceptron: checks, the kernel for its data, its start and its budget."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from rosenblatt.data.features import Features, require_finite
from rosenblatt.estimators._online import OnlineLearning
from rosenblatt.estimators._parameters import check_choice, check_count, check_number, generator
from rosenblatt.exceptions import KernelWarning, ParameterError, ShapeError
from rosenblatt.kernels.points import Points
from rosenblatt.kernels.psd import COMPUTED, is_psd
from rosenblatt.kernels.space import Space, space_of
from rosenblatt.kernels.values import Kernel, Precomputed, as_kernel
from rosenblatt.learners.kernel import KernelPlan
from rosenblatt.learners.stream_schemas import link_stream
from rosenblatt.model.budget import POLICIES, Budget
from rosenblatt.model.kernel import points_of
from rosenblatt.model.kernel_state import KernelState
from rosenblatt.model.schemas import require_problem
from rosenblatt.model.scheme import Scheme
from rosenblatt.model.support import Support
from rosenblatt.schema.codecs import require
from rosenblatt.schema.rows import require_width

if TYPE_CHECKING:
    from rosenblatt.certify.certificate import Certificate

SAMPLE = 200  # rows that a function is tried on


def check_kernel_parameters(p: Any) -> None:
    """Check the parameters that only a kernel perceptron has."""
    as_kernel(p.kernel)
    check_choice("init", p.init, ("zero", "first"))
    check_number("cache_size", p.cache_size, least=0)
    check_choice("budget_policy", p.budget_policy, POLICIES)
    if p.budget is None:
        return
    check_count("budget", p.budget)
    if p.average and p.budget_policy != "projection":
        raise ParameterError(
            f"average=True cannot be combined with budget_policy={p.budget_policy!r}: rows that gave way would be "
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
            "kernel='precomputed' holds only values between training rows, so it cannot learn from a stream. Use "
            "fit, or another kernel."
        )
    if getattr(kernel, "gamma", None) == "scale":
        raise ParameterError(
            f"kernel={p.kernel!r} takes gamma='scale' from the variance of all rows, which a stream has yet to "
            "show. Give a number, as in kernel=kernels.RBF(0.1), or 'auto' for 1 / n_features; or fit first."
        )
    return kernel.resolve(Points(np.empty((1, n_features)), 1, n_features))


def warn_unless_kernel(kernel: Kernel, points: Points) -> None:
    """Warn if a function is not positive semidefinite on (a sample of) the training rows."""
    if kernel.known:
        return
    few = np.unique(np.linspace(0, points.n_rows - 1, min(SAMPLE, points.n_rows)).astype(np.int64))
    sample = points.take(few)
    found = is_psd(kernel.gram(sample, sample), ulps=COMPUTED)
    if found.verdict != "no":
        return
    where = f"On {len(few)} of the training rows" if len(few) < points.n_rows else "On the training rows"
    warnings.warn(
        f"kernel={kernel!r} is not positive semidefinite, so it is not a kernel. {where}: {found.reason} No bound "
        "on mistakes holds, and training may not end. Use another function, or ignore this warning.",
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


class KernelSpace(OnlineLearning, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier with hyperplanes in the space of a kernel, which can be certified there."""

    _kernel: Kernel

    def coordinates(self, X: Any, *, isometric: bool = False) -> Any:
        """Return the rows as points in the space of the kernel, which `certify` decides about.

        Parameters
        ----------
        X : array-like, sparse matrix or dataframe, shape (n_rows, n_features)
            Any rows. With ``kernel="precomputed"`` the matrix of training.
        isometric : bool
            Whether lengths and angles are those of the kernel, which margins need.

        Returns
        -------
        ndarray or sparse array, shape (n_rows, n_coordinates)
            For a linear kernel, the rows. For a polynomial kernel, their monomials if there are at most 1,000; the
            constant is left out if there is a bias. For other kernels, and if isometric, the result of
            `rosenblatt.kernels.coordinates` for the matrix of all pairs, for at most 1,000 rows.
        """
        return self._space(X, isometric).table

    def certify(self, X: Any, y: Any, *, margin: bool = False, time_limit: float | None = None) -> Certificate:
        """Decide whether a hyperplane in the space of the kernel separates the classes, and prove it.

        Parameters
        ----------
        X, y
            Any rows, as for `coordinates`, and their labels.
        margin : bool
            Whether to enclose the largest margin in that space, too; then the coordinates are isometric.
        time_limit : float or None
            As in `rosenblatt.certify`.

        Returns
        -------
        Separable, Inseparable, Undecided or ClassTables
            Of ``Z = clf.coordinates(X, isometric=margin)``, so that ``verify(Z, y)`` checks it.

        Notes
        -----
        The proof is exact for the floats Z. How far it holds for the kernel depends on the rounding of Z. A linear
        kernel has none, a polynomial one has none if data are integers, or dyadic fractions, whose products stay
        below 2⁵³. For other kernels, and with `margin`, Z Zᵀ is the matrix of all pairs up to 4n · 2⁻⁵² of its
        largest entry; this is checked. Rows that the kernel separates by less may be called inseparable.

        Examples
        --------
        >>> import rosenblatt as rb
        >>> from rosenblatt.kernels import Polynomial
        >>> X = np.mgrid[-2:3, -2:3].reshape(2, -1).T
        >>> y = (X**2).sum(axis=1) < 3
        >>> clf = rb.KernelPerceptron(Polynomial(2, 1)).fit(X, y)
        >>> found = clf.certify(X, y)
        >>> found.verdict, bool(found.verify(clf.coordinates(X), y))
        ('separable', True)
        """
        from rosenblatt.certify.separability import certify

        space = self._space(X, margin)
        found = certify(space.table, y, bias=self._has_bias(), margin=margin, time_limit=time_limit)
        return found.renamed(space.names)

    def _space(self, X: Any, isometric: bool) -> Space:
        self._require_fitted()
        features = self._features(X)
        require_finite(features)
        require_gram(self._kernel, features)
        points = points_of(features)
        names = self._feature_names()
        return space_of(self._kernel, points, names, isometric=isometric, constant=not self._has_bias())
