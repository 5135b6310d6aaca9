"""ONNX models run by onnxruntime, in pieces, beside the layer itself."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import onnxruntime
import pytest
import torch

from support.layers import made, sequences
from tidegate import cells
from tidegate.layers import GRU, LSTM, RNN
from tidegate.layers.convert_onnx import to_onnx

DEEP = {"num_layers": 2, "bidirectional": True, "batch_first": True}
SHAPES = {"one": {}, "deep": DEEP, "no bias": {"bias": False}}


def session(layer):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(to_onnx(layer).SerializeToString(), options)


def fed(running, x, state):
    names = [value.name for value in running.get_inputs()]
    return running.run(None, dict(zip(names, [x, *state], strict=True)))


@pytest.mark.parametrize("name", cells.names())
@pytest.mark.parametrize("shape", SHAPES)
def test_a_stream_in_pieces_is_the_stream(name, shape):
    """troubles 43, peers 20: the state goes in and out; L and N are free."""
    if name == "rg_lru" and shape == "no bias":
        pytest.skip("the same graph as with biases of 0")
    layer = made(name, torch.float32, **SHAPES[shape]).eval()
    running, x = session(layer), sequences(9, 4, torch.float32)
    cut = 3
    if layer.bidirectional:
        x, pieces = x.transpose(0, 1), [x.transpose(0, 1)]
    else:
        pieces = [x[:cut], x[cut:]]
    state = [part.detach().numpy() for part in layer.initial_state(4)]
    outputs = []
    for piece in pieces:
        output, *state = fed(running, piece.contiguous().numpy(), state)
        outputs.append(output)
    want, last = layer(x)
    axis = 1 if layer.batch_first else 0
    np.testing.assert_allclose(
        np.concatenate(outputs, axis), want.detach().numpy(), rtol=1e-5, atol=3e-6
    )
    for got, end in zip(state, last, strict=True):
        np.testing.assert_allclose(got, end.detach().numpy(), rtol=1e-4, atol=1e-5)


def test_without_its_memory_a_stream_is_another():
    """troubles 43: h kept but c forgotten must be seen by the test above."""
    layer, x = made("lstm", torch.float32), sequences(9, 4, torch.float32)
    running, zero = session(layer), np.zeros((1, 4, 5), np.float32)
    _, h, c = fed(running, x[:3].numpy(), [zero, zero])
    right, wrong = (fed(running, x[3:].numpy(), [h, m])[0] for m in (c, zero))
    assert abs(right - wrong).max() > 0.01


@pytest.mark.parametrize(
    ("layer", "operator"), [(LSTM(3, 4), "LSTM"), (GRU(3, 4), "GRU"), (RNN(3, 4), "RNN")]
)
def test_known_cells_are_the_operators_of_that_name(layer, operator):
    graph = to_onnx(layer).graph
    assert operator in {node.op_type for node in graph.node}
    names = [value.name for value in (*graph.input, *graph.output)]
    states = [f"{s}_0" for s in layer.states], [f"{s}_n" for s in layer.states]
    assert names == ["input", *states[0], "output", *states[1]]
    assert "Scan" in {node.op_type for node in to_onnx(made("peephole")).graph.node}


def test_both_forms_of_the_gru_say_which_they_are():
    """troubles 29, peers 16."""
    for name, after in (("gru", 1), ("gru2014", 0)):
        (node,) = (n for n in to_onnx(made(name)).graph.node if n.op_type == "GRU")
        attributes = {a.name: a.i for a in node.attribute}
        assert attributes["linear_before_reset"] == after


def test_a_projection_becomes_a_scan():
    """peers 21."""
    layer = LSTM(3, 5, proj_size=2, num_layers=2, bidirectional=True)
    x = sequences(6, 3, torch.float32)
    state = [part.detach().numpy() for part in layer.initial_state(3)]
    output, h, c = fed(session(layer), x.numpy(), state)
    want, (last_h, last_c) = layer(x)
    np.testing.assert_allclose(output, want.detach().numpy(), atol=1e-6)
    np.testing.assert_allclose(h, last_h.detach().numpy(), atol=1e-6)
    np.testing.assert_allclose(c, last_c.detach().numpy(), atol=1e-6)


def test_one_process_may_export_twice():
    """peers 20: a second export of another module in the same process."""
    for layer in (LSTM(3, 4), LSTM(3, 6, num_layers=2), LSTM(3, 4)):
        running = session(layer)
        for rows, steps in ((1, 1), (5, 7)):
            state = [part.detach().numpy() for part in layer.initial_state(rows)]
            x = torch.randn(steps, rows, 3)
            got = fed(running, x.numpy(), state)[0]
            np.testing.assert_allclose(got, layer(x)[0].detach().numpy(), atol=1e-6)


def test_without_onnx_the_error_names_the_extra():
    program = "import sys; sys.modules['onnx'] = None; import tidegate.layers.convert_onnx"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert "pip install 'tidegate[onnx]'" in done.stderr
