"""A section that is encoded, packed or compressed is in no commit, nor a line of it."""

from __future__ import annotations

import bz2
import gzip
import lzma
import zlib
from pathlib import Path

import pytest

from hivemind_memory import open_memory
from hivemind_memory.inject.decoded import MAX_BYTES, Budget, decoded_in
from hivemind_memory.inject.injector import Injector
from hivemind_memory.opening import open_injector
from tests.inject.repos import add_remote, git, tracked
from tests.inject.test_escape import shell
from tests.inject.test_quoted_memories import MEMORY, OTHER

COMMIT = "git add -A && git commit -q -m all"
ON_PURPOSE = "git add -A && git -c hivemind.check=false commit -q -m all"
PYTHON = """python3 - <<'END'
import base64, bz2, gzip, io, json, lzma, tarfile, urllib.parse, zipfile, zlib
import binascii
data = open("CLAUDE.md", "rb").read()
text = data.decode()
def save(name, what):
    open(name, "wb").write(what if isinstance(what, bytes) else what.encode())
"""
ENCODED = {
    "utf-16": 'save("utf-16", text.encode("utf-16"))',
    "utf-16-le": 'save("utf-16-le", text.encode("utf-16-le"))',
    "utf-16-be": 'save("utf-16-be", text.encode("utf-16-be"))',
    "utf-32": 'save("utf-32", text.encode("utf-32"))',
    "utf-32-be": 'save("utf-32-be", text.encode("utf-32-be"))',
    "both.txt": 'save("both.txt", b"mine\\n" * 99 + text.encode("utf-16-le"))',
    "b64": 'save("b64", base64.encodebytes(data))',
    "b64-one-line": 'save("b64-one-line", base64.b64encode(data))',
    "b64-url": 'save("b64-url", base64.urlsafe_b64encode(data))',
    "b64.json": 'save("b64.json", json.dumps({"a": base64.b64encode(data).decode()}))',
    "b64.py": 'save("b64.py", "".join(f\'    "{line.decode()}"\\n\' for line in'
    " base64.encodebytes(data).split()))",
    "b64.patch": 'save("b64.patch", "@@ -0,0 +1 @@\\n" + "".join('
    'f"+{line.decode()}\\n" for line in base64.encodebytes(data).split()))',
    "b64-crlf": 'save("b64-crlf", base64.encodebytes(data).replace(b"\\n", b"\\r\\n"))',
    "b64-narrow": 'save("b64-narrow", "\\n".join('
    "base64.b64encode(data).decode()[at:at+20] for at in range(0, 9999, 20)))",
    "b32": 'save("b32", base64.b32encode(data))',
    "hex": 'save("hex", data.hex())',
    "hex-blanks": 'save("hex-blanks", data.hex(" "))',
    "hex.c": 'save("hex.c", ", ".join(f"0x{byte:02x}" for byte in data))',
    "hexdump": 'save("hexdump", "".join(f"{at:08x}  {data[at:at+16].hex(chr(32))}'
    '  |{chr(46) * 16}|\\n" for at in range(0, len(data), 16)))',
    "xxd": 'save("xxd", "".join(f"{at:08x}: {data[at:at+16].hex(chr(32), 2)}'
    '  {chr(46) * 16}\\n" for at in range(0, len(data), 16)))',
    "uu": 'save("uu", b"begin 644 x\\n" + b"".join(binascii.b2a_uu(data[at:at+45])'
    ' for at in range(0, len(data), 45)) + b"`\\nend\\n")',
    "quoted": 'save("quoted", "=\\n".join(f"={byte:02X}" for byte in data))',
    "url": 'save("url", urllib.parse.quote(text, safe=""))',
    "entities": 'save("entities", "".join(f"&#{ord(sign)};" for sign in text))',
    "unicode": 'save("unicode", "".join(f"\\\\u{ord(sign):04x}" for sign in text))',
    "escapes": 'save("escapes", "".join(f"\\\\x{byte:02x}" for byte in data))',
    "b85": 'save("b85", base64.b85encode(data))',
    "a85": 'save("a85", base64.a85encode(data, wrapcol=60))',
    "pdf": 'save("pdf", b"%PDF-1.7\\nstream\\n" + zlib.compress(data) + b"\\nend")',
    "image.png": 'save("image.png", gzip.compress(data))',
    "bz2": 'save("bz2", bz2.compress(data))',
    "xz": 'save("xz", lzma.compress(data))',
    "lzma": 'save("lzma", lzma.compress(data, format=lzma.FORMAT_ALONE))',
    "zlib": 'save("zlib", zlib.compress(data))',
    "gzip-in-b64": 'save("gzip-in-b64", base64.encodebytes(gzip.compress(data)))',
    "tar-xz-utf-16": "file = io.BytesIO(); tar = tarfile.open(fileobj=file,"
    ' mode="w:xz"); one = tarfile.TarInfo("a"); wide = text.encode("utf-16");'
    " one.size = len(wide); tar.addfile(one, io.BytesIO(wide)); tar.close();"
    ' save("tar-xz-utf-16", file.getvalue())',
    "report.docx": 'zip = zipfile.ZipFile("report.docx", "w",'
    ' zipfile.ZIP_DEFLATED); zip.writestr("a/b", data); zip.close()',
}
"""A file -> how the section gets into it."""

LINES = {
    "grep": "grep portcullis CLAUDE.md > grep",
    "grep -n": "grep -rn portcullis . --include=CLAUDE.md > 'grep -n'",
    "sed": "sed -n '/portcullis/s/^> *//p' CLAUDE.md > sed",
    "item.md": "sed -n '/portcullis/s/^> */- /p' CLAUDE.md > item.md",
    "a.py": "echo \"RULE = '$(grep portcullis CLAUDE.md | cut -c3-)'\" > a.py",
    "upper": "grep portcullis CLAUDE.md | tr a-z A-Z > upper",
    "half": "grep portcullis CLAUDE.md | cut -c-70 > half",
    "README.md": "grep portcullis CLAUDE.md >> README.md",
    "crlf": "grep portcullis CLAUDE.md | sed 's/$/\\r/' > crlf",
    "line.gz": "grep portcullis CLAUDE.md | gzip > line.gz",
    "line.b64": "grep portcullis CLAUDE.md | base64 > line.b64",
    "a.pyc": "printf '\\003\\363\\0\\1%s\\0' \"$(grep portcullis CLAUDE.md)\" > a.pyc",
    "a.diff": "grep portcullis CLAUDE.md | gzip > ../g;"
    " git diff --no-index --binary /dev/null ../g > a.diff",
    "wide": "grep portcullis CLAUDE.md | iconv -t UTF-16LE > wide",
}
"""A file -> how a line of the section gets into it."""

LINE = "grep portcullis CLAUDE.md"
STASH = f"{LINE} > a; git stash -q -u"
ELSEWHERE = (
    f'git commit -q --allow-empty -m "$({LINE})"',
    f'git commit -q --allow-empty -m x --author "$({LINE} | tr -d ">") <a@b.c>"',
    f'git tag -a v1 -m "$({LINE})"',
    f'git notes add -m "$({LINE})"',
    f"git update-ref refs/own/x $({LINE} | git hash-object -w --stdin)",
    f"git branch b$({LINE} | tr -cs a-zA-Z -)b",
    f'touch "$({LINE})"; git add -A; git commit -q -m x',
    f"{STASH}; git push -q origin stash@{{0}}:refs/heads/a",
    f"{STASH}; git stash apply -q; git add -A; git commit -q -m x",
)
"""How a line of a memory gets elsewhere than into a file."""

DELIBERATE = {
    "wrapped": "fold -s -w 40 ../memory > guide.rst",
    "in other words": "echo 'The portcullis restarts its consumers: the broker"
    " leaks handles at night.' > guide.rst",
    "within a paragraph": 'echo "We run two services. $(cat ../memory) Ask the team'
    ' for the dashboards of both, and for the list of the people who are on call.">a',
    "stashed": "cp ../memory a; git add a; git stash -q; git stash pop -q; rm a",
}


@pytest.fixture
def worktree(tmp_path: Path) -> Path:
    """A worktree with a section that quotes two memories, and a remote."""
    made = tracked(tmp_path)
    add_remote(tmp_path, made)
    inject(tmp_path, made)
    return made


def inject(folder: Path, worktree: Path) -> None:
    """Inject the memories."""
    notes = folder / "home" / "memory"
    notes.mkdir(parents=True, exist_ok=True)
    text = f"# Global\n\n## One\n\n{MEMORY}\n\n## Two\n\n{OTHER}\n"
    (notes / "global.md").write_text(text)
    (folder / "memory").write_text(f"{MEMORY}\n")
    with open_memory(home=str(folder / "home")) as memory:
        open_injector(memory).inject(str(worktree))
    assert MEMORY in (worktree / "CLAUDE.md").read_text()


def test_a_section_is_committed_in_no_encoding(worktree: Path) -> None:
    """Whatever the file is called: the bytes tell what it is."""
    script = PYTHON + "\n".join(ENCODED.values()) + "\nEND\n"
    made = shell(worktree, script)
    assert made.returncode == 0, made.stderr.decode()

    refused = shell(worktree, COMMIT)

    said = refused.stderr.decode()
    assert refused.returncode != 0
    assert [name for name in ENCODED if f"    {name}, decoded: " not in said] == []
    assert shell(worktree, f"rm -r {' '.join(ENCODED)}; {COMMIT}").returncode != 128


def test_no_push_carries_an_encoded_section_that_was_committed_without_hooks(
    worktree: Path,
) -> None:
    """The push looks into it, too."""
    quick = "git -c core.hooksPath=/dev/null commit -q -m quick"
    shell(worktree, f"gzip -k CLAUDE.md; git add -A; {quick}")

    refused = shell(worktree, "git push -q origin HEAD")

    assert refused.returncode != 0
    assert b"CLAUDE.md.gz, decoded: <!-- hivemind:begin v1 -->\n" in refused.stderr


def test_an_encoded_section_is_in_no_tag_note_or_message(worktree: Path) -> None:
    """Each of them can hold a file."""
    ways = (
        "git tag blob $(gzip -c CLAUDE.md | git hash-object -w --stdin)",
        "git notes add -C $(gzip -c CLAUDE.md | git hash-object -w --stdin)",
        "base64 CLAUDE.md | git commit -q --allow-empty -F -",
        "base64 CLAUDE.md | git tag -a v1 -F -",
    )

    for way in ways:
        done = shell(worktree, way)
        assert b"hivemind: refused: this has lines of a section" in done.stderr, way


def test_a_line_of_a_memory_is_committed_in_no_file(worktree: Path) -> None:
    """Whatever stands before it, and in capitals or encoded."""
    shell(worktree, "\n".join(LINES.values()))

    refused = shell(worktree, COMMIT)

    said = refused.stderr.decode()
    assert refused.returncode != 0
    missing = [n for n in LINES if not any(f"    {n}{s}" in said for s in ",:")]
    assert missing == []
    assert "refused: this has whole lines of memories from a section:\n" in said
    assert "Delete them, or say it in other words." in said
    assert "git -c hivemind.check=false" in said


@pytest.mark.parametrize("way", ELSEWHERE)
def test_a_line_of_a_memory_is_in_no_message_tag_or_note(
    way: str, worktree: Path
) -> None:
    """They are kept and pushed as files are; so are names, and stashes that leave."""
    refused = shell(worktree, way)

    assert refused.returncode != 0
    assert b"whole lines of memories" in refused.stderr


@pytest.mark.parametrize("script", DELIBERATE.values(), ids=DELIBERATE)
def test_a_person_may_say_what_a_memory_says(script: str, worktree: Path) -> None:
    """In their own words or lines; a stash stays on this machine."""
    assert shell(worktree, script).returncode == 0

    done = shell(worktree, f"git add -A; {COMMIT} --allow-empty")

    assert (done.returncode, done.stderr) == (0, b"")


def test_a_line_that_was_committed_on_purpose_is_not_refused_again(
    worktree: Path,
) -> None:
    """Its file is edited, renamed, reverted and rebased as any other."""
    (worktree / "guide.rst").write_text(f"top\n{MEMORY}\nend\n")
    shell(worktree, "gzip -c CLAUDE.md > a.gz")
    assert shell(worktree, ON_PURPOSE).returncode == 0

    done = shell(
        worktree,
        "set -e; echo more >> guide.rst; git commit -q -a -m more;"
        " git mv guide.rst b.rst; git mv a.gz b.gz; git commit -q -m moved;"
        " git revert --no-edit HEAD; git commit -q --amend -m reverted;"
        " git rebase -q --force-rebase HEAD~3; cp guide.rst c.rst; git add c.rst;"
        " git commit -q -m copied",
    )

    assert (done.returncode, done.stderr) == (0, b"")


def test_a_line_that_the_repository_had_is_not_refused(tmp_path: Path) -> None:
    """A memory may be taken from its files, committed or not."""
    worktree = tracked(tmp_path)
    (worktree / "guide.rst").write_text(f"{MEMORY}\n")
    shell(worktree, COMMIT)
    (worktree / "new.rst").write_text(f"{OTHER}\n")
    inject(tmp_path, worktree)
    (worktree / "copy.rst").write_text(f"{MEMORY}\n")

    done = shell(worktree, COMMIT)

    assert (done.returncode, done.stderr) == (0, b"")


def test_the_notes_of_the_memory_itself_are_committed(tmp_path: Path) -> None:
    """They may lie in the worktree: a note says what a memory says."""
    worktree = tracked(tmp_path)
    (worktree / ".gitignore").write_text("home\n")
    inject(worktree, worktree)
    shell(worktree, "git add -f home/memory/global.md; rm memory")

    done = shell(worktree, COMMIT)

    assert (done.returncode, done.stderr) == (0, b"")


def test_a_forgotten_line_is_committed(worktree: Path, tmp_path: Path) -> None:
    """What its note no longer says doesn't count."""
    (worktree / "a.txt").write_text(f"{MEMORY}\n")
    notes = tmp_path / "home" / "memory" / "global.md"
    notes.write_text(f"# Global\n\n{OTHER}\n")

    done = shell(worktree, COMMIT)

    assert (done.returncode, done.stderr) == (0, b"")


def test_a_bomb_is_read_within_a_bound() -> None:
    """Whatever its ratio and depth."""
    zeros = bytes(100 << 20)
    bombs = [
        gzip.compress(gzip.compress(zeros, 1)),
        gzip.compress(zeros[:MAX_BYTES], 1) * 9,
        bz2.compress(bz2.compress(zeros[: 16 << 20])),
        lzma.compress(zeros, preset=0),
        zlib.compress(zeros, 1),
    ]

    for bomb in bombs:
        parts = [*decoded_in(bomb, Budget())]
        assert sum(map(len, parts)) <= MAX_BYTES


def test_damaged_and_encrypted_files_are_committed(
    tmp_path: Path, injector: Injector
) -> None:
    """What can't be unpacked is as any other file."""
    worktree = tracked(tmp_path)
    injector.inject(str(worktree))
    packed = {
        "gz": gzip.compress(b"mine"),
        "bz2": bz2.compress(b"mine"),
        "xz": lzma.compress(b"mine"),
        "zip": b"PK\x03\x04" + bytes(40) + b"PK\x05\x06" + bytes(18),
        "tar": bytes(257) + b"ustar" + bytes(900),
        "utf": b"\xff\xfea",
        "b64": b"A" * 99,
    }
    for name, data in packed.items():
        (worktree / name).write_bytes(data[:-3])
        (worktree / f"{name}.2").write_bytes(data[:20] + b"\xff" + data[21:])

    done = shell(worktree, COMMIT)

    assert (done.returncode, done.stderr) == (0, b"")
    assert git(worktree, "status", "--short") == ""
