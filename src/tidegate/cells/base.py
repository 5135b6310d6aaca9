"""The form of a cell: its slots, its memories, and one pure ``step``.

A cell is written once, as equations. The same ``step`` runs on NumPy arrays (the reference), on
torch tensors (the eager layer) and on traced nodes, from which the derivatives, the machine code
and the LaTeX follow.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from tidegate.cells.functions import Value
from tidegate.cells.laws import Law

__all__ = ["Cell", "Feed", "Step", "both", "hidden", "input"]


@dataclass(frozen=True)
class Feed:
    """What a slot's pre-activation is made of, besides its bias.

    Attributes:
        input: W x, the step's input.
        hidden: U h, the hidden values of the step before.
        times: the gate that multiplies h before the product, U (gate * h); such a slot needs a
            second product in the same step.
        bias: b, one number for every unit.
        norm: the sum is brought to mean 0 and variance 1 over the units of its row (layer
            normalisation); its gain and shift are parameters of the units. Not pointwise, so only
            what steps whole layers can do it.

    >>> both(times="f")
    Feed(input=True, hidden=True, times='f', bias=True, norm=False)
    """

    input: bool
    hidden: bool
    times: str | None = None
    bias: bool = True
    norm: bool = False

    def __call__(self, *, times: str | None = None, bias: bool = True, norm: bool = False) -> Feed:
        return replace(self, times=times, bias=bias, norm=norm)


both = Feed(input=True, hidden=True)  #: W x + U h + b
input = Feed(input=True, hidden=False)  #: W x + b
hidden = Feed(input=False, hidden=True)  #: U h + b


class Step:
    """What one step gives: new memories and hidden values by name, and the named gates.

    >>> step = Step(h=0.5, c=1.0, gates={"f": 0.9})
    >>> step.c, step.gates["f"]
    (1.0, 0.9)
    """

    def __init__(self, *, gates: Mapping[str, Value] | None = None, **values: Value) -> None:
        self.__dict__.update(values)
        self.gates = dict(gates or {})

    def __getattr__(self, name: str) -> Value:
        raise AttributeError(f"this step gives no {name!r}; it gives {sorted(self.__dict__)}")


class Cell(ABC):
    """A recurrent cell: data and one pure function.

    Attributes:
        slots: the pre-activations, each with what feeds it.
        memory: values with a direct path from step to step.
        hidden: values that other units and the readout see; a block of S cells has S of them.
        parameters: one number per unit each (peepholes), with the law it starts by.
        start: where a memory starts, if not at 0.

    ``step`` uses ``+ - * /`` and the functions of :mod:`tidegate.cells.functions`, no branches.
    """

    slots: Mapping[str, Feed]
    memory: tuple[str, ...] = ()
    hidden: tuple[str, ...] = ("h",)
    parameters: Mapping[str, Law] = {}
    start: Mapping[str, float] = {}

    @abstractmethod
    def step(self, z: Any, past: Any, par: Any) -> Step:
        """One step of one unit.

        Args:
            z: a pre-activation for every slot, as attributes.
            past: the memories and hidden values of the step before, as attributes.
            par: the unit's own parameters, as attributes.

        Returns:
            new memories and hidden values (each named as declared), and the gates.
        """

    def fed_by(self, zone: str) -> tuple[str, ...]:
        """The slots with a part ``input``, ``hidden``, ``bias`` or ``norm``."""
        return tuple(slot for slot, feed in self.slots.items() if getattr(feed, zone))

    @property
    def second_product(self) -> Mapping[str, str]:
        """slot -> the gate that multiplies h before its product; empty for most cells."""
        return {slot: feed.times for slot, feed in self.slots.items() if feed.times is not None}

    def biases(self) -> Mapping[str, Law]:
        """The laws of biases that do not start at 0, by slot."""
        return {}

    def read(self, memory: Any) -> Mapping[str, Value]:
        """The memories in the units that mean something (sLSTM: c / n); as they are by default."""
        return {name: getattr(memory, name) for name in self.memory}

    def log_retention(self, z: Any, past: Any, par: Any, now: Step) -> Mapping[str, Value]:
        """Log-retention a cell states itself, by memory, in nats per step.

        Empty by default: the retention derived from the equations is meant.
        """
        return {}
