"""What the lab says: status, findings, log, the story of a demo. Lines out of a LabState; no Textual."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from quizapp.bank.text import visible
from quizapp.lab.params import param_text
from quizapp.lab.printed import memory_words
from quizapp.store.clock import on_screen
from quizapp.tui.glyphs import Glyphs
from quizapp.tui.lab_state import DIAGNOSES, NOT_SAID
from quizapp.tui.render import Line, wrap

if TYPE_CHECKING:
    from quizapp.lab.catalogue import DemoDeclaration
    from quizapp.lab.params import Value
    from quizapp.lab.protocol import Start
    from quizapp.lab.symptom import PredicateReading
    from quizapp.tui.lab_state import LabState

EMULATED_BADGE = "EMULATED, no GPU used: real control flow and gradients, planned durations."

_OUTCOMES = {
    "completed": ("DONE", "strong"),
    "out-of-memory": ("OUT OF MEMORY", "strong"),
    "crashed": ("CRASHED", "wrong"),
    "timed-out": ("TIMED OUT", "wrong"),
    "stopped": ("STOPPED", "strong"),
}


def headline(state: LabState, glyphs: Glyphs, *, lab: str = "", comparing: str = "") -> Line:
    """One line: what goes on, how far it is, how fast."""
    dot = f"  {glyphs.dot}  "
    if comparing:
        return [(f"{glyphs.filled} BUSY", "accent"), (f"  {comparing}", "muted")]
    if state.phase == "asking":
        return [(f"{glyphs.open} WAITING", "strong"), ("  for your prediction", "muted")]
    if state.phase == "failed":
        return [(f"{glyphs.wrong} NO RUN", "wrong"), ("  the reason stands below", "muted")]
    if state.phase == "warming":
        words = "importing torch, a few seconds" if lab in ("cold", "warming") else "starting the demo"
        return [(f"{glyphs.partial} WARMING", "accent"), (f"  {words}", "muted")]
    parts = []
    if state.step:
        parts.append(f"step {state.step}")
    if state.phase == "running":
        parts.append(f"{state.strip.t_s:.1f} of {state.strip.total_s:g} s device time")
        speed = state.order.speed if state.order.recording is not None else state.request().speed
        if speed:
            parts.append(f"{speed:.3g}{glyphs.times} wall clock")
        return [(f"{glyphs.filled} RUNNING", "accent"), (f"  {dot.join(parts)}", "muted")]
    summary = state.summary
    if summary is None:
        return []
    word, role = _OUTCOMES[summary.outcome]
    sign = glyphs.right if summary.outcome in ("completed", "out-of-memory") else glyphs.wrong
    if summary.device_s is not None:
        parts.append(f"{summary.device_s:.1f} s device time")
    if summary.wall_s is not None:
        parts.append(f"{summary.wall_s:.1f} s wall")
    if summary.steps_per_s is not None:
        parts.append(f"{summary.steps_per_s:.3g} steps/s")
    return [(f"{sign} {word}", role), (f"  {dot.join(parts)}", "muted")]


def notes(state: LabState) -> list[str]:
    """What must stand beside the numbers for as long as they are shown."""
    said: list[str] = []
    if state.start is not None and state.start.replayed:
        said.append(f"REPLAY: {state.start.replayed}")
    if state.emulated:
        said.append(EMULATED_BADGE)
    return said


def verdict(state: LabState, width: int, glyphs: Glyphs) -> list[Line]:
    """Predicted beside measured, the diagnosis and why, the question's signs one by one."""
    if state.phase == "failed":
        return wrap([(visible(state.reason), "warning")], width)
    predicted = _predicted(state)
    if state.summary is None:
        lines: list[Line] = [predicted] if predicted else []
        lines += wrap([(visible(state.demo.title), "strong")], width)
        lines += wrap([(visible(state.demo.summary), "muted")], width) if state.demo.summary else []
        return lines
    summary = state.summary
    lines = []
    right = state.prediction_right
    measured: Line = [("Measured   ", "muted"), (summary.diagnosis, "strong")]
    if right is not None:
        sign, role, words = (
            (glyphs.right, "right", "as predicted") if right else (glyphs.wrong, "wrong", "not as predicted")
        )
        measured += [(f"  {sign} {words}", role)]
    if predicted:
        lines.append(predicted)
    lines.append(measured)
    if summary.reason:
        lines += wrap([(visible(summary.reason), "")], width, [("Why        ", "muted")])
    if summary.error is not None and summary.error.message not in summary.reason:
        lines += wrap(
            [(visible(f"{summary.error.type}: {summary.error.message}"), "warning")],
            width,
            [("Error      ", "muted")],
        )
    lines += _prediction_of_memory(state, width)
    if state.readings:
        lines += [*_signs(state, state.readings, width, glyphs), []]
    lines += wrap([(visible(_conditions(state)), "muted")], width, [("Conditions ", "muted")])
    if summary.outcome in ("crashed", "timed-out") and summary.log_tail:
        lines += [[], [("Last lines of its log", "muted")]]
        for text in summary.log_tail[-8:]:
            lines += wrap([(visible(text), "")], width, [("  ", "")])
    if state.summary.variant != "fix" and state.variant != "control":
        fix = state.demo.sections.get("Fix", "")
        if fix and state.order.taking is None:
            lines += wrap([(_one_paragraph(fix), "")], width, [("Fix        ", "muted")])
    return lines


def _conditions(state: LabState) -> str:
    """What the numbers hold for: the devices, the versions, the seed, the time, every parameter."""
    summary = state.summary
    if summary is None:
        return ""
    if summary.device_kind == "emulated":
        parts = [f"{summary.devices} emulated devices"]
    else:
        parts = [f"{summary.devices} × {', '.join(dict.fromkeys(summary.device_names)) or 'GPU'}"]
    if summary.torch:
        parts.append(f"torch {summary.torch}")
    if summary.seed is not None:
        parts.append(f"seed {summary.seed}")
    elif summary.device_kind == "emulated":
        parts.append("durations as planned")
    if state.ended_at is not None:
        parts.append(on_screen(state.ended_at))
    parts += [f"{name}={param_text(cast('Value', value))}" for name, value in summary.params.items()]
    return ", ".join(parts)


def _predicted(state: LabState) -> Line:
    if state.order.taking is None or not state.prediction:
        return []
    said = "no prediction" if state.prediction == NOT_SAID else state.prediction
    words = DIAGNOSES.get(state.prediction, "")
    return [
        ("Predicted  ", "muted"),
        (said, "strong"),
        (f"  {words}" if words and state.summary is None else "", "muted"),
    ]


def _prediction_of_memory(state: LabState, width: int) -> list[Line]:
    prediction = state.summary.memory_prediction if state.summary is not None else None
    if not prediction:
        return []
    words = [(label, visible(f"{label} {text}".strip())) for label, text in memory_words(prediction)]
    whole = ", ".join(text for label, text in words if not label.startswith(" ") and label != "categories")
    parts = ", ".join(text for label, text in words if label.startswith(" "))
    lines = wrap([(whole, "")], width, [("Memory     ", "muted")])
    return lines + (wrap([(parts, "")], width, [("           ", "muted")]) if parts else [])


def _signs(state: LabState, readings: list[PredicateReading], width: int, glyphs: Glyphs) -> list[Line]:
    held = sum(reading.holds for reading in readings)
    whole = held == len(readings)
    words = "shows" if whole else "does not show"
    lines: list[Line] = [
        [],
        *wrap(
            [
                (f"This run {words} what the question describes", "strong"),
                (f": {held} of {len(readings)} signs", "muted"),
            ],
            width,
        ),
    ]
    if state.chosen:
        sign, role = (glyphs.right, "right") if whole else (glyphs.wrong, "wrong")
        expected = f"You chose {state.order.letter}, so you expect every sign of it."
        lines += wrap([(expected, "")], width, [(f"{sign} ", role)])
    for reading in readings:
        sign, role = (glyphs.right, "right") if reading.holds else (glyphs.wrong, "wrong")
        lines += wrap([(visible(f"“{reading.predicate.says}”"), "")], width, [(f"{sign} ", role)])
        detail = f"{reading.condition}: wanted {reading.wanted}, measured {reading.measured}"
        lines += wrap([(visible(detail), "muted")], width, [("    ", "")])
    return lines


def log_lines(state: LabState, width: int) -> list[Line]:
    """What the demo prints."""
    if not state.log:
        return [[("The demo has printed nothing.", "muted")]]
    lines: list[Line] = []
    for text in state.log:
        lines += wrap([(visible(text), "muted" if text.startswith("[lab] ") else "")], width)
    return lines


def about(demo: DemoDeclaration, start: Start | None, width: int) -> list[Line]:
    """The demo's own story, and the plan of its durations once it has run."""
    lines: list[Line] = []
    if demo.summary:
        lines += [*wrap([(visible(demo.summary), "")], width), []]
    for heading, text in demo.sections.items():
        lines += [[(visible(heading), "strong")], *wrap([(visible(text), "")], width), []]
    if start is not None and start.plan:
        lines.append([("Plan", "strong")])
        for name, value in start.plan.items():
            lines += wrap([(visible(f"{name}: {_plan_words(value)}"), "")], width, [("  ", "")])
    return lines


def _plan_words(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(
            f"{key} {entry:.4g}" if isinstance(entry, float) else f"{key} {entry}"
            for key, entry in value.items()
        )
    return str(value)


def _one_paragraph(text: str) -> str:
    return " ".join(visible(text).split("\n\n")[0].split())
