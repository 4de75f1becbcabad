"""What may help where installing or building failed, found in what it said last.

A recipe of ours says itself why it failed, in a line of its own; of everything else only known words are understood.
"""

from __future__ import annotations

import re

import msgspec

SAY_HOW = "say how to install with `install = [...]` under `[tool.paritygate.image]`"
CORRECT_IT = "correct `install` under `[tool.paritygate.image]`"
CORRECT_BASE = "correct `base` or `system-packages` under `[tool.paritygate.image]`"
_HINTS = (
    (
        r"(?i)command '?\S*(gcc|cc|g\+\+|clang)\S*'? failed: no such file|unable to find .*compiler|no acceptable c compiler",
        '["gcc", "libc6-dev"]',
    ),
    (r"Python\.h: No such file", '["python3-dev"]'),
    (r"pg_config executable not found|libpq-fe\.h", '["libpq-dev", "gcc"]'),
    (r"mysql_config|mariadb_config", '["default-libmysqlclient-dev", "pkg-config", "gcc"]'),
    (r"ffi\.h: No such file", '["libffi-dev", "gcc"]'),
    (r"libxml/xmlversion\.h|libxml2 and libxslt", '["libxml2-dev", "libxslt1-dev", "gcc"]'),
    (r"(?i)can't find rust compiler|cargo.*(not found|is not installed)", '["cargo", "rustc"]'),
    (r"\bcmake\b.*(not found|must be installed)", '["cmake", "g++", "make"]'),
    (r"fatal error: (\S+\.h): No such file", "the package that holds that header"),
)
_NO_NAMES = re.compile(
    r"(?i)temporary failure (in name resolution|resolving)|could not resolve|name or service not known|nodename nor servname"
    r"|failed to lookup address|could not find bridge|network is unreachable"
)
_NO_CONNECTION = re.compile(
    r"(?i)connection (refused|timed out|reset)|max retries exceeded|newconnectionerror|failed to establish a new connection"
    r"|unable to connect|could not connect|no route to host"
)
_REASON, _ADVICE = "paritygate: ", "hint: "
ENGINE_NETWORK = (
    "the engine's own network may be broken, as after another engine was started beside it: restart the engine; else name the "
    "way out with"
)
_CERTIFICATE = re.compile(r"CERTIFICATE_VERIFY_FAILED|certificate verify failed")
_WAYS_OUT = "`PIP_INDEX_URL`, `HTTPS_PROXY` or their like: they are passed on for the time of the installation"


class OwnWords(msgspec.Struct, frozen=True):
    """What a recipe of ours said of its failure: why, and what to do; each empty where it said nothing."""

    reason: str = ""
    hint: str = ""


def own_words(said: str) -> OwnWords:
    """Find the last line in which a recipe of ours says why it failed, and what it advises after that."""
    lines = said.splitlines()
    found = [index for index, line in enumerate(lines) if line.startswith(_REASON)]
    if not found:
        return OwnWords()
    advice = next((line for line in lines[found[-1] + 1 :] if line.startswith(_ADVICE)), "")
    return OwnWords(lines[found[-1]].removeprefix(_REASON), advice.removeprefix(_ADVICE))


def hint_for(said: str, otherwise: str = SAY_HOW) -> str:
    """Say what may help, from what an installation said last; `otherwise` where that says nothing."""
    if _CERTIFICATE.search(said):
        return "name your organisation's certificates with `extra-ca-certs` under `[tool.paritygate.image]`, or in `PIP_CERT`"
    for pattern, packages in _HINTS:
        if re.search(pattern, said):
            return f"set `system-packages` under `[tool.paritygate.image]`: {packages}"
    if _NO_NAMES.search(said):
        return f"{ENGINE_NETWORK} {_WAYS_OUT}"
    if _NO_CONNECTION.search(said):
        return f"set {_WAYS_OUT}"
    return otherwise


def lacks_network(said: str) -> bool:
    """Say whether what failed may have failed for want of a network alone."""
    return bool(_NO_NAMES.search(said) or _NO_CONNECTION.search(said) or _CERTIFICATE.search(said))
