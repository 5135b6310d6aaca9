"""Networks: sizes that add up, start weights by law and seed, and what is refused."""

from __future__ import annotations

from math import prod

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.cells import EVERY, ONLINE, Block2000, Peephole, name
from tidegate import cells
from tidegate._core.errors import UsageError
from tidegate.cells import GRU, LSTM, RNN
from tidegate.kernels.plan import Shapes
from tidegate.learn import Network

SIZES = st.lists(st.integers(0, 4), min_size=0, max_size=3).map(tuple)


@given(st.lists(SIZES, max_size=5), st.integers(1, 3))
def test_views_of_parts_fill_a_flat_array_once_and_in_order(shapes, lanes):
    parts = Shapes({f"part{n}": shape for n, shape in enumerate(shapes)})
    flat = np.zeros((lanes, parts.size))
    for n, view in enumerate(parts.views(flat).values()):
        assert view.shape == (lanes, *shapes[n])
        view += n + 1
    want = np.repeat(np.arange(len(shapes)) + 1.0, [prod(shape) for shape in shapes])
    np.testing.assert_array_equal(flat, np.tile(want, (lanes, 1)))


@settings(max_examples=100)
@given(
    st.lists(st.tuples(st.sampled_from(EVERY), st.integers(1, 5)), min_size=1, max_size=3),
    st.integers(1, 4),
    st.integers(1, 4),
    st.booleans(),
)
def test_sizes_add_up(layers, inputs, outputs, direct):
    chosen, units = zip(*layers, strict=True)
    plan = Network(inputs, outputs, chosen, units, direct).plan
    weights, traces, below = 0, 0, inputs
    for (cell, count), layer in zip(layers, plan.layers, strict=True):
        seen = len(cell.hidden) * count
        rows = {s: 1 + f.hidden * seen + f.input * below for s, f in cell.slots.items()}
        weights += count * (sum(rows.values()) + len(cell.parameters))
        traces += count * sum(rows.get(source, 1) for _, source in layer.equations.traces)
        below = seen
    weights += outputs * (1 + below + direct * inputs)
    assert plan.weights.size == weights
    assert plan.traces.size == traces
    assert plan.memory.size == sum(len(cell.memory) * n for cell, n in layers)
    assert plan.hidden.size == sum(len(cell.hidden) * n for cell, n in layers)


@pytest.mark.parametrize("cell", ONLINE, ids=name)
def test_a_seed_is_a_network(cell):
    network = Network(inputs=2, outputs=1, cell=cell, units=(3, 2))
    first, again, other = (network.initial(seed) for seed in (5, 5, 6))
    assert first.tobytes() == again.tobytes()
    assert np.any(first != other)


def test_weights_are_uniform_within_the_scale_and_biases_as_the_cell_says():
    network = Network(3, 2, cell=LSTM(forget_bias=1.5), units=40, scale=0.05)
    parts = network.plan.weights.views(network.initial(0))
    for part in ("layer0.hidden", "layer0.input", "readout.hidden", "readout.input"):
        assert 0.03 < np.max(abs(parts[part])) <= 0.05
    np.testing.assert_allclose(np.std(parts["layer0.hidden"]), 0.05 / np.sqrt(3), rtol=0.05)
    bias = dict(zip(LSTM().slots, parts["layer0.bias"][0], strict=True))
    np.testing.assert_array_equal(bias.pop("f"), np.full(40, 1.5))
    assert not any(np.any(rest) for rest in bias.values())
    assert not np.any(parts["readout.bias"])


def test_parameters_start_by_their_laws():
    network = Network(1, 1, cell=Peephole(), units=50)
    unit = network.plan.weights.views(network.initial(0))["layer0.unit"]
    assert unit.shape == (3, 50) and np.all(abs(unit) <= 0.5) and np.std(unit) > 0.2


def test_layers_see_all_hidden_values_of_the_layer_below():
    plan = Network(3, 2, cell=[Block2000(), GRU(), "lstm"], units=[4, 5, 6]).plan
    assert [(layer.inputs, layer.outputs) for layer in plan.layers] == [(3, 8), (8, 5), (5, 6)]


def test_the_direct_path_can_be_switched_off():
    assert Network(3, 2, units=4, direct=False).plan.weights["readout.input"] == (0, 2)


def test_sizes_may_be_numpys():
    units, size = np.int64(4), np.int32(2)
    assert Network(size, size, units=units).plan.layers[0].units == 4
    assert Network(2, 2, units=list(np.array([3, 2]))).plan.layers[1].units == 2


def test_equal_networks_are_equal():
    assert Network(1, 1, GRU(), 3) == Network(1, 1, GRU(), 3)
    assert hash(Network(1, 1, RNN(), 3)) == hash(Network(1, 1, RNN(), 3))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"inputs": 0}, r"Network inputs: expected a whole number of at least 1, got 0"),
        ({"outputs": 1.5}, r"Network outputs: .*got 1\.5"),
        ({"units": 0}, r"Network units: .*got 0\. Try units=8"),
        ({"units": 2.5}, r"Network units: .*got 2\.5"),
        ({"units": (4, -1)}, r"Network units: .*got -1"),
        ({"units": ()}, r"Network: expected at least one layer"),
        ({"cell": ["lstm", "gru"]}, r"Network: expected as many cells as units, got 2 cells and 1"),
        ({"cell": "lstn"}, r"Network: expected one of .*Did you mean 'lstm'"),
        ({"cell": cells.LSTM}, r"Network cell: expected a cell or its name, got <class"),
        ({"scale": -0.1}, r"Network scale: expected at least 0"),
        ({"scale": np.nan}, r"Network scale: expected at least 0"),
    ],
)
def test_networks_that_cannot_be_are_refused(options, message):
    with pytest.raises(UsageError, match=message):
        Network(**{"inputs": 1, "outputs": 1} | options)
