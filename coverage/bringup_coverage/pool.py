"""A pool of forked workers: each case runs isolated, so that a crash or a hang is a row and not the end of the run."""

from __future__ import annotations

import multiprocessing
import os
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from typing import Any, Generic, TypeVar

Task = TypeVar("Task")
Result = TypeVar("Result")

_CONTEXT = multiprocessing.get_context("fork")
_CASES_PER_WORKER = 40  # compiled graphs are never freed by torch; a fresh fork is cheap


class WorkerError(RuntimeError):
    """A task raised in its worker: a fault of the code that runs the cases, not of what is examined."""


@dataclass(frozen=True)
class _Raised:
    traceback: str


@dataclass
class _Worker(Generic[Task]):
    process: Any
    pipe: Connection
    task: Task | None = None
    started: float = 0.0
    done: int = 0


def run_isolated(
    tasks: Sequence[Task],
    function: Callable[[Task], Result],
    lost: Callable[[Task, str, str], Result],
    *,
    jobs: int,
    timeout: float,
    per_worker: int = _CASES_PER_WORKER,
) -> Iterator[Result]:
    """Results of `function` on each task, in the order they finish.

    Args:
        tasks: what to run.
        function: runs in a worker; its result must pickle.
        lost: makes the result of a task whose worker died (status ``crash``) or took too long (``timeout``).
        jobs: workers at a time.
        timeout: seconds that one task may take.
        per_worker: tasks that a worker runs before it makes way for a fresh one.

    Raises:
        WorkerError: `function` raised; the text has its traceback.
    """
    todo = list(reversed(tasks))
    workers: list[_Worker[Task]] = []
    try:
        while todo or any(w.task is not None for w in workers):
            while todo and len(workers) < jobs:
                workers.append(_start(function))
            for worker in workers:
                if worker.task is None and todo:
                    worker.task, worker.started = todo.pop(), time.monotonic()
                    worker.pipe.send(worker.task)
            yield from _collect(workers, lost, timeout, per_worker)
            workers = [w for w in workers if w.process is not None]
    finally:
        for worker in workers:
            _stop(worker)


def _start(function: Callable[[Task], Result]) -> _Worker[Task]:
    here, there = _CONTEXT.Pipe()
    process = _CONTEXT.Process(target=_serve, args=(there, function), daemon=True)
    process.start()
    there.close()
    return _Worker(process, here)


def _serve(pipe: Connection, function: Callable[[Any], Any]) -> None:
    import signal

    import torch

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    torch.set_num_threads(1)
    _silence()
    while True:
        try:
            task = pipe.recv()
        except EOFError:
            return
        try:
            result = function(task)
        except Exception:
            result = _Raised(traceback.format_exc())
        pipe.send(result)


def _silence() -> None:
    """What operators print, and what a dying worker says, would tear the progress bar."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    os.close(nowhere)


def _collect(
    workers: list[_Worker[Task]], lost: Callable[[Task, str, str], Result], timeout: float, per_worker: int
) -> Iterator[Result]:
    busy = {w.pipe: w for w in workers if w.task is not None}
    ready = wait(list(busy), timeout=0.5)
    for pipe, worker in busy.items():
        assert worker.task is not None
        if pipe in ready:
            task, worker.task = worker.task, None
            result: Any
            try:
                result = worker.pipe.recv()
                worker.done += 1
            except (EOFError, OSError):
                worker.process.join(5)
                result = lost(task, "crash", f"worker exit status {worker.process.exitcode}")
                _stop(worker)
            if isinstance(result, _Raised):
                raise WorkerError(f"bringup itself failed on {task}:\n{result.traceback}")
            yield result
            if worker.process is not None and worker.done >= per_worker:
                _stop(worker)
        elif time.monotonic() - worker.started > timeout:
            task, worker.task = worker.task, None
            _stop(worker)
            yield lost(task, "timeout", f"over {timeout:.0f} s")


def _stop(worker: _Worker[Task]) -> None:
    if worker.process is not None:
        worker.process.kill()
        worker.process.join()
        worker.pipe.close()
        worker.process = None
