"""Ordinary least squares on raw repeats: coefficients, allocation of variation, intervals, leverage.

It uses the R of a QR of the design matrix, its columns scaled to length 1, and corrected seminormal equations (Björck,
Linear Algebra and its Applications 88/89, 1987): as accurate as QR, without storing Q. Formulas: Jain 1991, ch. 14-15;
robust errors HC3: MacKinnon & White, J. Econometrics 29, 1985.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from iosonde.core.blas_threads import use_single_blas_thread
from iosonde.core.errors import DataError
from iosonde.core.message import Message
from iosonde.core.types import Estimate

from ..estimate.distributions import f_quantile, f_upper_p, t_critical, t_two_sided_p
from .rounding import describe_equal_rows, zero_if_rounding

Array = npt.NDArray[np.float64]
LEVELS = (0.90, 0.95, 0.99)  # additional levels at which a verdict is reported
_DEPENDENT = 1e-10
_BLOCK = 8192


@dataclass(frozen=True)
class Coefficient:
    """A parameter with its interval at the fit's level; t and p are None without an error."""

    name: str
    estimate: float
    std_error: float
    low: float
    high: float
    t: float | None
    p: float | None


@dataclass(frozen=True)
class Fit:
    """A fitted line. ``ssr`` is the sum of squares that the regression explains, ``sse`` that of the residuals.

    ``df`` are the residual's degrees of freedom, n - k - 1. ``covariance`` is that of the coefficients; ``unscaled`` is
    (X'X)⁻¹.
    """

    names: tuple[str, ...]
    beta: Array
    covariance: Array
    unscaled: Array
    n: int
    df: int
    ssr: float
    sse: float
    mean_y: float
    level: float
    robust: bool = False
    x: Array | None = None
    y: Array | None = None
    leverage: Array | None = None
    triangle: Array | None = None  # R of the centred predictors, each of length 1

    @property
    def k(self) -> int:
        """Return the number of parameters without the intercept."""
        return len(self.names) - 1

    @property
    def r2(self) -> float:
        """Return SSR ÷ SST."""
        return self.ssr / (self.ssr + self.sse)

    @property
    def adjusted_r2(self) -> float:
        """Return 1 - (n - 1)/(n - k - 1)·(1 - R²)."""
        return compute_adjusted_r2(self.r2, self.n, self.k)

    @property
    def mse(self) -> float:
        """Return SSE ÷ df."""
        return self.sse / self.df

    @property
    def s_e(self) -> float:
        """Return the standard deviation of the errors, √MSE."""
        return math.sqrt(self.mse)

    @property
    def f(self) -> float | None:
        """Return (SSR ÷ k) ÷ MSE, with robust errors Wald's F of their covariance; None if there is no residual to test
        against."""
        if self.mse <= 0:
            return None
        if not self.robust:
            return self.ssr / self.k / self.mse
        slopes = self.beta[1:]
        return float(slopes @ np.linalg.pinv(self.covariance[1:, 1:]) @ slopes) / self.k

    @property
    def f_p(self) -> float | None:
        """Return P(F >= f) under no effect of any predictor."""
        return None if self.f is None else f_upper_p(self.f, self.k, self.df)

    @property
    def f_critical(self) -> float:
        """Return the level-quantile of F(k, df)."""
        return f_quantile(self.level, self.k, self.df)

    def by_level(self) -> dict[float, bool]:
        """Return level of :data:`LEVELS` → whether F is significant there; empty without an F."""
        f = self.f
        return {} if f is None else {level: f > f_quantile(level, self.k, self.df) for level in LEVELS}

    @property
    def residuals(self) -> Array:
        """Return y - ŷ in the order of the rows."""
        assert self.x is not None and self.y is not None
        return self.y - self.x @ self.beta

    def coefficients(self) -> list[Coefficient]:
        """Return each parameter with standard error, interval, t and p; t has df degrees of freedom, not n."""
        critical = t_critical(self.level, self.df)
        coefficients = []
        for i, name in enumerate(self.names):
            estimate, error = float(self.beta[i]), math.sqrt(max(0.0, float(self.covariance[i, i])))
            t = estimate / error if error > 0 else None
            coefficients.append(
                Coefficient(
                    name,
                    estimate,
                    error,
                    estimate - critical * error,
                    estimate + critical * error,
                    t,
                    None if t is None else t_two_sided_p(t, self.df),
                )
            )
        return coefficients


@dataclass(frozen=True)
class PointPrediction:
    """Prediction at a point: the fit, the interval of the mean response, and that of the mean of ``m`` new
    observations."""

    fit: float
    mean_low: float
    mean_high: float
    low: float
    high: float
    std_error_mean: float
    std_error_new: float
    m: int
    leverage: float


def fit_ols(x: Array, y: Array, names: Sequence[str], level: float, robust: bool = False) -> Fit:
    """Fit y on the columns of x (the intercept is added). Raises DataError if that is impossible or meaningless."""
    n = y.size
    matrix = np.column_stack([np.ones(n), x])
    labels = ("intercept", *names)
    if n <= matrix.shape[1]:
        rows = "1 row" if n == 1 else f"{n} rows"
        raise DataError(
            "too-few-rows",
            "{rows} are too few for {n_parameters} parameters and an error estimate",
            "measure more, or use fewer predictors",
            rows=rows,
            n_parameters=matrix.shape[1],
        )
    if how := describe_equal_rows(y):
        raise DataError(
            "constant-response",
            "the response {variation} in all {n_rows} rows: nothing to explain",
            "choose another response",
            variation=how,
            n_rows=n,
        )
    lengths = np.sqrt(np.einsum("ij,ij->j", matrix, matrix))
    triangle = _compute_triangle(matrix, np.where(lengths > 0, lengths, 1.0))
    _refuse_dependent_columns(triangle, lengths, labels)
    inverse = np.linalg.inv(triangle) / lengths[:, None]
    unscaled = inverse @ inverse.T
    beta = unscaled @ (matrix.T @ y)
    # A single correction makes the seminormal equations as accurate as with Q (Björck 1987).
    beta = beta + unscaled @ (matrix.T @ (y - matrix @ beta))
    projected = matrix @ inverse
    residuals, leverage = y - matrix @ beta, np.einsum("ij,ij->i", projected, projected)
    mean_y = float(np.mean(y))
    sse, sst = zero_if_rounding(float(residuals @ residuals), y), float(np.sum((y - mean_y) ** 2))
    if not sse:  # a coefficient that explains as little is rounding, too
        own = (beta**2 / np.diag(unscaled)).tolist()
        beta = np.array([b if zero_if_rounding(ss, y) else 0.0 for b, ss in zip(beta.tolist(), own, strict=True)])
        residuals = np.zeros(n)
    df = n - matrix.shape[1]
    covariance = unscaled * (sse / df)
    if robust:
        half = (matrix * (residuals / (1 - np.minimum(leverage, 1 - 1e-12)))[:, None]) @ unscaled
        covariance = half.T @ half
    return Fit(
        labels,
        beta,
        covariance,
        unscaled,
        n,
        df,
        max(0.0, sst - sse),
        sse,
        mean_y,
        level,
        robust,
        matrix,
        y,
        leverage,
        triangle[1:, 1:] / np.linalg.norm(triangle[1:, 1:], axis=0),
    )


def estimate_response_ratio(model: Fit, numerator: Array, denominator: Array) -> Estimate:
    """Return the mean response at one point ÷ that at another, rows of the design matrix as in :func:`predict`. The
    interval is Fieller's (1954, JRSS B 16, 175-185) with their covariance: both come from the same coefficients. Empty
    if the denominator's own interval includes 0."""
    a, b = float(numerator @ model.beta), float(denominator @ model.beta)
    t2 = t_critical(model.level, model.df) ** 2
    aa, ab, bb = (
        float(x @ model.covariance @ y)
        for x, y in ((numerator, numerator), (numerator, denominator), (denominator, denominator))
    )
    square = b * b - t2 * bb
    if square <= 0:
        why = Message("denominator-near-zero", "the denominator may be 0: its interval includes 0")
        return Estimate(a / b if b else None, None, None, model.level, model.n, (why,))
    middle = a * b - t2 * ab
    half = math.sqrt(max(0.0, middle * middle - square * (a * a - t2 * aa)))
    return Estimate(a / b, (middle - half) / square, (middle + half) / square, model.level, model.n)


def predict_response(model: Fit, point: Array, m: int = 1) -> PointPrediction:
    """Predict the response at ``point`` (a row of the design matrix, the 1 of the intercept first) with Student's t on
    df.

    For the mean of ``m`` new observations the error is s_e·√(1/m + h), h = x₀'(X'X)⁻¹x₀.
    """
    error_mean = math.sqrt(max(0.0, float(point @ model.covariance @ point)))
    error_new = math.sqrt(error_mean**2 + model.mse / m)
    value, critical = float(point @ model.beta), t_critical(model.level, model.df)
    return PointPrediction(
        value,
        value - critical * error_mean,
        value + critical * error_mean,
        value - critical * error_new,
        value + critical * error_new,
        error_mean,
        error_new,
        m,
        float(point @ model.unscaled @ point),
    )


def compute_adjusted_r2(r2: float, n: int, k: int) -> float:
    """Return 1 - (n - 1)/(n - k - 1)·(1 - R²) for k predictors."""
    return 1 - (n - 1) / (n - k - 1) * (1 - r2)


def compute_prediction_r2(y: npt.ArrayLike, predicted: npt.ArrayLike) -> float:
    """Return 1 - SSE/SST of predictions that were not fitted to y; below 0 they are worse than the mean of y."""
    observed, guessed = np.asarray(y, dtype=float), np.asarray(predicted, dtype=float)
    return float(1 - np.sum((observed - guessed) ** 2) / np.sum((observed - observed.mean()) ** 2))


def _compute_triangle(matrix: Array, lengths: Array) -> Array:
    """Compute R of the QR of the scaled matrix, by blocks of rows (Demmel et al. 2012): cache-friendly, and without
    Q."""
    if len(matrix) <= _BLOCK:
        return _compute_qr_triangle(matrix / lengths)
    with use_single_blas_thread():
        rows = [_compute_qr_triangle(matrix[at : at + _BLOCK] / lengths) for at in range(0, len(matrix), _BLOCK)]
    return _compute_qr_triangle(np.vstack(rows))


def _compute_qr_triangle(matrix: Array) -> Array:
    return np.linalg.qr(matrix, mode="r")  # type: ignore[return-value]  # NumPy's stubs cover the default mode only


def _refuse_dependent_columns(triangle: Array, lengths: Array, names: Sequence[str]) -> None:
    """Check for columns that are constant or combinations of others. Raises DataError with their names."""
    centered = triangle[1:, 1:]  # the intercept is first, so the rest is the R of the centred columns
    spread = np.linalg.norm(centered, axis=0)
    for name, deviation, length in zip(names[1:], spread, lengths[1:], strict=True):
        if length == 0 or deviation <= _DEPENDENT:
            raise DataError(
                "constant-predictor",
                "'{predictor}' is the same in every row and cannot explain anything",
                "leave it out of {spell.on}",
                predictor=name,
            )
    _, values, vectors = np.linalg.svd(centered / spread)
    if values[-1] > _DEPENDENT * values[0]:
        return
    weights = np.abs(vectors[-1])
    guilty = [name for name, weight in zip(names[1:], weights, strict=True) if weight > 1e-3 * weights.max()]
    raise DataError(
        "aliased-terms",
        "the predictors {predictors} are linearly dependent: their effects cannot be separated",
        "remove one of them, such as {suggestion}",
        predictors=", ".join(guilty),
        suggestion=guilty[-1],
    )
