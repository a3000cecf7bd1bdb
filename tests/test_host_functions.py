"""The fast entry of an overload must reach exactly that overload."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from bringup.torch_internals import find_overload, host_function
from bringup.torch_internals.host import _bound_functions

X, I, B = torch.rand(3, 3), torch.tensor([0, 2]), torch.ones(3, 3, dtype=torch.bool)
CALLS: dict[str, tuple[Any, ...]] = {
    "bmm": (X[None], X[None]),
    "baddbmm": (X[None], X[None], X[None]),
    "addmm": (X, X, X),
    "permute": (X, [1, 0]),
    "unsqueeze": (X, 0),
    "select.int": (X, 0, 1),
    "cat": ([X, X], 1),
    "where.self": (B, X, X),
    "amax": (X, [0], True),
    "amin": (X, [0], True),
    "index_select": (X, 0, I),
    "embedding": (X, I),
    "gather": (X, 0, I[:, None]),
    "pow.Tensor_Scalar": (X, 2),
    "bitwise_and.Tensor": (B, B),
}


class Seen(TorchDispatchMode):
    """Records the overloads that reach the dispatcher."""

    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.names.append(func._schema.name + (f".{func._schema.overload_name}" if func._schema.overload_name else ""))
        return func(*args, **(kwargs or {}))


@pytest.mark.parametrize("name", sorted(_bound_functions()))
def test_bound_function_reaches_its_overload(name: str) -> None:
    """One call, one overload, the same result as the dispatcher's entry."""
    overload = find_overload(name)
    assert overload is not None
    needed = sum(not a.has_default_value() for a in overload._schema.arguments)
    args = CALLS.get(name.removeprefix("aten::"), (X,) * needed)
    with Seen() as seen:
        result = host_function(overload)(*args)
    assert seen.names == [name]
    torch.testing.assert_close(result, overload(*args))


def test_a_view_of_what_lies_otherwise_copies() -> None:
    """It shares memory wherever that is possible, and gives the same elements where it is not."""
    view = host_function(torch.ops.aten.view.default)
    assert view(X, [9]).data_ptr() == X.data_ptr()
    assert torch.equal(view(X.t(), [9]), X.t().contiguous().view(9))
    with pytest.raises(RuntimeError, match="invalid for input of size"):
        view(X, [8])
