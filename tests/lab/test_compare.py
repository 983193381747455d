from __future__ import annotations

import json
from pathlib import Path

import pytest

from demo_programs import DECLARATION, demo
from lab_lines import steady, summary
from quizapp.lab.compare import Cell, compare, planned_runs, table
from quizapp.lab.protocol import Json, Outcome
from quizapp.lab.request import RunRequest
from quizapp.lab.summary import RunSummary


def ran(compute: list[float | None], rate: float, expected: dict[str, Json], wait: float = 0.0) -> RunSummary:
    n = len(compute)
    return summary(
        {
            "compute": steady(compute),
            "data_wait": steady([wait] * n),
            "memory_bytes": steady([float(2**30)] * n),
        },
        outcome=Outcome(outcome="completed", steps_per_s=rate, wall_s=1.0, expected=expected),
    )


CONTROL = Cell("control", ran([0.96, 0.96], 10.0, {"steps_per_s": 10.1, "compute": [0.97, 0.97]}))
FAULT = Cell(
    "fault", ran([0.98, 0.20], 2.0, {"steps_per_s": 2.02, "compute": [0.97, 0.25], "data_wait": 0.01})
)


def test_each_figure_stands_beside_its_closed_form_and_its_ratio() -> None:
    compared = compare([CONTROL, FAULT])
    rate = compared.rows["steps_per_s"][1]
    assert rate.ratio == pytest.approx(0.2)
    assert rate.expected_ratio == pytest.approx(0.2)
    assert rate.deviation == pytest.approx(-0.0099, abs=1e-4)
    assert not rate.off
    compute = compared.rows["compute"][1]
    assert compute.measured == pytest.approx(0.59)
    assert compute.expected == pytest.approx(0.61)


def test_the_worst_device_decides_whether_a_closed_form_is_missed() -> None:
    compute = compare([CONTROL, FAULT]).rows["compute"][1]
    assert compute.deviation == pytest.approx(-0.2)
    assert compute.off
    assert any(text.startswith("fault: compute is -20.0% off") for text in compare([CONTROL, FAULT]).off)


def test_a_ratio_can_be_off_where_its_figures_are_not() -> None:
    low = Cell("control", ran([0.9], 9.6, {"steps_per_s": 10.0}))
    high = Cell("fix", ran([0.9], 20.8, {"steps_per_s": 20.0}))
    figure = compare([low, high]).rows["steps_per_s"][1]
    assert abs(figure.deviation or 1) < 0.05
    assert figure.off
    assert "fix: steps per second's ratio" in compare([low, high]).off[0]


def test_a_share_of_next_to_nothing_is_not_held_against_five_percent_of_it() -> None:
    wait = compare([CONTROL, FAULT]).rows["data_wait"][1]
    assert wait.deviation == pytest.approx(-0.01)
    assert not wait.off
    assert wait.ratio is None


def test_without_a_closed_form_nothing_is_claimed() -> None:
    memory = compare([CONTROL, FAULT]).rows["memory_bytes"][0]
    assert (memory.expected, memory.deviation, memory.off) == (None, None, False)
    wrong_length = compare([Cell("control", ran([0.9, 0.9], 1.0, {"compute": [0.9]}))]).rows["compute"][0]
    assert wrong_length.expected is None


def test_the_table_fits_80_columns_and_keeps_the_control_in_each_block() -> None:
    cells = [
        CONTROL,
        FAULT,
        Cell("fix", FAULT.summary),
        Cell("DataParallel, even", FAULT.summary),
        Cell("DDP", FAULT.summary),
    ]
    lines = table(compare(cells))
    assert max(len(line) for line in lines) <= 80
    assert sum("control" in line and "×" not in line for line in lines) == 2
    assert any("!" in line for line in lines)
    assert "no GPU was used" in compare(cells).notices[0]


def test_control_fault_and_fix_stand_side_by_side_in_a_window_on_80_columns() -> None:
    cells = [CONTROL, FAULT, Cell("fix", FAULT.summary)]
    lines = table(compare(cells), 74)
    assert lines[0].split() == ["control", "fault", "fix"]
    assert max(map(len, lines)) <= 74
    assert len([line for line in lines if line.startswith("devices")]) == 1


def test_the_comparison_is_json() -> None:
    told = compare([CONTROL, FAULT]).as_json()
    assert json.loads(json.dumps(told, allow_nan=False)) == told


def test_a_comparison_is_control_fault_fix_and_the_demos_own_cells(tmp_path: Path) -> None:
    cells = """"comparison": [
        {"label": "uneven", "variant": "fault", "params": {"split": "uneven"}},
        {"label": "even", "variant": "fault", "params": {"split": "even"}},
    ],"""
    tested = demo(tmp_path, "pass", declaration=DECLARATION.replace('"params"', cells + '"params"', 1))
    control = demo(
        tmp_path,
        "pass",
        name="healthy",
        declaration='{"title": "c", "seconds": 1, "expects": {"fix": "healthy"},'
        ' "params": {"size": {"type": "int", "default": 1}, "rate": {"type": "float", "default": 1.0}}}',
    )
    base = RunRequest(demo=tested, devices=4, params={"size": "8", "rate": "1.5"}, seed=3)
    planned = planned_runs(base, control)
    assert [plan.label for plan in planned] == ["control", "fault: uneven", "fix", "even"]
    # `size` is what the fault sets: under it, the control would have the fault.
    assert planned[0].request.params == {"rate": "1.5"}
    assert [plan.request.variant for plan in planned] == ["fix", "fault", "fix", "fault"]
    assert planned[3].request.params == {"split": "even", "size": "8", "rate": "1.5"}
    assert [plan.declared for plan in planned] == [True, True, True, False]
    assert {plan.request.devices for plan in planned} == {4}
    assert {plan.request.seed for plan in planned} == {3}
    assert [plan.label for plan in planned_runs(RunRequest(demo=control), control)] == ["fix"]
