"""Memory is used again only when nothing looks at it any more, and never without bound."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from tidegate.kernels import recycled

SINGLE = np.dtype(np.float32)


@pytest.fixture(autouse=True)
def bare():
    recycled.forget()
    yield
    recycled.forget()


def place(array):
    return array.__array_interface__["data"][0]


def test_an_array_is_writable_contiguous_and_on_a_cache_line():
    array = recycled.empty((3, 50_000), SINGLE)
    array[...] = 1
    assert array.flags.c_contiguous and array.dtype == SINGLE and array.sum() == 150_000
    assert place(array) % 64 == 0


def test_memory_waits_only_when_the_last_view_is_gone():
    array = recycled.empty((1000, 100), SINGLE)
    view = array[10:20, ::3][1:]
    kept, where = view.copy(), place(array)
    del array
    assert recycled.waiting() == 0
    other = recycled.empty((1000, 100), SINGLE)
    other[...] = np.nan
    assert place(other) != where
    np.testing.assert_array_equal(view, kept)
    del view
    assert recycled.waiting() >= 400_000
    assert place(recycled.empty((1000, 99), SINGLE)) == where


def test_what_waits_is_bounded_and_the_latest_stays(monkeypatch):
    monkeypatch.setattr(recycled, "_MOST", 3_000_000)
    sizes = [300_000, 400_000, 500_000]
    arrays = [recycled.empty((n,), SINGLE) for n in sizes]
    latest = place(arrays[-1])
    for n in range(3):
        arrays[n] = None
    assert 2_000_000 <= recycled.waiting() <= 3_000_000
    assert place(recycled.empty((500_000,), SINGLE)) == latest


def test_small_arrays_are_numpy_s_own():
    array = recycled.empty((10, 10), SINGLE)
    assert array.base is None
    del array
    assert recycled.waiting() == 0


def test_threads_never_share_a_piece():
    wrong = []

    def work(number):
        for _ in range(200):
            array = recycled.empty((20_000,), SINGLE)
            array[...] = number
            if not (array == number).all():
                wrong.append(number)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
