"""Secret-like files stay here unless they are named or everyone with the repository has them."""

from __future__ import annotations

import pytest

from paritygate.snapshot import rules
from tests.snapshot.conftest import Make, Project, files

KEY = "-----BEGIN RSA PRIVATE KEY-----\nAAAA\n-----END RSA PRIVATE KEY-----\n"


@pytest.mark.parametrize(
    "path",
    [
        *(".env", ".env.local", "app/.env.production", "prod.env", ".envrc"),
        *("server.pem", "a/server.key", "store.p12", "passwords.kdbx", "id_rsa", "id_ed25519", "id_rsa.old"),
        *(".netrc", "_netrc", ".pypirc", ".git-credentials", ".htpasswd", ".pgpass"),
        *("credentials", "credentials.json", "aws-credentials/../credentials.csv", "secrets.toml", ".secrets"),
        *(".aws/config", "home/.ssh/known_hosts", ".gnupg/pubring.kbx", ".docker/config.json"),
        *("service-account.json", "service_account_prod.json", "client_secret_1.json", "terraform.tfstate"),
    ],
)
def test_a_name_like_this_is_secret(path: str) -> None:
    assert rules.secret(path)


@pytest.mark.parametrize(
    "path",
    [
        *(".env.example", ".env.sample", ".env.template", ".env.dist", "settings.env.example"),
        *("id_rsa.pub", "environment.py", "test_env.py", "credentials.py", "test_secrets.py", "secrets.py", "keys.py"),
        *("monkey", "key.json", ".secrets.baseline", "config.json", ".docker/Dockerfile", "credentials.md"),
    ],
)
def test_a_name_like_this_is_not(path: str) -> None:
    assert not rules.secret(path)


def test_untracked_ignored_and_newly_added_secrets_are_withheld_from_both_states(project: Project) -> None:
    project.write(".gitignore", ".env\n")
    project.commit()
    project.write(".env", "TOKEN=1")
    project.write("server.pem")
    project.write("added.key")
    project.git("add", "added.key")

    dirty, clean = project.trees()

    assert files(dirty) == files(clean) == [".gitignore", "test_a.py"]
    assert dirty.withheld == (".env", "added.key", "server.pem")
    assert clean.withheld == ("added.key",)


def test_a_certificate_that_head_has_is_sent(project: Project) -> None:
    project.write("tests/server.pem", KEY)
    project.commit()

    dirty, clean = project.trees()

    assert files(clean) == ["test_a.py", "tests/server.pem"]
    assert dirty.withheld == clean.withheld == ()


def test_local_changes_of_a_tracked_secret_are_withheld_and_heads_content_sent(project: Project) -> None:
    project.write(".env", "TOKEN=\n")
    project.commit()
    unchanged = project.trees()[0].digest
    project.write(".env", "TOKEN=real\n")
    project.git("update-index", "--assume-unchanged", ".env")

    dirty, clean = project.trees()

    assert dirty.digest == clean.digest == unchanged
    assert dirty.withheld == clean.withheld == (".env",)


@pytest.mark.parametrize("pattern", [".env", "app/.env", "*.env", "app", "app/"])
def test_a_secret_that_is_named_is_sent(project: Project, pattern: str) -> None:
    project.write("app/.env", "TOKEN=1")

    dirty, _ = project.trees(include=(pattern,))

    assert files(dirty) == ["app/.env", "test_a.py"]
    assert dirty.withheld == ()


def test_a_pattern_may_start_at_the_project(project: Project) -> None:
    project.write("sub/conf/.env")

    dirty, _ = project.trees("sub", include=("conf/.env",))

    assert files(dirty) == ["sub/conf/.env", "test_a.py"]


def test_an_untracked_file_that_is_a_key_is_withheld_whatever_its_name(project: Project) -> None:
    project.write("notes", KEY)
    project.write("robot.json", '{"type": "service_account", "private_key": "-----BEGIN PRIVATE KEY-----"}')
    project.write(".npmrc", "//registry.example.org/:_authToken=abc\n")
    project.write("plain/.npmrc", "save-exact=true\n")
    project.write("test_tls.py", f'KEY = """{KEY}"""\n')

    dirty, _ = project.trees()

    assert files(dirty) == ["plain/.npmrc", "test_a.py", "test_tls.py"]
    assert dirty.withheld == (".npmrc", "notes", "robot.json")


def test_a_key_that_head_has_is_sent_and_one_that_was_just_added_is_not(project: Project) -> None:
    project.write("old", KEY)
    project.commit()
    project.write("new", KEY)
    project.git("add", "new")

    dirty, clean = project.trees()

    assert files(dirty) == files(clean) == ["old", "test_a.py"]
    assert clean.withheld == ("new",)


def test_without_git_every_secret_is_withheld(directory: Make) -> None:
    plain = directory("plain")
    plain.write("server.key", KEY)
    plain.write("test_a.py")

    _, clean = plain.trees()

    assert files(clean) == ["test_a.py"]
    assert clean.withheld == ("server.key",)
