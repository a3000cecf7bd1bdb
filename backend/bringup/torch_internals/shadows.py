"""Shadows: tensors of a shape and no data, far cheaper than fake tensors, that give up where they may not behave as those do.

Of some factorisations PyTorch's meta kernels give other strides for a fake tensor than for the meta tensor of a shadow (`_linalg_svd`),
which may show in how a product of them is folded, not in whether it runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

_INDEX = torch.ops.aten.index.Tensor
"""Its shape depends on data where an index is a mask, and only there."""


class Unsure(Exception):
    """What is asked of a shadow may come out otherwise than for a fake tensor, or needs data."""


class Shadow(torch.Tensor):
    """A meta tensor that says it lies on the device of the tensor that it stands for, to Python and to C++.

    Attributes:
        meta: the meta tensor.
        stands_on: the device that it says it is on.
    """

    meta: torch.Tensor
    stands_on: torch.device

    @staticmethod
    def __new__(cls, meta: torch.Tensor, stands_on: torch.device) -> Shadow:
        """A shadow of what `meta` describes."""
        make: Any = torch.Tensor._make_subclass
        shadow = make(cls, meta, False, dispatch_device=True, device_for_backend_keys=stands_on)
        shadow.meta = meta
        shadow.stands_on = stands_on
        return shadow

    @property
    def device(self) -> torch.device:  # type: ignore[override]
        """Where the tensor that it stands for lies."""
        return self.stands_on

    def __repr__(self, *, tensor_contents: object = None) -> str:
        """What is known of it; PyTorch prints arguments while it looks for the overload that takes them."""
        return f"Shadow({list(self.shape)}, {self.dtype}, {self.stands_on})"

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Outside of their mode nothing is known of factories, so nothing is done."""
        if func is torch.ops.prim.device.default:
            return args[0].stands_on
        raise Unsure(f"{func} outside of the mode of its shadows")


class Shadows(TorchDispatchMode):
    """Runs operators on the meta tensors behind shadows, and makes what factories make for one device a shadow too."""

    def __init__(self, device: torch.device) -> None:
        super().__init__()
        self.device = device

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func is torch.ops.prim.device.default:
            return args[0].stands_on
        if func.namespace != "aten" and func.namespace != "prims":
            raise Unsure(func)
        if func._schema.is_mutable and func is not torch.ops.aten.copy_.default:
            raise Unsure(func)
        if torch.Tag.dynamic_output_shape in func.tags or torch.Tag.data_dependent_output in func.tags:
            masks = (
                any(i is not None and i.dtype in (torch.bool, torch.uint8) for i in args[1]) if func is _INDEX else True
            )
            if masks:
                raise Unsure(func)
        behind: dict[int, Shadow] = {}

        def meta(value: Any) -> Any:
            if isinstance(value, Shadow):
                behind[id(value.meta)] = value
                return value.meta
            if isinstance(value, torch.Tensor):
                raise Unsure("real data")
            if isinstance(value, torch.device):
                if value.type != self.device.type:
                    raise Unsure("another device")
                return torch.device("meta")
            if isinstance(value, (list, tuple)):
                return type(value)(map(meta, value)) if type(value) in (list, tuple) else value
            return value

        inner = [meta(v) for v in args]
        named = {k: meta(v) for k, v in (kwargs or {}).items()}
        if not behind:
            parameters = {a.name for a in func._schema.arguments}
            if "device" not in parameters or "names" in parameters:  # fake tensors have no names
                raise Unsure(func)
            named["device"] = torch.device("meta")
        results = func(*inner, **named)

        def shadow(value: Any) -> Any:
            if isinstance(value, torch.Tensor):
                return behind[id(value)] if id(value) in behind else Shadow(value, self.device)
            if isinstance(value, (list, tuple)):
                return type(value)(map(shadow, value))
            if value is None:
                return None
            raise Unsure(f"{func} tells something of data")

        return shadow(results)


def shadow_inputs(tensors: Sequence[torch.Tensor]) -> tuple[Shadows, list[Shadow]]:
    """A mode and shadows of real tensors.

    Raises:
        Unsure: there is none, one is no plain dense tensor, or two share memory or lie on different devices.
    """
    devices = {t.device for t in tensors}
    plain = all(type(t) in (torch.Tensor, torch.nn.Parameter) and t.layout is torch.strided for t in tensors)
    apart = len({t.untyped_storage().data_ptr() for t in tensors if t.numel()}) == sum(t.numel() > 0 for t in tensors)
    odd = any(t.is_conj() or t.is_neg() or t.storage_offset() for t in tensors)
    if len(devices) != 1 or not plain or not apart or odd:
        raise Unsure("not plain tensors of their own on one device")
    (device,) = devices
    metas = [torch.empty_strided(t.shape, t.stride(), dtype=t.dtype, device="meta") for t in tensors]
    return Shadows(device), [Shadow(m, device) for m in metas]
