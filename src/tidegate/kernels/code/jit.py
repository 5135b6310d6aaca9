"""From LLVM text to a callable address, through a cache on disk.

A warm start compiles nothing and does not even write the text: what a kernel is made of is named
by a *recipe* (the text itself, or hashes of the sources that write it), and the object code of a
recipe, on one kind of processor, under one LLVM, lies in one file of the cache.

``TIDEGATE_CACHE`` names the cache folder; without it the user's cache folder of the platform is
taken, and where neither can be written the cache is done without. ``TIDEGATE_DUMP`` names a folder
that gets the text, the optimised text and the assembly of every kernel.
"""

from __future__ import annotations

import ctypes
import hashlib
import importlib.util
import os
import sys
import tempfile
import threading
from collections import defaultdict
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any

import llvmlite  # type: ignore[import-untyped]
import llvmlite.binding as llvm  # type: ignore[import-untyped]

from tidegate.kernels.code.cpu import Target, host
from tidegate.kernels.code.vector import LLVM

__all__ = ["Library", "assembly", "cache_folder", "library", "sources"]

_OPTIMISE = 2
_GENERATE = 3
_TUNING = ("loop_vectorization", "slp_vectorization", "loop_unrolling")
"""Passes left out: the code is vectors already, and its loops are as long as they should be."""
_MARK = b"tidegate-object-1\n"


class Library:
    """Machine code in memory; it stays for as long as this object does."""

    def __init__(self, code: bytes) -> None:
        # The engine takes the machine for its own and frees it, so it cannot be the shared one.
        self._engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), _new_machine(host()))
        self._engine.add_object_file(llvm.ObjectFileRef.from_data(code))
        self._engine.finalize_object()

    def address(self, name: str) -> int:
        """Where the function ``name`` starts."""
        return int(self._engine.get_function_address(name))

    def function(self, name: str, *arguments: type[Any]) -> Callable[..., None]:
        """The function ``name`` as a call that lets other threads run meanwhile.

        Args:
            name: as exported.
            arguments: ctypes types of its arguments.
        """
        return ctypes.CFUNCTYPE(None, *arguments)(self.address(name))


_libraries: dict[str, Library] = {}
_locks: defaultdict[str, threading.Lock] = defaultdict(threading.Lock)
_guard = threading.Lock()


def library(
    name: str, recipe: str, build: Callable[[], str], target: Target | None = None
) -> Library:
    """The code that ``build`` writes, from this process, from the cache, or compiled now.

    Args:
        name: what it is called in the cache and in dumps, such as ``"lstm-adam"``.
        recipe: whatever determines the text; equal recipes must mean equal text.
        build: writes the LLVM text; called only where the code is not at hand.
        target: the processor at hand, or a lesser one that it can stand in for.
    """
    chosen = target or host()
    key = _key(recipe, chosen)
    with _guard:
        lock = _locks[key]
    with lock:
        if key not in _libraries:
            _libraries[key] = _load(f"{name}-{key[:32]}", key, build, chosen)
        return _libraries[key]


def sources(*modules: str) -> str:
    """A hash of the text of modules, of a package all below it: the recipe of what they write.

    >>> len(sources("json", "string")), sources("json") == sources("string")
    (64, False)
    """
    digest = hashlib.sha256()
    for file in chain.from_iterable(map(_files, modules)):
        digest.update(hashlib.sha256(file.read_bytes()).digest())
    return digest.hexdigest()


def _files(module: str) -> list[Path]:
    spec = importlib.util.find_spec(module)
    file = Path(str(spec and spec.origin))
    package = spec is not None and spec.submodule_search_locations
    return sorted(file.parent.rglob("*.py")) if package else [file]


def cache_folder() -> Path:
    """Where object code is kept."""
    chosen = os.environ.get("TIDEGATE_CACHE")
    if chosen:
        return Path(chosen)
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", "~")).expanduser() / "tidegate" / "Cache"
    if sys.platform == "darwin":
        return Path("~/Library/Caches/tidegate").expanduser()
    return Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "tidegate"


def assembly(text: str, target: Target) -> str:
    """What ``text`` becomes on a processor, which need not be the one at hand."""
    return str(_machine(target).emit_assembly(_optimised(text, target)))


def _key(recipe: str, target: Target) -> str:
    version = f"{llvmlite.__version__} {llvm.llvm_version_info} {_OPTIMISE} {_GENERATE} {_TUNING}"
    parts = (_MARK.decode(), version, target.triple, target.identity, target.features, recipe)
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def _load(name: str, key: str, build: Callable[[], str], target: Target) -> Library:
    dump = os.environ.get("TIDEGATE_DUMP")
    code = None if dump else _read(name, key)
    if code is None:
        text = build()
        code = _compiled(text, target)
        _write(name, key, code)
        if dump:
            _dump(Path(dump), name, text, target)
    return Library(code)


def _read(name: str, key: str) -> bytes | None:
    """The kept code, or nothing where it is absent, cut or changed."""
    try:
        kept = (cache_folder() / f"{name}.o").read_bytes()
    except (OSError, RuntimeError):
        return None
    start = len(_MARK) + hashlib.sha256().digest_size
    sound = kept[:start] == _MARK + _checksum(key, kept[start:])
    return kept[start:] if sound else None


def _write(name: str, key: str, code: bytes) -> None:
    """Keep code: beside, synced, then renamed, so that a reader sees all of it or none."""
    with suppress(OSError, RuntimeError):
        folder = cache_folder()
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle, beside = tempfile.mkstemp(dir=folder, prefix=".", suffix=".part")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(_MARK + _checksum(key, code) + code)
                file.flush()
                os.fsync(file.fileno())
            os.replace(beside, folder / f"{name}.o")
        except BaseException:
            os.unlink(beside)
            raise


def _checksum(key: str, code: bytes) -> bytes:
    return hashlib.sha256(key.encode() + code).digest()


def _dump(folder: Path, name: str, text: str, target: Target) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    optimised = _optimised(text, target)
    (folder / f"{name}.ll").write_text(text)
    (folder / f"{name}.optimised.ll").write_text(str(optimised))
    (folder / f"{name}.s").write_text(_machine(target).emit_assembly(optimised))


def _compiled(text: str, target: Target) -> bytes:
    return bytes(_machine(target).emit_object(_optimised(text, target)))


def _optimised(text: str, target: Target) -> LLVM:
    machine = _machine(target)
    module = llvm.parse_assembly(text)
    module.triple = target.triple
    module.data_layout = str(machine.target_data)
    module.verify()
    options = llvm.create_pipeline_tuning_options(speed_level=_OPTIMISE)
    for name in _TUNING:
        setattr(options, name, False)
    builder = llvm.create_pass_builder(machine, options)
    builder.getModulePassManager().run(module, builder)
    return module


@cache
def _machine(target: Target) -> LLVM:
    return _new_machine(target)


def _new_machine(target: Target) -> LLVM:
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    here = target.triple == host().triple
    return llvm.Target.from_triple(target.triple).create_target_machine(
        cpu=target.cpu, features=target.features, opt=_GENERATE, jit=here
    )
