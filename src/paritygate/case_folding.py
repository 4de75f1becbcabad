"""Why a filesystem of paritygate's own cannot be had in a container, and what to do about it.

It finds nothing out: what failed is in a cell's own words (`guest/filesystem/`) or in the engine's, and what the engine is
allowed to do is handed in.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec

WITHOUT = (
    'set `case_sensitive = "any"` and no `directory_order` in every environment, or run with `--without-axis case_sensitive`'
)
_DENIED = frozenset({"EPERM", "EACCES"})
_ABSENT = frozenset({"ENOENT", "ENODEV", "ENXIO"})
_MOUNTING = frozenset({"mount", "tmpfs"})
_PLACES = (
    (re.compile(r"the daemon: (?P<error>E[A-Z0-9]+) (?P<step>[a-z ]+)"), ""),
    (re.compile(r"the daemon /\S+: (?P<error>E[A-Z0-9]+)"), "program"),
    (re.compile(r"mount tmpfs on [^;]*?: (?P<error>E[A-Z0-9]+)"), "tmpfs"),
)
_KNOWN = (
    (re.compile(r"may not see who renames"), "case rename", "EPERM"),
    (re.compile(r"(?i)/dev/fuse.*no such (file|device)"), "device", "ENOENT"),
    (re.compile(r"(?i)/dev/fuse.*(not permitted|denied)"), "device", "EPERM"),
    (re.compile(r"was not ready within"), "ready", "ETIMEDOUT"),
)


class Failure(msgspec.Struct, frozen=True):
    """The step that failed (such as `device`, `mount`, `program`) and its error's name; both empty where nothing is known."""

    step: str = ""
    error: str = ""


class Advice(msgspec.Struct, frozen=True):
    """What is in the way, and what to do now."""

    what: str
    now: str

    @property
    def hint(self) -> str:
        """Say what to do, and how to do without."""
        return f"{self.now}; to do without, {WITHOUT}" if self.now else f"to do without, {WITHOUT}"


def failure_in(said: str) -> Failure:
    """Find what failed in what a cell or the engine said: of several ways, the first, which would have been the best."""
    found: list[tuple[int, Failure]] = []
    for pattern, step in _PLACES:
        if match := pattern.search(said):
            found.append((match.start(), Failure(step or match["step"].strip(), match["error"])))
    for pattern, step, error in _KNOWN:
        if match := pattern.search(said):
            found.append((match.start(), Failure(step, error)))
    return min(found, key=lambda each: each[0])[1] if found else Failure()


def explain(failure: Failure, *, rootless: bool, security: Sequence[str]) -> Advice:
    """Say what a failure means on an engine; `security` are the options that it says it runs with.

    | step | error | what is in the way |
    |---|---|---|
    | `device` | absent | the kernel has no FUSE loaded |
    | `device` | denied | the device's mode on a rootless engine, or a rule of the host |
    | `mount`, `tmpfs` | denied | user namespaces, AppArmor, SELinux, a seccomp profile, or the engine itself: the first it has |
    | `mount` | absent | the kernel has no FUSE |
    | `case rename` | - | Yama, or a capability that was withheld |
    | `program` | - | the image |
    | anything else | - | said as it is |
    """
    step, error = failure.step, failure.error
    if step in {"device", "mount"} and error in _ABSENT:
        missing = "`/dev/fuse` is not there" if step == "device" else "the kernel has no FUSE"
        return Advice(f"{missing} on the engine's computer", "run `modprobe fuse` there, as root")
    if step == "device" and error in _DENIED:
        return _device_denied(rootless=rootless)
    if step in _MOUNTING and error in _DENIED:
        return _mount_denied(error, rootless=rootless, security=security)
    if step == "case rename":
        return Advice(
            "the daemon may not see who renames a file, so that a rename which changes case alone would do nothing",
            "let containers have SYS_PTRACE, and set `kernel.yama.ptrace_scope` below 3 on the engine's computer",
        )
    if step == "program":
        what = f"the image's daemon cannot be run ({error})"
        return Advice(what, "make the images anew: `paritygate images prune`, then `paritygate images build`")
    where = f"step `{step}`, {error}" if step else "for a reason that nobody here knows"
    return Advice(f"the filesystem could not be made ({where})", "")


def _device_denied(*, rootless: bool) -> Advice:
    what = "`/dev/fuse` may not be opened in containers of this engine"
    if rootless:
        return Advice(f"{what}, which runs without root", "let your user read and write `/dev/fuse` on the engine's computer")
    return Advice(what, "see what forbids it there: SELinux, a rule for devices, or a plugin of the engine")


def _mount_denied(error: str, *, rootless: bool, security: Sequence[str]) -> Advice:
    what = f"nothing may be mounted in containers of this engine ({error})"
    names = {part.partition("=")[2]: option for option in security for part in option.split(",") if part.startswith("name=")}
    seccomp = re.search(r"profile=([^,]+)", names.get("seccomp", ""))
    if rootless or "userns" in names:
        why = "which runs without root" if rootless else "whose root is another user (`userns-remap`)"
        return Advice(f"{what}, {why}", "use an engine that runs as root, or Linux 4.18 or later, which lets users mount FUSE")
    if "apparmor" in names and error == "EACCES":
        now = "let containers run with `apparmor=unconfined`, which was asked for: a plugin or a policy of the host takes it back"
        return Advice(f"{what}: AppArmor forbids it", now)
    if "selinux" in names and error == "EACCES":
        return Advice(
            f"{what}: SELinux forbids it", "allow it in the host's policy: `ausearch -m avc -ts recent` shows what to allow"
        )
    if seccomp and seccomp[1] not in {"default", "builtin", "unconfined"}:
        now = "let it allow `mount` and `umount2` to who has SYS_ADMIN, as the default profile does"
        return Advice(f"{what}: its seccomp profile `{seccomp[1]}` forbids it", now)
    return Advice(what, "use an engine that lets a container have the capability SYS_ADMIN")
