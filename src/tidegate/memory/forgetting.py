"""Forgetting, step by step: each definition is a formula of f_kt = |R_kt|, unit k, step t.

    closing        1 - f_kt                                per unit
    halving        f_kt <= 1/2                             per unit: half or more is lost at once
    mean closing   mean_k (1 - f_kt)                       the layer; means little by itself
    loss           D_t = sum_k (1 - f_kt) |m_k,t-1|        the layer, in units of the memory
    forget score   E_t = sum_k w_k ((1 - f_kt) - m_k) / s_k,  w_k = max(skew_k, 0) / sum

with mean m_k, standard deviation s_k and skewness of 1 - f_k over the steps from the first *to* t.
The score is the default: units that close seldom and then sharply count most, and nothing ahead of
t is looked at. At a reset it is what the gates do themselves that counts.

Step t is one of the n that are averaged, so that |(1 - f_kt) - m_k| <= s_k sqrt(n - 1) (Samuelson,
"How deviant can you be?", 1968): the first closing of a gate that has hardly moved scores
sqrt(n - 1). Against the steps before it alone it would score without bound, or, had the gate not
moved at all, nothing.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tidegate._core.trace import Array, Trace
from tidegate.memory.direct_path import Floats, direct_path
from tidegate.memory.running import RunningMoments

__all__ = ["ForgetScore", "closing", "forget_score", "halvings", "loss", "mean_closing"]


class ForgetScore:
    """E_t online: each call takes one step's closing and knows what has been so far.

    Its state is a few numbers a unit; feed it the next block of a stream and it goes on.

    >>> score = ForgetScore()
    >>> rare = [0.1, 0.1, 0.1, 0.9, 0.1, 0.1, 0.9]
    >>> [round(float(score.update(np.array([share]))), 1) for share in rare]
    [0.0, 0.0, 0.0, 1.7, -0.5, -0.4, 1.6]
    """

    def __init__(self) -> None:
        self._moments = RunningMoments()

    def update(self, closing: Array) -> Floats:
        """E_t of closing (..., units); 0 while no unit has a skew above 0 yet."""
        self._moments.add(closing)
        weight = np.maximum(self._moments.skew, 0.0)
        total = weight.sum(axis=-1)
        excess = self._moments.standardised(closing)
        score = (weight * excess).sum(axis=-1) / np.where(total > 0, total, 1.0)
        return np.asarray(score)


def closing(trace: Trace, memory: str | None = None) -> Floats:
    """1 - |R| of every unit (steps, rows, units), exact also where R rounds to 1.

    >>> closing(Trace(log_retention={"c": np.array([[[-1e-20, np.log(0.25)]]])}))
    array([[[1.0e-20, 7.5e-01]]])
    """
    path = direct_path(trace, memory)
    return np.asarray(-np.expm1(trace.log_retention[path.name]))


def halvings(trace: Trace, memory: str | None = None) -> NDArray[np.bool_]:
    """Where a unit loses half of its memory or more in one step (steps, rows, units).

    >>> halvings(Trace(log_retention={"c": np.log([[[0.5, 0.6]]])}))
    array([[[ True, False]]])
    """
    path = direct_path(trace, memory)
    return np.asarray(trace.log_retention[path.name] <= -np.log(2.0))


def mean_closing(trace: Trace, memory: str | None = None) -> Floats:
    """mean_k (1 - f_kt), (steps, rows).

    >>> mean_closing(Trace(log_retention={"c": np.log([[[0.5, 0.7]]])}))
    array([[0.4]])
    """
    return np.asarray(closing(trace, memory).mean(axis=-1))


def loss(trace: Trace, memory: str | None = None) -> Floats:
    """D_t = sum_k (1 - f_kt) |m_k,t-1|, (steps, rows); 0 at the first step and at resets.

    >>> kept = np.full((2, 1, 1), np.log(0.5))
    >>> loss(Trace({"c": kept}, {"c": np.array([3.0, 1.5]).reshape(2, 1, 1)})).ravel()
    array([0. , 1.5])
    """
    path = direct_path(trace, memory)
    before = np.concatenate([np.zeros((1, trace.rows, trace.units)), np.abs(path.memory[:-1])])
    before[trace.reset] = 0.0
    return np.asarray((closing(trace, memory) * before).sum(axis=-1))


def forget_score(trace: Trace, memory: str | None = None) -> Floats:
    """E_t of every step (steps, rows), each from the steps up to it.

    >>> f = np.where(np.arange(100) % 10 == 9, 0.1, 0.9).reshape(100, 1, 1)
    >>> np.flatnonzero(forget_score(Trace(log_retention={"c": np.log(f)}))[:, 0] > 2)[:3]
    array([ 9, 19, 29])
    """
    score = ForgetScore()
    return np.stack([score.update(step) for step in closing(trace, memory)])
