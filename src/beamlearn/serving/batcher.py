"""Batcher: inputs wait in a queue, and those that arrived together are searched together."""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from time import monotonic
from typing import final

from .limits import Limits
from .metrics import Metrics
from .refusal import Refusal
from .served_model import Asked, Reply

Answer = Callable[[Sequence[Asked]], list[Reply]]


@dataclass(frozen=True)
class Waiting:
    """An input in the queue."""

    asked: Asked
    arrived: float
    reply: "asyncio.Future[Reply]"


@final
class Batcher:
    """A queue, and one thread that searches.

    A batch is what has arrived when the thread is free; only if its first input is younger than
    `wait_ms`, others may still join it. Nothing is taken out of order but inputs of another
    manner, which make a batch of their own at once.
    """

    def __init__(self, answer: Answer, limits: Limits, metrics: Metrics) -> None:
        self.answer, self.limits, self.metrics = answer, limits, metrics
        self.queue: deque[Waiting] = deque()
        self.arrival = asyncio.Event()
        self.held = 0
        """How many inputs wait or are searched."""
        self.thread = ThreadPoolExecutor(1, thread_name_prefix="search")

    def put(self, several: Sequence[Asked]) -> "list[asyncio.Future[Reply]]":
        """Let inputs wait for their replies; all or none of them."""
        if self.held + len(several) > self.limits.max_waiting:
            raise Refusal(
                503,
                f"At most {self.limits.max_waiting:,} inputs may wait, got {len(several):,} more "
                f"than the {self.held:,} that do; try again in a moment.",
            )
        loop, now = asyncio.get_running_loop(), monotonic()
        made = [Waiting(asked, now, loop.create_future()) for asked in several]
        self.held += len(made)
        self.queue.extend(made)
        self.arrival.set()
        return [one.reply for one in made]

    async def run(self) -> None:
        """Answer until cancelled."""
        while True:
            for batch in by_manner(await self.gathered()):
                await self._answered(batch)

    async def gathered(self) -> list[Waiting]:
        """The next inputs, at least one of them."""
        while not self.queue:
            self.arrival.clear()
            await self.arrival.wait()
        deadline = self.queue[0].arrived + self.limits.wait_ms / 1000
        while len(self.queue) < self.limits.max_batch and (left := deadline - monotonic()) > 0:
            self.arrival.clear()
            try:
                await asyncio.wait_for(self.arrival.wait(), left)
            except asyncio.TimeoutError:
                break
        count = min(len(self.queue), self.limits.max_batch)
        return [self.queue.popleft() for _ in range(count)]

    async def _answered(self, batch: Sequence[Waiting]) -> None:
        """Give each its reply; nobody waits any more for those that were cancelled."""
        wanted = [one for one in batch if not one.reply.done()]
        try:
            if wanted:
                loop, asked = asyncio.get_running_loop(), [one.asked for one in wanted]
                began = monotonic()
                replies = await loop.run_in_executor(self.thread, self.answer, asked)
                self.metrics.batch(len(wanted), monotonic() - began)
                for one, reply in zip(wanted, replies, strict=True):
                    if not one.reply.done():
                        one.reply.set_result(reply)
        finally:
            self.held -= len(batch)

    def close(self) -> None:
        """End the thread."""
        self.thread.shutdown(wait=True, cancel_futures=True)


def by_manner(several: Sequence[Waiting]) -> list[list[Waiting]]:
    """The same in batches whose inputs can be searched together."""
    found: dict[object, list[Waiting]] = {}
    for one in several:
        found.setdefault(one.asked.manner, []).append(one)
    return list(found.values())
