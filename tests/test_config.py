"""Options: one table, one order, one clear sentence for each mistake."""

from __future__ import annotations

import doctest
import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hivemind_memory.config import (
    Settings,
    load_settings,
    objects,
    options,
    read_config,
    resolve,
    values,
)
from hivemind_memory.config.file import (
    remove_option,
    write_new_config,
    write_option,
)
from hivemind_memory.config.values import check_value, parse_value
from hivemind_memory.errors import ConfigError, NotSavedError
from hivemind_memory.files.locks import KernelLock
from hivemind_memory.model.query import SearchSettings


def write_config(home: Path, memory: object) -> Path:
    path = home / "config.json"
    path.write_text(json.dumps({"memory": memory}), encoding="utf-8")
    return path


def problem(home: Path, environ: dict[str, str] | None = None) -> str:
    """Return what is said of the one value that cannot be used."""
    (said,) = load_settings(str(home), environ or {}).unusable.values()
    return said


def test_without_file_and_environment_every_option_has_its_default(
    tmp_path: Path,
) -> None:
    """The program works with no configuration at all."""
    settings = load_settings(str(tmp_path), {})

    for name, option in options().items():
        assert getattr(settings, name) == option.default
    assert settings.embedding_provider == "auto"
    assert settings.min_score == 0.3


def test_every_default_is_allowed_by_its_own_row() -> None:
    """A default that the validation refuses could never be written down."""
    for option in options().values():
        assert check_value(option, option.default) == option.default


def test_the_search_part_is_the_value_that_search_knows(tmp_path: Path) -> None:
    """Two lists of defaults must not drift apart."""
    settings = load_settings(str(tmp_path), {})

    assert settings.search_settings() == SearchSettings()


def test_the_order_is_flag_environment_file_default(tmp_path: Path) -> None:
    """One order for every option, as the design says."""
    write_config(tmp_path, {"max_results": 3})
    file = read_config(str(tmp_path / "config.json"))
    variable = {"HIVEMIND_MAX_RESULTS": "4"}

    by_flag = resolve(file, variable, {"max_results": 5})
    by_variable = resolve(file, variable, {"max_results": None})
    by_file = resolve(file, {"HIVEMIND_MAX_RESULTS": ""})
    by_default = resolve(read_config(str(tmp_path / "none.json")), {})

    found = [
        (settings.max_results, origins["max_results"])
        for settings, origins in (by_flag, by_variable, by_file, by_default)
    ]
    assert found == [
        (5, "flag"),
        (4, "HIVEMIND_MAX_RESULTS"),
        (3, "file"),
        (10, "default"),
    ]


@pytest.mark.parametrize(
    ("name", "value", "allowed"),
    [
        ("min_score", 7, "a number from 0 to 1"),
        ("min_score", "high", "a number from 0 to 1"),
        ("min_score", True, "a number from 0 to 1"),
        ("min_score", float("nan"), "a number from 0 to 1"),
        ("min_score", 10**400, "a number from 0 to 1"),
        ("max_results", 1.5, "a whole number from 1 to 1000"),
        ("max_results", 0, "a whole number from 1 to 1000"),
        ("enabled", "yes", "true or false"),
        ("enabled", 1, "true or false"),
        ("fusion", "best", "one of standardised, weighted, rrf"),
        ("ollama_url", "localhost:11434", "a URL that begins with http"),
        ("ollama_url", "http://", "and has a host"),
        ("ollama_url", "http://localhost:99999", "and has a host"),
        ("openai_base_url", "https://:443/v1", "and has a host"),
        ("openai_base_url", "https://a b/v1", "and has a host"),
        ("index_dir", None, "a string"),
        ("index_dir", "index", '"index" is not an absolute path'),
        ("index_dir", "./~", '"./~" is not an absolute path'),
        ("inject_target", "../a.md", '"../a.md" is not a file inside a worktree'),
        ("inject_target", "docs/", '"docs/" is not a file inside a worktree'),
        ("inject_target", "", '"" is not a file inside a worktree'),
        *(
            ("inject_target", target, "is not a file inside a worktree")
            for target in ("/etc/x.md", ".git/x.md", "a//b", "C:/x.md", "a\nb", ".")
        ),
        ("document_prefix", 3, "a string or null"),
        ("ollama_model", ["a"], "a string"),
    ],
)
def test_a_bad_value_names_file_key_value_and_what_is_allowed(
    tmp_path: Path, name: str, value: object, allowed: str
) -> None:
    """Whoever reads the message can correct the file without opening a manual."""
    path = write_config(tmp_path, {name: value})

    message = problem(tmp_path)

    assert str(path) in message
    assert f"memory.{name}" in message
    assert allowed in message
    assert f"hm config set {name}" in message


def test_a_bad_variable_is_named(tmp_path: Path) -> None:
    """The mistake is in the environment, not in the file."""
    message = problem(tmp_path, {"HIVEMIND_MIN_SCORE": "abc"})

    assert "HIVEMIND_MIN_SCORE has the value 'abc'" in message


def test_bad_json_is_told_with_line_and_column(tmp_path: Path) -> None:
    """A missing comma is found by its place."""
    (tmp_path / "config.json").write_text('{\n  "memory": {\n    "a" 1\n}}')

    assert "line 3, column 9" in problem(tmp_path)


@pytest.mark.parametrize(
    "data",
    [
        b"[]",
        b"null",
        b'{"memory": []}',
        b'{"memory": null}',
        b"\xff\xfe{}",
        b"",
        b'{"memory": {"max_results": ' + b"9" * 5000 + b"}}",
        b"[" * 200_000,
    ],
)
def test_a_file_of_another_shape_is_refused_in_words(
    tmp_path: Path, data: bytes
) -> None:
    """Nothing in the file may end in a traceback."""
    (tmp_path / "config.json").write_bytes(data)

    settings = load_settings(str(tmp_path), {})

    assert "config.json" in settings.unusable["config.json"]
    assert settings.why_read_only() == settings.unusable["config.json"]


def test_a_byte_order_mark_does_not_matter(tmp_path: Path) -> None:
    """Editors on Windows write one."""
    (tmp_path / "config.json").write_bytes(b'\xef\xbb\xbf{"memory": {"poll_s": 9}}')

    assert load_settings(str(tmp_path), {}).poll_s == 9.0


def test_unknown_keys_are_named_and_never_fatal(tmp_path: Path) -> None:
    """A newer version, or another program of the family, wrote them."""
    write_config(tmp_path, {"from_the_future": 5, "max_results": 2})

    settings = load_settings(str(tmp_path), {})

    assert settings.unknown_keys == ("from_the_future",)
    assert settings.max_results == 2


def test_an_overlap_as_large_as_the_chunk_is_refused(tmp_path: Path) -> None:
    """Each value is allowed, together they would never end."""
    write_config(tmp_path, {"chunk_chars": 200, "chunk_overlap_chars": 200})

    assert "overlap must be smaller" in problem(tmp_path)
    assert load_settings(str(tmp_path), {}).chunk_overlap_chars == 0


def test_the_key_of_the_environment_wins_and_chooses_nothing(tmp_path: Path) -> None:
    """A key that lies around for other programs is no request to send notes away."""
    alone = load_settings(str(tmp_path), {"OPENAI_API_KEY": "sk-env"})
    write_config(tmp_path, {"openai_api_key": "sk-file"})
    both = load_settings(str(tmp_path), {"OPENAI_API_KEY": "sk-env"})

    assert (alone.openai_api_key, alone.has_key_in_config) == ("sk-env", False)
    assert (both.openai_api_key, both.has_key_in_config) == ("sk-env", True)
    assert alone.has_key_in_environment


def test_no_key_is_ever_in_a_message_or_a_representation(tmp_path: Path) -> None:
    """Messages end in logs and in bug reports."""
    write_config(tmp_path, {"openai_api_key": ["sk-secret"]})

    shown = repr(Settings(openai_api_key="sk-secret"))

    assert "sk-secret" not in f"{problem(tmp_path)}{shown}"


def test_writing_keeps_order_unknown_keys_and_other_programs_parts(
    tmp_path: Path,
) -> None:
    """The file has more than one owner."""
    path = tmp_path / "config.json"
    path.write_text('{"ui": {"x": 1}, "memory": {"z": 1, "poll_s": 2}, "a": "ü"}')

    write_option(str(path), "poll_s", 3.0)
    write_option(str(path), "diversity", True)

    text = path.read_text(encoding="utf-8")
    assert json.loads(text) == {
        "ui": {"x": 1},
        "memory": {"z": 1, "poll_s": 3.0, "diversity": True},
        "a": "ü",
    }
    order = ["ui", "memory", '"z"', "poll_s", "diversity", '"a"']
    assert sorted(order, key=text.index) == order


@pytest.mark.skipif(os.name != "posix", reason="modes are those of POSIX")
@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077])
def test_the_file_and_its_folder_are_for_their_owner_only(
    tmp_path: Path, umask: int
) -> None:
    """It may hold a key, under any umask."""
    path = tmp_path / "new" / "home" / "config.json"
    before = os.umask(umask)

    try:
        write_option(str(path), "openai_api_key", "sk")
    finally:
        os.umask(before)

    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert {entry.name for entry in path.parent.iterdir()} == {"config.json", "locks"}


def test_options_that_are_set_at_once_are_all_set(tmp_path: Path) -> None:
    """Each command wrote what it had read, and said that its option was set."""
    set_fifty = """
import sys
from hivemind_memory.config.file import write_option
for number in range(50):
    write_option(sys.argv[1], f"{sys.argv[2]}_{number}", number)
"""
    path, names = tmp_path / "config.json", ["one", "two", "three", "four"]
    setters = [
        subprocess.Popen([sys.executable, "-c", set_fifty, str(path), name])
        for name in names
    ]

    codes = [setter.wait() for setter in setters]

    assert codes == [0] * len(names)
    assert len(read_config(str(path)).memory) == 50 * len(names)


def test_a_new_file_replaces_none_that_was_written_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`hm init` had seen that there was none."""
    path = str(tmp_path / "config.json")
    acquire = KernelLock.acquire

    def late(lock: KernelLock, *, wait_s: float) -> bool:
        monkeypatch.setattr(KernelLock, "acquire", acquire)
        write_option(path, "poll_s", 4.0)
        return acquire(lock, wait_s=wait_s)

    monkeypatch.setattr(KernelLock, "acquire", late)

    assert not write_new_config(path, {"min_score": 0.5})
    assert read_config(path).memory == {"poll_s": 4.0}


def test_a_link_to_a_folder_of_dotfiles_stays_a_link(tmp_path: Path) -> None:
    """Replacing the link by a file would part it from its repository."""
    (tmp_path / "dotfiles").mkdir()
    real = tmp_path / "dotfiles" / "hm.json"
    real.write_text("{}")
    link = tmp_path / "config.json"
    link.symlink_to(real)

    write_option(str(link), "poll_s", 4.0)

    assert link.is_symlink()
    assert json.loads(real.read_text()) == {"memory": {"poll_s": 4.0}}


def test_a_file_that_does_not_parse_is_not_rewritten(tmp_path: Path) -> None:
    """Whatever the person was about to write is still there."""
    path = tmp_path / "config.json"
    path.write_text("{ oh")

    with pytest.raises(ConfigError):
        write_option(str(path), "poll_s", 4.0)

    assert path.read_text() == "{ oh"


def test_a_write_that_fails_says_so(tmp_path: Path) -> None:
    """Writes fail loud."""
    (tmp_path / "file").write_text("")

    with pytest.raises((NotSavedError, ConfigError)):
        write_option(str(tmp_path / "file" / "config.json"), "poll_s", 4.0)


def test_removing_tells_whether_there_was_something(tmp_path: Path) -> None:
    """So that the caller can say it."""
    path = str(write_config(tmp_path, {"poll_s": 3, "min_score": 0.2}))

    found = [remove_option(path, "poll_s"), remove_option(path, "poll_s")]

    assert found == [True, False]
    assert read_config(path).memory == {"min_score": 0.2}


@given(st.sampled_from(sorted(options())), st.text(max_size=20))
def test_any_text_is_a_value_or_a_value_error(name: str, text: str) -> None:
    """What stands in a variable is anybody's guess."""
    option = options()[name]

    try:
        value = parse_value(option, text)
    except ValueError:
        return
    assert check_value(option, value) == value


def test_the_person_names_agents_by_commands(tmp_path: Path) -> None:
    """An object is taken as it stands, from the file and from a variable."""
    agents = {"quick": "claude --model haiku", "pi": ["pi", "a b"]}
    write_config(tmp_path, {"agents": agents})
    variable = {"HIVEMIND_AGENTS": '{"x": "y"}'}

    assert load_settings(str(tmp_path), {}).agents == agents
    assert load_settings(str(tmp_path), variable).agents == {"x": "y"}


@pytest.mark.parametrize(
    ("agents", "sentence"),
    [
        ([], "but must be a JSON object"),
        ({"x": 3}, 'The command of "x" must be a string or a list of strings.'),
        ({"x": ["y", 3]}, 'The command of "x" must be a string or a list of strings.'),
        ({"x": "it's"}, 'The command of "x" has an unclosed quote.'),
        ({"x": " "}, 'The command of "x" is empty.'),
        ({"x": []}, 'The command of "x" is empty.'),
        (
            {"x": "a\0b"},
            'The command of "x" contains a character that a command line cannot hold.',
        ),
        (
            {"x": ["\ud800"]},
            'The command of "x" contains a character that a command line cannot hold.',
        ),
        (
            {"a b": "y"},
            '"a b" cannot name an agent: use one word without a leading dash.',
        ),
        (
            {"-x": "y"},
            '"-x" cannot name an agent: use one word without a leading dash.',
        ),
        (
            {"": "y"},
            '"" cannot name an agent: use one word without a leading dash.',
        ),
    ],
)
def test_a_bad_part_of_an_object_is_one_sentence(
    tmp_path: Path, agents: object, sentence: str
) -> None:
    """Which part, and what is wrong with it; the whole would not fit a line."""
    path = write_config(tmp_path, {"agents": agents})

    message = problem(tmp_path)

    assert sentence in message
    assert str(path) in message
    assert "hm config unset agents" in message


def test_every_check_that_the_table_names_exists() -> None:
    """It is looked up only when somebody has set the option."""
    named = [option for option in options().values() if option.kind == "dict"]

    assert named
    for option in named:
        assert getattr(objects, option.check)({}) == ""


def test_what_an_object_may_be_is_loaded_when_one_is_set() -> None:
    """A cold answer does not pay for it."""
    program = (
        "import sys; from hivemind_memory.config import load_settings;"
        " load_settings('/nowhere', {});"
        " print('hivemind_memory.config.objects' in sys.modules)"
    )
    command = [sys.executable, "-c", program]

    assert subprocess.check_output(command, text=True) == "False\n"


def test_the_examples_in_the_docstrings_are_so() -> None:
    """They are the shortest description."""
    for module in (objects, values):
        assert doctest.testmod(module).failed == 0
