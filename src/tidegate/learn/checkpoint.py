"""Checkpoints: one safetensors file of named arrays and a JSON header; nothing is unpickled.

A file is written beside its place, synced to the disk and renamed, so that there is always a whole
one. Every byte that means something stands under a digest: a file that was cut or altered is
refused, never half read.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load as parse
from safetensors.numpy import save as serialise

from tidegate._core.errors import CheckpointError
from tidegate.kernels.plan import Array

__all__ = ["FORMAT", "Checkpoint", "load", "replace_file", "save", "same_or_refuse"]

FORMAT = 1  #: raised when a reader of the old files would misread the new ones
_LENGTH_BYTES = 8  # a safetensors file begins with the length of its JSON header


@dataclass(frozen=True)
class Checkpoint:
    """Named arrays, and a header of whatever JSON can say.

    >>> Checkpoint({"weights": np.zeros(3)}, {"steps": 17}).header["steps"]
    17
    """

    arrays: Mapping[str, Array]
    header: Mapping[str, Any]


def save(path: Path, checkpoint: Checkpoint) -> None:
    """Write a checkpoint whole, or leave the file that was there.

    Raises:
        CheckpointError: the folder is full, read-only or gone; the message says which.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(Path(folder) / "s.safetensors", Checkpoint({"a": np.arange(3)}, {"steps": 1}))
    ...     load(Path(folder) / "s.safetensors").arrays["a"]
    array([0, 1, 2])
    """
    arrays = {name: np.ascontiguousarray(array) for name, array in checkpoint.arrays.items()}
    header = json.dumps({"format": FORMAT, **checkpoint.header}, sort_keys=True)
    metadata = {"header": header, "digest": _digest(arrays, header)}
    replace_file(path, serialise(arrays, metadata))


def load(path: Path) -> Checkpoint:
    """Read a checkpoint whole.

    Raises:
        CheckpointError: there is no such file, it was cut or altered, or it is of another format.
    """
    content = _read(path)
    try:
        arrays, metadata = parse(content), _metadata(content)
        header_text, digest = metadata["header"], metadata["digest"]
        header = json.loads(header_text)
    except (SafetensorError, KeyError, ValueError, TypeError, AttributeError) as error:
        raise _damaged(path, f"{type(error).__name__}: {error}"[:200]) from error
    if digest != _digest(arrays, header_text):
        raise _damaged(path, "content that does not match its digest")
    if header.get("format") != FORMAT:
        raise CheckpointError(
            str(path),
            f"a checkpoint of format {FORMAT}",
            f"format {header.get('format')}",
            "Load it with the version of Tidegate that wrote it.",
        )
    return Checkpoint(arrays, header)


def same_or_refuse(path: Path, expected: Mapping[str, Any], found: Mapping[str, Any]) -> None:
    """Refuse a checkpoint of something else, naming what differs.

    Raises:
        CheckpointError: a value of ``expected`` is another one in ``found``.
    """
    differing = [name for name in expected if expected[name] != found.get(name)]
    if differing:
        name = differing[0]
        raise CheckpointError(
            str(path),
            f"{name} = {expected[name]!r}",
            f"{name} = {found.get(name)!r}",
            f"It differs in {', '.join(differing)}; resume with what it was made with.",
        )


def replace_file(path: Path, content: bytes) -> None:
    """Put ``content`` in the place of ``path``: written beside, synced, renamed.

    Raises:
        CheckpointError: the folder is full, read-only or gone; what was there stays.
    """
    beside = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with open(beside, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, path)
        _sync_folder(path.parent)
    except OSError as error:
        beside.unlink(missing_ok=True)
        raise CheckpointError(
            str(path),
            "a folder that can be written",
            error.strerror or str(error),
            "The file that was there before is unchanged; free some space or choose another.",
        ) from error


def _sync_folder(folder: Path) -> None:
    """A rename is on the disk only when its folder is; some systems cannot open folders."""
    if os.name != "posix":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise CheckpointError(
            str(path), "a checkpoint", error.strerror or str(error), "Check the path."
        ) from error


def _metadata(content: bytes) -> Mapping[str, str]:
    length = int.from_bytes(content[:_LENGTH_BYTES], "little")
    described = json.loads(content[_LENGTH_BYTES : _LENGTH_BYTES + length])
    metadata: Mapping[str, str] = described["__metadata__"]
    return metadata


def _digest(arrays: Mapping[str, Array], header: str) -> str:
    whole = hashlib.sha256(header.encode())
    for name in sorted(arrays):
        array = arrays[name]
        whole.update(f"\0{name}\0{array.dtype.str}\0{array.shape}\0".encode())
        whole.update(array.tobytes())
    return whole.hexdigest()


def _damaged(path: Path, what: str) -> CheckpointError:
    return CheckpointError(
        str(path),
        "a whole checkpoint",
        what,
        "It was cut or altered; go back to an older one, or start anew without it.",
    )
