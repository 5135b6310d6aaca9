"""Every gate and memory of every step, from the fast form as from the slow one."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
import torch

from support.layers import eagerly, flags, made, sequences, some_state
from tidegate import cells
from tidegate.layers import GRU, LSTM, Recurrent, start_biases
from tidegate.layers.direction import _Layer

PARTS = ("gates", "memory", "hidden", "slots", "log_retention", "retention_sign")


def traced(layer, x, hx, **options):
    *_, trace = layer(x, hx, trace=True, **options)
    return trace


@pytest.mark.parametrize("name", cells.names())
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
def test_fast_and_slow_record_the_same(name, dtype):
    layer, x = made(name, dtype, bidirectional=True), sequences(dtype=dtype)
    hx, reset = some_state(layer), flags()
    got = traced(layer, x, hx, reset=reset)
    with eagerly():
        want = traced(layer, x, hx, reset=reset)
    for mine, theirs in zip(got, want, strict=True):
        assert torch.equal(mine.reset, reset)
        for part in PARTS:
            first, second = getattr(mine, part), getattr(theirs, part)
            assert first.keys() == second.keys()
            for key in first:
                assert first[key].dtype == (torch.float64 if "retention" in part else dtype)
                tolerance = 1e-4 if dtype == torch.float32 else 1e-9
                torch.testing.assert_close(first[key], second[key], rtol=tolerance, atol=tolerance)


def test_a_trace_changes_no_output_bit():
    layer, x = made("lstm", torch.float32), sequences(dtype=torch.float32)
    output, state, _ = layer(x, trace=True)
    plain, last = layer(x)
    assert torch.equal(output, plain) and all(map(torch.equal, state, last))


@pytest.mark.parametrize("training", [True, False])
def test_gates_and_memories_of_an_lstm_fit_together(training):
    """peers 1, 2; troubles 46: c(t) = f c(t-1) + i g at every step, also in eval mode."""
    layer, x = LSTM(3, 5).train(training), sequences(dtype=torch.float32)
    hx = (torch.zeros(1, 4, 5), torch.randn(1, 4, 5))
    output, (_, last), trace = layer(x, hx, trace=True)
    c, gate = trace.memory["c"], trace.gates
    assert c.shape == output.shape == (7, 4, 5)
    before = torch.cat([hx[1], c[:-1]])
    torch.testing.assert_close(gate["f"] * before + gate["i"] * gate["g"], c, rtol=0, atol=1e-6)
    torch.testing.assert_close(gate["o"] * c.tanh(), output, rtol=0, atol=1e-6)
    assert torch.equal(c[-1:], last)
    assert torch.equal(trace.hidden["h"], output)


def test_first_step_sees_the_start_after_a_reset():
    layer, x = LSTM(3, 5), sequences(dtype=torch.float32)
    reset = torch.zeros(7, 4)
    reset[4, 1] = 1
    trace = layer(x, reset=reset, trace=True)[2]
    gate = trace.gates
    torch.testing.assert_close(trace.memory["c"][4, 1], (gate["i"] * gate["g"])[4, 1])


def test_log_retention_is_taken_from_the_pre_activation():
    """A gate that rounds to 1 forgets nothing in float32; the trace still knows its half-life."""
    layer = LSTM(3, 2)
    for parameter in layer.parameters():
        torch.nn.init.zeros_(parameter)
    start_biases(layer, {"f": cells.constant(120.0)})
    trace = layer(torch.zeros(2, 1, 3), trace=True)[2]
    assert (trace.gates["f"] == 1).all()
    kept = trace.log_retention["c"]
    assert kept.dtype == torch.float64
    np.testing.assert_allclose(kept.numpy(), -7.66764807372200e-53, rtol=1e-12)


def test_memories_are_read_in_the_units_that_the_cell_means():
    layer, x = made("slstm"), sequences()
    _, (_, c, n, _), trace = layer(x, trace=True)
    torch.testing.assert_close(trace.memory["c"][-1:], c / n)


@pytest.mark.parametrize("name", ["peephole", "indrnn", "rg_lru", "gru", "block1997"])
def test_log_retention_is_the_measured_one(name):
    """One memory of one unit is moved a little, all slots held."""
    layer, x = made(name), sequences(3)
    hx = some_state(layer)
    trace = traced(layer, x[:1], hx)
    memory = layer.cell.memory[0]
    moved = []
    for sign in (1, -1):
        past = trace.record.past[memory] + sign * 1e-6
        moved.append(stepped(layer, x, hx, memory, past))
    measured = (moved[0] - moved[1]) / 2e-6
    signs = trace.retention_sign.get(memory, torch.ones(1))
    got = trace.log_retention[memory].exp() * signs
    torch.testing.assert_close(got, measured, rtol=1e-6, atol=1e-8)


def stepped(layer, x, hx, memory, past):
    """The memory after a step from ``past``, with the hidden values that enter products held."""
    with eagerly():
        state = dict(zip(layer.states, hx, strict=True))
        layout = layer.places[0].layout
        w = layout.weights({n: getattr(layer, f"{n}_l0") for n in layout.shapes(bias=True)})
        single = {name: value[0] for name, value in state.items()}
        z = _Layer(layer.cell, w, x[:1]).step(0, single, None).slots
        before = {m: single[m] for m in layer.cell.memory} | {memory: past[0]}
        par = dict(zip(layer.cell.parameters, w.unit, strict=True))
        step = layer.cell.step(*(SimpleNamespace(**v) for v in (z, before, par)))
        return getattr(step, memory)[None]


def test_one_trace_for_every_layer_and_direction():
    layer = GRU(3, 4, num_layers=2, bidirectional=True)
    output, _, traces = layer(torch.randn(6, 2, 3), trace=True)
    assert len(traces) == 4
    top = torch.cat([traces[2].hidden["h"], traces[3].hidden["h"]], dim=-1)
    assert torch.equal(top, output)


def test_no_error_flows_through_a_trace():
    layer, x = made("peephole"), sequences()
    fast = traced(layer, x, None)
    with eagerly():
        slow = traced(layer, x, None)
    for trace in (fast, slow):
        for part in PARTS:
            assert not any(value.requires_grad for value in getattr(trace, part).values()), part


@pytest.mark.parametrize("name", cells.names())
def test_as_arrays_it_is_a_trace(name):
    layer, x = made(name, torch.float32), sequences(dtype=torch.float32)
    trace = traced(layer, x, None, reset=flags())
    arrays = trace.numpy()
    assert (arrays.steps, arrays.rows, arrays.units) == (7, 4, 5)
    assert arrays.reset.sum() == flags().sum() and arrays.meta.cell == repr(layer.cell)
    for part in PARTS:
        for key, value in getattr(arrays, part).items():
            np.testing.assert_array_equal(value, getattr(trace, part)[key].numpy())
    assert set(arrays.gates) == set(trace.gates) and set(arrays.memory) == set(trace.memory)


def test_a_cell_without_memory_has_gates_and_hidden_values_only():
    _, _, trace = Recurrent("rnn", 3, 4)(torch.randn(6, 2, 3), trace=True)
    assert trace.log_retention == {} and trace.memory == {} and trace.hidden["h"].shape == (6, 2, 4)
