"""Prints the ends of jobs that a service sends: webhook.py PORT, with the secret in BGREMOVE_WEBHOOK_SECRET"""

import os
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from bgremove_client import verify_webhook


class Endpoint(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        try:
            event = verify_webhook(body, dict(self.headers), os.environ["BGREMOVE_WEBHOOK_SECRET"])
        except ValueError as wrong:
            self.send_error(400, str(wrong))
            return
        self.send_response(204)
        self.end_headers()
        print(event["type"], event["data"]["id"], flush=True)


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Endpoint)
    print(f"http://127.0.0.1:{server.server_port}", flush=True)
    server.serve_forever()
