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
STALE = (Path("/var/run/docker.pid"), Path("/run/docker/containerd/containerd.pid"))
LOG = Path("/var/log/paritygate-dockerd.log")
READY_SECONDS = 60.0
INSTALL_HINT = (
    "install Docker (on Debian or Ubuntu, as root: `apt-get install docker.io`; on macOS: Docker Desktop, colima or OrbStack; "
    "on Windows: Docker Desktop) or Podman with its API service, start it, or set `DOCKER_HOST`"
)

Connect = Callable[[], Engine]


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
        if problem := _obstacle():
            raise EngineUnavailableError(f"{error.message}\n{problem}", hint=INSTALL_HINT) from error
        log(f"no engine answers; installing {' and '.join(PACKAGES)} and starting `dockerd`")
        done += _install_engine(log)
        done.append(_start(log))
        engine = _wait(connect)
    info = engine.info
    log(f"using {info.name} {info.version} at `{info.endpoint.url}` ({info.endpoint.why})")
    if (
        not settings.base
        and engine.image(f"python:{python}-slim") is None
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
    if made or engine.pull(f"python:{python}-slim", log) is not None:
        return []
    _apt((base.BOOTSTRAP,), log)
    return [f"installed `{base.BOOTSTRAP}`"]


def _obstacle() -> str:
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
    _apt(missing, log)
    return [f"installed {', '.join(f'`{package}`' for package in missing)}"]


def _apt(packages: tuple[str, ...], log: Log) -> None:
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


def _start(log: Log) -> str:
    """Start `dockerd`: by systemd where that runs, else by itself, detached."""
    if Path("/run/systemd/system").is_dir() and _succeeds(["systemctl", "start", "docker"]):
        return "started `docker` with systemd"
    for path in STALE:
        _remove_if_stale(path, log)
    program = shutil.which("dockerd", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin:/sbin")
    if program is None:
        raise EngineUnavailableError("`dockerd` is not there after installing it", hint=INSTALL_HINT)
    LOG.parent.mkdir(parents=True, exist_ok=True)
    with LOG.open("ab") as said:
        subprocess.Popen(  # noqa: S603 - the daemon is meant to go on when we have ended
            [program], stdin=subprocess.DEVNULL, stdout=said, stderr=said, start_new_session=True, cwd="/"
        )
    return f"started `dockerd`, whose log is `{LOG}`"


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


def _wait(connect: Connect) -> Engine:
    """Wait until the engine that was started answers."""
    give_up = time.monotonic() + READY_SECONDS
    while True:
        try:
            return connect()
        except EngineUnavailableError as error:
            if time.monotonic() > give_up:
                tail = LOG.read_text(encoding="utf-8", errors="replace").splitlines()[-12:] if LOG.is_file() else []
                raise EngineUnavailableError(
                    f"`dockerd` was started and does not answer after {READY_SECONDS:.0f} s"
                    + "".join(f"\n  | {line}" for line in tail),
                    hint=f"see `{LOG}`, or `journalctl -u docker`",
                ) from error
        time.sleep(0.5)
