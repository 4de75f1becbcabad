"""Makes sure that an engine answers and that a base image can be had: what `nox -s engine` does.

It uses what it finds. Only as root on Debian or Ubuntu, and only where nothing answers, does it install and start something.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import msgspec

from paritygate.config.settings import ImageSettings
from paritygate.docker_engine.requests import ImageRecord, Log
from paritygate.docker_engine.verbs import Engine
from paritygate.errors import EngineUnavailableError
from paritygate.images import base
from paritygate.images.distributions import this_distribution

PACKAGES = ("docker.io", "iptables")
PLACES = ("/usr/sbin", "/usr/local/sbin", "/sbin")
INSTALL_HINT = (
    "install Docker (on Debian or Ubuntu, as root: `apt-get install docker.io`; on macOS: Docker Desktop, colima or OrbStack; "
    "on Windows: Docker Desktop) or Podman with its API service, start it, or set `DOCKER_HOST`"
)

Connect = Callable[[], Engine]


class Daemon(msgspec.Struct, frozen=True, kw_only=True):
    """Where a daemon that we start has its files, and how many seconds it may take until it answers.

    `pids` are files that after a crash keep it from starting; `systemd` is there where systemd runs.
    """

    pids: tuple[Path, ...] = (Path("/var/run/docker.pid"), Path("/run/docker/containerd/containerd.pid"))
    log: Path = Path("/var/log/paritygate-dockerd.log")
    systemd: Path = Path("/run/systemd/system")
    seconds: float = 60.0


class Ready(msgspec.Struct, frozen=True, kw_only=True):
    """An engine that answers, the base image it has, and what had to be done for it."""

    base: ImageRecord
    endpoint: str
    done: tuple[str, ...] = ()


def ensure_engine(connect: Connect, settings: ImageSettings, python: str, log: Log) -> Ready:
    """Find an engine or install and start one, then see to the base image; `connect` looks for an engine and raises.

    Raises `EngineUnavailableError` where there is none and none may be installed, `BaseImageError` where there is no base.
    """
    done: list[str] = []
    try:
        engine = connect()
    except EngineUnavailableError as error:
        if problem := obstacle():
            raise EngineUnavailableError(f"{error.message}\n{problem}", hint=INSTALL_HINT) from error
        log(f"no engine answers; installing {' and '.join(PACKAGES)} and starting `dockerd`")
        done += _install_engine(log)
        done.append(start(Daemon(), log))
        engine = wait(connect, Daemon())
    info = engine.info
    log(f"using {info.name} {info.version} at `{info.endpoint.url}` ({info.endpoint.why})")
    if (
        not settings.base
        and engine.image(base.official(python)) is None
        and _may_install()
        and shutil.which(base.BOOTSTRAP) is None
    ):
        done += _prepare_bootstrap(engine, python, log)
    image = base.find_or_make(engine, settings, python, log)
    log(f"base image: `{image.tags[0] if image.tags else image.identity}`")
    return Ready(base=image, endpoint=info.endpoint.url, done=tuple(done))


def _prepare_bootstrap(engine: Engine, python: str, log: Log) -> list[str]:
    """Install what makes a base of packages, where no registry gives one and none was made before."""
    distribution = this_distribution()
    made = distribution is not None and engine.image(base.name_of(distribution)) is not None
    if made or engine.pull(base.official(python), log) is not None:
        return []
    install((base.BOOTSTRAP,), log)
    return [f"installed `{base.BOOTSTRAP}`"]


def obstacle() -> str:
    """Say why no engine may be installed here; empty where one may."""
    if this_distribution() is None:
        return "this computer is not Debian or Ubuntu, so nothing was installed"
    return "" if _may_install() else "installing one takes root, so nothing was installed"


def _may_install() -> bool:
    return (
        hasattr(os, "geteuid") and os.geteuid() == 0 and shutil.which("apt-get") is not None and this_distribution() is not None
    )


def _install_engine(log: Log) -> list[str]:
    """Install what is missing; a `dockerd` of whatever package that is there already is left as it is."""
    missing = tuple(
        package for package, program in zip(PACKAGES, ("dockerd", "iptables"), strict=True) if shutil.which(program) is None
    )
    if not missing:
        return []
    install(missing, log)
    return [f"installed {', '.join(f'`{package}`' for package in missing)}"]


def install(packages: tuple[str, ...], log: Log) -> None:
    """Install packages; raises with the end of what apt said."""
    surroundings = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for command in (["apt-get", "update"], ["apt-get", "install", "-y", "--no-install-recommends", *packages]):
        log(f"running `{' '.join(command)}`")
        ended = subprocess.run(  # noqa: S603 - fixed commands over packages named above
            command, check=False, env=surroundings, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace"
        )
        # A source that does not answer fails `update`, and yet what is wanted may be known from another.
        if ended.returncode and command[1] != "update":
            tail = "".join(f"\n  | {line}" for line in (ended.stdout + ended.stderr).splitlines()[-12:])
            raise EngineUnavailableError(f"`{' '.join(command)}` failed:{tail}", hint=INSTALL_HINT)


def start(daemon: Daemon, log: Log) -> str:
    """Start `dockerd`: by systemd where that runs, else by itself, detached; give what was done."""
    if daemon.systemd.is_dir() and _succeeds(["systemctl", "start", "docker"]):
        return "started `docker` with systemd"
    for path in daemon.pids:
        _remove_if_stale(path, log)
    program = shutil.which("dockerd", path=os.pathsep.join((os.environ.get("PATH", ""), *PLACES)))
    if program is None:
        raise EngineUnavailableError("`dockerd` is not there after installing it", hint=INSTALL_HINT)
    daemon.log.parent.mkdir(parents=True, exist_ok=True)
    with daemon.log.open("ab") as said:
        # A shell in between, so that it is nobody's child: it goes on when we have ended.
        subprocess.run(  # noqa: S603 - a fixed command over a program of the system
            ["/bin/sh", "-c", '"$1" &', "sh", program],
            check=True,
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=said,
            start_new_session=True,
            cwd="/",
        )
    return f"started `dockerd`, whose log is `{daemon.log}`"


def _succeeds(command: list[str]) -> bool:
    return subprocess.run(command, check=False, capture_output=True).returncode == 0  # noqa: S603 - fixed commands


def _remove_if_stale(path: Path, log: Log) -> None:
    """Remove a daemon's pid file whose process is gone or is another program: after a crash it keeps the daemon from starting."""
    if not path.is_file():
        return
    pid = path.read_text(encoding="ascii", errors="replace").strip()
    name = Path(f"/proc/{pid}/comm")
    running = name.read_text(encoding="utf-8", errors="replace").strip() if pid.isdecimal() and name.is_file() else ""
    if running not in {"dockerd", "containerd"}:
        log(f"removing `{path}`, left by a daemon that is gone")
        path.unlink(missing_ok=True)


def wait(connect: Connect, daemon: Daemon) -> Engine:
    """Wait until the engine that was started answers."""
    give_up = time.monotonic() + daemon.seconds
    while True:
        try:
            return connect()
        except EngineUnavailableError as error:
            if time.monotonic() > give_up:
                tail = daemon.log.read_text(encoding="utf-8", errors="replace").splitlines()[-12:] if daemon.log.is_file() else []
                raise EngineUnavailableError(
                    f"`dockerd` was started and does not answer after {daemon.seconds:.0f} s"
                    + "".join(f"\n  | {line}" for line in tail),
                    hint=f"see `{daemon.log}`, or `journalctl -u docker`",
                ) from error
        time.sleep(0.5)
