"""Compiled sequences against the NumPy truth, and the promises about their bits."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from support.batch import problem
from support.cells import EVERY, MGU, name
from tidegate._core.errors import UsageError
from tidegate.cells import GRU, LSTM, RNN, Cell, Step, both
from tidegate.cells.functions import sigmoid, tanh
from tidegate.cells.layer_norm_lstm import LayerNormLSTM
from tidegate.kernels import batch
from tidegate.kernels.batch import reference as batch_reference
from tidegate.kernels.batch import threads as batch_threads
from tidegate.kernels.batch.cell import cell_text
from tidegate.kernels.batch.cell_plan import cell_plan
from tidegate.kernels.batch.engine import Engine
from tidegate.kernels.batch.lane import CellParts
from tidegate.kernels.code.cpu import APPLE_M1, NEOVERSE_N1, host, host_with_avx2
from tidegate.kernels.code.jit import assembly
from tidegate.kernels.code.tiles import Tiling
from tidegate.kernels.code.vector import SINGLE

TOLERANCE = {np.float32: 1e-5, np.float64: 1e-11}


@pytest.fixture(autouse=True, scope="module")
def cache(tmp_path_factory):
    """One cache for all tests here, and an empty one: what they see was compiled now."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TIDEGATE_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield


def given(p, masked: bool):
    return {"reset": p.reset, "lengths": p.lengths} if masked else {}


def run(module, cell, p, **options):
    return module.forward(cell, p.weights, p.x, p.hidden0, p.memory0, **options)


def assert_close(got, expected, dtype, what):
    assert got.shape == expected.shape and got.dtype == expected.dtype == dtype, what
    scale = max(1.0, float(np.max(np.abs(expected), initial=0.0)))
    assert np.max(np.abs(got - expected), initial=0.0) <= TOLERANCE[dtype] * scale, what


def values(result) -> dict[str, np.ndarray]:
    found = {n: getattr(result, n) for n in ("hidden", "last_hidden", "last_memory")}
    for kind in ("gates", "slots", "memories"):
        found |= {f"{kind} {n}": v for n, v in getattr(result, kind).items()}
    return found


def gradients(back) -> dict[str, np.ndarray]:
    return {n: getattr(back, n) for n in ("x", "hidden0", "memory0")} | back.weights._asdict()


def assert_same(got, expected):
    assert got.keys() == expected.keys()
    for n in got:
        np.testing.assert_array_equal(got[n], expected[n], err_msg=n)


def check(cell, steps, rows, inputs, units, dtype, masked, reverse, **options):
    p = problem(cell, steps, rows, inputs, units, dtype)
    expected = run(batch_reference, cell, p, reverse=reverse, trace=True, **given(p, masked))
    got = run(batch, cell, p, reverse=reverse, trace=True, **given(p, masked), **options)
    wanted = values(expected)
    assert values(got).keys() == wanted.keys()
    inside = np.ones((steps, rows), bool)
    if masked:
        inside = np.arange(steps)[:, None] < p.lengths
    for n, value in values(got).items():
        traced = " " in n
        here = (value[inside], wanted[n][inside]) if traced else (value, wanted[n])
        assert_close(*here, dtype, n)
    back = gradients(batch.backward(got.saved, *p.errors, **options))
    for n, value in gradients(batch_reference.backward(expected.saved, *p.errors)).items():
        assert_close(back[n], value, dtype, n)


class NormalisedMGU(Cell):
    """Both kinds of product end in a norm; the gate that multiplies h comes out of one."""

    slots = {"f": both(norm=True), "n": both(times="f", norm=True, bias=False)}
    memory = ("h",)

    def step(self, z, past, par):
        f, n = sigmoid(z.f), tanh(z.n)
        return Step(h=(1 - f) * past.h + f * n, gates={"f": f})


CELLS = [*EVERY, LayerNormLSTM(), NormalisedMGU()]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("cell", CELLS, ids=name)
def test_every_cell_is_the_reference_at_odd_sizes(cell, dtype):
    sizes = [(1, 1, 1, 1), (7, 5, 5, 3), (7, 33, 1, 17), (4, 5, 5, 33), (7, 1, 5, 17)]
    for n, size in enumerate(sizes):
        check(cell, *size, dtype, masked=n % 2 == 1, reverse=n in (2, 3))


@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("reverse", [False, True])
def test_wide_layers_fill_several_strips_and_chunks(masked, reverse):
    check(LSTM(), 70, 9, 80, 96, np.float32, masked, reverse)
    check(GRU(), 300, 2, 16, 112, np.float64, masked, reverse)


@pytest.mark.skipif(host().vector_bits < 256, reason="needs AVX2")
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("cell", [LSTM(), MGU(), LayerNormLSTM()], ids=name)
def test_code_for_a_lesser_processor_is_the_reference_too(cell, dtype):
    check(cell, 5, 7, 19, 37, dtype, masked=True, reverse=False, target=host_with_avx2())


@pytest.mark.parametrize("target", [NEOVERSE_N1, APPLE_M1], ids=lambda target: target.cpu)
def test_code_for_arm_multiplies_by_vectors_and_calls_no_mathematics(target):
    parts = CellParts(cell_plan(LSTM()), SINGLE, Tiling.of(target, SINGLE))
    loops = Engine(parts.plan, SINGLE, target).loops_text()
    for text in (cell_text(parts), loops):
        code = assembly(text, target)
        assert re.search(r"fmla[.\s]+v?\d*\.?4s", code)
        outside = re.findall(r"\bbl\s+_?(\w+)", code)
        assert {name for name in outside if f"{name}:" not in code} <= {"memset", "memcpy"}


@pytest.mark.parametrize("cell", [LSTM(), GRU(), MGU(), LayerNormLSTM()], ids=name)
@pytest.mark.parametrize("reverse", [False, True])
def test_two_runs_are_one_to_the_bit(cell, reverse):
    p = problem(cell, 13, 5, 3, 21, np.float32)
    whole = run(batch, cell, p, reverse=reverse)
    cut = 8
    parts = (slice(cut, None), slice(None, cut)) if reverse else (slice(cut), slice(cut, None))
    first = run(batch, cell, replace(p, x=p.x[parts[0]]), reverse=reverse)
    then = replace(p, x=p.x[parts[1]], hidden0=first.last_hidden, memory0=first.last_memory)
    second = run(batch, cell, then, reverse=reverse)
    np.testing.assert_array_equal(whole.hidden[parts[0]], first.hidden)
    np.testing.assert_array_equal(whole.hidden[parts[1]], second.hidden)
    np.testing.assert_array_equal(whole.last_hidden, second.last_hidden)
    np.testing.assert_array_equal(whole.last_memory, second.last_memory)


def test_a_row_does_not_know_the_others():
    p = problem(LSTM(), 9, 33, 5, 17, np.float32)
    together = run(batch, LSTM(), p)
    errors = batch.backward(together.saved, *p.errors)
    for row in (slice(0, 1), slice(7, 12), slice(32, 33)):
        pick = {n: np.ascontiguousarray(getattr(p, n)[:, row]) for n in ("x", "hidden0", "memory0")}
        alone = run(batch, LSTM(), replace(p, **pick))
        np.testing.assert_array_equal(alone.hidden, together.hidden[:, row])
        picked = [np.ascontiguousarray(error[:, row]) for error in p.errors]
        back = batch.backward(alone.saved, *picked)
        np.testing.assert_array_equal(back.x, errors.x[:, row])
        np.testing.assert_array_equal(back.memory0, errors.memory0[:, row])


@pytest.mark.parametrize("cell", [LSTM(), MGU(), LayerNormLSTM()], ids=name)
def test_any_number_of_threads_gives_the_same_bits(cell, monkeypatch):
    monkeypatch.setattr(batch_threads, "SHARE_WORK", 1)
    p = problem(cell, 600, 5, 20, 40, np.float32)
    results = []
    for threads in (1, 2, 3):
        got = run(batch, cell, p, trace=True, threads=threads, **given(p, True))
        results.append(gradients(batch.backward(got.saved, *p.errors, threads=threads)))
        results[-1] |= {n: v for n, v in values(got).items() if " " not in n}
    assert_same(results[1], results[0])
    assert_same(results[2], results[0])


@pytest.mark.skipif(not hasattr(os, "register_at_fork"), reason="needs fork")
def test_a_child_process_starts_threads_of_its_own():
    code = """
import os, sys
from support.batch import problem
import numpy as np
from tidegate.cells import LSTM
from tidegate.kernels import batch
from tidegate.kernels.batch import threads as batch_threads
batch_threads.SHARE_WORK = 1
p = problem(LSTM(), 5, 4, 3, 8, np.float32)
run = lambda: batch.forward(LSTM(), p.weights, p.x, p.hidden0, p.memory0, threads=2).hidden
expected = run()
child = os.fork()
if child == 0:
    os._exit(0 if np.array_equal(run(), expected) else 1)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    folder = Path(__file__).parents[1]
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code], cwd=folder, timeout=60, check=False
    )
    assert done.returncode == 0


def test_tracing_and_saving_change_no_bit():
    p = problem(GRU(), 9, 4, 5, 18, np.float32)
    plain = run(batch, GRU(), p, saving=False)
    traced = run(batch, GRU(), p, saving=False, trace=True)
    saving = run(batch, GRU(), p)
    assert plain.saved is traced.saved is None and not plain.gates and set(traced.gates) == {*"rzn"}
    assert_same(values(plain), values(saving))
    np.testing.assert_array_equal(plain.hidden, traced.hidden)


def test_what_is_not_a_number_goes_through_and_stays_in_its_row():
    for bad in (np.nan, np.inf):
        p = problem(LSTM(), 6, 4, 3, 17, np.float32)
        p.x[2, 1, 0] = bad
        got = run(batch, LSTM(), p)
        with np.errstate(invalid="ignore"):
            expected = run(batch_reference, LSTM(), p)
        np.testing.assert_array_equal(np.isnan(got.hidden), np.isnan(expected.hidden))
        assert np.isnan(got.hidden[2:, 1]).all() == np.isnan(bad)
        back = batch.backward(got.saved, *p.errors)
        assert np.isnan(back.weights.input[:, 0]).any()
        assert np.isfinite(back.x[:, [0, 2, 3]]).all() and not np.isfinite(back.x[0, 1]).all() * 0


def test_what_lies_beyond_a_length_is_never_looked_at():
    p = problem(LSTM(), 6, 4, 3, 5, np.float64)
    options = {"lengths": np.array([6, 2, 4, 1])}
    clean = run(batch, LSTM(), p, **options)
    beyond = np.arange(6)[:, None] >= options["lengths"]
    dirty = replace(p, x=np.where(beyond[..., None], np.nan, p.x))
    got = run(batch, LSTM(), dirty, **options)
    errors = (np.where(beyond[..., None], np.nan, p.errors[0]), *p.errors[1:])
    assert_same(values(got), values(clean))
    assert not got.hidden[beyond].any()
    back = batch.backward(got.saved, *errors)
    assert_same(gradients(back), gradients(batch.backward(clean.saved, *p.errors)))


def test_sums_over_a_long_sequence_keep_their_accuracy():
    """facts: with plain sums the error is 9e-6 of the largest at 64,000 rows."""
    p = problem(RNN(), 4000, 16, 8, 16, np.float32)
    double = replace(
        p,
        weights=batch.Weights(*(w.astype(np.float64) for w in p.weights)),
        **{n: getattr(p, n).astype(np.float64) for n in ("x", "hidden0", "memory0")},
    )
    got = run(batch, RNN(), p)
    expected = run(batch, RNN(), double)
    errors = [np.abs(error) for error in p.errors]
    back = batch.backward(got.saved, *errors)
    exact = batch.backward(expected.saved, *(error.astype(np.float64) for error in errors))
    for value, wanted in zip(back.weights, exact.weights, strict=True):
        worst = np.max(np.abs(value - wanted), initial=0)
        assert worst <= 2e-6 * np.max(np.abs(wanted), initial=1e-30)


def test_errors_that_are_not_given_are_zero_and_x_may_be_left_out():
    p = problem(LSTM(), 5, 3, 4, 6, np.float64)
    saved = run(batch, LSTM(), p).saved
    zeros = [np.zeros_like(error) for error in p.errors]
    for n in range(3):
        only = [error if k == n else None for k, error in enumerate(p.errors)]
        full = [error if k == n else zeros[k] for k, error in enumerate(p.errors)]
        assert_same(
            gradients(batch.backward(saved, *only)), gradients(batch.backward(saved, *full))
        )
    without = batch.backward(saved, *p.errors, needs_x=False)
    whole = batch.backward(saved, *p.errors)
    assert without.x is None
    assert_same(without.weights._asdict(), whole.weights._asdict())


def test_a_batch_of_no_rows_has_nothing_to_do():
    p = problem(LSTM(), 3, 0, 4, 6, np.float32)
    got = run(batch, LSTM(), p, trace=True)
    back = batch.backward(got.saved, *p.errors)
    assert got.hidden.shape == (3, 0, 6) and got.gates["i"].shape == (3, 0, 6)
    assert back.x.shape == (3, 0, 4) and not any(w.any() for w in back.weights)


def test_a_step_back_of_strided_errors_is_that_of_contiguous_ones():
    p = problem(LSTM(), 4, 3, 2, 5, np.float32)
    saved = run(batch, LSTM(), p).saved
    spread = np.broadcast_to(np.float32(0.5), p.errors[0].shape)
    assert_same(
        gradients(batch.backward(saved, spread, None, None)),
        gradients(batch.backward(saved, spread.copy(), None, None)),
    )


WRONG = {
    "x": lambda p: {"x": p.x[0]},
    "weights.unit": lambda p: {"weights": p.weights._replace(unit=np.zeros((1, 5), np.float32))},
    "weights.hidden": lambda p: {"weights": p.weights._replace(hidden=p.weights.hidden[:-1])},
    "weights.bias": lambda p: {"weights": p.weights._replace(bias=p.weights.bias.astype("d"))},
    "hidden0": lambda p: {"hidden0": np.asfortranarray(np.repeat(p.hidden0, 3, axis=1)[:, ::3])},
    "memory0": lambda p: {"memory0": p.memory0[:, :-1]},
}


@pytest.mark.parametrize("owner", WRONG)
def test_nothing_that_does_not_fit_reaches_machine_code(owner):
    p = problem(LSTM(), 4, 3, 2, 5, np.float32)
    with pytest.raises(UsageError, match=f"^{owner}: "):
        run(batch, LSTM(), replace(p, **WRONG[owner](p)))


def test_masks_lengths_errors_and_saved_arrays_are_checked_as_well():
    p = problem(LSTM(), 4, 3, 2, 5, np.float32)
    for owner, options in (
        ("reset", {"reset": np.zeros((4, 2), np.uint8)}),
        ("reset", {"reset": np.zeros((4, 3), bool)}),
        ("lengths", {"lengths": np.array([4, 5, 1])}),
        ("lengths", {"lengths": np.array([4, 0, 1])}),
    ):
        with pytest.raises(UsageError, match=f"^{owner}: "):
            run(batch, LSTM(), p, **options)
    saved = run(batch, LSTM(), p).saved
    with pytest.raises(UsageError, match="^d_last_memory: "):
        batch.backward(saved, None, None, p.errors[2][0])
    with pytest.raises(UsageError, match="^saved: "):
        batch.backward(saved._replace(values=saved.values[:-1]), None, None, None)
    with pytest.raises(UsageError, match="^x: expected at least one step"):
        run(batch, LSTM(), replace(p, x=p.x[:0]))


def test_the_reference_stands_in_where_the_environment_says_so(monkeypatch):
    p = problem(LSTM(), 4, 3, 2, 5, np.float32)
    monkeypatch.setenv("TIDEGATE_REFERENCE", "1")
    got = run(batch, LSTM(), p)
    assert got.saved.values.shape[2] == 0
    expected = batch_reference.backward(got.saved, *p.errors)
    assert_same(gradients(batch.backward(got.saved, *p.errors)), gradients(expected))
