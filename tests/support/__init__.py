"""What several tests share: builders, fakes and contracts."""

from __future__ import annotations

import pytest

pytest.register_assert_rewrite("tests.support.engine_contract")
