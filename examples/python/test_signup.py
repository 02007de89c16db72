"""End-to-end tests of the application with the mock server:

    python3 -m unittest
"""

import base64
import contextlib
import hashlib
import hmac
import http.server
import json
import os
import pathlib
import socket
import threading
import unittest
import unittest.mock
import urllib.error
import urllib.request
from datetime import datetime

import signup
from mock_server import MockServer

ADA = "ada@example.org"


def setUpModule():
    global mock
    mock = MockServer("-seed", pathlib.Path(__file__).with_name("seed.json"))
    unittest.addModuleCleanup(mock.close)


class MockServerTest(unittest.TestCase):
    def test_ignores_proxies_in_the_environment(self):
        with unittest.mock.patch.dict(os.environ, {"http_proxy": "http://127.0.0.1:1", "no_proxy": ""}), MockServer() as server:
            self.assertEqual(server.outbox(ADA), [])


class SignupTest(unittest.TestCase):
    def setUp(self):
        """Resets the mock server, and starts an application that subscribes to its events."""
        mock.reset()
        # A pause advances the platform's clock, so the test does not wait for lookups.
        self.signups = signup.Signups(signup.Platform(mock.url, mock.token), lambda s: mock.advance(duration_ms=int(1000 * s)))
        server = signup.Server(("127.0.0.1", 0), self.signups)
        self.url = f"http://127.0.0.1:{server.server_address[1]}"
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        self.addCleanup(server.server_close)
        self.addCleanup(thread.join)
        self.addCleanup(server.shutdown)
        self.signups.subscribe(self.url + "/hook")

    def ask(self, method, path, body=None, **headers):
        request = urllib.request.Request(self.url + path, method=method, data=body, headers=headers)
        try:
            with urllib.request.urlopen(request, timeout=10) as response:
                return response.status, json.load(response)
        except urllib.error.HTTPError as error:
            return error.code, json.load(error)

    def sign_up(self, email):
        return self.ask("POST", "/signups", json.dumps({"email": email}).encode())

    def status(self, email):
        self.signups.lookups.join()
        return self.ask("GET", "/signups/" + email)[1]["status"]

    def test_one_welcome_email_per_address(self):
        self.assertEqual(self.sign_up(ADA), (202, {"status": "welcomed"}))
        self.assertEqual(self.sign_up("Ada@Example.org"), (202, {"status": "welcomed"}))
        [mail] = mock.outbox(ADA)
        self.assertEqual(mail["subject"], "Welcome!")

    def test_suppressed_address_is_rejected(self):
        self.assertEqual(self.sign_up("never@example.org"), (409, {"status": "rejected"}))
        self.assertEqual(mock.outbox("never@example.org"), [])

    def test_hard_bounce_stops_email(self):
        self.sign_up(ADA)
        mock.act(mock.outbox(ADA)[0], "bounce", category="bounce_hb")
        mock.wait()
        self.assertEqual(self.status(ADA), "gone")
        self.assertEqual(self.sign_up(ADA), (409, {"status": "gone"}))
        self.assertEqual(len(mock.outbox(ADA)), 1)

    def test_sixty_bounces_at_once(self):
        addresses = [f"gone{i}@example.org" for i in range(60)]
        for address in addresses:
            self.sign_up(address)
        for address in addresses:
            mock.act(mock.outbox(address)[0], "bounce", category="bounce_hb")
        mock.wait()
        self.assertEqual([self.status(address) for address in addresses], ["gone"] * 60)
        self.assertEqual({d["state"] for d in mock.deliveries()}, {"delivered"})
        self.assertEqual(mock.control("GET", "requests?operation=getEmail")["total"], 60)  # no lookup was rate limited

    def test_restart_finds_the_webhook(self):
        for i in range(120):  # more than a page
            self.signups.platform.subscribe(f"{self.url}/{i}", signup.EVENTS)
        second = signup.Signups(self.signups.platform)
        second.subscribe(self.url + "/hook")
        self.assertEqual((second.secret, second.hash), (self.signups.secret, self.signups.hash))
        second.subscribe(self.url + "/119")
        self.assertNotEqual(second.secret, self.signups.secret)

    def test_soft_bounce_does_not_stop_email(self):
        self.sign_up(ADA)
        mock.act(mock.outbox(ADA)[0], "bounce", category="bounce_fm")
        mock.wait()
        self.assertEqual((self.status(ADA), [*self.signups.handled.values()]), ("welcomed", ["Email.Bounced"]))

    def test_complaint_stops_email(self):
        self.sign_up("Ada@Example.org")
        mock.act(mock.outbox("Ada@Example.org")[0], "complain")
        mock.wait()
        self.assertEqual(self.status(ADA), "gone")

    def test_duplicate_delivery_is_handled_once(self):
        mock.fault(action="duplicate", event="Email.Bounced")
        self.sign_up(ADA)
        mock.act(mock.outbox(ADA)[0], "bounce")
        mock.wait()
        [delivery] = mock.deliveries()
        self.assertEqual([a["status"] for a in delivery["attempts"]], [200, 200])
        self.signups.lookups.join()
        self.assertEqual(mock.control("GET", "requests?operation=getEmail")["total"], 1)

    def test_outage_of_seven_hours_loses_nothing(self):
        schedule = mock.control("GET", "info")["retry_schedule_ms"]
        secret, self.signups.secret = self.signups.secret, "another"
        self.sign_up(ADA)
        mock.act(mock.outbox(ADA)[0], "bounce")
        mock.wait()
        for _ in schedule[1:]:
            mock.advance(to="next")
        self.assertEqual(self.status(ADA), "welcomed")
        self.signups.secret = secret
        mock.advance(to="next")
        self.assertEqual(self.status(ADA), "gone")
        [delivery] = mock.deliveries()
        times = [datetime.fromisoformat(a["time"][:19]) for a in delivery["attempts"]]
        waits = [(b - a).total_seconds() * 1000 for a, b in zip(times, times[1:])]
        self.assertEqual(len(waits), len(schedule))
        for wait, planned in zip(waits, schedule):
            self.assertAlmostEqual(wait, planned, delta=2000)  # attempts take some time, and times are truncated to seconds
        self.assertGreater(sum(waits), 7 * 3600 * 1000)

    def test_forged_event_is_rejected(self):
        self.sign_up(ADA)
        body = json.dumps({"id": "1", "event": "SuppressedEmail.Added", "data": {"suppressedEmail": {"email": ADA}}}).encode()
        forged = base64.b64encode(hmac.new(b"a guess", body, hashlib.sha256).digest()).decode()
        for signature in (forged, "", "é", self.signups.secret):
            code, _ = self.ask("POST", "/hook", body, **{"X-Service-Signature": signature})
            self.assertEqual((code, self.status(ADA)), (401, "welcomed"), signature)
        verdict = mock.control("POST", "verify", {"body": body.decode(), "signature": forged,
                                                 "secret": self.signups.secret, "hash_function": self.signups.hash})
        self.assertFalse(verdict["valid"])

    def raw(self, method, headers, body=b""):
        """Sends a request with exactly these headers, and returns the status."""
        with socket.create_connection(self.url.removeprefix("http://").split(":"), timeout=10) as connection:
            lines = [f"{method} HTTP/1.0", *headers, "", ""]
            connection.sendall("\r\n".join(lines).encode() + body)
            connection.shutdown(socket.SHUT_WR)
            return int(connection.makefile("rb").readline().split()[1])

    def test_length_of_a_body(self):
        for length, want in {"-1": 400, "+2": 400, "x": 400, "²": 400, "": 400, "5": 400, "9" * 5000: 413, str((1 << 20) + 1): 413}.items():
            self.assertEqual(self.raw("POST /signups", ["Content-Length: " + length], b"{}"), want, length[:20])

    def test_cross_site_sign_up(self):
        """A web page cannot sign up an address, unless it is from the same site."""
        body = json.dumps({"email": ADA}).encode()
        for headers, want in [
            (["Sec-Fetch-Site: cross-site"], 403), (["Sec-Fetch-Site: same-site"], 403), (["Origin: https://evil.example"], 403), (["Origin: null"], 403),
            (["Sec-Fetch-Site: same-origin"], 202), (["Origin: https://shop.example", "Host: shop.example"], 202),
        ]:
            self.assertEqual(self.raw("POST /signups", [f"Content-Length: {len(body)}", *headers], body), want, headers)

    def test_responses_of_the_platform(self):
        """A redirect does not send the token to another server, and an endless response is not read to its end."""
        class Redirect(http.server.BaseHTTPRequestHandler):
            log_message = lambda *_: None

            def do_GET(self):
                asked.append(self.path)
                self.send_response(302 if self.path == "/v2/emails/1" else 200)
                self.send_header("Location", "/elsewhere")
                self.end_headers()
                if self.path == "/v2/emails/2":
                    with contextlib.suppress(OSError):  # until the client closes the connection
                        while True:
                            self.wfile.write(b" " * (1 << 16))

        asked = []
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Redirect)
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        self.addCleanup(server.server_close)
        self.addCleanup(thread.join)
        self.addCleanup(server.shutdown)
        platform = signup.Platform(f"http://127.0.0.1:{server.server_address[1]}", "token")
        for email_id in "12":
            with self.assertRaises(signup.OutcomeUnknown):
                platform.look_up(email_id)
        self.assertEqual(asked, ["/v2/emails/1", "/v2/emails/2"])

    def test_both_hash_functions(self):
        for name in ("sha256", "sha512"):
            self.signups.secret, self.signups.hash = "a secret", name
            sent = mock.control("POST", "events", {"body": {"event": "Contact.Added", "data": {}}, "url": self.url + "/hook",
                                                  "secret": "a secret", "hash_function": name})
            mock.wait()
            self.assertEqual(mock.control("GET", "deliveries/" + sent["id"])["state"], "delivered", name)

    def test_every_kind_of_event(self):
        for sample in mock.control("GET", "samples")["data"]:
            sent = mock.control("POST", "events", {"body": sample["body"], "url": self.url + "/hook",
                                                  "secret": self.signups.secret, "hash_function": self.signups.hash})
            mock.wait()
            state = mock.control("GET", "deliveries/" + sent["id"])["state"]
            self.assertEqual(state, "delivered", f"{sample['event']} {sample['variant']}")
        self.signups.lookups.join()  # the emails of the samples were never sent

    def test_lost_response_sends_no_second_email(self):
        mock.fault(action="reset", operation="submitEmail", after_processing=True, times=1)
        self.assertEqual(self.sign_up(ADA), (202, {"status": "unknown"}))
        self.assertEqual(self.sign_up(ADA), (202, {"status": "unknown"}))
        self.assertEqual(len(mock.outbox(ADA)), 1)

    def test_email_with_an_internal_error_can_be_sent_again(self):
        mock.fault(action="internal_error", times=1)
        self.assertNotIn("status", self.sign_up(ADA)[1])
        self.assertEqual(mock.outbox(ADA), [])
        self.assertEqual(self.sign_up(ADA), (202, {"status": "welcomed"}))
        self.assertEqual(len(mock.outbox(ADA)), 1)

    def test_events_without_ids_are_different(self):
        for n, event_id in enumerate(["", "00000000-0000-0000-0000-000000000000"] * 2):
            data = {"suppressedEmail": {"email": f"{n}@example.org"}}
            self.signups.handle(json.dumps({"id": event_id, "event": "SuppressedEmail.Added", "data": data}).encode())
            self.assertEqual(self.status(f"{n}@example.org"), "gone")

    def test_event_before_a_rejection_counts(self):
        def send(*_):
            self.signups.handle(json.dumps({"id": "1", "event": "SuppressedEmail.Added", "data": {"suppressedEmail": {"email": ADA}}}).encode())
            raise signup.Rejected(429, "")

        self.signups.platform.send = send
        self.assertEqual(self.sign_up(ADA)[0], 502)
        self.assertEqual(self.sign_up(ADA), (409, {"status": "gone"}))

    def test_faults_during_sign_up(self):
        """After each fault, the application sends one email, or at most one if the outcome is unknown."""
        faults = [{"action": "status", "status": status} for status in (401, 403, 409, 422, 429)]
        uncertain = [{"action": "status", "status": status} for status in (408, 500, 502, 503)]
        uncertain += [{"action": "status", "status": 503, "retry_after": "1"}, {"action": "redirect", "status": 302}]
        uncertain += [{"action": action} for action in ("redirect", "reset", "not_json")]
        faults += uncertain + [{**fault, "after_processing": True} for fault in uncertain] + [{"action": "truncate"}]
        for i, fault in enumerate(faults):
            address = f"reader{i}@example.org"
            mock.fault(operation="submitEmail", times=1, **fault)
            statuses = [self.sign_up(address)[1].get("status") for _ in range(3)]
            sent = len(mock.outbox(address))
            if statuses[-1] == "unknown":
                self.assertLessEqual(sent, 1, fault)
            else:
                self.assertEqual((statuses[-1], sent), ("welcomed", 1), fault)

    def test_faults_during_lookup(self):
        """After each fault, the application still processes the hard bounce."""
        for i, status in enumerate((401, 403, 409, 422, 429, 500, 503)):
            address = f"gone{i}@example.org"
            self.sign_up(address)
            mock.fault(action="status", operation="getEmail", status=status, times=2)
            mock.fault(action="not_json", operation="getEmail", times=1)
            mock.fault(action="reset", operation="getEmail", times=1)
            mock.act(mock.outbox(address)[0], "bounce", category="bounce_hb")
            mock.wait()
            self.assertEqual(self.status(address), "gone", status)


if __name__ == "__main__":
    unittest.main()
