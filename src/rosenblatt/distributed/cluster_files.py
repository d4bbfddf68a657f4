"""Training from files on a Dask cluster: `train_on_cluster`."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from inspect import signature
from typing import Any

from rosenblatt.escaping import count
from rosenblatt.exceptions import NOTE, MissingRoomError, ParameterError, Remedy
from rosenblatt.loops.compilation import Seconds
from rosenblatt.models.files import with_largest_words
from rosenblatt.parameters import UNUSED, TrainingArguments, positional
from rosenblatt.registry import OF_OTHERS, abilities, able_in_words
from rosenblatt.tables.preparation import Preparation, encoding_of
from rosenblatt.tables.recipe import TableRecipe
from rosenblatt.tasks.data import (
    Log,
    Place,
    log_info,
    note_similar,
    places_of,
    read_options,
    tell_unlabelled,
)
from rosenblatt.tasks.summary import TrainingSummary
from rosenblatt.tasks.training import Training, TrainingResult, default_learner, named_learner


def train_on_cluster(
    places: Place | Sequence[Place],
    learner: Any = None,
    *,
    client: Any,
    parameters: Mapping[str, Any] | None = None,
    mixing: str = "uniform",
    scale: bool | None = None,
    seed: int = 0,
    memory: int | None = None,
    checkpoint: Place | None = None,
    every: int = 1,
    resume: bool = False,
    progress: bool = False,
    log: Log = log_info,
    **options: Any,
) -> TrainingResult:
    """Train on files that the workers of a Dask cluster read, a file or a row group of Parquet a partition.

    Every worker finds the files by the given names. `memory` is that of one partition, by default 256 MB. `scale`
    standardises numbers by the figures of all partitions, and with None only those of tables. For `mixing` see
    `rosenblatt.distributed.fit`, for the others `rosenblatt.train`.
    """
    return ClusterTraining(
        data=places,
        learner=learner,
        client=client,
        parameters=parameters,
        mixing=mixing,
        scale=scale,
        seed=seed,
        memory=memory,
        checkpoint=checkpoint,
        every=every,
        resume=resume,
        progress=progress,
        log=log,
        options=options,
    ).run()


def arguments_on_cluster(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of `train` that a cluster takes; refuse others, unless they have their defaults."""
    taken, usual = signature(train_on_cluster).parameters, TrainingArguments._declared
    for name, value in given.items():
        one_machine = name not in taken or (name == "scale" and value == "online")
        if one_machine and value != usual[name].default:
            subject = Remedy(name, value if value in ("online", "no") else None, name)
            told = subject + " needs all rows on one machine. Drop it, or train without a cluster."
            raise ParameterError(told, code=UNUSED, parameter=name, value=value)
    return {name: value for name, value in given.items() if name in taken}


class ClusterTraining(Training):
    """The training on the partitions of a cluster."""

    client: Any = positional(kw_only=True, doc="")
    mixing: str = positional(kw_only=True, doc="")

    def open(self) -> None:
        """Make the learner, and have the workers read the files."""
        from rosenblatt.distributed.cluster import Cluster
        from rosenblatt.distributed.parts import PARTITION_BYTES
        from rosenblatt.distributed.sources import partition_files

        if self.learner is None:  # the files say which one it is; both can do the same
            self.name, self.estimator = named_learner(OF_OTHERS, None, self.seed)
        else:
            self._choose(self.learner)
        if "mixing" not in abilities(self.estimator):
            told = f"The learner {self.name} is not trained on a cluster; {able_in_words('mixing')} are."
            raise ParameterError(told, parameter="learner", value=self.name)
        arguments_on_cluster({"scale": self.scale})
        self.refuse_unused(abilities(self.estimator))
        files = places_of(self.data)
        if any(place == "-" or place.startswith("@") for place in files):
            told = "A cluster reads files: standard input and built-in sets stay on one machine."
            raise ParameterError(told, parameter="data")
        cluster, how = Cluster(self.client), read_options(self.options)
        scale = None if self.scale is None else bool(self.scale)
        self.blocks: Any = partition_files(
            cluster, files, how, memory=self.memory or PARTITION_BYTES, scale=scale, log=self.log
        )
        if self.learner is None:
            self._choose(default_learner(isinstance(self.blocks.recipe, TableRecipe)))
        unlabelled = sum(each.facts.unlabelled for each in self.blocks.known)
        if unlabelled:
            self.log(NOTE + tell_unlabelled(unlabelled, self.blocks.recipe))
        note_similar(self.blocks.classes, self.log, how)
        _log_sizes(len(self.blocks.parts), cluster, self.log)

    def _choose(self, learner: Any) -> None:
        self.name, self.estimator = named_learner(learner, self.parameters, self.seed)

    def prepare(self) -> None:
        """Do nothing: the workers have prepared their partitions."""

    def learn(self) -> None:
        """Train on all partitions."""
        from rosenblatt.distributed.fitting import fit

        fit(self.estimator, self.blocks, mixing=self.mixing, **self.saving)  # type: ignore[arg-type]

    def judge(self, seconds: Seconds, *, interrupted: bool) -> TrainingResult:
        """Return the model; its rows are not measured again."""
        blocks, own = self.blocks, {"trained_on": None, "held_out": None}
        summary = TrainingSummary.of(self.name, self.estimator, blocks, None, **own, seconds=seconds)
        left = blocks.agreed.how._replace(scaling=None)  # the weights are those of unscaled features
        encoding = encoding_of(blocks.recipe, left, blocks.names, blocks.n_features)
        provenance = {
            "learner": self.name,
            "files": [each.name for each in blocks.known],
            "rows": blocks.n_rows,
            "features": blocks.n_features,
            "data": blocks.fingerprint,
            "block_starts": blocks.boundaries[:-1].tolist(),
            "scaled": blocks.scaling is not None,
            "held_out": None,
            "all_data": None,
        }
        preparation = Preparation(() if encoding is None else (encoding,))
        if self.options.get("vocabulary") is None:
            preparation = with_largest_words(preparation, self.estimator)
        return TrainingResult(self.estimator, preparation, summary, provenance, None, self.checkpoint)


def _log_sizes(partitions: int, cluster: Any, log: Log) -> None:
    """Say how many partitions and threads there are, and what to do about threads that stay idle."""
    threads = sum(room.threads for room in cluster.rooms().values())
    idle = max(0, threads - partitions)
    advice = f"; {idle} of the threads stay idle: split the data into more files" if idle else ""
    log(f"{count(partitions, 'partition')} on {count(threads, 'thread')} of {cluster.address}{advice}")


@contextmanager
def cluster_of(address: str | None, workers: int | None, log: Log = log_info) -> Iterator[Any]:
    """Connect to the scheduler at an address, or start worker processes on this machine for as long as needed."""
    try:
        import dask
        from distributed import Client, LocalCluster
    except ModuleNotFoundError as error:
        raise MissingRoomError(
            'Clusters need Dask: pip install "dask[array,dataframe]" distributed pandas'
        ) from error
    from rosenblatt.distributed.cluster import Cluster

    logging.getLogger("distributed").setLevel(logging.CRITICAL)  # errors of tasks are raised here
    if address is not None:
        log(f"connecting to {address}")
        client = Cluster(address).client
        try:
            yield client
        finally:
            client.close()
        return
    assert workers is not None, "either an address or a number of workers is given"
    log(f"starting {count(workers, 'worker process', 'worker processes')}")
    how: dict[str, Any] = {"threads_per_worker": 1, "processes": True, "dashboard_address": ":0"}
    with (
        dask.config.set({"distributed.deploy.lost-worker-timeout": "365 days"}),  # else slow starts are given up
        LocalCluster(n_workers=workers, silence_logs=logging.CRITICAL, **how) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        yield client
