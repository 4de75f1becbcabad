"""The case-folding filesystem's daemon, compiled for this computer and kept."""

from __future__ import annotations

import hashlib
import os
import platform
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path

from paritygate.errors import RunnerError
from paritygate.images import resources

PATIENCE_SECONDS = 120.0


def cache_of(variables: Mapping[str, str]) -> Path:
    """Say where the user keeps what can be made anew."""
    given = variables.get("XDG_CACHE_HOME", "")
    return (Path(given) if given.startswith("/") else Path.home() / ".cache") / "paritygate"


def program(variables: Mapping[str, str]) -> Path:
    """Find the daemon, or compile it; raises `RunnerError` where that cannot be."""
    sources = resources.sources("casefs")
    digest = hashlib.sha256(platform.machine().encode())
    for name, content in sorted(sources.items()):
        digest.update(name.encode() + b"\0" + content)
    kept = cache_of(variables) / f"casefs-{digest.hexdigest()[:16]}"
    if kept.is_file():
        return kept
    missing = [name for name in ("make", "pkg-config", "cc") if shutil.which(name) is None]
    if missing:
        raise RunnerError(f"the daemon that folds case cannot be built without {', '.join(f'`{name}`' for name in missing)}")
    with tempfile.TemporaryDirectory(prefix="paritygate-casefs-") as folder:
        for name, content in sources.items():
            Path(folder, name).write_bytes(content)
        command = ("make", "--silent", "-C", folder, f"OUT={folder}")
        variables = {name: variables[name] for name in ("PATH", "TMPDIR") if name in variables}
        try:
            subprocess.run(  # noqa: S603 - our own sources
                command, env=variables, capture_output=True, stdin=subprocess.DEVNULL, timeout=PATIENCE_SECONDS, check=True
            )
            kept.parent.mkdir(parents=True, exist_ok=True)
            made = kept.with_name(f"{kept.name}.{os.getpid()}")
            shutil.copy2(Path(folder, "casefs"), made)
            made.replace(kept)
        except (OSError, subprocess.SubprocessError) as error:
            what = (
                "the daemon that folds case cannot be built: it takes a C compiler and the headers of libfuse 3 (`libfuse3-dev`)"
            )
            raise RunnerError(what) from error
    return kept
