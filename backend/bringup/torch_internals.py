"""The only module of bringup that touches private PyTorch APIs: one function each, with the releases it was seen in.

Everything here was seen to work on torch 2.10.0, 2.13.0, 2.14.1 and 2.15.0 unless its docstring says otherwise.
"""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from functools import cache
from typing import Any

import torch
from torch._ops import HigherOrderOperator, OpOverload, OpOverloadPacket

__all__ = [
    "ENTER_INFERENCE_MODE",
    "EXIT_INFERENCE_MODE",
    "SET_GRAD_ENABLED",
    "HigherOrderOperator",
    "OpOverload",
    "OpOverloadPacket",
    "aot_compile",
    "aot_compile_function",
    "capture",
    "concrete",
    "dense_form",
    "dispatch_rules",
    "draws_random_numbers",
    "fake_inputs",
    "fakes_of_their_own",
    "find_backend",
    "find_overload",
    "functionalized",
    "host_function",
    "in_backward",
    "is_collective",
    "is_composite_implicit",
    "is_data_dependent",
    "is_decomposed_above",
    "is_fake",
    "load_linear_cross_entropy",
    "load_prims",
    "loops_run_once",
    "memory_key",
    "overload_name",
    "pytorch_decompositions",
    "registered_names",
    "registered_schemas",
    "registrations",
    "static_input_indices",
    "suppress_tracing",
    "tags_of",
    "trace_with_fakes",
    "unbacked_or_symbolic",
    "while_loop",
    "without_autograd_keys",
    "written_arguments",
]

Decomposition = Callable[..., Any]
GraphCompiler = Callable[..., Callable[..., Any]]

# what Dynamo writes into its graphs where the user switches grad or inference mode
SET_GRAD_ENABLED = torch._C._set_grad_enabled
ENTER_INFERENCE_MODE = torch.autograd.grad_mode._enter_inference_mode
EXIT_INFERENCE_MODE = torch.autograd.grad_mode._exit_inference_mode


def overload_name(overload: OpOverload) -> str:
    """The dispatcher's spelling of an overload: ``aten::mm``, ``aten::add.Tensor`` (default overloads have no suffix)."""
    return overload._name


def find_overload(name: str) -> OpOverload | None:
    """The overload called `name` (``aten::add.Tensor``), or None when this torch has no such operator."""
    namespace, _, rest = name.partition("::")
    base, _, overload = rest.partition(".")
    packet = getattr(getattr(torch.ops, namespace), base, None)
    if packet is None or (overload or "default") not in packet.overloads():
        return None
    return getattr(packet, overload or "default")


def load_prims() -> None:
    """Register the ``prims::`` operators."""
    importlib.import_module("torch._prims")


def load_linear_cross_entropy() -> None:
    """Register the ``torch_nn::`` operators of linear cross entropy, where the release has them (2.13 on)."""
    with contextlib.suppress(ModuleNotFoundError):
        importlib.import_module("torch.nn.modules.linear_cross_entropy")


def registered_names(namespace: str) -> list[str]:
    """Names of every operator of a namespace that has a dispatcher kernel, sorted, as `overload_name` spells them."""
    prefix = f"{namespace}::"
    names = (n for n in torch._C._dispatch_get_all_op_names() if n.startswith(prefix))
    return sorted(n for n in names if torch._C._dispatch_has_kernel(n))


def is_data_dependent(error: BaseException) -> bool:
    """Whether tracing failed because a size, a number or a branch depends on the data of a tensor."""
    from torch._subclasses.fake_tensor import DataDependentOutputException, DynamicOutputShapeException
    from torch.fx.experimental.symbolic_shapes import GuardOnDataDependentSymNode

    return isinstance(error, (DataDependentOutputException, DynamicOutputShapeException, GuardOnDataDependentSymNode))


def registered_schemas() -> tuple[list[Any], int]:
    """The schemas (`torch._C.FunctionSchema`) that have a dispatcher kernel, and how many more there are without one.

    The others are TorchScript's builtins, which no dispatcher ever calls.
    """
    schemas = torch._C._jit_get_all_schemas()
    has_kernel = torch._C._dispatch_has_kernel
    real = [s for s in schemas if has_kernel(f"{s.name}.{s.overload_name}" if s.overload_name else s.name)]
    return real, len(schemas) - len(real)


def registrations(dispatch_key: str) -> frozenset[str]:
    """Names of the operators with a kernel of their own for a dispatch key, such as ``CPU`` or ``CompositeImplicitAutograd``.

    Raises:
        ValueError: torch knows no such key.
    """
    try:
        return frozenset(torch._C._dispatch_get_registrations_for_dispatch_key(dispatch_key))
    except RuntimeError as error:
        raise ValueError(f"torch {torch.__version__} has no dispatch key {dispatch_key!r}") from error


def dispatch_rules() -> dict[str, dict[str, str]]:
    """By dispatch key, then by operator: what the dispatcher would call for it, where it has anything at all.

    The rules, in the dispatcher's own words: ``kernel`` (registered for the key itself), ``default backend kernel``
    (CompositeExplicitAutograd and its NonFunctional form), ``math kernel`` (CompositeImplicitAutograd), ``nested kernel``,
    ``autograd kernel``, ``backend fallback``; and ``fallthrough``, where the key is passed over.
    """
    found: dict[str, dict[str, str]] = {}
    for schema in registered_schemas()[0]:
        name = f"{schema.name}.{schema.overload_name}" if schema.overload_name else schema.name
        for line in torch._C._dispatch_dump_table(name).splitlines():
            key, _, rest = line.partition(": ")
            rule = "fallthrough" if rest.startswith("fallthrough") else rest[rest.rfind("[") + 1 : -1]
            found.setdefault(key, {})[name] = rule
    found.pop("Undefined", None)  # the row for calls without tensors
    return found


def in_backward() -> bool:
    """Whether the autograd engine is running a graph in this thread: what is called now belongs to a backward."""
    return torch._C._current_graph_task_id() != -1


def find_backend(name: str) -> Callable[..., Any] | None:
    """The compiler of a torch.compile backend, or None when none is registered under that name."""
    from torch._dynamo import list_backends, lookup_backend

    return lookup_backend(name) if name in list_backends(exclude_tags=()) else None


def tags_of(name: str, overload_name_: str) -> tuple[str, ...]:
    """The tags of an operator, sorted: ``core``, ``pointwise``, ..."""
    tags = torch._C._get_operation_overload(name, overload_name_)[2]
    return tuple(sorted(str(t).removeprefix("Tag.") for t in tags))


def is_composite_implicit(overload: OpOverload) -> bool:
    """Whether the operator is implemented by other operators above the device."""
    return overload.has_kernel_for_dispatch_key(torch._C.DispatchKey.CompositeImplicitAutograd)


def is_decomposed_above(overload: OpOverload) -> bool:
    """Whether PyTorch decomposes the operator in Python above every device, so that no table is asked, nor a kernel reached."""
    keys = (torch._C.DispatchKey.CompositeImplicitAutograd, torch._C.DispatchKey.Autograd)
    return any(key in overload.py_kernels for key in keys)


def written_arguments(overload: OpOverload) -> tuple[str, ...]:
    """Names of the arguments that the schema says the operator writes to."""
    return tuple(a.name for a in overload._schema.arguments if a.alias_info is not None and a.alias_info.is_write)


def draws_random_numbers(overload: OpOverload) -> bool:
    """Whether the operator draws from the random generator, by its tag."""
    return torch.Tag.nondeterministic_seeded in overload.tags


def is_collective(overload: OpOverload) -> bool:
    """Whether the operator is a functional collective, which belongs on the link engine."""
    return overload.namespace in ("_c10d_functional", "_c10d_functional_autograd", "c10d_functional")


_BOUND_FUNCTIONS = [
    "add.Tensor",
    "sub.Tensor",
    "mul.Tensor",
    "div.Tensor",
    "mm",
    "bmm",
    "addmm",
    "baddbmm",
    "permute",
    "unsqueeze",
    "select.int",
    "cat",
    "clone",
    "rsqrt",
    "sqrt",
    "exp",
    "log",
    "sin",
    "cos",
    "tanh",
    "sigmoid",
    "relu",
    "neg",
    "abs",
    "where.self",
    "maximum",
    "minimum",
    "amax",
    "amin",
    "index_select",
    "embedding",
    "eq.Tensor",
    "ne.Tensor",
    "lt.Tensor",
    "le.Tensor",
    "gt.Tensor",
    "ge.Tensor",
    "gather",
    "pow.Tensor_Tensor",
    "pow.Tensor_Scalar",
    "erf",
    "bitwise_and.Tensor",
    "logical_not",
    "reciprocal",
]


@cache
def _bound_functions() -> dict[str, Callable[..., Any]]:
    """PyTorch's Python bindings parse their arguments a few microseconds faster than the generic entry does."""
    return {f"aten::{name}": getattr(torch, name.partition(".")[0]) for name in _BOUND_FUNCTIONS}


_FORGIVING: dict[str, Callable[..., Any]] = {"aten::view": torch.reshape}
"""The same result from operands in any layout. Fake kernels and real ones do not always agree on the strides of a result (of sums of tensors
with several dimensions of one element, hence of convolutions of them), so a view that was traced may meet strides it cannot have."""


def host_function(overload: OpOverload) -> Callable[..., Any]:
    """What runs an overload on the host: its Python binding where that reaches the same overload, else its dispatcher entry.

    A view of a tensor that lies otherwise than it was traced copies.
    """
    return _FORGIVING.get(overload._name) or _bound_functions().get(overload._name, overload._op)


def pytorch_decompositions() -> dict[OpOverload, Decomposition]:
    """PyTorch's own full decomposition table, copied: functional operators only, the global table is left alone."""
    from torch._decomp import decomposition_table

    return {
        op: fn for op, fn in decomposition_table.items() if isinstance(op, OpOverload) and not written_arguments(op)
    }


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


def fake_inputs(tensors: Sequence[torch.Tensor], *, dynamic: bool) -> tuple[Any, list[Any]]:
    """A fake mode and fakes in it of real tensors, with symbolic sizes or with the sizes that they have."""
    from torch._dynamo.source import ConstantSource
    from torch._subclasses.fake_tensor import FakeTensorMode
    from torch.fx.experimental.symbolic_shapes import ShapeEnv

    mode = FakeTensorMode(shape_env=ShapeEnv() if dynamic else None, allow_non_fake_inputs=True)
    if not dynamic:
        return mode, [mode.from_tensor(t, static_shapes=True) for t in tensors]
    mode.cache_enabled = False  # entries with symbols cost more than they save
    named = [(t, ConstantSource(f"input_{i}")) for i, t in enumerate(tensors)]
    return mode, [mode.from_tensor(t, static_shapes=False, source=source) for t, source in named]


def functionalized(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function without writes to tensors, but for those to its inputs at its end; views stay."""
    return torch.func.functionalize(function, remove="mutations")


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


def dense_form(operator: HigherOrderOperator) -> Callable[..., Any] | None:
    """The function of plain operators that flex attention stands for; None for other operators.

    Its backward is not here: on the CPU PyTorch refuses to differentiate flex attention.
    """
    flex = importlib.import_module("torch._higher_order_ops.flex_attention")
    return flex.sdpa_dense if operator is flex.flex_attention else None


_LOOP_CONDITIONS: ContextVar[list[torch.Tensor] | None] = ContextVar("loop_conditions", default=None)


@contextlib.contextmanager
def loops_run_once() -> Iterator[list[torch.Tensor]]:
    """Within it `while_loop` evaluates its condition and its body once and loops not at all; gives the conditions' results."""
    conditions: list[torch.Tensor] = []
    token = _LOOP_CONDITIONS.set(conditions)
    try:
        yield conditions
    finally:
        _LOOP_CONDITIONS.reset(token)


def while_loop(
    condition: Callable[..., torch.Tensor],
    body: Callable[..., tuple[torch.Tensor, ...]],
    carried: tuple[torch.Tensor, ...],
    captured: tuple[torch.Tensor, ...] = (),
) -> tuple[torch.Tensor, ...]:
    """A loop for decompositions: `carried` becomes ``body(*carried, *captured)`` while ``condition(*carried, *captured)``.

    Tracing it under fake tensors needs a shape environment, which a fake mode with static shapes may lack.
    """
    from torch._guards import detect_fake_mode
    from torch._higher_order_ops.while_loop import while_loop_op
    from torch.fx.experimental.symbolic_shapes import ShapeEnv

    conditions = _LOOP_CONDITIONS.get()
    if conditions is not None:
        conditions.append(condition(*carried, *captured))
        return tuple(body(*carried, *captured))
    loop: Any = while_loop_op
    mode = detect_fake_mode((carried, captured))
    if mode is None or mode.shape_env is not None:
        return tuple(loop(condition, body, carried, captured))
    mode.shape_env = ShapeEnv()
    try:
        return tuple(loop(condition, body, carried, captured))
    finally:
        mode.shape_env = None


@contextlib.contextmanager
def suppress_tracing() -> Iterator[None]:
    """Run real work inside a tracing context: constant folding computes with real tensors."""
    from torch.utils._python_dispatch import _disable_current_modes

    with _disable_current_modes():
        yield


def is_fake(value: object) -> bool:
    """Whether a value is a fake tensor, which has a shape and no data."""
    from torch._subclasses.fake_tensor import FakeTensor

    return isinstance(value, FakeTensor)


@contextlib.contextmanager
def fakes_of_their_own() -> Iterator[None]:
    """Tensors that are made inside are fake and belong to no trace that is going on."""
    from torch._subclasses.fake_tensor import FakeTensorMode

    with suppress_tracing(), FakeTensorMode(), torch.no_grad():
        yield


def unbacked_or_symbolic(value: object) -> bool:
    """Whether a size is symbolic, hence not known when the graph is compiled."""
    return isinstance(value, (torch.SymInt, torch.SymFloat, torch.SymBool))


def concrete(size: Any) -> int:
    """The value that a size has in the example inputs; a symbolic size is not specialised by asking."""
    if isinstance(size, torch.SymInt):
        hint = size.node.hint
        return int(hint) if hint is not None else -1
    return int(size)


def memory_key(tensor: torch.Tensor) -> int:
    """A key that is equal for tensors, real or fake, that share one storage, while they are alive."""
    return tensor.untyped_storage()._cdata


def without_autograd_keys() -> contextlib.AbstractContextManager[Any]:
    """Dispatch straight to the backend's kernels: for code that runs below autograd."""
    return torch._C._AutoDispatchBelowAutograd()
