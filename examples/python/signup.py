"""Sign-ups by email: a small web application that welcomes each address, and sends no
more email to addresses that do not exist or do not want it. Its state is in memory.

    POST /signups {"email": …}    sends a welcome email
    GET  /signups/{email}         {"status": "welcomed" | "unknown" | "refused" | "gone"}
    POST /hook                    receives the platform's events
"""

import base64
import hashlib
import hmac
import json
import os
import queue
import signal
import threading
import time
from http.client import HTTPException
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib import parse, request

MAX_BODY = 1 << 20  # bytes
EVENTS = ["Email.Bounced", "Email.ReportedAsSpam", "SuppressedEmail.Added"]


class Refused(Exception):
    """The platform rejected a request and did nothing: the status and the response."""


class OutcomeUnknown(Exception):
    """The platform may have processed a request: repeating it could duplicate its effect."""


class Platform:
    """The calls of the platform's API that this application makes."""

    def __init__(self, base_url, token, timeout=10):
        self.base_url, self.token, self.timeout = base_url.rstrip("/"), token, timeout

    def send(self, email, subject, text):
        sent = self._call("POST", "/v2/emails", {
            "email": email, "sender": {"name": "The Shop", "email": "hello@shop.example"},
            "content": {"subject": subject, "text": text, "type": "transactional"}})
        if sent["status"] == "error":  # an internal error before the email was queued
            raise Refused(201, "the email was not queued")
        return sent

    def look_up(self, message_id):
        return self._call("GET", "/v2/emails/" + parse.quote(message_id, safe=""))

    def subscribe(self, url, events):
        """Finds the webhook, or creates it. Only one process may do this at a time."""
        found, page, more = None, 1, True
        while more and not found:
            answer = self._call("GET", f"/webhooks?page={page}&per_page=100")
            found = next((hook["webhook_id"] for hook in answer["data"] if hook["url"] == url
                          and hook["status"] != "archived" and set(events) <= set(hook["events"])), None)
            page, more = page + 1, len(answer["data"]) >= answer["pagination"]["per_page"]
        found = found or self._call("POST", "/webhooks", {"url": url, "events": events})["webhook_id"]
        return self._call("GET", f"/webhooks/{found}")

    def _call(self, method, path, body=None):
        headers = {"Authorization": "Bearer " + self.token, "Content-Type": "application/json"}
        call = request.Request(self.base_url + path, json.dumps(body).encode() if body else None, headers, method=method)
        try:
            with request.urlopen(call, timeout=self.timeout) as answer:
                return json.load(answer)
        except request.HTTPError as error:
            # A 503 with Retry-After comes from before the work; any other 5xx may come from after it.
            if error.code < 500 or error.code == 503 and error.headers["Retry-After"]:
                raise Refused(error.code, error.read(300).decode(errors="replace")) from error
            raise OutcomeUnknown(f"{method} {path}: status {error.code}") from error
        except (OSError, ValueError, HTTPException) as error:  # connection lost, or not JSON
            raise OutcomeUnknown(f"{method} {path}: {error}") from error


class Signups:
    """The addresses that signed up, and their status. Threads may share it."""

    def __init__(self, platform, pause=time.sleep):
        self.platform, self._pause = platform, pause
        self.secret = self.hash = None  # of the webhook
        self.handled = {}  # the names of the events that were handled, by their keys
        self.lookups = queue.Queue()  # ids of emails
        self.statuses = {}  # by address
        self._lock = threading.Lock()

    def subscribe(self, url):
        webhook = self.platform.subscribe(url, EVENTS)
        self.secret, self.hash = webhook["secret"], webhook["hash_function"]

    def sign_up(self, email):
        """Welcomes an address at most once, even if the outcome is unknown."""
        key = email.lower()
        with self._lock:
            if key in self.statuses:
                return self.statuses[key]
            self.statuses[key] = "unknown"  # even if this process dies, the email may be sent
        try:
            sent = self.platform.send(email, "Welcome!", "Thank you for signing up.")
        except Refused:
            self.statuses.pop(key)
            raise
        except OutcomeUnknown:
            return "unknown"
        with self._lock:
            if self.statuses[key] == "unknown":  # an event may have been faster
                self.statuses[key] = "welcomed" if sent["status"] != "rejected" else "refused"
            return self.statuses[key]

    def is_signed(self, body, signature):
        """Whether the platform signed exactly these bytes."""
        digest = hmac.new(self.secret.encode(), body, getattr(hashlib, self.hash)).digest()
        return hmac.compare_digest(base64.b64encode(digest), signature.encode())

    def handle(self, body):
        """Handles an event once. Lookups are left to look_up_all: they would take too long here."""
        event = json.loads(body)
        key, name, data = event.get("id") or hashlib.sha256(body).hexdigest(), event["event"], event["data"]
        with self._lock:
            if key in self.handled:
                return
            if name == "SuppressedEmail.Added":
                self.statuses[data["suppressedEmail"]["email"].lower()] = "gone"
            elif name in EVENTS and isinstance(data.get("email"), dict):  # of /v2/emails: it contains only the id
                self.lookups.put(data["email"]["id"])
            self.handled[key] = name

    def look_up_all(self):
        """Looks up emails one after the other, forever, and repeats lookups that failed."""
        while True:
            message_id = self.lookups.get()
            try:
                email = self.platform.look_up(message_id)
                if email["reported_as_spam"] or (email["bounce"] or {}).get("type") == "hard":
                    with self._lock:
                        self.statuses[email["email"].lower()] = "gone"
            except Exception as error:
                if error.args[:1] != (404,):  # else it is not an email of this account
                    self.lookups.put(message_id)
            self._pause(1.05)  # the platform allows one lookup per second
            self.lookups.task_done()


class Handler(BaseHTTPRequestHandler):
    log_message = lambda *_: None

    def do_GET(self):
        status = self.server.signups.statuses.get(parse.unquote(self.path.removeprefix("/signups/")).lower())
        self._answer(200 if status else 404, {"status": status})

    def do_POST(self):
        signups, size = self.server.signups, int(self.headers["Content-Length"] or 0)
        if size > MAX_BODY or self.path not in ("/hook", "/signups"):
            return self._answer(413 if size > MAX_BODY else 404, {})
        body = self.rfile.read(size)
        if self.path == "/signups":
            return self._sign_up(body)
        if not signups.is_signed(body, self.headers["X-Service-Signature"] or ""):
            return self._answer(401, {})
        signups.handle(body)  # if it raises, the platform delivers the event again
        self._answer(200, {})

    def _sign_up(self, body):
        try:
            status = self.server.signups.sign_up(json.loads(body)["email"])
            self._answer(409 if status in ("gone", "refused") else 202, {"status": status})
        except (ValueError, KeyError, TypeError, AttributeError):
            self._answer(400, {"error": 'want {"email": …}'})
        except Refused as error:
            self._answer(502, {"error": str(error)})

    def _answer(self, status, body):
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(json.dumps(body).encode())


def server_of(address, signups):
    server = ThreadingHTTPServer(address, Handler)
    server.signups = signups
    threading.Thread(target=signups.look_up_all, daemon=True).start()
    return server


def main():
    host, _, port = os.environ.get("LISTEN", "127.0.0.1:8080").rpartition(":")
    signups = Signups(Platform(os.environ["PLATFORM_URL"], os.environ["PLATFORM_TOKEN"]))
    server = server_of((host, int(port)), signups)
    signups.subscribe(os.environ["HOOK_URL"])
    signal.signal(signal.SIGTERM, lambda *_: threading.Thread(target=server.shutdown).start())
    print(f"listening on {host}:{port}", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
