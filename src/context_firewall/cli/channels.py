"""What a command says: a document on standard output, one line on standard error, an exit status.

Rules of this room:
- standard output carries a document or nothing;
- standard error carries one indicator after a success, or one canonical JSON error after a failure, and no traceback;
- a reader that goes away (a broken pipe) is an error like any other that writing can meet.
"""

import os
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import click

from context_firewall.errors import ContextFirewallError, InvalidInput, OutputNotWritten


class StoppedError(ContextFirewallError):
    """The person at the keyboard stopped the command."""

    code = "INTERRUPTED"


def shown_path(path: str) -> str:
    """A path as text for a document; bytes that are not UTF-8 become U+FFFD (canonical JSON has no place for them)."""
    return os.fsencode(path).decode("utf-8", "replace")


def deliver(document: bytes) -> None:
    """Write a document to standard output, wholly, or raise OutputNotWritten."""
    with Delivery() as delivery:
        delivery.write(document)


class Delivery:
    """A document that goes to standard output in parts; a context manager that ends with all of it written.

    Raises OutputNotWritten when standard output does not take it.
    """

    def write(self, part: bytes) -> None:
        """Write the next part."""
        if sys.stdout is None:
            raise OutputNotWritten("standard output is closed", output="stdout")
        self._to_stdout(lambda: sys.stdout.buffer.write(part))

    def __enter__(self) -> "Delivery":
        return self

    def __exit__(self, kind: object, *_rest: object) -> None:
        if kind is None and sys.stdout is not None:
            self._to_stdout(sys.stdout.buffer.flush)

    def _to_stdout(self, deed: Callable[[], Any]) -> None:
        try:
            deed()
        except OSError as problem:
            _forget_stdout()
            reason = f"standard output cannot be written: {problem.strerror}"
            raise OutputNotWritten(reason, output="stdout") from problem


def _forget_stdout() -> None:
    """Send what is still buffered to nowhere, or the interpreter tries again at its end and complains by itself."""
    with suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        try:
            os.dup2(nowhere, sys.stdout.fileno())
        finally:
            os.close(nowhere)


def indicate(text: str) -> None:
    """Write one line to standard error. It is a courtesy: that it cannot be written does not undo a delivery."""
    _to_stderr(text.encode() + b"\n")


def complain(error: ContextFirewallError) -> int:
    """Write an error to standard error as canonical JSON and return its exit status."""
    from context_firewall.canonical import canonical_bytes

    _to_stderr(canonical_bytes(_clean(error.as_document())) + b"\n")
    return error.exit_status


def _to_stderr(data: bytes) -> None:
    if sys.stderr is not None:
        with suppress(OSError, ValueError):
            sys.stderr.buffer.write(data)
            sys.stderr.buffer.flush()


def _clean(value: Any) -> Any:
    """The same JSON-shaped value with lone surrogates (argument bytes that are not UTF-8) as U+FFFD."""
    if isinstance(value, str):
        return value.encode("utf-8", "surrogatepass").decode("utf-8", "replace")
    if isinstance(value, dict):
        return {_clean(key): _clean(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_clean(item) for item in value]
    return value


def status_of(run: Callable[[], Any]) -> int:
    """Run a command and return its exit status; whatever it raises becomes the one error on standard error."""
    try:
        status = run()
    except ContextFirewallError as error:
        return complain(error)
    except click.UsageError as error:
        return complain(_as_invalid_input(error))
    except click.ClickException as error:
        return complain(InvalidInput(error.format_message()))
    except (click.Abort, KeyboardInterrupt):
        return complain(StoppedError("stopped from the keyboard"))
    except Exception as error:  # a bug, or memory ran out: still no traceback, and never a packet
        return complain(_as_internal_error(error))
    return status if isinstance(status, int) else 0


def _as_invalid_input(error: click.UsageError) -> InvalidInput:
    """A wrong use of the command line, naming the option where click knows it and the help that explains it."""
    details = {}
    if isinstance(error, click.BadParameter) and error.param is not None and error.param.opts:
        details["option"] = error.param.opts[0]
    elif isinstance(error, click.NoSuchOption | click.BadOptionUsage):
        details["option"] = error.option_name
    if error.ctx is not None:
        details["help"] = f"{error.ctx.command_path} --help"
    return InvalidInput(error.format_message(), **details)


def _as_internal_error(error: Exception) -> ContextFirewallError:
    """A failure that nobody foresaw: what it was and where, in one line that a report can quote."""
    trace = error.__traceback__
    where = None
    while trace is not None:
        where = f"{trace.tb_frame.f_globals.get('__name__', '?')}:{trace.tb_lineno}"
        trace = trace.tb_next
    return ContextFirewallError(f"{type(error).__name__}: {error}", where=where)
