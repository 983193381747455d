"""An app that runs one demo and can be killed: `python lab_app.py FOLDER FILE WHEN`.

Prints the ids of the lab's processes, one a line, once it is as far as WHEN says: `running` (a line "up" has
come from the demo's log) or `warming`.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from demo_programs import FAKE_KIT
from quizapp.lab.catalogue import read_demo
from quizapp.lab.protocol import Log
from quizapp.lab.request import RunRequest
from quizapp.lab.runner import Lab


async def main(path: Path, when: str) -> None:
    preload = () if when == "running" else ("slow_to_import",)
    async with Lab(kit=FAKE_KIT, preload=preload) as lab:
        if when == "warming":
            warming = asyncio.ensure_future(lab.warm())
            await asyncio.sleep(0)
            print(lab.pid, flush=True)
            await warming
        run = await lab.start(RunRequest(demo=read_demo(path), devices=1, device="emulated"))
        async for line in run.lines():
            if isinstance(line, Log) and line.text.startswith("up"):
                print(lab.pid, run.pgid, *line.text.split()[1:], flush=True)


asyncio.run(main(Path(sys.argv[1]), sys.argv[2]))
