"""The plain layers on a CUDA device go to cuDNN, by torch's own operators."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from torch import _VF, Tensor
from torch.nn.utils.rnn import PackedSequence

from tidegate.layers.checks import check_input, check_state
from tidegate.layers.sequences import opened

if TYPE_CHECKING:
    from tidegate.layers.drop_in import DropIn

__all__ = ["applies", "run"]

_OPERATORS: dict[str, Callable[..., tuple[Tensor, ...]]] = {
    "LSTM": _VF.lstm,
    "GRU": _VF.gru,
    "RNN_TANH": _VF.rnn_tanh,
    "RNN_RELU": _VF.rnn_relu,
}


def applies(layer: DropIn, input: Any, extras: tuple[Any, ...], trace: bool) -> bool:
    """Whether nothing is asked for that only the other forms have."""
    data = input.data if isinstance(input, PackedSequence) else input
    plain = not (trace or layer.zoneout or layer.recurrent_dropout or layer.learn_initial_state)
    return bool(data.is_cuda) and plain and all(extra is None for extra in extras)


def run(layer: DropIn, input: Any, hx: Any) -> Any:
    """What torch.nn returns: output and h, or output and (h, c)."""
    sequences = opened(type(layer).__name__, input, None, None, layer.batch_first)
    check_input(sequences.x, layer.input_size, layer.weight_ih_l0)
    rows = sequences.x.shape[1]
    sizes = [(len(layer.places), rows, n) for n in layer.places[0].layout.state.values()]
    if hx is None:
        state = tuple(sequences.x.new_zeros(size) for size in sizes)
    else:
        state = sequences.form.state_in((hx,) if isinstance(hx, Tensor) else tuple(hx))
        check_state(state, sizes)
    data, last = _fused(layer, sequences.x, input, state)
    last = sequences.form.state_out(last)
    output = sequences.form.output(data) if not isinstance(input, PackedSequence) else data
    return output, last if len(last) > 1 else last[0]


def _fused(
    layer: DropIn, x: Tensor, input: Any, state: tuple[Tensor, ...]
) -> tuple[Any, tuple[Tensor, ...]]:
    weights = layer._flat_weights
    first = state if len(state) > 1 else state[0]
    shape = (layer.bias, layer.num_layers, layer.dropout, layer.training, layer.bidirectional)
    operator = _OPERATORS[layer.mode]
    if not isinstance(input, PackedSequence):
        output, *last = operator(x, first, weights, *shape, False)
        return output, tuple(last)
    output, *last = operator(input.data, input.batch_sizes, first, weights, *shape)
    packed = PackedSequence(output, input.batch_sizes, input.sorted_indices, input.unsorted_indices)
    return packed, tuple(last)
