"""Layers as ONNX models whose state goes in and comes out: a stream can be fed in pieces."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from tidegate._core.errors import MissingExtraError
from tidegate.kernels.batch.plan import Array, Weights
from tidegate.layers.layout import DirectionWeights, Layout, Place
from tidegate.layers.recurrent import Recurrent

try:
    import onnx
    from onnx import helper
except ImportError as error:
    raise MissingExtraError(
        "tidegate.layers.convert_onnx", "onnx", "an environment without it",
        "pip install 'tidegate[onnx]'",
    ) from error  # fmt: skip

from tidegate.layers.onnx_cell import Nodes, step_graph

__all__ = ["to_onnx"]

_OPSET = 17
_IR_VERSION = 9

#: cell name -> operator, its own order of our gates, its attributes
_OPERATORS: dict[str, tuple[str, tuple[int, ...], dict[str, Any]]] = {
    "LSTM": ("LSTM", (0, 3, 1, 2), {}),
    "GRU": ("GRU", (1, 0, 2), {"linear_before_reset": 1}),
    "GRU2014": ("GRU", (1, 0, 2), {"linear_before_reset": 0}),
    "RNN": ("RNN", (0,), {"activations": ["Tanh"]}),
    "ReluRNN": ("RNN", (0,), {"activations": ["Relu"]}),
}


@torch.no_grad()
def to_onnx(layer: Recurrent) -> onnx.ModelProto:
    """The layer as an ONNX model, as it runs without training.

    LSTM, GRU and RNN become the operators of that name, other cells a Scan over their equations.
    Graph inputs: ``input`` in the layer's form (L, N, I) or (N, L, I), then for every state
    ``h_0``, ``c_0`` ... (D * layers, N, size). Outputs: ``output``, then ``h_n``, ``c_n`` ... of
    the same shapes: feed them with the next piece of the stream. L and N are free.

    Raises:
        MissingExtraError: onnx is not installed.

    >>> from tidegate.layers import LSTM
    >>> model = to_onnx(LSTM(3, 4))
    >>> [value.name for value in model.graph.input]
    ['input', 'h_0', 'c_0']
    >>> "LSTM" in [node.op_type for node in model.graph.node]
    True
    """
    writer = _Writer(layer)
    graph = writer.written()
    model = helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", _OPSET)], producer_name="tidegate"
    )
    model.ir_version = _IR_VERSION
    onnx.checker.check_model(model)
    return model


class _Writer:
    def __init__(self, layer: Recurrent) -> None:
        self.layer = layer
        self.kind = _numpy(layer.weight_ih_l0).dtype
        self.out = Nodes(self.kind)
        self.last: dict[str, list[str]] = {name: [] for name in layer.states}

    def written(self) -> onnx.GraphProto:
        layer = self.layer
        below = "input"
        if layer.batch_first:
            below = self.out.add("Transpose", below, perm=[1, 0, 2])
        places = layer.places
        for first in range(0, len(places), layer.directions):
            both = [
                self._direction(n, places[n], below) for n in range(first, first + layer.directions)
            ]
            below = both[0] if len(both) == 1 else self.out.add("Concat", *both, axis=2)
        order = [1, 0, 2] if layer.batch_first else [0, 1, 2]
        self.out.add("Transpose", below, name="output", perm=order)
        for name, parts in self.last.items():
            self.out.add("Concat", *parts, name=f"{name}_n", axis=0)
        return self._graph()

    def _graph(self) -> onnx.GraphProto:
        layer, kind = self.layer, helper.np_dtype_to_tensor_dtype(self.kind)
        leading = ["N", "L"] if layer.batch_first else ["L", "N"]
        first = layer.places[0].layout
        rows: dict[str, list[str | int]] = {
            s: [len(layer.places), "N", size] for s, size in first.state.items()
        }
        info = helper.make_tensor_value_info
        inputs = [info("input", kind, [*leading, layer.input_size])]
        inputs += [info(f"{name}_0", kind, shape) for name, shape in rows.items()]
        outputs = [info("output", kind, [*leading, layer.directions * first.outputs])]
        outputs += [info(f"{name}_n", kind, shape) for name, shape in rows.items()]
        return helper.make_graph(self.out.nodes, "tidegate", inputs, outputs, self.out.constants)

    def _direction(self, n: int, place: Place, x: str) -> str:
        """One direction; the name of its outputs (L, N, outputs)."""
        layout = place.layout
        given = {name: getattr(self.layer, full) for name, full in place.names.items()}
        states = {name: self._part(f"{name}_0", n) for name in layout.state}
        reverse = bool(n % self.layer.directions)
        known = _OPERATORS.get(type(layout.cell).__name__)
        if known is not None and not layout.projection:
            return self._operator(layout, known, given, states, x, reverse)
        return self._scan(layout, layout.weights(given), states, x, reverse)

    def _part(self, name: str, n: int) -> str:
        """Row n of a state: (1, N, size)."""
        begin, end, axis = (self.out.constant(np.array([k])) for k in (n, n + 1, 0))
        return self.out.add("Slice", name, begin, end, axis)

    def _operator(
        self,
        layout: Layout,
        known: tuple[str, tuple[int, ...], dict[str, Any]],
        given: dict[str, torch.Tensor],
        states: dict[str, str],
        x: str,
        reverse: bool,
    ) -> str:
        operator, order, attributes = known

        def rows(name: str) -> Array:
            return _numpy(given[name]).reshape(len(order), layout.units, -1)[list(order)]

        by_input, by_hidden = rows("weight_ih"), rows("weight_hh")
        bias = np.zeros((2, len(order), layout.units), self.kind)
        if "bias_ih" in given:
            bias = np.stack([rows("bias_ih"), rows("bias_hh")])
        inputs = [
            self.out.constant(by_input.reshape(1, -1, layout.inputs)),
            self.out.constant(by_hidden.reshape(1, -1, layout.units)),
            self.out.constant(bias.reshape(1, -1)),
        ]
        outputs = [f"{name}_part{len(self.out.nodes)}" for name in states]
        y = f"y{len(self.out.nodes)}"
        node = helper.make_node(
            operator, [x, *inputs, "", *states.values()], [y, *outputs],
            hidden_size=layout.units, direction="reverse" if reverse else "forward", **attributes,
        )  # fmt: skip
        self.out.nodes.append(node)
        for name, output in zip(states, outputs, strict=True):
            self.last[name].append(output)
        return self.out.add("Squeeze", y, self.out.constant(np.array([1])))

    def _scan(
        self,
        layout: Layout,
        weights: DirectionWeights,
        states: dict[str, str],
        x: str,
        reverse: bool,
    ) -> str:
        arrays = Weights(*map(_numpy, (weights.input, weights.hidden, weights.bias, weights.unit)))
        project = None if weights.project is None else _numpy(weights.project)
        zero = self.out.constant(np.array([0]))
        first = [self.out.add("Squeeze", name, zero) for name in states.values()]
        outputs = [f"{name}_part{len(self.out.nodes)}" for name in states]
        y = f"y{len(self.out.nodes)}"
        node = helper.make_node(
            "Scan", [*first, x], [*outputs, y],
            body=step_graph(layout.cell, arrays, project, f"{y}_"), num_scan_inputs=1,
            scan_input_directions=[int(reverse)], scan_output_directions=[int(reverse)],
        )  # fmt: skip
        self.out.nodes.append(node)
        for name, output in zip(states, outputs, strict=True):
            self.last[name].append(self.out.add("Unsqueeze", output, zero))
        return y


def _numpy(tensor: torch.Tensor) -> Array:
    return tensor.detach().cpu().numpy()
