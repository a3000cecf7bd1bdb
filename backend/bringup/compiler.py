"""The only file that knows the order: capture, passes, lower, verify, execute."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import fx

from bringup import passes
from bringup.aliased_inputs import guard_offsets
from bringup.device.memory import ledger
from bringup.dump import dump
from bringup.engine import Boxed, build
from bringup.errors import OptionError
from bringup.executable import executable
from bringup.ir import Program
from bringup.lower import lower
from bringup.options import Options, parse_options
from bringup.recorder import ProgramRecord, record
from bringup.torch_internals import aot_compile, aot_compile_function, static_input_indices
from bringup.verify import verify


class FallbackWarning(UserWarning):
    """Part of a graph runs on the host because the target cannot run it."""


@dataclass(frozen=True)
class GraphCompiler:
    """Compiles one functional ATen graph; AOTAutograd calls it for the forward, the backward or the inference graph."""

    options: Options
    name: str

    def __call__(self, gm: fx.GraphModule, example_inputs: Sequence[Any]) -> Boxed:
        weights = static_input_indices() if self.name != "backward" else frozenset()
        program = self.program(gm, weights)
        entry = ProgramRecord(program)
        run = executable(program, entry, ledger(self.options.device), self.options.target.runtime or build)
        record(entry)
        return run

    def program(self, gm: fx.GraphModule, weights: frozenset[int]) -> Program:
        """Passes, lowering and verification.

        Raises:
            UnsupportedOperatorError: the target cannot run an operator and the policy is ``"error"``.
        """
        options = self.options
        inline = passes.InlineAttentionRegions(options.target.table)
        late = passes.DecomposeLate(options.target.table, options.target.runs)
        gm = passes.run(gm, (inline, late, *passes.PIPELINE, *options.target.passes))
        program = lower(gm, options.target, name=self.name, weights=weights, allow_fallback=options.fallback == "host")
        verify(program)
        if options.dump is not None:
            dump(program, options.dump)
        _say_fallbacks(program)
        return program


_SAID: set[tuple[str, ...]] = set()


def _say_fallbacks(program: Program) -> None:
    """Warn of host fallbacks, once a process for the same operators."""
    names = tuple(sorted({i.operation for i in program.fallbacks()}))
    if names and names not in _SAID:
        _SAID.add(names)
        warnings.warn(
            f"target {program.target!r} cannot run {', '.join(names)}; they run on the host (bringup.report() has the "
            f"reasons; options={{'fallback': 'error'}} refuses instead)",
            FallbackWarning,
            stacklevel=2,
        )


def _compilers(options: Options) -> dict[str, Any]:
    return {
        "forward": GraphCompiler(options, "forward"),
        "backward": GraphCompiler(options, "backward"),
        "inference": GraphCompiler(options, "inference"),
        "decompositions": options.target.table,
    }


def backend(
    gm: fx.GraphModule, example_inputs: Sequence[Any], *, options: Mapping[str, Any] | None = None, **_: Any
) -> Callable[..., Any]:
    """The torch.compile backend: ``torch.compile(model, backend="bringup", options={...})``.

    Args:
        gm: the graph that Dynamo captured.
        example_inputs: its inputs.
        options: see `bringup.options.Options`.

    Raises:
        OptionError: an unknown option, or a value that an option does not take.
        UnsupportedOperatorError: the target cannot run an operator and the policy is ``"error"``.
    """
    parsed = parse_options(options)
    gm = passes.run(gm, (*passes.BEFORE_AUTOGRAD, *parsed.target.before_autograd))

    def compile_for(inputs: Sequence[Any]) -> Callable[..., Any]:
        return aot_compile(gm, inputs, **_compilers(parsed))

    return guard_offsets(compile_for, example_inputs)


def compile_function(
    fn: Callable[..., Any], *, options: Mapping[str, Any] | None = None, dynamic: bool = False
) -> Callable[..., Any]:
    """Compile a plain function of tensors without Dynamo: no graph breaks, no guards, traced at the first call.

    Args:
        fn: takes and returns tensors, possibly nested in lists, tuples and dicts.
        options: as for the backend.
        dynamic: trace with symbolic sizes.
    """
    return aot_compile_function(fn, dynamic=dynamic, **_compilers(parse_options(options)))


def explain(fn: Callable[..., Any], *args: Any, options: Mapping[str, Any] | None = None, **kwargs: Any) -> str:
    """The programs that `fn(*args, **kwargs)` compiles to, as text with the user's source line on each instruction.

    The function is compiled and run once; a loss is not called backward, so a training graph shows its forward program.

    Raises:
        OptionError: `fn` cannot be called; or as for the backend.
    """
    from bringup.recorder import recording

    if not callable(fn):
        raise OptionError(f"bringup.explain takes a function or a module and its arguments, not {fn!r}")
    with recording() as recorded:
        torch.compile(fn, backend=backend, options=dict(options or {}) or None)(*args, **kwargs)
    return "\n".join(str(program) for program in recorded.programs)
