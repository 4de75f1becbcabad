"""Which names are never sent (caches, environments) and which only when named (secrets).

Pure: names and bytes in, answers out.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from fnmatch import fnmatchcase

_CACHE_DIRECTORIES = frozenset(
    {
        *(".git", ".hg", ".svn", ".bzr", "_darcs", ".jj"),
        *(
            "__pycache__",
            ".pytest_cache",
            ".mypy_cache",
            ".ruff_cache",
            ".hypothesis",
            ".pytype",
            ".pyre",
            ".import_linter_cache",
        ),
        *(".tox", ".nox", ".eggs", "__pypackages__", ".pdm-build", ".pixi", ".direnv", ".paritygate"),
        *("node_modules", ".nyc_output", "htmlcov", ".ipynb_checkpoints", ".ropeproject"),
        *(".idea", ".vs", ".vscode", ".gradle", ".terraform"),
    }
)
_CACHE_FILES = re.compile(r".*\.py[co]|\.coverage(\.(?!py$|toml$).+)?|\.dmypy\.json|\.DS_Store|Thumbs\.db|\.git|\.nfs[0-9a-f]+")
_ENVIRONMENT_MARKS = frozenset({"pyvenv.cfg", "conda-meta"})
_ENVIRONMENT_PARTS = frozenset(
    {*_ENVIRONMENT_MARKS, "bin", "Scripts", "lib", "lib64", "Lib", "include", "Include", "share", "etc"}
)

_DATA = r"(\.(json|ya?ml|toml|ini|cfg|conf|txt|csv|xml|env|properties|db|enc|gpg|asc|bak|old|local))*"
_SECRET_NAME = re.compile(
    "|".join(
        (
            r"\.env(\..+)?|.+\.env|\.envrc",
            r".*\.(pem|key|p12|pfx|jks|keystore|kdbx?|ppk|p8|tfstate|tfstate\.backup|agekey|keytab)",
            r"id_(rsa|dsa|ecdsa|ed25519)(_sk)?([._-].*)?",
            r"\.?netrc|_netrc|\.pypirc|\.git-credentials|\.htpasswd|\.pgpass|\.my\.cnf|\.dockercfg|\.vault[-_]token|\.s3cfg|\.boto",
            rf"\.?credentials[\w-]*{_DATA}|\.?client[-_]secrets?.*\.json|\.?secrets?{_DATA}|\.?secrets?\.local\..*",
            r"service[-_]?account.*\.json|application_default_credentials\.json|kubeconfig(\.ya?ml)?|terraform\.tfvars",
        )
    ),
    re.IGNORECASE,
)
_HARMLESS_NAME = re.compile(r".*\.(example|sample|template|tmpl|dist|pub)(\..+)?", re.IGNORECASE)
_SECRET_DIRECTORIES = frozenset({".aws", ".ssh", ".gnupg", ".kube", ".azure", ".gcloud", ".password-store"})
_MAYBE_TOKENS = frozenset({".npmrc", ".yarnrc", ".yarnrc.yml", "pip.conf", "pip.ini"})
_TOKENS = re.compile(rb"_authtoken|_password|\b_auth\b|npmauthtoken|://[^/\s:@]+:[^/\s@]+@", re.IGNORECASE)
_PRIVATE_KEY = re.compile(rb"-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----")
_SERVICE_ACCOUNT = re.compile(rb"\"private_key\"\s*:\s*\"-----BEGIN")
_KEY_FILE = (b"-----BEGIN ", b"Bag Attributes")
POINTER = b"version https://git-lfs.github.com/spec/v1\n"
SMALL = 64 * 1024


def cache_directory(name: str) -> bool:
    """Say whether a directory of this name is something that tools make again by themselves."""
    return name in _CACHE_DIRECTORIES


def cache_file(name: str) -> bool:
    """Say whether a file of this name is something that tools make again by themselves."""
    return _CACHE_FILES.fullmatch(name) is not None


def environment(names: Collection[str]) -> bool:
    """Say whether a directory with these names in it is a virtual or conda environment."""
    return not _ENVIRONMENT_MARKS.isdisjoint(names)


def environment_part(name: str) -> bool:
    """Say whether this is a part of an environment that was made right in a directory with other things."""
    return name in _ENVIRONMENT_PARTS


def secret(path: str) -> bool:
    """Say whether a path looks like a secret by its name or by a directory that it is in."""
    *directories, name = path.split("/")
    if not _SECRET_DIRECTORIES.isdisjoint(directories) or path.endswith(".docker/config.json"):
        return True
    return _SECRET_NAME.fullmatch(name) is not None and _HARMLESS_NAME.fullmatch(name) is None


def secret_content(path: str, content: bytes) -> bool:
    """Say whether the content is a private key or an access token.

    A key is one only at the file's start: a test module that holds one in a string is a test module.
    """
    name = path.rsplit("/", 1)[-1]
    if name in _MAYBE_TOKENS and _TOKENS.search(content):
        return True
    start = content.lstrip()
    if start.startswith(b"PuTTY-User-Key-File-"):
        return True
    if start.startswith(_KEY_FILE) and _PRIVATE_KEY.search(content):
        return True
    return start.startswith(b"{") and _SERVICE_ACCOUNT.search(content) is not None


def named(path: str, directory: str, patterns: Collection[str]) -> bool:
    """Say whether a pattern names this path: by its name, from the tree's top, from the project, or a directory above it."""
    inside = path.removeprefix(f"{directory}/") if directory else path
    name = path.rsplit("/", 1)[-1]
    for given in patterns:
        pattern = given.removeprefix("./").rstrip("/")
        if any(fnmatchcase(place, pattern) or fnmatchcase(place, f"{pattern}/*") for place in (path, inside)):
            return True
        if "/" not in pattern and fnmatchcase(name, pattern):
            return True
    return False
