"""Records, runs and estimates of a system that does not exist, for every test that needs some."""

import json
from datetime import UTC, datetime
from typing import Any

from tefflab.benchmarks.task_graph.record import GraphRecord
from tefflab.host.machine import Machine, Revision
from tefflab.records.record import parse_record
from tefflab.records.run import Run, Sitting


def good_record(**changes: Any) -> dict[str, Any]:
    """A record as a program prints it: 1000 steps of a stencil, two columns on two workers."""
    record: dict[str, Any] = {
        "schema": "teff-record-2",
        "benchmark": "task_graph",
        "system": "sample",
        "variant": "plain",
        "version": "Sample 1.0",
        "graphs": [
            {
                "type": "stencil_1d",
                "steps": 1000,
                "width": 2,
                "radix": 3,
                "period": 0,
                "fraction": 0.25,
                "kernel": "compute_bound",
                "iterations": 64,
                "samples": 16,
                "imbalance": 0.0,
                "persistent_imbalance": False,
                "output_bytes": 16,
                "scratch_bytes": 0,
            }
        ],
        "nodes": 0,
        "workers": 2,
        "ranks": 2,
        "isa": "avx512",
        "elapsed_seconds": 0.05,
        "tasks": 2000,
        "dependencies": 3996,
        "flops": 16_512_000,
        "bytes": 0,
        "local_dependencies": None,
        "nonlocal_dependencies": None,
        "validation": {
            "enabled": True,
            "passed": True,
            "checksum": "0x0123456789abcdef",
            "expected": "0x0123456789abcdef",
            "error": None,
        },
        "noise": {
            "cpu_seconds": 0.09,
            "voluntary_switches": 0,
            "involuntary_switches": 2,
            "gap_share_before": 0.001,
            "gap_share_after": 0.002,
        },
        "started_at": "2026-11-20T22:00:00.123Z",
    }
    return record | changes


def failed_record(**changes: Any) -> dict[str, Any]:
    """A record of graphs that was refused before anything was known of it."""
    head = {name: good_record()[name] for name in ("schema", "benchmark", "system", "variant", "version")}
    return head | {"error": "-width 0: a graph is at least one point wide; say -width 1"} | changes


MACHINE = Machine(
    id="0123456789ab",
    architecture="x86_64",
    cpu="Sample CPU",
    cores_present=2,
    cores_usable=2,
    cgroup_quota_cores=None,
    memory_bytes=8 * 1024**3,
    memory_limit_bytes=None,
    hypervisor=None,
    governor=None,
    simd=("avx2",),
    kernel="6.1.0",
    os="Sample OS",
    compilers={"gcc": "gcc 12"},
)


def sitting(name: str = "one", benchmark: str = "task_graph") -> Sitting:
    return Sitting(
        sitting=name,
        benchmark=benchmark,
        started_at=datetime(2026, 11, 20, 22, 0, tzinfo=UTC),
        machine=MACHINE,
        revision=Revision(commit="abc", dirty=True),
        versions={"sample": "Sample 1.0"},
        command="teff metg",
        plan={"patterns": ["stencil_1d"]},
    )


def run(*, flags: str = "-iter 64", record: dict[str, Any] | None = None, **changes: Any) -> Run[GraphRecord]:
    fields: dict[str, Any] = {
        "sitting": "one",
        "round": 0,
        "system_id": "sample",
        "role": "system",
        "attempt": 0,
        "noisy": False,
        "command": "sample --batch",
        "flags": flags,
        "record": parse_record(json.dumps(record or good_record()), GraphRecord),
        "workers": 2,
    }
    return Run[GraphRecord](**(fields | changes))


def estimate(**changes: Any) -> dict[str, Any]:
    """A line of the store's estimates."""
    return {
        "sitting": "one",
        "benchmark": "task_graph",
        "system_id": "sample",
        "title": "Sample",
        "version": "1.0",
        "case": "stencil_1d",
        "configuration": "-type stencil_1d",
        "workers": 2,
        "quantity": "METG(50 %)",
        "value": 2e-6,
        "low": 1.9e-6,
        "high": 2.1e-6,
        "relation": "=",
        "unit": "s",
        "rounds": 5,
        "noisy_share": 0.1,
    } | changes
