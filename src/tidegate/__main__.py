"""``python -m tidegate`` is the command ``tidegate``."""

from __future__ import annotations

from tidegate.cli import main

main()
