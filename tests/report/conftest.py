"""A study with events at known steps, and a browser without a window where one is installed."""

from __future__ import annotations

import json
import os
import shutil
import socket
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from support.traces import leaky
from tidegate._core.trace import Meta, Trace
from tidegate.report import Stream, Study

from .ending import KNOWS, running

STEPS, UNITS, EVERY = 600, 3, 50

FLAGS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
]  # fmt: skip


def bursting(start: int = 0, cell: str = "LSTM(forget_bias=0.0)") -> Trace:
    """Units that keep 0.8 to 0.99, but 0.02 at every 50th step, with gates of an LSTM."""
    rng = np.random.default_rng(3)
    closes = (np.arange(STEPS) % EVERY == EVERY - 1)[:, None, None]
    f = np.where(closes, 0.02, rng.uniform(0.8, 0.99, (STEPS, 1, UNITS)))
    i, g = rng.uniform(0.2, 0.8, f.shape), rng.normal(size=f.shape).clip(-1, 1)
    o = rng.uniform(0.1, 0.9, f.shape)
    trace = leaky(f, i * g)
    return Trace(
        log_retention=trace.log_retention,
        memory=trace.memory,
        hidden={"h": o * np.tanh(trace.memory["c"])},
        gates={"i": i, "f": f, "g": g, "o": o},
        meta=Meta(cell=cell, start=start),
    )


@pytest.fixture
def study() -> Study:
    """600 steps of three units, from step 100, borders at the events."""
    steps = np.arange(100, 100 + STEPS)
    wave = np.sin(steps / 7.0)
    wave[10] = np.nan
    borders = [100 + EVERY * n + EVERY - 1 for n in range(STEPS // EVERY)]
    return Study("a & b </script>", bursting(start=100), Stream(steps, wave * 0.9, wave), borders)


@dataclass
class Browser:
    """A page in Chromium, told what to do through ChromeDriver.

    Attributes:
        processes: number of the session that both run in.
    """

    address: str
    processes: int

    def ask(self, method: str, path: str, content: dict[str, Any] | None = None) -> Any:
        body = None if content is None else json.dumps(content).encode()
        request = urllib.request.Request(self.address + path, body, method=method)
        request.add_header("Content-Type", "application/json")
        with urllib.request.urlopen(request, timeout=30) as answer:
            return json.loads(answer.read())["value"]

    def open(self, page: Path) -> None:
        self.complaints()  # of the page before
        self.ask("POST", "/url", {"url": page.as_uri()})

    def run(self, script: str) -> Any:
        return self.ask("POST", "/execute/sync", {"script": script, "args": []})

    def press(self, key: str) -> None:
        keys = [{"type": "keyDown", "value": key}, {"type": "keyUp", "value": key}]
        self.ask("POST", "/actions", {"actions": [{"type": "key", "id": "k", "actions": keys}]})

    def complaints(self) -> list[str]:
        """What the console says is wrong, since it was asked last."""
        log = self.ask("POST", "/se/log", {"type": "browser"})
        return [entry["message"] for entry in log if entry["level"] in ("SEVERE", "WARNING")]


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    driver = shutil.which("chromedriver")
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if driver is None or chromium is None:
        pytest.skip("needs chromium and chromedriver: apt install chromium chromium-driver")
    if not KNOWS:
        pytest.skip("needs the /proc of Linux, to end chromium for sure")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with running([driver, f"--port={port}"]) as processes:
        root = Browser(f"http://127.0.0.1:{port}", processes)
        yield _session(root, chromium, tmp_path_factory.mktemp("chromium"))


def _session(root: Browser, chromium: str, profile: Path) -> Browser:
    options = {"binary": chromium, "args": [*FLAGS, f"--user-data-dir={profile}"]}
    wanted = {"goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}}
    _wait_for(root)
    # Asked once: each try would start a chromium.
    found = root.ask("POST", "/session", {"capabilities": {"alwaysMatch": wanted}})
    return Browser(f"{root.address}/session/{found['sessionId']}", root.processes)


def _wait_for(driver: Browser) -> None:
    for _ in range(100):
        try:
            if driver.ask("GET", "/status")["ready"]:
                return
        except (ConnectionError, urllib.error.URLError):
            pass
        time.sleep(0.1)
    raise TimeoutError("chromedriver did not answer")


@pytest.fixture
def opened(browser: Browser, study: Study, tmp_path: Path) -> Iterator[Browser]:
    """The browser with the page of ``study``."""
    from tidegate.report import html_page

    page = tmp_path / "page.html"
    page.write_text(html_page(study), encoding="utf-8")
    browser.open(page)
    yield browser
    browser.open(Path(os.devnull))
