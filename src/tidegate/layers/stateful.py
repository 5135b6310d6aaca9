"""A layer that remembers where each of many streams stands."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn import Module
from torch.nn.utils.rnn import PackedSequence

from tidegate._core.errors import UsageError
from tidegate.layers.recurrent import Input, Recurrent

__all__ = ["Stateful"]


class Stateful(Module):
    """Runs a layer over pieces of streams and keeps the state of each stream by its key.

    A stream begins at the start state when its key is first seen. Rows may come in any order and
    any number; the state follows the key, not the row. Kept states are detached: error flows to
    the beginning of the piece at hand and no further.

    Args:
        layer: any recurrent layer of this package.

    >>> from tidegate.layers import LSTM
    >>> layer, x = LSTM(3, 4), torch.randn(10, 2, 3)
    >>> stateful = Stateful(layer)
    >>> pieces = [stateful(piece, ["a", "b"]) for piece in (x[:7], x[7:])]
    >>> bool(torch.allclose(torch.cat(pieces), layer(x)[0], atol=1e-6))
    True
    >>> stateful.forget("a")
    >>> stateful.keys
    ('b',)
    """

    def __init__(self, layer: Recurrent) -> None:
        super().__init__()
        self.layer = layer
        self._kept: dict[Hashable, tuple[Tensor, ...]] = {}

    @property
    def keys(self) -> tuple[Hashable, ...]:
        """The streams that have begun."""
        return tuple(self._kept)

    def state(self, key: Hashable) -> dict[str, Tensor]:
        """Where a stream stands, by state name (D * layers, size).

        Raises:
            UsageError: no stream of that key has begun.
        """
        if key not in self._kept:
            raise UsageError(
                "Stateful", "the key of a stream that has begun", repr(key), "Feed it."
            )
        return dict(zip(self.layer.states, self._kept[key], strict=True))

    def forget(self, *keys: Hashable) -> None:
        """These streams begin anew when they are seen again; without a key, all of them."""
        for key in keys or self.keys:
            self._kept.pop(key, None)

    def forward(
        self,
        input: Input,
        keys: Sequence[Hashable],
        *,
        reset: Input | None = None,
        lengths: Tensor | None = None,
        trace: bool = False,
    ) -> Any:
        """Go on with streams.

        Args:
            input: as for the layer; a row for every key.
            keys: of the rows, each once; a single one for input without a batch.
            reset, lengths, trace: as for the layer.

        Returns:
            the output, and with ``trace`` the layer's traces beside it.

        Raises:
            UsageError: the number of keys is not that of the rows, or a key comes twice.
        """
        rows = _rows(input, self.layer.batch_first)
        _check_keys(keys, rows)
        single = isinstance(input, Tensor) and input.dim() == 2
        hx = tuple(part.squeeze(1) if single else part for part in self._gathered(keys))
        output, last, *traces = Recurrent.forward(
            self.layer, input, hx, reset=reset, lengths=lengths, trace=trace
        )
        self._keep(keys, tuple(part.unsqueeze(1) if single else part for part in last))
        return (output, *traces) if traces else output

    def _gathered(self, keys: Sequence[Hashable]) -> tuple[Tensor, ...]:
        start = tuple(part[:, 0] for part in self.layer.initial_state(rows=1))
        by_row = [self._kept.get(key, start) for key in keys]
        return tuple(
            torch.stack([state[n].to(part) for state in by_row], dim=1)
            for n, part in enumerate(start)
        )

    @torch.no_grad()
    def _keep(self, keys: Sequence[Hashable], state: tuple[Tensor, ...]) -> None:
        for row, key in enumerate(keys):
            self._kept[key] = tuple(part[:, row].clone() for part in state)


def _rows(input: Input, batch_first: bool) -> int:
    if isinstance(input, PackedSequence):
        return int(input.batch_sizes[0])
    if input.dim() == 2:
        return 1
    return int(input.shape[0 if batch_first else 1])


def _check_keys(keys: Sequence[Hashable], rows: int) -> None:
    if isinstance(keys, str) or len(keys) != rows:
        got = repr(keys) if isinstance(keys, str) else f"{len(keys)} keys"
        raise UsageError("Stateful keys", f"{rows} keys, one for every row", got, 'Try ["a", "b"].')
    twice = sorted({repr(key) for key in keys if list(keys).count(key) > 1})
    if twice:
        raise UsageError(
            "Stateful keys", "every key once", f"{', '.join(twice)} twice", "Feed them in turn."
        )
