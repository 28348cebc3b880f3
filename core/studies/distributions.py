"""The three distributions that the figures need; the only module that loads scipy's special functions."""

from __future__ import annotations

from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]


def normal_quantile(probability: float) -> float:
    """The standard normal's quantile."""
    return NormalDist().inv_cdf(probability)


def normal_below(value: float) -> float:
    """How likely a standard normal is to fall below `value`."""
    return NormalDist().cdf(value)


def t_quantile(probability: float, freedom: float) -> float:
    """Student's quantile; `freedom` > 0."""
    from scipy.special import stdtrit

    return float(stdtrit(freedom, probability))


def t_below(value: float, freedom: float) -> float:
    """How likely Student's t is to fall below `value`."""
    from scipy.special import stdtr

    return float(stdtr(freedom, value))


def binomial_up_to(most: ArrayLike, trials: ArrayLike, chance: ArrayLike) -> Floats:
    """How likely at most `most` of `trials` succeed, exactly; 0 where `most` is negative."""
    from scipy.special import bdtr

    most = np.asarray(most, dtype=np.float64)
    whole = np.asarray(trials, dtype=np.int64)  # scipy takes the trials as whole numbers only
    found = np.asarray(bdtr(np.maximum(most, 0.0), whole, np.asarray(chance)), dtype=np.float64)
    return np.where(most < 0, 0.0, found)
