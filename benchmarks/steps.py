"""Step time and time to the first result, as ratios to eager and to aot_eager.

    python benchmarks/steps.py                      # the table of the README
    python benchmarks/steps.py --only 'GPT*' --json --inductor

One process, one thread, CPU time of the thread; the backends take turns, medians are compared. Times in milliseconds.
"""

from __future__ import annotations

import argparse
import fnmatch
import json
import math
import platform
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
import transformers
from rich.console import Console
from tabulate import tabulate

sys.path.insert(0, str(Path(__file__).parent))
from bench_models import MODELS, Builder

BACKENDS: dict[str, dict[str, Any]] = {
    "aot_eager": {"backend": "aot_eager"},
    "bringup": {"backend": "bringup", "options": {"fallback": "error"}},
    "required only": {"backend": "bringup", "options": {"fallback": "error", "optional_kernels": False}},
    "inductor": {"backend": "inductor"},
}


def seconds(step: Callable[[], Any]) -> float:
    """CPU seconds of this thread for one step."""
    start = time.thread_time()
    step()
    return time.thread_time() - start


def measure(build: Builder, names: list[str], budget: float) -> dict[str, dict[str, float]]:
    """Median step and first-call seconds of eager and of each backend."""
    torch.manual_seed(0)
    model, of = build()
    steps = {"eager": of(model)}
    first: dict[str, float] = {"eager": 0.0}
    for name in names:
        torch._dynamo.reset()
        steps[name] = of(torch.compile(model, **BACKENDS[name]))
        first[name] = seconds(steps[name])
    for name in reversed(
        names
    ):  # once more in the other order: the first compilation of a model warms caches for the next
        torch._dynamo.reset()
        first[name] = min(first[name], seconds(of(torch.compile(model, **BACKENDS[name]))))
    torch._dynamo.reset()
    for name in names:
        steps[name] = of(torch.compile(model, **BACKENDS[name]))
    for step in steps.values():
        step()
        step()
    times: dict[str, list[float]] = {name: [] for name in steps}
    deadline = time.monotonic() + budget
    while len(times["eager"]) < 7 or (time.monotonic() < deadline and len(times["eager"]) < 200):
        for name, step in steps.items():
            times[name].append(seconds(step))
    return {name: {"step": statistics.median(t), "first": first[name]} for name, t in times.items()}


def main() -> int:
    """Run the benchmark; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="*", help="shell pattern of model names")
    parser.add_argument("--inductor", action="store_true", help="time Inductor too (needs a C++ compiler)")
    parser.add_argument("--budget", type=float, default=4.0, help="seconds of timing for each model (default 4)")
    parser.add_argument("--json", action="store_true", help="print JSON")
    arguments = parser.parse_args()
    transformers.logging.set_verbosity_error()
    torch.set_num_threads(1)
    names = [n for n in BACKENDS if n != "inductor" or arguments.inductor]
    for name in names:  # imports are not part of any model's first call
        torch.compile(torch.sin, **BACKENDS[name])(torch.ones(1))
    results: dict[str, dict[str, dict[str, float]]] = {}
    console = Console(stderr=True)
    for model, build in MODELS.items():
        if fnmatch.fnmatchcase(model, arguments.only):
            with console.status(model):
                results[model] = measure(build, names, arguments.budget)
    if arguments.json:
        print(
            json.dumps(
                {"torch": torch.__version__, "machine": platform.processor() or platform.machine(), "results": results},
                indent=1,
            )
        )
        return 0
    print(table(results, names))
    return 0


def table(results: dict[str, dict[str, dict[str, float]]], names: list[str]) -> str:
    """Ratios of step time to eager, and of first calls to aot_eager, with geometric means."""
    rows = []
    for model, r in results.items():
        eager = r["eager"]["step"]
        rows.append(
            [model, f"{eager * 1e3:.2f}", *(f"{r[n]['step'] / eager:.2f}" for n in names)]
            + [f"{r[n]['first'] / r['aot_eager']['first']:.2f}" for n in names[1:]]
        )
    large = [r for r in results.values() if r["eager"]["step"] >= 0.005]
    for label, some in (("geometric mean", list(results.values())), ("  steps of 5 ms or more", large)):
        if some:
            mean = [
                math.exp(statistics.fmean(math.log(r[n]["step"] / r["eager"]["step"]) for r in some)) for n in names
            ]
            first = [
                math.exp(statistics.fmean(math.log(r[n]["first"] / r["aot_eager"]["first"]) for r in some))
                for n in names[1:]
            ]
            rows.append([label, "", *(f"{m:.2f}" for m in mean), *(f"{m:.2f}" for m in first)])
    headers = ["model", "eager ms", *(f"step: {n}" for n in names), *(f"first call: {n}" for n in names[1:])]
    return tabulate(rows, headers=headers, maxheadercolwidths=14)


if __name__ == "__main__":
    sys.exit(main())
