"""A cell's equations as ONNX operators: the body of a Scan, one step of one direction."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from onnx import GraphProto, NodeProto, TensorProto, helper, numpy_helper

from tidegate.calculus import derive
from tidegate.calculus.graph import Node, ordered
from tidegate.cells.base import Cell
from tidegate.kernels.batch.plan import Array, Weights

__all__ = ["Nodes", "step_graph"]

_VARIANCE_FLOOR = 1e-5
_OPERATORS = {
    "add": "Add", "sub": "Sub", "mul": "Mul", "div": "Div", "sigmoid": "Sigmoid", "tanh": "Tanh",
    "exp": "Exp", "log": "Log", "sqrt": "Sqrt", "absolute": "Abs", "maximum": "Max",
    "minimum": "Min", "fixed": "Identity",
}  # fmt: skip


class Nodes:
    """ONNX nodes and constants as they are made; every value has a name of its own."""

    def __init__(self, dtype: np.dtype[Any], prefix: str = "") -> None:
        self.dtype, self.prefix = dtype, prefix
        self.nodes: list[NodeProto] = []
        self.constants: list[TensorProto] = []

    def add(self, operator: str, *inputs: str, name: str = "", **attributes: Any) -> str:
        """One node with one output; the output's name."""
        output = name or f"{self.prefix}v{len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, list(inputs), [output], **attributes))
        return output

    def constant(self, value: Array | float) -> str:
        name = f"{self.prefix}k{len(self.constants)}"
        array = np.ascontiguousarray(value, None if _is_index(value) else self.dtype)
        self.constants.append(numpy_helper.from_array(array, name))
        return name


def _is_index(value: Array | float) -> bool:
    return isinstance(value, np.ndarray) and value.dtype == np.int64


def step_graph(cell: Cell, weights: Weights, project: Array | None, prefix: str) -> GraphProto:
    """One step: states (B, size) and x (B, I) in; new states and hidden values (B, outputs) out.

    The states come in the order hidden values, then memories, without repeats. All names begin
    with ``prefix``, for they share a scope with those around the body.
    """
    step = _StepWriter(cell, weights, prefix)
    states = list(dict.fromkeys((*cell.hidden, *cell.memory)))
    new = step.written(project)
    seen = [new[name] for name in cell.hidden]
    output = step.out.add("Concat", *seen, name=f"{prefix}output", axis=1)
    outputs = [*(step.out.add("Identity", new[s], name=f"{prefix}new_{s}") for s in states), output]
    kind = helper.np_dtype_to_tensor_dtype(weights.input.dtype)
    unit = weights.unit.shape[1]
    sizes = {s: unit if project is None or s not in cell.hidden else len(project) for s in states}
    values = [
        helper.make_tensor_value_info(f"{prefix}past_{s}", kind, [None, sizes[s]]) for s in states
    ]
    values.append(helper.make_tensor_value_info(f"{prefix}x", kind, [None, weights.input.shape[1]]))
    results = [helper.make_tensor_value_info(name, kind, None) for name in outputs]
    return helper.make_graph(step.out.nodes, "step", values, results, step.out.constants)


class _StepWriter:
    def __init__(self, cell: Cell, weights: Weights, prefix: str) -> None:
        self.cell, self.equations = cell, derive(cell)
        self.units = weights.unit.shape[1]
        self.out = Nodes(weights.input.dtype, prefix)
        self.prefix = prefix
        self.zones = {
            zone: dict(zip(cell.fed_by(zone), _by_slot(rows, self.units), strict=True))
            for zone, rows in (
                ("input", weights.input), ("hidden", weights.hidden), ("bias", weights.bias),
            )
        }  # fmt: skip
        self.values: dict[Node, str] = {}
        self.par = dict(zip(cell.parameters, weights.unit, strict=True))

    def written(self, project: Array | None) -> dict[str, str]:
        """Names of the new states."""
        seen = self._joined([f"{self.prefix}past_{name}" for name in self.cell.hidden])
        leaves = self.equations.leaves
        for name in self.cell.memory:
            self.values[leaves[f"past.{name}"]] = f"{self.prefix}past_{name}"
        for name, value in self.par.items():
            self.values[leaves[f"par.{name}"]] = self.out.constant(value)
        late = self.cell.second_product
        first = {s: self._slot(s, None if s in late else seen) for s in self.cell.slots}
        for slot, name in first.items():
            if slot not in late:
                self.values[leaves[f"z.{slot}"]] = self._normalised(slot, name)
        for slot, gate in late.items():
            value = self._value(self.equations.gates[gate])
            gated = self.out.add("Mul", self._joined([value] * len(self.cell.hidden)), seen)
            product = self._product(gated, self.zones["hidden"][slot])
            total = self.out.add("Add", first[slot], product)
            self.values[leaves[f"z.{slot}"]] = self._normalised(slot, total)
        results = {**self.equations.hidden, **self.equations.memory}
        new = {name: self._value(node) for name, node in results.items()}
        if project is not None:
            new |= {name: self._product(new[name], project) for name in self.cell.hidden}
        return new

    def _slot(self, slot: str, seen: str | None) -> str:
        parts = []
        if slot in self.zones["input"]:
            parts.append(self._product(f"{self.prefix}x", self.zones["input"][slot]))
        if seen is not None and slot in self.zones["hidden"]:
            parts.append(self._product(seen, self.zones["hidden"][slot]))
        if slot in self.zones["bias"]:
            parts.append(self.out.constant(self.zones["bias"][slot]))
        total = parts[0]
        for part in parts[1:]:
            total = self.out.add("Add", total, part)
        return total

    def _product(self, rows: str, matrix: Array) -> str:
        return self.out.add("MatMul", rows, self.out.constant(matrix.T))

    def _joined(self, names: Sequence[str]) -> str:
        return names[0] if len(names) == 1 else self.out.add("Concat", *names, axis=1)

    def _normalised(self, slot: str, name: str) -> str:
        if not self.cell.slots[slot].norm:
            return name
        scale = self.out.constant(np.ones(self.units))
        return self.out.add("LayerNormalization", name, scale, axis=-1, epsilon=_VARIANCE_FLOOR)

    def _value(self, wanted: Node) -> str:
        for node in ordered([wanted], stop=self.values):
            if node not in self.values:
                self.values[node] = self._operation(node)
        return self.values[wanted]

    def _operation(self, node: Node) -> str:
        if node.op == "const":
            return self.out.constant(node.args[0])
        inputs = [self.values[argument] for argument in node.args]
        if node.op == "log_sigmoid":
            negative = self.out.add("Neg", *inputs)
            return self.out.add("Neg", self.out.add("Softplus", negative))
        if node.op == "choose":
            x, y, yes, no = inputs
            return self.out.add("Where", self.out.add("GreaterOrEqual", x, y), yes, no)
        return self.out.add(_OPERATORS[node.op], *inputs)


def _by_slot(rows: Array, units: int) -> list[Array]:
    return list(rows.reshape(len(rows) // units, units, *rows.shape[1:]))
