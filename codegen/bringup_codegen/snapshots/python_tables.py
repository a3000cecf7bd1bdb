"""Decompositions and meta kernels that PyTorch registers from Python, read from its sources without running them."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

Scope = Mapping[str, tuple[str, ...]]
_TABLES = {"register_decomposition": "post_autograd", "register_meta": "meta"}  # by what registers in them
_REFERENCES = ("_make_elementwise_unary_reference", "_make_elementwise_binary_reference")
_RENAMING = {  # take an operator and register another
    "_make_inplace": ("_", "post_autograd"),
    "_make_copy_from_view": ("_copy", "post_autograd"),
    "_register_inplace_meta": ("_", "meta"),
}


@dataclass(frozen=True)
class Registration:
    """`overloads` (or names whose every overload is meant) get `function` in `table`: post_autograd, pre_autograd or meta."""

    overloads: tuple[str, ...]
    function: str
    table: str


def read_registrations(text: str, module: str) -> Iterator[Registration]:
    """What one module registers, in order."""
    tree = ast.parse(text)
    makers = dict(_makers(tree))
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            yield from _of_function(node, module)
        elif isinstance(node, (ast.Assign, ast.Expr)) and isinstance(node.value, ast.Call):
            yield from _of_call(node.value, module, {}, makers)
        elif isinstance(node, ast.For) and isinstance(node.target, ast.Name):
            scope = {node.target.id: _operators(node.iter, {})}
            for statement in ast.walk(node):
                if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
                    yield from _of_call(statement.value, module, scope, makers)


def _makers(tree: ast.Module) -> Iterator[tuple[str, tuple[int, str]]]:
    """Functions that register what one of their arguments names: its position, and the table."""
    for node in tree.body:
        if not isinstance(node, ast.FunctionDef):
            continue
        parameters = [a.arg for a in node.args.args]
        for inner in node.body:
            for call in inner.decorator_list if isinstance(inner, ast.FunctionDef) else ():
                if isinstance(call, ast.Call) and _last_name(call.func) in _TABLES and call.args:
                    named = _last_name(call.args[0])
                    if named in parameters and not _own_registry(call):
                        yield node.name, (parameters.index(named), _table(call))


def _of_function(node: ast.FunctionDef, module: str) -> Iterator[Registration]:
    for decorator in node.decorator_list:
        if isinstance(decorator, ast.Call):
            called = _last_name(decorator.func)
            if called in _TABLES:
                yield from _registered(decorator, f"{module}.{node.name}", {})
            elif called in _REFERENCES:
                yield from _of_reference(decorator, node.name, module)


def _of_reference(call: ast.Call, name: str, module: str) -> Iterator[Registration]:
    """A reference takes the operator of its own name (after its module's) unless it names one."""
    keywords = {k.arg: k.value for k in call.keywords if k.arg}
    if "should_register_decomposition" in keywords and not _constant(keywords["should_register_decomposition"]):
        return
    written = _constant(keywords["name"]) if "name" in keywords else name
    given = keywords.get("aten_op")
    if given is None:
        group = module.removeprefix("torch._refs").strip(".").replace(".", "_")
        names: tuple[str, ...] = (f"{group}_{written}" if group else str(written),)
    else:
        names = () if isinstance(given, ast.Constant) else _operators(given, {})
    if names:
        yield Registration(names, f"{module}.{written}", "post_autograd")


def _of_call(
    call: ast.Call, module: str, scope: Scope, makers: Mapping[str, tuple[int, str]]
) -> Iterator[Registration]:
    """`register_decomposition(aten.x)(function)`, `x_ = _make_inplace(x)`, `register_inplace(aten.x_, aten.x)`."""
    called = call.func
    name = _last_name(called)
    if isinstance(called, ast.Call) and _last_name(called.func) in _TABLES:
        function = _last_name(call.args[0]) if call.args else ""
        yield from _registered(called, f"{module}.{function}", scope)
    elif name in _RENAMING and call.args:
        ending, table = _RENAMING[name]
        made = _last_name(call.args[0]) + ending
        yield Registration((made,), f"{module}.{made}", table)
    elif name in makers and len(call.args) > makers[name][0]:
        position, table = makers[name]
        names = _operators(call.args[position], scope)
        if names:
            yield Registration(names, f"{module}.{name}", table)


def _registered(call: ast.Call, function: str, scope: Scope) -> Iterator[Registration]:
    names = _operators(call.args[0], scope) if call.args else ()
    if names and not _own_registry(call):
        yield Registration(names, function, _table(call))


def _own_registry(call: ast.Call) -> bool:
    """Whether it is for a table of somebody's own."""
    return len(call.args) > 1 or any(k.arg == "registry" for k in call.keywords)


def _table(call: ast.Call) -> str:
    given = next((_constant(k.value) for k in call.keywords if k.arg == "type"), None)
    return str(given or _TABLES[_last_name(call.func)])


def _operators(node: ast.expr, scope: Scope) -> tuple[str, ...]:
    """Names of `aten` operators that an expression stands for; none where it is another namespace or not written out."""
    if isinstance(node, (ast.List, ast.Tuple)):
        return tuple(n for element in node.elts for n in _operators(element, scope))
    if isinstance(node, ast.Name):
        return tuple(n for n in scope.get(node.id, ()) if n)
    chain = _chain(node)
    if "aten" in chain:
        rest = chain[chain.index("aten") + 1 :]
        return (".".join(rest),) if rest else ()
    return ()


def _chain(node: ast.expr) -> list[str]:
    if isinstance(node, ast.Attribute):
        inner = _chain(node.value)
        return [*inner, node.attr] if inner else []
    return [node.id] if isinstance(node, ast.Name) else []


def _last_name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _constant(node: ast.expr | None) -> object:
    return node.value if isinstance(node, ast.Constant) else None


def core_decompositions(text: str) -> tuple[str, ...]:
    """Operators that the list in `torch/_decomp/__init__.py` names for the core operator set."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef) and "core_aten_decompositions" in node.name:
            for inner in ast.walk(node):
                if isinstance(inner, ast.Call) and _last_name(inner.func) == "get_decompositions" and inner.args:
                    return _operators(inner.args[0], {})
    return ()
