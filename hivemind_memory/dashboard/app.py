"""The application of the pages: who asks, forms, headers, failures.

A form is taken from a page of this server only: the layer before refuses other origins,
and each form carries a secret of its session.
"""

from __future__ import annotations

import hmac
import json
from collections.abc import Mapping
from functools import partial
from urllib.parse import parse_qsl, quote

import anyio.to_thread

from hivemind_memory.dashboard.ages import PageTime
from hivemind_memory.dashboard.login import begin_session
from hivemind_memory.dashboard.page import (
    ROOT,
    Page,
    PageCall,
    PageRoute,
    Redirect,
    address_inside,
)
from hivemind_memory.dashboard.render import Renderer
from hivemind_memory.dashboard.reply import Reply, send_reply, static_reply
from hivemind_memory.dashboard.request import (
    cookies_of,
    fields_of,
    is_for_another_page,
    last_event_of,
    part_of,
    typed_beside,
)
from hivemind_memory.dashboard.sessions import SESSION_S, Notice, Sessions
from hivemind_memory.dashboard.visit import (
    THEME_COOKIE,
    THEMES,
    Visit,
    address_of,
    cookie_of,
    session_cookie_of,
)
from hivemind_memory.dashboard.waiting import Waiting
from hivemind_memory.errors import ForgottenError, HivemindError
from hivemind_memory.http_api.callers import CallerMemories, Client
from hivemind_memory.http_api.event_feed import EventFeed, Listener
from hivemind_memory.http_api.events import EventStream
from hivemind_memory.http_api.failures import Failure, failure_of
from hivemind_memory.http_api.path_table import PathTable
from hivemind_memory.http_api.request_body import ClientLeftError, body_of
from hivemind_memory.mcp_server.call_limits import CallLimits
from hivemind_memory.mcp_server.http_checks import RETRY_S, send_json
from hivemind_memory.mcp_server.http_sessions import Receive, Scope, Send
from hivemind_memory.mcp_server.http_tokens import is_visitor, token_in
from hivemind_memory.mcp_server.open_requests import TOO_MANY, VISITORS, OpenRequests
from hivemind_memory.model.clocks import SECONDS_PER_DAY

LOGIN, LOGOUT, LINK = f"{ROOT}/login", f"{ROOT}/logout", f"{ROOT}/link"
THEME, EVENTS, STATIC = f"{ROOT}/theme", f"{ROOT}/events", f"{ROOT}/static/"
FORM_SECRET = "form_secret"  # noqa: S105 - the name of a field

_METHODS = frozenset({"GET", "HEAD", "POST"})

NOT_FOUND = Failure(404, "There is nothing here, or you may not see it.")
_OTHER_PAGE = b"A page of another origin asks for this.\n"
_TOO_LARGE = "The form is larger than 1 MiB. Nothing was saved."
_NO_SESSION = Failure(401, "You are no longer logged in. Nothing was saved.")
_WRONG_FORM = Failure(403, "The form is not from this page. Nothing was changed.")
_READ_ONLY = Failure(403, "Your token is read-only. Nothing was changed.")


class Dashboard:
    """The application that answers below ``/memory``."""

    def __init__(
        self,
        routes: list[PageRoute],
        memories: CallerMemories,
        sessions: Sessions,
        *,
        is_public: bool,
    ) -> None:
        """Take the pages.

        Args:
            routes: Each of their paths occurs once for each method.
            memories: Lends the memory of a reader.
            sessions: Of the browsers that are logged in.
            is_public: Whether a reader without a session sees what is public.
        """
        self._table = PathTable(routes)
        self._memories = memories
        self._sessions = sessions
        self._is_public = is_public
        self._renderer = Renderer()
        self._waiting = Waiting()
        self._feed = EventFeed(lambda: memories.lend(Client()))
        self._limits: CallLimits[Client] = CallLimits()
        self._open = OpenRequests()

    def end_streams(self) -> None:
        """End all streams: the server is about to end."""
        self._feed.close()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        path, method = scope["path"], scope["method"]
        if is_for_another_page(scope):
            reply = Reply(status=403, body=_OTHER_PAGE, media="text/plain")
            await send_reply(scope, send, reply)
            return
        if path.startswith(STATIC) and method in {"GET", "HEAD"}:
            reply = static_reply(path.removeprefix(STATIC), scope["query_string"])
            await send_reply(scope, send, reply)
            return
        if path == LINK:
            await self._send_link(scope, send)
            return
        visit = Visit(session=None, client=None, theme="", query={}, form={}, path=path)
        try:
            form = {}
            if method not in _METHODS:
                self._table.find(method, scope["raw_path"])
            if method == "POST":
                form = fields_of(await body_of(scope, receive, _TOO_LARGE))
            visit = await anyio.to_thread.run_sync(self._visit, scope, form)
            if path == EVENTS and method == "GET":
                await self._stream(scope, visit, receive, send)
                return
            with self._open.counted(_counted_as(visit), is_stream=False) as problem:
                reply = await self._reply(scope, visit, problem)
        except ClientLeftError:
            return
        # Whatever happened, the reader gets a sentence; the log gets the traceback.
        except Exception as error:  # noqa: BLE001 - ``failure_of`` logs it
            failure = failure_of(error)
            # What a reader may not know of looks like what is not there; what is
            # forgotten, they could see before.
            if failure.status == 404 and not isinstance(error, ForgottenError):
                failure = NOT_FOUND
            reply = self._failed(visit, failure)
        await send_reply(scope, send, reply)

    async def _send_link(self, scope: Scope, send: Send) -> None:
        """Answer ``hm dashboard``, which has the server's own token, with a code."""
        if scope["method"] != "POST" or is_visitor(scope) or token_in(scope):
            await send_json(send, 403, b'{"error":"forbidden"}')
            return
        try:
            notes = await anyio.to_thread.run_sync(self._notes)
        except HivemindError as error:
            failure = failure_of(error)
            told = json.dumps({"error": failure.message}).encode()
            await send_json(send, failure.status, told)
            return
        answer = {"code": self._sessions.new_link(), "notes": notes}
        await send_json(send, 200, json.dumps(answer).encode())

    def _notes(self) -> str:
        """Return the notes folder, which ``hm dashboard`` compares with its own."""
        with self._memories.lend(Client()) as memory:
            return memory.places.notes

    def _visit(self, scope: Scope, form: Mapping[str, str]) -> Visit:
        """Return who sends a request, and what they send."""
        cookies = cookies_of(scope)
        session_cookie = session_cookie_of(scope)
        secret = cookies.get(session_cookie, "")
        found = self._sessions.find(secret) if secret else None
        session, client = found or (None, None)
        if client is None and self._is_public:
            client = Client(is_visitor=True)
        theme = cookies.get(THEME_COOKIE, "")
        pairs = parse_qsl(scope["query_string"].decode("latin-1"))
        return Visit(
            session=session,
            client=client,
            theme=theme if theme in THEMES else "",
            query=dict(pairs),
            form=form,
            path=scope["path"],
            address=address_of(scope) if self._is_page(scope) else ROOT,
            event=self._feed.newest_id(),
            part=part_of(scope),
            session_cookie=session_cookie,
            shows_notice=not part_of(scope) and scope["method"] != "HEAD",
        )

    def _is_page(self, scope: Scope) -> bool:
        """Return whether a browser can read the address of a request again."""
        if scope["method"] != "POST":
            return True
        try:
            self._table.find("GET", scope["raw_path"])
        except Failure:
            return False
        return True

    async def _stream(
        self, scope: Scope, visit: Visit, receive: Receive, send: Send
    ) -> None:
        """Send the changes that a reader may hear of, as they happen.

        Raises:
            Failure: They are not logged in, or no longer as the reader of the page that
                asks, or have too many streams open.
        """
        of_page = visit.query.get("reader", visit.reader)
        if visit.client is None or visit.reader != of_page:
            raise _NO_SESSION
        has_left = partial(self._sessions.is_over, visit.session)
        with self._open.counted(_counted_as(visit), is_stream=True) as problem:
            if problem:
                raise _too_many(problem)
            with self._memories.lend(visit.client) as memory:
                listener = Listener(memory.caller, visit.client.token, has_left)
            after = last_event_of(scope, visit.query.get("after", ""))
            await EventStream(self._feed, listener, after)(receive, send)

    async def _reply(self, scope: Scope, visit: Visit, problem: str) -> Reply:
        """Return the answer to a request; *problem* says why there is none.

        Raises:
            Exception: It fails; see ``failure_of``.
        """
        if problem:
            raise _too_many(problem)
        method = "GET" if scope["method"] == "HEAD" else scope["method"]
        if visit.path == LOGIN:
            return await anyio.to_thread.run_sync(self._log_in, scope, method, visit)
        if visit.path == THEME and method == "POST":
            return _themed(visit)
        if method == "POST":
            self._check_form(visit)
        if visit.path == LOGOUT and visit.session is not None and method == "POST":
            self._sessions.end(visit.session.secret)
            self._feed.end_left()
            return _redirect(LOGIN, cookies=[cookie_of(visit.session_cookie, "", 0)])
        if visit.client is None:
            return _redirect(f"{LOGIN}?next={quote(address_of(scope), safe='')}")
        client = visit.client
        try:
            route, named = self._table.find(method, scope["raw_path"])
        except Failure as failure:
            raise NOT_FOUND if failure.status == 404 else failure from None
        if route.is_change and client.is_read_only:
            raise _READ_ONLY

        def work() -> Reply:
            with self._memories.lend(client) as memory:
                call = PageCall(
                    memory=memory,
                    client=client,
                    session=visit.reader,
                    path=named,
                    query=visit.query,
                    form=visit.form,
                    part=visit.part,
                )
                if route.is_change:
                    return self._shown(visit, route.work(call), call)
                # A page has many parts, and each would look for changes of the notes.
                with memory.index_handle.one_look():
                    return self._shown(visit, route.work(call), call)

        return await anyio.to_thread.run_sync(work, limiter=self._limits.of(client))

    def _check_form(self, visit: Visit) -> None:
        """Refuse a form that has not the secret of its session.

        Raises:
            Failure: It is refused; nothing was changed.
        """
        if visit.session is None:
            raise _NO_SESSION
        given = visit.form.get(FORM_SECRET, "").encode()
        if not hmac.compare_digest(given, visit.session.form_secret.encode()):
            raise _WRONG_FORM

    def _log_in(self, scope: Scope, method: str, visit: Visit) -> Reply:
        """Return the page that asks for a token, or begin a session.

        Raises:
            Failure: The token or the link is not, or no longer, valid.
        """
        given = visit.form if method == "POST" else visit.query
        session, problem = begin_session(self._sessions, scope, method, given)
        if session is None:
            page = Page(
                template="login.html",
                values={"problem": problem, "next": given.get("next", "")},
                status=403 if problem else 200,
            )
            return self._shown(visit, page, None)
        name, age_s = visit.session_cookie, int(SESSION_S)
        cookie = cookie_of(name, session.secret, age_s, is_hidden=True)
        return _redirect(address_inside(given.get("next", "")), cookies=[cookie])

    def _shown(
        self, visit: Visit, answer: Page | Redirect, call: PageCall | None
    ) -> Reply:
        """Return a page as it is sent."""
        session = visit.session
        if isinstance(answer, Redirect):
            if session is not None and answer.notice:
                told = Notice(text=answer.notice, undo=answer.undo, saved=answer.saved)
                self._sessions.tell(session.secret, told)
            return _redirect(answer.path)
        notice = None
        if session is not None and visit.shows_notice:
            notice = self._sessions.take_notice(session.secret)
        html = self._renderer.page(
            answer.template,
            {
                "form_secret": session.form_secret if session else "",
                "is_logged_in": session is not None,
                "may_change": call is not None and call.may_change,
                "is_member": visit.client is not None and not visit.client.is_visitor,
                "is_person": visit.client is not None and visit.client.is_person,
                "notice": notice,
                "theme": visit.theme,
                "here": visit.path,
                "address": visit.address,
                "event": visit.event,
                "reader": visit.reader,
                "time": _time_of(call),
                "in_inbox": lambda: self._waiting.count(call) if call else 0,
                **answer.values,
            },
        )
        more = [(b"refresh", f"0; url={answer.refresh}".encode())]
        return Reply(
            status=answer.status,
            body=html.encode("utf-8", "replace"),
            headers=more if answer.refresh else (),
        )

    def _failed(self, visit: Visit, failure: Failure) -> Reply:
        """Return the page of a failure; what was typed is on it, to be copied."""
        page = Page(
            template="failure.html",
            values={
                "failure": failure,
                "typed": visit.form.get("content", ""),
                "fields": typed_beside(visit.form),
                "needs_login": failure is _NO_SESSION,
            },
            status=failure.status,
        )
        reply = self._shown(visit, page, None)
        return Reply(
            status=reply.status,
            body=reply.body,
            headers=[(n.encode(), v.encode()) for n, v in failure.headers.items()],
        )


def _too_many(problem: str) -> Failure:
    """Return the failure of a reader who has too many requests open."""
    return Failure(TOO_MANY, problem, headers={"retry-after": str(RETRY_S)})


def _time_of(call: PageCall | None) -> PageTime | None:
    """Return when a page is made; None: it shows nothing that has an age."""
    if call is None:
        return None
    clocks = call.memory.clocks
    return PageTime(clocks.now(), clocks.local_iso)


def _counted_as(visit: Visit) -> str | None:
    """Return as whose a request counts; None: it is not bounded."""
    client = visit.client
    if visit.path == LOGIN:  # however many strangers ask, the person can log in
        return None
    if client is None or client.is_visitor:
        return VISITORS
    return client.token.name if client.token else None


def _themed(visit: Visit) -> Reply:
    """Return the page again, in another theme."""
    theme = visit.form.get("theme", "")
    is_known = theme in THEMES
    age_s = 365 * SECONDS_PER_DAY if is_known else 0
    cookie = cookie_of(THEME_COOKIE, theme if is_known else "", age_s)
    return _redirect(address_inside(visit.form.get("next", "")), cookies=[cookie])


def _redirect(address: str, cookies: list[str] | None = None) -> Reply:
    """Return an answer that leads to another page, read with GET."""
    headers = [(b"location", address.encode("ascii", "replace"))]
    headers += [(b"set-cookie", cookie.encode()) for cookie in cookies or ()]
    return Reply(status=303, body=b"", headers=headers)
