"""Biases by law: what is asked for is what the gate gets, in every layer and direction."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from support.layers import made
from tidegate import UsageError, cells
from tidegate.layers import GRU, LSTM, Recurrent, start_biases

UNITS = 5


def biases(layer, name):
    """bias_ih + bias_hh of a slot, by layer and direction."""
    found = []
    for place in layer.places:
        rows = place.layout.rows_of(name)
        parts = [
            getattr(layer, n + place.suffix)[r] for n, r in rows.items() if n.startswith("bias")
        ]
        found.append(sum(parts).detach())
    return torch.stack(found)


def test_asking_for_1_gives_1_in_every_layer_and_direction():
    """peers 15, troubles 24: not 0, not 2, and not only in the first layer."""
    layer = LSTM(3, UNITS, num_layers=3, bidirectional=True)
    start_biases(layer, {"f": cells.constant(1.0)})
    for k in range(3):
        for end in ("", "_reverse"):
            both = getattr(layer, f"bias_ih_l{k}{end}") + getattr(layer, f"bias_hh_l{k}{end}")
            assert (both[UNITS : 2 * UNITS] == 1).all()
            assert (both[:UNITS] != 1).all()
    with torch.no_grad():
        for name, parameter in layer.named_parameters():
            if name.startswith("weight"):
                parameter.zero_()
    _, _, traces = layer(torch.zeros(1, 1, 3), trace=True)
    for trace in traces:
        torch.testing.assert_close(trace.gates["f"], torch.full((1, 1, UNITS), 0.7310586))


@pytest.mark.parametrize("name", cells.names())
def test_the_laws_of_a_cell_hold_in_every_layer_and_direction(name):
    layer = made(name, num_layers=2, bidirectional=True)
    for slot, law in layer.cell.biases().items():
        got = biases(layer, slot)
        drawn = torch.as_tensor(law(np.random.default_rng(0), UNITS))
        assert got.shape == (4, UNITS) and torch.isfinite(got).all()
        if slot in ("i", "o") or name in ("lstm", "slstm", "block2000"):
            torch.testing.assert_close(got, drawn.expand(4, -1))
    for parameter in layer.cell.parameters:
        values = [getattr(layer, parameter + place.suffix) for place in layer.places]
        assert all(torch.isfinite(v).all() for v in values)


def test_laws_differ_between_units_and_layers_and_repeat_with_the_seed():
    found = []
    for seed in (3, 3, 4):
        layer = GRU(3, UNITS, num_layers=2, bidirectional=True)
        start_biases(layer, {"z": cells.half_lives(1, 1000)}, seed=seed)
        found.append(biases(layer, "z"))
    assert torch.equal(found[0], found[1]) and not torch.equal(found[0], found[2])
    assert len(set(found[0].flatten().tolist())) == 4 * UNITS


def test_the_input_gate_mirrors_the_forget_gate_under_chrono():
    layer = LSTM(3, UNITS, num_layers=2)
    start_biases(layer, {"f": cells.chrono(50), "i": cells.minus(cells.chrono(50))}, seed=1)
    torch.testing.assert_close(biases(layer, "i"), -biases(layer, "f"))


def test_a_half_life_asked_for_is_the_one_that_runs():
    layer = Recurrent("coupled", 1, 1, dtype=torch.float64)
    for parameter in layer.parameters():
        torch.nn.init.zeros_(parameter)
    start_biases(layer, {"f": cells.half_life(30.0)})
    state = (torch.zeros(1, 1, 1).double(), torch.ones(1, 1, 1).double())
    _, (_, c) = layer(torch.zeros(30, 1, 1).double(), state)
    assert c.item() == pytest.approx(0.5, rel=1e-12)


def test_the_same_torch_seed_gives_the_same_laws():
    first, again, other = (made("janet", seed=s) for s in (1, 1, 2))
    assert torch.equal(first.bias_ih_l0, again.bias_ih_l0)
    assert not torch.equal(first.bias_ih_l0, other.bias_ih_l0)


def test_a_slot_that_is_not_there_is_refused():
    with pytest.raises(UsageError, match="'x'"):
        start_biases(LSTM(3, 4), {"x": cells.constant(1.0)})
    with pytest.raises(UsageError, match="a layer with biases"):
        start_biases(LSTM(3, 4, bias=False), {"f": cells.constant(1.0)})
    with pytest.raises(UsageError, match="a slot among i, f, o"):
        start_biases(made("block2000"), {"g1": cells.constant(1.0)})
