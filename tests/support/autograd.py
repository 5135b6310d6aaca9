"""The online gradient by automatic differentiation: the same ``step`` on torch tensors.

h of the step before is detached wherever it enters a product; memories keep their direct path;
below the top layer only the current step's error arrives.
"""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import torch
from torch import Tensor

import tidegate.layers.functions  # noqa: F401  (registers the torch form)
from tidegate.kernels.plan import LayerPlan, Plan, Shapes


def views(shapes: Shapes, flat: Tensor) -> dict[str, Tensor]:
    parts = torch.split(flat, [int(np.prod(shape)) for shape in shapes.values()])
    return {n: p.reshape(s) for (n, s), p in zip(shapes.items(), parts, strict=True)}


def layer_forward(
    layer: LayerPlan, own: dict[str, Tensor], memory: dict[str, Tensor], seen: Tensor, x: Tensor
) -> tuple[dict[str, Tensor], Tensor]:
    """New memories and hidden values (hidden names * units,) from h of the step before ``seen``."""
    eq = layer.equations
    z = {s: torch.zeros(layer.units, dtype=x.dtype) for s in eq.slots}
    for zone, feed in (("hidden", seen), ("input", x), ("bias", torch.ones(1, dtype=x.dtype))):
        for n, slot in enumerate(eq.fed_by(zone)):
            if zone != "hidden" or slot not in eq.second_product:
                z[slot] = z[slot] + feed @ own[zone][:, n]
    par = SimpleNamespace(**dict(zip(eq.parameters, own["unit"], strict=True)))
    if eq.second_product:
        first = eq.cell.step(SimpleNamespace(**z), SimpleNamespace(**memory), par)
        for n, slot in enumerate(eq.fed_by("hidden")):
            if slot in eq.second_product:
                gated = first.gates[eq.second_product[slot]].repeat(len(eq.hidden)) * seen
                z[slot] = z[slot] + gated @ own["hidden"][:, n]
    step = eq.cell.step(SimpleNamespace(**z), SimpleNamespace(**memory), par)
    new = {m: getattr(step, m) for m in eq.memory}
    return new, torch.cat([getattr(step, h) for h in eq.hidden])


def start(layer: LayerPlan) -> dict[str, Tensor]:
    values = layer.equations.cell.start
    full = torch.full
    return {
        m: full((layer.units,), values.get(m, 0.0), dtype=torch.float64)
        for m in layer.equations.memory
    }


def network_logits(plan: Plan, weights: Tensor, xs: np.ndarray, truncated: bool) -> list[Tensor]:
    """Logits of every step; ``truncated`` cuts what the online learner cuts, for the last step."""
    own = views(plan.weights, weights)
    memory = [start(layer) for layer in plan.layers]
    hidden = [torch.zeros(layer.outputs, dtype=torch.float64) for layer in plan.layers]
    logits = []
    for t, row in enumerate(xs):
        below = x = torch.tensor(row, dtype=torch.float64)
        for n, layer in enumerate(plan.layers):
            if truncated and n and t < len(xs) - 1:
                below = below.detach()
            seen = hidden[n].detach() if truncated else hidden[n]
            parts = {p: own[f"layer{n}.{p}"] for p in ("hidden", "input", "bias", "unit")}
            memory[n], hidden[n] = layer_forward(layer, parts, memory[n], seen, below)
            below = hidden[n]
        out = below @ own["readout.hidden"] + own["readout.bias"]
        logits.append(out + x @ own["readout.input"] if plan.direct else out)
    return logits
