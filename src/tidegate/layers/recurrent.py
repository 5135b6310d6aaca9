"""The recurrent layer over any cell."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

import torch
from torch import Tensor
from torch.nn import Module, Parameter
from torch.nn.utils.rnn import PackedSequence

from tidegate import cells
from tidegate._core.errors import UsageError
from tidegate.calculus import derive
from tidegate.cells.base import Cell
from tidegate.kernels.batch.plan import start
from tidegate.layers.checks import check_input, check_sizes, check_state
from tidegate.layers.initial import draw_laws
from tidegate.layers.keys import cell_key
from tidegate.layers.layout import Carried, Layout, Place, wide
from tidegate.layers.noise import Noise, zoneout_by_name
from tidegate.layers.sequences import Sequences, State, opened
from tidegate.layers.stack import Manner, Part, run
from tidegate.layers.straight import straight
from tidegate.layers.trace import LayerTrace

__all__ = ["Recurrent"]

Input = Tensor | PackedSequence
Traces = LayerTrace | tuple[LayerTrace, ...]


class Recurrent(Module):
    """One or more recurrent layers of any cell, called like ``torch.nn.LSTM``.

    Args:
        cell: a cell or its name.
        input_size: I, size of the input vector.
        hidden_size: H, units of every layer and direction.
        num_layers: layers, each fed by the one below.
        bias: whether slots have a bias.
        batch_first: inputs and outputs are (N, L, ...) instead of (L, N, ...); states are not.
        dropout: on the outputs of every layer but the last, while training.
        bidirectional: a second set of weights runs backwards; D is 2 then, else 1.
        proj_size: hidden values are projected to this size; 0 for none. The cell's hidden value
            must not be a memory.
        zoneout: probability that a unit keeps its old value at a step: one for all states, or by
            state name.
        recurrent_dropout: probability that a hidden value is unseen by the other units, drawn once
            for a sequence, while training.
        learn_initial_state: the state before the first step, and after a reset, is learned.
        device, dtype: of the parameters.

    Parameters, for layer k: ``weight_ih_l{k}`` (slots fed by the input * H, I or D * outputs),
    ``weight_hh_l{k}``, ``bias_ih_l{k}``, ``bias_hh_l{k}``, ``weight_hr_l{k}``, then the units' own
    by their names, such as ``p_i_l{k}``; with ``_reverse`` appended for the second direction.

    Raises:
        UsageError: there is no such cell, a rate is no probability, or the cell has no projection.
        TypeError, ValueError: an argument as torch.nn refuses it.

    >>> layer = Recurrent("peephole", 3, 4)
    >>> output, (h, c) = layer(torch.ones(6, 2, 3))
    >>> output.shape, h.shape, c.shape
    (torch.Size([6, 2, 4]), torch.Size([1, 2, 4]), torch.Size([1, 2, 4]))
    """

    weight_ih_l0: Tensor

    def __init__(
        self,
        cell: str | Cell,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        proj_size: int = 0,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
        *,
        zoneout: float | Mapping[str, float] = 0.0,
        recurrent_dropout: float = 0.0,
        learn_initial_state: bool = False,
    ) -> None:
        super().__init__()
        check_sizes(input_size, hidden_size, num_layers, bias, batch_first, dropout, proj_size)
        self.cell = cells.named(cell, "Recurrent") if isinstance(cell, str) else cell
        derive(self.cell)  # equations that do not hold together are refused when the layer is made
        self.input_size, self.hidden_size, self.num_layers = input_size, hidden_size, num_layers
        self.bias, self.batch_first, self.dropout = bias, batch_first, float(dropout)
        self.bidirectional, self.proj_size = bidirectional, proj_size
        self.recurrent_dropout = _rate("recurrent_dropout", recurrent_dropout)
        self.learn_initial_state = learn_initial_state
        self.places = self._laid_out(cell_key(self.cell))
        self.zoneout = zoneout_by_name(zoneout, self.states)
        for name, shape in self._shapes().items():
            self.register_parameter(name, Parameter(torch.empty(shape, device=device, dtype=dtype)))
        self.reset_parameters()

    @property
    def states(self) -> tuple[str, ...]:
        """Names of what is carried on, in the order of the state: hidden values, then memories."""
        return tuple(self.places[0].layout.state)

    @property
    def directions(self) -> int:
        return 2 if self.bidirectional else 1

    def reset_parameters(self) -> None:
        """Draw all parameters anew: uniform in +-1 / sqrt(H), then what the cell has a law for."""
        bound = 1.0 / math.sqrt(self.hidden_size)
        for parameter in self.parameters():
            torch.nn.init.uniform_(parameter, -bound, bound)
        draw_laws(self)

    def initial_state(self, rows: int) -> State:
        """Where ``rows`` sequences start by default: for every state (D * layers, rows, size)."""
        fresh = [self._fresh(n) for n in range(len(self.places))]
        return tuple(
            torch.stack([by_name[name].expand(rows, -1) for by_name in fresh])
            for name in self.states
        )

    def forward(
        self,
        input: Input,
        hx: State | Tensor | None = None,
        *,
        reset: Input | None = None,
        lengths: Tensor | None = None,
        trace: bool = False,
    ) -> tuple[Input, State] | tuple[Input, State, Traces]:
        """Run over sequences.

        Args:
            input: (L, N, I), or (N, L, I) with ``batch_first``; (L, I); or a PackedSequence.
            hx: the states before the first step in the order of ``states``, each (D * layers, N,
                size); without a batch (D * layers, size). By default the cell's start values.
            reset: flags with the input's leading dimensions, bool or 0 / 1: before such a step the
                row's state goes back to the start, and no error flows back past it.
            lengths: steps (N,) of every row, 0 to L; beyond them outputs are 0 and states stay.
            trace: also return what every step did.

        Returns:
            output in the form of the input (..., D * outputs); the states after the last step; with
            ``trace`` a :class:`LayerTrace`, or one for every layer and direction in a tuple.

        Raises:
            RuntimeError, ValueError: as torch.nn raises them.
            UsageError: reset or lengths do not fit the input.
        """
        if reset is None and lengths is None:
            done = straight(self, input, hx, trace)
            if done is not None:
                return done
        sequences = opened(type(self).__name__, input, reset, lengths, self.batch_first)
        check_input(sequences.x, self.input_size, self.weight_ih_l0)
        noise = Noise(self.zoneout, self.recurrent_dropout, self.training)
        manner = Manner(self.directions, self.dropout, noise, trace)
        result = run(self._parts(sequences, hx), sequences, manner)
        output = sequences.form.output(result.hidden)
        state = sequences.form.state_out(_by_state(result.states))
        if not trace:
            return output, state
        traces = tuple(result.traces)
        return output, state, traces[0] if len(traces) == 1 else traces

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)  # type: ignore[no-untyped-call]
        self.places = self._laid_out(cell_key(self.cell))

    def extra_repr(self) -> str:
        shown = {
            "proj_size": (self.proj_size, 0),
            "num_layers": (self.num_layers, 1),
            "bias": (self.bias, True),
            "batch_first": (self.batch_first, False),
            "dropout": (self.dropout, 0.0),
            "bidirectional": (self.bidirectional, False),
            "zoneout": (self.zoneout, {}),
            "recurrent_dropout": (self.recurrent_dropout, 0.0),
            "learn_initial_state": (self.learn_initial_state, False),
        }
        changed = [f"{name}={value}" for name, (value, usual) in shown.items() if value != usual]
        return ", ".join([*self._repr_head(), *changed])

    def _repr_head(self) -> list[str]:
        return [repr(self.cell), str(self.input_size), str(self.hidden_size)]

    def _laid_out(self, key: str) -> tuple[Place, ...]:
        """Every direction of every layer, in torch's order."""
        first = Layout(self.cell, self.input_size, self.hidden_size, self.proj_size, key)
        if self.proj_size and (set(self.cell.hidden) & set(self.cell.memory)):
            raise UsageError(
                f"{type(self.cell).__name__} proj_size",
                "0 where a hidden value is a memory",
                repr(self.proj_size),
                "Project the output instead.",
            )
        above = self.directions * first.outputs
        upper = Layout(self.cell, above, self.hidden_size, self.proj_size, key)
        return tuple(
            Place.of(upper if layer else first, layer, reverse, self.bias)
            for layer in range(self.num_layers)
            for reverse in (False, True)[: self.directions]
        )

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        shapes = {n: s for place in self.places for n, s in place.shapes(self.bias).items()}
        if self.learn_initial_state:
            sizes = self.places[0].layout.state
            shapes |= {f"initial_{n}": (len(self.places), size) for n, size in sizes.items()}
        return shapes

    def _parts(self, sequences: Sequences, hx: State | Tensor | None) -> list[Part]:
        first = self._first(sequences, hx)
        plain = not self.learn_initial_state
        parts = []
        for n, place in enumerate(self.places):
            parameters = {name: self._parameter(full) for name, full in place.names.items()}
            state = None if first is None else place.layout.carried(first, n)
            fresh = {} if sequences.reset is None else self._fresh(n)
            parts.append(Part(place.layout, parameters, state, fresh, plain))
        return parts

    def _parameter(self, name: str) -> Tensor:
        """The attribute, past the slow way of a module where it can be."""
        found = self._parameters.get(name)
        return getattr(self, name) if found is None else found

    def _first(self, sequences: Sequences, hx: State | Tensor | None) -> State | None:
        """The states before the first step (D * layers, B, size); nothing for the cell's own."""
        rows = sequences.x.shape[1]
        if hx is None:
            return self.initial_state(rows) if self.learn_initial_state else None
        state = sequences.form.state_in((hx,) if isinstance(hx, Tensor) else tuple(hx))
        sizes = self.places[0].layout.state.values()
        check_state(state, [(len(self.places), rows, size) for size in sizes])
        return state

    def _fresh(self, n: int) -> dict[str, Tensor]:
        """What a reset goes back to in part n, by name (size,)."""
        sizes = self.places[n].layout.state
        if self.learn_initial_state:
            return {name: getattr(self, f"initial_{name}")[n] for name in sizes}
        return dict(zip(sizes, self._start(sizes, [(n,) for n in sizes.values()]), strict=True))

    def _start(self, names: Iterable[str], shapes: Iterable[tuple[int, ...]]) -> State:
        """Where the cell itself starts."""
        like = self.weight_ih_l0
        dtype = wide(like.dtype)
        values = [start(self.cell, name) for name in names]
        return tuple(
            like.new_full(shape, value, dtype=dtype)
            if value
            else like.new_zeros(shape, dtype=dtype)
            for value, shape in zip(values, shapes, strict=True)
        )


def _by_state(parts: list[Carried]) -> State:
    """(D * layers, B, size) for every state, from what each part carries."""
    return tuple(
        [
            _row([part[kind] for part in parts], k)
            for kind, like in enumerate(parts[0])
            for k in range(like.shape[0])
        ]
    )


def _row(values: list[Tensor], k: int) -> Tensor:
    """Row k of each, one below the other."""
    if len(values) == values[0].shape[0] == 1:
        return values[0]
    return torch.cat([value[k : k + 1] for value in values])


def _rate(owner: str, rate: float) -> float:
    if not 0 <= rate <= 1:
        raise UsageError(owner, "a probability in [0, 1]", repr(rate), "Try 0.1.")
    return float(rate)
