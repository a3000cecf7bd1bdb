"""A torch.compile backend under observation: what it is given, and which operators of PyTorch it runs on the host."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch.utils import _pytree as pytree
from torch.utils._python_dispatch import TorchDispatchMode

from bringup.torch_internals import OpOverload, is_fake, overload_name
from bringup_coverage.experiment import Experiment, Function

GraphCompiler = Callable[..., Any]
"""A backend as torch.compile calls it: a graph and example inputs in, a callable out."""


class _Watch(TorchDispatchMode):
    """Writes down which operators run, in this thread."""

    def __init__(self) -> None:
        super().__init__()
        self.names: set[str] = set()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        traced = any(is_fake(v) for v in pytree.tree_leaves((args, kwargs, result)))  # by a backend that compiles late
        if isinstance(func, OpOverload) and not traced:
            self.names.add(overload_name(func))
        return result


@dataclass
class Observed:
    """A backend under observation, one for each experiment.

    Attributes:
        backend: the backend.
        graphs: how many graphs it was given.
        compiled: what torch.compile made of the function.
        watch: while it is set, it watches what the compiled graphs run on the host.
    """

    backend: GraphCompiler
    graphs: int = 0
    compiled: Function | None = None
    watch: _Watch | None = None

    def compile(self, function: Function, *, dynamic: bool) -> Function:
        """By torch.compile, as one graph."""
        torch.compiler.reset()
        self.compiled = torch.compile(function, backend=self._compile_graph, fullgraph=True, dynamic=dynamic)
        return self.compiled

    def control(self, function: Function, *, dynamic: bool) -> Function:
        """By ``aot_eager``: what Dynamo and AOTAutograd make of it."""
        torch.compiler.reset()
        return torch.compile(function, backend="aot_eager", fullgraph=True, dynamic=dynamic)

    def _compile_graph(self, gm: torch.fx.GraphModule, inputs: Sequence[Any]) -> Function:
        self.graphs += 1
        compiled = self.backend(gm, inputs)

        def run(*args: Any) -> Any:
            if self.watch is None:
                return compiled(*args)
            with self.watch:
                return compiled(*args)

        return run

    def runs_on_host(self, experiment: Experiment) -> frozenset[str]:
        """The operators that the compiled function runs on the host when it is called once more."""
        assert self.compiled is not None
        self.watch = _Watch()
        try:
            with torch.compiler.set_stance("fail_on_recompile"):
                experiment.execute(self.compiled)
            return frozenset(self.watch.names)
        finally:
            self.watch = None
