"""Installs, inside an image that is being made, what a plan says; then removes every trace of how it got it.

Run by the virtual environment's own interpreter, CPython 3.8 or later, with the standard library and pip alone. The first
argument says what: `dependencies` (network, indexes and certificates are given by the surroundings) or `project` (the tree is
there, and the plan says in which way it is installed). Exit codes: 0 done, 1 failed, 78 the interpreter is not one the project
runs on. Of `dependencies` the last line is the interpreter's version in both cases. A line that begins with `paritygate: ` says
for people why it failed, one after it that begins with `hint: ` what to do.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any, NoReturn

try:
    from pip._vendor.packaging.specifiers import SpecifierSet
    from pip._vendor.packaging.version import Version
except ImportError:  # the first that needs them calls `require_pip`, which says so
    SpecifierSet = Version = None

HOME = Path("/opt/paritygate")
STAGE = Path("/tmp/paritygate")
MANIFESTS = STAGE / "manifests"
WHEELS = HOME / "build-wheels"
FROZEN = STAGE / "frozen.txt"
OLDER_SETUPTOOLS = STAGE / "older-setuptools.txt"
SYSTEM_BUNDLE = Path("/etc/ssl/certs/ca-certificates.crt")
BUNDLE_VARIABLES = ("PIP_CERT", "SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "GIT_SSL_CAINFO")
SEEDS = ("pip", "setuptools", "wheel")
TOOLS = ("pytest", "pytest-randomly", "pytest-xdist")
WRONG_PYTHON = 78
RUNNING = ".".join(map(str, sys.version_info[:3]))


class FailedError(Exception):
    """A command failed; `output` is what it said."""

    def __init__(self, output: str) -> None:
        super().__init__("failed")
        self.output = output


def say(text: str) -> None:
    """Say a line at once: the host reads along."""
    print(text, flush=True)


def run(command: list[str], directory: Path = STAGE, environment: dict[str, str] | None = None) -> str:
    """Run a command, pass on what it says, and give it back; raises `FailedError`."""
    say("$ " + " ".join(command))
    process = subprocess.Popen(
        command,
        cwd=str(directory),
        env={**os.environ, **(environment or {})},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    lines = []
    for raw in process.stdout or ():
        line = raw.decode("utf-8", "replace").rstrip("\n")
        lines.append(line)
        say(line)
    if process.wait():
        raise FailedError("\n".join(lines))
    return "\n".join(lines)


def pip(*arguments: str, directory: Path = STAGE, environment: dict[str, str] | None = None) -> str:
    """Run the environment's pip."""
    return run([sys.executable, "-m", "pip", *arguments], directory, environment)


def pip_install(*arguments: str, directory: Path = STAGE) -> None:
    """Install; where a source distribution does not build with today's setuptools, once more with an older one."""
    try:
        pip("install", *arguments, directory=directory)
    except FailedError as error:
        if not re.search(r"pkg_resources|setuptools|use_2to3|distutils|metadata-generation-failed", error.output):
            raise
        say("trying once more with a setuptools that still has pkg_resources")
        pip("install", *arguments, directory=directory, environment=with_older_setuptools())


def with_older_setuptools() -> dict[str, str]:
    """Give the variables that keep builds from using a setuptools without pkg_resources."""
    OLDER_SETUPTOOLS.write_text("setuptools<81\n")
    return {"PIP_CONSTRAINT": str(OLDER_SETUPTOOLS), "PIP_BUILD_CONSTRAINT": str(OLDER_SETUPTOOLS)}


def check_python(plan: dict[str, Any]) -> None:
    """End with `WRONG_PYTHON` where this interpreter is not what the project or the configuration asks for."""
    asked = plan["python"]
    exact = not asked or (RUNNING + ".").startswith(asked.rstrip(".*") + ".")
    if not exact or RUNNING not in SpecifierSet(plan["requires_python"]):
        say(RUNNING)
        sys.exit(WRONG_PYTHON)


def trust(certificates: Path) -> None:
    """Trust what the system trusts and the certificates that were handed in, for as long as this lasts."""
    if not certificates.exists():
        return
    bundle = STAGE / "bundle.pem"
    parts = [path.read_bytes() for path in (SYSTEM_BUNDLE, certificates) if path.exists()]
    bundle.write_bytes(b"\n".join(parts))
    os.environ.update({name: str(bundle) for name in BUNDLE_VARIABLES})


def take(step: dict[str, Any]) -> None:
    """Take one step; the table of kinds is beside `Step` in the package."""
    directory = MANIFESTS / step["directory"]
    directory.mkdir(parents=True, exist_ok=True)
    kind, arguments, names = step["kind"], step["arguments"], step["names"]
    if kind == "pip":
        pip_install(*arguments, directory=directory)
    elif kind == "shell":
        run(["sh", "-e", "-c", arguments[0]], directory)
    elif kind == "uv":
        uv(directory, arguments, names)
    elif kind == "metadata":
        ask_metadata(directory, Path(arguments[0]), names)
    else:
        raise ValueError(kind)


def uv(directory: Path, selection: list[str], names: list[str]) -> None:
    """Install from `uv.lock`; where its addresses cannot be reached, export it and let pip find the same versions."""
    tools = STAGE / "tools"
    pip("install", "--target", str(tools), "uv", directory=STAGE)
    program = str(tools / "bin" / "uv")
    environment = {
        "UV_PROJECT_ENVIRONMENT": sys.prefix,
        "UV_PYTHON": sys.executable,
        "UV_PYTHON_DOWNLOADS": "never",
        "UV_NO_CACHE": "1",
        "UV_LINK_MODE": "copy",
    }
    without = [argument for name in names for argument in ("--no-install-package", name)]
    try:
        run([program, "sync", "--frozen", "--inexact", *selection, *without], directory, environment)
    except FailedError:
        say("uv could not install it; exporting the lock for pip")
        left_out = [argument for name in names for argument in ("--no-emit-package", name)]
        exported = str(STAGE / "exported.txt")
        run([program, "export", "--frozen", "--no-hashes", "-q", "-o", exported, *selection, *left_out], directory, environment)
        pip_install("--no-deps", "-r", exported, directory=directory)


def ask_metadata(directory: Path, target: Path, names: list[str]) -> None:
    """Ask the project's own build for what it requires, and write that down as requirements."""
    report = STAGE / "report.json"
    command = ["install", "--dry-run", "--no-deps", "--ignore-installed", "--report", str(report), "."]
    version = "0.0.0"
    pretend = {"SETUPTOOLS_SCM_PRETEND_VERSION": version, "PBR_VERSION": version, "PDM_BUILD_SCM_VERSION": version}
    try:
        pip(*command, directory=directory, environment={**pretend, **with_older_setuptools()})
    except FailedError:
        pip(*command, directory=directory, environment=pretend)
    metadata = json.loads(report.read_text())["install"][0]["metadata"]
    lines = requirements(metadata, choose(metadata.get("provides_extra", []), metadata.get("requires_dist", []), names))
    (directory / target).parent.mkdir(parents=True, exist_ok=True)
    (directory / target).write_text("".join(line + "\n" for line in lines))
    say("required:\n" + "\n".join("  " + line for line in lines))


def choose(extras: list[str], requires: list[str], names: list[str]) -> list[str]:
    """Choose extras: those of the first names, and those of the second where the first bring no pytest."""
    split = names.index("|")
    first = [extra for extra in extras if extra.lower().replace("_", "-") in names[:split]]
    if any(re.match(r"pytest", line) and of_extra(line) in first for line in requires):
        return first
    return first + [extra for extra in extras if extra.lower().replace("_", "-") in names[split + 1 :]]


def of_extra(line: str) -> str:
    """Say the extra that a requirement belongs to, empty for none."""
    found = re.search(r"extra\s*==\s*['\"]([^'\"]+)['\"]", line)
    return found.group(1) if found else ""


def requirements(metadata: dict[str, Any], extras: list[str]) -> list[str]:
    """Take the lines of no extra and of those chosen, without the part of the marker that names the extra."""
    lines = []
    for line in metadata.get("requires_dist", []):
        extra = of_extra(line)
        if extra and extra not in extras:
            continue
        bare = re.sub(r"\s+and\s+extra\s*==\s*['\"][^'\"]+['\"]", "", line)
        bare = re.sub(r";\s*extra\s*==\s*['\"][^'\"]+['\"]\s*$", "", bare)
        own = re.match(r"([A-Za-z0-9._-]+)\s*\[", bare)
        if not (own and own.group(1).lower().replace("_", "-") == metadata["name"].lower().replace("_", "-")):
            lines.append(bare.strip())
    return lines


def require_pip() -> None:
    """End where the environment has lost its pip, as by an `uv sync` of the project's own."""
    if not any((Path(place) / "pip" / "__init__.py").exists() for place in sys.path):
        say("paritygate: the environment has no pip, so neither pytest nor the project can be added to it")
        say("hint: let `install` under `[tool.paritygate.image]` leave pip where it is, as `uv sync --inexact` does")
        sys.exit(1)


def freeze() -> dict[str, str]:
    """Hold what is installed to its version from now on, but for what builds are made with; give it by name."""
    listed = pip("list", "--format", "json", "--disable-pip-version-check").splitlines()
    installed = json.loads(next(line for line in listed if line.startswith("[")))
    names = {entry["name"].lower().replace("_", "-"): entry["version"] for entry in installed}
    FROZEN.write_text("".join(f"{name}==={version}\n" for name, version in sorted(names.items()) if name not in SEEDS))
    return names


def add_tools() -> None:
    """Add what cells need where the project does not bring it, leaving every version that is there as it is."""
    names = freeze()
    missing = [tool for tool in TOOLS if tool not in names]
    if not missing:
        return
    try:
        pip("install", "-c", str(FROZEN), *missing)
    except FailedError:
        say(f"paritygate: {', '.join(missing)} cannot be added beside what the project pins")
        raise


def build_wheels(requires: list[str]) -> None:
    """Keep the build requirements as wheels, so that the project installs later without a network."""
    WHEELS.mkdir(exist_ok=True)
    if not requires:
        return
    command = ["wheel", "--wheel-dir", str(WHEELS), *requires]
    try:
        pip(*command, environment=with_older_setuptools())
    except FailedError:
        pip(*command)


def check_pytest() -> None:
    """See that what cells need can be imported, and that pytest is not too old for the recorder."""
    command = "from importlib import metadata; print('pytest', metadata.version('pytest')); import pytest, xdist, pytest_randomly"
    version = run([sys.executable, "-c", command]).split("pytest ")[-1].split()[0]
    if Version(version) < Version("7"):
        say(f"paritygate: the project pins pytest {version}; cells need pytest 7 or later")
        sys.exit(1)


def dependencies(plan: dict[str, Any]) -> None:
    """Install everything but the project."""
    require_pip()
    check_python(plan)
    trust(STAGE / "certificates.pem")
    pip_version = run([sys.executable, "-m", "pip", "--version"]).split()[1]
    if Version(pip_version) < Version("22.2"):
        pip("install", "--upgrade", "pip")
    for step in plan["steps"]:
        take(step)
    require_pip()
    add_tools()
    build_wheels(plan["build_requires"])
    check_pytest()
    say(RUNNING)


def project(plan: dict[str, Any]) -> None:
    """Install the project in the way that the plan says; the table of ways is beside `Way` in the package."""
    trust(STAGE / "certificates.pem")
    way = plan["way"]
    members = [(Path("/parity/workspace") / directory, name) for directory, name in zip(plan["members"], plan["distributions"])]
    if way == "command":
        run(
            ["sh", "-e", "-c", plan["command"]],
            Path("/parity/workspace") / plan["directory"],
            pretended(plan["version"], plan["name"]),
        )
        return
    if way == "in-place":
        put_on_path([path for path, _ in members])
        return
    require_pip()
    arguments, environment = with_build_tools(plan["build_requires"]) if way == "unisolated" else ([], {})
    if way == "offline":
        arguments = ["--no-index"]
    for path, name in members:
        install_editable(path, arguments, {**environment, **pretended(plan["version"], name)})


def install_editable(path: Path, arguments: list[str], environment: dict[str, str]) -> None:
    """Install a member editable, without dependencies; a tree that lacks it is run from where it lies."""
    if not (path / "pyproject.toml").exists() and not (path / "setup.py").exists():
        say(f"`{path}` is not installable in this tree: run from where it lies")
        return
    modern = [] if (path / "pyproject.toml").exists() else ["--use-pep517"]
    common = ["install", "--no-deps", "--find-links", str(WHEELS), "--no-warn-script-location"]
    pip(*common, *arguments, *modern, "-e", str(path), directory=path, environment=environment)


def with_build_tools(requires: list[str]) -> tuple[list[str], dict[str, str]]:
    """Let builds see what is installed: give pip's options, and the variables that add what builds require.

    That lies in a folder of its own, so that nothing of the project's is changed, in the versions that it has already.
    """
    tools = STAGE / "build-tools"
    freeze()
    command = ["install", "--target", str(tools), "--find-links", str(WHEELS)]
    for attempt in (["--no-index", "-c", str(FROZEN)], ["-c", str(FROZEN)], []) if requires else ():
        try:
            pip(*command, *attempt, *requires)
            break
        except FailedError:
            shutil.rmtree(str(tools), ignore_errors=True)
    path = os.pathsep.join((str(tools / "bin"), os.environ.get("PATH", "")))
    return ["--no-build-isolation"], {"PYTHONPATH": str(tools), "PATH": path}


def put_on_path(roots: list[Path]) -> None:
    """Let the interpreter import from where the members lie, and from their `src` folders."""
    places = [place for root in roots for place in (root / "src", root) if place.is_dir()]
    (Path(sysconfig.get_path("purelib")) / "paritygate-project.pth").write_text("".join(f"{place}\n" for place in places))
    say("run from: " + ", ".join(map(str, places)))


def pretended(version: str, name: str) -> dict[str, str]:
    """Say the version to every tool that would ask git for it."""
    if not version:
        return {}
    own = "SETUPTOOLS_SCM_PRETEND_VERSION_FOR_" + re.sub(r"[^A-Z0-9]+", "_", name.upper())
    names = ("SETUPTOOLS_SCM_PRETEND_VERSION", "PBR_VERSION", "PDM_BUILD_SCM_VERSION", "UV_DYNAMIC_VERSIONING_BYPASS")
    return {own: version, "POETRY_DYNAMIC_VERSIONING_BYPASS": version, **dict.fromkeys(names, version)}


def clean() -> None:
    """Remove what was handed in and what tools kept of it."""
    home = Path.home()
    kept = [home / name for name in (".cache/pip", ".cache/uv", ".cache/pypoetry", ".config/pip", ".netrc")]
    for path in [STAGE, *kept, *Path("/tmp").iterdir()]:
        if path.is_symlink() or path.is_file():
            if path.lstat().st_uid == os.getuid():
                path.unlink()
        elif path.is_dir() and path.stat().st_uid == os.getuid():
            shutil.rmtree(str(path), ignore_errors=True)


def main() -> NoReturn:
    """Do what the first argument says, and clean up whatever came of it."""
    plan = json.loads((STAGE / "plan.json").read_text())
    try:
        {"dependencies": dependencies, "project": project}[sys.argv[1]](plan)
    except FailedError:
        sys.exit(1)
    finally:
        clean()
    sys.exit(0)


if __name__ == "__main__":
    main()
