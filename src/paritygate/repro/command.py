"""A container that is entered as its tests would be, to run a command of anybody's: the test by plain pytest, or a shell."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator

import msgspec

from paritygate.classifier.grid import form
from paritygate.docker_engine.requests import ContainerRequest, EngineInfo
from paritygate.outcomes.artifact import Finding
from paritygate.outcomes.cells import Cell, NodeId
from paritygate.outcomes.plans import CellPlan
from paritygate.repro.planning import Planned
from paritygate.runners.docker import request_of, with_filesystem
from paritygate.runners.specification import Place, specification

ENTERING = "/opt/paritygate/guest/entering.py"
TERMINAL = "CHOWN"
SECONDS = 24 * 3600.0
SHELL = ("/bin/sh", "-c", "if command -v bash >/dev/null; then exec bash; else exec sh; fi")
_CONCERNS = ("workspace", "directory", "user", "environment", "filesystem", "clock", "umask", "seed")


def request(plan: CellPlan, image: str, engine: EngineInfo, command: tuple[str, ...]) -> ContainerRequest:
    """Ask for the cell's container with this command in it, instead of the launcher."""
    place = Place()
    made = request_of(plan, image, place, SECONDS)
    if plan.filesystem is not None:
        made = with_filesystem(made, engine)
    enter = (place.supervisor, "-I", "-S", "-B", ENTERING, _environment(plan, place))
    return msgspec.structs.replace(made, command=(*enter, *command), stdin=False)


def shell(plan: CellPlan, image: str, engine: EngineInfo) -> ContainerRequest:
    """Ask for the cell's container with a shell on a terminal in it."""
    variables = plan.environment.variables | {"TERM": "xterm"}
    environment = msgspec.structs.replace(plan.environment, variables=variables)
    made = request(msgspec.structs.replace(plan, environment=environment), image, engine, SHELL)
    capabilities = tuple(dict.fromkeys((*made.capabilities, TERMINAL)))
    return msgspec.structs.replace(made, capabilities=capabilities, stdin=True, tty=True)


def _environment(plan: CellPlan, place: Place) -> str:
    """Write what concerns the environment of the tests, and nothing of which tests there are."""
    whole = msgspec.json.decode(specification(plan, place, ""))
    some = {name: whole[name] for name in _CONCERNS}
    some |= {"expect": {"timezone": plan.environment.timezone}, "limits": {"open_files": plan.limits.open_files}}
    return msgspec.json.encode(some).decode()


def pytest_command(planned: Planned, cell: Cell, nodeid: NodeId) -> tuple[str, ...]:
    """Write what runs one test by plain pytest, with what the launcher gives it: seeds, workers, and what keeps runs comparable.

    The launcher's own list is in the guest, which nothing here may import; a test compares the two.
    """
    plan = planned.plan
    installed = {each.name for each in cell.probe.distributions} if cell.probe is not None else set[str]()
    selection = plan.selection
    return (
        *("python", "-m", "pytest"),
        *selection.arguments,
        *_plugins(plan, installed),
        f"--rootdir={posixpath.normpath(posixpath.join(Place().workspace, selection.directory))}",
        *("--maxfail=0", "--continue-on-collection-errors", "--color=no"),
        *(("-o", "parity_pin=false") if cell.pins.suite and not plan.respect_pins else ()),
        selectable(nodeid, selection.directory),
    )


def _plugins(plan: CellPlan, installed: set[str]) -> Iterator[str]:
    if "pytest-randomly" in installed:
        yield from ("-p", "randomly", f"--randomly-seed={plan.seed % (1 << 32)}", "--randomly-dont-reorganize")
    if "pytest-xdist" in installed:
        yield from ("-p", "xdist", "-n", str(plan.environment.workers))
        yield from ("--dist", "loadfile") if plan.environment.workers else ()  # as the recorder, which shares out by file
    if "pytest-cov" in installed:
        yield from ("-p", "pytest_cov", "--no-cov")


def selectable(nodeid: NodeId, directory: str) -> str:
    """Say an id as pytest takes it in the project's folder; one with an address, which is another one each time, without that."""
    path, separator, names = nodeid.partition("::")
    if "0x..." in form(nodeid):
        names = names.partition("[")[0]
    return posixpath.relpath(path, directory or ".") + separator + names


def lacking(planned: Planned, finding: Finding, alike: int) -> Iterator[str]:
    """Say in what a line of plain pytest is less than the cell."""
    count = planned.before
    if count:
        said = f"it runs the test alone: in the cell {count} other{'s' * (count != 1)} ran before or beside it"
        yield f"{said}, which `paritygate repro` runs too"
    if alike > 1:
        yield f"{alike} tests have this id, and it runs them all"
    if "0x..." in form(finding.nodeid):
        yield "the id holds an address, which is another one each time: it runs all tests of that function"
    if planned.plan.environment.workers:
        yield "with one test, one worker has all the work, whichever it was in the cell"
    yield "nothing ends a test that hangs"
