"""Every error the program can end with; its class holds the exit code and, where there is one, the next step.

A message says what, where and what now: lower case, no full stop, literals in backticks.
"""

from __future__ import annotations

from paritygate.outcomes.words import ExitCode


class ParityError(Exception):
    """Base of all: a message for the user, a hint for what to do, an exit code for the caller."""

    exit_code = ExitCode.FAULT
    hint = ""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint or type(self).hint


class UsageError(ParityError):
    """The command line asks for something that cannot be."""

    exit_code = ExitCode.USAGE


class ConfigError(ParityError):
    """The configuration is wrong; `problems` holds every fault found, each with its path."""

    exit_code = ExitCode.USAGE

    def __init__(self, source: str, problems: tuple[str, ...]) -> None:
        listed = "\n".join(f"  {problem}" for problem in problems)
        super().__init__(f"{len(problems)} problem{'s' * (len(problems) != 1)} in `{source}`:\n{listed}")
        self.problems = problems


class NoVerdictError(ParityError):
    """The run cannot come to a verdict, for reasons that are not the tests'."""

    exit_code = ExitCode.NO_VERDICT


class EngineUnavailableError(NoVerdictError):
    """No engine answers; `tried` lists every endpoint with what it said, `named` says that it was one that somebody named."""

    hint = "start Docker, or set `DOCKER_HOST`; in a checkout of this project `nox -s engine` prepares one"

    def __init__(self, message: str, tried: tuple[str, ...] = (), hint: str = "", *, named: bool = False) -> None:
        listed = "".join(f"\n  {line}" for line in tried)
        super().__init__(f"{message}{listed}", hint)
        self.tried = tried
        self.named = named


class EngineError(NoVerdictError):
    """The engine answered, and refused or failed."""


class RunnerError(NoVerdictError):
    """The place where cells were to run, other than an engine, failed, refused, or is out of reach."""


class ConnectionLostError(RunnerError):
    """The connection to the place where cells were to run was lost, and there is no other."""


class BaseImageError(NoVerdictError):
    """There is no image to start from."""

    hint = "run `nox -s engine`, or name an image with `base` under `[tool.paritygate.image]`"


class BuildError(NoVerdictError):
    """An image could not be built; `tail` is the end of the log and `log` the path of the whole of it."""

    def __init__(self, message: str, tail: str = "", log: str = "", hint: str = "") -> None:
        parts = [message]
        if tail:
            parts.append("\n".join(f"  | {line}" for line in tail.splitlines()))
        if log:
            parts.append(f"  full log: `{log}`")
        super().__init__("\n".join(parts), hint)
        self.tail = tail
        self.log = log


class SnapshotError(NoVerdictError):
    """The working tree could not be read."""


class UnrecordedError(NoVerdictError):
    """What was found out could not be written down: whatever the verdict is, whoever asks for it later will not find it."""


class RefusedError(ParityError):
    """A lock is broken or a freeze invalid; said before any cell runs."""

    exit_code = ExitCode.REFUSED


class InterruptedRunError(ParityError):
    """A signal ended the run; everything it started has been removed."""

    def __init__(self, signal_name: str, exit_code: ExitCode) -> None:
        super().__init__(f"interrupted by `{signal_name}`; nothing is left running")
        self.exit_code = exit_code
