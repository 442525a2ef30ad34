"""Sessions for the tests, as their harnesses write them: lines with only what a test is about."""

import json
from typing import Any


def jsonl(*lines: object) -> bytes:
    """Lines of JSON."""
    return b"".join(
        (line if isinstance(line, str) else json.dumps(line, ensure_ascii=False)).encode() + b"\n" for line in lines
    )


class Claude:
    """A Claude Code session, line by line; each follows the one before unless it says whom it follows."""

    def __init__(self) -> None:
        self.lines: list[dict[str, Any]] = []
        self._last: str | None = None

    def add(self, kind: str, uuid: str, *, after: str | None = "", **keys: Any) -> "Claude":
        """One line."""
        parent = self._last if after == "" else after
        line = {"parentUuid": parent, "isSidechain": False, "sessionId": "s-1", "type": kind, "uuid": uuid}
        self.lines.append({**line, "timestamp": "2026-05-04T10:00:00.000Z", **keys})
        self._last = uuid
        return self

    def user(self, uuid: str, content: Any, **keys: Any) -> "Claude":
        """What stands in the user's place."""
        return self.add("user", uuid, message={"role": "user", "content": content}, **keys)

    def model(self, uuid: str, *blocks: dict[str, Any], answer: str = "", **keys: Any) -> "Claude":
        """What the model says or calls; `answer` is the id of the whole answer."""
        message = {"id": answer or f"msg-{uuid}", "role": "assistant", "content": list(blocks)}
        return self.add("assistant", uuid, message=message, **keys)

    def result(self, uuid: str, call: str, content: Any, **keys: Any) -> "Claude":
        """A tool's result."""
        return self.user(uuid, [{"type": "tool_result", "tool_use_id": call, "content": content}], **keys)

    def boundary(
        self, uuid: str, *, trigger: str = "auto", preserved: list[str] | None = None, **metadata: Any
    ) -> "Claude":
        """Where a compaction takes place."""
        keys: dict[str, Any] = {"trigger": trigger, "preTokens": 1200, **metadata}
        if preserved is not None:
            keys["preservedMessages"] = {"anchorUuid": f"{uuid}-summary", "uuids": preserved, "allUuids": preserved}
        return self.add(
            "system", uuid, after=None, subtype="compact_boundary", logicalParentUuid=self._last, compactMetadata=keys
        )

    def summary(self, uuid: str, text: str) -> "Claude":
        """The summary behind a boundary."""
        return self.user(uuid, text, isCompactSummary=True, isVisibleInTranscriptOnly=True)

    def bytes(self) -> bytes:
        """The session."""
        return jsonl(*self.lines)


def text(said: str) -> dict[str, Any]:
    """A block of text."""
    return {"type": "text", "text": said}


def call(call_id: str, name: str = "Bash", **arguments: Any) -> dict[str, Any]:
    """A block with a call."""
    return {"type": "tool_use", "id": call_id, "name": name, "input": arguments}


def item(kind: str, **payload: Any) -> dict[str, Any]:
    """A line of a Codex rollout."""
    return {"timestamp": "2026-05-04T10:00:00.000Z", "type": kind, "payload": payload}


def said(role: str, *texts: str) -> dict[str, Any]:
    """A message in a Codex rollout."""
    kind = "output_text" if role == "assistant" else "input_text"
    return item("response_item", type="message", role=role, content=[{"type": kind, "text": text} for text in texts])


def shown(message: str) -> dict[str, Any]:
    """The event by which a Codex rollout repeats what the user wrote."""
    return item("event_msg", type="user_message", message=message)


class Dsh:
    """A session of the DeepSeek Harness, event by event."""

    def __init__(self) -> None:
        self.lines: list[dict[str, Any]] = [{"type": "session", "version": 0, "id": "s-1", "createdAt": 0}]
        self._seq = 0

    def add(self, kind: str, data: Any, **keys: Any) -> "Dsh":
        """One event, with the next number."""
        self.lines.append({"type": kind, "seq": self._seq, "time": 1000 * self._seq, "data": data, **keys})
        self._seq += 1
        return self

    def _placed(self, place: Any) -> dict[str, Any]:
        """How an event joins the view; one that replaces names all events so far as its sources."""
        return (
            {"surfaceOp": place} if place == "append" else {"surfaceOp": place, "sourceEventSeqs": [*range(self._seq)]}
        )

    def user(self, said: str, *, kind: str = "user", place: Any = "append", **source: Any) -> "Dsh":
        """A message in the user's place."""
        data = {"role": "user", "content": [text(said)], "source": {"kind": kind, **source}, "id": "m"}
        return self.add("user/message", data, **self._placed(place))

    def model(self, *blocks: dict[str, Any]) -> "Dsh":
        """What the model says or calls."""
        message = {"role": "assistant", "content": list(blocks), "source": {"kind": "model"}, "id": "m"}
        return self.add("assistant/message", {"turn": 1, "step": 1, "message": message}, surfaceOp="append")

    def result(self, call_id: str, said: str, *, place: Any = "append") -> "Dsh":
        """A tool's result."""
        block = {"type": "tool-result", "toolCallId": call_id, "content": [text(said)], "isError": False}
        message = {"role": "user", "content": [block], "source": {"kind": "tool", "callId": call_id}, "id": "m"}
        data = {"turn": 1, "step": 1, "message": message}
        return self.add("tool/result", data, **self._placed(place))

    def compaction(self, name: str, said: str, seqs: list[int]) -> "Dsh":
        """A summary, and the checkpoint that puts it in place."""
        self.add("compaction/start", {"compactionId": name, "turn": 1})
        self.add("compaction/summary", {"compactionId": name, "summary": [text(said)], "shadowedSeqs": seqs})
        place = {"op": "replace", "start": seqs[0], "end": seqs[-1]}
        self.user(f"(preamble)\n{said}", kind="plugin", plugin="compact", compactionId=name, place=place)
        return self.add("compaction/end", {"compactionId": name, "turn": 1})

    def bytes(self) -> bytes:
        """The session."""
        return jsonl(*self.lines)
