"""The cache: warm starts, damage, folders that cannot be written, and crowds."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
import threading
from pathlib import Path

import llvmlite.ir as ir
import numpy as np
import pytest

from tidegate.kernels.code import cpu, jit
from tidegate.kernels.code.cpu import host
from tidegate.kernels.code.emit import SINGLE, Emitter, Reals

POINTER = ctypes.c_void_p


def text_adding(number):
    module = ir.Module("test")
    code = Emitter(module, "add", {"x": Reals}, SINGLE)
    (x,) = code.arguments
    x.store(x.load() + float(number))
    code.finish()
    return str(module)


def result(library):
    x = np.zeros(1, np.float32)
    library.function("add", POINTER)(x.ctypes.data)
    return x[0]


def never():
    raise AssertionError("a warm start builds nothing")


def files(folder):
    return sorted(path.name for path in folder.glob("*"))


@pytest.fixture(autouse=True)
def forgetful(monkeypatch):
    """A process that has loaded nothing yet; call it to forget again."""

    def forget():
        monkeypatch.setattr(jit, "_libraries", {})

    forget()
    return forget


def test_a_warm_start_builds_nothing(cache, forgetful):
    assert result(jit.library("one", "recipe", lambda: text_adding(1))) == 1
    assert len(files(cache)) == 1 and files(cache)[0].startswith("one-")
    forgetful()
    assert result(jit.library("one", "recipe", never)) == 1


def test_one_process_loads_a_recipe_once():
    first = jit.library("one", "recipe", lambda: text_adding(1))
    assert jit.library("one", "recipe", never) is first


def test_recipe_target_and_version_each_make_another_file(cache, forgetful, monkeypatch):
    jit.library("one", "recipe", lambda: text_adding(1))
    assert result(jit.library("one", "other", lambda: text_adding(2))) == 2
    lesser = cpu.Target(host().triple, "generic", "", 128)
    jit.library("one", "recipe", lambda: text_adding(1), lesser)
    monkeypatch.setattr(jit.llvmlite, "__version__", "next")
    forgetful()
    jit.library("one", "recipe", lambda: text_adding(1))
    assert len(files(cache)) == 4


DAMAGE = {
    "cut": lambda kept: kept[: len(kept) // 2],
    "empty": lambda kept: b"",
    "a bit changed": lambda kept: kept[:-9] + bytes([kept[-9] ^ 1]) + kept[-8:],
    "checksum changed": lambda kept: kept[:20] + bytes([kept[20] ^ 1]) + kept[21:],
    "something else": lambda kept: b"not an object",
    "longer": lambda kept: kept + b"\0",
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_file_is_never_loaded_and_is_made_again(cache, forgetful, damage):
    jit.library("one", "recipe", lambda: text_adding(1))
    (path,) = cache.iterdir()
    sound = path.read_bytes()
    path.write_bytes(DAMAGE[damage](sound))
    forgetful()
    assert result(jit.library("one", "recipe", lambda: text_adding(1))) == 1
    assert path.read_bytes() == sound


def test_a_file_under_anothers_name_is_not_loaded(cache, forgetful):
    jit.library("one", "first", lambda: text_adding(1))
    (first,) = cache.iterdir()
    jit.library("one", "second", lambda: text_adding(2))
    (second,) = set(cache.iterdir()) - {first}
    second.write_bytes(first.read_bytes())
    forgetful()
    assert result(jit.library("one", "second", lambda: text_adding(2))) == 2


def test_it_works_where_nothing_can_be_kept(monkeypatch, tmp_path):
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("TIDEGATE_CACHE", str(tmp_path / "file" / "cache"))
    assert result(jit.library("one", "recipe", lambda: text_adding(1))) == 1


@pytest.mark.parametrize("failing", ["replace", "fsync"])
def test_a_full_disk_leaves_nothing_behind(monkeypatch, cache, failing):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, failing, full)
    assert result(jit.library("one", "recipe", lambda: text_adding(1))) == 1
    assert files(cache) == []


def test_a_failing_build_fails_again_and_then_works():
    def broken():
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        jit.library("one", "recipe", broken)
    assert result(jit.library("one", "recipe", lambda: text_adding(1))) == 1


def test_dump_shows_three_stages_even_when_warm(monkeypatch, tmp_path, forgetful):
    jit.library("one", "recipe", lambda: text_adding(1))
    forgetful()
    monkeypatch.setenv("TIDEGATE_DUMP", str(tmp_path / "dump"))
    jit.library("one", "recipe", lambda: text_adding(1))
    kinds = {path.name.split(".", 1)[1]: path.read_text() for path in (tmp_path / "dump").iterdir()}
    assert set(kinds) == {"ll", "optimised.ll", "s"}
    assert kinds["ll"] == text_adding(1) and "add:" in kinds["s"]


def test_eight_threads_build_once():
    builds, results, start = [], [], threading.Barrier(8)

    def build():
        builds.append(1)
        return text_adding(3)

    def work():
        start.wait()
        results.append(result(jit.library("one", "crowd", build)))

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [3] * 8 and len(builds) == 1


WORKER = """
import sys
import numpy, ctypes
from tidegate.kernels.code import jit
sys.stdin.readline()
library = jit.library("one", "crowd", lambda: open(sys.argv[1]).read())
x = numpy.zeros(1, numpy.float32)
library.function("add", ctypes.c_void_p)(x.ctypes.data)
print(x[0])
"""


def test_eight_processes_at_once_agree(cache, tmp_path):
    (tmp_path / "text.ll").write_text(text_adding(4))
    environment = {**os.environ, "PYTHONPATH": str(Path(jit.__file__).parents[2])}
    command = [sys.executable, "-c", WORKER, str(tmp_path / "text.ll")]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    crowd = [subprocess.Popen(command, env=environment, **pipes) for _ in range(8)]
    assert [process.communicate("go\n")[0].strip() for process in crowd] == ["4.0"] * 8
    assert len(files(cache)) == 1
    jit.library("one", "crowd", never)


def test_cache_folder_follows_the_platform(monkeypatch):
    monkeypatch.delenv("TIDEGATE_CACHE")
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", "/somewhere")
    assert jit.cache_folder() == Path("/somewhere/tidegate")
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert jit.cache_folder() == Path.home() / ".cache" / "tidegate"
    monkeypatch.setattr(sys, "platform", "darwin")
    assert jit.cache_folder() == Path.home() / "Library" / "Caches" / "tidegate"
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setenv("LOCALAPPDATA", "/local")
    assert jit.cache_folder() == Path("/local/tidegate/Cache")


def test_sources_follow_the_text(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    for module in ("writer_a", "writer_b"):
        (tmp_path / f"{module}.py").write_text(f"name = {module!r}\n")
    both = jit.sources("writer_a", "writer_b")
    assert both == jit.sources("writer_a", "writer_b") != jit.sources("writer_b", "writer_a")
    (tmp_path / "writer_a.py").write_text("name = 'changed'\n")
    assert jit.sources("writer_a", "writer_b") != both


def test_sources_of_a_package_are_all_below_it(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    deep = tmp_path / "writer_c" / "deep"
    deep.mkdir(parents=True)
    for folder in (tmp_path / "writer_c", deep):
        (folder / "__init__.py").write_text("")
    before = jit.sources("writer_c")
    (deep / "part.py").write_text("name = 'changed'\n")
    assert jit.sources("writer_c") != before


def test_calls_let_other_threads_run():
    module = ir.Module("test")
    code = Emitter(module, "wait", {"x": Reals}, SINGLE)
    (x,) = code.arguments
    flag = x.pointer
    spin, done = (code.builder.append_basic_block(name) for name in ("spin", "done"))
    code.builder.branch(spin)
    code.builder.position_at_end(spin)
    seen = code.builder.load_atomic(flag, "acquire", 4, typ=ir.IntType(32))
    code.builder.cbranch(code.builder.icmp_signed("==", seen, ir.IntType(32)(0)), spin, done)
    code.builder.position_at_end(done)
    code.finish()
    text = str(module)
    flag_set = np.zeros(1, np.int32)
    wait = jit.library("wait", text, lambda: text).function("wait", POINTER)
    waiting = threading.Thread(target=wait, args=(flag_set.ctypes.data,))
    waiting.start()
    flag_set[0] = 1  # reached only where the waiting thread does not hold the interpreter
    waiting.join(timeout=30)
    assert not waiting.is_alive()
