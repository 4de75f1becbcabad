"""`docs/configuration.md`, made from the settings themselves, so that it cannot say anything else."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import msgspec
from msgspec import inspect

from paritygate.config.settings import (
    EnvironmentSettings,
    HostSettings,
    ImageSettings,
    PinSettings,
    Settings,
    SweepSettings,
    default_environments,
)
from paritygate.config.tables import bare, describe, fields

INTRODUCTION = """\
# Configuration

<!-- Generated from `src/paritygate/config/settings.py` by `python docs/configuration.py`; a test compares them. -->

Nothing needs to be configured. What can be stands under `[tool.paritygate]` in `pyproject.toml`, or at the top of
`paritygate.toml` beside it; having both is an error. Unknown keys, wrong types and impossible values are reported all
at once, each with its path, and end the run with exit code 64 before anything is started.
"""

GROUNDS = """\
With `runner = "auto"` cells run on an engine where one answers, and otherwise, with a notice, on this computer itself
(`host`). An engine that `--host` or `DOCKER_HOST` names has to answer, and under `CI` nothing else is taken in place of
an engine: there `host` has to be asked for. `--runner` goes over what is configured, environments included. What a
runner cannot vary is not varied, and said. All environments with `ssh` have one target.

`engines`, and `engine` of an environment, which goes over it, take names of Docker contexts (`docker context ls`) or
addresses. Certificates for `tcp://` are those of the context, or of `DOCKER_CERT_PATH`. The cells of an environment run on
engines of one platform; of several named in `engines`, those that are not of the first one's are left out, and so are those
that do not answer, both with a note. `--host` takes one engine for everything, whatever is configured.
"""

PINS = """\
They are in force where pytest is asked for it: `parity_pin = true` in its configuration or `--parity-pin` for the
whole suite, the fixture `pinned_environment` for a test. In the cells of a run they yield to the axes, unless
`paritygate run --respect-pins` says otherwise.
"""

SWEEPS = """\
`paritygate sweep AXIS` runs the selection once for each value of an axis, all else as in the first environment. Where an
axis has no values here those of paritygate's own table are tried, which `paritygate sweep AXIS --plan` lists with the
reason for each. All values are texts. `HOME=read-only` is an empty home in which nothing can be written, not even by root,
and which containers alone have; `root` is the user whom modes of files do not keep out.
"""

ENVIRONMENTS = """\
Without any such table the two environments of the last columns run. A table named like one of them changes only the
keys that it gives, and the other one still runs. As soon as a table has a name of its own, exactly the environments
that are named run; such a table has the defaults of the third column. A name has up to 40 letters, digits, `-`, `_`
and `.`.

`auto` for `timezone` is chosen for the moment and the likely length of the run, from `Asia/Shanghai` where its date
differs to the ends of the earth, and the report says what it came to.

Where one environment has `case_sensitive = false`, or a `directory_order`, the cells of all of them have their
workspace, temporary folder and home on one filesystem of paritygate's own, folding case or not as each asks, so that
nothing but that differs. It needs `/dev/fuse` on the engine's computer; where that cannot be had the run ends with
exit code 4, unless `case_sensitive` is `"any"` in all environments or `--without-axis case_sensitive` is given.

`clock` moves the clock of programs, with their processes and threads: each cell begins at that local time of its zone,
and goes on from there at true speed. Durations, time limits and the times of files stay true. It needs a base on which
a small library can be compiled, and is not varied by `host` and `ssh`. Statically linked programs (as those in Go) and
whatever asks the kernel by itself keep the true time. Choose a moment from which a run does not come to midnight by
itself, unless that is what you want to see, and leave one environment the true time: a test that compares the times of
files with the clock is then told from one that depends on the date.

`variables` cannot hold what an axis or the cell itself sets (`TZ`, `LANG`, `LC_ALL`, `PYTHONHASHSEED`, `PATH`,
`HOME`, `LD_PRELOAD` and their like).
"""

OVERRIDES = """\
## Seeds

Attempt k has the same seed in every environment; it feeds pytest-randomly and `PYTHONHASHSEED`. Where `seeds` gives
none, seeds follow from the content of the working tree: the same tree is judged by the same seeds, so a gate cannot
be run again until it is green, and another tree has others. The report lists them.

## Variables

Each goes over the file, and the command line goes over each. An empty one is as good as none.

| variable | over | such as |
|---|---|---|
| `PARITY_SELECTION` | `selection`, split as a shell would | `tests/unit -k "ledger and not slow"` |
| `PARITY_ATTEMPTS` | `attempts` | `3` |
| `PARITY_SEED_A` | the seed of attempt 1 | `1` |
| `PARITY_SEED_B` | the seed of attempt 2 | `2` |
| `PARITY_ENGINES` | `engines`, with blanks between them | `default build-7` |
| `PARITY_SSH_TARGET` | nothing: it is the `target` of environments with `ssh` that have none | `ci@build-7` |
"""


def render() -> str:
    """Write the whole page."""
    pair = default_environments()
    return "\n".join(
        (
            INTRODUCTION,
            "## `[tool.paritygate]`\n",
            *_table(Settings(), {}),
            "\n## `[tool.paritygate.image]`\n",
            *_table(ImageSettings(), {}),
            "\n## `[tool.paritygate.host]`\n",
            *_table(HostSettings(), {}),
            "",
            GROUNDS,
            "## `[tool.paritygate.pins]`\n",
            *_table(PinSettings(), {}),
            "",
            PINS,
            "## `[tool.paritygate.sweeps]`\n",
            *_table(SweepSettings(), {}),
            "",
            SWEEPS,
            "## `[tool.paritygate.environments.NAME]`\n",
            *_table(EnvironmentSettings(), pair),
            "",
            ENVIRONMENTS,
            OVERRIDES,
        )
    )


def _table(default: msgspec.Struct, named: Mapping[str, msgspec.Struct]) -> Iterator[str]:
    """Write a row a key; a further column for each named set of defaults."""
    heads = ["key", "value", "default", *(f"`{name}`" for name in named), "meaning"]
    yield f"| {' | '.join(heads)} |"
    yield f"|{'---|' * len(heads)}"
    for field in fields(type(default)):
        values = [_value(getattr(each, field.name), field) for each in (default, *named.values())]
        cells = [f"`{field.encode_name}`", describe(field.type), *values, _meaning(field)]
        yield f"| {' | '.join(cells)} |"


def _value(value: object, field: inspect.Field) -> str:
    """Say a default as TOML would."""
    match bare(field.type):
        case inspect.StructType() | inspect.DictType(value_type=inspect.StructType()):
            return ""
        case inspect.VarTupleType():
            return "`[]`"
        case inspect.DictType():
            return "`{}`"
        case _:
            return f'`"{value}"`' if isinstance(value, str) else f"`{str(value).lower()}`"


def _meaning(field: inspect.Field) -> str:
    described = field.type.extra_json_schema if isinstance(field.type, inspect.Metadata) else None
    return str((described or {})["description"])
