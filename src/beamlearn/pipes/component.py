"""BeamComponent: the model of a run folder in a pipeline of spaCy."""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, final

import srsly
import torch
from spacy import util
from spacy.language import Language
from spacy.tokens import Doc

from ..data import atomic
from ..hub.download import run_folder
from ..tasks.decoding_width import default_width
from ..tasks.loading import load
from ..training.device import available
from ..training.run import PORTABLE, RunError, portable_files
from .extensions import declare
from .job import Beam, Job
from .sentences import sentences_of


@final
class BeamComponent:
    """A component that annotates documents with the model of a run.

    It carries the files of the model with it: they are saved, loaded and sent to other processes
    with the pipeline, and the run folder is not needed again. Nothing is pickled but their bytes.
    """

    def __init__(
        self,
        nlp: Language,
        name: str,
        job: Job,
        *,
        factory: str,
        width: int | None,
        nbest: int,
        device: str,
    ) -> None:
        if nbest < 1 or (width is not None and width < 1):
            wrong, value = ("nbest", nbest) if nbest < 1 else ("width", width)
            raise ValueError(f"`{wrong}` must be at least 1, got {value}.")
        declare()
        self.nlp, self._name, self.job, self.factory = nlp, name, job, factory
        self.width, self.nbest, self.device = width, nbest, device
        self.files: Mapping[str, bytes] = {}
        """Those of the run; none before there is one."""
        self.model: Any = None
        self.beam = Beam(1, nbest)
        self.process = os.getpid()

    @property
    def name(self) -> str:
        """What it is called in its pipeline."""
        return self._name

    @name.setter
    def name(self, name: str) -> None:
        """Take its name in a pipeline, which spaCy gives to each component that is in one.

        Then the settings of the pipeline forget the run folder: the model is in the component,
        and where it came from means nothing on another machine.
        """
        self._name = name
        if self.files and name in self.nlp.component_names:
            self.nlp.get_pipe_config(name)["run"] = None

    def take(self, run: str | Path) -> None:
        """Use the model of a run folder, or of the repository `hub:USER/NAME`."""
        self._load(portable_files(run_folder(run)), str(run))

    def _load(self, files: Mapping[str, bytes], source: str) -> None:
        """Build the model of these files."""
        with TemporaryDirectory() as folder:
            write(files, Path(folder))
            try:
                model, experiment = load(folder, available(self.device))
                width = self.width or default_width(folder, experiment.learning)
            except ValueError as error:
                raise RunError(str(error).replace(folder, source)) from None
        if experiment.task != self.job.task:
            raise RunError(
                f"{self.factory} needs a run of `beamlearn train {self.job.task}`, but {source} is "
                f"one of `beamlearn train {experiment.task}`; give another folder."
            )
        self.job.check(model, experiment, source)
        self.files, self.model = dict(files), model
        self.beam = Beam(max(width, self.nbest), self.nbest)

    def __call__(self, doc: Doc) -> Doc:
        """Annotate one document."""
        self._annotate([doc])
        return doc

    def pipe(self, stream: Iterable[Doc], *, batch_size: int = 64) -> Iterator[Doc]:
        """Annotate documents, so many at a time; their sentences are searched together."""
        for docs in util.minibatch(stream, size=batch_size):
            self._annotate(docs)
            yield from docs

    def _annotate(self, docs: Sequence[Doc]) -> None:
        if self.model is None:
            raise RunError(
                f"{self.name} has no model yet; give it a run folder, as in "
                f"nlp.add_pipe({self.factory!r}, config={{'run': 'runs/mine'}}), or load a "
                "pipeline that was saved with one."
            )
        if os.getpid() != self.process:
            # The threads of the process that this one is a copy of are not in it.
            torch.set_num_threads(1)
            self.process = os.getpid()
        self.job.annotate(self.model, docs, list(sentences_of(docs)), self.beam)

    def to_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> None:
        """Write the files of the model into a folder."""
        folder = Path(path)
        atomic.make_folder(folder)
        write(self.files, folder)

    def from_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> "BeamComponent":
        """Read what `to_disk` wrote."""
        if any(Path(path).glob("*")):
            self._load(portable_files(path), str(path))
        return self

    def to_bytes(self, *, exclude: Iterable[str] = ()) -> bytes:
        """The files of the model in one piece."""
        packed: bytes = srsly.msgpack_dumps(dict(self.files))
        return packed

    def from_bytes(self, data: bytes, *, exclude: Iterable[str] = ()) -> "BeamComponent":
        """Read what `to_bytes` returned."""
        files = srsly.msgpack_loads(data)
        if files:
            self._load({name: files[name] for name in PORTABLE if name in files}, self.name)
        return self


def write(files: Mapping[str, bytes], folder: Path) -> None:
    """Write files, each as a whole; the one that makes a folder a run comes last."""
    for name in sorted(files, key=PORTABLE.index, reverse=True):
        atomic.write_bytes(folder / name, files[name])
