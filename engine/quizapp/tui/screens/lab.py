"""The lab: the demo behind an option runs here, live, and is held against what was predicted."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING, ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType

from quizapp.errors import QuizappError
from quizapp.tui.lab_state import CONTROL, LabOrder, LabState
from quizapp.tui.lab_words import headline, log_lines, notes, verdict
from quizapp.tui.render import Line, wrap
from quizapp.tui.screens.base import QuizScreen, cut
from quizapp.tui.widgets.body import Body
from quizapp.tui.widgets.one_line import OneLine
from quizapp.tui.widgets.sheet import Sheet
from quizapp.tui.widgets.strip import StripView

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from textual.timer import Timer
    from textual.worker import Worker

    from quizapp.lab.compare import Cell
    from quizapp.lab.protocol import Line as DemoLine
    from quizapp.lab.protocol import Start
    from quizapp.lab.request import RunRequest
    from quizapp.lab.run import Run

REFRESH_S = 0.5
REFRESH_OVER_SSH_S = 1.0


class LabScreen(QuizScreen):
    """Runs one demo at a time; leaving ends it with all its processes."""

    HELP_TITLE = "Lab"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("r", "rerun", "Run again", tooltip="Run this variant again.", id="lab-run"),
        Binding("x", "stop", "Stop", tooltip="Stop the run.", id="lab-stop"),
        Binding(
            "u",
            "toggle_meter",
            "Meter",
            tooltip="Show compute, or utilisation as nvidia-smi sees it.",
            id="lab-meter",
        ),
        Binding(
            "v", "variant", "Variant", tooltip="Run the next variant: fault, fix, control.", id="lab-variant"
        ),
        Binding(
            "o",
            "compare",
            "Compare",
            tooltip="Run control, fault and fix, and compare them.",
            id="lab-compare",
        ),
        Binding(
            "p",
            "parameters",
            "Parameters",
            tooltip="Change the demo's parameters and run it.",
            id="lab-parameters",
        ),
        Binding("s", "source", "Source", tooltip="Read the demo's program.", id="lab-source"),
        Binding(
            "i",
            "about",
            "About",
            tooltip="What the demo shows, why, and the plan of its durations.",
            id="lab-about",
        ),
        Binding(
            "l", "toggle_log", "Log", tooltip="Show what the demo prints, or the findings.", id="lab-log"
        ),
        Binding("up,k", "scroll(-1)", "Up", tooltip="Scroll the lower part.", id="lab-up"),
        Binding("down,j", "scroll(1)", "Down", tooltip="Scroll the lower part.", id="lab-down"),
        Binding(
            "pageup", "page(-1)", "Page up", tooltip="Scroll the lower part by a page.", id="lab-page-up"
        ),
        Binding(
            "pagedown,space",
            "page(1)",
            "Page down",
            tooltip="Scroll the lower part by a page.",
            id="lab-page-down",
        ),
    ]

    def __init__(self, order: LabOrder) -> None:
        super().__init__()
        self.state = LabState(order)
        self.showing_log = False
        self._run: Run | None = None
        self._worker: Worker[None] | None = None
        self._timer: Timer | None = None
        self._comparing = ""
        self._log_seen = 0

    def compose(self) -> ComposeResult:
        yield self.title_line
        yield OneLine(self._headline, id="headline-lab")
        yield StripView(self.glyphs, id="strip")
        yield Sheet(self._badge, id="badge")
        yield OneLine(self._rule, id="rule-lab")
        with Body(id="lower"):
            yield Sheet(self._verdict, id="findings")
            yield Sheet(self._log, id="log")
        yield self.key_bar

    def on_mount(self) -> None:
        period = REFRESH_OVER_SSH_S if os.environ.get("SSH_CONNECTION") else REFRESH_S
        self._timer = self.set_interval(period, self._tick, pause=True)
        self.state.phase = "warming"
        self._show_all()
        if self.state.asks:
            self._ask()
        elif self.state.order.compare:
            self.action_compare()
        else:
            self._begin()

    # The prediction.

    def _ask(self) -> None:
        from quizapp.tui.screens.prediction import PredictionScreen

        self.state.phase = "asking"
        order = self.state.order
        devices = f"{order.devices} device" + ("" if order.devices == 1 else "s")
        what = f"{order.demo.name} ({order.variant}) on {devices}"
        self.app.push_screen(PredictionScreen(what), self._predicted)
        # Time to read the list is time to import torch.
        self.run_worker(self._warm(), group="warm", exit_on_error=False)

    async def _warm(self) -> None:
        # Why it can't is told when the run is tried.
        with suppress(QuizappError):
            await self.quiz.lab.warm()

    def _predicted(self, prediction: str | None) -> None:
        if not prediction:
            self.quiz.go_back()
            return
        state = self.state
        state.prediction = prediction
        order = state.order
        if order.taking is not None:
            taking = order.taking
            self.quiz.guarded(lambda: taking.sitting.predict(order.index, order.option_id, prediction))
        self._begin()

    # Runs. One worker at a time; ending it ends the demo's processes.

    def _begin(self) -> None:
        state = self.state
        state.rerun()
        state.phase = "warming"
        self._comparing = ""
        self._show_all()
        self._worker = self.run_worker(self._watch(), group="demo", exclusive=True, exit_on_error=False)

    async def _watch(self) -> None:
        state = self.state
        if self._timer is not None:
            self._timer.resume()
        try:
            await self._play(state)
        except QuizappError as error:
            state.phase = "failed"
            state.reason = str(error)
        # Not reached by a worker that another one has replaced: what is on screen is the other one's.
        self._run = None
        if self._timer is not None:
            self._timer.pause()
        self._keep()
        self._show_all()
        if state.needs_control and state.phase == "ended" and not state.stopping:
            await self._measure_control()

    async def _play(self, state: LabState) -> None:
        recording = state.order.recording
        if recording is not None:
            from quizapp.lab.recording import replay

            await self._take(replay(recording, state.order.speed), state)
            return
        lab = self.quiz.lab
        forget = lab.on_state(lambda *_: self._show_frame())
        try:
            run = self._run = await lab.start(state.request())
            await self._take(run.lines(), state)
        finally:
            forget()

    async def _take(self, lines: AsyncIterator[DemoLine], state: LabState) -> None:
        from contextlib import aclosing, nullcontext

        from quizapp.lab.recording import Recorder

        record = state.order.record
        # Closing the lines early is what stops the run.
        with Recorder(record) if record is not None else nullcontext() as recorder:
            async with aclosing(lines) as following:  # type: ignore[type-var]
                async for line in following:
                    if recorder is not None:
                        recorder.write(line)
                    first = state.start is None
                    state.take(line)
                    if first and state.start is not None:
                        self._show_all()

    async def _measure_control(self) -> None:
        """Some sign is read relative to the control: run it, without a show."""
        from quizapp.lab.summary import summarise_lines

        state = self.state
        self._comparing = "measuring the control"
        self._show_frame()
        try:
            run = await self.quiz.lab.start(state.request(CONTROL, paced=False))
            self._run = run
            lines = [line async for line in run.lines()]
            state.summaries[CONTROL] = summarise_lines(lines, self._asked(run.request))
        except QuizappError as error:
            self.quiz.tell(str(error), title="The control did not run", severity="warning")
        finally:
            self._run = None
            self._comparing = ""
        state.judge()
        self._show_all()

    def _keep(self) -> None:
        """Put the run on the attempt's record."""
        state, order = self.state, self.state.order
        summary, taking = state.summary, order.taking
        self.quiz.lab_result = int(state.differs)
        if taking is None or summary is None or summary.outcome == "stopped" or order.recording is not None:
            return
        self.quiz.guarded(lambda: taking.sitting.demo_ran(order.index, order.option_id, summary.record()))

    async def _compare(self) -> None:
        from quizapp.lab.compare import Cell, planned_runs
        from quizapp.lab.summary import as_declared, summarise_lines

        state = self.state
        order = state.order
        asked_for = state.variant if state.variant in order.demo.variants else order.variant
        planned = planned_runs(state.request(asked_for, paced=False), order.control)
        cells: list[Cell] = []
        shown: list[DemoLine] = []
        differ = False
        if self._timer is not None:
            self._timer.resume()
        try:
            for number, plan in enumerate(planned, 1):
                self._comparing = f"comparing, run {number} of {len(planned)}: {plan.label}"
                variant = plan.label.partition(":")[0]
                state.variant = variant if variant in state.variants else asked_for
                state.rerun()
                self._show_all()
                self._run = run = await self.quiz.lab.start(plan.request)
                lines: list[DemoLine] = []
                async for line in run.lines():
                    lines.append(line)
                    state.take(line)
                summary = summarise_lines(lines, self._asked(plan.request))
                if summary.outcome == "stopped":
                    break
                cells.append(Cell(plan.label, summary))
                differ |= plan.declared and bool(as_declared(plan.request.demo, summary))
                if variant == asked_for:
                    shown = lines
        except QuizappError as error:
            state.phase = "failed"
            state.reason = str(error)
        # Not reached by a worker that another one has replaced.
        self._run = None
        self._comparing = ""
        if self._timer is not None:
            self._timer.pause()
        self.quiz.lab_result = int(differ or len(cells) < len(planned))
        if len(cells) == len(planned):
            # The run that the comparison is about stands behind it.
            state.variant = asked_for
            state.rerun()
            for line in shown:
                state.take(line)
            self._show_all()
            self._show_comparison(cells)
        else:
            self._show_all()

    @staticmethod
    def _asked(request: RunRequest) -> Start:
        """What was asked for, to sum up a run that ended before it began."""
        from quizapp.lab.protocol import Start

        return Start(
            demo=request.demo.name,
            variant=request.variant,
            device_kind="emulated",
            devices=request.devices,
            window_s=0.1,
        )

    # What is on screen.

    def action_refresh(self) -> None:
        """Draw what has come, without waiting for the next turn."""
        self._tick()

    def _tick(self) -> None:
        if self.state.phase == "running":
            self.query_one(StripView).redraw()
        self._show_frame()
        if len(self.state.log) != self._log_seen:
            self._log_seen = len(self.state.log)
            self._show_log()

    def _show_all(self) -> None:
        if not self.is_mounted:
            return
        state = self.state
        known = state.emulated is not None
        self.query_one(StripView).show_state(state.strip, cuda=state.emulated is False, known=known)
        self.query_one("#badge", Sheet).show(self._badge)
        self._share_height()
        self.query_one("#findings", Sheet).show(self._verdict)
        self._show_log()
        self._show_frame()

    def _show_log(self) -> None:
        findings, log = self.query_one("#findings", Sheet), self.query_one("#log", Sheet)
        findings.display = self.wide or not self.showing_log
        log.display = self.wide or self.showing_log
        if log.display:
            log.show(self._log, keep_place=True)
            log.scroll_to(y=len(self.state.log), animate=False)

    def _show_frame(self) -> None:
        if not self.is_mounted:
            return
        state, glyphs = self.state, self.glyphs
        order = state.order
        dot = f" {glyphs.dot} "
        demo = state.demo
        variant = CONTROL if state.variant == CONTROL else state.variant
        left: Line = [("Lab", "strong")]
        if order.place:
            left.append((f"{dot}{order.place}", ""))
        left.append((f"{dot}{demo.name} {variant}", "strong"))
        kind = {True: "emulated devices", False: "GPUs", None: "devices"}[state.emulated]
        right: Line = [(f"{order.devices} {kind}", "muted")]
        self.show_title(left, right)
        self.query_one("#headline-lab", OneLine).refresh()
        self.query_one("#rule-lab", OneLine).refresh()
        busy = state.phase in ("warming", "running") or bool(self._comparing)
        self.show_keys(
            ("x", "x", "Stop") if busy else ("r", "r", "Run again"),
            ("u", "u", "Meter"),
            ("v", "v", f"Run {state.next_variant()}"),
            ("o", "o", "Compare"),
            ("l", "l", "Log" if not self.showing_log else "Findings"),
            ("escape", "Esc", "Back"),
        )

    def _headline(self, width: int) -> list[Line]:
        lab = (
            self.quiz.lab.state
            if self.state.phase == "warming" and self.state.order.recording is None
            else ""
        )
        return [
            cut(headline(self.state, self.glyphs, lab=lab, comparing=self._comparing), width, self.glyphs)
        ]

    def _badge(self, width: int) -> list[Line]:
        lines: list[Line] = []
        for text in notes(self.state):
            lines += wrap([(text, "warning")], width)
        return lines

    def _rule(self, width: int) -> list[Line]:
        return [[(self.glyphs.rule * width, "frame")]]

    def _verdict(self, width: int) -> list[Line]:
        return verdict(self.state, width, self.glyphs)

    def _log(self, width: int) -> list[Line]:
        return log_lines(self.state, width)

    def _share_height(self) -> None:
        """Many devices scroll; the findings keep a third of the screen."""
        strip = self.query_one(StripView)
        strip.styles.max_height = max(3, (self.app.size.height - 4) * 2 // 3)

    def on_resize(self, event: events.Resize) -> None:
        self._show_all()

    # Keys.

    def action_rerun(self) -> None:
        """Run again."""
        if self.state.phase not in ("asking",):
            self._begin()

    def action_stop(self) -> None:
        """Stop the run."""
        self.state.stopping = True
        if self._run is not None:
            self._run.end("stopped")
        elif self._worker is not None and self._worker.is_running and self.state.phase == "warming":
            self._worker.cancel()
            self.state.phase = "failed"
            self.state.reason = "Stopped before the run began."
            self._show_all()

    def action_toggle_meter(self) -> None:
        """Compute, or as nvidia-smi sees it."""
        self.state.strip.toggle()
        self.query_one(StripView).redraw()

    def action_variant(self) -> None:
        """Run the next variant."""
        if self.state.order.recording is None:
            self.state.variant = self.state.next_variant()
            self._begin()

    def action_compare(self) -> None:
        """Control, fault, fix."""
        if self.state.order.recording is not None:
            self.quiz.tell("A replay has nothing to be compared with.")
        elif not self._comparing:
            self._worker = self.run_worker(self._compare(), group="demo", exclusive=True, exit_on_error=False)

    def _show_comparison(self, cells: list[Cell]) -> None:
        from quizapp.lab.compare import compare, table
        from quizapp.tui.screens.text import TextScreen

        comparison = compare(cells)
        self.quiz.lab_result |= int(bool(comparison.off))
        notices = [*comparison.notices, *comparison.off]

        def build(width: int) -> list[Line]:
            lines: list[Line] = [[(line, "")] for line in table(comparison, width)]
            for notice in notices:
                lines += [[], *wrap([(notice, "muted")], width)]
            return lines

        plain = "\n".join([*table(comparison, 100), "", *notices])
        self.app.push_screen(
            TextScreen(f"{self.state.order.demo.name}: control, fault, fix", build, plain=plain)
        )

    def action_parameters(self) -> None:
        """Change parameters."""
        if self.state.order.recording is not None:
            return
        from quizapp.tui.screens.parameters import ParametersScreen

        self.app.push_screen(
            ParametersScreen(self.state.demo, self.state.variant, self.state.params), self._changed
        )

    def _changed(self, params: dict[str, str] | None) -> None:
        if params is not None:
            self.state.params = params
            self.state.summaries.clear()
            self._begin()

    def action_source(self) -> None:
        """The demo's program."""
        from quizapp.bank.text import visible
        from quizapp.tui.render import fold
        from quizapp.tui.screens.text import TextScreen

        demo = self.state.demo
        try:
            source = visible(demo.source())
        except OSError as error:
            self.quiz.tell(f"{demo.path}: {error.strerror}", severity="error")
            return

        def build(width: int) -> list[Line]:
            lines = source.split("\n")
            digits = len(str(len(lines)))
            numbered: list[Line] = []
            for number, line in enumerate(lines, 1):
                for place, piece in enumerate(fold(line, width - digits - 2, "", self.glyphs)):
                    numbered.append([(f"{number if not place else '':>{digits}}  ", "muted"), *piece])
            return numbered

        self.app.push_screen(TextScreen(f"{demo.name}: {demo.path}", build, plain=source))

    def action_about(self) -> None:
        """What the demo shows."""
        from quizapp.tui.lab_words import about
        from quizapp.tui.screens.text import TextScreen

        demo, start = self.state.demo, self.state.start
        self.app.push_screen(TextScreen(demo.title or demo.name, lambda width: about(demo, start, width)))

    def action_toggle_log(self) -> None:
        """The log, or the findings."""
        self.showing_log = not self.showing_log
        self._show_log()
        self._show_frame()

    def action_scroll(self, lines: int) -> None:
        """Scroll the lower part."""
        sheet = self._lower()
        sheet.scroll_to(y=sheet.scroll_offset.y + lines, animate=False)

    def action_page(self, pages: int) -> None:
        """Scroll by a page."""
        self._lower().scroll_pages(pages)

    def _lower(self) -> Sheet:
        return self.query_one("#log" if self.showing_log else "#findings", Sheet)

    def action_back(self) -> None:
        """Leave: the run ends."""
        if self._run is not None:
            self._run.end("stopped")
        self.quiz.go_back()
