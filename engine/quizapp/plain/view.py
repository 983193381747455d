"""How a question, its reveal and a result are written in lines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from quizapp.assess.scoring import (
    TYPED,
    Score,
    Verdict,
    given_in_words,
    key_in_words,
    key_of,
    mistake_of,
    points_in_words,
    rule_in_words,
    rule_of,
)
from quizapp.plain.talk import Talk

if TYPE_CHECKING:
    from quizapp.assess.response import Response
    from quizapp.assess.result import Result
    from quizapp.bank.model import Matching, Ordering, Reading
    from quizapp.store.sitting import Sitting

VERDICTS = {
    Verdict.CORRECT: "Right",
    Verdict.PARTIAL: "Partly right",
    Verdict.INCORRECT: "Wrong",
    Verdict.UNANSWERED: "Not answered",
}


def question(talk: Talk, sitting: Sitting, place: int) -> None:
    """The stem and the options, each with its letter and its demo."""
    asked = sitting.question(place)
    letters = sitting.letters(place)
    points = points_in_words(asked.points)
    of = f"of {sitting.total}" if sitting.most is None else f"({sitting.most} at most)"
    head = f"Question {place + 1} {of} · {points} {'point' if points == '1' else 'points'}"
    if asked.objective:
        head += f" · {sitting.objectives.get(asked.objective, asked.objective)}"
    talk.say()
    talk.say(head)
    talk.say()
    talk.say(_text(talk, asked.stem, letters))
    talk.say()
    if asked.kind == "matching":
        for number, pair in enumerate(asked.pairs, 1):
            talk.indented(_text(talk, pair.text, letters, indent=6), f"{number:>3}  ")
        talk.say()
    options = {option.id: option for option in asked.options}
    for option_id, letter in letters.items():
        option = options[option_id]
        talk.indented(_text(talk, option.text, letters, indent=6), f"  {letter}  ")
        if option.demo is not None and not sitting.concealed:
            talk.say(f"     [demo {option.demo.name}, {option.demo.variant}]")
    if letters:
        talk.say()
    rule, penalty = asked.scoring.rule or rule_of(asked.kind), asked.scoring.penalty
    if asked.kind == "multiple-choice":
        talk.wrapped(f"Choose all that apply. Scored {rule_in_words(rule, penalty)}.")
    elif penalty or asked.kind in ("ordering", "matching"):
        talk.wrapped(f"Scored {rule_in_words(rule, penalty)}.")
    if asked.kind == "numeric":
        units = [unit for unit in (asked.unit, *asked.units) if unit]
        talk.wrapped(
            f"A number is asked for, in {' or '.join(units)}." if units else "A number is asked for."
        )
    elif asked.kind == "short-text":
        talk.say("A word or a few are asked for.")
    elif asked.kind == "ordering":
        talk.say("Put all of them in order, such as: b a c")
    elif asked.kind == "matching":
        talk.say("Give each number a letter, such as: 1b 2a")
    elif asked.kind == "reading":
        _pick(talk, asked, rule, penalty)
    given = sitting.response(place)
    if sitting.concealed:
        if sitting.marked(place):
            talk.say("Marked.")
        if not given.blank:
            talk.say(f"Your answer so far: {given_in_words(asked, given, letters)}.")
    elif not given.blank and not sitting.submitted(place):
        command = "submit" if asked.kind in ("single-choice", "multiple-choice", "true-false") else ":submit"
        talk.say(
            f"Kept from before: {given_in_words(asked, given, letters)}. `{command}` makes it your answer."
        )


def _pick(talk: Talk, asked: Reading, rule: str, penalty: float) -> None:
    from quizapp.plain.recording import say_recording

    say_recording(talk, asked)
    talk.say()
    if asked.key.span is None:
        talk.wrapped("Devices are asked for: type their numbers, such as 0,1.")
    else:
        near = f"it is right from an overlap of {asked.overlap:.0%} with the key"
        talk.wrapped(f"A stretch of device time is asked for, such as 2.5-7; {near}.")
    if rule != rule_of(asked.kind) and not penalty:
        talk.wrapped(f"Scored {rule_in_words(rule)}.")


def reveal(talk: Talk, sitting: Sitting, place: int, ground: str) -> None:
    """The verdict, the key, each option's rationale, the short explanation and what it stands on."""
    asked = sitting.question(place)
    letters = sitting.letters(place)
    given = sitting.response(place)
    key = key_of(asked)
    score = sitting.score(place)
    talk.say()
    if score is not None:
        talk.wrapped(f"{VERDICTS[score.verdict]}: {_points(score)}.")
    yours = given_in_words(asked, given, letters) or "nothing"
    said = "gave" if asked.kind in TYPED else "picked" if asked.kind == "reading" else "chose"
    talk.wrapped(f"You {said} {yours}. The key is {key_in_words(asked, letters)}.")
    talk.say()
    if asked.kind == "reading":
        from quizapp.assess.reading import overlap_in_words

        if near := overlap_in_words(asked, given):
            talk.say(f"The {near}.")
            talk.say()
    if asked.kind == "numeric" or asked.kind == "short-text" or asked.kind == "reading":
        why = mistake_of(asked, given) if score is not None and score.verdict is Verdict.INCORRECT else ""
        for text in (why, asked.rationale):
            if text:
                talk.say(_text(talk, text, letters))
                talk.say()
    if asked.kind == "ordering" or asked.kind == "matching":
        _parts(talk, asked, given, letters)
        letters = {}
    options = {option.id: option for option in asked.options}
    for option_id, letter in letters.items():
        is_key, chosen = option_id in key, option_id in given.selected
        said = "right" if is_key else "wrong"
        if chosen:
            said += ", you chose it"
        elif is_key:
            said += ", you missed it"
        talk.say(f"  {'✔' if is_key else '✘'} {letter}  {said}")
        talk.indented(_text(talk, options[option_id].rationale, letters, indent=6), "       ")
    if letters:
        talk.say()
    talk.say(_text(talk, asked.explanation.short, letters))
    figure = asked.explanation.figure
    if figure is not None:
        talk.say()
        talk.wrapped(f"Picture: {figure.alt}")
    talk.say()
    talk.wrapped(f"The ground of the key: {ground}.")
    for number, reference in enumerate(asked.references, 1):
        talk.say(f"  {number}. {reference.title}  {reference.url}")


def _parts(talk: Talk, asked: Ordering | Matching, given: Response, letters: dict[str, str]) -> None:
    """What became of each item or pair, and why."""
    texts = {option.id: option.text for option in asked.options}
    if asked.kind == "ordering":
        for number, item in enumerate(asked.items, 1):
            right = given.selected[number - 1 : number] == (item.id,)
            talk.indented(
                _text(talk, item.text, letters, indent=9),
                f"  {'✔' if right else '✘'} {number}  {letters[item.id]}  ",
            )
    else:
        chosen = dict(given.pairs)
        for number, pair in enumerate(asked.pairs, 1):
            key = asked.key[pair.id]
            right = chosen.get(pair.id) == key
            talk.indented(
                _text(talk, f"{pair.text}: {texts[key]}", letters, indent=9),
                f"  {'✔' if right else '✘'} {number}  {letters[key]}  ",
            )
            if pair.rationale:
                talk.indented(_text(talk, pair.rationale, letters, indent=10), "          ")
    talk.say()
    if asked.rationale:
        talk.say(_text(talk, asked.rationale, letters))
        talk.say()


def full_explanation(talk: Talk, sitting: Sitting, place: int) -> None:
    """The whole story."""
    asked = sitting.question(place)
    talk.say()
    talk.say(_text(talk, asked.explanation.full or asked.explanation.short, sitting.letters(place)))


def overview(talk: Talk, sitting: Sitting) -> None:
    """Which questions are open, and which are marked."""
    marked = [place for place in range(sitting.total) if sitting.marked(place)]
    for what, places in (("Open", sitting.open_items()), ("Marked", marked)):
        numbers = ", ".join(str(place + 1) for place in places) or "none"
        talk.wrapped(f"{what}: {numbers}. ({len(places)} of {sitting.total})")


def result(talk: Talk, sitting: Sitting, got: Result) -> None:
    """The sum, the mark, each objective, and the questions that were not answered in full."""
    talk.say()
    total = f"{points_in_words(got.points)} of {points_in_words(got.max_points)} points ({got.share:.0%})"
    if got.passed is None:
        talk.say(f"Done: {total}.")
    else:
        talk.say(f"{'Passed' if got.passed else 'Not passed'}: {total}; the mark is {got.pass_mark:.0%}.")
    if got.ability is not None:
        from quizapp.assess.adaptive import ability_in_words, end_in_words, scale_in_words

        talk.say(f"Your {ability_in_words(got.ability)}; {scale_in_words(got.ability)}")
        if end_in_words(got.ability):
            talk.say(end_in_words(got.ability))
    counts = [f"{VERDICTS[verdict].lower()} {count}" for verdict, count in got.counts.items() if count]
    talk.say(f"Questions: {', '.join(counts)}.")
    if len(got.by_objective) > 1:
        from quizapp.assess.result import interval_in_words

        for part in got.by_objective:
            name = part.title or "no objective"
            count = "1 question" if part.questions == 1 else f"{part.questions} questions"
            talk.say(
                f"  {points_in_words(part.points)} of {points_in_words(part.max_points)}  {name}"
                f" ({interval_in_words(part.interval)}, {count})"
            )
        talk.say("  In brackets: 95 % intervals of the share, by Wilson's method.")
    for place in sitting.wrong_items():
        score = sitting.score(place)
        if score is not None:
            talk.say(
                f"  Question {place + 1} ({sitting.question_id(place)}): {VERDICTS[score.verdict].lower()}"
            )


def as_json(sitting: Sitting) -> dict[str, Any]:
    """The attempt as one object: what `take --json` prints."""
    got = sitting.result()
    return {
        "attempt": sitting.attempt_id,
        "bank": sitting.bank_id,
        "title": sitting.bank_title,
        "learner": sitting.learner,
        "mode": sitting.mode,
        "seed": sitting.seed,
        "saved": sitting.saved,
        "finished": sitting.finished,
        "remaining_s": sitting.remaining_s,
        "questions": [_item_as_json(sitting, place) for place in range(sitting.total)],
        "points": got.points,
        "max_points": got.max_points,
        "total": sitting.total,
        "pass_mark": got.pass_mark,
        "passed": got.passed if sitting.finished else None,
        **({} if got.ability is None else {"ability": got.ability._asdict()}),
        "by_objective": [] if sitting.concealed else [part._asdict() for part in got.by_objective],
    }


def _item_as_json(sitting: Sitting, place: int) -> dict[str, Any]:
    score = sitting.score(place)
    return {
        "question": sitting.question_id(place),
        "response": sitting.response(place).plain,
        "submitted": sitting.submitted(place),
        "verdict": score.verdict.value if score else None,
        "points": score.points if score else None,
        "max_points": score.max_points if score else None,
        "rule": score.rule if score else None,
    }


def _points(score: Score) -> str:
    of = points_in_words(score.max_points)
    text = f"{points_in_words(score.points)} of {of} {'point' if of == '1' else 'points'}"
    return text if score.rule == "all-or-nothing" else f"{text} ({score.rule})"


def _text(talk: Talk, text: str, letters: dict[str, str], indent: int = 0) -> str:
    from quizapp.bank.documents import document
    from quizapp.bank.layout import to_plain

    if "{{" in text:
        from quizapp.bank.references import resolve

        text = resolve(text, letters)
    width = max(20, talk.width - indent)
    return to_plain(document(text), width=width, ascii_only=talk.ascii_only).rstrip("\n")
