"""Linear models of rows that share an error: nested random effects, by restricted maximum likelihood (REML).

V(θ) = θ_e·I + Σ θ_i·Z_i·Z_i', where Z_i assigns rows to unit i. θ_i may fall below 0 as long as V stays positive
definite ("nobound"). In a balanced design every F and its degrees of freedom are then the classical ones of its stratum
(Montgomery, Design and Analysis of Experiments, 8th ed., §14.4). Components cut at 0 would pool the strata and give
false alarms (Jones & Nachtsheim, Journal of Quality Technology 41, 2009, 340-361; Stroup & Littell, Applied Statistics
in Agriculture, 2002). Otherwise degrees of freedom are Satterthwaite's; those of several contrasts are combined as in
Fai & Cornelius (Journal of Statistical Computation and Simulation 54, 1996, 363-378).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from iosonde.core.arrays import Array, Indices

from ..estimate.distributions import f_upper_p

_SAME = 1e-10
_STEPS = 200
# Units differ by at least this share of the variance of rows. The information on units is 1/_ALIKE² of that on rows, so
# doubles leave rows a precision of 2e-16/_ALIKE² = 2e-6; _WHOLE_DF is the rounding error of degrees of freedom.
_ALIKE = 1e-5
_DF_TOLERANCE = 1e-5
_MOST_DF = 1e6  # practically infinite


@dataclass(frozen=True)
class MixedTest:
    """F test of ``df`` contrasts being 0, with the degrees of freedom of their error."""

    f: float
    df: int
    df_error: float
    p: float


@dataclass(frozen=True)
class LinearValue:
    """A sum of coefficients with its standard error and Satterthwaite's degrees of freedom."""

    value: float
    error: float
    df: float


@dataclass(frozen=True)
class MixedModel:
    """A fitted model, in an orthonormal basis of fixed and random effects: ``y``, its ``parts`` (Z·Z' of each random
    effect, the identity last), and ``theta``, the variance of each. ``spread`` is the covariance of ``theta``."""

    basis: Array
    y: Array
    parts: tuple[Array, ...]
    theta: Array
    spread: Array

    def test(self, base: Array, more: Array) -> MixedTest | None:
        """Test the columns ``more`` in addition to ``base``; None if they add no dimension."""
        own = compute_column_basis(_project_out(more, compute_column_basis(base)))
        old, new = self._whiten_columns(base), self._whiten_columns(own)
        u, values, _ = np.linalg.svd(_project_out(new, compute_column_basis(old)), full_matrices=False)
        contrasts = u[
            :, values > 1e-8 * max(np.linalg.norm(new, axis=0).max(initial=0.0), 1e-300)
        ].T  # weights of whitened rows: uncorrelated, of variance 1
        if not len(contrasts):
            return None
        f = float(np.sum((contrasts @ self._whiten(self.y)) ** 2)) / len(contrasts)
        df_error = _join_df([self._satterthwaite_df(contrast) for contrast in contrasts])
        return MixedTest(f, len(contrasts), df_error, f_upper_p(f, len(contrasts), df_error))

    def value(self, x: Array, row: Array) -> LinearValue | None:
        """Return Σ row·β of the generalised least squares on the columns of ``x``; None if not estimable."""
        whitened = self._whiten_columns(x)
        inverse = np.linalg.pinv(whitened, rcond=1e-10)
        if not np.allclose(row @ inverse @ whitened, row, rtol=0, atol=1e-6 * float(np.abs(row).max(initial=0.0))):
            return None
        weights = inverse.T @ row  # on whitened data
        error = float(np.linalg.norm(weights))
        return LinearValue(
            float(weights @ self._whiten(self.y)),
            error,
            self._satterthwaite_df(weights / error) if error > 0 else _MOST_DF,
        )

    def _whiten_columns(self, x: Array) -> Array:
        return self._whiten(self.basis.T @ x)

    def _whiten(self, inside: Array) -> Array:
        return np.asarray(np.linalg.solve(self._cholesky_root, inside))

    @property
    def _cholesky_root(self) -> Array:
        return np.asarray(np.linalg.cholesky(_build_covariance(self.parts, self.theta)))

    def _satterthwaite_df(self, direction: Array) -> float:
        """Return 2·v² ÷ Var(v) of the variance v of a contrast with unit weights on whitened data (v = 1)."""
        inner = np.linalg.solve(self._cholesky_root.T, direction)
        slope = np.array([float(inner @ part @ inner) for part in self.parts])
        variance = float(slope @ self.spread @ slope)
        df = min(2.0 / variance, _MOST_DF) if variance > 0 else _MOST_DF
        return float(round(df)) if abs(df - round(df)) < _DF_TOLERANCE * df else df


def fit_mixed_model(y: Array, x: Array, units: Sequence[Indices], start: Sequence[float]) -> MixedModel:
    """Fit ``y`` on the columns of ``x``, with an error shared by the rows of a unit. ``units`` number those of each
    random effect; ``start`` are starting variances, that of single rows last.

    By Fisher scoring on the restricted likelihood (Searle, Casella & McCulloch, Variance Components, 1992, §6.6).
    """
    blocks = [np.eye(int(of.max()) + 1)[of] for of in units]
    basis = compute_column_basis(np.column_stack([x, *blocks]))
    inside = [basis.T @ block for block in blocks]
    parts = (*(block @ block.T for block in inside), np.eye(basis.shape[1]))
    within = basis.T @ y
    rest = y - basis @ within
    theta, spread = _maximise_likelihood(
        within,
        basis.T @ x,
        parts,
        _OutsideBasis(float(rest @ rest), y.size - basis.shape[1], compute_rounding_variance(y)),
        np.array(start, dtype=float),
    )
    return MixedModel(basis, within, parts, theta, spread)


@dataclass(frozen=True)
class _OutsideBasis:
    """The part outside the basis, where only single rows differ: its sum of squares and degrees of freedom, and the
    variance below which rows are equal."""

    ss: float
    df: int
    least: float


def compute_rounding_variance(y: Array) -> float:
    """Return the variance of rows that differ by rounding alone."""
    return max(1e-30 * float(np.mean(y**2)), 1e-150)


def _maximise_likelihood(
    y: Array, x: Array, parts: Sequence[Array], outside: _OutsideBasis, theta: Array
) -> tuple[Array, Array]:
    """Return (the variances, their covariance)."""
    at = _compute_likelihood(y, x, parts, outside, theta)
    assert at is not None, "the starting variances are not a valid covariance"
    for _ in range(_STEPS):
        value, score, information = at
        step = _invert_information(information) @ score
        following = None
        for _ in range(40):
            following = _compute_likelihood(y, x, parts, outside, theta + step)
            if following is not None and following[0] >= value - 1e-12 * abs(value):
                break
            following, step = None, step / 2
        if following is None:
            break
        theta, at = theta + step, following
        if np.all(np.abs(step) <= _SAME * np.abs(theta).max()):
            break
    return theta, _invert_information(at[2])


def _invert_information(information: Array) -> Array:
    """Invert the information with each variance on its own scale. Otherwise small variances of rows would make the
    others negligible."""
    scale = 1 / np.sqrt(np.maximum(np.diag(information), 1e-300))
    return np.asarray(np.linalg.pinv(information * np.outer(scale, scale)) * np.outer(scale, scale))


def _compute_likelihood(
    y: Array, x: Array, parts: Sequence[Array], outside: _OutsideBasis, theta: Array
) -> tuple[float, Array, Array] | None:
    """Return (the restricted log likelihood, its slope, the expected information); None if V is not positive
    definite."""
    own = float(theta[-1])
    if own < outside.least:
        return None
    try:
        root = np.linalg.cholesky(_build_covariance(parts, theta))
    except np.linalg.LinAlgError:
        return None
    least = np.diag(root).min()
    if least < 1e-7 * np.diag(root).max() or least**2 < _ALIKE * own:
        return None
    u, values, _ = np.linalg.svd(np.linalg.solve(root, x), full_matrices=False)
    used = values > 1e-10 * values.max()
    q = u[:, used]
    inverse = np.linalg.solve(root, np.eye(len(y)))
    p = inverse.T @ inverse - (inverse.T @ q) @ (q.T @ inverse)
    py = p @ y
    products = [p @ part for part in parts]
    value = -(np.log(np.diag(root)).sum() + np.log(values[used]).sum()) - 0.5 * float(y @ py)
    value -= 0.5 * (outside.df * np.log(own) + outside.ss / own)
    score = np.array([-0.5 * (np.trace(m) - float(py @ part @ py)) for m, part in zip(products, parts, strict=True)])
    score[-1] -= 0.5 * (outside.df / own - outside.ss / own**2)
    information = np.array([[0.5 * float(np.sum(a * b.T)) for b in products] for a in products])
    information[-1, -1] += 0.5 * outside.df / own**2
    return float(value), score, information


def _build_covariance(parts: Sequence[Array], theta: Array) -> Array:
    return np.asarray(sum(value * part for value, part in zip(theta, parts, strict=True)))


def compute_column_basis(x: Array) -> Array:
    """Return an orthonormal basis of the columns."""
    if not x.shape[1]:
        return x
    u, values, _ = np.linalg.svd(x / np.maximum(np.linalg.norm(x, axis=0), 1e-300), full_matrices=False)
    return np.asarray(u[:, values > 1e-9 * values.max()])


def _project_out(x: Array, basis: Array) -> Array:
    """Return the part of the columns outside an orthonormal basis, without columns that lie inside except for rounding.

    This precedes whitening: if units hardly differ, their share of a column would then dominate.
    """
    rest = x - basis @ (basis.T @ x)
    return np.asarray(rest[:, np.linalg.norm(rest, axis=0) > 1e-9 * np.linalg.norm(x, axis=0)])


def _join_df(each: Sequence[float]) -> float:
    """Return the degrees of freedom of an F of several contrasts, from those of each."""
    if max(each) - min(each) <= _DF_TOLERANCE * min(each) or min(each) <= 2:
        return float(min(each))
    total = sum(df / (df - 2) for df in each)
    return min(2 * total / (total - len(each)), _MOST_DF)
