"""What each image is made of and called: every layer's files, labels and name follow from content alone."""

from __future__ import annotations

from pathlib import Path

import msgspec
import tomli_w

from paritygate.config.settings import EnvironmentSettings, ImageSettings
from paritygate.docker_engine.requests import KIND_LABEL, ImageRecord
from paritygate.images import resources
from paritygate.images.access import Access
from paritygate.images.compiled import CASEFS, CLOCK, Compiled
from paritygate.images.names import PROJECT_LABEL, SOURCE_LABEL, Kind, digest, digest_files, tag
from paritygate.images.recipes import Recipe

_SHARED = frozenset({Kind.SYSTEM, Kind.CASEFS, Kind.CLOCK})
_BEGINS = b"FROM ${BASE}\n"
_LOCALES = b"COPY more_locales.sh more_locales.txt /opt/paritygate/recipe/\nRUN sh /opt/paritygate/recipe/more_locales.sh\n"
_MADE_EVERYWHERE = frozenset({"C", "POSIX", "C.UTF-8", "C.utf8"})


class PrepareRequest(msgspec.Struct, frozen=True, kw_only=True):
    """What images are wanted: for the project in `directory` of the tree at `root`, one for each environment.

    `running` is this interpreter's `X.Y`; `logs` the folder for logs. With `case_folding` the images of environments hold the
    daemon of the case-folding filesystem, with `clocks` the library that moves the clock of programs, and as far as they can be
    made `locales` beside those of the environments.
    """

    root: Path
    directory: str
    settings: ImageSettings
    environments: dict[str, EnvironmentSettings]
    access: Access
    logs: Path
    running: str = "3.12"
    case_folding: bool = False
    locales: tuple[str, ...] = ()
    clocks: bool = False

    @property
    def compiled(self) -> tuple[Compiled, ...]:
        """What of that is compiled."""
        return (CASEFS,) * self.case_folding + (CLOCK,) * self.clocks

    @property
    def place(self) -> Path:
        """The project's own folder."""
        return self.root / self.directory


class Layers(msgspec.Struct, frozen=True, kw_only=True):
    """The images that a request asks for on a base, layer by layer; none of them is looked for."""

    request: PrepareRequest
    base: ImageRecord

    @property
    def project(self) -> str:
        """The name that the project's images carry."""
        return self.request.place.resolve().name

    @property
    def start(self) -> str:
        """The base as a recipe names it."""
        return self.base.tags[0] if self.base.tags else self.base.identity

    def system_files(self) -> dict[str, bytes]:
        """Give the files that the system layer is built from: its recipe, packages and locales."""
        wanted = {settings.locale for settings in self.request.environments.values()} - _MADE_EVERYWHERE
        return {
            "Dockerfile": resources.recipe("system.Dockerfile"),
            "system.sh": resources.recipe("system.sh"),
            "near_locales.py": resources.recipe("near_locales.py"),
            "packages.txt": "".join(f"{name}\n" for name in sorted(self.request.settings.system_packages)).encode(),
            "locales.txt": "".join(f"{name}\n" for name in sorted(wanted)).encode(),
        }

    def system_tag(self) -> str:
        """Name the system layer."""
        return tag(Kind.SYSTEM, "", digest(self.base.identity, digest_files(self.system_files())))

    def dependencies_tag(self, recipe: Recipe) -> str:
        """Name the layer in which a recipe has been followed."""
        bare = msgspec.structs.replace(recipe, files={}, fallback=None, notes=(), members=(), distributions=(), project=True)
        content = digest(
            self.system_tag(),
            msgspec.json.encode(bare, order="sorted"),
            digest_files(recipe.files),
            resources.recipe("install.py"),
            self.request.access.indexes,
        )
        return tag(Kind.DEPENDENCIES, "", content)

    def compiled(self) -> dict[Kind, str]:
        """Name the images that hold what is compiled, of what is wanted."""
        return {each.kind: each.name_of(self.base) for each in self.request.compiled}

    def environment_files(self, name: str) -> dict[str, bytes]:
        """Give the files that an environment's image is built from: its recipe, manifest and what runs in its cells."""
        recipe = resources.recipe("environment.Dockerfile")
        settings = self.request.environments[name]
        manifest = {"name": name, **msgspec.to_builtins(settings), "worktree": str(settings.worktree)}
        # On which computer it is, is no part of what it is: the same image is on all.
        del manifest["engine"]
        return {
            "Dockerfile": self._with_parts(recipe),
            "environment.toml": tomli_w.dumps(manifest).encode(),
            **self._locale_files(),
            **{f"guest/{path}": content for path, content in resources.guest().items()},
        }

    def _more_locales(self) -> tuple[str, ...]:
        """List the locales that the system layer does not have; made here, they leave what is installed as it is."""
        known = _MADE_EVERYWHERE | {settings.locale for settings in self.request.environments.values()}
        return tuple(sorted(set(self.request.locales) - known))

    def _locale_files(self) -> dict[str, bytes]:
        names = self._more_locales()
        if not names:
            return {}
        content = "".join(f"{name}\n" for name in names).encode()
        return {"more_locales.sh": resources.recipe("more_locales.sh"), "more_locales.txt": content}

    def _with_locales(self, recipe: bytes) -> bytes:
        """Have the recipe make them first, so that the layer serves every environment that wants the same."""
        before, start, rest = recipe.partition(_BEGINS)
        return before + start + _LOCALES + rest if self._more_locales() else recipe

    def _with_parts(self, recipe: bytes) -> bytes:
        """Have the recipe take what is wanted from the images that hold it."""
        for each in self.request.compiled:
            recipe = each.added_to(recipe)
        return self._with_locales(recipe)

    def environment_tag(self, name: str, dependencies: str) -> str:
        """Name an environment's image on a layer of dependencies."""
        inside = self.compiled().values()
        return tag(Kind.ENVIRONMENT, name, digest(dependencies, digest_files(self.environment_files(name)), *inside))

    def labels(self, kind: Kind, source: str = "") -> dict[str, str]:
        """Say what an image is labelled with; what projects share is nobody's."""
        labels = {KIND_LABEL: str(kind), SOURCE_LABEL: source}
        return labels if kind in _SHARED else {**labels, PROJECT_LABEL: self.project}
