"""One lab with PyTorch for the whole test session: its import takes seconds, and each run a fork."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from typing import Any, TypeVar

from quizapp.lab.protocol import Line, Outcome, Sample
from quizapp.lab.request import RunRequest
from quizapp.lab.runner import Lab
from quizapp.lab.summary import RunSummary, summarise

T = TypeVar("T")


class TorchLab:
    """A Lab in a thread with a loop of its own, so that tests of every kind can share it."""

    def __init__(self, **lab: Any) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self.lab = Lab(**lab)

    def lines(self, request: RunRequest) -> list[Line]:
        """Run it to its end: every line."""

        async def read() -> list[Line]:
            run = await self.lab.start(request)
            return [line async for line in run.lines()]

        return self.do(read())

    def run(self, request: RunRequest) -> RunSummary:
        """Run it to its end: the summary."""

        async def read() -> RunSummary:
            run = await self.lab.start(request)
            lines = [line async for line in run.lines()]
            samples = [line for line in lines if isinstance(line, Sample)]
            (outcome,) = [line for line in lines if isinstance(line, Outcome)]
            return summarise(run.start_line, samples, outcome, run.asked)

        return self.do(read())

    def close(self) -> None:
        self.do(self.lab.close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def do(self, work: Coroutine[Any, Any, T]) -> T:
        """Do something on the lab's own loop, to its end."""
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()
