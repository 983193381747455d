"""Runs the demo behind an option: a prediction, the run in lines, then the two side by side."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from quizapp.errors import QuizappError
from quizapp.plain.talk import Talk

if TYPE_CHECKING:
    import asyncio

    from quizapp.bank.model import DemoLink, Question
    from quizapp.lab.catalogue import Catalogue
    from quizapp.lab.key_test import KeyTest
    from quizapp.lab.request import Device, RunRequest
    from quizapp.lab.runner import Lab
    from quizapp.lab.summary import RunSummary
    from quizapp.store.sitting import Sitting

_DEVICES = 8
_Value = TypeVar("_Value")


class Demos:
    """The demos of the installation and of further folders; the lab stays warm from one run to the next."""

    def __init__(
        self,
        folders: Sequence[Path] = (),
        device: Device = "auto",
        *,
        make_lab: Callable[[], Lab] | None = None,
    ) -> None:
        """`folders` must have been confirmed by the learner: what is in them is run."""
        self._folders, self._device, self._make_lab = tuple(folders), device, make_lab
        self._catalogue: Catalogue | None = None
        self._loop: asyncio.Runner | None = None
        self._lab: Lab | None = None

    def run(
        self,
        talk: Talk,
        sitting: Sitting,
        place: int,
        option_id: str,
        keep: Callable[[Callable[[], object]], None],
    ) -> None:
        """Asks for a prediction, runs, shows and keeps both. What goes wrong is said, never raised.

        `keep` calls the function that records.
        """
        asked = sitting.question(place)
        link = next(option.demo for option in asked.options if option.id == option_id)
        if link is None:
            talk.say("No demo speaks to this option.")
            return
        try:
            request = self._request(link, asked)
        except QuizappError as error:
            talk.say(str(error))
            return
        predicted = _ask_prediction(talk, f"{link.name}, {link.variant}")
        if predicted:
            keep(lambda: sitting.predict(place, option_id, predicted))
        try:
            summary = self._run_in_loop(self._run(talk, request))
        except QuizappError as error:
            talk.say(str(error))
            return
        except KeyboardInterrupt:
            talk.say()
            talk.say("Stopped; nothing of this run is kept.")
            return
        _say_side_by_side(talk, predicted, summary)
        keep(lambda: sitting.demo_ran(place, option_id, dict(summary.record())))

    @property
    def catalogue(self) -> Catalogue:
        """The demos, read when they are first asked for."""
        if self._catalogue is None:
            from quizapp.content import content_dir
            from quizapp.lab.catalogue import Catalogue

            self._catalogue = Catalogue.load([content_dir("demos"), *self._folders])
        return self._catalogue

    def make_missing(self, talk: Talk, test: KeyTest) -> str:
        """Makes the runs that a test of a key lacks, a line a run; why the others were not made, in words.

        Ctrl-C stops the run under way; what has ended is kept.
        """
        try:
            self._run_in_loop(self._make(talk, test))
        except QuizappError as error:
            talk.say(str(error))
            return "not run: the test ended early"
        except KeyboardInterrupt:
            talk.say()
            talk.say("Stopped; the runs that have ended are kept, `test` makes the others.")
            return "not run: stopped"
        return "not run"

    async def _make(self, talk: Talk, test: KeyTest) -> None:
        from quizapp.lab.finding_words import progress_words

        def say(text: str) -> None:
            talk.say(text)
            talk.flush()

        say("Starting (the first run takes a few seconds more). Ctrl-C stops; what has ended is kept.")
        await test.run(self._the_lab(), lambda progress: say(f"  {progress_words(progress)}"))

    def close(self) -> None:
        """Ends the lab and every process of it."""
        if self._loop is not None:
            if self._lab is not None:
                self._loop.run(self._lab.close())
            self._loop.close()
            self._loop = self._lab = None

    def _request(self, link: DemoLink, asked: Question) -> RunRequest:
        from quizapp.lab.request import RunRequest

        demo = self.catalogue.find(link.name)
        params = dict(link.params)
        devices = params.pop("devices", str(asked.symptom.devices if asked.symptom else _DEVICES))
        if not (devices.isascii() and devices.isdecimal()):
            raise QuizappError(f"The bank asks for {devices!r} devices, which is no number.")
        request = RunRequest(
            demo=demo, variant=link.variant, devices=int(devices), device=self._device, params=params
        )
        request.check()
        return request

    def _run_in_loop(self, work: Coroutine[Any, Any, _Value]) -> _Value:
        import asyncio

        if self._loop is None:
            self._loop = asyncio.Runner()
        return self._loop.run(work)

    def _the_lab(self) -> Lab:
        from quizapp.lab.runner import Lab

        if self._lab is None:
            self._lab = self._make_lab() if self._make_lab else Lab()
        return self._lab

    async def _run(self, talk: Talk, request: RunRequest) -> RunSummary:
        from quizapp.lab.printed import SampleLines, head_lines
        from quizapp.lab.protocol import Log, Outcome, Sample, Start
        from quizapp.lab.summary import summarise

        talk.say("Starting (the first demo takes a few seconds more). Ctrl-C stops it.")
        talk.flush()
        run = await self._the_lab().start(request)
        start: Start | None = None
        samples: list[Sample] = []
        lines = SampleLines(request.devices)
        outcome: Outcome | None = None
        try:
            async for line in run.lines():
                match line:
                    case Start():
                        start = line
                        talk.say("\n".join(head_lines(line, talk.width)))
                    case Sample():
                        samples.append(line)
                        for said in lines.feed(line):
                            talk.say(said)
                    case Outcome():
                        outcome = line
                    case Log():
                        talk.say(f"  | {line.text}")
                talk.flush()
        finally:
            if outcome is None:
                await run.stop()
        if outcome is None:
            raise QuizappError("The demo ended without an outcome.")
        return summarise(start, samples, outcome, run.asked)


def _ask_prediction(talk: Talk, what: str) -> str:
    """The predicted diagnosis, "" when the learner gives none."""
    from quizapp.lab.catalogue import DIAGNOSES

    names = [name for name in DIAGNOSES if name != "inconclusive"]
    talk.say()
    talk.say(f"What will {what} show?")
    for number, name in enumerate(names, 1):
        talk.say(f"  {number}  {name}")
    while True:
        line = talk.ask("Your prediction (a number, Enter for none):")
        if not line:
            return ""
        word = line.lower()
        if word.isascii() and word.isdecimal() and 1 <= int(word) <= len(names):
            return names[int(word) - 1]
        if word in names:
            return word
        talk.say(f"{line!r} is none of them.")


def _say_side_by_side(talk: Talk, predicted: str, summary: RunSummary) -> None:
    from quizapp.lab.printed import summary_lines

    talk.say()
    talk.say("\n".join(summary_lines(summary, talk.width)))
    talk.say()
    hit = " (as predicted)" if predicted == summary.diagnosis else ""
    talk.say(f"Predicted: {predicted or 'nothing'}. Measured: {summary.diagnosis}{hit}.")
