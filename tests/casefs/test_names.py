"""Names on the mount: every spelling is one file, and the spelling that it was created with stays."""

from __future__ import annotations

import errno
import os
import shutil
import socket
import stat
import subprocess
import unicodedata
from pathlib import Path

import pytest

pytestmark = pytest.mark.fuse


def write(name: str, text: str = "") -> None:
    Path(name).write_text(text, encoding="utf-8")


def read(name: str) -> str:
    return Path(name).read_text(encoding="utf-8")


def test_a_name_keeps_the_spelling_it_was_created_with(folder: Path) -> None:
    write("MixedCase.TXT")
    write("mixedcase.txt", "rewritten")
    assert os.listdir(folder) == ["MixedCase.TXT"]
    assert read("MIXEDCASE.txt") == "rewritten"


def test_a_name_that_was_missed_is_there_once_another_spelling_is_created(folder: Path) -> None:
    for number in range(100):
        assert not os.path.lexists(f"Foo{number}")
        assert not os.path.lexists(f"FOO{number}")
        write(f"foo{number}", "x")
        assert os.path.lexists(f"Foo{number}")
        assert read(f"FOO{number}") == "x"


def test_whatever_would_be_a_second_spelling_exists_already(folder: Path) -> None:
    write("a")
    os.mkdir("d")
    with pytest.raises(FileExistsError):
        os.open("A", os.O_CREAT | os.O_EXCL | os.O_WRONLY)
    with pytest.raises(FileExistsError):
        os.mkdir("D")
    with pytest.raises(FileExistsError):
        os.symlink("x", "D")
    with pytest.raises(FileExistsError):
        os.link("a", "A")
    with pytest.raises(FileExistsError):
        os.mkfifo("A")


def test_all_spellings_are_one_inode(folder: Path) -> None:
    write("a")
    os.mkdir("d")
    assert os.path.samefile("a", "A")
    assert os.path.samefile("d", "D")
    assert os.stat("A").st_nlink == 1


def test_what_is_unlinked_by_one_spelling_is_gone_in_all(folder: Path) -> None:
    for _ in range(100):
        write("f")
        os.stat("f")
        os.stat("F")
        os.unlink("F")
        assert not os.path.lexists("f")
        assert not os.path.lexists("F")
    assert os.listdir(folder) == []


def test_a_directory_is_removed_and_made_again_in_another_spelling(folder: Path) -> None:
    for _ in range(100):
        os.mkdir("d")
        os.stat("d")
        os.rmdir("D")
        assert not os.path.lexists("d")
        os.mkdir("D")
        assert os.path.isdir("d")
        os.rmdir("d")


def test_a_rename_over_another_spelling_replaces_it_and_brings_its_own(folder: Path) -> None:
    for _ in range(50):
        write("a", "1")
        write("b", "2")
        os.stat("b")
        os.rename("A", "B")
        assert not os.path.lexists("a")
        assert os.listdir(folder) == ["B"]
        assert read("b") == read("B") == "1"
        os.unlink("b")


def test_a_file_is_renamed_by_case_alone(folder: Path) -> None:
    write("foo", "1")
    os.rename("foo", "Foo")
    assert os.listdir(folder) == ["Foo"]
    os.rename("FOO", "fOO")
    assert os.listdir(folder) == ["fOO"]
    assert read("foo") == "1"


def test_a_directory_is_renamed_by_case_alone(folder: Path) -> None:
    os.mkdir("foo")
    write("foo/x", "1")
    os.rename("foo", "Foo")
    assert os.listdir(folder) == ["Foo"]
    assert read("FOO/X") == "1"
    os.rename("Foo/", "foo/")
    assert os.listdir(folder) == ["foo"]


def test_a_rename_by_case_finds_its_directory_however_it_is_spelled(folder: Path) -> None:
    os.makedirs("Src/sub")
    os.symlink("Src", "link")
    spellings = [
        ("Src/foo", "SRC/Foo"),
        ("src/./Foo", str(folder / "SRC" / "fOO")),
        (str(folder / "src/fOO"), "Src//foO"),
        ("link/foO", "link/FOO"),
    ]
    write("Src/foo")
    for old, new in spellings:
        os.rename(old, new)
        assert os.listdir("Src") == ["sub", Path(new).name]
    descriptor = os.open("Src", os.O_RDONLY)
    os.rename("FOO", "foo", src_dir_fd=descriptor, dst_dir_fd=descriptor)
    assert os.listdir("Src") == ["sub", "foo"]
    os.rename("foo", str(folder / "Src/Foo"), src_dir_fd=descriptor)
    assert os.listdir("Src") == ["sub", "Foo"]
    os.close(descriptor)


def test_a_file_is_renamed_by_case_through_two_ways_to_its_directory(folder: Path) -> None:
    os.mkdir("real")
    os.symlink("real", "link")
    os.symlink(folder / "link", "far")
    write("real/foo", "1")
    for old, new in [("real/foo", "link/Foo"), ("far/Foo", "real/fOO"), ("real/../link/fOO", "far/FOO")]:
        os.rename(old, new)
        assert os.listdir("real") == [Path(new).name]
    write("FOO", "2")
    os.rename("foo", "link/foo")
    assert (os.listdir("real"), read("REAL/FOO")) == (["foo"], "2")


def test_a_rename_by_case_works_where_a_directory_has_the_same_name(folder: Path) -> None:
    os.makedirs("foo/foo")
    write("foo/foo/foo", "1")
    os.rename("foo/foo/foo", "Foo/Foo/Foo")
    assert os.listdir("foo/foo") == ["Foo"]
    os.rename("foo/foo", "Foo/Foo")
    assert os.listdir("foo") == ["Foo"]
    assert os.listdir(folder) == ["foo"]


def test_a_rename_to_a_directory_of_the_same_name_elsewhere_is_no_rename_by_case(folder: Path) -> None:
    os.mkdir("one")
    os.mkdir("two")
    write("one/foo", "1")
    write("two/FOO", "2")
    os.rename("one/foo", "two/foo")
    assert os.listdir("two") == ["foo"]
    assert os.listdir("one") == []
    assert read("two/Foo") == "1"


def test_mv_renames_by_case(folder: Path) -> None:
    write("foo")
    os.mkdir("dd")
    subprocess.run(["mv", "foo", "Foo"], check=True)
    subprocess.run(["mv", "-T", "dd", "DD"], check=True)
    assert os.listdir(folder) == ["Foo", "DD"]


def test_hard_links_are_one_file_with_several_names(folder: Path) -> None:
    write("a", "1")
    os.link("A", "b")
    assert os.stat("B").st_ino == os.stat("a").st_ino
    assert os.stat("a").st_nlink == 2
    os.chmod("B", 0o600)
    assert stat.S_IMODE(os.stat("a").st_mode) == 0o600
    with Path("b").open("a", encoding="utf-8") as file:
        file.write("22")
    assert os.stat("A").st_size == 3
    os.rename("a", "B")
    assert sorted(os.listdir(folder)) == ["a", "b"], "two names of one file: rename leaves both"
    os.unlink("a")
    assert os.stat("b").st_nlink == 1
    os.rename("b", "c")
    assert read("C") == "122"


def test_a_whole_path_is_found_in_any_spelling(folder: Path) -> None:
    os.makedirs("src/Pkg/Sub")
    write("SRC/pkg/SUB/f", "1")
    assert read("src/Pkg/Sub/F") == "1"
    os.rename("SRC/PKG", "src/pkg2")
    assert not os.path.lexists("src/Pkg")
    assert os.path.lexists("src/PKG2/sub/f")
    os.unlink("SRC/pkg2/sub/F")
    assert os.listdir("src/pkg2/Sub") == []


def test_symbolic_links_point_by_any_spelling(folder: Path) -> None:
    write("t", "1")
    os.symlink("T", "l")
    assert read("L") == "1"
    assert os.readlink("L") == "T"
    os.symlink("nowhere", "dangling")
    assert os.path.lexists("DANGLING")
    assert not os.path.exists("DANGLING")
    os.utime("l", (1, 1), follow_symlinks=False)
    assert os.lstat("L").st_mtime == 1
    os.unlink("DANGLING")
    assert os.listdir(folder) == ["t", "l"]


def test_fifos_and_sockets_are_found_by_any_spelling(folder: Path) -> None:
    os.mkfifo("p")
    assert stat.S_ISFIFO(os.stat("P").st_mode)
    with socket.socket(socket.AF_UNIX) as server, socket.socket(socket.AF_UNIX) as client:
        server.bind("sock")
        server.listen()
        client.connect("SOCK")
    assert stat.S_ISSOCK(os.stat("Sock").st_mode)


@pytest.mark.parametrize(
    ("created", "sought", "same"),
    [
        ("\u00e9", "e\u0301", True),
        ("\u00c9", "e\u0301", True),
        ("\u00df", "SS", True),
        ("\u00df", "\u1e9e", True),
        ("\u0130", "i\u0307", True),
        ("\u0130", "i", False),
        ("\u0131", "I", False),
        ("\u03c2", "\u03a3", True),
        ("\u212a", "k", True),
        ("\u212b", "\u00e5", True),
        ("\ufb01", "FI", True),
        ("\U00010400", "\U00010428", True),
        ("\uac01", "\u1100\u1161\u11a8", True),
        ("\u042f", "\u044f", True),
        ("\u03b1\u0345\u0301", "\u0391\u0301\u0345", True),
    ],
)
def test_names_are_alike_as_unicode_says(folder: Path, created: str, sought: str, *, same: bool) -> None:
    write(created)
    assert os.path.lexists(sought) is same
    assert os.listdir(folder) == [created]


def test_bytes_that_are_no_text_are_kept_and_fold_around_what_is(folder: Path) -> None:
    Path(os.fsdecode(b"\xff\xfeA\xc3\xa9")).touch()
    assert os.path.lexists(b"\xff\xfea\xc3\x89")
    assert not os.path.lexists(b"\xfe\xfea\xc3\x89")
    assert os.listdir(os.fsencode(folder)) == [b"\xff\xfeA\xc3\xa9"]


def test_names_may_have_255_bytes(folder: Path) -> None:
    write("N" * 255)
    assert os.path.lexists("n" * 255)
    with pytest.raises(OSError, match="File name too long") as caught:
        write("n" * 256)
    assert caught.value.errno == errno.ENAMETOOLONG
    write("\u0390" * 127)  # folds to three times its bytes
    assert os.path.lexists("\u0390" * 127)


def test_a_decomposed_spelling_of_more_than_255_bytes_is_too_long(folder: Path) -> None:
    write("\u00e9" * 127)
    assert os.path.lexists("\u00c9" * 127)
    with pytest.raises(OSError, match="File name too long"):
        os.lstat(unicodedata.normalize("NFD", "\u00e9" * 127))


def test_trees_may_be_deep(folder: Path) -> None:
    path = Path(*[f"Dir{depth:03}" for depth in range(120)])
    path.mkdir(parents=True)
    (path / "leaf").write_text("1", encoding="utf-8")
    assert Path(str(path).lower(), "LEAF").read_text(encoding="utf-8") == "1"
    shutil.rmtree("dir000")
    assert os.listdir(folder) == []


def test_trees_may_be_deeper_than_any_path(folder: Path) -> None:
    for _ in range(60):
        os.mkdir("d" * 200)
        os.chdir("D" * 200)
    write("foo")
    os.rename("foo", "Foo")
    assert os.listdir(".") == ["Foo"]
    os.unlink("foo")
    for _ in range(60):
        os.chdir("..")
        os.rmdir("D" * 200)
    assert os.path.samefile(".", folder)


def test_a_directory_can_be_emptied_while_it_is_listed(folder: Path) -> None:
    for number in range(2000):
        write(f"f{number}")
    with os.scandir(".") as items:
        seen = []
        for item in items:
            seen.append(item.name)
            os.unlink(item.name.upper())
    assert len(set(seen)) == len(seen) == 2000
    assert os.listdir(folder) == []


def test_a_listing_can_be_rewound(folder: Path) -> None:
    descriptor = os.open(".", os.O_RDONLY)
    assert os.listdir(descriptor) == []
    write("new")
    assert os.listdir(descriptor) == ["new"]
    os.close(descriptor)
    assert folder.is_dir()
