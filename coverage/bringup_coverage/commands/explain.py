"""`bringup explain`: one operator, from the call down to the kernels."""

from __future__ import annotations

import json

import click

EXAMPLES = """
\b
Examples:
  bringup explain aten::upsample_bicubic2d
  bringup explain aten::silu --dtype bfloat16 --call 1
  bringup explain aten::add --target mychip.toml
  bringup explain aten::native_layer_norm --required-only --format json
"""


@click.command(epilog=EXAMPLES)
@click.argument("operator")
@click.option("--target", default="sim", show_default=True, help="sim, package.module:object, or a TOML file.")
@click.option("--dtype", default="float32", show_default=True, help="Of the call that is explained.")
@click.option(
    "--call", "number", type=click.IntRange(min=0), default=0, show_default=True, help="Which of the recorded calls."
)
@click.option("--required-only", is_flag=True, help="Leave the optional kernels out.")
@click.option("--format", "form", type=click.Choice(["table", "json"]), default="table", show_default=True)
def explain(operator: str, target: str, dtype: str, number: int, required_only: bool, form: str) -> None:
    """Show how a target runs OPERATOR, such as aten::silu or aten::add.Tensor.

    The schema, the verdict of a recorded call in each dtype and with gradients, the tree of decompositions down to the kernels
    with file and line of each, the models that use it, and a snippet that runs the call. An operator without an overload,
    such as aten::add, is its default overload, or the list of its overloads.

    Exit status: 0 explained, 1 there is no call of it in this dtype to trace, 2 usage.
    """
    from bringup_coverage.explain import Question, answer, render

    found = answer(operator, Question(target, dtype, number, optional_kernels=not required_only))
    click.echo(json.dumps(found, indent=1) if form == "json" else render(found))
    if "call" in found and found["call"] is None:
        raise SystemExit(1)
