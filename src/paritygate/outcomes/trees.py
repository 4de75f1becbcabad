"""What a snapshot is: a working tree in one state, as a list of entries with a digest; and in what two of them differ."""

from __future__ import annotations

import msgspec

from paritygate.outcomes.words import FileState, Worktree


class NameMismatch(msgspec.Struct, frozen=True, kw_only=True):
    """A path whose name in git's index is not its name on disk; `why` is `case` or `unicode form`.

    With `collision`, `on_disk` is another tracked name (or a directory of tracked files) that some filesystem takes for the same.
    """

    tracked: str
    on_disk: str
    why: str


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """One thing in a tree, and where its content is.

    `source` is its absolute path on this computer, `lf:<path>` for a text sent with LF where that has CRLF, or
    `git:<object id>` for content from git (`git:<object id>@<submodule>/` from a submodule's repository).
    `kind` is `file`, `directory` or `link`; `mode` the permission bits; `sha256` empty for directories and for links, whose
    `target` counts.
    """

    path: str
    kind: str
    mode: int
    source: str = ""
    target: str = ""
    size: int = 0
    sha256: str = ""


class Tree(msgspec.Struct, frozen=True, kw_only=True):
    """A snapshot before it is sent: `root` is the tree's top on this computer, `directory` the project's place in it.

    `digest` covers all that is sent: paths, kinds, modes, contents, the commit made for `.git`, and `version`. `status`
    says for each path that is not plainly tracked what it is (`untracked`, `ignored`, `modified`, `renamed`: otherwise spelled
    in git's index and on disk). `version` is what a version derived from git would be, empty where the project derives none.
    `has_git` says whether a `.git` is sent along, `tracked` whether git tracks anything, and so
    says what a fresh clone would hold. `notes` are for people. Names that are not UTF-8 hold surrogates, except in `withheld` and
    `left_out`, where they are printable.
    """

    state: Worktree
    root: str
    directory: str
    commit: str
    digest: str
    entries: tuple[Entry, ...]
    withheld: tuple[str, ...] = ()
    left_out: dict[str, str] = {}
    mismatches: tuple[NameMismatch, ...] = ()
    status: dict[str, str] = {}
    version: str = ""
    has_git: bool = False
    tracked: bool = False
    notes: tuple[str, ...] = ()


class Difference(msgspec.Struct, frozen=True):
    """What a path is that only one state of the tree has, or has otherwise.

    `name` is what to call it: of a folder with `/` at its end, of what git and the disk name differently the disk's name, with
    git's in `other`. A folder is as what lies in it.
    """

    name: str
    state: FileState
    other: str = ""

    @property
    def is_folder(self) -> bool:
        """Whether it stands for all that lies in a folder."""
        return self.name.endswith("/")
