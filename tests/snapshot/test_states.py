"""What `dirty` and `clean` hold."""

from __future__ import annotations

import os
import shutil
import socket
from pathlib import Path

import pytest

from paritygate.errors import SnapshotError
from paritygate.outcomes.trees import Entry, Tree
from paritygate.snapshot import names
from tests.snapshot.conftest import Make, Project, files


def entry(tree: Tree, path: str) -> Entry:
    return next(found for found in tree.entries if found.path == path)


def test_a_fresh_clone_is_the_same_tree_in_both_states(project: Project) -> None:
    project.write("package/__init__.py")
    project.commit()

    dirty, clean = project.trees()

    assert [found.path for found in clean.entries] == ["package", "package/__init__.py", "test_a.py"]
    assert dirty.entries == clean.entries
    assert dirty.digest == clean.digest
    assert clean.status == {}


def test_untracked_and_ignored_files_are_in_dirty_alone_and_named_as_what_they_are(project: Project) -> None:
    project.write(".gitignore", "local/\n*.dat\n")
    project.commit()
    project.write("new.py")
    project.write("local/settings.ini")
    project.write("big.dat")

    dirty, clean = project.trees()

    assert files(dirty) == [".gitignore", "big.dat", "local/settings.ini", "new.py", "test_a.py"]
    assert files(clean) == [".gitignore", "test_a.py"]
    assert dirty.status == {"big.dat": "ignored", "local/settings.ini": "ignored", "new.py": "untracked"}
    assert dirty.digest != clean.digest


def test_clean_holds_staged_and_unstaged_changes(project: Project) -> None:
    project.write("b.py", "1\n")
    project.commit()
    project.write("test_a.py", "changed\n")
    project.write("b.py", "22\n")
    project.write("c.py", "new\n")
    project.git("add", "b.py", "c.py")

    dirty, clean = project.trees()

    assert files(clean) == ["b.py", "c.py", "test_a.py"]
    assert clean.digest == dirty.digest
    assert clean.status == {"b.py": "modified", "c.py": "modified", "test_a.py": "modified"}
    assert entry(clean, "test_a.py").size == 8


def test_a_file_that_was_only_staged_and_then_deleted_is_in_neither_state(project: Project) -> None:
    project.write("b.py")
    project.git("add", "b.py")
    (project.path / "b.py").unlink()
    (project.path / "test_a.py").unlink()

    dirty, clean = project.trees()

    assert files(dirty) == files(clean) == []


def test_a_file_meant_to_be_added_is_in_clean(project: Project) -> None:
    project.write("b.py", "content\n")
    project.git("add", "--intent-to-add", "b.py")

    _, clean = project.trees()

    assert files(clean) == ["b.py", "test_a.py"]
    assert entry(clean, "b.py").size == 8


def test_a_conflict_is_taken_as_the_working_tree_has_it(project: Project) -> None:
    project.git("checkout", "--quiet", "-b", "other")
    project.write("test_a.py", "theirs\n")
    project.commit()
    project.git("checkout", "--quiet", "main")
    project.write("test_a.py", "ours\n")
    project.commit()
    with pytest.raises(Exception, match="returned non-zero"):
        project.git("merge", "other")

    dirty, clean = project.trees()

    assert dirty.digest == clean.digest
    assert entry(clean, "test_a.py").size == len((project.path / "test_a.py").read_bytes())


def test_a_name_changed_in_case_on_disk_alone_keeps_its_tracked_name_in_clean(project: Project) -> None:
    project.write("pkg/models.py", "x = 1\n")
    project.commit()
    project.git("config", "core.ignorecase", "true")
    (project.path / "pkg/models.py").rename(project.path / "pkg/Models.py")
    project.write("pkg/Models.py", "x = 22\n")

    dirty, clean = project.trees()

    assert files(dirty) == ["pkg/Models.py", "test_a.py"]
    assert files(clean) == ["pkg/models.py", "test_a.py"]
    assert entry(clean, "pkg/models.py").size == 7
    assert [(found.tracked, found.on_disk, found.why) for found in clean.mismatches] == [
        ("pkg/models.py", "pkg/Models.py", "case")
    ]
    assert dirty.status == {"pkg/Models.py": "renamed"}
    assert clean.status == {"pkg/models.py": "renamed"}


def test_a_name_in_another_unicode_form_is_a_mismatch(project: Project) -> None:
    project.write("caf\u00e9.txt", "x")
    project.commit()
    (project.path / "caf\u00e9.txt").rename(project.path / "cafe\u0301.txt")

    dirty, clean = project.trees()

    assert files(dirty) == ["cafe\u0301.txt", "test_a.py"]
    assert files(clean) == ["caf\u00e9.txt", "test_a.py"]
    assert [found.why for found in dirty.mismatches] == ["unicode form"]


def test_two_tracked_names_that_fold_to_one_are_a_collision(project: Project) -> None:
    project.write("Lib/a.py")
    project.write("lib/b.py")
    project.write("README")
    project.write("readme")
    project.commit()

    _, clean = project.trees()

    assert [(found.tracked, found.on_disk, found.why) for found in clean.mismatches] == [
        ("lib", "Lib", "collision"),
        ("readme", "README", "collision"),
    ]
    assert files(clean) == ["Lib/a.py", "README", "lib/b.py", "readme", "test_a.py"]


@pytest.mark.parametrize(
    ("paths", "shadowed"),
    [
        (("README", "docs/a", "docs/b"), ()),
        (("README", "readme", "ReadMe"), ("ReadMe", "readme")),
        (("Lib", "Lib/a.py", "lib", "lib/b.py", "lib/c.py"), ("lib",)),
        (("caf\u00e9", "cafe\u0301", "CAF\u00c9"), ("cafe\u0301", "caf\u00e9")),
        (("stra\u00dfe", "STRASSE"), ("stra\u00dfe",)),
        (("i", "\u0131", "I\u0307"), ()),
    ],
)
def test_of_names_that_are_one_where_case_does_not_count_the_first_has_the_place(
    paths: tuple[str, ...], shadowed: tuple[str, ...]
) -> None:
    assert names.shadowed(paths) == shadowed


def test_a_checkout_with_carriage_returns_is_clean_with_line_feeds(project: Project) -> None:
    project.write("data.txt", "a\nb\n")
    project.write("always.bat", "a\nb\n")
    project.write(".gitattributes", "*.bat eol=crlf\n")
    project.commit()
    project.git("config", "core.autocrlf", "true")
    for name in ("data.txt", "always.bat", "test_a.py"):
        (project.path / name).unlink()
    project.git("checkout", "--quiet", "--", ".")
    project.write("test_a.py", "def test_a():\r\n    assert 1\r\n")

    dirty, clean = project.trees()

    assert entry(dirty, "data.txt").size == 6
    assert entry(clean, "data.txt").size == 4
    assert entry(clean, "data.txt").source.startswith("git:")
    assert entry(clean, "always.bat").size == 6
    assert entry(dirty, "test_a.py").size == 29
    assert entry(clean, "test_a.py").size == 27


def test_a_file_committed_with_carriage_returns_keeps_them(project: Project) -> None:
    project.write("dos.txt", "a\r\nb\r\n")
    project.commit()
    project.write("dos.txt", "a\r\nb\r\nc\r\n")

    dirty, clean = project.trees()

    assert entry(clean, "dos.txt").size == 9
    assert dirty.digest == clean.digest


def test_what_git_archive_would_leave_out_is_in_clean(project: Project) -> None:
    project.write(".gitattributes", "tests export-ignore\nversion.txt export-subst\n")
    project.write("tests/test_b.py")
    project.write("version.txt", "$Format:%H$\n")
    project.commit()

    dirty, clean = project.trees()

    assert "tests/test_b.py" in files(clean)
    assert dirty.digest == clean.digest


def test_caches_and_environments_are_never_in(project: Project) -> None:
    project.write("venv/pyvenv.cfg")
    project.write("venv/lib/python3.12/site-packages/x.py")
    project.write("conda/conda-meta/history")
    project.write("pkg/__pycache__/a.cpython-312.pyc")
    project.write("pkg/b.pyc")
    project.write("pkg/b.py")
    caches = (".pytest_cache/x", ".mypy_cache/x", ".nox/x", ".tox/x", "node_modules/x", ".hg/x", ".coverage", ".coverage.host.1")
    for name in caches:
        project.write(name)
    project.write("parity_report.json", "{}")
    project.write(".coveragerc")

    dirty, _ = project.trees()

    assert files(dirty) == [".coveragerc", "pkg/b.py", "test_a.py"]
    assert "venv" not in [found.path for found in dirty.entries]


def test_a_tracked_file_is_in_whatever_its_name(project: Project) -> None:
    project.write("node_modules/kept.js")
    project.write("tests/__pycache__/stale.pyc", b"\0")
    project.commit()
    project.write("node_modules/other.js")

    dirty, clean = project.trees()

    assert files(dirty) == files(clean) == ["node_modules/kept.js", "test_a.py", "tests/__pycache__/stale.pyc"]


def test_an_environment_made_in_the_top_itself_leaves_the_project_in(project: Project) -> None:
    project.write("pyvenv.cfg")
    project.write("lib/python3.12/site-packages/x.py")
    project.write("bin/python")
    project.write("local.ini")

    dirty, _ = project.trees()

    assert files(dirty) == ["local.ini", "test_a.py"]


def test_pipes_and_sockets_are_left_out_with_the_reason(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(project.path / "pipe")
    monkeypatch.chdir(project.path)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("sock")

        dirty, clean = project.trees()

    assert dirty.left_out == {"pipe": "a named pipe", "sock": "a socket"}
    assert clean.left_out == {}


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_an_unreadable_file_is_left_out_with_the_reason(project: Project) -> None:
    project.write("closed.txt", "x", mode=0)

    dirty, _ = project.trees()

    assert dirty.left_out == {"closed.txt": "unreadable: Permission denied"}


def test_links_stay_links_wherever_they_lead(project: Project) -> None:
    (project.path / "dangling").symlink_to("nowhere")
    (project.path / "absolute").symlink_to("/etc/hostname")
    (project.path / "folder").mkdir()
    (project.path / "to_folder").symlink_to("folder")
    project.commit()

    dirty, clean = project.trees()

    targets = {found.path: found.target for found in clean.entries if found.kind == "link"}
    assert targets == {"absolute": "/etc/hostname", "dangling": "nowhere", "to_folder": "folder"}
    assert [found.path for found in dirty.entries if found.kind == "link"] == ["absolute", "dangling", "to_folder"]


def test_empty_directories_are_in_dirty_alone(project: Project) -> None:
    (project.path / "empty/inner").mkdir(parents=True)

    dirty, clean = project.trees()

    assert [found.path for found in dirty.entries] == ["empty", "empty/inner", "test_a.py"]
    assert [found.path for found in clean.entries] == ["test_a.py"]


def test_modes_are_those_that_git_knows(project: Project) -> None:
    project.write("run.sh", mode=0o700)
    project.write("odd.txt", mode=0o666)
    project.commit()
    (project.path / "test_a.py").chmod(0o755)
    project.write("tool", mode=0o711)

    dirty, clean = project.trees()

    assert {found.path: oct(found.mode) for found in dirty.entries} == {
        "odd.txt": "0o644",
        "run.sh": "0o755",
        "test_a.py": "0o755",
        "tool": "0o755",
    }
    assert oct(entry(clean, "test_a.py").mode) == "0o755"


def test_names_that_are_not_utf8_survive(project: Project) -> None:
    project.write(b"d\xe9j\xe0.txt", "x")
    project.commit()
    project.write(b"new\xff")

    dirty, clean = project.trees()

    assert [os.fsencode(name) for name in files(clean)] == [b"d\xe9j\xe0.txt", b"test_a.py"]
    assert [os.fsencode(name) for name in files(dirty)] == [b"d\xe9j\xe0.txt", b"new\xff", b"test_a.py"]


def test_without_git_the_tree_is_the_directory_and_both_states_are_equal(directory: Make) -> None:
    plain = directory("plain")
    plain.write("test_a.py")
    plain.write("__pycache__/x.pyc")
    (plain.path / "empty").mkdir()

    dirty, clean = plain.trees()

    assert files(clean) == ["test_a.py"]
    assert dirty.digest == clean.digest
    assert (clean.commit, clean.has_git, clean.directory, clean.status) == ("", False, "", {})


def test_where_git_is_not_installed_the_tree_says_so(project: Project, tmp_path: Path) -> None:
    dirty, clean = project.trees(variables={"PATH": str(tmp_path / "nothing")})

    assert files(dirty) == files(clean) == ["test_a.py"]
    assert clean.notes == ("git is not installed: the tree is the project's directory, and a clean one cannot be told from it",)


def test_a_repository_without_a_commit_can_be_taken(directory: Make) -> None:
    fresh = directory("fresh")
    fresh.git("init", "--quiet")
    fresh.write("test_a.py")
    fresh.write("b.py")
    fresh.git("add", "test_a.py")

    dirty, clean = fresh.trees()

    assert files(dirty) == ["b.py", "test_a.py"]
    assert files(clean) == ["test_a.py"]
    assert clean.notes == ("tests see no `.git`: there is no commit yet",)
    assert clean.tracked


def test_a_repository_in_which_nothing_is_tracked_yet_says_nothing_of_a_fresh_clone(directory: Make) -> None:
    fresh = directory("fresh")
    fresh.git("init", "--quiet")
    fresh.write("test_a.py")
    fresh.write("below/b.py")

    for place in ("", "below"):
        dirty, clean = fresh.trees(place)
        assert files(dirty) == files(clean) == ["below/b.py", "test_a.py"]
        assert dirty.digest == clean.digest
        assert not clean.tracked
        assert "git tracks nothing here yet" in clean.notes[0]


def test_a_directory_that_is_not_there_is_said(project: Project) -> None:
    with pytest.raises(SnapshotError, match="is not a directory"):
        project.trees("gone")


def test_the_digest_changes_with_content_mode_kind_and_name_and_with_nothing_else(project: Project) -> None:
    seen = [project.trees()[1].digest]
    os.utime(project.path / "test_a.py", (1, 1))
    seen.append(project.trees()[1].digest)
    project.write("test_a.py", "def test_b(): pass\n")
    seen.append(project.trees()[1].digest)
    (project.path / "test_a.py").chmod(0o755)
    seen.append(project.trees()[1].digest)
    project.git("mv", "test_a.py", "test_b.py")
    seen.append(project.trees()[1].digest)

    assert seen[0] == seen[1]
    assert len(set(seen)) == 4


def test_taking_the_tree_leaves_the_index_as_it_was(project: Project) -> None:
    os.utime(project.path / "test_a.py", (1, 1))
    before = (project.path / ".git/index").read_bytes()

    project.trees()

    assert (project.path / ".git/index").read_bytes() == before


def test_a_file_that_git_is_told_not_to_look_at_is_clean_as_committed(project: Project) -> None:
    project.git("update-index", "--assume-unchanged", "test_a.py")
    project.write("test_a.py", "def test_x(): pass\n")

    dirty, clean = project.trees()

    assert entry(clean, "test_a.py").source.startswith("git:")
    assert dirty.digest != clean.digest


def test_a_tracked_file_whose_directory_became_a_link_is_deleted(project: Project) -> None:
    project.write("data/a.txt", "x")
    project.commit()
    shutil.move(project.path / "data", project.path.parent / "elsewhere")
    (project.path / "data").symlink_to(project.path.parent / "elsewhere")

    _, clean = project.trees()

    assert files(clean) == ["test_a.py"]


def test_an_unfetched_lfs_file_is_noted(project: Project) -> None:
    project.write("big.bin", "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 5\n")
    project.commit()

    _, clean = project.trees()

    assert clean.notes == ("`big.bin` is a git-lfs pointer whose content was never fetched; run `git lfs pull`",)
