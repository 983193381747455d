"""Questions with variables: what a seed draws, what formulas give, and what an attempt keeps of it."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quizapp.assess.instance import instance_of, values_of
from quizapp.assess.response import Response
from quizapp.assess.scoring import Verdict
from quizapp.bank.load import load_bank
from quizapp.bank.model import Numeric, Question, SingleChoice, Spread, Variable
from quizapp.bank.snapshot import question_from_json, question_to_json
from quizapp.bank.variables import BadDraw, exactly, filled, places, rounded, value_at, worked_out
from quizapp.errors import QuizappError
from quizapp.store.rescore import plan_rescore, rescore
from quizapp.store.store import Store
from sample_bank import MemoryBank

ADAMW, RING, AS_IT_IS = load_bank(
    Path(__file__).parent.parent / "banks" / "good" / "variables.yaml"
).bank.questions

# What seeds draw since variables were first released: a change here re-deals every such exam.
GOLDEN = {
    0: ({"params_b": "13"}, {"gpus": "8", "gb": "1"}),
    1: ({"params_b": "13"}, {"gpus": "4", "gb": "14"}),
    42: ({"params_b": "3"}, {"gpus": "4", "gb": "4"}),
    2**63 - 1: ({"params_b": "3"}, {"gpus": "4", "gb": "1"}),
}


def asked(question: Question, seed: int) -> Question:
    return question_from_json(instance_of(question_to_json(question), seed))


def of(variables: dict[str, Variable]) -> dict[str, str]:
    """What formulas give for the first values of the others."""
    return worked_out(variables, {name: each.values[0] for name, each in variables.items() if each.values})


def test_values_are_the_golden_ones() -> None:
    assert {seed: (values_of(ADAMW, seed), values_of(RING, seed)) for seed in GOLDEN} == GOLDEN


def test_every_value_is_drawn_about_as_often_as_the_others() -> None:
    counts: dict[str, int] = {}
    for seed in range(5000):
        value = values_of(ADAMW, seed)["params_b"]
        counts[value] = counts.get(value, 0) + 1
    assert sorted(counts) == sorted(ADAMW.variables["params_b"].values)
    # Five standard deviations of a share of a fifth in 5,000 draws.
    assert all(abs(count - 1000) < 5 * math.sqrt(5000 * 0.2 * 0.8) for count in counts.values())


def test_a_question_is_asked_with_its_numbers_in_every_text() -> None:
    question = asked(ADAMW, 0)
    assert isinstance(question, Numeric)
    size = float(question.drawn["params_b"])
    assert question.variables == {}
    assert f"{size:g} billion" in question.stem
    assert question.key.min == question.key.max == f"{16 * size:g}"
    assert question.mistakes[0].response == f"{4 * size:g}"
    assert f"4 × {size:g} G" in question.mistakes[0].rationale
    assert question.explanation.full == f"`16 * {size:g}`"
    assert "{{" not in question_to_json(question)


def test_another_number_of_questions_or_variables_changes_no_draw() -> None:
    more = replace(ADAMW, variables={**ADAMW.variables, "a": Variable(values=("1", "2"))})
    assert all(values_of(more, seed)["params_b"] == values_of(ADAMW, seed)["params_b"] for seed in range(50))


@given(
    st.integers(0, 2**63 - 1),
    st.decimals(-1000, 1000, places=2),
    st.decimals(0, 100, places=2),
    st.decimals("0.01", 10, places=2),
)
def test_a_range_is_left_by_no_draw(seed: int, low: object, width: object, step: object) -> None:
    variable = Variable(range=Spread(min=f"{low}", max=f"{low + width}", step=f"{step}"))  # type: ignore[operator]
    (value,) = values_of(replace(ADAMW, variables={"x": variable}), seed).values()
    assert float(low) - 1e-9 <= float(value) <= float(low + width) + 1e-9  # type: ignore[arg-type,operator]
    assert value_at(variable, places(variable) - 1) == value_at(variable, places(variable) - 1).strip()


def test_both_ends_of_a_range_are_drawn() -> None:
    variable = Variable(range=Spread(min="0.1", max="0.3", step="0.1"))
    drawn = {values_of(replace(ADAMW, variables={"x": variable}), seed)["x"] for seed in range(100)}
    assert drawn == {"0.1", "0.2", "0.3"}


def test_formulas_are_worked_out_before_anything_is_rounded() -> None:
    variables = {
        "a": Variable(values=("10",)),
        "third": Variable(formula="a / 3", digits=2),
        "back": Variable(formula="third * 3"),
        "most": Variable(formula="max(third, ceil(a / 4)) if a > 5 else 0"),
        "bits": Variable(formula="log2(2 ** 10) + sqrt(16) + floor(2.5) + abs(-1) + 7 // 2 + 7 % 4"),
    }
    assert of(variables) == {"third": "3.3", "back": "10", "most": "3.33333", "bits": "23"}
    assert exactly(variables, {"a": "10"})["third"] == 10 / 3


@pytest.mark.parametrize(
    ("formula", "said"),
    [
        ("1 / (a - a)", "divides by zero"),
        ("9.0 ** 9 ** 9 ** 9", "too large"),
        ("(0 - a) ** 0.5", "no such power"),
        ("log(0 * a)", "is no number"),
        ("1e308 * 10 * a", "no finite number"),
        ("a - 2", "is -1, below 0"),
        ("a.real", "more than arithmetic"),
        ("(lambda: a)()", "more than arithmetic"),
        ("open(a)", "not defined"),
        ("[a for b in (1, 2)]", "more than arithmetic"),
    ],
)
def test_a_formula_without_a_sensible_number_says_why(formula: str, said: str) -> None:
    with pytest.raises(BadDraw, match=r".") as caught:
        of({"a": Variable(values=("1",)), "x": Variable(formula=formula)})
    assert said in str(caught.value)
    assert caught.value.name == "x"


def test_huge_powers_of_whole_numbers_cost_nothing() -> None:
    # As whole numbers these would take 3 GB each.
    assert of({"x": Variable(formula="(9 ** 300) * 0 + 1")}) == {"x": "1"}
    with pytest.raises(BadDraw):
        of({"x": Variable(formula="9 ** 9999999999 * 9 ** 9999999999")})


def test_numbers_are_shown_in_decimal() -> None:
    shown = [rounded(number, 6) for number in (7e9, 0.1 + 0.2, 1 / 3, 1e-7, 2.5e20, -0.0, 1234567.0)]
    assert shown == ["7000000000", "0.3", "0.333333", "0.0000001", "2.5e+20", "0", "1234570"]


def test_a_draw_that_makes_no_sense_is_followed_by_the_next() -> None:
    # Ring and naive give the same number on two GPUs.
    two = replace(RING, variables={**RING.variables, "gpus": Variable(range=Spread(min="2", max="3"))})
    for seed in range(40):
        question = asked(two, seed)
        assert question.drawn["gpus"] == "3"
        assert len({option.text for option in question.options}) == 2
    gap = {"n": Variable(range=Spread(min="1", max="2")), "x": Variable(formula="1 / (n - 1)")}
    assert {asked(replace(AS_IT_IS, variables=gap), seed).drawn["n"] for seed in range(40)} == {"2"}


def test_a_question_without_any_sensible_draw_is_refused_in_words() -> None:
    never = {"n": Variable(range=Spread(min="1", max="2")), "x": Variable(formula="0 - n")}
    with pytest.raises(
        QuizappError, match="No draw of the variables of as-it-is makes sense: x is -"
    ) as caught:
        asked(replace(AS_IT_IS, variables=never), 1)
    assert "check --samples" in caught.value.hint


def test_what_fills_a_text_does_not_care_what_the_text_holds() -> None:
    odd = replace(ADAMW, stem='"{{var:params_b}}" \\ {{opt:x}} {{var:nobody}} \n "variables":{')
    question = question_from_json(filled(question_to_json(odd), odd.variables, {"params_b": "7"}))
    assert question.stem == '"7" \\ {{opt:x}} {{var:nobody}} \n "variables":{'


# In an attempt.


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store.open(tmp_path)


def bank(*questions: Question) -> MemoryBank:
    return MemoryBank(list(questions))


def test_an_attempt_keeps_the_numbers_it_was_asked_with(store: Store) -> None:
    sitting = store.start(bank(ADAMW, RING, AS_IT_IS), "ada", seed=7)  # type: ignore[arg-type]
    sitting.show(0)
    seen = sitting.question(0)
    assert seen == asked(ADAMW, 7)
    assert isinstance(seen, Numeric)
    assert sitting.question(1) == asked(RING, 7)
    sitting.close()

    # Other values stand in the bank now; what was shown stays, and what was not is drawn from these.
    other = {"gpus": Variable(values=("32",))}
    changed = bank(
        replace(ADAMW, variables={**ADAMW.variables, "params_b": Variable(values=("99",))}),
        replace(RING, variables={**RING.variables, **other}),
        AS_IT_IS,
    )
    again = store.resume(sitting.attempt_id, changed)  # type: ignore[arg-type]
    assert again.question(0) == seen
    assert again.question(1).drawn["gpus"] == "32"
    again.respond(0, Response(text=str(seen.key.min)))
    assert again.submit(0).verdict is Verdict.CORRECT
    again.close()
    record = store.show(sitting.attempt_id)
    assert record.question("adamw") == seen


def test_two_attempts_of_one_seed_are_the_same_exam_and_others_are_not(store: Store) -> None:
    def exam(seed: int) -> list[Question]:
        sitting = store.start(bank(ADAMW, RING, AS_IT_IS), f"learner {seed}", mode="exam", seed=seed)  # type: ignore[arg-type]
        questions = [sitting.question(place) for place in range(3)]
        sitting.close()
        # An exam has all its questions from the start, without its bank.
        without = store.resume(sitting.attempt_id, None)
        assert [without.question(place) for place in range(3)] == questions
        without.finish()
        without.close()
        return questions

    assert exam(3) == exam(3)
    assert any(exam(3)[0] != exam(seed)[0] for seed in range(4, 12))


def test_a_mended_formula_is_scored_with_the_numbers_that_were_drawn(store: Store) -> None:
    wrong = replace(ADAMW, variables={**ADAMW.variables, "memory": Variable(formula="12 * params_b")})
    sitting = store.start(bank(wrong, AS_IT_IS), "ada", seed=7)  # type: ignore[arg-type]
    sitting.show(0)
    size = float(sitting.question(0).drawn["params_b"])
    sitting.respond(0, Response(text=f"{16 * size:g}"))
    sitting.finish()
    sitting.close()
    assert store.show(sitting.attempt_id).attempt.points == 0

    mended = bank(ADAMW, AS_IT_IS)
    plan = plan_rescore(store, mended)  # type: ignore[arg-type]
    assert [(each.old_points, each.new_points) for each in plan.attempts] == [(0, 1)]
    assert rescore(store, plan, "twelve bytes were too few") == 1
    assert store.show(sitting.attempt_id).attempt.points == 1
    assert plan_rescore(store, mended).attempts == ()  # type: ignore[arg-type]
    kept = [json.loads(row[0]) for row in store._db.execute("SELECT question FROM snapshots")]
    assert sorted(each["key"]["min"] for each in kept if each["id"] == "adamw") == sorted(
        [f"{12 * size:g}", f"{16 * size:g}"]
    )


def test_other_variables_than_those_that_were_drawn_are_refused(store: Store) -> None:
    sitting = store.start(bank(ADAMW, AS_IT_IS), "ada", seed=7)  # type: ignore[arg-type]
    sitting.show(0)
    sitting.respond(0, Response(text="1"))
    sitting.finish()
    sitting.close()
    renamed = json.loads(question_to_json(ADAMW).replace("params_b", "size"))
    now = question_from_json(json.dumps(renamed))
    with pytest.raises(QuizappError, match="drawn for it: params_b; that would be now: size"):
        plan_rescore(store, bank(now, AS_IT_IS))  # type: ignore[arg-type]
    fixed = replace(asked(ADAMW, 7), drawn={})
    with pytest.raises(QuizappError, match="drawn for it: params_b; that would be now: none"):
        plan_rescore(store, bank(fixed, AS_IT_IS))  # type: ignore[arg-type]


def test_the_key_of_a_draw_is_found_by_the_option_not_by_its_number(store: Store) -> None:
    sitting = store.start(bank(RING, AS_IT_IS), "ada", seed=1)  # type: ignore[arg-type]
    sitting.show(0)
    sitting.respond(0, Response(("ring",)))
    assert sitting.submit(0).verdict is Verdict.CORRECT
    assert isinstance(sitting.question(0), SingleChoice)
    sitting.close()
