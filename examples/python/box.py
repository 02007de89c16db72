"""The platform in a box: starts the command mockserver on a free port, and does by
its control routes what a test does beside the application. Take it along."""

import json
import os
import pathlib
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[2]


class Box:
    """A platform of this process's own. Use it in a with statement, or close it."""

    def __init__(self, *flags):
        self._folder = tempfile.TemporaryDirectory()
        folder = pathlib.Path(self._folder.name)
        command = os.environ.get("MOCKSERVER") or self._build(folder)
        ready = folder / "ready.json"
        self._process = subprocess.Popen([command, "-addr", "127.0.0.1:0", "-ready-file", ready, "-quiet", *flags],
                                         stdout=subprocess.DEVNULL)
        while not ready.exists():  # it appears whole, once the platform can be asked
            if self._process.poll() is not None:
                raise RuntimeError("mockserver did not start")
            time.sleep(0.005)
        self.where = json.loads(ready.read_text())
        self.url, self.token = self.where["base_url"], self.where["token"]

    @staticmethod
    def _build(folder):
        command = folder / "mockserver.exe"  # by that name, any system runs it
        subprocess.run(["go", "build", "-o", command, "./mockserver/cmd/mockserver"], cwd=ROOT, check=True)
        return command

    def close(self):
        self._process.terminate()
        self._process.wait()
        self._folder.cleanup()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def control(self, method, path, body=None):
        """Calls a control route, see docs/control-api.md. What it refuses fails the test."""
        request = urllib.request.Request(f"{self.url}/_mock/{path}", method=method, headers={"Content-Type": "application/json"},
                                         data=None if body is None else json.dumps(body).encode())
        try:
            with urllib.request.urlopen(request, timeout=70) as answer:
                text = answer.read()
        except urllib.error.HTTPError as error:
            raise AssertionError(f"{method} {path}: {error.code} {error.read().decode()}") from error
        return json.loads(text) if text else None

    def reset(self):
        """Goes back to the start: what the flag -seed says, no messages, no faults, the clock as it was."""
        self.control("POST", "reset")

    def outbox(self, to):
        """The messages that an address got, the newest first."""
        return self.control("GET", f"outbox?to={urllib.request.quote(to)}")["data"]

    def act(self, message, what, **how):
        """Does what a recipient does with a message: bounce, complain, open, click …"""
        return self.control("POST", f"outbox/{message['id']}/{what}", how)

    def fault(self, **rule):
        """Makes something go wrong."""
        return self.control("POST", "faults", rule)

    def wait(self):
        """Waits until every delivery that is due has been made."""
        self.control("POST", "wait")

    def advance(self, **to):
        """Moves the clock: advance(duration_ms=1000), advance(to="next"). What falls due meanwhile happens, in order."""
        return self.control("POST", "clock/advance", to)

    def deliveries(self):
        """All deliveries with their attempts, the newest first."""
        return [self.control("GET", f"deliveries/{d['id']}") for d in self.control("GET", "deliveries")["data"]]
