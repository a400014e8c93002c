"""A language model over both wires, with the real clients and a server that fails."""

from __future__ import annotations

import logging
import subprocess
import sys
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from hivemind_memory.config.resolve import load_settings
from hivemind_memory.errors import (
    ChatError,
    ChatNotReadyError,
    ChatRefusedError,
    ChatReplyError,
)
from hivemind_memory.model.chat import SYSTEM, USER, ChatMessage
from hivemind_memory.model.ports import Chat
from hivemind_memory.providers.breaker import load_breaker_state
from hivemind_memory.providers.chat import RemoteChat, connect_chat
from hivemind_memory.providers.chat_errors import (
    explain_bad_reply,
    explain_chat_status,
    explain_chat_timeout,
)
from hivemind_memory.providers.chat_target import ChatTarget, find_chat_target
from hivemind_memory.providers.errors import (
    explain_bad_answer,
    explain_status,
    explain_timeout,
)
from hivemind_memory.providers.fingerprint import VectorSpace
from hivemind_memory.testing import FakeChat
from tests.providers.conftest import KEY, SECRET_TEXT, Hours
from tests.support.chat_server import (
    ENDLESS_FAULTS,
    FAULTS,
    HARMLESS,
    REPLY_FAULTS,
    ChatServer,
    form_of,
)

SCHEMA = {
    "type": "object",
    "properties": {"answer": {"type": "string"}},
    "required": ["answer"],
    "additionalProperties": False,
}
SAID = (ChatMessage(SYSTEM, "You judge."), ChatMessage(USER, SECRET_TEXT))
REFUSED = (
    *("400", "400-key", "400-model", "401", "403", "404", "429-quota", "redirect"),
)
PASSING = (
    *(
        "429",
        "429-2s",
        "429-1h",
        "500",
        "500-slow",
        "503",
        "slow",
        "drip",
        "cut",
        "reset",
    ),
    "error-within",  # a success of a server that passes requests on
)
UNUSABLE = (
    *("html", "not-json", "json-list", "deep", "413", "400-long", "400-filter"),
    *(*ENDLESS_FAULTS, *REPLY_FAULTS),
)
OUTCOME: dict[str, type[ChatError]] = {
    **dict.fromkeys(REFUSED, ChatRefusedError),
    **dict.fromkeys(PASSING, ChatError),
    **dict.fromkeys(UNUSABLE, ChatReplyError),
}
CASES = [
    (provider, fault)
    for provider in ("openai", "ollama")
    for fault in OUTCOME
    # Only OpenAI's answers have a code of the error, or one within a success.
    if provider == "openai" or fault not in ("429-quota", "error-within")
]


class Account:
    """Counts the requests of a day."""

    def __init__(self, per_day: int = 1_000) -> None:
        self.left = per_day
        self.breaker = ""

    def take_request(self) -> float:
        if not self.left:
            return 3_600.0
        self.left -= 1
        return 0.0

    def breaker_state(self) -> str:
        return self.breaker

    def keep_breaker_state(self, text: str) -> None:
        self.breaker = text


@pytest.fixture
def chat_server() -> Iterator[ChatServer]:
    with ChatServer() as running:
        yield running


@pytest.fixture
def account() -> Account:
    return Account()


@pytest.fixture
def connect(
    chat_server: ChatServer, account: Account, hours: Hours
) -> Iterator[Callable[..., RemoteChat]]:
    """Yield a function that makes a real client for the server."""
    made: list[RemoteChat] = []

    def make(provider: str, url: str = "") -> RemoteChat:
        target = ChatTarget(
            provider=provider,
            base_url=url or chat_server.url_for(provider),
            model="a-model",
            api_key=KEY,
        )
        chat = connect_chat(target, account=account, now=hours.now, stopwatch=hours.now)
        made.append(chat)
        return chat

    yield make
    for chat in made:
        chat.close()


@pytest.fixture
def chat(provider: str, connect: Callable[..., RemoteChat]) -> RemoteChat:
    return connect(provider)


def timeout_for(fault: str) -> float:
    """Return a timeout: short only where it is going to be used up."""
    return 0.3 if fault in ("slow", "drip") else 20.0


def fail(chat: Chat, fault: str = "") -> ChatError:
    """Return the error that asking ends with."""
    with pytest.raises(ChatError) as caught:
        chat.ask(SAID, SCHEMA, timeout_s=timeout_for(fault))
    return caught.value


# -- what every chat does ------------------------------------------------------------


@pytest.fixture(params=["openai", "ollama", "fake"])
def any_chat(
    request: pytest.FixtureRequest, connect: Callable[..., RemoteChat]
) -> Chat:
    if request.param == "fake":
        return FakeChat(lambda _: {"answer": "yes"})
    return connect(request.param)


def test_the_reply_is_an_object(any_chat: Chat) -> None:
    assert any_chat.ask(SAID, SCHEMA, timeout_s=20) == {"answer": "yes"}


def test_without_time_nothing_is_asked(
    any_chat: Chat, chat_server: ChatServer, account: Account
) -> None:
    """No time left is no reply, not an endless wait."""
    with pytest.raises(ChatError):
        any_chat.ask(SAID, SCHEMA, timeout_s=0)

    assert chat_server.requests == []
    assert account.left == 1_000


def test_a_chat_has_a_name(any_chat: Chat) -> None:
    """`hm status` shows it."""
    assert any_chat.name.isprintable()
    assert KEY not in any_chat.name
    assert 0 < len(any_chat.name) <= 80


# -- the real clients ------------------------------------------------------------------


def test_model_messages_key_and_schema_are_sent(
    chat: RemoteChat, provider: str, chat_server: ChatServer
) -> None:
    """The schema in words too, for servers that pass over the form."""
    chat.ask(SAID, SCHEMA, timeout_s=20)

    [request] = chat_server.requests
    assert request["model"] == "a-model"
    assert request["_key"] == KEY
    first, second = request["messages"]
    assert (first["role"], second["role"]) == ("system", "user")
    assert first["content"].startswith("You judge.")
    assert '"additionalProperties": false' in first["content"]
    assert second["content"] == SECRET_TEXT
    assert form_of(request) == "schema"
    if provider == "openai":
        assert request["response_format"]["json_schema"]["schema"] == SCHEMA
    else:
        assert request["format"] == SCHEMA
        assert request["stream"] is False


@pytest.mark.parametrize(
    ("characters", "context"),
    [(1_000, None), (24_000, 16_384), (240_000, 32_768)],
)
def test_ollama_is_told_how_much_context_a_request_needs(
    characters: int,
    context: int | None,
    connect: Callable[..., Chat],
    chat_server: ChatServer,
) -> None:
    """It cuts what is longer than its 4,096 tokens, and answers all the same."""
    said = [ChatMessage(SYSTEM, "You judge."), ChatMessage(USER, "x" * characters)]

    connect("ollama").ask(said, SCHEMA, timeout_s=20)

    assert chat_server.requests[0]["options"].get("num_ctx") == context


def test_a_model_of_ollama_does_not_think_first(
    connect: Callable[..., Chat], chat_server: ChatServer
) -> None:
    """Some take minutes for it; with some versions, the reply is empty then."""
    connect("ollama").ask(SAID, SCHEMA, timeout_s=20)

    assert chat_server.requests[0]["think"] is False


def test_no_key_of_the_environment_goes_to_a_server_that_it_is_not_for(
    provider: str,
    chat_server: ChatServer,
    account: Account,
    hours: Hours,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Ollama's client sends that of ollama.com to any server, in plain text."""
    for name in ("OLLAMA_API_KEY", "OPENAI_API_KEY"):
        monkeypatch.setenv(name, KEY)
    url = chat_server.url_for(provider)
    target = ChatTarget(provider=provider, base_url=url, model="a-model")
    chat = connect_chat(target, account=account, now=hours.now, stopwatch=hours.now)

    chat.ask(SAID, SCHEMA, timeout_s=20)
    chat.close()

    assert chat_server.requests[0]["_key"] in ("", "none")


@pytest.mark.parametrize("is_named", [False, True])
def test_what_the_environment_holds_for_a_server_goes_to_no_other(
    is_named: bool,
    chat_server: ChatServer,
    account: Account,
    hours: Hours,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The headers went to every ``llm_base_url``, with the key in one of them."""
    url = chat_server.url_for("openai")
    named = f"{url}/" if is_named else "https://gateway.example/v1"
    monkeypatch.setenv("OPENAI_BASE_URL", named)
    monkeypatch.setenv("OPENAI_ORG_ID", "org-1")
    headers = f"X-Gateway: {KEY}\nAuthorization: Bearer {KEY}"
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", headers)
    target = ChatTarget(provider="openai", base_url=url, model="a-model")
    chat = connect_chat(target, account=account, now=hours.now, stopwatch=hours.now)

    chat.ask(SAID, SCHEMA, timeout_s=20)
    chat.close()

    [sent] = chat_server.requests
    assert (KEY in str(sent["_headers"])) == is_named
    assert ("org-1" in str(sent["_headers"])) == is_named


@pytest.mark.parametrize(("provider", "fault"), CASES)
def test_no_fault_passes_for_a_reply(
    provider: str, fault: str, chat_server: ChatServer, connect: Callable[..., Chat]
) -> None:
    """Each ends in the error that says whether asking again makes sense."""
    chat_server.always = fault

    error = fail(connect(provider), fault)

    assert type(error) is OUTCOME[fault]


@pytest.mark.parametrize("fault", ENDLESS_FAULTS)
def test_no_reply_is_read_without_end(
    fault: str, chat: RemoteChat, chat_server: ChatServer
) -> None:
    """It would fill the memory of an agent's server, though its caller has given up."""
    chat_server.always = fault

    assert "with far more than was asked for" in str(fail(chat))


@pytest.mark.parametrize(
    ("fault", "why"),
    [
        ("length", "cut the reply off at its limit of tokens"),
        ("filter", "stopped the reply with its content filter"),
    ],
)
def test_why_a_reply_was_stopped_is_told(
    fault: str, why: str, chat: RemoteChat, chat_server: ChatServer
) -> None:
    """Another model, as the hint was, would not help."""
    chat_server.always = fault

    error = fail(chat)

    assert why in str(error)
    assert "follow the format" not in error.hint


@pytest.mark.parametrize("fault", HARMLESS)
def test_what_is_only_around_the_object_is_passed_over(
    fault: str, chat: RemoteChat, chat_server: ChatServer
) -> None:
    chat_server.always = fault

    assert chat.ask(SAID, SCHEMA, timeout_s=20) == {"answer": "yes"}


@pytest.mark.parametrize(
    ("fault", "forms"),
    [("no-schema", ["schema", "json"]), ("no-form", ["schema", "json", "text"])],
)
def test_a_server_without_forms_is_asked_for_a_simpler_one_and_remembered(
    fault: str, forms: list[str], chat: RemoteChat, chat_server: ChatServer
) -> None:
    chat_server.always = fault

    for _ in range(2):
        assert chat.ask(SAID, SCHEMA, timeout_s=20) == {"answer": "yes"}

    assert [form_of(r) for r in chat_server.requests] == [*forms, forms[-1]]


@pytest.mark.parametrize(
    ("fault", "why"),
    [
        ("400-key", "did not accept the key (400)"),
        ("400-model", "has no model a-model"),
        ("400-filter", "content filter"),
    ],
)
def test_what_has_nothing_to_do_with_the_form_is_asked_once(
    fault: str, why: str, chat: RemoteChat, chat_server: ChatServer
) -> None:
    """It cost three of the day's requests, and the hint named something else."""
    chat_server.always = fault

    assert why in str(fail(chat))
    assert len(chat_server.requests) == 1


def test_a_refusal_in_every_form_leaves_the_form_as_it_was(
    chat: RemoteChat, chat_server: ChatServer, hours: Hours
) -> None:
    """Every later reply of the process came as text, in no form at all."""
    chat_server.always = "400"
    fail(chat)
    chat_server.always = ""
    hours.now_s += 61

    chat.ask(SAID, SCHEMA, timeout_s=20)

    assert form_of(chat_server.requests[-1]) == "schema"


def test_each_request_is_counted_and_none_is_sent_above_the_number_of_a_day(
    chat: RemoteChat, chat_server: ChatServer, account: Account
) -> None:
    """Those for a simpler form, too."""
    account.left = 3
    chat_server.always = "no-form"
    chat.ask(SAID, SCHEMA, timeout_s=20)

    error = fail(chat)

    assert isinstance(error, ChatNotReadyError)
    assert error.retry_after_s == 3_600
    assert "llm_calls_per_day" in str(error)
    assert len(chat_server.requests) == 3
    assert not load_breaker_state(account.breaker).failures


@pytest.mark.parametrize(("fault", "tries"), [("500", 3), ("401", 1), ("a-list", 3)])
def test_what_fails_rests_for_a_minute_in_every_process(
    fault: str,
    tries: int,
    provider: str,
    connect: Callable[..., RemoteChat],
    chat_server: ChatServer,
    hours: Hours,
) -> None:
    chat_server.always = fault
    for _ in range(tries):
        assert not isinstance(fail(connect(provider)), ChatNotReadyError)
    chat_server.always = ""

    error = fail(connect(provider))
    hours.now_s += 61
    assert connect(provider).ask(SAID, SCHEMA, timeout_s=20)

    assert isinstance(error, ChatNotReadyError)
    assert error.retry_after_s == 60
    assert len(chat_server.requests) == tries + 1


def test_the_wait_that_a_server_asks_for_is_told(
    chat: RemoteChat, chat_server: ChatServer
) -> None:
    """With 429 and a header; without one it is not known."""
    chat_server.script("429-1h", "429")

    assert fail(chat).retry_after_s == 3600
    assert fail(chat).retry_after_s is None


def test_a_server_that_asks_to_wait_for_years_is_not_waited_for_that_long() -> None:
    """Said beside what it asks for: the time in ``hm jobs`` is another one."""
    target = ChatTarget(provider="openai", base_url="http://127.0.0.1:1", model="m")

    error = explain_chat_status(target, 429, headers={"retry-after": "99999999"})

    asked = "asks to wait 99999999 s; it is left alone for 3600 s."
    assert str(error).endswith(asked)


def test_no_secret_is_sent(chat: RemoteChat, chat_server: ChatServer) -> None:
    """Notes may hold one from before its form was known."""
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    said = [ChatMessage(USER, f"use {secret}\ud800"), ChatMessage(USER, secret)]

    chat.ask(said, SCHEMA, timeout_s=20)

    [said_text] = chat_server.said
    assert "use " in said_text
    assert secret not in said_text


def test_a_redirect_is_not_followed(chat: RemoteChat, chat_server: ChatServer) -> None:
    """The notes go to the address that was chosen, and to no other."""
    chat_server.always = "redirect"

    fail(chat)

    assert chat_server.strays == []


@pytest.mark.parametrize(("provider", "fault"), CASES)
def test_a_failure_is_one_sentence_without_key_and_text(
    provider: str,
    fault: str,
    chat_server: ChatServer,
    connect: Callable[..., Chat],
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Servers repeat both in their messages, and libraries log what they get."""
    caplog.set_level(logging.DEBUG)
    chat_server.always = fault

    error = fail(connect(provider), fault)

    told = "".join(traceback.format_exception(error)) + caplog.text + error.hint
    for secret in (KEY, KEY[-6:], SECRET_TEXT, "Zanzibar"):
        assert secret not in told
    assert str(error)[0].isupper()
    assert str(error).endswith(".")
    assert "\n" not in str(error)
    assert len(str(error)) < 160
    assert error.hint.endswith((".", "`."))


def test_a_server_that_is_not_there_is_named(
    provider: str, connect: Callable[..., RemoteChat]
) -> None:
    with ChatServer() as gone:
        url, place = gone.url_for(provider), gone.url.removeprefix("http://")

    error = fail(connect(provider, url))

    assert type(error) is ChatError
    assert place in str(error)


def test_every_fault_of_the_server_is_tried() -> None:
    """A new one is not passed over in silence."""
    tried = {*OUTCOME, *HARMLESS, "no-schema", "no-form"}

    assert tried == set(FAULTS)


# -- who is chosen ---------------------------------------------------------------------


def target_of(tmp_path: Path, **options: object) -> ChatTarget | str:
    return find_chat_target(load_settings(str(tmp_path), {}, options))


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({}, "none is chosen|llm_provider` is none"),
        ({"openai_api_key": KEY}, "llm_provider` is none"),
        ({"llm_api_key": KEY, "llm_model": "m"}, "llm_provider` is none"),
        ({"llm_provider": "ollama"}, "no model is named"),
        ({"llm_provider": "openai", "llm_model": "m"}, "no key"),
        ({"llm_provider": "openai", "llm_model": "m", "enabled": False}, "off"),
        (
            {"llm_provider": "openai", "llm_model": "m", "llm_api_key": "a b"},
            "characters that no key has",
        ),
    ],
)
def test_nothing_is_asked_unless_it_was_chosen_and_can_be(
    tmp_path: Path, options: dict[str, object], why: str
) -> None:
    """A key or a server that is there chooses nothing."""
    target = target_of(tmp_path, **options)

    assert isinstance(target, str)
    assert any(part in target for part in why.split("|"))


def test_a_key_goes_to_the_server_that_it_was_made_for(tmp_path: Path) -> None:
    """That of OpenAI is not sent to a server beside it."""
    chosen = {"llm_provider": "openai", "llm_model": "m", "openai_api_key": KEY}

    own = target_of(tmp_path, **chosen)
    other = target_of(tmp_path, **chosen, llm_base_url="http://localhost:8080/v1")
    named = target_of(
        tmp_path, **chosen, llm_base_url="https://llm.example/v1", llm_api_key="other"
    )

    keys = [t.api_key for t in (own, other, named) if isinstance(t, ChatTarget)]
    assert keys == [KEY, "", "other"]
    assert KEY not in repr(own)


def test_a_model_has_time_to_load_or_to_think(tmp_path: Path) -> None:
    """After 30 s the reply was paid for and thrown away, up to five times."""
    target = target_of(tmp_path, llm_provider="ollama", llm_model="m")

    assert isinstance(target, ChatTarget)
    assert target.timeout_s == 120


def test_ollama_is_asked_where_it_is_for_vectors(tmp_path: Path) -> None:
    target = target_of(
        tmp_path, llm_provider="ollama", llm_model="m", ollama_url="http://box:1"
    )

    assert isinstance(target, ChatTarget)
    assert target.name == "ollama m at box:1"


def test_a_keyword_search_loads_nothing_of_it(tmp_path: Path) -> None:
    """A cold search is fast because it loads little, whatever is chosen."""
    program = (
        "import sys; from hivemind_memory.cli.start import run; sys.argv[0] = 'hm'\n"
        "try: run()\n"
        "except SystemExit: pass\n"
        "names = ('chat', 'jobs', 'openai', 'ollama', 'model_requests')\n"
        "found = [m for m in sys.modules if any(n in m for n in names)]\n"
        "print(found, file=sys.stderr)"
    )
    environ = {
        "HIVEMIND_HOME": str(tmp_path),
        "HIVEMIND_EMBEDDING_PROVIDER": "none",
        "HIVEMIND_LLM_PROVIDER": "openai",
        "HIVEMIND_LLM_MODEL": "m",
        "HIVEMIND_DEBUG": "1",  # it ends as Python does, so the last line is run
        "PATH": "/usr/bin:/bin",
    }
    (tmp_path / "memory").mkdir(mode=0o700)
    (tmp_path / "memory" / "a.md").write_text("The port is 5433.\n")

    ran = subprocess.run(
        [sys.executable, "-c", program, "search", "port"],
        env=environ,
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=True,
    )

    assert "a.md" in ran.stdout
    assert ran.stderr.strip().endswith("[]")


@pytest.mark.parametrize(
    ("status", "code"),
    [
        *((status, "") for status in (308, 401, 403, 404, 429, 503)),
        (418, "odd"),
        (429, "insufficient_quota"),
    ],
)
def test_a_failure_is_told_alike_of_a_model_that_writes_and_that_embeds(
    status: int, code: str
) -> None:
    url = "https://models.example/v1"
    chat = ChatTarget(provider="openai", base_url=url, model="m")
    space = VectorSpace(provider="openai", base_url=url, model="m")

    chatted = str(explain_chat_status(chat, status, code=code))
    embedded = str(explain_status(space, status, code=code))

    assert chatted.removeprefix(chat.who) == embedded.removeprefix(space.who)


def test_a_useless_or_late_answer_is_told_alike_of_both_kinds_of_model() -> None:
    url = "https://models.example/v1"
    chat = ChatTarget(provider="openai", base_url=url, model="m")
    space = VectorSpace(provider="openai", base_url=url, model="m")

    late = (explain_chat_timeout(chat, 3), explain_timeout(space, 3))
    useless = (
        explain_bad_reply(chat, "not JSON"),
        explain_bad_answer(space, "not JSON"),
    )

    for chatted, embedded in (late, useless):
        told = str(chatted).removeprefix(chat.who)
        assert told == str(embedded).removeprefix(space.who)
