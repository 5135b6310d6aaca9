"""The learner of 2000 against automatic differentiation, update for update."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor

from tidegate.experiments.paper_net import FORGETTING, KeepingBlock, paper_learner
from tidegate.learn.geometric import Geometric
from tidegate.tasks import Reber

BLOCKS, SIZE, STEPS = 4, 2, 26
FORGET, KEEP, DECAY = FORGETTING, KeepingBlock(1.0), KeepingBlock(0.9)


def paper_outputs(w: dict[str, Tensor], past: list[Tensor], keep: float | None, x: Tensor):
    """Equations (1) to (11) of 2000; ``past`` is y and s, (2, blocks) each, y held fixed."""
    y, s = past
    sources = torch.cat([y.detach().reshape(-1), x])

    def net(name: str) -> Tensor:
        return sources @ w[name] + w.get(name + ".bias", 0.0)

    def g(z: Tensor) -> Tensor:
        return 4 / (1 + torch.exp(-z)) - 2

    y_in, y_out = torch.sigmoid(net("in")), torch.sigmoid(net("out"))
    y_phi = torch.sigmoid(net("phi")) if keep is None else keep
    s = torch.stack([y_phi * s[v] + y_in * g(net(f"c{v}")) for v in range(SIZE)])
    y = y_out * (2 / (1 + torch.exp(-s)) - 1)
    features = torch.cat([y.reshape(-1), x]) if "shortcuts" in w else y.reshape(-1)
    readout = torch.cat([w["k"], w["shortcuts"]]) if "shortcuts" in w else w["k"]
    return torch.sigmoid(features @ readout + w["k.bias"]), [y, s]


def named(plan, flat: np.ndarray) -> dict[str, np.ndarray]:
    """The paper's weights from the learner's: rows are cell outputs, then inputs."""
    views = plan.weights.views(flat)
    eq = plan.layers[0].equations
    slot = {"i": "in", "o": "out", "f": "phi", "g1": "c0", "g2": "c1"}
    found = {"k": views["readout.hidden"], "k.bias": views["readout.bias"]}
    if plan.direct:
        found["shortcuts"] = views["readout.input"]
    for n, name in enumerate(eq.slots):
        rows = [views["layer0.hidden"][:, n], views["layer0.input"][:, n]]
        found[slot[name]] = np.concatenate(rows)
    for n, name in enumerate(eq.fed_by("bias")):
        found[slot[name] + ".bias"] = views["layer0.bias"][0, n]
    return found


def independent_weights(start: dict[str, np.ndarray], keep, block, rate) -> dict[str, np.ndarray]:
    """Gradient descent on E(t) after every step, the whole past unrolled each time.

    Weights of different steps are one variable with different values, as in eligibility traces
    that are carried over updates.
    """
    values = [{k: torch.tensor(v) for k, v in start.items()}]
    xs, targets = torch.tensor(block.inputs).double(), torch.tensor(block.legal).double()
    for t in range(len(xs)):
        leaves = {k: v.clone().requires_grad_() for k, v in values[-1].items()}
        past = [torch.zeros(SIZE, BLOCKS).double()] * 2
        for step in range(t + 1):
            then = {k: leaf + (values[step][k] - leaf).detach() for k, leaf in leaves.items()}
            outputs, past = paper_outputs(then, past, keep, xs[step])
        loss = 0.5 * ((targets[t] - outputs) ** 2).sum()
        slopes = torch.autograd.grad(loss, list(leaves.values()))
        new = {
            k: leaf.detach() - rate(t) * s
            for (k, leaf), s in zip(leaves.items(), slopes, strict=True)
        }
        values.append(new)
    return {k: v.numpy() for k, v in values[-1].items()}


@pytest.mark.parametrize("shortcuts", [True, False])
@pytest.mark.parametrize("cell, keep", [(FORGET, None), (KEEP, 1.0), (DECAY, 0.9)])
def test_updates_are_those_of_automatic_differentiation(cell, keep, shortcuts) -> None:
    net = paper_learner(cell, 3, shortcuts=shortcuts, dtype=np.float64)
    start = {k: v.copy() for k, v in named(net.network.plan, net.state.weights).items()}
    block = Reber().stream(4).block(STEPS)
    net.run(block.inputs, block.legal.astype(float))
    expected = independent_weights(start, keep, block, lambda t: 0.5)
    for name, weights in named(net.network.plan, net.state.weights).items():
        np.testing.assert_allclose(weights, expected[name], atol=1e-12, err_msg=name)
        assert abs(weights - start[name]).max() > 1e-4


def test_alpha_decay_multiplies_the_rate_at_every_update() -> None:
    net = paper_learner(FORGET, 3, Geometric(0.5, 0.9), dtype=np.float64)
    start = {k: v.copy() for k, v in named(net.network.plan, net.state.weights).items()}
    block = Reber().stream(4).block(20)
    net.run(block.inputs, block.legal.astype(float))
    expected = independent_weights(start, None, block, lambda t: 0.5 * 0.9**t)
    for name, weights in named(net.network.plan, net.state.weights).items():
        np.testing.assert_allclose(weights, expected[name], atol=1e-12, err_msg=name)


def test_biases_are_those_of_the_paper_and_the_rest_is_small() -> None:
    for cell in (FORGET, KEEP):
        own = named(paper_learner(cell, 9).network.plan, paper_learner(cell, 9).state.weights)
        assert own["in.bias"].tolist() == own["out.bias"].tolist() == [-0.5, -1.0, -1.5, -2.0]
        rest = np.concatenate([v.ravel() for k, v in own.items() if ".bias" not in k])
        assert abs(rest).max() <= 0.2 and abs(rest).mean() == pytest.approx(0.1, abs=0.01)
        assert 0 < abs(own["k.bias"]).max() <= 0.2
    assert own.keys().isdisjoint({"c0.bias", "c1.bias"})
    forget = named(paper_learner(FORGET, 9).network.plan, paper_learner(FORGET, 9).state.weights)
    assert forget["phi.bias"].tolist() == [0.5, 1.0, 1.5, 2.0]


def test_seeds_are_nets() -> None:
    nets = [paper_learner(FORGET, seed).state.weights.tobytes() for seed in (1, 1, 2)]
    assert nets[0] == nets[1] != nets[2]
