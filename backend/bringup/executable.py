"""A compiled program that can be called: runs it, counts its runs, and accounts for the memory it needs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bringup.device.memory import Ledger, symbols_of, working_peak
from bringup.engine import Boxed, build
from bringup.errors import TargetError
from bringup.ir import Program, Role
from bringup.recorder import ProgramRecord

_REMEMBERED_SIZES = 1024


def executable(
    program: Program, record: ProgramRecord, ledger: Ledger, runtime: Callable[[Program], Boxed] = build
) -> Boxed:
    """A function that runs a program on a list of inputs, which it empties so that they can be freed.

    Memory is accounted at the first call and again when sizes or weights change. Calls from several threads are
    independent: each has its own values.

    Raises:
        TargetError: the runtime makes nothing that can be called; raised at once.
    """
    run, tick = runtime(program), record.tick
    if not callable(run):
        raise TargetError(
            f"the runtime of target {program.target!r} gave {run!r} for program {program.name!r}; it must give a function of "
            "a list of inputs that returns a tuple of outputs"
        )
    weights = tuple(i for i, name in enumerate(program.inputs) if program.buffers[name].role is Role.WEIGHT)
    first = weights[0] if weights else None
    symbols = symbols_of(program)
    account = _accountant(program, record, ledger, weights)
    accounted: set[tuple[int, ...]] = set()
    plain = _plain_complex_inputs(program)

    def call(inputs: list[Any]) -> tuple[Any, ...]:
        weight = id(inputs[first]) if first is not None else 0
        key = (weight, *[inputs[i].shape[d] for i, d, _ in symbols])
        if key not in accounted:
            account(inputs, dict(zip((s for _, _, s in symbols), key[1:], strict=True)))
            if len(accounted) >= _REMEMBERED_SIZES:
                accounted.clear()
            accounted.add(key)
        for i in plain:
            if inputs[i].is_conj():
                inputs[i] = inputs[i].resolve_conj()
        tick()
        return run(inputs)

    call._boxed_call = True  # type: ignore[attr-defined]  # AOTAutograd asks for this mark
    return call


def _plain_complex_inputs(program: Program) -> tuple[int, ...]:
    """Positions of complex inputs that were traced without the conjugate bit, so must come without it (tangents may not)."""
    written = {
        program.root(name) for instruction in program.walk() for name in instruction.writes if name in program.buffers
    }
    buffers = [program.buffers[name] for name in program.inputs]
    return tuple(
        i
        for i, b in enumerate(buffers)
        if b.dtype is not None and b.dtype.is_complex and not b.conjugated and b.name not in written
    )


def _accountant(
    program: Program, record: ProgramRecord, ledger: Ledger, weights: tuple[int, ...]
) -> Callable[[list[Any], dict[str, int]], None]:
    def account(inputs: list[Any], sizes: dict[str, int]) -> None:
        held = ledger.hold(inputs[i] for i in weights)
        working = working_peak(program, sizes)
        ledger.require(working, f"program {program.name!r}")
        record.weights |= held
        record.working_peak = max(record.working_peak, working)

    return account
