"""What is run to be recorded: OpInfo samples, foreach samples, modules and optimizers, forward and backward."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch.utils import _pytree as pytree

from bringup_coverage.calls.recorder import Functions, Overloads, Recording

SAMPLES = 8
"""Samples of one OpInfo that are run."""

_SPELLINGS = 3
"""Samples whose method, in-place and alias spellings are run too."""


@dataclass(frozen=True, order=True)
class Program:
    """Something to record: a kind, and a place in that kind's list."""

    kind: str
    place: int


def programs() -> list[Program]:
    """Everything there is to run, in a fixed order; imports the test databases of PyTorch."""
    return [Program(kind, i) for kind, database in databases().items() for i in range(len(database))]


def databases() -> dict[str, list[Any]]:
    """PyTorch's own lists of operators, modules and optimizers with inputs."""
    import torch.testing._internal.common_methods_invocations as methods
    from torch.testing._internal.common_modules import module_db
    from torch.testing._internal.common_optimizers import optim_db

    foreach = [
        op
        for name, ops in sorted(vars(methods).items())
        if name.startswith("foreach_") and name.endswith("_db")
        for op in ops
    ]
    return {"opinfo": list(methods.op_db), "foreach": foreach, "module": list(module_db), "optimizer": list(optim_db)}


def record(program: Program, dtype: str) -> Recording:
    """Run one program under both recorders; what raises is passed over."""
    entry = databases()[program.kind][program.place]
    wanted = getattr(torch, dtype)
    recording = Recording()
    run = {"opinfo": _operator, "foreach": _operator, "module": _module, "optimizer": _optimizer}[program.kind]
    with warnings.catch_warnings(), torch.random.fork_rng(devices=[]):
        warnings.simplefilter("ignore")
        torch.manual_seed(0)
        for call in run(entry, wanted):
            _watch(call, recording)
    return recording


def _watch(call: Callable[[], Any], recording: Recording) -> None:
    """Run the call, then differentiate its results once and, where that has a graph, once more."""
    with Overloads(recording), Functions(recording):
        try:
            outputs = call()
            _differentiate(outputs)
        except Exception:  # a sample that eager refuses is no evidence
            return


def _differentiate(outputs: Any) -> None:
    roots = [t for t in pytree.tree_leaves(outputs) if isinstance(t, torch.Tensor) and t.requires_grad]
    leaves = _leaves(roots)
    if not roots or not leaves:
        return
    gradients = torch.autograd.grad(
        roots, leaves, [torch.rand_like(r) + 0.5 for r in roots], allow_unused=True, create_graph=True
    )
    again = [g for g in gradients if g is not None and g.requires_grad]
    if again:
        torch.autograd.grad(again, leaves, [torch.rand_like(g) + 0.5 for g in again], allow_unused=True)


def _leaves(roots: list[Any]) -> list[Any]:
    """The leaf tensors that a graph accumulates gradients in."""
    todo, seen, found = [r.grad_fn or r for r in roots], set(), []
    while todo:
        node = todo.pop()
        if node is None or id(node) in seen:
            continue
        seen.add(id(node))
        if isinstance(node, torch.Tensor):
            found.append(node)
        elif hasattr(node, "variable"):
            found.append(node.variable)
        else:
            todo += [n for n, _ in node.next_functions]
    return found


def _operator(op: Any, dtype: torch.dtype) -> Iterator[Callable[[], Any]]:
    if not op.supports_dtype(dtype, "cpu"):
        return
    grad = bool(op.supports_autograd) and dtype in op.supported_backward_dtypes("cpu")
    samples = op.sample_inputs("cpu", dtype, requires_grad=grad)
    for index in range(SAMPLES):
        try:
            sample = next(samples, None)
        except Exception:
            return
        if sample is None:
            return
        for spelling in _spellings(op) if index < _SPELLINGS else [op.op]:
            yield _Sample(spelling, sample, detach=spelling is not op.op)


def _spellings(op: Any) -> list[Callable[..., Any]]:
    found = [op.op, op.method_variant, op.inplace_variant]
    for alias in op.aliases or ():
        found += [alias.op, alias.method_variant, alias.inplace_variant]
    return [f for f in dict.fromkeys(found) if f is not None]


@dataclass(frozen=True, eq=False)
class _Sample:
    """A function on a sample; detached copies for spellings that may write to their input."""

    function: Callable[..., Any]
    sample: Any
    detach: bool

    def __call__(self) -> Any:
        values = (self.sample.input, self.sample.args, self.sample.kwargs)
        if self.detach:
            values = pytree.tree_map_only(torch.Tensor, lambda t: t.detach().clone(), values)
        return self.function(values[0], *values[1], **values[2])


def _module(info: Any, dtype: torch.dtype) -> Iterator[Callable[[], Any]]:
    if dtype not in info.dtypes or info.is_lazy:
        return
    for training in (True, False):
        inputs = info.module_inputs_func(info, device="cpu", dtype=dtype, requires_grad=True, training=training)
        for given in itertools.islice(inputs, SAMPLES):
            yield _Forward(info, given, dtype, training)


@dataclass(frozen=True, eq=False)
class _Forward:
    """A module made and called."""

    info: Any
    given: Any
    dtype: torch.dtype
    training: bool

    def __call__(self) -> Any:
        made = self.given.constructor_input
        module = self.info.module_cls(*made.args, **made.kwargs).to(self.dtype).train(self.training)
        called = self.given.forward_input
        return module(*called.args, **called.kwargs) if called is not None else None


def _optimizer(info: Any, dtype: torch.dtype) -> Iterator[Callable[[], Any]]:
    if not dtype.is_floating_point:
        return
    for given in info.optim_inputs_func("cpu", dtype):
        for implementation in info.supported_impls:
            if not (implementation == "fused" and "cpu" not in info.supports_fused_on):
                yield _Step(info, given.kwargs, implementation, dtype)


@dataclass(frozen=True, eq=False)
class _Step:
    """Two steps of an optimizer in one implementation: for-loop, foreach or fused."""

    info: Any
    options: dict[str, Any]
    implementation: str
    dtype: torch.dtype

    def __call__(self) -> None:
        parameters = [torch.nn.Parameter(torch.rand(3, 3, dtype=self.dtype) + 0.5) for _ in range(2)]
        flags = {
            name: name == self.implementation for name in ("foreach", "fused") if name in self.info.supported_impls
        }
        optimizer = self.info.optim_cls(parameters, **{**self.options, **flags})
        for _ in range(2):
            for p in parameters:
                p.grad = torch.full_like(p, 0.25)
            optimizer.step(lambda: torch.tensor(1.0)) if self.info.step_requires_closure else optimizer.step()
