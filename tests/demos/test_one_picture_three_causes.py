"""Two devices full and six at zero for seconds: utilisation shows it for three causes, other meters part
them.
"""

from __future__ import annotations

import pytest

from forked_demo import Ran, run

DEVICES, HOT = 8, 2
CAUSES = ("dp-sync", "input-skew", "host-barrier")


@pytest.fixture(scope="module")
def faults() -> dict[str, Ran]:
    return {cause: run(cause, "fault", devices=DEVICES, seed=4) for cause in CAUSES}


def test_utilisation_shows_the_same_picture_for_all_three(faults: dict[str, Ran]) -> None:
    for cause, ran in faults.items():
        util = ran.mean("util")
        assert sum(share >= 0.9 for share in util) == HOT, cause
        assert min(util[:HOT]) >= 0.9, cause
        assert sum(ran.longest_zero_s(device) >= 1 for device in range(DEVICES)) == DEVICES - HOT, cause
        assert ran.outcome["outcome"] == "completed", cause


def test_the_other_meters_tell_them_apart(faults: dict[str, Ran]) -> None:
    def most_of_the_cold(meter: str) -> dict[str, float]:
        return {cause: min(ran.mean(meter)[HOT:]) for cause, ran in faults.items()}

    def of_the_hot(meter: str) -> dict[str, float]:
        return {cause: min(ran.mean(meter)[:HOT]) for cause, ran in faults.items()}

    assert {cause: ran.start["processes"] for cause, ran in faults.items()} == {
        "dp-sync": 1,
        "input-skew": DEVICES,
        "host-barrier": DEVICES,
    }
    data_wait, host_wait = most_of_the_cold("data_wait"), most_of_the_cold("host_wait")
    assert data_wait["input-skew"] >= 0.5 > 0.05 > max(data_wait["dp-sync"], data_wait["host-barrier"])
    assert min(host_wait["dp-sync"], host_wait["host-barrier"]) >= 0.3 > 0.05 > host_wait["input-skew"]
    # The hot ones: at work, or spinning.
    compute, collective = of_the_hot("compute"), of_the_hot("collective")
    assert min(compute["dp-sync"], compute["host-barrier"]) >= 0.9
    assert compute["input-skew"] <= 0.4
    assert collective["input-skew"] >= 0.6
