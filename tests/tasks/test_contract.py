"""What every task promises, whichever it is."""

from __future__ import annotations

import json
from dataclasses import fields

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidegate._core.discovery import members
from tidegate._core.errors import DataError, UsageError
from tidegate.tasks import Block, State, Step, Stream, Task

SIZES = st.lists(st.integers(0, 200), max_size=8)
SEEDS = st.integers(0, 2**63 - 1)
TASKS = [cls() for cls in members("tidegate.tasks", Task).values()]  # type: ignore[type-abstract]
every_task = pytest.mark.parametrize("task", TASKS, ids=lambda task: task.name)


def same(one: Block, other: Block) -> bool:
    """Whether all arrays agree, their types included."""
    pairs = [(getattr(one, f.name), getattr(other, f.name)) for f in fields(Block)]
    return all(
        np.array_equal(a, b) and np.asarray(a).dtype == np.asarray(b).dtype for a, b in pairs
    )


def joined(blocks: list[Block]) -> Block:
    """Blocks one after another."""
    return Block(
        np.concatenate([block.symbols for block in blocks]),
        np.concatenate([block.targets for block in blocks]),
        np.concatenate([block.legal for block in blocks]),
        np.concatenate([block.starts for block in blocks]),
        blocks[0].alphabet,
    )


def taken(stream: Stream, count: int) -> list[Step]:
    return [next(stream) for _ in range(count)]


def agree(steps: list[Step], block: Block) -> bool:
    """Whether steps say what the block says."""
    return bool(
        [step.symbol for step in steps] == block.symbols.tolist()
        and [step.target for step in steps] == block.targets.tolist()
        and [step.start for step in steps] == block.starts.tolist()
        and [step.input.tolist() for step in steps] == block.inputs.tolist()
        and [step.legal.tolist() for step in steps] == block.legal.tolist()
    )


@every_task
@given(seed=SEEDS, sizes=SIZES)
def test_a_stream_is_the_same_however_it_is_cut(task: Task, seed: int, sizes: list[int]) -> None:
    state = task.start(seed)
    blocks = [task.block(state, 0)[0]]
    for size in sizes:
        block, state = task.block(state, size)
        blocks.append(block)
    whole, end = task.block(task.start(seed), sum(sizes))
    assert same(joined(blocks), whole)
    assert state == end
    assert end.position == sum(sizes)


@every_task
@given(seed=SEEDS, plan=st.lists(st.tuples(st.integers(0, 60), st.integers(0, 60)), max_size=5))
def test_steps_and_blocks_mix(task: Task, seed: int, plan: list[tuple[int, int]]) -> None:
    stream = task.stream(seed)
    for stepped, in_bulk in plan:
        begin = stream.state
        steps = taken(stream, stepped)
        middle = stream.state
        assert agree(steps, task.block(begin, stepped)[0])
        assert same(stream.block(in_bulk), task.block(middle, in_bulk)[0])
    assert stream.state.position == sum(map(sum, plan))


@every_task
def test_stepping_passes_the_read_ahead_unseen(task: Task) -> None:
    stream = task.stream(3)
    steps = taken(stream, 2500)
    assert agree(steps, task.block(task.start(3), 2500)[0])
    assert stream.state == task.block(task.start(3), 2500)[1]


@every_task
@given(seed=SEEDS, before=st.integers(0, 3000))
def test_a_state_survives_json_and_goes_on(task: Task, seed: int, before: int) -> None:
    stream = task.stream(seed)
    stream.block(before)
    saved = State(*json.loads(json.dumps(stream.state)))
    assert saved == stream.state
    assert np.array_equal(np.asarray(saved, np.int64), saved)
    assert same(Stream(task, saved).block(100), stream.block(100))


@every_task
def test_seeds_name_streams(task: Task) -> None:
    streams = {seed: task.stream(seed).block(500).symbols.tobytes() for seed in range(200)}
    assert len(set(streams.values())) == len(streams)
    assert task.stream(7).block(500).symbols.tobytes() == streams[7]


@every_task
def test_shapes_and_types(task: Task) -> None:
    block = task.stream(0).block(300)
    assert block.inputs.shape == (300, task.inputs) and block.inputs.dtype == np.float32
    assert block.legal.shape == (300, task.outputs) and block.legal.dtype == np.bool_
    assert block.alphabet == task.inputs == len(task.alphabet)
    assert (block.inputs.sum(axis=1) == 1).all()
    assert np.array_equal(block.inputs.argmax(axis=1), block.symbols)
    asked = block.legal.any(axis=1)
    assert block.legal[np.arange(300), block.targets][asked].all()
    assert block.starts[0]


@every_task
@pytest.mark.parametrize("seed", [0, 1, 2**63 - 1])
def test_the_oracle_is_right_at_every_step(task: Task, seed: int) -> None:
    block = task.stream(seed).block(20_000)
    predictions = task.oracle(block.symbols)
    assert predictions.dtype == np.float32
    assert np.allclose(predictions.sum(axis=1), block.legal.any(axis=1))
    assert task.score(predictions, block) == 1.0
    assert np.array_equal(predictions > 0, block.legal)


@every_task
def test_forgetting_the_past_is_not_enough(task: Task) -> None:
    """A predictor that knows the symbol at hand and the frequencies, but no history."""
    block = task.stream(5).block(20_000)
    table = np.zeros((task.inputs, task.outputs))
    np.add.at(table, (block.symbols, block.targets), 1)
    assert 1 / (2 * task.outputs) < task.score(table[block.symbols], block) < 0.95


@every_task
@pytest.mark.parametrize("seed", [-1, 2**63])
def test_a_seed_out_of_range_is_refused(task: Task, seed: int) -> None:
    with pytest.raises(UsageError, match=r"seed: expected a whole number from 0 to 2\^63 - 1"):
        task.start(seed)


@every_task
def test_a_seed_is_whole(task: Task) -> None:
    assert task.start(np.int64(4)) == task.start(4)  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        task.start(0.5)  # type: ignore[arg-type]


@every_task
@pytest.mark.parametrize("steps", [-1, -2, -1000])
def test_no_steps_back(task: Task, steps: int) -> None:
    with pytest.raises(UsageError, match="steps: expected at least 0"):
        task.block(task.start(0), steps)


@every_task
def test_the_oracle_refuses_what_cannot_come(task: Task) -> None:
    with pytest.raises(DataError, match="symbol 5"):
        task.oracle(np.append(task.stream(0).block(5).symbols, np.uint8(9)))


@every_task
def test_nothing_seen_nothing_said(task: Task) -> None:
    empty = task.stream(0).block(0)
    assert task.oracle(empty.symbols).shape == (0, task.outputs)
    with pytest.raises(UsageError, match="asks something"):
        task.score(task.oracle(empty.symbols), empty)
