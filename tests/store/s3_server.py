"""An S3 server on loopback (moto's), behind a proxy that can fail as networks and servers do."""

import http.client
import threading
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

BUCKET = "evidence"


class Faults:
    """What the proxy does to the next requests, one a request: `500`, `503`, `slow`, `cut-request`, `cut-answer`."""

    def __init__(self) -> None:
        self._waiting: list[str] = []
        self._lock = threading.Lock()
        self.always: str | None = None
        self.seen: list[tuple[str, str, str | None]] = []
        """Method, path and fault of each request."""

    def plan(self, *faults: str) -> None:
        """Add to what is done to the next requests."""
        self._waiting += faults

    def take(self, method: str, path: str) -> str | None:
        """The fault for the request that has come."""
        with self._lock:
            fault = self._waiting.pop(0) if self._waiting else self.always
            self.seen.append((method, path, fault))
            return fault


def _handler(port: int, faults: Faults) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _pass_on(self) -> None:
            fault = faults.take(self.command, self.path)
            if fault == "cut-request":
                # Not even the body is read: the connection is reset under the sender.
                self.close_connection = True
                self.connection.close()
                return
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            if fault in ("500", "503"):
                self._answer(int(fault), [], b"<Error><Code>InternalError</Code></Error>")
                return
            if fault == "slow":
                time.sleep(1.0)
            server = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
            server.request(self.command, self.path, body, dict(self.headers.items()))
            answer = server.getresponse()
            data = answer.read()
            kept = [(name, text) for name, text in answer.getheaders() if name.lower() not in _HOP]
            if fault == "cut-answer":
                self.send_response(answer.status)
                for name, text in kept:
                    self.send_header(name, text)
                self.send_header("Content-Length", str(len(data) or 10))
                self.end_headers()
                self.wfile.write(data[: len(data) // 2])
                self.wfile.flush()
                self.close_connection = True
                self.connection.close()
                return
            self._answer(answer.status, kept, data)

        def _answer(self, status: int, headers: list[tuple[str, str]], data: bytes) -> None:
            self.send_response(status)
            for name, text in headers:
                self.send_header(name, text)
            if self.command != "HEAD" or not any(name.lower() == "content-length" for name, _ in headers):
                self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(data)

        do_GET = do_PUT = do_POST = do_DELETE = do_HEAD = _pass_on  # noqa: N815

        def log_message(self, *_arguments: Any) -> None:
            """Say nothing."""

    return Handler


_HOP = frozenset({"connection", "transfer-encoding", "content-length", "server", "date"})


@contextmanager
def s3_server() -> Iterator[tuple[dict[str, str], Faults]]:
    """A server with an empty bucket: the environment that a client needs, and the faults of its proxy."""
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    faults = Faults()
    _, port = server.get_host_and_port()
    proxy = ThreadingHTTPServer(("127.0.0.1", 0), _handler(port, faults))
    proxy.daemon_threads = True
    thread = threading.Thread(target=proxy.serve_forever, daemon=True)
    thread.start()
    try:
        request = urllib.request.Request(f"http://127.0.0.1:{port}/{BUCKET}", method="PUT")
        urllib.request.urlopen(request).close()  # noqa: S310
        yield (
            {
                "AWS_ACCESS_KEY_ID": "key",
                "AWS_SECRET_ACCESS_KEY": "secret",
                "AWS_REGION": "us-east-1",
                "AWS_ENDPOINT_URL": f"http://127.0.0.1:{proxy.server_port}",
                "AWS_ALLOW_HTTP": "true",
            },
            faults,
        )
    finally:
        proxy.shutdown()
        proxy.server_close()
        thread.join()
        server.stop()
