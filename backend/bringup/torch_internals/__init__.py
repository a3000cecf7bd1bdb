"""The only place of bringup that touches private PyTorch APIs: one function each, with the releases it was seen in.

Everything here was seen to work on torch 2.10.0, 2.13.0, 2.14.1 and 2.15.0 unless its docstring says otherwise.
"""

from __future__ import annotations

from torch._ops import HigherOrderOperator, OpOverload, OpOverloadPacket

from bringup.torch_internals.capture import (
    ENTER_INFERENCE_MODE,
    EXIT_INFERENCE_MODE,
    SET_GRAD_ENABLED,
    aot_compile,
    aot_compile_function,
    boxed,
    capture,
    find_backend,
    functionalized,
    in_backward,
    static_input_indices,
    trace_with_fakes,
)
from bringup.torch_internals.fakes import (
    concrete,
    fake_inputs,
    fakes_of_their_own,
    is_data_dependent,
    is_fake,
    suppress_tracing,
    unbacked_or_symbolic,
)
from bringup.torch_internals.gradients import with_gradients
from bringup.torch_internals.host import (
    host_function,
    memory_key,
    without_autograd_keys,
)
from bringup.torch_internals.loops import (
    loops_run_once,
    while_loop,
)
from bringup.torch_internals.operators import (
    decomposed_above,
    dense_form,
    differentiated_by_rules,
    dispatch_rules,
    draws_random_numbers,
    find_overload,
    is_collective,
    is_composite_implicit,
    is_dispatched,
    load_linear_cross_entropy,
    load_prims,
    overload_name,
    parse_schema,
    python_registrations,
    pytorch_decompositions,
    registered_names,
    registered_schemas,
    registrations,
    tags_of,
    written_arguments,
)
from bringup.torch_internals.shadows import shadow_inputs

__all__ = [
    "ENTER_INFERENCE_MODE",
    "EXIT_INFERENCE_MODE",
    "SET_GRAD_ENABLED",
    "HigherOrderOperator",
    "OpOverload",
    "OpOverloadPacket",
    "aot_compile",
    "aot_compile_function",
    "boxed",
    "capture",
    "concrete",
    "decomposed_above",
    "dense_form",
    "differentiated_by_rules",
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
    "is_dispatched",
    "is_fake",
    "load_linear_cross_entropy",
    "load_prims",
    "loops_run_once",
    "memory_key",
    "overload_name",
    "parse_schema",
    "python_registrations",
    "pytorch_decompositions",
    "registered_names",
    "registered_schemas",
    "registrations",
    "shadow_inputs",
    "static_input_indices",
    "suppress_tracing",
    "tags_of",
    "trace_with_fakes",
    "unbacked_or_symbolic",
    "while_loop",
    "with_gradients",
    "without_autograd_keys",
    "written_arguments",
]
