"""Packed places: none shared, none lost, and back to the bit."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.cells import ONLINE, name
from tidegate.kernels.online.layout import Layout, outputs_per_group
from tidegate.learn import Network

SIZES = st.integers(1, 20)


def layout(cell, units, inputs, outputs, direct, lanes) -> Layout:
    net = Network(inputs=inputs, outputs=outputs, cell=cell, units=units, direct=direct)
    return Layout(net.plan, lanes, outputs_per_group(outputs))


@pytest.mark.parametrize("cell", ONLINE, ids=name)
@given(
    st.lists(SIZES, min_size=1, max_size=3), SIZES, SIZES, st.booleans(), st.sampled_from([2, 8])
)
def test_every_number_has_a_place_of_its_own(cell, units, inputs, outputs, direct, lanes):
    packed = layout(cell, tuple(units), inputs, outputs, direct, lanes)
    for packing, shapes in (
        (packed.weights, packed.plan.weights),
        (packed.traces, packed.plan.traces),
        (packed.memory, packed.plan.memory),
        (packed.hidden, packed.plan.hidden),
    ):
        logical = np.random.default_rng(0).normal(size=(2, shapes.size)).astype(np.float32)
        into = np.zeros((2, packing.size), np.float32)
        packing.pack(logical, into)
        np.testing.assert_array_equal(packing.unpack(into), logical)
        assert np.count_nonzero(into) == logical.size and packing.size % lanes == 0


def test_units_are_lanes_and_rows_follow_each_other():
    packed = layout("lstm", 5, 2, 1, True, 4)
    places = packed.plan.weights.views(packed.weights.places)
    hidden = places["layer0.hidden"]
    np.testing.assert_array_equal(hidden[0, 0], [0, 1, 2, 3, hidden[0, 0, 4]])
    np.testing.assert_array_equal(hidden[:, :, 0], np.arange(5 * 4).reshape(5, 4) * 4)
    block = packed.block_size(packed.plan.layers[0].weights())
    assert hidden[0, 0, 4] == block == (5 + 2 + 1) * 4 * 4


@given(SIZES)
def test_groups_are_even_and_no_larger_than_registers_allow(outputs):
    group = outputs_per_group(outputs)
    groups = -(-outputs // group)
    assert 1 <= group <= 8 and groups == -(-outputs // 8) and groups * group - outputs < groups
