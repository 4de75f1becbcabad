"""The folding of names in C against Python's own, for every character and for random names."""

from __future__ import annotations

import ctypes
import random
import subprocess
import sys
import unicodedata
from collections.abc import Callable

import pytest

from tests.casefs.mounting import SOURCES

pytestmark = pytest.mark.fuse

FOLDED_BYTES = 3 * 255
SURROGATES = range(0xD800, 0xE000)


def expected(name: bytes) -> bytes:
    """Fold by the definition; a byte that is no text stands for itself."""
    text = unicodedata.normalize("NFD", name.decode("utf-8", "surrogateescape"))
    return unicodedata.normalize("NFD", text.casefold()).encode("utf-8", "surrogateescape")


@pytest.fixture(scope="module")
def fold(tmp_path_factory: pytest.TempPathFactory) -> Callable[[bytes], bytes]:
    library = tmp_path_factory.mktemp("fold") / "fold.so"
    flags = ["-shared", "-fPIC", "-O2", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror"]
    subprocess.run(["cc", *flags, "-o", str(library), str(SOURCES / "fold.c")], check=True)
    call = ctypes.CDLL(str(library)).fold_name
    call.restype = ctypes.c_size_t
    call.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p]

    def fold_one(name: bytes) -> bytes:
        room = ctypes.create_string_buffer(FOLDED_BYTES + 1)
        length = call(name, len(name), room)
        return room.raw[:length]

    return fold_one


def table_version() -> str:
    return (SOURCES / "fold_table.h").read_text(encoding="ascii").split('FOLD_UNICODE "')[1].split('"')[0]


def comparable_points() -> list[int]:
    """All characters, if Python has the table's Unicode version; otherwise those that were characters long before either."""
    points = [point for point in range(1, sys.maxunicode + 1) if point not in SURROGATES]
    if table_version() == unicodedata.unidata_version:
        return points
    return [point for point in points if unicodedata.ucd_3_2_0.category(chr(point)) != "Cn"]


def test_every_character_folds_as_in_python(fold: Callable[[bytes], bytes]) -> None:
    different = [hex(point) for point in comparable_points() if fold(chr(point).encode()) != expected(chr(point).encode())]
    assert different == []


def test_random_names_fold_as_in_python(fold: Callable[[bytes], bytes]) -> None:
    chance = random.Random(1)  # noqa: S311  # a test's choices
    points = [chr(point) for point in comparable_points()]
    telling = [one for one in points if unicodedata.combining(one) or expected(one.encode()) != one.encode()]
    for _ in range(20_000):
        parts = [
            chance.choice(telling).encode() if chance.random() < 0.9 else bytes([chance.randrange(1, 256)])
            for _ in range(chance.randrange(1, 20))
        ]
        name = b"".join(parts)[:255]
        assert fold(name) == expected(name)


def test_names_that_grow_most_fit(fold: Callable[[bytes], bytes]) -> None:
    longest = ("\u0390" * 127).encode()
    assert len(fold(longest)) == 3 * len(longest)
    assert fold(b"\xff" * 255) == b"\xff" * 255


def test_the_table_is_what_its_script_writes() -> None:
    if table_version() != unicodedata.unidata_version:
        return  # the characters themselves are compared above
    made = subprocess.run([sys.executable, SOURCES / "make_fold_table.py"], capture_output=True, text=True, check=True)
    assert made.stdout == (SOURCES / "fold_table.h").read_text(encoding="ascii")
