from __future__ import annotations

import sys
from collections.abc import Callable

import pytest

from fake_nvml import FakeGpu, FakeNvml, NVMLError
from lab_lines import start
from quizapp.lab import nvml
from quizapp.lab.nvml import (
    GpuInventory,
    GpusOccupied,
    NoGpu,
    Placement,
    Sampler,
    place,
    start_nvml,
    visible_gpus,
)
from quizapp.lab.protocol import Outcome, Sample
from quizapp.lab.summary import summarise

GIB = 1 << 30


def seen(fake: FakeNvml, **environment: str) -> GpuInventory:
    return nvml.inventory(lambda: start_nvml(fake), environment)


def placed(
    fake: FakeNvml, count: int, device: str = "auto", *, force: bool = False, **environment: str
) -> Placement:
    return place(device, count, lambda: seen(fake, **environment), torch_cuda="12.8", force=force)  # type: ignore[arg-type]


# -- what there is


def test_gpus_are_listed_with_who_is_on_them() -> None:
    fake = FakeNvml([FakeGpu(), FakeGpu(used=20 * GIB, util=98, processes=[(4711, 19 * GIB), (4712, None)])])
    found = seen(fake)
    assert found.driver == "570.1"
    assert [gpu.name for gpu in found.gpus] == ["NVIDIA H200"] * 2
    assert found.gpus[1].util == 0.98
    assert found.gpus[1].occupied == "python3␛ (4711, 19.0 GiB), python3␛ (4712)"
    assert [gpu.index for gpu in found.free] == [0]
    assert fake.open == 0


def test_memory_held_by_processes_that_cannot_be_seen_counts_as_occupied() -> None:
    hidden, idle = seen(FakeNvml([FakeGpu(used=30 * GIB), FakeGpu(used=GIB // 2)])).gpus
    assert "30.0 GiB in use by processes that can't be seen" in hidden.occupied
    assert idle.occupied == ""


@pytest.mark.parametrize(
    ("error", "says"),
    [
        (NVMLError("Driver Not Loaded"), "no NVIDIA driver answers (Driver Not Loaded)"),
        (NVMLError(), "no NVIDIA driver answers (NVMLError)"),
        (OSError("libnvidia-ml.so.1: cannot open"), "can't be loaded"),
    ],
)
def test_a_missing_driver_or_library_is_no_gpu_with_the_reason(error: Exception, says: str) -> None:
    found = seen(FakeNvml([], init_error=error))
    assert found.gpus == ()
    assert says in found.reason


def test_without_the_bindings_there_is_no_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pynvml", None)
    with pytest.raises(NoGpu, match="nvidia-ml-py is not installed"):
        nvml.open_nvml()
    assert "nvidia-ml-py" in nvml.inventory().reason


def test_the_bindings_are_used_when_they_are_there(monkeypatch: pytest.MonkeyPatch) -> None:
    fake = FakeNvml([FakeGpu()])
    monkeypatch.setitem(sys.modules, "pynvml", fake)
    assert nvml.open_nvml() is fake


def test_a_driver_that_knows_no_gpu_or_fails() -> None:
    assert "knows no GPU" in seen(FakeNvml([])).reason
    failing = FakeNvml([FakeGpu()])
    failing.fails.add("count")
    assert "the NVIDIA driver fails (Unknown Error)" in seen(failing).reason
    assert failing.open == 0


def test_a_gpu_that_fell_off_the_bus_leaves_a_gap() -> None:
    found = seen(FakeNvml([FakeGpu(refuses={"handle"}), FakeGpu()]))
    assert [gpu.index for gpu in found.gpus] == [1]
    assert "no GPU answers" in seen(FakeNvml([FakeGpu(refuses={"handle"})])).reason


def test_what_a_gpu_does_not_offer_is_none_and_never_0() -> None:
    mute = FakeGpu(refuses={"name", "memory", "util", "processes", "mig", "uuid"})
    fake = FakeNvml([mute, FakeGpu(used="N/A", util=(1 << 32) - 1, total=None)])
    fake.fails |= {"driver", "process_name"}
    first, second = seen(fake).gpus
    assert (first.name, first.used_bytes, first.util, first.mig, first.occupied) == (
        "GPU 0",
        None,
        None,
        False,
        "",
    )
    assert (second.used_bytes, second.util, second.memory_bytes) == (None, None, None)
    assert seen(fake).driver == ""


def test_a_process_without_a_name_is_still_a_process() -> None:
    fake = FakeNvml([FakeGpu(processes=[(5, (1 << 64) - 1)])])
    fake.fails.add("process_name")
    assert seen(fake).gpus[0].occupied == "process (5)"


UUIDS = {0: "GPU-aaaa", 1: "GPU-abcd", 2: "GPU-b123"}


@pytest.mark.parametrize(
    ("setting", "expected"),
    [
        (None, (0, 1, 2)),
        ("", ()),
        ("-1", ()),
        ("2,0", (2, 0)),
        (" 1 , 2 ", (1, 2)),
        ("0,9,1", (0,)),
        ("0,0", (0,)),
        ("GPU-b", (2,)),
        ("GPU-a", ()),
        ("GPU-aa,GPU-b123", (0, 2)),
        ("MIG-1,0", ()),
        ("0,MIG-1,2", (0,)),
        ("NoDevFiles", ()),
        ("²", ()),
    ],
)
def test_cuda_visible_devices_is_read_by_cudas_rules(setting: str | None, expected: tuple[int, ...]) -> None:
    assert visible_gpus(setting, UUIDS) == expected


def test_hidden_gpus_are_listed_and_not_used() -> None:
    found = seen(FakeNvml([FakeGpu(), FakeGpu()]), CUDA_VISIBLE_DEVICES="1")
    assert [gpu.visible for gpu in found.gpus] == [False, True]
    assert [gpu.index for gpu in found.usable] == [1]
    assert (
        "CUDA_VISIBLE_DEVICES hides every GPU" in seen(FakeNvml([FakeGpu()]), CUDA_VISIBLE_DEVICES="").reason
    )


# -- which are taken


def test_free_gpus_are_taken_by_uuid() -> None:
    fake = FakeNvml([FakeGpu() for _ in range(3)])
    chosen = placed(fake, 2, CUDA_VISIBLE_DEVICES="0,2")
    assert chosen.kind == "cuda"
    assert chosen.indices == (0, 2)
    assert chosen.visible == ("GPU-00000000", "GPU-00000002")
    assert chosen.memory_fraction == pytest.approx(0.9)
    assert chosen.notices == ("GPU 0: NVIDIA H200, free", "GPU 2: NVIDIA H200, free")


def test_a_gpu_without_uuid_is_named_by_its_index() -> None:
    assert placed(FakeNvml([FakeGpu(refuses={"uuid"})]), 1).visible == ("0",)


def test_occupied_gpus_are_left_alone_when_there_are_enough_others() -> None:
    fake = FakeNvml([FakeGpu(processes=[(1, GIB)]), FakeGpu(), FakeGpu()])
    assert placed(fake, 2, "cuda").indices == (1, 2)


def test_occupied_gpus_are_refused_and_listed() -> None:
    fake = FakeNvml([FakeGpu(processes=[(77, 2 * GIB)]), FakeGpu()])
    with pytest.raises(GpusOccupied) as caught:
        placed(fake, 2, "cuda")
    assert "GPU 0 (NVIDIA H200): python3␛ (77, 2.0 GiB)" in str(caught.value)
    assert "--force" in caught.value.hint
    automatic = placed(fake, 2, "auto")
    assert automatic.kind == "emulated"
    assert "77" in automatic.notices[0]


def test_forced_gpus_are_capped_to_a_share_of_what_is_free() -> None:
    fake = FakeNvml(
        [FakeGpu(total=100 * GIB, used=50 * GIB, processes=[(77, 50 * GIB)]), FakeGpu(total=100 * GIB)]
    )
    forced = placed(fake, 2, "cuda", force=True)
    assert forced.indices == (0, 1)
    assert forced.memory_fraction == pytest.approx(0.45)
    assert "although in use" in forced.notices[0]


@pytest.mark.parametrize("device", ["auto", "cuda"])
def test_with_fewer_gpus_than_asked_emulated_ones_are_used_and_it_is_said(device: str) -> None:
    few = placed(FakeNvml([FakeGpu(), FakeGpu(mig=1)]), 2, device)
    assert few.kind == "emulated"
    assert few.notices == (
        "emulated devices are used: 2 GPUs were asked for, and 1 can be used here (split by MIG: 1)",
    )
    none = placed(FakeNvml([], init_error=NVMLError("Driver Not Loaded")), 1, device)
    assert (none.kind, none.indices) == ("emulated", ())
    assert "Driver Not Loaded" in none.notices[0]


def test_a_cpu_build_of_torch_looks_for_no_gpu() -> None:
    def never() -> GpuInventory:
        raise AssertionError("looked")

    cpu = place("cuda", 1, never, torch_cuda=None)
    assert cpu.kind == "emulated"
    assert "without CUDA" in cpu.notices[0]
    assert place("emulated", 8, never, torch_cuda="12.8") == Placement("emulated")


# -- what they read


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def reading(sampler: Sampler, clock: Clock, at_s: float, change: Callable[[], None] = lambda: None) -> None:
    clock.now = at_s
    change()
    sampler.read()


def test_a_window_is_the_mean_of_its_readings_and_the_peak_of_memory(clock: Clock) -> None:
    gpu = FakeGpu(util=100, used=10, power_mw=300_000, clock_mhz=1000)
    sampler = Sampler(FakeNvml([gpu]), (0,), clock)
    reading(sampler, clock, 100.0)

    def change() -> None:
        gpu.util, gpu.used, gpu.power_mw, gpu.clock_mhz = 0, 4, 100_000, 2000

    reading(sampler, clock, 100.1, change)
    assert sampler.window(99.9, 100.1) == {
        "util": (0.5,),
        "memory_bytes": (10,),
        "power_w": (200.0,),
        "clock_mhz": (1500.0,),
    }
    assert sampler.window(100.05, 100.1)["util"] == (0.0,)


def test_a_window_without_a_reading_takes_the_one_just_before_or_none(clock: Clock) -> None:
    sampler = Sampler(FakeNvml([FakeGpu(util=40)]), (0,), clock)
    assert sampler.window(99, 100)["util"] == (None,)
    reading(sampler, clock, 100.0)
    assert sampler.window(100.05, 100.1)["util"] == (0.4,)
    assert sampler.window(105, 106)["util"] == (None,)


@pytest.mark.parametrize("what", ["util", "memory", "power", "clock"])
def test_a_reading_that_is_not_supported_is_none(clock: Clock, what: str) -> None:
    sampler = Sampler(FakeNvml([FakeGpu(refuses={what}), FakeGpu()]), (0, 1), clock)
    sampler.read()
    name = {"memory": "memory_bytes", "power": "power_w", "clock": "clock_mhz"}.get(what, what)
    first, second = sampler.window(99, 101)[name]
    assert first is None
    assert second is not None


def test_readings_that_come_and_go_are_averaged_over_those_there_are(clock: Clock) -> None:
    gpu = FakeGpu(util=80)
    sampler = Sampler(FakeNvml([gpu]), (0,), clock)
    reading(sampler, clock, 100.0)
    reading(sampler, clock, 100.1, lambda: gpu.refuses.update({"util", "memory"}))
    assert sampler.window(99.9, 100.2)["util"] == (0.8,)
    assert sampler.window(99.9, 100.2)["memory_bytes"] == (0,)


def test_a_lost_gpu_reads_nothing(clock: Clock) -> None:
    sampler = Sampler(FakeNvml([FakeGpu(refuses={"handle"})]), (0,), clock)
    assert sampler.read() == (nvml.DeviceReading(),)
    assert set(sampler.window(99, 101).values()) == {(None,)}


@pytest.mark.parametrize("nonsense", [101, -1, (1 << 32) - 1, None, "N/A"])
def test_a_utilisation_that_cannot_be_is_none(clock: Clock, nonsense: object) -> None:
    sampler = Sampler(FakeNvml([FakeGpu(util=nonsense)]), (0,), clock)
    assert sampler.read()[0].util is None


def test_a_sample_is_filled_with_what_nvml_saw_in_its_window(clock: Clock) -> None:
    gpu = FakeGpu(util=100, used=7)
    sampler = Sampler(FakeNvml([gpu, FakeGpu(refuses={"util"})]), (0, 1), clock)
    reading(sampler, clock, 100.0)
    reading(sampler, clock, 100.5, lambda: setattr(gpu, "util", 0))
    sample = Sample(
        t_s=1.0,
        window_s=0.1,
        monotonic_s=100.02,
        meters={"util": (0.3, 0.3), "memory_bytes": (99, None), "compute": (0.2, 0.2)},
    )
    filled = sampler.fill(sample)
    assert filled.meters["util"] == (1.0, 0.3)  # NVML's where it has one, else the demo's own
    assert filled.meters["memory_bytes"] == (99, 0)  # the demo's own peak, else NVML's
    assert filled.meters["compute"] == (0.2, 0.2)
    assert filled.meters["power_w"] == (90.0, 90.0)
    late = sampler.fill(Sample(t_s=1.0, window_s=0.1))
    assert late.meters["util"] == (0.0, None)  # without a time stamp, the window is the one that just ended


def test_processes_other_than_the_runs_are_not_counted(clock: Clock) -> None:
    gpu = FakeGpu(processes=[(1, GIB)])
    sampler = Sampler(FakeNvml([gpu]), (0,), clock)
    assert sampler.remark(1) == ""
    gpu.processes += [(8, GIB), (9, GIB)]
    sampler.read()
    assert sampler.remark(2) == ""
    assert "NVML saw 2 processes" in sampler.remark(1)
    assert sampler.remark(None) == ""


def test_a_driver_that_lists_no_processes_says_nothing_of_them(clock: Clock) -> None:
    sampler = Sampler(FakeNvml([FakeGpu(refuses={"processes"})]), (0,), clock)
    assert sampler.read()[0].pids is None
    assert sampler.remark(4) == ""


def test_a_run_on_gpus_is_summed_up_with_what_is_not_available_left_open(clock: Clock) -> None:
    fake = FakeNvml([FakeGpu(util=100, refuses={"power"}), FakeGpu(util=0)])
    sampler = Sampler(fake, (0, 1), clock)
    samples = []
    for i in range(20):
        reading(sampler, clock, 100 + i / 10)
        samples.append(
            sampler.fill(
                Sample(t_s=(i + 1) / 10, window_s=0.1, monotonic_s=clock.now, meters={"compute": (0.9, 0.1)})
            )
        )
    told = summarise(start(2, device_kind="cuda"), samples, Outcome(outcome="completed"))
    assert told.diagnosis == "imbalance"
    assert told.meters["power_w"][0] is None
    assert told.meters["power_w"][1] is not None
    assert told.meters["util"][1] is not None
    assert told.meters["util"][1].longest_zero_s == pytest.approx(2.0)
    assert told.meters["sm_active"] == [None, None]
    assert told.notice == ""
    sampler.close()
