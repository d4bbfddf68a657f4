"""The kernel perceptron as a scikit-learn classifier."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.metaestimators import available_if

from rosenblatt.codecs import StateSchema, require, require_width
from rosenblatt.estimators._fitting import Before, conclude, generator, make_plan, require_same_problem, whole
from rosenblatt.estimators._linear import DRAWN, RUN, OnlineLearning, warn_of_column, without_long_trace
from rosenblatt.exceptions import Given, KernelWarning, ParameterError, ShapeError
from rosenblatt.kernels.kernel_file import KERNEL, KERNEL_STATE, KERNEL_STREAMS, KERNEL_TRACE
from rosenblatt.kernels.kernel_fit import KernelPlan, KernelStream, digest_of, fit_kernel
from rosenblatt.kernels.kernel_model import KernelModel, points_of
from rosenblatt.kernels.kernel_state import NOT_OF_A_SET, POLICIES, Budget, KernelState, Support
from rosenblatt.kernels.points import Points
from rosenblatt.kernels.psd import COMPUTED_ULPS, is_psd
from rosenblatt.kernels.space import Space, space_of
from rosenblatt.kernels.values import Kernel, Linear, Precomputed, as_kernel
from rosenblatt.learning.linear import Scheme, overflow, require_problem
from rosenblatt.learning.plan import Plan
from rosenblatt.learning.stored_streams import link_stream, online_parts
from rosenblatt.learning.stream import Stream
from rosenblatt.parameters import PerceptronParameters, fixed, learned, param, positional
from rosenblatt.registry import built_in
from rosenblatt.rows.batch import Batch, as_batch
from rosenblatt.rows.features import Features, protect, read_only, require_finite
from rosenblatt.stopping import interruptible
from rosenblatt.typing import ColumnLike, Floats, Ints, MatrixLike, RowLike

if TYPE_CHECKING:
    from rosenblatt.certify.certificate import Certificate


# Parameters of a kernel perceptron: checks, the kernel for its data, its start and its budget.

SAMPLE_ROWS = 200  # rows that a function is tried on


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
            Given("kernel", "precomputed")
            + " holds only values between training rows, so it cannot learn from a stream. Use "
            "fit, or another kernel."
        )
    if getattr(kernel, "gamma", None) == "scale":
        raise ParameterError(
            Given("kernel", p.kernel)
            + " takes gamma='scale' from the variance of all rows, which a stream has yet to "
            "show. Give a number, as in kernel=kernels.RBF(0.1), or 'auto' for 1 / n_features; or fit first."
        )
    return kernel.resolve(Points(np.empty((1, n_features)), 1, n_features))


def warn_unless_kernel(kernel: Kernel, points: Points) -> None:
    """Warn if a function is not positive semidefinite on (a sample of) the training rows."""
    if kernel.known:
        return
    few = np.unique(np.linspace(0, points.n_rows - 1, min(SAMPLE_ROWS, points.n_rows)).astype(np.int64))
    sample = points.take(few)
    found = is_psd(kernel.gram(sample, sample), ulps=COMPUTED_ULPS)
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
    if held["_stream"] is None:
        link_stream(held)
        return
    kept, whole = support.ids.copy(), state.kept is None
    link_stream(held)
    require(whole and (kept == support.ids).all(), "the rows of the stream are invalid")


def _streams(estimator: Any) -> bool:
    """Say whether an estimator can meet rows that no fit has shown it."""
    if as_kernel(estimator.kernel).streams:
        return True
    raise AttributeError(
        "kernel='precomputed' holds only values between training rows, so there is no partial_fit."
    )


class KernelPerceptron(PerceptronParameters, OnlineLearning, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """The perceptron in the space of a kernel: f(x) = Σ α_i y_i k(x_i, x) + b.

    A mistake on x_i raises α_i. The scores of all training rows are stored, and each mistake changes them by one
    row of kernel values. Rows without a mistake are not part of the model.

    Attributes
    ----------
    support_ : ndarray of int
        The training rows in the model, in the order of their first mistakes; −1 for rows of a stream.
    support_vectors_ : ndarray or sparse array
        Those rows.
    dual_coef_ : ndarray, shape (n_machines, n_support)
        Their coefficients α_i y_i.
    intercept_ : ndarray, shape (n_machines,)
        The biases.
    coef_ : ndarray, shape (n_machines, n_features)
        With the linear kernel: the hyperplanes.
    kernel_ : Kernel
        The kernel, with parameters such as "scale" replaced by numbers.
    classes_, n_iter_, n_mistakes_, mistakes_per_pass_, converged_, stop_reason_, trace_, curve_, t_
        As in `Perceptron`.

    Examples
    --------
    >>> from rosenblatt.datasets import load_xor
    >>> X, y = load_xor()
    >>> clf = KernelPerceptron("poly", order="cyclic").fit(X, y)
    >>> clf.score(X, y), clf.stop_reason_, clf.dual_coef_
    (1.0, 'separated', array([[-8.,  6.,  6., -5.]]))
    """

    _learner = built_in(
        "KernelPerceptron",
        StateSchema(
            online_parts(kinds=KERNEL_STREAMS) | {"_state": KERNEL_STATE, "_kernel": KERNEL, "_asked_for": KERNEL},
            RUN | {"_drawn": DRAWN, "_trace": KERNEL_TRACE},
            link_kernel,
            without_long_trace,
        ),
    )

    kernel: Any = positional(
        default="rbf",
        kw_only=False,
        doc='"linear", "poly", "rbf", "laplacian" or "precomputed"; a value of `rosenblatt.kernels` such as '
        "``RBF(0.5)``; or a function of two tables that returns the matrix of all pairs. A function that is not "
        "a kernel on the training data, or on a sample if they are many, raises a `KernelWarning`.",
        kind="str, Kernel or callable",
        check=lambda name, value: as_kernel(value),
    )
    budget: int | None = param(
        None,
        "The maximum number of rows to keep. None keeps all that mistakes were made on; a stream without end "
        "needs a budget.",
    )
    budget_policy: str = param(
        "projection",
        "How to make room for one more row: project it on the span of the stored rows, drop the oldest row, or "
        'drop a random one. Averaging needs "projection", which forgets nothing.',
        one_of=POLICIES,
    )
    cache_size: float = param(200.0, "The memory for kernel rows during `fit`, in megabytes.", least=0)
    penalty: Any = fixed(None)
    alpha: float = fixed(0.0001)
    l1_ratio: float = fixed(0.15)
    n_jobs: int | None = fixed(None)
    stop_on_cycle: bool = fixed(False)
    decide: bool = fixed(False)
    device: str = fixed("cpu")
    n_iter_no_change: int | None = param(
        None,
        "How many passes may go by before the mistakes of a pass fall by 2 %. Then training ends, if a number is "
        "given or with an average, where None means 5. Otherwise it ends on a trend: the mistakes of the second "
        "half of all passes are not 5 % fewer than those of the quarter before.",
    )
    bias: Any = param("unit", more="R is the largest norm in the kernel's space: R² = max k(x, x).")
    radius: float | None = param(None, "R; found from the data if None.")
    init: Any = param("zero", "The start: zero, or the first row visited.", one_of=("zero", "first"))
    average: bool = param(
        False,
        "Whether to predict with the average of the hypotheses after each visit. Training ends when the mistakes "
        "no longer fall. It need not separate the rows, and gives no warning. Averaging is over coefficients, and "
        "helps on noisy data.",
    )
    _state: KernelState = learned()
    _kernel: Kernel = learned()
    _asked_for: Kernel = learned()

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = isinstance(self.kernel, Precomputed) or (
            isinstance(self.kernel, str) and self.kernel == "precomputed"
        )
        return tags

    def fit(self, X: MatrixLike, y: ColumnLike, sample_weight: ArrayLike | None = None) -> Self:
        """Train until a stopping rule ends it; parameters and result as in `Perceptron.fit`.

        With ``kernel="precomputed"``, X is the square matrix of kernel values between training rows.
        """
        with interruptible():
            self._check_parameters()
            warn_of_column(y)
            batch = as_batch(X, y, sample_weight)
            batch.require_classes()
            require_finite(batch)
            before = self._before(batch)
            points = points_of(batch)
            kernel = as_kernel(self.kernel).resolve(points) if before is None else self._kernel
            require_gram(kernel, batch)
            warn_unless_kernel(kernel, points)
            blocks = whole(batch)
            with make_plan(self, blocks, before=before) as (plan, start, drawn):
                if before is None:
                    start = beginning(self, kernel, plan.scheme, batch.n_features)
                assert isinstance(start, KernelState)
                run = fit_kernel(batch, self._by_kernel(plan, kernel, points), start, own_plan(self, kernel))
            drawn = drawn._replace(passes=drawn.passes + len(run.mistakes_per_pass))
            self._publish(run, blocks, _drawn=drawn, _kernel=kernel, _asked_for=as_kernel(self.kernel))
            conclude(self, run, rows=None if isinstance(kernel, Precomputed) else blocks, best=self.average)
            return self

    @available_if(_streams)  # type: ignore[untyped-decorator]
    def partial_fit(
        self,
        X: MatrixLike,
        y: ColumnLike,
        classes: ColumnLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Visit the rows of a chunk once, in the order they come; see `Perceptron.partial_fit`."""
        if not self.__sklearn_is_fitted__():
            self._check_parameters()
            features = self._chunk(X)[0]
            require_finite(features)
            warn_unless_kernel(stream_kernel(self, features.n_features), points_of(features))
        return super().partial_fit(X, y, classes, sample_weight)

    def score_one(self, x: RowLike) -> Any:
        """Return the score that the label of one example is chosen by; see `Perceptron.score_one`."""
        from rosenblatt.kernels.dual_loop import add_scores

        if not self.__sklearn_is_fitted__():
            return None
        row, state = self._row(x), self._state
        require_finite(Features(row, 1, self._width), name="x")
        weights = np.atleast_2d(state.hypothesis())
        s = np.zeros((len(weights), 1))
        if state.support.count:
            point = state.support.like(Points(row, 1, state.n_features))
            add_scores(weights, 0, self._kernel.gram(state.support.points, point), s)
        scores = s[:, 0] + weights[:, -1]
        if not np.isfinite(scores).all():
            raise overflow()
        decision = self._scheme.decision(scores if self._scheme.kind == "binary" else scores[None])[0]
        return float(decision) if decision.ndim == 0 else decision

    def coordinates(self, X: MatrixLike, *, isometric: bool = False) -> Any:
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

    def certify(
        self, X: MatrixLike, y: ColumnLike, *, margin: bool = False, time_limit: float | None = None
    ) -> Certificate:
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

    def _space(self, X: MatrixLike, isometric: bool) -> Space:
        self._require_fitted()
        features = self._features(X)
        require_finite(features)
        require_gram(self._kernel, features)
        points = points_of(features)
        names = self._feature_names()
        return space_of(self._kernel, points, names, isometric=isometric, constant=not self._has_bias())

    @property
    def kernel_(self) -> Kernel:
        """The kernel, with parameters such as "scale" replaced by numbers."""
        self._require_fitted("kernel_")
        return self._kernel

    @property
    def support_(self) -> Ints:
        """The training rows in the model; −1 for rows of a stream."""
        ids = self._model("support_").support.ids
        assert ids is not None, "rows of a support have numbers"
        return read_only(ids)

    @property
    def support_vectors_(self) -> Any:
        """The rows in the model."""
        model = self._model("support_vectors_")
        if not model.kernel.streams:
            raise AttributeError("Of precomputed values no rows are known; see 'support_' for their numbers.")
        return protect(model.support.native)

    @property
    def dual_coef_(self) -> Floats:
        """The coefficients α_i y_i of the rows in the model, shape (n_machines, n_support)."""
        return read_only(np.atleast_2d(self._model("dual_coef_").alpha))

    @property
    def intercept_(self) -> Floats:
        """The biases, shape (n_machines,)."""
        return read_only(np.atleast_1d(self._model("intercept_").intercept))

    @property
    def coef_(self) -> Floats:
        """The hyperplanes of a linear kernel, shape (n_machines, n_features)."""
        model = self._model("coef_")
        if not isinstance(model.kernel, Linear):
            raise AttributeError(  # noqa: TRY004  so that hasattr says no
                f"In the space of {model.kernel!r} a hyperplane has no 'coef_'; see 'dual_coef_'."
            )
        return read_only(np.asarray(np.atleast_2d(model.alpha) @ model.support.native))

    @property
    def sparsify(self) -> Any:
        """Raise an error: a kernel perceptron has no `coef_` to convert."""
        raise AttributeError("A kernel perceptron has no coefficients of features to make sparse.")

    densify = sparsify

    def _model(self, attribute: str | None = None) -> KernelModel:  # type: ignore[override]  # of another kind
        self._require_fitted(attribute)
        model = KernelModel.of(self._state, self._kernel, self._scheme, self._classes, self._zero)
        model.support.n_features = self._width  # a stream keeps room for features to come
        return model

    def _by_kernel(self, plan: Plan, kernel: Kernel, points: Points) -> Plan:
        """Return the plan with R as the kernel measures it."""
        if plan.radius is None or self.radius is not None:
            return plan
        square = float(kernel.diagonal(points).max())
        return replace(plan, rule=plan.rule._replace(beta=square), radius=float(np.sqrt(max(square, 0.0))))

    def _before(self, batch: Batch) -> Before | None:
        """Return the last run, if this fit is to continue it."""
        if not self.warm_start or not self.__sklearn_is_fitted__():
            return None
        require_same_problem(self, batch, self._scheme)
        self._require_same_kernel()
        state = self._state.for_rule(average=self.average, shrinks=False)
        if state.kept is None or state.kept.digest != digest_of(batch):
            state.kept = None
            if self._kernel.streams:
                state.support.renumber(np.full(state.support.count, NOT_OF_A_SET))
        return state, self.__dict__.get("_drawn")

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.budget is not None and self.average and self.budget_policy != "projection":
            raise ParameterError(
                Given("average", True)
                + f" cannot be combined with budget_policy={self.budget_policy!r}: rows that gave way "
                "would be missing from the average. Use budget_policy='projection'."
            )

    def _require_same_kernel(self) -> None:
        self._check_parameters()
        if as_kernel(self.kernel) != self._asked_for:
            raise ParameterError(
                Given("kernel", self.kernel)
                + f" cannot continue from {self._asked_for!r}: coefficients mean nothing "
                "under another kernel. Use a new estimator."
            )
        if self.budget is not None and self._state.support.count > self.budget:
            raise ParameterError(
                Given("budget", self.budget)
                + f" cannot continue from {self._state.support.count} rows. Use a new estimator."
            )

    def _beginning(self, shape: tuple[int, ...], n_features: int) -> KernelState:
        self._check_parameters()
        machines = None if len(shape) == 1 else shape[0]
        scheme = Scheme("binary", 2) if machines is None else Scheme("direct", machines)
        return beginning(self, stream_kernel(self, n_features), scheme, n_features)

    def _new_stream(self, state: Any, *arguments: Any, **named: Any) -> Stream:
        if self.__sklearn_is_fitted__():
            self._require_same_kernel()
            kernel = self._kernel
            if not kernel.streams:
                stream_kernel(self, self._width)  # says why not
        else:
            kernel = stream_kernel(self, state.n_features)
        return KernelStream(state, *arguments, own=own_plan(self, kernel), **named)

    def _follow(self, stream: Stream, width: int, names: Any) -> None:
        assert isinstance(stream, KernelStream)
        self._kernel = stream.own.kernel
        self.__dict__.setdefault("_asked_for", as_kernel(self.kernel))
        super()._follow(stream, width, names)
