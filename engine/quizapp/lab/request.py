"""What one run is asked to be."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from quizapp.errors import QuizappError
from quizapp.lab.catalogue import DemoDeclaration

Device = Literal["auto", "cuda", "emulated"]


class LabUnavailable(QuizappError):
    """No demo can run here, and what to do about it."""

    exit_code = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRequest:
    """One run: which demo and variant, on what, for how long.

    `params` holds texts as given on a command line or in a bank; `seconds` is device time (None: the demo's
    own), `speed` device seconds a wall second (None: as fast as it goes), `seed` perturbs the plan.
    """

    demo: DemoDeclaration
    variant: str = "fault"
    devices: int = 8
    device: Device = "auto"
    seconds: float | None = None
    speed: float | None = None
    params: Mapping[str, str] = field(default_factory=dict)
    seed: int | None = None
    timeout_s: float | None = None
    force: bool = False
    """Use GPUs that others are using, too."""

    @property
    def device_s(self) -> float:
        """Device time that the run is to last."""
        return self.seconds if self.seconds is not None else self.demo.seconds

    @property
    def wall_limit_s(self) -> float:
        """When the run is given up."""
        if self.timeout_s is not None:
            return self.timeout_s
        paced = self.device_s / self.speed if self.speed else self.device_s
        return 120.0 + 4.0 * paced

    def check(self) -> dict[str, Any]:
        """Every parameter's typed value; raises QuizappError for a request that the demo doesn't allow."""
        values = self.demo.resolve(self.variant, self.params)
        problem = self.demo.check_devices(self.devices)
        if problem:
            raise QuizappError(problem)
        for name, number in (("seconds", self.seconds), ("speed", self.speed), ("timeout_s", self.timeout_s)):
            if number is not None and not 0 < number < float("inf"):
                raise QuizappError(f"{name} must be above 0")
        if self.device_s > 3600:
            raise QuizappError("seconds: a run is an hour of device time at most")
        return values
