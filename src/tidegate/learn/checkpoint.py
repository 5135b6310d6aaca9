"""Checkpoints: one safetensors file of named arrays and a JSON header; nothing is unpickled.

A file is written beside its place, synced to the disk and renamed, so that there is always a whole
one. Every byte that means something stands under a digest: a file that was cut or altered is
refused, never half read.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load as parse
from safetensors.numpy import save as serialise

from tidegate._core.errors import CheckpointError
from tidegate._core.whole_file import replace_file
from tidegate.kernels.plan import Array

__all__ = ["FORMAT", "Checkpoint", "load", "save", "same_or_refuse", "settings_in"]

FORMAT = 1  #: raised when a reader of the old files would misread the new ones
_LENGTH_BYTES = 8  # a safetensors file begins with the length of its JSON header
_RESERVED = "__metadata__"  # where a safetensors file keeps its texts

# What the parsers raise for content that is no checkpoint, however it was made.
_UNREADABLE = (SafetensorError, KeyError, ValueError, TypeError, AttributeError, RecursionError)


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
        TypeError: an array holds something else than numbers, or JSON cannot say the header.
        ValueError: an array has the one name that the format keeps for itself.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(Path(folder) / "s.safetensors", Checkpoint({"a": np.arange(3)}, {"steps": 1}))
    ...     load(Path(folder) / "s.safetensors").arrays["a"]
    array([0, 1, 2])
    """
    if _RESERVED in checkpoint.arrays:
        raise ValueError(f"no array may be called {_RESERVED!r}")
    arrays = {name: _plain(array) for name, array in checkpoint.arrays.items()}
    header = json.dumps({**checkpoint.header, "format": FORMAT}, sort_keys=True)
    metadata = {"header": header, "digest": _digest(arrays, header)}
    try:
        content = serialise(arrays, metadata)
    except SafetensorError as error:
        raise TypeError(f"no checkpoint can hold these arrays: {error}") from error
    _write(path, content)


def load(path: Path) -> Checkpoint:
    """Read a checkpoint whole.

    Raises:
        CheckpointError: there is no such file, it was cut or altered, or it is of another format.
    """
    content = _read(path)
    try:
        checkpoint, sound = _parsed(content)
    except _UNREADABLE as error:
        raise _damaged(path, f"{type(error).__name__}: {error}"[:200]) from error
    _require_format(path, checkpoint.header.get("format"))
    if not sound:
        raise _damaged(path, "content that does not match its digest")
    return checkpoint


def settings_in(found: Checkpoint, path: Path, kind: str) -> Mapping[str, Any]:
    """What the header of a loaded checkpoint says under the name of its kind.

    Raises:
        CheckpointError: it is of another kind.

    >>> settings_in(Checkpoint({}, {"forecaster": {"units": 8}}), Path("a"), "forecaster")
    {'units': 8}
    """
    if kind not in found.header:
        raise CheckpointError(
            str(path),
            f"a checkpoint with {kind!r}",
            f"one with {', '.join(map(repr, found.header)) or 'nothing'}",
            "Load it with the class that saved it.",
        )
    settings: Mapping[str, Any] = found.header[kind]
    return settings


def _parsed(content: bytes) -> tuple[Checkpoint, bool]:
    """What a file holds, and whether that is what was written."""
    # The parser comes first: it bounds every length by that of the content.
    arrays, metadata = parse(content), _metadata(content)
    text = metadata["header"]
    return Checkpoint(arrays, dict(json.loads(text))), metadata["digest"] == _digest(arrays, text)


def _require_format(path: Path, found: object) -> None:
    """Asked before what the digest says: another format may make it differently."""
    if found != FORMAT:
        raise CheckpointError(
            str(path),
            f"a checkpoint of format {FORMAT}",
            f"format {found!r}"[:80],
            "Load it with the version of Tidegate that wrote it.",
        )


def same_or_refuse(path: Path, expected: Mapping[str, Any], found: Mapping[str, Any]) -> None:
    """Refuse a checkpoint of something else, naming what differs.

    Raises:
        CheckpointError: a value of ``expected`` is another one in ``found``.
    """
    differing = [name for name in expected if _text(expected[name]) != _text(found.get(name))]
    if differing:
        name = differing[0]
        raise CheckpointError(
            str(path),
            f"{name} = {expected[name]!r}",
            f"{name} = {found.get(name)!r}",
            f"It differs in {', '.join(differing)}; resume with what it was made with.",
        )


def _write(path: Path, content: bytes) -> None:
    try:
        replace_file(path, content)
    except OSError as error:
        raise CheckpointError(
            str(path),
            "a folder that can be written",
            error.strerror or str(error),
            "The file that was there before is unchanged; free some space or choose another.",
        ) from error


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
    metadata: Mapping[str, str] = described[_RESERVED]
    return metadata


def _plain(array: Array) -> Array:
    """The same numbers in C order and little-endian, as the file holds them."""
    found = np.asarray(array)
    return np.asarray(found, found.dtype.newbyteorder("<"), order="C")


def _text(value: object) -> str:
    """Equal for values that JSON does not tell apart: tuple and list, NaN and NaN."""
    return json.dumps(value, sort_keys=True, default=repr)


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
