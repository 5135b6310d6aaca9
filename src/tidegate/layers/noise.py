"""Noise on what a layer carries from step to step: zoneout and recurrent dropout."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import torch
from torch import Tensor
from torch.nn import functional as F

from tidegate._core.errors import UsageError

__all__ = ["Noise", "zoneout_by_name"]


@dataclass(frozen=True)
class Noise:
    """What happens to states between steps; nothing by default.

    Attributes:
        zoneout: by state name, the probability that a unit keeps its old value at a step. Without
            training the expected value is taken. Source: Krueger et al., "Zoneout" (2016),
            equation 5: h comes from the new memory, before that is mixed with the old one.
        recurrent: the probability that a hidden value is not seen by the other units, drawn once
            for a whole sequence. Source: Gal & Ghahramani, "A Theoretically Grounded Application
            of Dropout in Recurrent Neural Networks" (2016).
        training: whether anything is drawn.
    """

    zoneout: Mapping[str, float] = field(default_factory=dict)
    recurrent: float = 0.0
    training: bool = False

    @property
    def silent(self) -> bool:
        """Whether the layer runs as if there were none."""
        return not self.zoneout and not (self.training and self.recurrent)

    def mask(self, hidden: Tensor) -> Tensor | None:
        """What multiplies the hidden values (B, ...) in every product of a sequence."""
        if not (self.training and self.recurrent):
            return None
        return F.dropout(torch.ones_like(hidden), self.recurrent, training=True)

    def mixed(self, name: str, old: Tensor, new: Tensor) -> Tensor:
        """The state after zoneout."""
        rate = self.zoneout.get(name, 0.0)
        if not rate:
            return new
        if self.training:
            return torch.where(torch.rand_like(new) < rate, old, new)
        return torch.lerp(new, old, rate)


def zoneout_by_name(
    zoneout: float | Mapping[str, float], names: tuple[str, ...]
) -> dict[str, float]:
    """Rates by state name, zeros left out; one number stands for all states.

    Raises:
        UsageError: a rate is outside [0, 1], or a name is no state of the cell.

    >>> zoneout_by_name({"c": 0.5}, ("h", "c")), zoneout_by_name(0.1, ("h", "c"))
    ({'c': 0.5}, {'h': 0.1, 'c': 0.1})
    """
    given = zoneout if isinstance(zoneout, Mapping) else dict.fromkeys(names, zoneout)
    for name, rate in given.items():
        if name not in names:
            raise UsageError("zoneout", f"names among {', '.join(names)}", name, "Name a state.")
        if not 0 <= rate <= 1:
            raise UsageError("zoneout", "rates in [0, 1]", repr(rate), "Try 0.1.")
    return {name: float(rate) for name, rate in given.items() if rate}
