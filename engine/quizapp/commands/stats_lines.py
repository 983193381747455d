"""The figures of a bank as lines of 80 columns, and as JSON."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from quizapp.assess.intervals import Interval
    from quizapp.assess.irt import Calibration
    from quizapp.assess.item_analysis import BankFigures, Choice, QuestionFigures

WIDTH = 80
_NAME = 22


def figures_lines(title: str, found: BankFigures, calibration: Calibration | None) -> list[str]:
    """All of it: the bank, a line a question, then what is wrong and who chose what, question by question."""
    from quizapp.assess.item_analysis import METHODS, flag_counts

    lines = _wrapped(" ".join(title.split()))
    lines += _wrapped(_of_bank(found))
    if calibration is not None:
        lines += _wrapped(_of_model(calibration))
    if not found.questions:
        return lines
    head = f"  {'question':{_NAME}} {'n':>5} {'facility %':^12} {'item-rest r':^22} {'b':>6} {'time':>6}"
    lines += ["", head]
    lines += [_row(one) for one in found.questions]
    counts = flag_counts(found)
    if counts:
        lines += ["", *_wrapped("Flags: " + ", ".join(f"{name} ({counts[name]})" for name in sorted(counts)))]
    for one in found.questions:
        if not one.suppressed:
            lines += ["", *_in_full(one)]
    lines += [""]
    for name, method in METHODS.items():
        lines += _wrapped(f"{name}: {method}", "  ")
    return lines


def _of_bank(found: BankFigures) -> str:
    said = f"{found.attempts:,} {'attempt' if found.attempts == 1 else 'attempts'}."
    if not found.attempts:
        return said
    if not found.same_set:
        return f"{said} Not all were asked the same questions, so there is no reliability of the whole."
    reliability = found.reliability
    if reliability is None:
        return f"{said} Reliability needs {found.min_n} attempts and scores that differ."
    return (
        f"{said} {reliability.name} {reliability.alpha:.2f}{_interval(reliability.alpha_interval)}; mean "
        f"{reliability.mean:.1f} points, SD {reliability.sd:.1f}, standard error of measurement "
        f"{reliability.sem:.2f} points."
    )


def _of_model(calibration: Calibration) -> str:
    name = "Rasch model" if calibration.model == "rasch" else "2PL model"
    spread = f", abilities have an SD of {calibration.ability_sd:.2f} logits" if name[0] == "R" else ""
    error = float((calibration.ability_se**2).mean() ** 0.5)
    ended = "" if calibration.converged else " It has not converged."
    return (
        f"{name}{spread}; a learner's ability is known to ±{error:.2f} (standard error). b is the ability at "
        f"which half get a question right; a response that is partly right counts as not right.{ended}"
    )


def _row(one: QuestionFigures) -> str:
    name = f"{one.question.question_id}"
    if one.question.revision != 1:
        name += f" r{one.question.revision}"
    name = name if len(name) <= _NAME else name[: _NAME - 1] + "…"
    start = f"{'!' if one.flags else ' '} {name:{_NAME}} {one.n:>5}"
    if one.suppressed:
        return f"{start}  too few to tell"
    facility = f"{100 * (one.facility or 0):.0f}"
    if one.facility_interval is not None:
        low, high = one.facility_interval
        facility += f" ({100 * low:.0f}-{100 * high:.0f})"
    r = "-" if one.discrimination is None else f"{one.discrimination:+.2f}"
    r += _interval(one.discrimination_interval)
    b = "-"
    if one.difficulty is not None and one.difficulty.difficulty is not None:
        b = f"{one.difficulty.difficulty:+.2f}"
    time = "-" if one.time_s is None else _seconds(one.time_s)
    return f"{start} {facility:^12} {r:^22} {b:>6} {time:>6}"


def _in_full(one: QuestionFigures) -> list[str]:
    key = one.question
    head = f"{key.question_id}, revision {key.revision}" + (f", {one.kind}" if one.kind else "")
    lines = _wrapped(head)
    for flag in one.flags:
        lines += _wrapped(f"! {flag.name}: {flag.why}", "    ", "  ")
    fit = one.difficulty
    if fit is not None and fit.difficulty is not None:
        error = "" if fit.difficulty_se is None else f" ± {fit.difficulty_se:.2f}"
        slope = (
            ""
            if fit.discrimination_se is None
            else (f", discrimination {fit.discrimination:.2f} ± {fit.discrimination_se:.2f}")
        )
        lines.append(
            f"  difficulty {fit.difficulty:+.2f}{error}{slope}; distance from the model {fit.misfit:.2f}"
        )
    if one.time_s is not None and one.time_interval is not None:
        low, high = one.time_interval
        lines.append(f"  time {_seconds(one.time_s)} ({_seconds(low)} to {_seconds(high)})")
    if one.choices:
        lines.append(f"  {'':4}{'chosen':>7} {'share':^15} {'rest':>5}")
        lines += [_choice(choice) for choice in one.choices]
    if one.blank:
        lines.append(f"  {'':4}{one.blank:>7} left it blank")
    return lines


def _choice(choice: Choice) -> str:
    share = f"{choice.share:.0%} {_percent(choice.share_interval)}"
    rest = "-" if choice.rest is None else f"{choice.rest:.0%}"
    label = " ".join(choice.label.split())
    label = label if len(label) <= 40 else label[:39] + "…"
    return f"  {'key' if choice.key else '':4}{choice.choosers:>7} {share:^15} {rest:>5}  {label}"


def _percent(interval: Interval | None) -> str:
    return "" if interval is None else f"({100 * interval[0]:.0f}-{100 * interval[1]:.0f} %)"


def _interval(interval: Interval | None) -> str:
    return "" if interval is None else f" ({interval[0]:.2f} to {interval[1]:.2f})"


def _seconds(time_s: float) -> str:
    return f"{time_s:.1f} s" if time_s < 10 else f"{time_s:.0f} s"


def _wrapped(text: str, indent: str = "", first: str = "") -> list[str]:
    return textwrap.wrap(text, WIDTH, initial_indent=first, subsequent_indent=indent)


def figures_as_json(found: BankFigures, calibration: Calibration | None) -> dict[str, Any]:
    """The same figures with their methods; null is what is suppressed or not defined."""
    from quizapp.assess.item_analysis import METHODS

    reliability = found.reliability
    return {
        "attempts": found.attempts,
        "min_n": found.min_n,
        "same_set": found.same_set,
        "reliability": None if reliability is None else reliability._asdict(),
        "model": None
        if calibration is None
        else {
            "name": calibration.model,
            "ability_sd": calibration.ability_sd,
            "ability_se": float((calibration.ability_se**2).mean() ** 0.5),
            "converged": calibration.converged,
        },
        "methods": METHODS,
        "questions": [_question_as_json(one) for one in found.questions],
    }


def _question_as_json(one: QuestionFigures) -> dict[str, Any]:
    body = one._asdict()
    key = body.pop("question")
    body["choices"] = [choice._asdict() for choice in one.choices]
    body["difficulty"] = None if one.difficulty is None else one.difficulty._asdict()
    body["flags"] = [flag._asdict() for flag in one.flags]
    return {"question": key.question_id, "revision": key.revision, **body}
