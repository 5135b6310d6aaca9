"""Files that are there whole or not at all, whatever happens to the one who writes them."""

from __future__ import annotations

import glob
import os
import time
from contextlib import suppress
from pathlib import Path
from uuid import uuid4

LEFTOVER_AGE = 600  # seconds; no write of such a file takes that long


def replace_file(path: Path, content: bytes) -> None:
    """Put ``content`` in the place of ``path``: written beside, synced, renamed.

    What a killed writer left beside is removed when it is older than ten minutes.

    Raises:
        OSError: the folder is full, read-only or gone; what was there stays.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     replace_file(Path(folder) / "a", b"whole")
    ...     (Path(folder) / "a").read_bytes()
    b'whole'
    """
    beside = path.with_name(f".{path.name}.{uuid4().hex}.part")
    try:
        _remove_leftovers(path)
        with open(beside, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, path)
    finally:
        with suppress(OSError):
            beside.unlink(missing_ok=True)
    _sync_folder(path.parent)


def _remove_leftovers(path: Path) -> None:
    for leftover in path.parent.glob(f".{glob.escape(path.name)}.*.part"):
        with suppress(OSError):  # another writer may have been faster
            if time.time() - leftover.stat().st_mtime > LEFTOVER_AGE:
                leftover.unlink()


def _sync_folder(folder: Path) -> None:
    """A rename is on the disk only when its folder is.

    Some systems cannot sync folders: there a power cut may bring back the file of before, whole.
    """
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
