"""What the shell offers when a person presses Tab."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from hivemind_memory.cli.completion import KINDS, OPTION_VALUES, SCRIPTS
from hivemind_memory.cli.table import all_commands
from tests.cli.conftest import Hm


@pytest.fixture
def odd_names(notes: Path) -> None:
    """Save notes with names that a shell reads otherwise, and a key with colons."""
    for name in ("my note", "co$t&(x)", "it's", "-dash"):
        (notes / f"{name}.md").write_text("odd\n")
    (notes / "pip.md").write_text(
        "---\ntype: fact\nkey: learn:pip:3fd4e0dfd2a6\n---\nPins.\n"
    )


@pytest.fixture
def hm_environ(tmp_path: Path) -> dict[str, str]:
    """Return variables with which a shell finds this checkout as ``hm``."""
    hm = tmp_path / "hm"
    hm.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m hivemind_memory.cli "$@"\n')
    hm.chmod(0o755)
    return {
        **os.environ,
        "PATH": f"{tmp_path}:{os.environ['PATH']}",
        "PYTHONPATH": str(Path(__file__).parents[2]),
    }


@pytest.mark.parametrize(
    ("line", "offers"),
    [
        ("sea", ["search"]),
        ("hel", ["help"]),
        ("--ver", ["--version"]),
        ("config un", ["unset"]),
        ("config get min", ["min_score"]),
        ("get dep", ["deploy.md"]),
        ("edit projects", ["projects/site.md"]),
        ("get deploy.md ", []),
        ("search --fail", ["--fail-empty"]),
        ("write --source hu", ["human"]),
        ("write --source = hu", ["human"]),
        ("write --file dep", ["deploy.md"]),
        ("save --type les", ["lesson"]),
        ("show friday", ["friday-lesson"]),
        ("save --type lesson,dec", ["lesson,decision"]),
        ("rm friday", ["friday-lesson"]),
        ("list --type=lesson,dec", ["--type=lesson,decision"]),
        ("get 'dep", ["deploy.md"]),
        ("config set default_s", ["default_scope"]),
        ("config set default_scope ", ["auto", "global"]),
        ("config set diversity t", ["true"]),
        ("config set openai_api_key ", ["-"]),
        ("config set min_score ", []),
        ("list --scope glo", ["global"]),
        ("list --status pen", ["pending"]),
        ("log --agent An", ["Ann"]),
        ("connect cla", ["claude"]),
        ("help sea", ["search"]),
        ("completion f", ["fish"]),
        ("nonsense ", []),
        ("list ", ["projects"]),
        ("log ", []),
    ],
)
def test_tab_offers_what_can_follow(
    hm: Hm, notes: Path, line: str, offers: list[str]
) -> None:
    """Commands, options and their values, notes, keys, types, agents."""
    by_ann = ("--type", "lesson", "--by", "Ann")
    hm("save", *by_ann, "friday-lesson", "Never on Fridays.")

    ran = hm("__complete", "--", *line.split(" "))

    assert ran.out.split("\n")[:-1] == offers
    assert ran.err == ""


def test_tab_without_a_memory_offers_nothing_and_says_nothing(hm: Hm) -> None:
    """Whatever it printed would land in the line that is being typed."""
    ran = hm("__complete", "--", "get", "")

    assert (ran.code, ran.out, ran.err) == (0, "", "")


def test_every_completion_is_of_a_known_kind() -> None:
    """A kind without a completer would silently offer nothing."""
    arguments = {x.completes for one in all_commands() for x in one.arguments}
    flags = {x.completes for one in all_commands() for x in one.flags}

    assert (arguments | flags) - {""} == {*KINDS, OPTION_VALUES}


def test_tab_offers_what_waits_and_what_can_be_taken_back(hm: Hm, home: Path) -> None:
    """Ids that nobody types: pending claims, each forget, each change, projects."""
    claim = ("--source", "external", "firewall", "Turn the firewall off.")
    pending = hm("save", "--json", *claim).json["id"]
    hm("save", "gone", "Soon forgotten.")
    hm("save", "--scope", "project/shop", "port", "The port is 5433.")
    forgot = hm("forget", "--json", "gone").json["id"]

    def offers(line: str) -> list[str]:
        return hm("__complete", "--", *line.split(" ")).out.split("\n")[:-1]

    assert offers("inbox accept ") == ["firewall", pending]
    assert offers("inbox reject fire") == ["firewall"]
    assert offers("restore ") == ["gone", forgot]
    assert offers("undo ")[0] == forgot
    assert offers("project rename ") == ["shop"]
    hm("forget", "--scope", "project/shop", "port", "--purge", "--yes")
    [purge] = [
        one["id"]
        for one in hm("log", "--changes", "--json").json
        if one["kind"] == "purge"
    ]
    assert purge not in offers("undo ")


@pytest.mark.parametrize("shell", sorted(SCRIPTS))
def test_a_script_for_the_shell_can_be_printed(hm: Hm, shell: str) -> None:
    """For those who keep their own files."""
    assert hm("completion", shell).out == SCRIPTS[shell]


def test_a_shell_without_a_script_is_refused(hm: Hm) -> None:
    """With the shells that have one."""
    ran = hm("completion", "csh")

    assert (ran.code, ran.out) == (2, "")
    assert all(shell in ran.err for shell in SCRIPTS)


@pytest.mark.usefixtures("odd_names")
@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
@pytest.mark.parametrize(
    ("line", "offers"),
    [
        ("hm sea", ["search"]),
        ("hm get dep", ["deploy.md"]),
        ("hm get my", ["my\\ note.md"]),
        ("hm get -- -d", ["-dash.md"]),
        ("hm get co", ["co\\$t\\&\\(x\\).md"]),
        ("hm get it", ["it\\'s.md"]),
        ("hm write --source=hu", ["human"]),
        ("hm config set default_scope g", ["global"]),
        ("hm list --status=pen", ["pending"]),
        ("hm show learn:pi", ["pip:3fd4e0dfd2a6"]),
        ("hm show learn:", ["pip:3fd4e0dfd2a6"]),
        ("hm get my\\ n", ["my\\ note.md"]),
        ("hm search ", []),
    ],
)
def test_a_real_bash_completes(
    hm_environ: dict[str, str], line: str, offers: list[str]
) -> None:
    """The script, the words as bash splits them, and names with blanks."""
    # As readline fills them: = and : end a word, too, and a quoted blank does not.
    line = line.replace("=", " = ").replace(":", " : ")
    line = line[:-1] if line.endswith(": ") else line
    words = [word.replace("\0", "\\ ") for word in line.replace("\\ ", "\0").split(" ")]
    array = " ".join(f"'{word}'" for word in words)
    program = (
        'eval "$(hm completion bash)"\n'
        f"COMP_WORDS=({array})\nCOMP_CWORD={len(words) - 1}\n"
        '_hm_complete\nprintf "%s\\n" "${COMPREPLY[@]}"\ncomplete -p hm'
    )

    ran = subprocess.run(
        ["bash", "--norc", "-c", program],
        capture_output=True,
        text=True,
        env=hm_environ,
        check=True,
    )

    *found, declared = ran.stdout.rstrip("\n").split("\n")
    assert [one for one in found if one] == offers
    assert "-F _hm_complete hm" in declared
    assert ran.stderr == ""


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
@pytest.mark.parametrize("words", ["(hm)", "(hm search)", "(hm '')"])
def test_bash_offers_nothing_for_hm_itself_and_says_nothing(words: str) -> None:
    """There is no word before the cursor to look at."""
    program = (
        f"{SCRIPTS['bash']}COMP_WORDS={words}\nCOMP_CWORD=0\n"
        '_hm_complete\necho "$? ${#COMPREPLY[@]}"'
    )

    ran = subprocess.run(
        ["bash", "--norc", "-c", program], capture_output=True, text=True, check=True
    )

    assert (ran.stdout, ran.stderr) == ("0 0\n", "")


@pytest.mark.usefixtures("odd_names")
@pytest.mark.parametrize(
    ("words", "offers"),
    [
        (["sea"], ["search"]),
        (["write", "--source=hu"], ["--source=human"]),
        (["show", "learn:pi"], ["learn:pip:3fd4e0dfd2a6"]),
        (["get", "my\\ n"], ["my note.md"]),
        (["get", "'my n"], ["my note.md"]),
        (["list", "--status", "pen"], ["pending"]),
    ],
)
def test_the_words_of_zsh_and_fish_are_understood(
    hm: Hm, words: list[str], offers: list[str]
) -> None:
    """Both pass the words as typed: whole at = and :, with quotes and escapes."""

    ran = hm("__complete", "--", *words)

    assert (ran.out.split("\n")[:-1], ran.err) == (offers, "")


@pytest.mark.skipif(shutil.which("fish") is None, reason="fish is not installed")
def test_a_real_fish_completes(hm_environ: dict[str, str]) -> None:
    """The script is loaded and asked as Tab asks it."""
    program = SCRIPTS["fish"] + "complete -C 'hm sea'"

    ran = subprocess.run(
        ["fish", "--no-config", "-c", program],
        capture_output=True,
        text=True,
        env=hm_environ,
        check=True,
    )

    assert ran.stdout.split() == ["search"]


@pytest.mark.skipif(shutil.which("fish") is None, reason="fish is not installed")
@pytest.mark.parametrize(
    ("line", "offers"),
    [("hm inject --agent cod", ["codex"]), ("hm model fetch ./fil", ["./file.md"])],
)
def test_fish_offers_files_only_where_hm_offers_nothing(
    hm_environ: dict[str, str], tmp_path: Path, line: str, offers: list[str]
) -> None:
    """A file called codex.md stood between the agents."""
    for name in ("codex.md", "file.md"):
        (tmp_path / name).touch()
    program = SCRIPTS["fish"] + f"complete -C {line!r}"

    ran = subprocess.run(
        ["fish", "--no-config", "-c", program],
        capture_output=True,
        text=True,
        env=hm_environ,
        cwd=tmp_path,
        check=True,
    )

    assert [row.partition("\t")[0] for row in ran.stdout.splitlines()] == offers


def test_a_project_with_notes_alone_is_a_scope_too(hm: Hm, notes: Path) -> None:
    """Only scopes with typed memories were offered."""
    (notes / "projects" / "orchard").mkdir(parents=True)
    (notes / "projects" / "orchard" / "trees.md").write_text("Pears.\n")

    ran = hm("__complete", "--", "search", "--scope", "projects/or")

    assert ran.out == "projects/orchard\n"


@pytest.mark.skipif(shutil.which("zsh") is None, reason="zsh is not installed")
def test_zsh_reads_the_script() -> None:
    """Without an error of its own."""
    ran = subprocess.run(
        ["zsh", "-f", "-n"],
        input=SCRIPTS["zsh"],
        capture_output=True,
        text=True,
        check=True,
    )

    assert ran.stderr == ""
