"""A recurrent layer over whole sequences, forward and backward."""

from __future__ import annotations

from tidegate.kernels.batch_plan import Forward, Gradients, Saved, Weights
from tidegate.kernels.batch_reference import backward, forward

__all__ = ["Forward", "Gradients", "Saved", "Weights", "backward", "forward"]
