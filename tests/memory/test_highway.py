"""Both curves of the gradient highway, and stability, against automatic differentiation."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
import torch

from support.autograd import layer_forward
from support.cells import MGU, SLSTM, Block2000, OwnOutput, Peephole, Recalling, name
from support.traces import leaky
from tidegate import memory
from tidegate._core.errors import UsageError
from tidegate._core.trace import Trace
from tidegate.calculus import derive
from tidegate.calculus.graph import evaluate
from tidegate.cells import GRU, LSTM, LSTM1997, Cell
from tidegate.kernels.plan import LayerPlan, Plan
from tidegate.kernels.recording import record_frozen
from tidegate.kernels.reference import Online
from tidegate.learn import SGD, Network, Squared
from tidegate.memory import ClosedLoop

CELLS = [LSTM(1.0), LSTM1997(), GRU(), Peephole(), Block2000(), Recalling(), OwnOutput(), MGU()]
UNITS, STEPS = 3, 12


def recorded(cell: Cell, steps: int = STEPS, scale: float = 0.9, units: int = UNITS, resets=None):
    """Trace, plan and weights of one layer; MGU has no online learner, but can be recorded."""
    layer = LayerPlan(derive(cell), units, 2)
    plan = Plan((layer,), 2, 1, False)
    rng = np.random.default_rng(7)
    weights = rng.uniform(-scale, scale, plan.weights.size)
    machine = object.__new__(Online)
    for key, value in {"plan": plan, "loss": Squared(), "optimiser": SGD(0.0)}.items():
        object.__setattr__(machine, key, value)
    object.__setattr__(machine, "averaging", None)
    xs = rng.normal(size=(steps, 2))
    (trace,) = record_frozen(machine, machine.start(weights), xs, resets, with_slots=True)
    return trace, plan, weights, xs


def loop_of(cell: Cell, trace: Trace, plan: Plan, weights: np.ndarray) -> ClosedLoop:
    own = plan.weights.views(weights)
    return ClosedLoop(cell, own["layer0.hidden"], trace, parameters=own["layer0.unit"])


def by_autograd(cell: Cell, plan: Plan, weights: np.ndarray, trace: Trace, xs, at: int, which: str):
    """d memory_t / d memory_at for t = at..STEPS-1; h of step ``at`` follows the memory."""
    layer = plan.layers[0]
    own = {p.partition(".")[2]: torch.tensor(v) for p, v in plan.weights.views(weights).items()
           if p.startswith("layer0")}  # fmt: skip
    past = {m: torch.tensor(trace.memory[m][at - 1, 0]) for m in cell.memory}
    seen = torch.cat([torch.tensor(trace.hidden[h][at - 1, 0]) for h in cell.hidden])
    found = []
    for stop in range(at, len(xs)):

        def run(c: torch.Tensor, stop=stop) -> torch.Tensor:
            # At its own step the memory is shifted, as a leaf beside what the step gives.
            new, _ = layer_forward(layer, own, past, seen, torch.tensor(xs[at]))
            shift = c - new[which].detach()
            shifted = Shifted(cell, which, shift)
            first = LayerPlan.__new__(LayerPlan)
            object.__setattr__(first, "equations", shifted)
            object.__setattr__(first, "units", layer.units)
            object.__setattr__(first, "inputs", layer.inputs)
            memory_, hidden = layer_forward(first, own, past, seen, torch.tensor(xs[at]))
            for t in range(at + 1, stop + 1):
                memory_, hidden = layer_forward(layer, own, memory_, hidden, torch.tensor(xs[t]))
            return memory_[which]

        start = torch.tensor(trace.memory[which][at, 0])
        found.append(torch.autograd.functional.jacobian(run, start).numpy())
    return np.stack(found)


class Shifted:
    """The cell's equations, one new memory shifted before the hidden values are read from it."""

    def __init__(self, cell: Cell, which: str, shift: torch.Tensor) -> None:
        self._eq, self._which, self._shift = derive(cell), which, shift
        self.cell = self
        self.slots, self.hidden, self.parameters = self._eq.slots, cell.hidden, self._eq.parameters
        self.memory, self.second_product = cell.memory, self._eq.second_product
        self.fed_by = self._eq.fed_by

    def step(self, z, past, par):
        eq = self._eq
        env = {eq.leaves[f"z.{s}"]: v for s, v in vars(z).items()}
        env |= {eq.leaves[f"past.{m}"]: past[m] if isinstance(past, dict) else getattr(past, m)
                for m in eq.memory}  # fmt: skip
        env |= {eq.leaves[f"par.{p}"]: v for p, v in vars(par).items()}
        values = dict(zip(eq.memory, evaluate(eq.memory.values(), env), strict=True))
        values[self._which] = values[self._which] + self._shift
        held = env | {node: values[m] for m, node in eq.memory.items()}
        hidden = dict(zip(eq.hidden, evaluate(eq.hidden.values(), held), strict=True))
        gates = dict(zip(eq.gates, evaluate(eq.gates.values(), env), strict=True))
        return SimpleNamespace(**(values | hidden), gates=gates)


@pytest.mark.parametrize("cell", CELLS, ids=name)
def test_the_true_jacobian_is_autograd(cell: Cell) -> None:
    trace, plan, weights, xs = recorded(cell)
    loop = loop_of(cell, trace, plan, weights)
    for which in cell.memory:
        if which not in trace.log_retention:
            continue
        found = memory.highway(loop, 4, which)
        expected = by_autograd(cell, plan, weights, trace, xs, 4, which)
        np.testing.assert_allclose(found.jacobian, expected, rtol=1e-8, atol=1e-10)
        sign = trace.retention_sign.get(which, np.ones(trace.reset.shape + (UNITS,)))
        kept = (sign * np.exp(trace.log_retention[which]))[5:, 0]
        np.testing.assert_allclose(found.direct[1:], np.cumprod(kept, 0), rtol=1e-10)
        np.testing.assert_allclose(found.direct_mean, abs(found.direct).mean(1))
        assert found.norm[0] == pytest.approx(1) and found.diagonal_mean[0] == pytest.approx(1)


def test_without_a_loop_the_two_curves_are_one() -> None:
    trace, plan, weights, _ = recorded(LSTM(1.0))
    loop = loop_of(LSTM(1.0), trace, plan, np.zeros_like(weights))
    found = memory.highway(loop, 3)
    np.testing.assert_allclose(found.diagonal_mean, found.direct_mean, rtol=1e-12)
    np.testing.assert_allclose(found.jacobian[5], np.diag(found.direct[5]), rtol=1e-12)


def test_the_product_of_f_fades_where_the_true_jacobian_grows() -> None:
    """16 units, forget bias 3, 50 steps: "the gradient is f" is off by the loop through h."""
    cell = LSTM(3.0)
    net = Network(inputs=2, outputs=1, cell=cell, units=16, scale=0.25)
    machine, weights = Online(net.plan, Squared(), SGD(0.0)), net.initial(0)
    xs = np.random.default_rng(0).normal(size=(51, 2))
    (trace,) = record_frozen(machine, machine.start(weights), xs, with_slots=True)
    found = memory.highway(loop_of(cell, trace, net.plan, weights), 1)
    assert 0.05 < found.direct_mean[-1] < 0.12
    assert found.norm[-1] > 3 and found.diagonal_mean[-1] > 3 * found.direct_mean[-1]


def test_nothing_passes_a_reset() -> None:
    trace, plan, weights, _ = recorded(LSTM(1.0), resets=np.arange(STEPS) == 8)
    found = memory.highway(loop_of(LSTM(1.0), trace, plan, weights), 5)
    assert found.norm[2] > 0 and (found.norm[3:] == 0).all() and (found.direct[3:] == 0).all()


def test_exponent_and_radius_of_the_loop_are_autograd_s() -> None:
    trace, plan, weights, _ = recorded(GRU(), steps=60)
    found = memory.loop_stability(loop_of(GRU(), trace, plan, weights))
    loop = loop_of(GRU(), trace, plan, weights)
    product = np.eye(loop.size)
    for t in range(1, 60):
        product = loop.jacobian(t) @ product
    # (memory h and hidden h are one value: the state counts it twice, its eigenvalues once)
    assert found.exponent == pytest.approx(np.log(np.linalg.norm(product, 2)) / 59, abs=0.05)
    half = loop.jacobian(20)[:UNITS]
    merged = half[:, :UNITS] + half[:, UNITS:]
    assert found.radius[19] == pytest.approx(abs(np.linalg.eigvals(merged)).max())
    assert len(found.radius) == 59


def test_no_memory_leaves_its_bound() -> None:
    rng = np.random.default_rng(0)
    f, write = rng.uniform(0.2, 0.97, (500, 2, 4)), rng.normal(size=(500, 2, 4))
    trace = leaky(f, write)
    found = memory.direct_stability(trace)
    assert (abs(trace.memory["c"]).max((0, 1)) <= found.bound).all()
    np.testing.assert_allclose(found.largest_gain, f[1:].max((0, 1)))
    np.testing.assert_allclose(found.average_gain, np.exp(np.log(f[1:]).mean((0, 1))))
    worst = leaky(
        np.full((9000, 1, 4), f[1:].max((0, 1))), np.full((9000, 1, 4), abs(write[1:]).max((0, 1)))
    )
    np.testing.assert_allclose(worst.memory["c"][-1, 0], found.bound, rtol=1e-6)
    sealed = leaky(np.ones((5, 1, 1)), np.ones((5, 1, 1)))
    assert np.isinf(memory.direct_stability(sealed).bound).all()
    for what in (memory.DirectStability, memory.LoopStability):
        assert "proves" in what.proves or "bound" in what.proves
        assert "say nothing" in what.does_not_prove or "loop" in what.does_not_prove


def test_the_loop_needs_slots_weights_and_memories_as_they_are() -> None:
    trace, plan, weights, _ = recorded(LSTM(1.0))
    own = plan.weights.views(weights)
    with pytest.raises(UsageError, match="slots i, f, g, o"):
        ClosedLoop(LSTM(), own["layer0.hidden"], Trace(trace.log_retention, trace.memory))
    with pytest.raises(UsageError, match="recurrent weights"):
        ClosedLoop(LSTM(), own["layer0.hidden"][:2], trace)
    with pytest.raises(UsageError, match="recorded as they are"):
        ClosedLoop(SLSTM(), own["layer0.hidden"], trace)
    with pytest.raises(UsageError, match="past is in the Trace"):
        loop_of(LSTM(1.0), trace.part(3, 9), plan, weights).jacobian(0)
    other, plan, weights, _ = recorded(Peephole())
    with pytest.raises(UsageError, match="parameters p_i"):
        ClosedLoop(Peephole(), plan.weights.views(weights)["layer0.hidden"], other)


def test_networks_of_the_learner_fit() -> None:
    net = Network(inputs=2, outputs=1, cell=LSTM(), units=4)
    machine, weights = Online(net.plan, Squared(), SGD(0.1)), net.initial(0)
    xs = np.random.default_rng(0).normal(size=(20, 2))
    (trace,) = record_frozen(
        machine, machine.start(weights.astype(np.float32)), xs, with_slots=True
    )
    loop = ClosedLoop(LSTM(), net.plan.weights.views(weights)["layer0.hidden"], trace)
    assert loop.jacobian(3).shape == (8, 8)
