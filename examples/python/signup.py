"""Sign-ups by email: a small web application that welcomes each address, and sends no
more email to addresses that do not exist or do not want it. Its state is in memory.

    POST /signups {"email": …}    sends a welcome email
    GET  /signups/{email}         {"status": "welcomed" | "unknown" | "rejected" | "gone"}
    POST /hook                    receives the platform's events
"""

import base64
import collections
import contextlib
import hashlib
import hmac
import json
import os
import queue
import signal
import socket
import threading
import time
from http.client import HTTPException
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib import parse, request

MAX_BODY = 1 << 20  # bytes, of a request or a response
MAX_CONNECTIONS = 200
EVENTS = ["Email.Bounced", "Email.ReportedAsSpam", "SuppressedEmail.Added"]


class Rejected(Exception):
    """The platform rejected a request and did nothing: the status and the response."""


class OutcomeUnknown(Exception):
    """The platform may have processed a request: repeating it could duplicate its effect."""


class NoRedirect(request.HTTPRedirectHandler):
    """Makes a redirect an error: it would send the token to another server."""

    def redirect_request(self, *_):
        return None


class Platform:
    """A client for the parts of the platform's API that this application uses."""

    def __init__(self, base_url, token, timeout=10):
        self.base_url, self.token, self.timeout = base_url.rstrip("/"), token, timeout
        self._open = request.build_opener(NoRedirect).open

    def send(self, email, subject, text):
        sent = self._call("POST", "/v2/emails", {
            "email": email, "sender": {"name": "The Shop", "email": "hello@shop.example"},
            "content": {"subject": subject, "text": text, "type": "transactional"}})
        if sent["status"] == "error":  # an internal error before the email was queued
            raise Rejected(201, "the email was not queued")
        return sent

    def look_up(self, message_id):
        return self._call("GET", "/v2/emails/" + parse.quote(message_id, safe=""))

    def subscribe(self, url, events):
        """Finds the webhook, or creates it. Only one process may do this at a time."""
        found, page, more = None, 1, True
        while more and not found:
            response = self._call("GET", f"/webhooks?page={page}&per_page=100")
            found = next((hook["webhook_id"] for hook in response["data"] if hook["url"] == url
                          and hook["status"] != "archived" and set(events) <= set(hook["events"])), None)
            page, more = page + 1, len(response["data"]) >= response["pagination"]["per_page"]
        found = found or self._call("POST", "/webhooks", {"url": url, "events": events})["webhook_id"]
        return self._call("GET", f"/webhooks/{found}")

    def _call(self, method, path, body=None):
        headers = {"Authorization": "Bearer " + self.token, "Content-Type": "application/json"}
        call = request.Request(self.base_url + path, json.dumps(body).encode() if body else None, headers, method=method)
        try:
            with self._open(call, timeout=self.timeout) as response:
                return json.loads(response.read(MAX_BODY))  # if the response is longer, it is not JSON
        except request.HTTPError as error:
            # After a 408, a redirect or a 5xx, even with Retry-After, the platform may have processed the request.
            if 400 <= error.code < 500 and error.code != 408:
                raise Rejected(error.code, error.read(300).decode(errors="replace")) from error
            raise OutcomeUnknown(f"{method} {path}: status {error.code}") from error
        except (OSError, ValueError, HTTPException) as error:  # connection lost, or not JSON
            raise OutcomeUnknown(f"{method} {path}: {error}") from error


class Signups:
    """The addresses that signed up, with their statuses. It is safe for concurrent use."""

    def __init__(self, platform, pause=time.sleep):
        self.platform, self._pause = platform, pause
        self.secret = self.hash = None  # of the webhook
        self.handled = {}  # names of handled events, by their deduplication keys
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
            self.statuses[key] = "unknown"  # the email may be sent even if this process crashes
        try:
            sent = self.platform.send(email, "Welcome!", "Thank you for signing up.")
        except Rejected:
            with self._lock:
                if self.statuses[key] == "unknown":  # an event may have arrived before the response
                    del self.statuses[key]
            raise
        except OutcomeUnknown:
            return "unknown"
        with self._lock:
            if self.statuses[key] == "unknown":  # an event may have arrived before the response
                self.statuses[key] = "welcomed" if sent["status"] != "rejected" else "rejected"
            return self.statuses[key]

    def is_signed(self, body, signature):
        """Reports whether the platform signed exactly these bytes."""
        digest = hmac.new(self.secret.encode(), body, getattr(hashlib, self.hash)).digest()
        return hmac.compare_digest(base64.b64encode(digest), signature.encode())

    def handle(self, body):
        """Handles an event and ignores duplicates. look_up_all sends the lookups, because they take too long here."""
        event = json.loads(body)
        key, name, data = event.get("id") or "", event["event"], event["data"]
        if not key.strip("0-"):  # a platform that sets no id sends none, "" or zeros
            key = hashlib.sha256(body).hexdigest()
        with self._lock:
            if key in self.handled:
                return
            if name == "SuppressedEmail.Added":
                self.statuses[data["suppressedEmail"]["email"].lower()] = "gone"
            elif name in EVENTS and isinstance(data.get("email"), dict):  # an event of POST /v2/emails contains only the id
                self.lookups.put(data["email"]["id"])
            self.handled[key] = name

    def look_up_all(self):
        """Looks up emails one at a time, forever, and retries failed lookups."""
        while True:
            message_id = self.lookups.get()
            try:
                email = self.platform.look_up(message_id)
                if email["reported_as_spam"] or (email["bounce"] or {}).get("type") == "hard":
                    with self._lock:
                        self.statuses[email["email"].lower()] = "gone"
            except Exception as error:
                if error.args[:1] != (404,):  # 404 means that the email is not from this account
                    self.lookups.put(message_id)
            self._pause(1.05)  # the platform allows one lookup per second
            self.lookups.task_done()


class Handler(BaseHTTPRequestHandler):
    timeout = 10  # seconds without data
    log_message = lambda *_: None

    def do_GET(self):
        status = self.server.signups.statuses.get(parse.unquote(self.path.removeprefix("/signups/")).lower())
        self._respond(200 if status else 404, {"status": status})

    def do_POST(self):
        signups, size = self.server.signups, self.headers["Content-Length"] or "0"
        if self.path not in ("/hook", "/signups"):
            return self._respond(404, {})
        if not (size.isascii() and size.isdigit()):  # read(-1) would read without a limit
            return self._respond(400, {"error": "the Content-Length is not a number"})
        if len(size) > 9 or int(size) > MAX_BODY:
            return self._respond(413, {})
        body = self.rfile.read(int(size))
        if len(body) < int(size):
            return self._respond(400, {"error": "the body is incomplete"})
        if self.path == "/signups":
            return self._respond(403, {}) if self._is_cross_site() else self._sign_up(body)
        if not signups.is_signed(body, self.headers["X-Service-Signature"] or ""):
            return self._respond(401, {})
        signups.handle(body)  # if it raises, the platform delivers the event again
        self._respond(200, {})

    def _is_cross_site(self):
        """Reports whether a page of another site sent the request, as Go's http.CrossOriginProtection does."""
        site, origin = self.headers["Sec-Fetch-Site"], self.headers["Origin"]
        if site:
            return site not in ("same-origin", "none")
        return bool(origin) and parse.urlsplit(origin).netloc != self.headers["Host"]

    def _sign_up(self, body):
        try:
            status = self.server.signups.sign_up(json.loads(body)["email"])
            self._respond(409 if status in ("gone", "rejected") else 202, {"status": status})
        except (ValueError, KeyError, TypeError, AttributeError):
            self._respond(400, {"error": 'want {"email": …}'})
        except Rejected as error:
            self._respond(502, {"error": str(error)})

    def _respond(self, status, body):
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(json.dumps(body).encode())


class Server(ThreadingHTTPServer):
    """Serves each connection in a thread. Above MAX_CONNECTIONS it closes the oldest one, so slow clients do not exclude others."""

    request_queue_size = 128  # connections that wait for accept

    def __init__(self, address, signups):
        super().__init__(address, Handler)
        self.signups, self._open, self._lock = signups, collections.OrderedDict(), threading.Lock()
        threading.Thread(target=signups.look_up_all, daemon=True).start()

    def process_request(self, connection, address):
        with self._lock, contextlib.suppress(OSError):  # the client may have closed it
            self._open[connection] = address
            if len(self._open) > MAX_CONNECTIONS:
                self._open.popitem(last=False)[0].shutdown(socket.SHUT_RDWR)  # ends its thread
        super().process_request(connection, address)

    def shutdown_request(self, connection):
        with self._lock:
            self._open.pop(connection, None)
            super().shutdown_request(connection)


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
