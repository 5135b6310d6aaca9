"""Ctrl-C and SIGTERM: the first lets the step be finished, the second ends the process at once."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from types import FrameType, TracebackType
from typing import Any, Self, TypeVar

T = TypeVar("T")

SIGNALS = (signal.SIGINT, signal.SIGTERM)
SHOW_CURSOR = b"\x1b[?25h\n"


class Stopped(KeyboardInterrupt):
    """The process was asked to stop while it waited for something.

    Args:
        signum: the signal that asked.
    """

    def __init__(self, signum: int) -> None:
        super().__init__(signum)
        self.exit_code = 128 + signum


class Interrupts:
    """While entered, a signal is a request that is met between two steps.

    Waiting ends at once: a stream may be silent for hours.

    Attributes:
        signum: the signal that came, or None.

    >>> rows = iter([5.0])
    >>> with Interrupts() as interrupts:
    ...     row = interrupts.await_(lambda: next(rows))
    >>> row, interrupts.signum is None
    (5.0, True)
    """

    def __init__(self) -> None:
        self.signum: int | None = None
        self._waiting = False
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Self:
        # nohup and shells in the background have signals ignored, and mean it.
        heard = [signum for signum in SIGNALS if signal.getsignal(signum) != signal.SIG_IGN]
        self._before = {signum: signal.signal(signum, self._ask) for signum in heard}
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for signum, handler in self._before.items():
            signal.signal(signum, handler)

    def await_(self, what: Callable[[], T]) -> T:
        """The result of what may take for ever and can be broken off.

        Raises:
            Stopped: a signal came.
        """
        self._waiting = True
        try:
            return what()
        finally:
            self._waiting = False

    def _ask(self, signum: int, frame: FrameType | None) -> None:
        if self.signum is not None:
            _end_at_once(signum)
        self.signum = signum
        if self._waiting:
            raise Stopped(signum)


def _end_at_once(signum: int) -> None:
    # Not an exception: whoever cleans up after it could wait for a pipe that nobody reads.
    if sys.stderr is not None and sys.stderr.isatty():
        os.write(sys.stderr.fileno(), SHOW_CURSOR)
    os._exit(128 + signum)
