"""What real notes look like: lists of links, contents, badges, code, symbols, slips.

Each question is asked of one small memory of notes as people write them.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from hivemind_memory.memory.memory import Memory
from tests.support.sandbox import Sandbox, ask, paths

NOTES = {
    "git/renaming-a-branch.md": """\
# Rename a branch

Rename the branch you are on, then push it and remove the old name from the remote.

```sh
git branch -m new-name
git push origin -u new-name
git push origin --delete old-name
```
""",
    "git/README.md": """\
# Git notes

[![build](https://img.shields.io/github/actions/workflow/status/me/notes/ci.yml)](https://ci.example.com)
[![license](https://img.shields.io/badge/license-MIT-blue.svg)](LICENSE)

## Contents

- [Renaming a branch](renaming-a-branch.md)
- [Undoing a commit](undoing-a-commit.md)
- [Force push](force-push.md)
- [Ignoring files](ignoring-files.md)
- [Worktrees](worktrees.md)
""",
    "git/undoing-a-commit.md": """\
# Undo a commit

If it is not pushed yet, `git reset --soft HEAD~1` takes the last commit back and
keeps its changes staged. If it was pushed, write the opposite with `git revert`.
""",
    "git/force-push.md": """\
# Push over the branch of a colleague

`git push --force-with-lease` refuses if somebody else pushed meanwhile; `--force`
does not ask. Only the first is allowed on shared branches.
""",
    "git/force.md": """\
# Force of habit

Most of the force of a review comes from its first sentence. Do not force anybody to
read a page; force and pressure make reviews slow.
""",
    "git/worktrees.md": """\
# Worktrees

A worktree is a second folder of the same repository. Remove it with `git worktree
remove`, not by hand.
""",
    "bookmarks.md": """\
# Bookmarks

- https://www.postgresql.org/docs/current/routine-vacuuming.html
- https://blog.example.org/2021/04/tuning-autovacuum-for-large-postgres-tables/
- https://wiki.example.org/display/OPS/kafka-consumer-lag-alerts
- https://github.com/acme/terraform-modules/blob/main/vacuum/README.md
- https://news.example.com/item?id=25000001
""",
    "ops/autovacuum.md": """\
# Tables that grow

Autovacuum does not keep up with the orders table. We set
`autovacuum_vacuum_scale_factor` to 0.02 for it, because the default waits until a fifth
of the table is dead. Vacuum of large tables runs at night.
""",
    "ops/kafka.md": """\
# Alerts

We page when the lag of a consumer is above 10,000 messages for five minutes. Kafka
itself is watched by the platform team. See
https://wiki.example.org/display/OPS/runbook-4711 for what to do.
""",
    "ops/retries.md": """\
# How we retry

A call to another service is tried three times, with a wait that doubles and some
jitter. We never retry a payment: it could be charged twice.
""",
    "ops/client.md": """\
# The HTTP client

The wrapper around the client, for reference:

```python
def call(service, retry=3):
    retry_wait = 1
    for retry_count in range(retry):
        try:
            return service.call()
        except RetryError:
            sleep(retry_wait)
            retry_wait *= 2
    raise RetryError(service)
```
""",
    "lang/cpp.md": """\
# Compiler flags

We build C++ with `-Wall -Werror`. Templates are kept in headers.
""",
    "lang/c.md": """\
# Compiler choice

We build C with clang. The C standard is C11, and C code has no exceptions.
""",
    "lang/csharp.md": """\
# Style

In C# a field of a class begins with an underscore, and a file holds one class.
""",
    "lang/namespaces.md": """\
# Lookup

`B::C` is looked up in B first, then in the enclosing scope.
""",
    "lang/letters.md": """\
# Plan letters

Plan B is to wait; plan C is to ask the vendor. B and C exclude each other.
""",
    "shell/chaining.md": """\
# Chaining commands

`a && b` runs b only if a worked; `a || b` only if it failed; `a ; b` always.
""",
    "shell/background.md": """\
# Running commands

`a &` runs a in the background, and `jobs` shows commands that run.
""",
    "app/dotenv.md": """\
# Local settings

Secrets for development go to `.env`, which git ignores. Copy it from the vault.
""",
    "app/environments.md": """\
# Environments

There are three: the env for development, staging and production. An env has its own
database, and each env is deployed by hand.
""",
    "places/office.md": """\
# Office

The office in Zürich is at Langstrasse 12, third floor. Herr Müller has the keys.
""",
    "places/home.md": """\
# Home

The parcel goes to Goethestraße 7. Frau Schaefer takes it if nobody is there.
""",
    "web/caching.md": """\
# Caching

Responses of the catalogue are cached for ten minutes at the edge, and purged when a
product changes. The certificates are renewed by the load balancer.
""",
    "web/todo.md": "# Todo\n\nCaching\n",
    "log/2024-05-03.md": """\
- Deployed the catalogue.

Caching.
""",
    "web/summary.md": """\
# Documentation

* [Introduction](introduction.md)
* [Caching](caching.md)
  * [Caching responses at the edge](caching.md#edge)
  * [Purging when a product changes](caching.md#purge)
* [Certificates](certificates.md)
""",
}


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    sandbox = Sandbox(tmp_path_factory.mktemp("home"))
    for path, text in NOTES.items():
        sandbox.save(path, text)
    with sandbox.memory() as opened:
        yield opened


@pytest.mark.parametrize(
    ("question", "path"),
    [
        ("git/renaming-a-branch.md", "git/renaming-a-branch.md"),
        ("renaming a branch", "git/renaming-a-branch.md"),
        ("rename a branch", "git/renaming-a-branch.md"),
        ("undoing a commit", "git/undoing-a-commit.md"),
        ("force push", "git/force-push.md"),
        ("worktrees", "git/worktrees.md"),
        ("caching", "web/caching.md"),
        ("caching responses at the edge", "web/caching.md"),
        ("what happens when a product changes", "web/caching.md"),
        ("tuning autovacuum for large postgres tables", "ops/autovacuum.md"),
        ("vacuum large tables", "ops/autovacuum.md"),
        ("kafka consumer lag alerts", "ops/kafka.md"),
        ("consumer lag runbook", "ops/kafka.md"),
        ("https://wiki.example.org/display/OPS/runbook-4711", "ops/kafka.md"),
        ("news.example.com/item?id=25000001", "bookmarks.md"),
        ("C++", "lang/cpp.md"),
        ("how do we build C++", "lang/cpp.md"),
        ("how do we build C", "lang/c.md"),
        ("C#", "lang/csharp.md"),
        ("B::C", "lang/namespaces.md"),
        (".env", "app/dotenv.md"),
        ("where is the .env file", "app/dotenv.md"),
        ("--force", "git/force-push.md"),
        ("&&", "shell/chaining.md"),
        ("what does && do", "shell/chaining.md"),
        ("Langstraße", "places/office.md"),
        ("langstrasse", "places/office.md"),
        ("goethestrasse", "places/home.md"),
        ("Mueller", "places/office.md"),
        ("zuerich", "places/office.md"),
        ("Schäfer", "places/home.md"),
        ("certifcates", "web/caching.md"),
        ("renmae a branch", "git/renaming-a-branch.md"),
        ("how do we deploi the catalouge", "log/2024-05-03.md"),
    ],
)
def test_the_note_that_tells_comes_first(
    memory: Memory, question: str, path: str
) -> None:
    """Not the one that only links to it, repeats a word, or names it in an address."""
    assert paths(ask(memory, question))[:1] == ([path] if path else [])
