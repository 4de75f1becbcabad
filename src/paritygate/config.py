"""The configuration: what a project may set, with every default."""

from __future__ import annotations

from typing import Literal

import msgspec

from paritygate.outcomes.words import OrderRule, Worktree


class ImageSettings(msgspec.Struct, frozen=True, kw_only=True, rename="kebab"):
    """`[tool.paritygate.image]`: from what the images are made, where that is not found out."""

    base: str = ""
    python: str = ""
    system_packages: tuple[str, ...] = ()
    install: tuple[str, ...] = ()
    extra_ca_certs: str = ""


class EnvironmentSettings(msgspec.Struct, frozen=True, kw_only=True):
    """`[tool.paritygate.environments.NAME]`: a value for each axis."""

    timezone: str = "UTC"
    locale: str = "C.UTF-8"
    case_sensitive: bool | Literal["any"] = True
    workers: int | Literal["auto"] = 0
    worktree: Worktree = Worktree.CLEAN
    cpus: float = 0.0
    memory: str = ""
    umask: str = "022"
    variables: dict[str, str] = {}


LOCAL_LIKE = EnvironmentSettings(timezone="auto", locale="en_US.UTF-8", case_sensitive=False, workers=0, worktree=Worktree.DIRTY)
SERVER_LIKE = EnvironmentSettings(timezone="UTC", locale="C.UTF-8", case_sensitive=True, workers="auto", worktree=Worktree.CLEAN)


def default_environments() -> dict[str, EnvironmentSettings]:
    """Make the pair that a project has without saying anything."""
    return {"local-like": LOCAL_LIKE, "server-like": SERVER_LIKE}


class Settings(msgspec.Struct, frozen=True, kw_only=True, rename="kebab"):
    """`[tool.paritygate]`. Seconds for every timeout; `memory` and `shared-memory` as `512m` or `2g`.

    `seeds` gives the first attempts' seeds; further ones follow from the last. `include` names secret-like files that are
    sent all the same.
    """

    selection: tuple[str, ...] = ()
    attempts: int = 2
    seeds: tuple[int, ...] = ()
    order: OrderRule = OrderRule.REVERSED
    report: str = "parity_report.json"
    network: bool = False
    include: tuple[str, ...] = ()
    cell_timeout: float = 1800.0
    test_timeout: float = 300.0
    idle_timeout: float = 600.0
    processes: int = 512
    memory: str = ""
    shared_memory: str = "1g"
    open_files: int = 65536
    image: ImageSettings = ImageSettings()
    environments: dict[str, EnvironmentSettings] = msgspec.field(default_factory=default_environments)
