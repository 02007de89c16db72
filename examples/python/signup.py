"""Sign-ups by email: a small web application that welcomes whoever signs up, and
stops writing to addresses that do not exist or do not want it.

    POST /signups {"email": …}    welcomes somebody
    GET  /signups/{email}         {"status": "welcomed" | "unknown" | "refused" | "gone"}
    POST /hook                    takes the platform's events

It needs nothing beside the standard library.
"""

import base64
import hashlib
import hmac
import json
import os
import signal
import threading
import urllib.error
import urllib.parse
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

MAX_BODY = 1 << 20  # bytes of a request that are read
EVENTS = ["Email.Bounced", "Email.ReportedAsSpam", "SuppressedEmail.Added"]


class Refused(Exception):
    """The platform did nothing, and says why."""

    def __init__(self, status, answer):
        super().__init__(f"the platform answered {status}: {answer[:300]}")
        self.status = status


class OutcomeUnknown(Exception):
    """The platform may have done it, or not: doing it again could do it twice."""


class Platform:
    """The calls of the platform's API that this application makes."""

    def __init__(self, base_url, token, timeout=10):
        self.base_url, self.token, self.timeout = base_url.rstrip("/"), token, timeout

    def send(self, email, subject, text):
        return self._call("POST", "/v2/emails", {
            "email": email,
            "sender": {"name": "The Shop", "email": "hello@shop.example"},
            "content": {"subject": subject, "text": text, "type": "transactional"},
        })

    def look_up(self, message_id):
        return self._call("GET", "/v2/emails/" + urllib.parse.quote(message_id, safe=""))

    def subscribe(self, url, events):
        made = self._call("POST", "/webhooks", {"url": url, "events": events})
        return self._call("GET", f"/webhooks/{made['webhook_id']}")

    def _call(self, method, path, body=None):
        request = urllib.request.Request(
            self.base_url + path,
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Authorization": "Bearer " + self.token, "Content-Type": "application/json"},
        )
        try:
            with urllib.request.urlopen(request, timeout=self.timeout) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            # A 503 with Retry-After comes from before the work; any other 5xx may come from after it.
            if error.code < 500 or error.code == 503 and error.headers["Retry-After"]:
                raise Refused(error.code, error.read(MAX_BODY).decode(errors="replace")) from error
            raise OutcomeUnknown(f"{method} {path}: status {error.code}") from error
        except (OSError, ValueError) as error:  # connection lost, or an answer that is not JSON
            raise OutcomeUnknown(f"{method} {path}: {error}") from error


class Signups:
    """Who signed up, and what became of it. Threads may share one."""

    def __init__(self, platform):
        self.platform = platform
        self.secret = self.hash = None  # of the webhook
        self.handled = {}  # the names of the events that were handled, by what tells them apart
        self._status = {}  # by address
        self._lock = threading.Lock()

    def subscribe(self, url):
        """Asks for events at a URL, and remembers what signs them."""
        webhook = self.platform.subscribe(url, EVENTS)
        self.secret, self.hash = webhook["secret"], webhook["hash_function"]

    def status(self, email):
        with self._lock:
            return self._status.get(email.lower())

    def sign_up(self, email):
        """Welcomes an address, once: one that may have been welcomed is not again."""
        key = email.lower()
        with self._lock:
            if key in self._status:
                return self._status[key]
            self._status[key] = "unknown"  # until it is known: the mail may go out even if this process dies
        try:
            sent = self.platform.send(email, "Welcome!", "Thank you for signing up.")
        except Refused:
            with self._lock:
                del self._status[key]
            raise
        except OutcomeUnknown:
            return "unknown"
        with self._lock:
            if self._status[key] == "unknown":  # an event may have been faster
                self._status[key] = "refused" if sent["status"] == "rejected" else "welcomed"
            return self._status[key]

    def is_signed(self, body, signature):
        """Whether the platform signed exactly these bytes."""
        digest = hmac.new(self.secret.encode(), body, getattr(hashlib, self.hash)).digest()
        return hmac.compare_digest(base64.b64encode(digest), signature.encode())

    def handle(self, body):
        """Handles an event once, however often it comes."""
        event = json.loads(body)
        key = event.get("id") or hashlib.sha256(body).hexdigest()
        with self._lock:
            if key in self.handled:
                return
        self._act(event["event"], event["data"])  # what it raises makes the platform deliver the event again
        with self._lock:
            self.handled[key] = event["event"]

    def _act(self, name, data):
        if name == "SuppressedEmail.Added":
            self._gone(data["suppressedEmail"]["email"])
        elif name in EVENTS and isinstance(data.get("email"), dict):
            # An email of /v2/emails, of which the event says nothing but the id: look it up.
            email = self.platform.look_up(data["email"]["id"])
            if name != "Email.Bounced" or email["bounce"]["type"] == "hard":
                self._gone(email["email"])

    def _gone(self, email):
        with self._lock:
            self._status[email.lower()] = "gone"


class Handler(BaseHTTPRequestHandler):
    """The application over HTTP."""

    def do_GET(self):
        status = self.server.signups.status(urllib.parse.unquote(self.path.removeprefix("/signups/")))
        self._answer(200 if status else 404, {"status": status})

    def do_POST(self):
        size = int(self.headers["Content-Length"] or 0)
        if size > MAX_BODY:
            return self._answer(413, {})
        body = self.rfile.read(size)
        if self.path == "/hook":
            return self._hook(body)
        if self.path == "/signups":
            return self._sign_up(body)
        self._answer(404, {})

    def _hook(self, body):
        if not self.server.signups.is_signed(body, self.headers["X-Service-Signature"] or ""):
            return self._answer(401, {})
        try:
            self.server.signups.handle(body)
        except (Refused, OutcomeUnknown) as error:
            return self._answer(503, {"error": str(error)})
        self._answer(200, {})

    def _sign_up(self, body):
        try:
            status = self.server.signups.sign_up(json.loads(body)["email"])
        except (ValueError, KeyError, TypeError, AttributeError):
            return self._answer(400, {"error": 'want {"email": …}'})
        except Refused as error:
            return self._answer(502, {"error": str(error)})
        self._answer(409 if status in ("gone", "refused") else 202, {"status": status})

    def _answer(self, status, body):
        content = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format, *args):
        pass


class Server(ThreadingHTTPServer):
    """The application, listening."""

    daemon_threads = True

    def __init__(self, address, signups):
        super().__init__(address, Handler)
        self.signups = signups


def main():
    host, _, port = os.environ.get("LISTEN", "127.0.0.1:8080").rpartition(":")
    signups = Signups(Platform(os.environ["PLATFORM_URL"], os.environ["PLATFORM_TOKEN"]))
    server = Server((host, int(port)), signups)
    signups.subscribe(os.environ["HOOK_URL"])
    signal.signal(signal.SIGTERM, lambda *_: threading.Thread(target=server.shutdown).start())
    print(f"listening on {host}:{port}", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
