"""New files have the modes that the umask leaves."""

import stat


def mode(path):
    path.write_text("")
    return stat.S_IMODE(path.stat().st_mode)


def test_control(tmp_path):
    assert mode(tmp_path / "a") & 0o600 == 0o600


def test_others_may_read(tmp_path):
    assert mode(tmp_path / "a") & 0o004


def test_the_group_may_read(tmp_path):
    assert mode(tmp_path / "a") & 0o040


def test_the_group_may_not_write(tmp_path):
    assert not mode(tmp_path / "a") & 0o020


def test_nobody_else_may_write(tmp_path):
    assert not mode(tmp_path / "a") & 0o002


def test_others_may_write_what_the_group_may(tmp_path):
    assert bool(mode(tmp_path / "a") & 0o002) == bool(mode(tmp_path / "a") & 0o020)


def test_others_may_read_what_the_group_may(tmp_path):
    assert bool(mode(tmp_path / "a") & 0o004) == bool(mode(tmp_path / "a") & 0o040)
