"""Says which locales the distribution has that are spelt nearly like the one given."""

from __future__ import annotations

import difflib
import sys
from pathlib import Path

SUPPORTED = Path("/usr/share/i18n/SUPPORTED")

wanted = sys.argv[1]
lines = SUPPORTED.read_text(errors="replace").splitlines() if SUPPORTED.is_file() else []
pairs = [line.split() for line in lines if line.strip() and not line.startswith("#")]
# A name without its character set is listed for the language's older one: with it, it is what people write.
names = sorted({pair[0] if "." in pair[0] else f"{pair[0]}.{pair[1]}" for pair in pairs if len(pair) > 1})
near = difflib.get_close_matches(wanted, names, n=3, cutoff=0.8)
if near:
    print("hint: did you mean " + " or ".join(f"`{name}`" for name in near) + "?")
