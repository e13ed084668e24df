"""Tests against a real service: the program of BGREMOVE_BIN, started here on loopback."""

import base64
import hashlib
import http.server
import json
import os
import pathlib
import re
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import urllib.error
import urllib.request
from typing import Any, ClassVar

from bgremove_client import Client, Error, JobFailed, verify_webhook

HERE = pathlib.Path(__file__).resolve().parent
CLIP = HERE.parent.parent / "testdata" / "clip.gif"
PASSWORD = "correct horse battery"


class Service:
    """A service with an account that has 30 credits."""

    def __init__(self) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.program = os.environ["BGREMOVE_BIN"]
        data = ["--data", os.path.join(self.folder.name, "data")]
        self.process = subprocess.Popen([self.program, "serve", "--addr", "127.0.0.1:0", "--private-webhooks", "--file-urls", "private", *data], stderr=subprocess.PIPE, text=True)
        assert self.process.stderr
        for line in self.process.stderr:
            if found := re.search(r"msg=listening url=(\S+)", line):
                self.url = found[1]
                break
        else:
            raise AssertionError("the service does not listen")
        threading.Thread(target=self.process.stderr.read, daemon=True).start()
        self.admin(["account", "create", "ada@example.com", "--credits", "30", "--password-file", "-", *data], PASSWORD)
        self.key = self.admin(["key", "create", "ada@example.com", *data]).strip()

    def admin(self, args: list[str], said: str = "") -> str:
        return subprocess.run([self.program, "admin", *args], input=said, capture_output=True, text=True, check=True).stdout

    def secret(self) -> str:
        """A signing secret of the account, made as its page does."""
        opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
        for path, body in (("/api/session", {"email": "ada@example.com", "password": PASSWORD}), ("/api/account/webhooks", {})):
            with opener.open(urllib.request.Request(self.url + path, json.dumps(body).encode(), {"Content-Type": "application/json"})) as answer:
                text = answer.read()
        return str(json.loads(text)["secret"])

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait()
        assert self.process.stderr
        self.folder.cleanup()


class ClientTest(unittest.TestCase):
    service: ClassVar[Service]

    @classmethod
    def setUpClass(cls) -> None:
        cls.service = Service()
        cls.addClassCleanup(cls.service.stop)

    def setUp(self) -> None:
        self.client = Client(self.service.url, self.service.key, min_wait=0.01)
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def test_a_clip_comes_back(self) -> None:
        first = self.client.submit(CLIP, method="fast", crop=False, idempotency_key="order-1")
        again = self.client.submit(CLIP.read_bytes(), name="clip.gif", method="fast", crop=False, idempotency_key="order-1")
        self.assertEqual(again, first)
        seen: list[str] = []
        job = self.client.wait(first["id"], seen=lambda job: seen.append(job["status"]))
        self.assertEqual(seen[-1], "done")
        self.assertEqual(job["metadata"]["frameCount"], 3)
        target = self.folder / "out.gif"
        size = self.client.download(first["id"], target)
        self.assertEqual(size, target.stat().st_size)
        self.assertEqual(target.read_bytes()[:10], b"GIF89a\x30\x00\x28\x00")  # 48 × 40
        with self.assertRaises(FileExistsError):
            self.client.download(first["id"], target)
        self.assertEqual(self.client.download(first["id"], target, overwrite=True), size)
        self.assertEqual([path.name for path in self.folder.iterdir()], ["out.gif"])
        self.assertIn(first["id"], [job["id"] for job in self.client.jobs(status="done")])
        self.assertGreaterEqual(self.client.usage()["total"]["jobs"], 1)
        self.assertEqual(self.client.estimate(9.2)["cost"], 10)
        self.assertEqual(self.client.account()["credits"], self.client.estimate(1)["creditsRemaining"])
        self.assertIn(self.client.cancel(first["id"])["status"], ["done"])
        with self.assertRaises(Error) as gone:  # its files are removed
            self.client.download(first["id"], self.folder / "gone.gif")
        self.assertEqual((gone.exception.code, gone.exception.status), ("not_found", 404))

    def test_a_clip_is_fetched(self) -> None:
        class Clips(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self.send_response(200 if self.path == "/clip.gif" else 404)
                self.end_headers()
                self.wfile.write(CLIP.read_bytes())

            def log_message(self, *_: Any) -> None:
                pass

        with http.server.HTTPServer(("127.0.0.1", 0), Clips) as server:
            threading.Thread(target=server.serve_forever, daemon=True).start()
            url = f"http://127.0.0.1:{server.server_port}"
            made = self.client.submit(f"{url}/clip.gif", method="fast")
            self.assertEqual(self.client.wait(made["id"])["metadata"]["originalName"], "clip.gif")
            with self.assertRaises(Error) as wrong:
                self.client.submit(f"{url}/none.gif")
            self.assertEqual((wrong.exception.field, str(wrong.exception)), ("fileUrl", f"fileUrl {url}/none.gif answered 404"))
            server.shutdown()

    def test_refusals_have_facts(self) -> None:
        with self.assertRaises(Error) as wrong:
            self.client.submit(CLIP, pad=99)
        self.assertEqual((wrong.exception.code, wrong.exception.field), ("bad_request", "pad"))
        self.assertEqual(str(wrong.exception), "pad must be between 0 and 50")
        with self.assertRaises(Error) as hint:
            self.client.submit(CLIP, hints=[{"keep": True, "click": [900, 2]}])
        self.assertEqual(hint.exception.field, "hints")
        with self.assertRaises(Error) as unknown:
            Client(self.service.url, "bgr_wrong").account()
        self.assertEqual((unknown.exception.code, unknown.exception.status), ("unauthorized", 401))
        with self.assertRaises(ValueError):
            Client("clips.example", "bgr_1")

    def test_a_webhook_is_verified(self) -> None:
        secret = self.service.secret()
        arrived: list[tuple[bytes, dict[str, str]]] = []
        told = threading.Event()

        class Endpoint(http.server.BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                arrived.append((self.rfile.read(int(self.headers["Content-Length"])), dict(self.headers)))
                self.send_response(204)
                self.end_headers()
                told.set()

            def log_message(self, *_: Any) -> None:
                pass

        with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Endpoint) as endpoint:
            threading.Thread(target=endpoint.serve_forever, daemon=True).start()
            made = self.client.submit(CLIP, method="fast", webhook_url=f"http://127.0.0.1:{endpoint.server_port}/hook")
            self.assertTrue(told.wait(30))
            endpoint.shutdown()
        body, headers = arrived[0]
        event = verify_webhook(body, headers, secret)
        self.assertEqual((event["type"], event["data"]["id"]), ("job.done", made["id"]))
        other = "whsec_" + base64.b64encode(b"another secret").decode()
        for why, changed in {
            "body": (body + b" ", headers, secret),
            "secret": (body, headers, other),
            "id": (body, headers | {"Webhook-Id": "msg_other"}, secret),
            "time": (body, headers | {"Webhook-Timestamp": str(int(time.time()) - 3600)}, secret),
        }.items():
            with self.subTest(why), self.assertRaises(ValueError):
                verify_webhook(*changed)

    def test_the_example_of_webhooks_runs(self) -> None:
        environment = os.environ | {"BGREMOVE_WEBHOOK_SECRET": self.service.secret(), "PYTHONPATH": str(HERE.parent)}
        run = [sys.executable, str(HERE.parent / "examples" / "webhook.py"), "0"]
        with subprocess.Popen(run, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as endpoint:
            self.addCleanup(endpoint.kill)
            assert endpoint.stdout
            url = endpoint.stdout.readline().strip()
            with self.assertRaises(urllib.error.HTTPError) as unsigned:
                urllib.request.urlopen(url, b"{}")
            self.assertEqual(unsigned.exception.code, 400)
            unsigned.exception.close()
            made = self.client.submit(CLIP, method="fast", webhook_url=url)
            self.assertEqual(endpoint.stdout.readline(), f"job.done {made['id']}\n")
            endpoint.kill()

    def test_the_example_runs(self) -> None:
        target = self.folder / "cut.gif"
        environment = os.environ | {"BGREMOVE_SERVER": self.service.url, "BGREMOVE_API_KEY": self.service.key, "PYTHONPATH": str(HERE.parent)}
        run = [sys.executable, str(HERE.parent / "examples" / "cut.py"), str(CLIP), str(target)]
        made = subprocess.run(run, env=environment, capture_output=True, text=True)
        self.assertEqual(made.returncode, 0, made.stderr)
        self.assertIn("cut.gif: gif, ", made.stdout)
        self.assertEqual(target.read_bytes()[6:10], b"\x12\x00\x14\x00")  # 18 × 20, without padding


class RetryTest(unittest.TestCase):
    """Retries, against a server that fails first."""

    def serve(self, *answers: tuple[int, dict[str, str], bytes]) -> tuple[str, list[str]]:
        left, keys = list(answers), []

        class Server(http.server.BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                self.rfile.read(int(self.headers["Content-Length"]))
                keys.append(self.headers["Idempotency-Key"])
                self.do_GET()

            def do_GET(self) -> None:
                status, headers, body = left.pop(0)
                if status == 0:  # the connection breaks
                    self.close_connection = True
                    return
                self.send_response(status)
                for name, value in ({"Content-Length": str(len(body))} | headers).items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: Any) -> None:
                pass

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        return f"http://127.0.0.1:{server.server_port}", keys

    def test_a_submission_has_one_key(self) -> None:
        made = json.dumps({"id": "job_1", "status": "queued", "creditsRemaining": 1, "links": {}}).encode()
        url, keys = self.serve((0, {}, b""), (429, {"Retry-After": "0"}, b""), (503, {}, b"<html>"), (409, {"Retry-After": "0"}, b'{"error":"idempotency_conflict"}'), (202, {}, made))
        self.assertEqual(Client(url, "bgr_1", min_wait=0.001).submit(CLIP)["id"], "job_1")
        self.assertEqual(len(keys), 5)
        self.assertEqual(len(set(keys)), 1)

    def test_a_failure_tells_the_key(self) -> None:
        url, keys = self.serve((503, {}, b""), (503, {}, b""))
        with self.assertRaises(Error) as failed:
            Client(url, "bgr_1", tries=2, min_wait=0.001).submit(CLIP)
        self.assertEqual(failed.exception.idempotency_key, keys[0])

    def test_an_answer_is_lost(self) -> None:
        for status, code, told in ((401, "unauthorized", True), (404, "not_found", True), (402, "insufficient_credits", False), (409, "idempotency_conflict", False)):
            with self.subTest(code):
                url, keys = self.serve((0, {}, b""), (status, {}, json.dumps({"error": code}).encode()))
                with self.assertRaises(Error) as failed:
                    Client(url, "bgr_1", min_wait=0.001).submit(CLIP)
                self.assertEqual((failed.exception.code, failed.exception.idempotency_key), (code, keys[0] if told else ""))

    def test_a_proxy_has_no_answer(self) -> None:
        url, keys = self.serve((524, {}, b"<html>"), (500, {}, b"<html>"), (500, {}, b'{"error":"internal"}'))
        with self.assertRaises(Error) as failed:
            Client(url, "bgr_1", min_wait=0.001).submit(CLIP)
        self.assertEqual((len(keys), failed.exception.code, failed.exception.idempotency_key), (3, "internal", keys[0]))

    def test_a_pause_that_cannot_be_read(self) -> None:
        for pause in ("\xb2", "Fri, 01 Jan 99999999999999999999 00:00:00 GMT", "soon"):
            with self.subTest(pause):
                url, _ = self.serve((503, {"Retry-After": pause}, b""), (200, {}, b'{"credits": 7}'))
                self.assertEqual(Client(url, "bgr_1", min_wait=0.001).account()["credits"], 7)

    def test_a_refusal_breaks_off(self) -> None:
        url, _ = self.serve((503, {"Content-Length": "100"}, b'{"err'), (200, {}, b'{"credits": 7}'))
        self.assertEqual(Client(url, "bgr_1", min_wait=0.001).account()["credits"], 7)

    def test_a_long_pause_is_not_waited_for(self) -> None:
        url, _ = self.serve((429, {"Retry-After": "3600"}, b'{"error":"rate_limited"}'))
        with self.assertRaises(Error) as failed:
            Client(url, "bgr_1").account()
        self.assertEqual(failed.exception.retry_after, 3600)

    def test_a_redirect_is_not_followed(self) -> None:
        url, _ = self.serve((302, {"Location": "http://127.0.0.1:1/"}, b""))
        with self.assertRaises(Error) as failed:
            Client(url, "bgr_1").account()
        self.assertEqual(failed.exception.code, "unexpected")

    def test_a_failed_job_is_told(self) -> None:
        job = json.dumps({"id": "job_1", "status": "failed", "error": "timed_out"}).encode()
        url, _ = self.serve((200, {}, job))
        with self.assertRaisesRegex(JobFailed, "job_1: timed_out"):
            Client(url, "bgr_1").wait("job_1")

    def test_waiting_ends_while_the_service_is_away(self) -> None:
        url, _ = self.serve((503, {"Retry-After": "5"}, b""), (200, {}, b'{"id":"job_1","status":"done"}'))
        with self.assertRaises(TimeoutError):
            Client(url, "bgr_1").wait("job_1", timeout=1)

    def test_waiting_ends_while_an_answer_is_waited_for(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as silent:
            with self.assertRaises(TimeoutError):
                Client(f"http://127.0.0.1:{silent.getsockname()[1]}", "bgr_1", timeout=600).wait("job_1", timeout=0.2)

    def test_a_damaged_download_is_fetched_again(self) -> None:
        digest = hashlib.sha256(b"GIF89a").hexdigest()
        url, _ = self.serve((200, {"ETag": f'"{digest}"'}, b"GIF8"), (200, {"ETag": f'"{digest}"'}, b"GIF89a"))
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(Client(url, "bgr_1", min_wait=0.001).download("job_1", pathlib.Path(folder) / "a.gif"), 6)


if __name__ == "__main__":
    unittest.main()
