"""One run shared out among threads: rows of a batch, and weights between chunks of steps.

What is shared out changes no sum, so every result has the same bits for any number of threads.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache

from tidegate.kernels.batch.layout import Layout, Workspace
from tidegate.kernels.batch.packing import address
from tidegate.kernels.batch.sheet import POSITION
from tidegate.kernels.batch.sizes import Words

__all__ = ["SHARE_WORK", "run_backward", "run_forward"]

SHARE_WORK = 2**24
"""Multiplications that a thread should have between two meetings."""


def run_forward(layout: Layout, space: Workspace, threads: int) -> None:
    """All rows and steps of a forward run."""
    code, size = layout.engine, layout.size
    shares = _shares(threads, size.rows, layout.forward_work)
    if shares == 1:
        code.forward_all(space.address)
        return
    code.prepare(space.address)
    sheets = _shared_out(space.sheet, size.rows, shares)
    for sheet in sheets:  # a thread's rows of several steps do not lie side by side
        sheet[POSITION["chunk"]] = 1
    _each(code.forward, sheets)


def run_backward(layout: Layout, space: Workspace, threads: int) -> None:
    """All rows and steps of the way back."""
    code, size = layout.engine, layout.size
    shares = _shares(threads, size.rows, layout.chunk_work)
    if shares == 1:
        code.backward_all(space.address)
        return
    code.prepare(space.address)
    sheets = _shared_out(space.sheet, size.rows, shares)
    for number in range(-(-size.steps // size.chunk)):
        done = number * size.chunk
        count = min(size.chunk, size.steps - done)
        first = done if size.reverse else size.steps - done - count
        for function in (code.back_steps, code.back_products):
            _each(function, sheets, first, count, number)


def _shares(threads: int, rows: int, work: int) -> int:
    """Threads that are worth their while: none has less to do than starting it takes."""
    return 1 if threads == 1 else max(1, min(threads, rows, work // SHARE_WORK))


def _shared_out(sheet: Words, rows: int, shares: int) -> list[Words]:
    sheets = [sheet.copy() for _ in range(shares)]
    for n, one in enumerate(sheets):
        one[POSITION["first_row"]] = rows * n // shares
        one[POSITION["end_row"]] = rows * (n + 1) // shares
        one[POSITION["share"]], one[POSITION["shares"]] = n, shares
    return sheets


def _each(function: Callable[..., None], sheets: list[Words], *numbers: int) -> None:
    """Call a function for every sheet, each in a thread of its own."""
    calls = [_pool(len(sheets)).submit(function, address(s), *numbers) for s in sheets]
    for call in calls:
        call.result()


@cache
def _pool(threads: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(threads, thread_name_prefix="tidegate-batch")


if hasattr(os, "register_at_fork"):  # a child process has none of its parent's threads
    os.register_at_fork(after_in_child=_pool.cache_clear)
