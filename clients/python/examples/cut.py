"""Sends a clip to the service of BGREMOVE_SERVER and writes what comes back: cut.py INPUT OUTPUT"""

import os
import sys

from bgremove_client import Client, Error, JobFailed


def main(source: str, target: str) -> None:
    client = Client(os.environ["BGREMOVE_SERVER"], os.environ["BGREMOVE_API_KEY"])
    try:
        made = client.submit(source, method="fast", pad=0)
        job = client.wait(made["id"], seen=lambda job: print(job["status"], file=sys.stderr))
        size = client.download(made["id"], target)
    except (Error, JobFailed) as failed:
        sys.exit(f"{source}: {failed}")
    print(f"{target}: {job['outputFormat']}, {size} bytes, credits left: {made['creditsRemaining']}")


if __name__ == "__main__":
    main(*sys.argv[1:])
