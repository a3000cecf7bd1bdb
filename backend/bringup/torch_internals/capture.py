"""Graphs: from Dynamo, AOTAutograd and make_fx."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch._ops import OpOverload

from bringup.torch_internals.fakes import is_fake

Decomposition = Callable[..., Any]
GraphCompiler = Callable[..., Callable[..., Any]]


# what Dynamo writes into its graphs where the user switches grad or inference mode
SET_GRAD_ENABLED = torch._C._set_grad_enabled
ENTER_INFERENCE_MODE = torch.autograd.grad_mode._enter_inference_mode
EXIT_INFERENCE_MODE = torch.autograd.grad_mode._exit_inference_mode


def in_backward() -> bool:
    """Whether the autograd engine is running a graph in this thread: what is called now belongs to a backward."""
    return torch._C._current_graph_task_id() != -1


def find_backend(name: str) -> Callable[..., Any] | None:
    """The compiler of a torch.compile backend, or None when none is registered under that name."""
    from torch._dynamo import list_backends, lookup_backend

    return lookup_backend(name) if name in list_backends(exclude_tags=()) else None


def aot_compile(
    gm: torch.fx.GraphModule,
    example_inputs: Sequence[Any],
    *,
    forward: GraphCompiler,
    backward: GraphCompiler,
    inference: GraphCompiler,
    decompositions: Mapping[OpOverload, Decomposition],
) -> Callable[..., Any]:
    """Run AOTAutograd over a Dynamo graph: functionalized forward and backward graphs go to the given compilers."""
    from functorch.compile import min_cut_rematerialization_partition
    from torch._dynamo.backends.common import aot_autograd

    compiler = aot_autograd(
        fw_compiler=forward,
        bw_compiler=backward,
        inference_compiler=inference,
        decompositions=dict(decompositions),
        partition_fn=min_cut_rematerialization_partition,
        keep_inference_input_mutations=True,
    )
    return compiler(gm, example_inputs)


def aot_compile_function(
    fn: Callable[..., Any],
    *,
    forward: GraphCompiler,
    backward: GraphCompiler,
    inference: GraphCompiler,
    decompositions: Mapping[OpOverload, Decomposition],
    dynamic: bool = False,
    split: Callable[..., Any] | None = None,
) -> Callable[..., Any]:
    """Like `aot_compile` for a plain function of tensors, without Dynamo; traces at the first call.

    `split` cuts the joint graph into forward and backward; None is the min-cut partitioner.
    """
    from functorch.compile import aot_function, min_cut_rematerialization_partition

    return aot_function(
        fn,
        fw_compiler=forward,
        bw_compiler=backward,
        inference_compiler=inference,
        decompositions=dict(decompositions),
        partition_fn=split or min_cut_rematerialization_partition,
        keep_inference_input_mutations=True,
        dynamic=dynamic,
    )


def boxed(function: Callable[..., Any]) -> Callable[[list[Any]], Any]:
    """A function of positional arguments as AOTAutograd calls compiled graphs: with one list of them."""
    from functorch.compile import make_boxed_func  # pyright: ignore[reportPrivateImportUsage]

    return make_boxed_func(function)


def static_input_indices() -> frozenset[int]:
    """Positions of the graph inputs that AOTAutograd knows to be parameters and buffers, while it calls a compiler."""
    from torch._guards import TracingContext

    context = TracingContext.try_get()
    metadata = context.fw_metadata if context is not None else None
    return frozenset(metadata.static_input_indices or ()) if metadata is not None else frozenset()


class _Captured(Exception):
    """All graphs are there; nothing is to be run."""


def capture(
    fn: Callable[..., Any],
    inputs: Sequence[Any],
    decompositions: Mapping[OpOverload, Decomposition],
    *,
    dynamic: bool = False,
) -> list[torch.fx.GraphModule]:
    """The functional graphs that AOTAutograd makes of a function of tensors: one for inference, or forward and backward."""
    from functorch.compile import min_cut_rematerialization_partition

    graphs: list[torch.fx.GraphModule] = []

    def keep(gm: torch.fx.GraphModule, _: Any) -> Callable[..., Any]:
        graphs.append(gm)
        raise _Captured

    def keep_both(*args: Any, **kwargs: Any) -> Any:  # AOTAutograd would compile the backward only when it is called
        graphs.extend(min_cut_rematerialization_partition(*args, **kwargs))
        raise _Captured

    compiled = aot_compile_function(
        fn, forward=keep, backward=keep, inference=keep, decompositions=decompositions, dynamic=dynamic, split=keep_both
    )
    with contextlib.suppress(_Captured):
        compiled(*inputs)
    return graphs


def functionalized(function: Callable[..., Any], *, python_first: bool = False) -> Callable[..., Any]:
    """The function without writes to tensors, but for those to its inputs at its end; views stay.

    With `python_first` it runs as AOTAutograd runs its functions: what PyTorch implements in Python goes before what it
    implements in C++. That costs a quarter more.
    """
    from torch._dispatch.python import enable_python_dispatcher

    functional = torch.func.functionalize(function, remove="mutations")
    if not python_first:
        return functional

    def run(*args: Any) -> Any:
        with enable_python_dispatcher():
            return functional(*args)

    return run


def trace_with_fakes(
    function: Callable[..., Any], fakes: Sequence[Any], decompositions: Mapping[OpOverload, Decomposition]
) -> torch.fx.GraphModule:
    """Trace a function of fake tensors that a graph already has, symbolic sizes included, to a functional graph."""
    from torch.fx.experimental.proxy_tensor import make_fx

    functional = functionalized(function)
    mode = next((f.fake_mode for f in fakes if is_fake(f)), contextlib.nullcontext())
    with mode:
        trace = make_fx(
            functional, decomposition_table=dict(decompositions), tracing_mode="real", _allow_non_fake_inputs=True
        )
        return trace(*fakes)
