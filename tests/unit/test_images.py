"""Names, bases, access and hints of images: what needs no engine."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec
import pytest

from paritygate.config.settings import EnvironmentSettings, ImageSettings
from paritygate.docker_engine.requests import ImageRecord
from paritygate.errors import ConfigError
from paritygate.images import access, advice, names, poetry, resources
from paritygate.images.access import Access
from paritygate.images.advice import hint_for
from paritygate.images.base import choose_python
from paritygate.images.compiled import CASEFS, CLOCK, COMPILED, Compiled
from paritygate.images.distributions import this_distribution
from paritygate.images.layers import Layers, PrepareRequest
from paritygate.images.transcripts import Transcript
from paritygate.outcomes.words import ExitCode
from tests.support.command_line import call


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("^1.2.3", ">=1.2.3,<2"),
        ("^0.2", ">=0.2,<0.3"),
        ("^0.0.3", ">=0.0.3,<0.0.4"),
        ("^0", ">=0,<1"),
        ("~1.2.3", ">=1.2.3,<1.3"),
        ("~1", ">=1,<2"),
        ("*", ""),
        ("1.4", "==1.4"),
        (">=3.8,<3.12", ">=3.8,<3.12"),
        (">=3.8 <3.12", ">=3.8,<3.12"),
        ("^3.8 || ^4.0", ""),
    ],
)
def test_a_poetry_version_becomes_a_standard_one(written: str, expected: str) -> None:
    assert poetry.specifier(written) == expected


@pytest.mark.parametrize(
    ("setting", "pinned", "requires", "expected"),
    [
        ("3.9", "3.12", ">=3.10", "3.9"),
        ("", "3.12.4\n", "", "3.12"),
        ("", "", "", "3.11"),
        ("", "", ">=3.12", "3.12"),
        ("", "", "<3.10", "3.9"),
        ("", "", "==3.8.*", "3.8"),
        ("", "", ">=3.9,!=3.11.*", "3.12"),
    ],
)
def test_the_interpreter_is_the_one_asked_for_or_the_nearest_admitted(
    tmp_path: Path, setting: str, pinned: str, requires: str, expected: str
) -> None:
    if pinned:
        (tmp_path / ".python-version").write_text(pinned, encoding="utf-8")
    assert choose_python(ImageSettings(python=setting), tmp_path, requires, "3.11") == expected


def test_sources_of_this_release_are_read_from_both_kinds_of_lists(tmp_path: Path) -> None:
    (tmp_path / "sources.list.d").mkdir()
    release = tmp_path / "os-release"
    release.write_text('ID=debian\nVERSION_CODENAME=someday\nNAME="Debian GNU/Linux"\n', encoding="utf-8")
    (tmp_path / "sources.list").write_text(
        "deb http://a.example/debian someday main\n# deb http://b.example x y\n", encoding="utf-8"
    )
    (tmp_path / "sources.list.d" / "more.sources").write_text(
        "Types: deb\n# a remark\nURIs: http://c.example/debian\nSuites: someday-updates x-backports\nComponents: main contrib\n"
        "Signed-By: /usr/share/keyrings/k.gpg\n\nTypes: deb\nURIs: https://foreign.example\nSuites: nodistro\nComponents: main\n",
        encoding="utf-8",
    )
    found = this_distribution(tmp_path, release)
    assert found is not None
    assert (found.name, found.suite) == ("debian", "someday")
    assert found.sources == (
        "deb http://a.example/debian someday main",
        "deb [signed-by=/usr/share/keyrings/k.gpg] http://c.example/debian someday-updates main contrib",
    )


def test_another_system_is_no_distribution(tmp_path: Path) -> None:
    (tmp_path / "os-release").write_text("ID=fedora\nVERSION_CODENAME=x\n", encoding="utf-8")
    assert this_distribution(tmp_path, tmp_path / "os-release") is None


def test_only_what_means_something_inside_a_container_is_passed_on(tmp_path: Path) -> None:
    bundle = tmp_path / "bundle.pem"
    bundle.write_bytes(b"host")
    (tmp_path / "ours.pem").write_bytes(b"-----BEGIN CERTIFICATE-----")
    found = access.from_host(
        {
            "PIP_INDEX_URL": "https://user:word@index.example/simple",
            "PIP_EXTRA_INDEX_URL": "file:///opt/here https://more.example/simple",
            "PIP_FIND_LINKS": "/opt/wheels",
            "https_proxy": "http://proxy.example:3128",
            "NO_PROXY": "localhost",
            "PIP_CERT": str(bundle),
            "SECRET_TOKEN": "x",
        },
        "ours.pem",
        tmp_path,
    )
    assert found.variables == {
        "PIP_INDEX_URL": "https://user:word@index.example/simple",
        "PIP_EXTRA_INDEX_URL": "https://more.example/simple",
        "https_proxy": "http://proxy.example:3128",
        "NO_PROXY": "localhost",
        "UV_DEFAULT_INDEX": "https://user:word@index.example/simple",
    }
    assert found.certificates == b"host\n-----BEGIN CERTIFICATE-----"
    assert found.secrets == ("user:word", "word")
    assert found.proxies == {"https_proxy": "http://proxy.example:3128", "NO_PROXY": "localhost"}
    assert "word" not in found.indexes


@pytest.mark.parametrize(
    ("named", "said"),
    [
        ("gone.pem", "there is no file `{path}`"),
        ("key.pem", "`{path}` holds no certificate in PEM, which begins with `-----BEGIN CERTIFICATE-----`"),
        (".", "`{path}` cannot be read: is a directory"),
    ],
)
def test_certificates_that_are_none_are_a_configuration_error_before_an_engine_is_looked_for(
    named: str, said: str, tmp_path: Path
) -> None:
    (tmp_path / "key.pem").write_text("-----BEGIN PRIVATE KEY-----", encoding="utf-8")
    (tmp_path / "paritygate.toml").write_text(f'image.extra-ca-certs = "{named}"', encoding="utf-8")
    for arguments in (("run",), ("images", "build")):
        ended = call(tmp_path, *arguments, "--host", "unix:///nowhere")
        assert ended.code == ExitCode.USAGE
        assert f"in `paritygate.toml`:\n  `image.extra-ca-certs`: {said.format(path=tmp_path / named)}\n" in ended.err


def test_a_pinned_python_that_is_too_old_is_a_configuration_error(tmp_path: Path) -> None:
    (tmp_path / ".python-version").write_text("2.7.18\n", encoding="utf-8")
    with pytest.raises(ConfigError, match=r"names Python 2\.7, and CPython 3\.8 is the oldest"):
        choose_python(ImageSettings(), tmp_path, "", "3.11")
    assert choose_python(ImageSettings(python="3.12"), tmp_path, "", "3.11") == "3.12"


def test_images_of_a_folder_that_is_not_there_are_a_usage_error(tmp_path: Path) -> None:
    for command in ("list", "prune"):
        ended = call(tmp_path, "images", command, "--project", "nowhere", "--host", "unix:///nowhere")
        assert (ended.code, "there is no folder `nowhere`" in ended.err, "hint: " in ended.err) == (ExitCode.USAGE, True, True)


def test_a_transcript_masks_secrets_and_keeps_its_end(tmp_path: Path) -> None:
    path = tmp_path / ".paritygate" / "logs" / "x.log"
    with Transcript(path, ("word",)) as transcript:
        transcript.read([(1, b"one\ntw"), (2, b"err\r\n"), (1, b"o word\nlast")])
    assert path.read_text(encoding="utf-8") == "one\nerr\ntwo ****\nlast\n"
    assert transcript.tail == "one\nerr\ntwo ****\nlast"
    assert transcript.last == "last"
    assert (tmp_path / ".paritygate" / ".gitignore").read_text(encoding="utf-8") == "*\n"


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("error: command 'gcc' failed: No such file or directory", '["gcc", "libc6-dev"]'),
        ("Error: pg_config executable not found.", '["libpq-dev", "gcc"]'),
        ("SSLError(SSLCertVerificationError: CERTIFICATE_VERIFY_FAILED)", "extra-ca-certs"),
        ("Temporary failure in name resolution", "restart the engine"),
        ("Temporary failure in name resolution", "HTTPS_PROXY"),
        ("Err:1 http://deb.example bookworm InRelease\n  Temporary failure resolving 'deb.example'", "restart the engine"),
        ("Could not resolve host: github.com", "restart the engine"),
        ("dns error: failed to lookup address information", "restart the engine"),
        ("adding interface veth1 to bridge docker0 failed: could not find bridge docker0", "restart the engine"),
        ("NewConnectionError: [Errno 111] Connection refused", "set `PIP_INDEX_URL`"),
        ("ERROR: no matching distribution", "install = [...]"),
    ],
)
def test_a_failed_installation_says_what_may_help(said: str, expected: str) -> None:
    assert expected in hint_for(said)


def test_a_network_that_is_lacking_is_not_taken_for_a_fault_of_what_is_installed() -> None:
    assert "`install = [...]`" not in hint_for("Temporary failure resolving 'deb.example'")
    assert advice.lacks_network("Temporary failure in name resolution")
    assert advice.lacks_network("NewConnectionError: [Errno 111] Connection refused")
    assert not advice.lacks_network("ModuleNotFoundError: No module named 'numpy'")


@pytest.mark.parametrize(
    ("said", "reason", "hint"),
    [
        ("cannot open locale\nparitygate: it cannot be made\nhint: did you mean `x`?", "it cannot be made", "did you mean `x`?"),
        ("hint: of pip\nparitygate: it is missing", "it is missing", ""),
        ("paritygate: first\nhint: one\nparitygate: last\nmore", "last", ""),
        ("ERROR: pip's own\nhint: See above for details.", "", ""),
    ],
)
def test_a_recipe_says_itself_why_it_failed(said: str, reason: str, hint: str) -> None:
    assert advice.own_words(said) == advice.OwnWords(reason, hint)


def test_names_differ_where_contents_do_and_parts_do_not_run_together() -> None:
    assert names.digest("ab", "c") != names.digest("a", "bc")
    assert names.digest_files({"a": b"1", "b": b"2"}) == names.digest_files({"b": b"2", "a": b"1"})
    assert names.tag(names.Kind.TREE, "Some Project!", "d") == "paritygate/some-project-tree:d"


def test_every_file_that_goes_into_an_image_is_at_hand() -> None:
    assert resources.recipe("install.py").startswith(b'"""')
    assert {"Makefile", "main.c", "status.h", "fold_table.h"} <= set(resources.sources("casefs"))
    assert {"launcher.py", "probe.py", "plugin/paritygate_recorder.py"} <= set(resources.guest())


def a_base(identity: str) -> ImageRecord:
    return ImageRecord(identity=identity, tags=("some:base",), labels={}, created="", size=0)


COMPILED_ONES = pytest.mark.parametrize("compiled", COMPILED, ids=lambda each: each.kind.value)


@COMPILED_ONES
def test_what_is_compiled_is_named_by_the_image_that_it_is_built_on(compiled: Compiled) -> None:
    assert compiled.name_of(a_base("one")).startswith(f"paritygate/{compiled.kind}:")
    assert compiled.name_of(a_base("one")) == compiled.name_of(a_base("one"))
    assert compiled.name_of(a_base("one")) != compiled.name_of(a_base("two"))


@COMPILED_ONES
def test_only_sources_go_into_the_image_that_it_is_built_in(compiled: Compiled) -> None:
    allowed = r"Dockerfile|compiled\.sh|sources/(Makefile|needs\.sh|\w+\.[ch])"
    assert [name for name in compiled.files() if not re.fullmatch(allowed, name)] == []
    assert {"Dockerfile", "compiled.sh", "sources/Makefile", "sources/needs.sh"} < set(compiled.files())


def test_each_has_the_sources_of_its_own() -> None:
    assert "sources/spelling.c" in CASEFS.files()
    assert "sources/waits.c" in CLOCK.files()
    assert not {name for name in CASEFS.files() if name.endswith(".c")} & {name for name in CLOCK.files() if name.endswith(".c")}


@COMPILED_ONES
def test_its_needs_name_the_file_that_images_have(compiled: Compiled) -> None:
    needs = compiled.files()["sources/needs.sh"].decode()
    assert f"made={compiled.made}\n" in needs
    assert f"what='the {compiled.what}'\n" in needs


def test_a_recipe_takes_what_is_compiled_from_stages_before_its_own() -> None:
    recipe = b"# what it is\nARG BASE\nFROM ${BASE}\nARG BASE\nENV A=b\n"
    assert CASEFS.added_to(recipe) == (
        b"# what it is\nARG BASE\nARG CASEFS\nFROM ${CASEFS} AS casefs\nFROM ${BASE}\nARG BASE\nENV A=b\n"
        b"COPY --from=casefs /opt/paritygate/casefs /opt/paritygate/casefs\n"
    )
    assert CLOCK.added_to(CASEFS.added_to(recipe)) == (
        b"# what it is\nARG BASE\nARG CLOCK\nARG CASEFS\nFROM ${CASEFS} AS casefs\nFROM ${CLOCK} AS clock\nFROM ${BASE}\n"
        b"ARG BASE\nENV A=b\nCOPY --from=casefs /opt/paritygate/casefs /opt/paritygate/casefs\n"
        b"COPY --from=clock /opt/paritygate/clock.so /opt/paritygate/clock.so\n"
    )


@COMPILED_ONES
def test_the_recipe_of_environments_can_take_it(compiled: Compiled) -> None:
    made = compiled.added_to(resources.recipe("environment.Dockerfile")).decode()
    assert made.count(f"\nFROM ${{{compiled.argument}}} AS {compiled.kind}\nFROM ${{BASE}}\n") == 1
    assert f"\nARG {compiled.argument}\n" in made.partition("\nFROM ")[0] + "\n"


@COMPILED_ONES
def test_what_could_not_be_built_can_be_done_without(compiled: Compiled) -> None:
    assert compiled.hint_for("fatal error: fuse.h: No such file") == compiled.another_base
    assert compiled.another_base.endswith(compiled.without)
    without_network = compiled.hint_for("Temporary failure resolving 'deb.example'")
    assert "restart the engine" in without_network
    assert without_network.endswith(compiled.without)


def test_foreseen_are_all_images_that_hold_what_is_compiled(tmp_path: Path) -> None:
    request = PrepareRequest(
        root=tmp_path,
        directory="",
        settings=ImageSettings(),
        environments={"home": EnvironmentSettings()},
        access=Access(),
        logs=tmp_path,
    )
    assert Layers(request=request, base=a_base("one")).compiled() == {}
    both = Layers(request=msgspec.structs.replace(request, case_folding=True, clocks=True), base=a_base("one"))
    assert both.compiled() == {each.kind: each.name_of(a_base("one")) for each in COMPILED}


def test_more_locales_are_made_above_what_is_installed_and_only_those_that_are_not_there(tmp_path: Path) -> None:
    request = PrepareRequest(
        root=tmp_path,
        directory="",
        settings=ImageSettings(),
        environments={"home": EnvironmentSettings(locale="en_US.UTF-8")},
        access=Access(),
        logs=tmp_path,
    )
    plain = Layers(request=request, base=a_base("sha256:1"))
    wanted = msgspec.structs.replace(request, locales=("tr_TR.UTF-8", "C.UTF-8", "en_US.UTF-8", "de_DE.ISO-8859-1"))
    more = Layers(request=wanted, base=a_base("sha256:1"))
    files = more.environment_files("home")
    assert files["more_locales.txt"] == b"de_DE.ISO-8859-1\ntr_TR.UTF-8\n"
    assert files["Dockerfile"].index(b"more_locales.sh") < files["Dockerfile"].index(b"COPY guest")
    assert more.system_tag() == plain.system_tag()
    assert more.environment_tag("home", "deps") != plain.environment_tag("home", "deps")
    assert "more_locales.sh" not in plain.environment_files("home")
