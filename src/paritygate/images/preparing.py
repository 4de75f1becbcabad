"""From a project to its images: base, system, dependencies, one thin layer for each environment, and the filesystem's daemon.

Everything is looked up by content first; where all is there, nothing is started.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from paritygate.docker_engine.requests import BuildRequest, Commit, ImageRecord, Log
from paritygate.docker_engine.verbs import Engine
from paritygate.errors import BaseImageError, BuildError
from paritygate.images import advice, base, building, installing
from paritygate.images.building import Failed, Logs
from paritygate.images.compiled import Compiled
from paritygate.images.dependencies import find
from paritygate.images.installing import Job, Plan
from paritygate.images.layers import Layers, PrepareRequest
from paritygate.images.names import Kind
from paritygate.images.recipes import Recipe
from paritygate.images.transcripts import Transcript

DEFAULT_ZONE = "Asia/Shanghai"
"""What an image carries whose zone is chosen anew for each run; cells override it."""

PYTHON_LABEL = "paritygate.python"
"""The interpreter's version, on the dependency layer and what is made of it."""

_WRONG_PYTHON = 78


class ImageSet(msgspec.Struct, frozen=True, kw_only=True):
    """The images of one project, and the recipe they were made by; `project` is its name in theirs, `notes` what to remark.

    `compiled` are the images that the environments' ones have what is compiled from.
    """

    project: str
    base: ImageRecord
    dependencies: str
    environments: dict[str, ImageRecord]
    recipe: Recipe
    notes: tuple[str, ...] = ()
    compiled: dict[Kind, str] = {}

    def of(self, environment: str) -> ImageRecord:
        """Give an environment's image."""
        return self.environments[environment]


def prepare(engine: Engine, request: PrepareRequest, log: Log) -> ImageSet:
    """Find or make every image that the environments need."""
    recipe, python = wanted(request)
    start = base.find_or_make(engine, request.settings, python, log)
    work = _Work(engine=engine, request=request, layers=Layers(request=request, base=start), python=python, log=log)
    made = work.found(recipe) or work.made(recipe)
    notes = (*recipe.notes, *work.other_python(made))
    for note in notes:
        log(note)
    return msgspec.structs.replace(made, notes=notes)


def look_up(engine: Engine, request: PrepareRequest) -> ImageSet | None:
    """Find every image that the environments need, and make none; None where one is absent."""
    recipe, python = wanted(request)
    start = base.look_up(engine, request.settings, python)
    if start is None:
        return None
    layers = Layers(request=request, base=start)
    return _Work(engine=engine, request=request, layers=layers, python=python, log=lambda _line: None).found(recipe)


def wanted(request: PrepareRequest) -> tuple[Recipe, str]:
    """Say by which recipe to install, and on which Python."""
    recipe = find(request.root, request.directory, request.settings)
    return recipe, base.choose_python(request.settings, request.place, recipe.requires_python, request.running)


class _Work(msgspec.Struct, frozen=True, kw_only=True):
    """One preparation: what it found, and how each layer is made."""

    engine: Engine
    request: PrepareRequest
    layers: Layers
    python: str
    log: Log

    def found(self, recipe: Recipe) -> ImageSet | None:
        """Look the images of every environment up; None where one is absent."""
        for candidate in filter(None, (recipe, recipe.fallback)):
            dependencies = self.layers.dependencies_tag(candidate)
            names = {name: self.layers.environment_tag(name, dependencies) for name in self.request.environments}
            looked_up = {name: self.engine.image(each) for name, each in names.items()}
            present = {name: image for name, image in looked_up.items() if image is not None}
            if len(present) == len(names):
                return self.image_set(dependencies, present, candidate)
        return None

    def made(self, recipe: Recipe) -> ImageSet:
        """Make what is absent, first of all what is quick to fail."""
        for each in self.request.compiled:
            self.compile(each)
        dependencies, used = self.dependencies(recipe)
        environments = {name: self.environment(name, dependencies) for name in self.request.environments}
        return self.image_set(dependencies, environments, used)

    def image_set(self, dependencies: str, environments: dict[str, ImageRecord], recipe: Recipe) -> ImageSet:
        return ImageSet(
            project=self.layers.project,
            base=self.layers.base,
            dependencies=dependencies,
            environments=environments,
            recipe=recipe,
            compiled=self.layers.compiled(),
        )

    def system(self) -> str:
        name = self.layers.system_tag()
        if self.engine.image(name) is None:
            self.log(f"making the system layer on `{self.layers.start}`")
            self.build(
                BuildRequest(
                    tag=name,
                    files=self.layers.system_files(),
                    labels=self.layers.labels(Kind.SYSTEM, self.layers.start),
                    arguments={"BASE": self.layers.start, **self.request.access.proxies},
                ),
                self.advise,
            )
        return name

    def dependencies(self, recipe: Recipe) -> tuple[str, Recipe]:
        """Find or make the dependency layer; where the recipe fails and has a fallback, by that."""
        for candidate in filter(None, (recipe, recipe.fallback)):
            if self.engine.image(self.layers.dependencies_tag(candidate)):
                return self.layers.dependencies_tag(candidate), candidate
        system = self.system()
        try:
            return self.install(recipe, system), recipe
        except BuildError:
            if recipe.fallback is None:
                raise
        self.log("the manifests alone did not say what is needed; asking again with the whole tree")
        return self.install(recipe.fallback, system), recipe.fallback

    def install(self, recipe: Recipe, system: str) -> str:
        name = self.layers.dependencies_tag(recipe)
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
                what_now = advice.CORRECT_IT if self.request.settings.install else advice.SAY_HOW
                what = f"the dependencies could not be installed from {recipe.source}"
                raise installing.failure(what, transcript, what_now)
            # Another gate may have made the same one meanwhile: a second would take its name away.
            if self.engine.image(name) is None:
                labels = {**self.layers.labels(Kind.DEPENDENCIES, recipe.source), PYTHON_LABEL: transcript.last}
                created.commit(Commit(tag=name, labels=labels, environment={}, workdir=installing.WORKSPACE))
        return name

    def wrong_python(self, recipe: Recipe, found: str) -> BaseImageError:
        wanted = recipe.python or recipe.requires_python
        return BaseImageError(
            f"the project wants Python `{wanted}`, and the base image `{self.layers.start}` has {found}", self.another_base()
        )

    def other_python(self, made: ImageSet) -> tuple[str, ...]:
        """Say it where the base has another version than the one that `.python-version` names and nothing overrules."""
        pinned = base.pinned_python(self.request.place)
        found = next((image.labels.get(PYTHON_LABEL, "") for image in made.environments.values()), "")
        if not found or pinned != self.python or f"{found}.".startswith(f"{pinned}."):
            return ()
        what = f"`.python-version` names Python {pinned}, and the base image `{self.layers.start}` has {found}"
        return (f"{what}: to have the former, {self.another_base()}",)

    def another_base(self) -> str:
        name_it = "name an image that has it with `base` under `[tool.paritygate.image]`"
        official = base.official(self.python)
        return name_it if self.request.settings.base else f"load `{official}` into the engine, or {name_it}"

    def environment(self, name: str, dependencies: str) -> ImageRecord:
        wanted = self.layers.environment_tag(name, dependencies)
        found = self.engine.image(wanted)
        if found is not None:
            return found
        settings = self.request.environments[name]
        zone = DEFAULT_ZONE if settings.timezone == "auto" else settings.timezone
        arguments = {"BASE": dependencies, "TIMEZONE": zone, "LOCALE": settings.locale, "WORKERS": str(settings.workers)}
        arguments |= {each.argument: self.layers.compiled()[each.kind] for each in self.request.compiled}
        self.log(f"making the image of `{name}`")
        return self.build(
            BuildRequest(
                tag=wanted,
                files=self.layers.environment_files(name),
                labels=self.layers.labels(Kind.ENVIRONMENT, name),
                arguments=arguments,
            ),
            self.advise,
        )

    def compile(self, wanted: Compiled) -> None:
        name = self.layers.compiled()[wanted.kind]
        if self.engine.image(name) is None:
            self.log(f"building the {wanted.what} on `{self.layers.start}`")
            self.build(
                BuildRequest(
                    tag=name,
                    files=wanted.files(),
                    labels=self.layers.labels(wanted.kind, self.layers.start),
                    arguments={"BASE": self.layers.start, "MADE": wanted.made, **self.request.access.proxies},
                ),
                lambda failed: wanted.hint_for(failed.tail),
            )

    def build(self, request: BuildRequest, advise: Callable[[Failed], str]) -> ImageRecord:
        logs = Logs(folder=self.request.logs, secrets=self.request.access.secrets)
        return building.build(self.engine, request, logs, advise)

    def advise(self, failed: Failed) -> str:
        ours = ": ".join(filter(None, (self.keys_behind(failed.reason), failed.hint)))
        return ours or advice.hint_for(failed.tail, advice.CORRECT_BASE)

    def keys_behind(self, reason: str) -> str:
        """Say which keys of the configuration have to do with a reason: those whose value it names."""
        keys = [
            f"`environments.{name}.{key}`"
            for name, settings in self.request.environments.items()
            for key, value in (("timezone", settings.timezone), ("locale", settings.locale))
            if f"`{value}`" in reason
        ]
        return f"correct {' and '.join(keys)}" if keys else ""
