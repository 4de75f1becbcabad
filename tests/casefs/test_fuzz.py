"""A short walk of the fuzzer on each build; `python -m tests.casefs.fuzz` walks further."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.casefs.fuzz import fuzz
from tests.casefs.mounting import mounted

pytestmark = pytest.mark.fuse

OPERATIONS = 4000


@pytest.mark.parametrize("folding", [True, False], ids=["folding", "exact"])
def test_random_operations_end_as_in_the_model(program: Path, *, folding: bool) -> None:
    with mounted(program, f"--fold={'on' if folding else 'off'}", "--descriptors=16") as mount:
        walk = fuzz(mount, OPERATIONS, seed=1, folding=folding)
        assert len(walk.done) == 14


def test_random_operations_end_as_in_the_model_under_sanitizers(sanitized_program: Path) -> None:
    with mounted(sanitized_program, "--descriptors=16") as mount:
        fuzz(mount, OPERATIONS, seed=2, folding=True)
