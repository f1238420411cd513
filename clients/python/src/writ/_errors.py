"""What a client raises. Every error has a stable code of spec/errors.md."""

from __future__ import annotations

from typing import Any, Mapping


class WritError(Exception):
    """Something did not hold. `code` is stable; the text is for people."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(f"{code} {message}")
        self.code = code


class Refused(WritError):
    """The server refused before a decision: `code` is its own, `problem` the whole of what it said."""

    def __init__(self, status: int, problem: Mapping[str, Any]) -> None:
        said = [str(problem[name]) for name in ("title", "detail") if problem.get(name)]
        super().__init__(str(problem.get("code", "GWY-060")), ": ".join(said))
        self.status = status
        self.problem = problem


class NoAnswer(WritError):
    """No answer came (GWY-061). Whether the effect ran is not known; the same request may be sent again."""

    def __init__(self, message: str, *, sent: bool) -> None:
        super().__init__("GWY-061", message)
        self.sent = sent
        """Whether any of the request may have left: where false, nothing happened."""


class NotBelieved(WritError):
    """The answer is not what the pinned keys have signed about this request (GWY-062)."""

    def __init__(self, message: str) -> None:
        super().__init__("GWY-062", message)


class WrongFile(WritError, ValueError):
    """A file that the caller named is not what it must be; the text begins with the file's name."""


class Denied(WritError):
    """A governed function was not let run (GWY-066): `outcome` says what denied it, or which approval is missing."""

    def __init__(self, outcome: Any) -> None:
        super().__init__("GWY-066", f"{outcome.verdict} {outcome.code or ''} {outcome.reason}")
        self.outcome = outcome


class PermittedBefore(WritError):
    """A call of a governed function under this key was permitted before: it may have run (GWY-065)."""

    def __init__(self, permit: Any) -> None:
        super().__init__("GWY-065", f"the permit is {permit.receipt_id}")
        self.permit = permit
