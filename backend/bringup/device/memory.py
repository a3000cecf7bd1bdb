"""Device memory: what a program needs at its peak, and a ledger of the weights that are resident.

Weights are accounted once per storage, however many programs and tensors share it. A program's working memory is its
inputs, constants and the live intermediates; sizes are logical bytes, `elements x itemsize` of each buffer that owns memory.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Iterable
from functools import partial
from typing import Any

import torch

from bringup.device.profile import Profile
from bringup.errors import DeviceMemoryError
from bringup.ir import Buffer, Program, Region, Role, refs

Sizes = dict[str, int]


def symbols_of(program: Program) -> tuple[tuple[int, int, str], ...]:
    """Where the program's symbolic sizes are read: (input position, dimension, symbol)."""
    found: dict[str, tuple[int, int, str]] = {}
    for position, name in enumerate(program.inputs):
        for dim, size in enumerate(program.buffers[name].shape):
            if isinstance(size, str) and size.isidentifier():
                found.setdefault(size, (position, dim, size))
    return tuple(found.values())


def buffer_bytes(buffer: Buffer, sizes: Sizes) -> int:
    """Bytes of a buffer under the given symbol values; a size that only the data decides counts as zero."""
    if buffer.dtype is None:
        return 0
    elements = 1
    for size in buffer.shape:
        elements *= size if isinstance(size, int) else _evaluate(size, sizes)
    return max(elements, 0) * buffer.dtype.itemsize


def _evaluate(expression: str, sizes: Sizes) -> int:
    if expression in sizes:
        return sizes[expression]
    helpers: dict[str, Any] = {"Max": max, "Min": min, "Mod": lambda a, b: a % b, "FloorDiv": lambda a, b: a // b}
    try:
        return int(eval(expression, {"__builtins__": {}}, {**helpers, **sizes}))
    except (NameError, SyntaxError, TypeError, ZeroDivisionError):
        return 0


def working_peak(program: Program, sizes: Sizes) -> int:
    """Most bytes of inputs, constants and intermediates that are live at once; weights are not counted."""
    owned: dict[str, int] = {}
    last: dict[str, int] = {}
    for index, instruction in enumerate(program.instructions):
        for name in (*instruction.reads(), *(r for r in instruction.results if r)):
            last[program.root(name)] = index
    for output in refs(program.outputs):
        last[program.root(output)] = len(program.instructions)
    dying: dict[int, list[str]] = {}
    for name, index in last.items():
        dying.setdefault(index, []).append(name)
    for name in (*program.inputs, *program.constants):
        if program.buffers[name].role is not Role.WEIGHT:
            owned[name] = buffer_bytes(program.buffers[name], sizes)
    live = sum(owned.values())
    peak = live
    for index, instruction in enumerate(program.instructions):
        for result in instruction.results:
            if result is not None and program.buffers[result].alias_of is None:
                owned[result] = buffer_bytes(program.buffers[result], sizes)
                live += owned[result]
        nested = [program.regions[o.index] for o in instruction.operands if isinstance(o, Region)]
        peak = max(peak, live + max((working_peak(r, sizes) for r in nested), default=0))
        for name in dying.get(index, ()):
            if program.buffers[name].role is Role.INTERMEDIATE:
                live -= owned.get(name, 0)
    return peak


class Ledger:
    """The weights resident on one device, accounted once per storage. Thread-safe."""

    def __init__(self, profile: Profile) -> None:
        self.profile = profile
        self._lock = threading.Lock()
        self._held: dict[int, tuple[weakref.ref[torch.Tensor], int, int]] = {}

    def hold(self, tensors: Iterable[torch.Tensor]) -> dict[int, int]:
        """Account for weights until they are garbage collected; returns their bytes by storage address."""
        held: dict[int, int] = {}
        with self._lock:
            for tensor in tensors:
                address, size = _storage(tensor)
                held[address] = size
                key = id(tensor)
                if key not in self._held:
                    self._held[key] = (weakref.ref(tensor, partial(self._forget, key)), address, size)
        return held

    def _forget(self, key: int, _: object) -> None:
        self._held.pop(key, None)

    def resident(self) -> int:
        """Bytes of the distinct storages held now."""
        with self._lock:
            return sum({address: size for _, address, size in list(self._held.values())}.values())

    def require(self, working: int, what: str) -> None:
        """Check that `working` bytes fit beside the resident weights.

        Raises:
            DeviceMemoryError: they do not; the message shows the ledger.
        """
        capacity = self.profile.memory_bytes
        resident = self.resident()
        if capacity is None or resident + working <= capacity:
            return
        raise DeviceMemoryError(
            f"{what} does not fit on device {self.profile.name!r}\n"
            f"  capacity:          {capacity:>18,} bytes\n"
            f"  resident weights:  {resident:>18,} bytes\n"
            f"  working peak:      {working:>18,} bytes (inputs, constants, live intermediates)\n"
            f"  short of:          {resident + working - capacity:>18,} bytes\n"
            f"  to do: a smaller batch, a smaller dtype, or a device with more memory"
        )


def _storage(tensor: torch.Tensor) -> tuple[int, int]:
    try:
        storage = tensor.untyped_storage()
        return storage.data_ptr(), storage.nbytes()
    except (NotImplementedError, RuntimeError):  # sparse and other tensors without one storage
        return id(tensor), tensor.numel() * tensor.element_size()


_LEDGERS: dict[str, Ledger] = {}
_LEDGERS_LOCK = threading.Lock()


def ledger(profile: Profile) -> Ledger:
    """The ledger of the device that `profile` describes, one per process."""
    with _LEDGERS_LOCK:
        found = _LEDGERS.get(profile.name)
        if found is None or found.profile != profile:
            found = _LEDGERS[profile.name] = Ledger(profile)
        return found
