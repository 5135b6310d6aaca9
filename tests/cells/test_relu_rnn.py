"""The rectified network against torch's."""

from __future__ import annotations

import numpy as np

from support.values import drawn, stepped
from tidegate.calculus import derive
from tidegate.cells import ReluRNN


def test_step_is_the_published_equation():
    known = drawn(ReluRNN(), units=50)
    np.testing.assert_array_equal(stepped(ReluRNN(), known).h, known["z.n"].clip(min=0))


def test_it_has_no_retention():
    assert derive(ReluRNN()).log_retention == {}
