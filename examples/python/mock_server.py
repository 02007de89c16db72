"""A mock server for tests: runs the command mockserver on a free port and calls its
control routes. Copy this file into your own tests."""

import json
import os
import pathlib
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[2]


class MockServer:
    """A mock server with its own process. Use it in a with statement, or call close()."""

    def __init__(self, *flags):
        self._folder = tempfile.TemporaryDirectory()
        folder = pathlib.Path(self._folder.name)
        command = os.environ.get("MOCKSERVER") or self._build(folder)
        ready = folder / "ready.json"
        # The server exits when its standard input is closed: by close(), or when this process ends, even if it is killed.
        self._process = subprocess.Popen([command, "-addr", "127.0.0.1:0", "-ready-file", ready, "-quiet", "-exit-on-stdin-close", *flags],
                                         stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
        # A proxy in the environment cannot reach this machine's loopback addresses.
        self._open = urllib.request.build_opener(urllib.request.ProxyHandler({})).open
        while not ready.exists():  # the file appears when the server is ready
            if self._process.poll() is not None:
                raise RuntimeError("mockserver did not start")
            time.sleep(0.005)
        self.where = json.loads(ready.read_text(encoding="utf-8"))
        self.url, self.token = self.where["base_url"], self.where["token"]

    @staticmethod
    def _build(folder):
        command = folder / "mockserver.exe"  # Windows needs the extension; other systems ignore it
        subprocess.run(["go", "build", "-o", command, "./mockserver/cmd/mockserver"], cwd=ROOT, check=True)
        return command

    def close(self):
        self._process.stdin.close()
        try:
            self._process.wait(timeout=10)
        except subprocess.TimeoutExpired:  # a forked process still has the pipe
            self._process.terminate()
            self._process.wait()
        self._folder.cleanup()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def control(self, method, path, body=None):
        """Calls a control route; see docs/control-api.md. An error response fails the test."""
        request = urllib.request.Request(f"{self.url}/_mock/{path}", method=method, headers={"Content-Type": "application/json"},
                                         data=None if body is None else json.dumps(body).encode())
        try:
            with self._open(request, timeout=70) as response:
                text = response.read()
        except urllib.error.HTTPError as error:
            raise AssertionError(f"{method} {path}: {error.code} {error.read().decode()}") from error
        return json.loads(text) if text else None

    def reset(self):
        """Restores the state after -seed. Deletes all messages and fault rules, and resets the clock."""
        self.control("POST", "reset")

    def outbox(self, to):
        """Returns the messages to an address, newest first."""
        return self.control("GET", f"outbox?to={urllib.request.quote(to)}")["data"]

    def act(self, message, what, **how):
        """Simulates an action of the recipient: bounce, complain, open, click …"""
        return self.control("POST", f"outbox/{message['id']}/{what}", how)

    def fault(self, **rule):
        """Adds a fault rule."""
        return self.control("POST", "faults", rule)

    def wait(self):
        """Waits until all deliveries that are due are complete."""
        self.control("POST", "wait")

    def advance(self, **to):
        """Advances the clock: advance(duration_ms=1000), advance(to="next"). Alarms fire in the order of their times."""
        return self.control("POST", "clock/advance", to)

    def deliveries(self):
        """Returns all deliveries with their attempts, newest first."""
        return [self.control("GET", f"deliveries/{d['id']}") for d in self.control("GET", "deliveries")["data"]]
