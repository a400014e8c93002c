"""How agents speak with their models: what a request holds, and what answers it.

Four dialects, each as far as the agents use it: Anthropic's messages, OpenAI's
responses and chat completions, Gemini's contents. All stream if they are asked to.
Pure: JSON in, bytes out.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

Body = dict[str, Any]
MODEL = "stand-in"
LOOK = "look"
"""So begins the id of a call that looks for tools; its answer is none of our own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """A tool as a request offers it."""

    name: str
    space: str = ""
    """Where the name counts; Codex groups the tools of a server."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Say:
    """The model's turn: a text."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Use:
    """The model's turn: a call of a tool."""

    tool: Tool
    arguments: Body
    id: str


Turn = Say | Use


class Dialect(Protocol):
    """One way to speak with a model."""

    def offered(self, body: Body) -> Iterator[Tool]:
        """Yield the tools that a request lets the model call."""

    def answers(self, body: Body) -> list[str]:
        """Return what tools have answered so far, as the model reads it."""

    def looks(self, body: Body) -> int:
        """Return how often the model has looked for tools that were not offered."""

    def reply(self, turn: Turn, *, is_streamed: bool) -> tuple[str, bytes]:
        """Return content type and bytes of what the model says next."""


class Messages:
    """Anthropic's messages, which Claude Code speaks."""

    def offered(self, body: Body) -> Iterator[Tool]:
        for tool in body.get("tools", ()):
            yield Tool(name=tool["name"])

    def answers(self, body: Body) -> list[str]:
        return [
            _text(block.get("content"))
            for block in self._answered(body)
            if not block["tool_use_id"].startswith(LOOK)
        ]

    def looks(self, body: Body) -> int:
        ids = (one["tool_use_id"] for one in self._answered(body))
        return sum(given.startswith(LOOK) for given in ids)

    def _answered(self, body: Body) -> Iterator[Body]:
        for message in body.get("messages", ()):
            for block in _blocks(message.get("content")):
                if block.get("type") == "tool_result":
                    yield block

    def reply(self, turn: Turn, *, is_streamed: bool) -> tuple[str, bytes]:
        block: Body
        delta: Body
        whole: Body
        if isinstance(turn, Say):
            block = {"type": "text", "text": ""}
            delta = {"type": "text_delta", "text": turn.text}
            whole = {"type": "text", "text": turn.text}
        else:
            head: Body = {"type": "tool_use", "id": turn.id, "name": turn.tool.name}
            block, whole = {**head, "input": {}}, {**head, "input": turn.arguments}
            arguments = json.dumps(turn.arguments)
            delta = {"type": "input_json_delta", "partial_json": arguments}
        reason = "end_turn" if isinstance(turn, Say) else "tool_use"
        message: Body = {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": MODEL,
            "content": [whole],
            "stop_reason": reason,
            "stop_sequence": None,
            "usage": {"input_tokens": 10, "output_tokens": 10},
        }
        if not is_streamed:
            return _json(message)
        begun = {**message, "content": [], "stop_reason": None}
        return _named_events(
            ("message_start", {"message": begun}),
            ("content_block_start", {"index": 0, "content_block": block}),
            ("content_block_delta", {"index": 0, "delta": delta}),
            ("content_block_stop", {"index": 0}),
            (
                "message_delta",
                {
                    "delta": {"stop_reason": reason, "stop_sequence": None},
                    "usage": {"output_tokens": 10},
                },
            ),
            ("message_stop", {}),
        )


class Responses:
    """OpenAI's responses, which Codex speaks."""

    def offered(self, body: Body) -> Iterator[Tool]:
        for tool in body.get("tools", ()):
            if tool.get("type") == "namespace":
                for inner in tool.get("tools", ()):
                    yield Tool(name=inner["name"], space=tool["name"])
            elif "name" in tool:
                yield Tool(name=tool["name"])

    def answers(self, body: Body) -> list[str]:
        return [
            _text(item.get("output"))
            for item in self._answered(body)
            if not item["call_id"].startswith(LOOK)
        ]

    def looks(self, body: Body) -> int:
        ids = (one["call_id"] for one in self._answered(body))
        return sum(given.startswith(LOOK) for given in ids)

    def _answered(self, body: Body) -> Iterator[Body]:
        for item in _blocks(body.get("input")):
            if item.get("type") == "function_call_output":
                yield item

    def reply(self, turn: Turn, *, is_streamed: bool) -> tuple[str, bytes]:
        item: Body
        if isinstance(turn, Say):
            content = [{"type": "output_text", "text": turn.text, "annotations": []}]
            item = {"type": "message", "role": "assistant", "content": content}
        else:
            item = {
                "type": "function_call",
                "call_id": turn.id,
                "name": turn.tool.name,
                "arguments": json.dumps(turn.arguments),
            }
            if turn.tool.space:
                item["namespace"] = turn.tool.space
        item |= {"id": "item_1", "status": "completed"}
        usage = {"input_tokens": 10, "output_tokens": 10, "total_tokens": 20}
        response: Body = {
            "id": "resp_1",
            "object": "response",
            "status": "completed",
            "model": MODEL,
            "output": [item],
            "usage": usage,
        }
        if not is_streamed:
            return _json(response)
        begun = {**response, "status": "in_progress", "output": []}
        return _named_events(
            ("response.created", {"response": begun}),
            ("response.output_item.added", {"output_index": 0, "item": item}),
            ("response.output_item.done", {"output_index": 0, "item": item}),
            ("response.completed", {"response": response}),
        )


class _OffersAll:
    """An agent that waits for its servers: every tool is offered from the start."""

    def looks(self, body: Body) -> int:  # noqa: ARG002 - as the port says
        return 0


class Chat:
    """OpenAI's chat completions, which OpenCode, Aider and many others speak."""

    def offered(self, body: Body) -> Iterator[Tool]:
        for tool in body.get("tools") or ():
            yield Tool(name=tool["function"]["name"])

    def answers(self, body: Body) -> list[str]:
        return [
            _text(message.get("content"))
            for message in self._answered(body)
            if not message["tool_call_id"].startswith(LOOK)
        ]

    def looks(self, body: Body) -> int:
        return len(self._answered(body)) - len(self.answers(body))

    def _answered(self, body: Body) -> list[Body]:
        """Return what tools have answered."""
        messages = body.get("messages", ())
        return [message for message in messages if message.get("role") == "tool"]

    def reply(self, turn: Turn, *, is_streamed: bool) -> tuple[str, bytes]:
        message: Body = {"role": "assistant"}
        if isinstance(turn, Say):
            message["content"] = turn.text
        else:
            function = {
                "name": turn.tool.name,
                "arguments": json.dumps(turn.arguments),
            }
            call = {"index": 0, "id": turn.id, "type": "function", "function": function}
            message |= {"content": None, "tool_calls": [call]}
        reason = "stop" if isinstance(turn, Say) else "tool_calls"
        usage = {"prompt_tokens": 10, "completion_tokens": 10, "total_tokens": 20}
        head: Body = {"id": "chat_1", "created": 1, "model": MODEL}
        if not is_streamed:
            choice = {"index": 0, "message": message, "finish_reason": reason}
            whole = {"object": "chat.completion", "choices": [choice], "usage": usage}
            return _json(head | whole)
        head["object"] = "chat.completion.chunk"
        choice = {"index": 0, "delta": message, "finish_reason": None}
        last = {"index": 0, "delta": {}, "finish_reason": reason}
        return _events(
            json.dumps(head | {"choices": [choice]}),
            json.dumps(head | {"choices": [last], "usage": usage}),
            "[DONE]",
        )


class Contents(_OffersAll):
    """Gemini's contents, which Gemini CLI speaks."""

    def offered(self, body: Body) -> Iterator[Tool]:
        for group in body.get("tools", ()):
            for tool in group.get("functionDeclarations", ()):
                yield Tool(name=tool["name"])

    def answers(self, body: Body) -> list[str]:
        return [
            _text(part["functionResponse"].get("response"))
            for content in body.get("contents", ())
            for part in content.get("parts", ())
            if "functionResponse" in part
        ]

    def reply(self, turn: Turn, *, is_streamed: bool) -> tuple[str, bytes]:
        part: Body
        if isinstance(turn, Say):
            part = {"text": turn.text}
        else:
            part = {"functionCall": {"name": turn.tool.name, "args": turn.arguments}}
        content = {"role": "model", "parts": [part]}
        counts = {"promptTokenCount": 10, "candidatesTokenCount": 10}
        response: Body = {
            "candidates": [{"index": 0, "content": content, "finishReason": "STOP"}],
            "usageMetadata": counts | {"totalTokenCount": 20},
            "modelVersion": MODEL,
        }
        return _events(json.dumps(response)) if is_streamed else _json(response)


def dialect_of(path: str) -> Dialect | None:
    """Return who speaks at a path of an address, or nothing if nobody does."""
    plain = path.partition("?")[0]
    by_end: tuple[tuple[str, Dialect], ...] = (
        ("/messages", Messages()),
        ("/responses", Responses()),
        ("/chat/completions", Chat()),
        (":generateContent", Contents()),
        (":streamGenerateContent", Contents()),
    )
    return next((one for end, one in by_end if plain.endswith(end)), None)


def _text(value: object) -> str:
    """Return a tool's answer as text, however it is wrapped."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "\n".join(_text(one) for one in value)
    if isinstance(value, dict) and "text" in value:
        return _text(value["text"])
    return json.dumps(value, ensure_ascii=False)


def _blocks(value: object) -> Iterable[Body]:
    """Return the blocks of a content, which may be a text alone."""
    return (
        [one for one in value if isinstance(one, dict)]
        if isinstance(value, list)
        else []
    )


def _json(value: Body) -> tuple[str, bytes]:
    """Return a whole answer."""
    return "application/json", json.dumps(value).encode()


def _events(*data: str) -> tuple[str, bytes]:
    """Return a stream of events without names."""
    return "text/event-stream", "".join(f"data: {one}\n\n" for one in data).encode()


def _named_events(*events: tuple[str, Body]) -> tuple[str, bytes]:
    """Return a stream of events whose data repeat their names."""
    lines = (
        f"event: {name}\ndata: {json.dumps({'type': name, **data})}\n\n"
        for name, data in events
    )
    return "text/event-stream", "".join(lines).encode()
