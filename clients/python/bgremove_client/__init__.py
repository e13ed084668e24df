"""A client of a bgremove service, which takes the background out of animations and video.

    client = Client("https://clips.example", key)
    made = client.submit("clip.mp4", method="fast")
    client.wait(made["id"])
    client.download(made["id"], "clip-nobg.gif")

Temporary failures are retried: too many requests, an unavailable service, broken connections.
All attempts of a submission carry one Idempotency-Key, so it is charged once.
"""

from __future__ import annotations

import base64
import email.message
import email.utils
import hashlib
import hmac
import http.client
import json
import os
import random
import secrets
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar, Unpack, cast

from .types import Estimate, Hint, Job, JobCreated, JobStatus, KeyAccount, KeyJob, Options, Usage, WebhookEvent

_T = TypeVar("_T")

__all__ = ["Client", "Error", "JobFailed", "SubmitOptions", "verify_webhook"]


class SubmitOptions(Options, total=False):
    """The options of a job, which the API describes."""

    hints: list[Hint]


class Error(Exception):
    """A refusal by the service, or a service that cannot be reached."""

    def __init__(self, code: str, message: str, *, status: int = 0, field: str = "", retry_after: float | None = None, body: Mapping[str, Any] | None = None) -> None:
        super().__init__(message)
        self.code = code
        """The API's code, which is "unavailable" for a proxy's error too, or "unreachable",
        "unexpected" or "damaged"."""
        self.status = status
        """The HTTP status; 0 without an answer."""
        self.field = field
        """The option that it is about; may be empty."""
        self.retry_after = retry_after
        """Seconds that the service asks to wait; None if it does not."""
        self.body = body or {}
        """The answer, with what else it has, such as creditsRemaining."""
        self.idempotency_key = ""
        """Of a submission that may have been taken although it failed: sent again with it, the
        same file and options are not charged twice."""

    @property
    def temporary(self) -> bool:
        """Whether the same request may succeed later."""
        if self.code == "idempotency_conflict":
            return self.retry_after is not None
        return self.code in ("unreachable", "damaged", "unavailable") or self.status in (408, 425, 429, 502, 503, 504)


class JobFailed(Exception):
    """A job that has failed or was cancelled. Its credits were given back."""

    def __init__(self, job: Job) -> None:
        super().__init__(f"{job['id']}: {job['error'] or job['status']}")
        self.job = job


_NOTHING_TAKEN = ("bad_request", "idempotency_conflict", "insufficient_credits", "payload_too_large", "unreadable_file")
"""Refusals of a submission that say that no earlier try of it was taken either."""


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """The key is for one server."""

    def redirect_request(self, *_: Any) -> None:
        return None


class Client:
    """Asks one service with one API key. It may be used by several threads."""

    def __init__(self, server: str, key: str, *, tries: int = 8, min_wait: float = 0.5, max_wait: float = 300, timeout: float = 60) -> None:
        """tries is how often a request is sent. Pauses grow from min_wait, in seconds. A service
        that asks for more than max_wait is not waited for."""
        parts = urllib.parse.urlsplit(server)
        if parts.scheme not in ("http", "https") or not parts.netloc or parts.username or parts.query or parts.fragment:
            raise ValueError("server must be an address such as https://clips.example")
        if not key or not all("!" <= c <= "~" for c in key):
            raise ValueError("key must be an API key of the service")
        self._server = server.rstrip("/")
        self._key = key
        self._tries, self._min_wait, self._max_wait, self._timeout = tries, min_wait, max_wait, timeout
        self._opener = urllib.request.build_opener(_NoRedirect)

    def submit(self, file: str | os.PathLike[str] | bytes, *, name: str = "", idempotency_key: str = "", webhook_url: str = "", **options: Unpack[SubmitOptions]) -> JobCreated:
        """Sends a file, or its bytes with a name, or the address of one for the service to fetch,
        and charges it once. The same idempotency_key within 24 hours finds the job of an earlier
        call."""
        fields: dict[str, Any] = dict(options)
        content: bytes | None = None
        if isinstance(file, str) and file.startswith(("https://", "http://")):
            fields["fileUrl"] = file
        elif isinstance(file, bytes):
            content = file
            if not name:
                raise ValueError("bytes need a name such as clip.gif")
        else:
            name = name or os.path.basename(file)
            with open(file, "rb") as source:
                content = source.read()
        if webhook_url:
            fields["webhookUrl"] = webhook_url
        boundary, body = _form(fields, name, content)
        headers = {"Content-Type": f"multipart/form-data; boundary={boundary}", "Idempotency-Key": idempotency_key or secrets.token_hex(16)}
        return cast(JobCreated, self._json("POST", "/api/v1/jobs", body, headers))

    def job(self, id: str) -> Job:
        """The state of a job."""
        return cast(Job, self._json("GET", _job(id)))

    def wait(self, id: str, *, seen: Callable[[Job], object] = lambda job: None, poll: float = 0.25, timeout: float | None = None) -> Job:
        """Returns when a job is done. It raises JobFailed if it failed or was cancelled, and
        TimeoutError after timeout seconds. seen gets the job after each look at it."""
        end = None if timeout is None else time.monotonic() + timeout
        pause = poll
        while True:
            job = cast(Job, self._json("GET", _job(id), end=end))
            seen(job)
            if job["status"] == "done":
                return job
            if job["status"] not in ("queued", "processing"):
                raise JobFailed(job)
            if end is not None and time.monotonic() + pause > end:
                raise TimeoutError(f"{id} is {job['status']} after {timeout} s")
            time.sleep(pause * random.uniform(0.8, 1.2))
            pause = min(pause * 1.5, 12 * poll)

    def download(self, id: str, path: str | os.PathLike[str], *, overwrite: bool = False) -> int:
        """Writes the result of a job that is done to a file and returns its size. The file gets
        its name when it is complete and checked; an existing one stays unless overwrite is set."""
        if not overwrite and os.path.lexists(path):
            raise FileExistsError(f"{os.fspath(path)} already exists")
        content = self._retry(lambda: self._fetch(_job(id) + "/download"))
        part = os.path.join(os.path.dirname(os.path.abspath(path)), f".bgremove-{secrets.token_hex(8)}.part")
        try:
            with open(part, "xb") as out:
                out.write(content)
            if not overwrite and os.path.lexists(path):
                raise FileExistsError(f"{os.fspath(path)} already exists")
            os.replace(part, path)
        finally:
            if os.path.exists(part):
                os.unlink(part)
        return len(content)

    def cancel(self, id: str) -> Job:
        """Cancels a job that has not ended; its credits are given back. One that has ended loses
        its files. The answer is the job as it is then."""
        return cast(Job, self._json("DELETE", _job(id)))

    def jobs(self, *, status: JobStatus | None = None, since: str | None = None) -> Iterator[KeyJob]:
        """The jobs of the key, newest first: all, those in a state, or those created since a time
        (RFC 3339)."""
        query = {"limit": "100"} | ({"status": status} if status else {}) | ({"since": since} if since else {})
        while True:
            page = self._json("GET", "/api/v1/jobs?" + urllib.parse.urlencode(query))
            yield from cast(list[KeyJob], page["jobs"])
            if page["next"] is None:
                return
            query["before"] = page["next"]

    def account(self) -> KeyAccount:
        """The balance and the limits of the key's account."""
        return cast(KeyAccount, self._json("GET", "/api/v1/account"))

    def usage(self, *, first: str | None = None, last: str | None = None) -> Usage:
        """What the account used from one day to another (2026-11-30), by default in 30 days."""
        query = ({"from": first} if first else {}) | ({"to": last} if last else {})
        return cast(Usage, self._json("GET", "/api/v1/usage?" + urllib.parse.urlencode(query)))

    def estimate(self, duration: float) -> Estimate:
        """The price of a clip of so many seconds. Nothing is charged."""
        body = json.dumps({"duration": duration}).encode()
        return cast(Estimate, self._json("POST", "/api/v1/estimate", body, {"Content-Type": "application/json"}))

    def _json(self, method: str, path: str, body: bytes | None = None, headers: Mapping[str, str] | None = None, end: float | None = None) -> dict[str, Any]:
        def once() -> dict[str, Any]:
            _, answer = self._ask(method, path, body, headers or {}, end)
            try:
                return cast(dict[str, Any], json.loads(answer))
            except ValueError:
                raise Error("unexpected", f"{method} {path}: the answer is not that of a bgremove service") from None

        return self._retry(once, end, (headers or {}).get("Idempotency-Key", ""))

    def _fetch(self, path: str) -> bytes:
        headers, content = self._ask("GET", path, None, {"Accept-Encoding": "identity"})
        digest = headers.get("ETag", "").strip('"')
        if len(digest) == 64 and hashlib.sha256(content).hexdigest() != digest:
            raise Error("damaged", "the download differs from the service's file")
        return content

    def _ask(self, method: str, path: str, body: bytes | None, headers: Mapping[str, str], end: float | None = None) -> tuple[email.message.Message, bytes]:
        """One try. After end it does not wait for more of the answer."""
        timeout = self._timeout if end is None else min(self._timeout, max(end - time.monotonic(), 0.001))
        request = urllib.request.Request(self._server + path, body, {"Authorization": f"Bearer {self._key}", "User-Agent": "bgremove-python", **headers}, method=method)
        try:
            try:
                answer = self._opener.open(request, timeout=timeout)
            except urllib.error.HTTPError as refused:
                answer = refused
            with answer:
                status, got, content = answer.status, answer.headers, answer.read()
        except (OSError, http.client.HTTPException) as broken:
            raise Error("unreachable", f"{self._server}: {getattr(broken, 'reason', broken)}") from broken
        if not 200 <= status < 300:
            raise _refusal(status, got, content)
        return got, content

    def _retry(self, once: Callable[[], _T], end: float | None = None, key: str = "") -> _T:
        """Tries until there is an answer that another try would not change. It raises
        TimeoutError before a pause that would go beyond end. key is the idempotency key of a
        submission; the error of one that may have been taken has it."""
        lost = False  # a try, whatever the next says
        for tried in range(1, self._tries + 1):
            try:
                return once()
            except Error as failed:
                lost = lost or failed.temporary or failed.status >= 500
                if lost and (failed.temporary or failed.code not in _NOTHING_TAKEN):
                    failed.idempotency_key = key
                after = failed.retry_after or 0
                if not failed.temporary or tried == self._tries or after > self._max_wait:
                    raise
                step = min(self._max_wait, self._min_wait * 2 ** (tried - 1))
                pause = max(after + random.uniform(0, min(step, after) / 4), random.uniform(step / 2, step))
                if end is not None and time.monotonic() + pause > end:
                    raise TimeoutError(str(failed)) from failed
            time.sleep(pause)
        raise ValueError("tries must be at least 1")


def _job(id: str) -> str:
    return "/api/v1/jobs/" + urllib.parse.quote(id, safe="")


def _form(fields: Mapping[str, Any], name: str, content: bytes | None) -> tuple[str, bytes]:
    """The boundary and the body of a form with options, and a file if there is content."""
    boundary = secrets.token_hex(16)
    body = b""
    for field, value in fields.items():
        text = value if isinstance(value, str) else json.dumps(value)
        body += f'--{boundary}\r\nContent-Disposition: form-data; name="{_quoted(field)}"\r\n\r\n{text}\r\n'.encode()
    if content is None:
        return boundary, body + f"--{boundary}--\r\n".encode()
    head = f'--{boundary}\r\nContent-Disposition: form-data; name="file"; filename="{_quoted(name)}"\r\nContent-Type: application/octet-stream\r\n\r\n'
    return boundary, b"".join([body, head.encode(), content, f"\r\n--{boundary}--\r\n".encode()])


def _quoted(name: str) -> str:
    return name.replace('"', "%22").replace("\r", "%0D").replace("\n", "%0A")


def _refusal(status: int, headers: email.message.Message, content: bytes) -> Error:
    """The error of an answer that is none of success."""
    try:
        body = json.loads(content)
        code = str(body["error"])
    except (ValueError, KeyError, TypeError):
        body, code = {}, "unavailable" if status >= 500 else "unexpected"
    message = str(body.get("message") or f"the service answered {status} ({code.replace('_', ' ')})")
    return Error(code, message, status=status, field=str(body.get("field") or ""), retry_after=_retry_after(headers.get("Retry-After") or ""), body=body)


def _retry_after(text: str) -> float | None:
    """Seconds, or a date (RFC 9110, section 10.2.3)."""
    if text.isdecimal():
        return float(text)
    try:
        return max(0, email.utils.parsedate_to_datetime(text).timestamp() - time.time())
    except (ValueError, OverflowError):
        return None


def verify_webhook(body: bytes, headers: Mapping[str, str], secret: str, *, tolerance: float = 300) -> WebhookEvent:
    """The event of a webhook's request, as Standard Webhooks signs it. body is what arrived,
    unchanged. It raises ValueError if no signature by the secret fits, or if the message is
    older than tolerance seconds."""
    given = {name.lower(): value for name, value in headers.items()}
    id, at, signatures = (given.get("webhook-" + name, "") for name in ("id", "timestamp", "signature"))
    if not at.isdigit() or abs(time.time() - int(at)) > tolerance:
        raise ValueError("the webhook has no timestamp of the last minutes")
    key = base64.b64decode(secret.removeprefix("whsec_"), validate=True)
    want = base64.b64encode(hmac.digest(key, f"{id}.{at}.".encode() + body, "sha256")).decode()
    if not any(hmac.compare_digest(f"v1,{want}".encode(), one.encode()) for one in signatures.split()):
        raise ValueError("no signature of the webhook is by this secret")
    return cast(WebhookEvent, json.loads(body))
