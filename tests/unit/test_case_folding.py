"""What is said where the case-folding filesystem cannot be had: what failed, what that means, and what to do."""

from __future__ import annotations

import pytest

from paritygate.case_folding import WITHOUT, Failure, explain, failure_in

DEFAULT = ("name=seccomp,profile=default",)
APPARMOR = ("name=apparmor", *DEFAULT)


@pytest.mark.parametrize(
    ("said", "step", "error"),
    [
        (
            "the daemon: ENOENT device: /dev/fuse; the kernel: mount tmpfs on /s -o x: EINVAL (Invalid argument)",
            "device",
            "ENOENT",
        ),
        ("the daemon: EPERM mount: /parity; the kernel: mount tmpfs on /s: EPERM (Operation not permitted)", "mount", "EPERM"),
        ("the daemon: ENOENT mount point: /parity", "mount point", "ENOENT"),
        ("the daemon /opt/paritygate/casefs: ENOENT (No such file or directory)", "program", "ENOENT"),
        ("the daemon: it may not see who renames (CAP_SYS_PTRACE, or Yama's ptrace_scope = 3)", "case rename", "EPERM"),
        ("the daemon: it was not ready within 5 s", "ready", "ETIMEDOUT"),
        ("mount tmpfs on /s -o mode=0700,size=9: EACCES (Permission denied); the kernel: mount tmpfs: EACCES", "tmpfs", "EACCES"),
        (
            'error gathering device information while adding custom device "/dev/fuse": no such file or directory',
            "device",
            "ENOENT",
        ),
        ("Error: stat /dev/fuse: no such file or directory", "device", "ENOENT"),
        ("open /dev/fuse: permission denied", "device", "EPERM"),
        ("the engine has gone", "", ""),
    ],
)
def test_what_failed_is_found_in_the_words_of_a_cell_or_an_engine(said: str, step: str, error: str) -> None:
    assert failure_in(said) == Failure(step, error)


@pytest.mark.parametrize(
    ("step", "error", "security", "what", "now"),
    [
        ("device", "ENOENT", DEFAULT, "`/dev/fuse` is not there on the engine's computer", "`modprobe fuse`"),
        ("device", "ENXIO", APPARMOR, "`/dev/fuse` is not there", "`modprobe fuse`"),
        ("mount", "ENODEV", DEFAULT, "the kernel has no FUSE", "`modprobe fuse`"),
        ("device", "EPERM", DEFAULT, "`/dev/fuse` may not be opened", "SELinux, a rule for devices"),
        ("mount", "EACCES", APPARMOR, "AppArmor forbids it", "`apparmor=unconfined`"),
        ("tmpfs", "EACCES", APPARMOR, "AppArmor forbids it", "`apparmor=unconfined`"),
        ("mount", "EACCES", ("name=selinux", *DEFAULT), "SELinux forbids it", "`ausearch"),
        ("mount", "EPERM", ("name=userns", *DEFAULT), "`userns-remap`", "Linux 4.18"),
        ("mount", "EPERM", ("name=seccomp,profile=/etc/own.json",), "seccomp profile `/etc/own.json`", "`mount` and `umount2`"),
        ("mount", "EPERM", ("name=seccomp,profile=builtin",), "nothing may be mounted", "SYS_ADMIN"),
        ("mount", "EPERM", APPARMOR, "nothing may be mounted in containers of this engine (EPERM)", "SYS_ADMIN"),
        ("tmpfs", "EPERM", (), "nothing may be mounted", "SYS_ADMIN"),
        ("case rename", "EPERM", DEFAULT, "may not see who renames", "`kernel.yama.ptrace_scope`"),
        ("program", "ENOEXEC", DEFAULT, "cannot be run (ENOEXEC)", "`paritygate images build`"),
        ("ready", "ETIMEDOUT", DEFAULT, "(step `ready`, ETIMEDOUT)", ""),
        ("", "", DEFAULT, "nobody here knows", ""),
    ],
)
def test_a_failure_is_explained_by_what_the_engine_is(
    step: str, error: str, security: tuple[str, ...], what: str, now: str
) -> None:
    found = explain(Failure(step, error), rootless=False, security=security)
    assert what in found.what
    assert now in found.now
    assert found.hint.endswith(WITHOUT)


@pytest.mark.parametrize(
    ("step", "what", "now"),
    [
        ("mount", "which runs without root", "an engine that runs as root"),
        ("tmpfs", "which runs without root", "an engine that runs as root"),
        ("device", "which runs without root", "let your user read and write `/dev/fuse`"),
    ],
)
def test_an_engine_without_root_has_reasons_of_its_own(step: str, what: str, now: str) -> None:
    found = explain(Failure(step, "EPERM"), rootless=True, security=("name=rootless", *APPARMOR))
    assert what in found.what
    assert now in found.now


def test_what_nobody_can_explain_can_still_be_done_without() -> None:
    assert explain(Failure(), rootless=False, security=()).hint == f"to do without, {WITHOUT}"
