"""Does the REST API do what its OpenAPI document says? Asks schemathesis.

    python -m pip install "schemathesis>=4"
    python -m benchmarks.http_conformance [--examples 30] [--seed N]

Runs ``hm serve`` over a new home, and schemathesis against the document that it serves:
it makes requests that fit the document, and some that do not, from the schemas alone.
No answer may be a server error, have a status, type or form that the document does not
name, take what the document forbids, or ignore the token. What is valid and still
refused is not counted: which types, scopes and names there are, no schema can say.
Streams are left out: they do not end. Exits 1 if schemathesis finds anything, 2 if it
is not installed.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
CHECKS = (
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_headers_conformance",
    "response_schema_conformance",
    "negative_data_rejection",
    "missing_required_header",
    "unsupported_method",
    "ignored_auth",
)


# Statuses that it does not expect where they are right: 428 without a condition that
# must be given (RFC 6585), 413 for a body that is too large and wrong besides.
CONFIG = """\
[checks]
missing_required_header.expected-statuses = [400, 401, 403, 428]
negative_data_rejection.expected-statuses = [
  400, 401, 403, 404, 405, 409, 412, 413, 415, 428
]
"""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--examples", type=int, default=30, help="for each route")
    parser.add_argument("--seed", type=int, default=None)
    given = parser.parse_args()
    beside = Path(sys.executable).with_name("schemathesis")
    program = str(beside) if beside.is_file() else shutil.which("schemathesis")
    if program is None:
        print('schemathesis is missing: python -m pip install "schemathesis>=4"')
        return 2
    with tempfile.TemporaryDirectory() as home:
        environ = {
            **os.environ,
            "HIVEMIND_HOME": home,
            "HIVEMIND_EMBEDDING_PROVIDER": "none",
            "PYTHONPATH": str(ROOT),
        }
        Path(home, "schemathesis.toml").write_text(CONFIG, encoding="utf-8")
        command = [sys.executable, "-m", "hivemind_memory.cli"]
        subprocess.run([*command, "init"], env=environ, check=True, capture_output=True)
        with subprocess.Popen(
            [*command, "serve", "--port", "0"],
            env=environ,
            cwd=home,
            stderr=subprocess.PIPE,
            text=True,
        ) as server:
            try:
                return _run(program, server, given.examples, given.seed, home)
            finally:
                server.kill()


def _run(
    program: str,
    server: subprocess.Popen[str],
    examples: int,
    seed: int | None,
    home: str,
) -> int:
    """Run schemathesis against a server; return 1 if it finds anything."""
    assert server.stderr is not None
    url = server.stderr.readline().split()[-1]
    file = Path(server.stderr.readline().removeprefix("token in ").strip())
    token = file.read_text(encoding="utf-8").strip()
    done = subprocess.run(
        [
            *(program, "run", f"{url}/api/v1/openapi.json"),
            *("--header", f"Authorization: Bearer {token}"),
            *("--checks", ",".join(CHECKS)),
            *("--exclude-path", "/api/v1/events"),
            *("--max-examples", str(examples), "--no-color"),
            *(("--seed", str(seed)) if seed is not None else ()),
        ],
        cwd=home,
        check=False,
        capture_output=True,
        text=True,
    )
    is_alive = server.poll() is None
    for line in (done.stdout + done.stderr).splitlines():
        print(line[:400])
    print("the server is alive" if is_alive else "the server has ended")
    return 0 if done.returncode == 0 and is_alive else 1


if __name__ == "__main__":
    sys.exit(main())
