"""Which partitions one task trains in a pass: one task a thread costs less than one a partition."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence

from rosenblatt.distributed.cluster import WorkerRoom
from rosenblatt.distributed.partitioned import PartitionedBlocks
from rosenblatt.distributed.parts import PartFacts

__all__ = ["Placement", "grouped"]

AGAIN = 5.0  # seconds between looks at where partitions are
SLACK = 1.25  # times its share of all rows that a task may have
VALUE = 12  # bytes that a value of a row takes at most, with its column


class Placement:
    """Says which partitions go into one task. No result depends on it.

    Parameters
    ----------
    blocks : PartitionedBlocks
        The partitions.
    """

    def __init__(self, blocks: PartitionedBlocks) -> None:
        self.blocks = blocks
        self._groups: list[list[int]] = []
        self._looked = 0.0

    def groups(self) -> list[list[int]]:
        """Return the numbers of the partitions of each task; where they are is looked up every few seconds."""
        if not self._groups or time.monotonic() - self._looked > AGAIN:
            cluster = self.blocks.cluster
            if not self._groups:
                cluster.wait(self.blocks.parts)
            self._groups = grouped(self.blocks.known, cluster.holders(self.blocks.parts), cluster.rooms())
            self._looked = time.monotonic()
        return self._groups


def grouped(
    facts: Sequence[PartFacts], holders: Sequence[Sequence[str]], rooms: Mapping[str, WorkerRoom]
) -> list[list[int]]:
    """Return the partitions of each task: those of one worker, up to its share of all rows.

    A partition that several workers hold goes to the one with the fewest rows. A partition that no worker holds
    now is a task of its own. So is each partition of a worker whose memory is more than half full of them: Dask
    may have moved some to its disk, and would have to bring all of them back at once.
    """
    threads = sum(room.threads for room in rooms.values())
    most = SLACK * sum(each.n_rows for each in facts) / max(threads, 1)
    held: dict[str, list[int]] = {}
    rows: dict[str, int] = dict.fromkeys(rooms, 0)
    able = [sorted(worker for worker in workers if worker in rooms) for workers in holders]
    groups = [[number] for number, workers in enumerate(able) if not workers]
    for number in sorted(range(len(able)), key=lambda number: len(able[number])):
        if able[number]:
            chosen = min(able[number], key=rows.__getitem__)
            held.setdefault(chosen, []).append(number)
            rows[chosen] += facts[number].n_rows
    for worker, numbers in held.items():
        memory = sum(VALUE * facts[number].stored for number in numbers if facts[number].in_memory)
        full = 0 < rooms[worker].memory < 2 * memory
        group: list[int] = []
        for number in sorted(numbers):
            if group and (full or sum(facts[each].n_rows for each in [*group, number]) > most):
                groups.append(group)
                group = []
            group.append(number)
        groups.append(group)
    return sorted(groups)
