"""Nothing is unpickled, by whatever door; imports of pickle itself are import-linter's."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "src" / "tidegate"
UNPICKLERS = {"pickle", "cPickle", "_pickle", "dill", "cloudpickle", "joblib", "shelve", "marshal"}
READERS = {"read_pickle", "load_pickle", "fromfile", "eval", "exec"}


def doors(source: str) -> list[str]:
    """What could run code that a file holds."""
    return [found for node in ast.walk(ast.parse(source)) if (found := _door(node))]


def _door(node: ast.AST) -> str:
    if isinstance(node, ast.Import):
        return ", ".join(n.name for n in node.names if n.name.split(".")[0] in UNPICKLERS)
    if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in UNPICKLERS:
        return str(node.module)
    if not isinstance(node, ast.Call):
        return ""
    name = ast.unparse(node.func)
    given = {word.arg: ast.unparse(word.value) for word in node.keywords}
    if name in ("np.load", "numpy.load") and given.get("allow_pickle") != "False":
        return name
    if name == "torch.load" and given.get("weights_only") != "True":
        return name
    if given.get("allow_pickle", "False") != "False":
        return "allow_pickle"
    if name in ("__import__", "compile") or name.rpartition(".")[2] in READERS - {"fromfile"}:
        return name if name not in ("re.compile",) else ""
    return ""


@pytest.mark.parametrize(
    "source",
    [
        "import pickle",
        "import os, joblib",
        "from dill import loads",
        "np.load(path)",
        "np.load(path, allow_pickle=True)",
        "np.savez(path, allow_pickle=flag)",
        "torch.load(path)",
        "torch.load(path, weights_only=False)",
        "pd.read_pickle(path)",
        "eval(text)",
        "exec(code, names)",
    ],
)
def test_a_door_is_seen(source: str) -> None:
    assert doors(source)


@pytest.mark.parametrize(
    "source",
    [
        "json.loads(text)",
        "np.load(path, allow_pickle=False)",
        "torch.load(path, weights_only=True)",
        "re.compile(text)",
        "model.eval_on(x)",
        "safetensors.numpy.load(data)",
    ],
)
def test_what_is_no_door_is_left_alone(source: str) -> None:
    assert doors(source) == []


def test_no_source_has_a_door() -> None:
    files = list(PACKAGE.rglob("*.py"))
    assert len(files) > 50
    found = {path.name: doors(path.read_text(encoding="utf-8")) for path in files}
    assert {name: names for name, names in found.items() if names} == {}
