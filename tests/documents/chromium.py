"""A browser without a window, spoken to over two pipes: as much of Chromium's DevTools protocol as the tests need."""

import json
import os
import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

PROGRAM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome", "chrome"))), None)


class Chromium:
    """One browser with one page open; notes what the page complains of and asks for."""

    def __init__(self, folder: Path) -> None:
        assert PROGRAM is not None
        ours, theirs = os.pipe(), os.pipe()  # what the browser reads, what it writes
        words = [PROGRAM, "--headless=new", "--remote-debugging-pipe", f"--user-data-dir={folder}", "--no-first-run"]
        words += ["--disable-gpu", "--disable-dev-shm-usage", "--disable-background-networking", "--hide-scrollbars"]
        if os.geteuid() == 0:
            words.append("--no-sandbox")
        # The browser wants them as descriptors 3 and 4. First out of the way, so that neither takes the other's place.
        place = f'exec 8<&{ours[0]} 9>&{theirs[1]}; exec "$@" 3<&8 4>&9'
        self._process = subprocess.Popen(
            ["bash", "-c", place, "bash", *words],
            pass_fds=(ours[0], theirs[1]),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(ours[0])
        os.close(theirs[1])
        self._to = os.fdopen(ours[1], "wb", buffering=0)
        self._from = os.fdopen(theirs[0], "rb", buffering=0)
        self._held = b""
        self._number = 0
        self._session: str | None = None
        self.complaints: list[str] = []
        self.requests: list[str] = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Ask the browser for something and wait for the answer."""
        self._number += 1
        question: dict[str, Any] = {"id": self._number, "method": method, "params": parameters}
        if self._session is not None:
            question["sessionId"] = self._session
        self._to.write(json.dumps(question).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self._number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                result: dict[str, Any] = answer["result"]
                return result
            self._note(answer)

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._held:
            part = self._from.read(1 << 20)
            if not part:
                raise RuntimeError("the browser is gone")
            self._held += part
        text, _, self._held = self._held.partition(b"\0")
        message: dict[str, Any] = json.loads(text)
        return message

    def _note(self, message: dict[str, Any]) -> None:
        method, told = message.get("method"), message.get("params", {})
        if method == "Network.requestWillBeSent":
            self.requests.append(told["request"]["url"])
        elif method == "Runtime.exceptionThrown":
            self.complaints.append(str(told["exceptionDetails"]))
        elif method == "Log.entryAdded":
            self.complaints.append(told["entry"]["text"])
        elif method == "Runtime.consoleAPICalled":
            self.complaints.append(str(told["args"]))

    def run(self, expression: str) -> Any:
        """The value of an expression in the page."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(str(answer["exceptionDetails"]))
        return answer["result"].get("value")

    def wait(self, expression: str, seconds: float = 10) -> Any:
        """The value of an expression as soon as it is true."""
        return self._until(lambda: self.run(expression), expression, seconds)

    def _until(self, ask: Callable[[], Any], what: str, seconds: float) -> Any:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if value := ask():
                return value
            time.sleep(0.01)
        raise TimeoutError(what)

    def open(self, path: Path, *, width: int = 1280, height: int = 800, dark: bool = False) -> float:
        """Open a file and wait for its first rows; how long that took, in seconds."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])
        self.complaints.clear()
        self.requests.clear()
        self.call("Page.navigate", url="about:blank")
        self.requests.clear()
        start = time.monotonic()
        self.call("Page.navigate", url=path.as_uri())
        self.wait("location.protocol === 'file:' && document.querySelectorAll('#rows .row').length > 0", 60)
        return time.monotonic() - start

    def press(self, key: str) -> None:
        """Press a key, as a person would."""
        text = {"text": key} if len(key) == 1 else {}
        named = {"Enter": 13, "Escape": 27, "PageDown": 34, "End": 35, "Home": 36, "ArrowUp": 38, "ArrowDown": 40}
        code = {"windowsVirtualKeyCode": named[key]} if key in named else {}
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, **text, **code)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key, **code)

    def click(self, selector: str) -> None:
        """Click on an element."""
        found = f"document.querySelector({json.dumps(selector)})"
        self.run(f"{found}.scrollIntoView({{block: 'center'}})")
        box = self.run(
            f"(r => [r.x + Math.min(r.width, 200) / 2, r.y + r.height / 2])({found}.getBoundingClientRect())"
        )
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=box[0], y=box[1], button="left", clickCount=1)

    def close(self) -> None:
        """End the browser."""
        try:
            self._session = None
            self.call("Browser.close")
        except (RuntimeError, OSError):
            self._process.terminate()
        self._to.close()
        self._from.close()
        self._process.wait(20)
