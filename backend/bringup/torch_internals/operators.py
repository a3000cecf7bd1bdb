"""Operators, as the dispatcher and the schemas know them."""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Callable
from typing import Any

import torch
from torch._ops import HigherOrderOperator, OpOverload

Decomposition = Callable[..., Any]


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


def is_dispatched(name: str) -> bool:
    """Whether an overload has a dispatcher kernel; TorchScript's builtins, such as the ``aten::add`` of lists, have none."""
    return torch._C._dispatch_has_kernel(name)


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


def tags_of(name: str, overload_name_: str) -> tuple[str, ...]:
    """The tags of an operator, sorted: ``core``, ``pointwise``, ..."""
    tags = torch._C._get_operation_overload(name, overload_name_)[2]
    return tuple(sorted(str(t).removeprefix("Tag.") for t in tags))


def is_composite_implicit(overload: OpOverload) -> bool:
    """Whether the operator is implemented by other operators above the device.

    The few that have a kernel for the CPU beside their composite one (``silu_backward``) are captured whole, for programs are
    captured on the host's tensors.
    """
    key = torch._C.DispatchKey.CompositeImplicitAutograd
    own = torch._C._dispatch_has_kernel_for_dispatch_key(overload.name(), "CPU")
    return overload.has_kernel_for_dispatch_key(key) and not own


def decomposed_above(overload: OpOverload) -> Callable[..., Any] | None:
    """What PyTorch decomposes the operator with in Python above every device, so that no table is asked, nor a kernel reached; or None."""
    keys = (torch._C.DispatchKey.CompositeImplicitAutograd, torch._C.DispatchKey.Autograd)
    kernels = (overload.py_kernels.get(key) for key in keys)
    return next((k for k in kernels if callable(k)), None)


def differentiated_by_rules(overload: OpOverload) -> bool:
    """Whether `torch.func` may differentiate the operator otherwise than autograd does.

    It has an implementation of its own for it, or the operator is made of others and has a kernel too, so that autograd takes it whole.
    """
    has = torch._C._dispatch_has_kernel_for_dispatch_key
    name = overload.name()
    return has(name, "FuncTorchDynamicLayerFrontMode") or (
        has(name, "CPU") and has(name, "CompositeImplicitAutograd") and has(name, "Autograd")
    )


def written_arguments(overload: OpOverload) -> tuple[str, ...]:
    """Names of the arguments that the schema says the operator writes to."""
    return tuple(a.name for a in overload._schema.arguments if a.alias_info is not None and a.alias_info.is_write)


def draws_random_numbers(overload: OpOverload) -> bool:
    """Whether the operator draws from the random generator, by its tag."""
    return torch.Tag.nondeterministic_seeded in overload.tags


def is_collective(overload: OpOverload) -> bool:
    """Whether the operator is a functional collective, which belongs on the link engine."""
    return overload.namespace in ("_c10d_functional", "_c10d_functional_autograd", "c10d_functional")


def pytorch_decompositions() -> dict[OpOverload, Decomposition]:
    """PyTorch's own full decomposition table, copied: functional operators only, the global table is left alone."""
    from torch._decomp import decomposition_table

    return {
        op: fn for op, fn in decomposition_table.items() if isinstance(op, OpOverload) and not written_arguments(op)
    }


def python_registrations(table: str) -> frozenset[str]:
    """Names of the operators in one of PyTorch's tables of Python decompositions: post_autograd, pre_autograd or meta.

    What registers in them is imported first (2.0 to 2.15: all of ``torch._refs`` and ``torch._meta_registrations``).
    """
    for module in ("_refs.fft", "_refs.linalg", "_refs.special", "_refs.nn.functional", "_meta_registrations"):
        importlib.import_module(f"torch.{module}")
    from torch._decomp import global_decomposition_table

    return frozenset(op._name for op in global_decomposition_table[table] if isinstance(op, OpOverload))


def parse_schema(text: str) -> Any:
    """A schema (`torch._C.FunctionSchema`) of its text; it compares by what it means, whatever the spelling."""
    return torch._C.parse_schema(text)


def dense_form(operator: HigherOrderOperator) -> Callable[..., Any] | None:
    """The function of plain operators that flex attention stands for; None for other operators.

    Its backward is not here: on the CPU PyTorch refuses to differentiate flex attention.
    """
    flex = importlib.import_module("torch._higher_order_ops.flex_attention")
    return flex.sdpa_dense if operator is flex.flex_attention else None
