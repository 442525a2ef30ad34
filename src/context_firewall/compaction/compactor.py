"""Start reading here: the four parts, composed.

    view -> trigger fires? -> selection -> summary -> record, and only then the new view

Whatever goes wrong on the way leaves the view as it was. Clock and ids are arguments: same view, same parts, same
clock, same record.
"""

from collections.abc import Callable, Sequence
from typing import Any

from context_firewall.compaction.decision_log import DecisionLog
from context_firewall.compaction.records import CompactionRecord, full_history
from context_firewall.compaction.reducing import Reducer, reduce_results
from context_firewall.compaction.selection import Policy, SelectionDecision, Selector, checked
from context_firewall.compaction.summaries import SummarizationLog, Summarizer, summarized
from context_firewall.compaction.triggers import Reading, TriggerPredicate, read_trigger
from context_firewall.conversation.messages import Context, Message, Role


class Compactor:
    """Compacts a view when its trigger fires, and keeps a record of every time.

    `reducers` put tool results that stay in the view into a shorter form. `clock` gives the seconds since 1970 for
    records; without one they say 0. With `only_if_smaller` a compaction that would not save a token is not made.
    """

    def __init__(
        self,
        trigger: TriggerPredicate,
        selector: Selector,
        summarizer: Summarizer,
        *,
        reducers: Sequence[Reducer] = (),
        clock: Callable[[], float] | None = None,
        decision_log: DecisionLog | None = None,
        only_if_smaller: bool = False,
        source_format: str | None = None,
    ) -> None:
        self.trigger = trigger
        self.selector = selector
        self.summarizer = summarizer
        self.reducers = tuple(reducers)
        self.clock = clock
        self.decision_log = decision_log if decision_log is not None else DecisionLog(clock=clock)
        self.only_if_smaller = only_if_smaller
        self.source_format = source_format
        self.records: list[CompactionRecord] = []

    def maybe_compact(self, ctx: Context) -> CompactionRecord | None:
        """Compact a view if the trigger fires: its messages are then the compacted ones. Returns the record, or None.

        None also where nothing would change. Raises InvalidInput for a policy that loses a message or a summarizer that
        makes none, and whatever either raises; the view is then unchanged.
        """
        original = ctx.snapshot()
        reading = read_trigger(self.trigger, ctx)
        if not reading.fired:
            self._decline(ctx, reading, "the trigger does not fire")
            return None
        timestamp = self.clock() if self.clock is not None else 0.0
        decision = checked(original, self.selector(ctx))
        kept, reduced = reduce_results(decision.preserve_verbatim, self.reducers, ctx, timestamp)
        log = None
        if decision.to_summarize:
            log = summarized(self.summarizer, decision.to_summarize, ctx, timestamp)
        elif not decision.to_drop and not reduced:
            self._decline(ctx, reading, "nothing is to be summarised")
            return None
        compacted = _placed(original, decision, kept, log)
        before, after = ctx.total_tokens(), Context(list(compacted), ctx.counter).total_tokens()
        if self.only_if_smaller and after >= before:
            self._decline(ctx, reading, "the view would not become smaller")
            return None
        record = CompactionRecord(
            original_context=original,
            selection_decision=decision,
            summarization_log=log,
            compacted_context=compacted,
            pre_compaction_tokens=before,
            post_compaction_tokens=after,
            timestamp=timestamp,
            round=len(self.records) + 1,
            token_counter=ctx.counter.name,
            trigger=reading,
            selection_name=_name(self.selector),
            selection_parameters=self.selector.parameters if isinstance(self.selector, Policy) else {},
            reduced_results=reduced,
            source_format=self.source_format,
            previous_sha256=self.records[-1].sha256() if self.records else None,
        )
        self.records.append(record)
        self.decision_log.log("compaction", _inputs(ctx, reading), _outputs(record))
        ctx.messages = list(compacted)
        return record

    def full_history(self, ctx: Context) -> list[Message]:
        """Every message of the conversation that was ever in the view, in order, each once."""
        return full_history(self.records, ctx.messages)

    def _decline(self, ctx: Context, reading: Reading, reason: str) -> None:
        self.decision_log.log("compaction", _inputs(ctx, reading), {"compacted": False, "reason": reason})


def _placed(
    original: Sequence[Message], decision: SelectionDecision, kept: Sequence[Message], log: SummarizationLog | None
) -> list[Message]:
    """The new view: what is kept, in its order, and the summary where what it replaces began, yet behind the system's.

    A message of the system's that stands right there goes before the summary.
    """
    if log is None:
        return list(kept)
    places = {message.entry_id: place for place, message in enumerate(original)}
    first = places[decision.to_summarize[0].entry_id]
    at = 0
    for message in decision.preserve_verbatim:
        if places[message.entry_id] > first and (message.role is not Role.SYSTEM or message.is_summary):
            break
        at += 1
    return [*kept[:at], log.summarizer_output, *kept[at:]]


def _inputs(ctx: Context, reading: Reading) -> dict[str, Any]:
    return {
        "measured": reading.measured,
        "messages": len(ctx.messages),
        "parameters": dict(reading.parameters),
        "trigger": reading.name,
    }


def _outputs(record: CompactionRecord) -> dict[str, Any]:
    decision = record.selection_decision
    return {
        "compacted": True,
        "dropped": [message.entry_id for message in decision.to_drop],
        "preserved": [message.entry_id for message in decision.preserve_verbatim],
        "reduced": [reduced.entry_id for reduced in record.reduced_results],
        "round": record.round,
        "summarized": [message.entry_id for message in decision.to_summarize],
        "summary": None if record.summarization_log is None else record.summarization_log.summarizer_output.entry_id,
        "tokens_after": record.post_compaction_tokens,
        "tokens_before": record.pre_compaction_tokens,
    }


def _name(selector: Selector) -> str:
    if isinstance(selector, Policy):
        return selector.name
    return str(getattr(selector, "__qualname__", type(selector).__qualname__))
