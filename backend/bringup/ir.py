"""The program: what a target executes. Frozen and terminal; graph rewrites happen before it, on the FX graph.

A program is a list of instructions in order, each on one engine, over named buffers. Aliases, effects, random state,
symbolic sizes and nested regions are written in it, and `str(program)` prints one fact per line.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

import torch

from bringup.target.dtypes import dtype_name
from bringup.target.kernel import Engine
from bringup.target.verdict import Reason


class Role(Enum):
    """What a buffer is to its program."""

    INPUT = "input"
    WEIGHT = "weight"
    CONSTANT = "constant"
    INTERMEDIATE = "intermediate"
    SCALAR = "scalar"


@dataclass(frozen=True, slots=True)
class Buffer:
    """A named value.

    Attributes:
        name: unique in its program.
        role: input, weight, constant, intermediate, or a scalar (a symbolic size, a number).
        dtype: element type; None for a scalar.
        shape: sizes in elements; a symbolic size is the text of its expression, such as ``"s0*2"``.
        strides: in elements, like `shape`.
        alias_of: the buffer whose memory this one shares, when it is a view.
        conjugated: whether the tensor carries PyTorch's lazy conjugate bit.
    """

    name: str
    role: Role
    dtype: torch.dtype | None = None
    shape: tuple[int | str, ...] = ()
    strides: tuple[int | str, ...] = ()
    alias_of: str | None = None
    conjugated: bool = False

    def __str__(self) -> str:
        if self.dtype is None:
            return f"%{self.name}: scalar"
        alias = f" alias of %{self.alias_of}" if self.alias_of else ""
        return f"%{self.name}: {dtype_name(self.dtype)}[{', '.join(map(str, self.shape))}]{alias}"


@dataclass(frozen=True, slots=True)
class Ref:
    """An operand that is the value of a buffer."""

    name: str

    def __str__(self) -> str:
        return f"%{self.name}"

    __repr__ = __str__


@dataclass(frozen=True, slots=True)
class Region:
    """An operand that is a nested program, the body of a higher-order operator."""

    index: int

    def __str__(self) -> str:
        return f"@region{self.index}"

    __repr__ = __str__


@dataclass(frozen=True, slots=True)
class Fallback:
    """Why an instruction runs on the host instead of the target."""

    reason: Reason
    detail: str


@dataclass(frozen=True, slots=True)
class Instruction:
    """One operation on one engine.

    Attributes:
        operation: the overload (``aten::mm``), a scalar function (``scalar::mul``), a check of a value that stops the program
            or does nothing (``check::_assert_async``), or a higher-order operator (``region::cond``).
        engine: what executes it.
        function: called with the operands; what the portable executor runs.
        operands: positional operands; `Ref` and `Region` may be nested in lists.
        keywords: keyword operands.
        results: the buffers that it defines; None for a part of the result that nothing reads.
        multiple: whether `function` returns a sequence, one item per result.
        writes: buffers that it changes in place.
        random: whether it draws from the random generator.
        node: name of the FX node that it came from.
        source: the user's line, ``file.py:12: code``, or the empty string.
        fallback: set when it runs on the host because the target cannot.
    """

    operation: str
    engine: Engine
    function: Callable[..., Any]
    operands: tuple[Any, ...]
    keywords: tuple[tuple[str, Any], ...] = ()
    results: tuple[str | None, ...] = ()
    multiple: bool = False
    writes: tuple[str, ...] = ()
    random: bool = False
    node: str = ""
    source: str = ""
    fallback: Fallback | None = None

    def reads(self) -> Iterator[str]:
        """Names of the buffers that it reads, in operand order."""
        for value in (*self.operands, *(v for _, v in self.keywords)):
            yield from refs(value)

    @property
    def effects(self) -> bool:
        """Whether it does more than compute its results; without any, it is there for nothing else."""
        return bool(self.writes) or self.random or not self.results


@dataclass(frozen=True)
class Program:
    """Instructions in order over named buffers.

    Attributes:
        name: ``forward``, ``backward``, ``inference``, or a region's name.
        target: name of the target that it was lowered for.
        inputs: buffers bound by the caller, in order.
        instructions: in execution order.
        outputs: what it returns: `Ref`, None and Python numbers.
        single: whether it returns its one output itself rather than a tuple, as some region bodies do.
        buffers: every buffer by name.
        constants: tensors that are part of the program, by buffer name.
        regions: bodies of higher-order operators.
    """

    name: str
    target: str
    inputs: tuple[str, ...]
    instructions: tuple[Instruction, ...]
    outputs: tuple[Any, ...]
    buffers: Mapping[str, Buffer]
    constants: Mapping[str, torch.Tensor] = field(default_factory=dict)
    regions: tuple[Program, ...] = ()
    single: bool = False

    def walk(self) -> Iterator[Instruction]:
        """Every instruction, those of the regions included."""
        yield from self.instructions
        for region in self.regions:
            yield from region.walk()

    def fallbacks(self) -> list[Instruction]:
        """The instructions that run on the host because the target cannot run them."""
        return [i for i in self.walk() if i.fallback is not None]

    def root(self, name: str) -> str:
        """The buffer that owns the memory of `name`."""
        while (owner := self.buffers[name].alias_of) is not None:
            name = owner
        return name

    def __str__(self) -> str:
        from bringup.printer import program_text

        return program_text(self)


def refs(value: Any) -> Iterator[str]:
    """Names of the buffers in an operand, nested lists included."""
    if isinstance(value, Ref):
        yield value.name
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from refs(item)
    elif isinstance(value, dict):
        for item in value.values():
            yield from refs(item)
    elif isinstance(value, slice):
        yield from refs((value.start, value.stop, value.step))
