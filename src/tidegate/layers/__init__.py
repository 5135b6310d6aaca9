"""Gated cells on torch tensors; torch is imported here and nowhere else."""

from __future__ import annotations

try:
    import torch  # noqa: F401
except ImportError as error:
    from tidegate._core.errors import MissingExtraError

    raise MissingExtraError(
        "tidegate.layers", "torch", "an environment without it", "pip install 'tidegate[torch]'"
    ) from error

from tidegate.layers import functions

__all__ = ["functions"]
