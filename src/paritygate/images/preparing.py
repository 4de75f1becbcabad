"""From a project to its images: base, system, dependencies, one thin layer for each environment.

Everything is looked up by content first; where all is there, nothing is started.
"""

from __future__ import annotations

from pathlib import Path

import msgspec
import tomli_w

from paritygate.config.settings import EnvironmentSettings, ImageSettings
from paritygate.docker_engine.requests import KIND_LABEL, BuildRequest, Commit, ImageRecord, Log
from paritygate.docker_engine.verbs import Engine
from paritygate.errors import BaseImageError, BuildError
from paritygate.images import base, installing, resources
from paritygate.images.access import Access
from paritygate.images.dependencies import find
from paritygate.images.installing import Job, Plan
from paritygate.images.names import PROJECT_LABEL, SOURCE_LABEL, Kind, digest, digest_files, tag
from paritygate.images.recipes import Recipe
from paritygate.images.transcripts import Transcript

DEFAULT_ZONE = "Asia/Shanghai"
"""What an image carries whose zone is chosen anew for each run; cells override it."""

_WRONG_PYTHON = 78
_MADE_EVERYWHERE = frozenset({"C", "POSIX", "C.UTF-8", "C.utf8"})


class PrepareRequest(msgspec.Struct, frozen=True, kw_only=True):
    """What images are wanted: for the project in `directory` of the tree at `root`, one for each environment.

    `running` is this interpreter's `X.Y`; `logs` the folder for logs.
    """

    root: Path
    directory: str
    settings: ImageSettings
    environments: dict[str, EnvironmentSettings]
    access: Access
    logs: Path
    running: str = "3.12"


class ImageSet(msgspec.Struct, frozen=True, kw_only=True):
    """The images of one project, and the recipe they were made by; `project` is its name in theirs."""

    project: str
    base: ImageRecord
    dependencies: str
    environments: dict[str, ImageRecord]
    recipe: Recipe

    def of(self, environment: str) -> ImageRecord:
        """Give an environment's image."""
        return self.environments[environment]


def prepare(engine: Engine, request: PrepareRequest, log: Log) -> ImageSet:
    """Find or make every image that the environments need."""
    place = request.root / request.directory
    recipe = find(request.root, request.directory, request.settings)
    for note in recipe.notes:
        log(note)
    python = base.choose_python(request.settings, place, recipe.requires_python, request.running)
    start = base.find_or_make(engine, request.settings, python, log)
    work = _Work(engine=engine, request=request, base=start, project=place.resolve().name, log=log)
    for candidate in filter(None, (recipe, recipe.fallback)):
        names = {name: work.environment_tag(name, work.dependencies_tag(candidate)) for name in request.environments}
        found = {name: engine.image(each) for name, each in names.items()}
        present = {name: image for name, image in found.items() if image is not None}
        if len(present) == len(names):
            return ImageSet(
                project=work.project,
                base=start,
                dependencies=work.dependencies_tag(candidate),
                environments=present,
                recipe=candidate,
            )
    dependencies, used = work.dependencies(recipe)
    environments = {name: work.environment(name, dependencies) for name in request.environments}
    return ImageSet(project=work.project, base=start, dependencies=dependencies, environments=environments, recipe=used)


class _Work(msgspec.Struct, frozen=True, kw_only=True):
    """One preparation: the names that follow from its inputs, and how each layer is made."""

    engine: Engine
    request: PrepareRequest
    base: ImageRecord
    project: str
    log: Log

    def system_files(self) -> dict[str, bytes]:
        wanted = {settings.locale for settings in self.request.environments.values()} - _MADE_EVERYWHERE
        return {
            "Dockerfile": resources.recipe("system.Dockerfile"),
            "system.sh": resources.recipe("system.sh"),
            "packages.txt": "".join(f"{name}\n" for name in sorted(self.request.settings.system_packages)).encode(),
            "locales.txt": "".join(f"{name}\n" for name in sorted(wanted)).encode(),
        }

    def system_tag(self) -> str:
        return tag(Kind.SYSTEM, "", digest(self.base.identity, digest_files(self.system_files())))

    def dependencies_tag(self, recipe: Recipe) -> str:
        bare = msgspec.structs.replace(recipe, files={}, fallback=None, notes=(), members=(), distributions=())
        content = digest(
            self.system_tag(),
            msgspec.json.encode(bare, order="sorted"),
            digest_files(recipe.files),
            resources.recipe("install.py"),
            self.request.access.indexes,
        )
        return tag(Kind.DEPENDENCIES, "", content)

    def environment_files(self, name: str) -> dict[str, bytes]:
        settings = self.request.environments[name]
        manifest = {"name": name, **msgspec.to_builtins(settings), "worktree": str(settings.worktree)}
        return {
            "Dockerfile": resources.recipe("environment.Dockerfile"),
            "environment.toml": tomli_w.dumps(manifest).encode(),
            **{f"guest/{path}": content for path, content in resources.guest().items()},
        }

    def environment_tag(self, name: str, dependencies: str) -> str:
        return tag(Kind.ENVIRONMENT, name, digest(dependencies, digest_files(self.environment_files(name))))

    def labels(self, kind: Kind, source: str = "") -> dict[str, str]:
        labels = {KIND_LABEL: str(kind), SOURCE_LABEL: source}
        return labels if kind is Kind.SYSTEM else {**labels, PROJECT_LABEL: self.project}

    def system(self) -> str:
        name = self.system_tag()
        if self.engine.image(name) is None:
            start = self.base.tags[0] if self.base.tags else self.base.identity
            self.log(f"making the system layer on `{start}`")
            self.build(
                BuildRequest(
                    tag=name,
                    files=self.system_files(),
                    labels=self.labels(Kind.SYSTEM, start),
                    arguments={"BASE": start, **self.request.access.proxies},
                )
            )
        return name

    def dependencies(self, recipe: Recipe) -> tuple[str, Recipe]:
        """Find or make the dependency layer; where the recipe fails and has a fallback, by that."""
        for candidate in filter(None, (recipe, recipe.fallback)):
            if self.engine.image(self.dependencies_tag(candidate)):
                return self.dependencies_tag(candidate), candidate
        system = self.system()
        try:
            return self.install(recipe, system), recipe
        except BuildError:
            if recipe.fallback is None:
                raise
        self.log("the manifests alone did not say what is needed; asking again with the whole tree")
        return self.install(recipe.fallback, system), recipe.fallback

    def install(self, recipe: Recipe, system: str) -> str:
        name = self.dependencies_tag(recipe)
        self.log(f"installing dependencies from {recipe.source}")
        plan = Plan(
            python=recipe.python,
            requires_python=recipe.requires_python,
            steps=recipe.steps,
            build_requires=recipe.build_requires,
        )
        job = Job(what="dependencies", image=system, plan=plan, files=recipe.files, access=self.request.access, network=True)
        path = self.request.logs / f"dependencies-{name.rpartition(':')[2]}.log"
        with installing.container(self.engine, job) as created, Transcript(path, self.request.access.secrets) as transcript:
            code = installing.follow(created, job, transcript)
            if code == _WRONG_PYTHON:
                raise self.wrong_python(recipe, transcript.last)
            if code:
                what_now = installing.CORRECT_IT if self.request.settings.install else installing.SAY_HOW
                what = f"the dependencies could not be installed from {recipe.source}"
                raise installing.failure(what, transcript, path, what_now)
            created.commit(
                Commit(tag=name, labels=self.labels(Kind.DEPENDENCIES, recipe.source), environment={}, workdir="/workspace")
            )
        return name

    def wrong_python(self, recipe: Recipe, found: str) -> BaseImageError:
        start = self.base.tags[0] if self.base.tags else self.base.identity
        wanted = recipe.python or recipe.requires_python
        return BaseImageError(
            f"the project wants Python `{wanted}`, and the base image `{start}` has {found}",
            "name an image that has it with `base` under `[tool.paritygate.image]`",
        )

    def environment(self, name: str, dependencies: str) -> ImageRecord:
        wanted = self.environment_tag(name, dependencies)
        found = self.engine.image(wanted)
        if found is not None:
            return found
        settings = self.request.environments[name]
        zone = DEFAULT_ZONE if settings.timezone == "auto" else settings.timezone
        self.log(f"making the image of `{name}`")
        return self.build(
            BuildRequest(
                tag=wanted,
                files=self.environment_files(name),
                labels=self.labels(Kind.ENVIRONMENT, name),
                arguments={"BASE": dependencies, "TIMEZONE": zone, "LOCALE": settings.locale, "WORKERS": str(settings.workers)},
            )
        )

    def build(self, request: BuildRequest) -> ImageRecord:
        """Build, with the whole log in a file."""
        path = self.request.logs / f"{request.tag.rpartition('/')[2].replace(':', '-')}.log"
        with Transcript(path, self.request.access.secrets) as transcript:
            try:
                return self.engine.build(request, transcript.write)
            except BuildError as error:
                title = error.message.splitlines()[0]
                raise BuildError(title, error.tail, str(path), error.hint or installing.hint_for(error.tail)) from error
