"""The torch form of what a cell may use in ``step``; importing this module registers it."""

from __future__ import annotations

import torch
from torch import Tensor

from tidegate.cells import functions

__all__: list[str] = []


def _tensor(value: Tensor | float, like: Tensor) -> Tensor:
    return value if isinstance(value, Tensor) else torch.as_tensor(value).to(like)


def _maximum(x: Tensor | float, y: Tensor | float) -> Tensor:
    like = x if isinstance(x, Tensor) else y
    assert isinstance(like, Tensor)  # the registry brings only calls with a tensor among them
    return torch.maximum(_tensor(x, like), _tensor(y, like))


def _minimum(x: Tensor | float, y: Tensor | float) -> Tensor:
    return -_maximum(-x, -y)


def _choose(
    x: Tensor | float, y: Tensor | float, yes: Tensor | float, no: Tensor | float
) -> Tensor:
    like = next(value for value in (x, y, yes, no) if isinstance(value, Tensor))
    return torch.where(_tensor(x, like) >= _tensor(y, like), _tensor(yes, like), _tensor(no, like))


functions.register(
    Tensor,
    {
        "sigmoid": torch.sigmoid,
        "tanh": torch.tanh,
        "exp": torch.exp,
        "log": torch.log,
        "sqrt": torch.sqrt,
        "log_sigmoid": torch.nn.functional.logsigmoid,
        "absolute": torch.abs,
        "maximum": _maximum,
        "minimum": _minimum,
        "choose": _choose,
        "fixed": Tensor.detach,
    },
)
