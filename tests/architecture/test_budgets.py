"""Budgets that keep rooms liveable: short files, short functions."""

import ast

from tests.architecture.sources import FLOORS, modules, parsed, shown

FILE_LINES = 400
FUNCTION_LINES = 50
"""Lines of a function with its signature, without its docstring."""

COMMANDS = "cli"
"""Where functions are commands, whose parameters are their options: no signature counts there."""

Function = ast.FunctionDef | ast.AsyncFunctionDef


def lines_of(node: ast.stmt) -> int:
    return (node.end_lineno or node.lineno) - node.lineno + 1


def lines_without_docstring(function: Function) -> int:
    """Lines of the function with its signature, without its docstring."""
    has_docstring = ast.get_docstring(function) is not None
    return lines_of(function) - (lines_of(function.body[0]) if has_docstring else 0)


def body_lines(function: Function) -> int:
    """Lines from the first statement behind the docstring to the last one."""
    body = function.body[1:] if ast.get_docstring(function) is not None else function.body
    return (body[-1].end_lineno or 0) - body[0].lineno + 1 if body else 0


def too_long(tree: ast.AST, *, commands: bool = False) -> list[str]:
    """The functions over the budget; of commands only the body counts."""
    count = body_lines if commands else lines_without_docstring
    functions = [node for node in ast.walk(tree) if isinstance(node, Function)]
    lengths = [(function.name, count(function)) for function in functions]
    return [f"{name}: {lines} lines" for name, lines in lengths if lines > FUNCTION_LINES]


def test_a_file_can_be_read_in_one_go() -> None:
    lines = {shown(path): len(path.read_text("utf-8").splitlines()) for path in modules(*FLOORS)}
    assert len(lines) > 100
    assert {path: count for path, count in lines.items() if count > FILE_LINES} == {}


def test_a_function_can_be_seen_at_once() -> None:
    long_functions: dict[str, list[str]] = {}
    for path in modules(*FLOORS):
        names = too_long(parsed(path), commands=shown(path).startswith(f"{COMMANDS}/"))
        if names:
            long_functions[shown(path)] = names
    assert long_functions == {}


def test_a_file_says_first_what_it_is_for() -> None:
    trees = {shown(path): parsed(path) for path in modules(*FLOORS)}
    assert [path for path, tree in trees.items() if tree.body and not ast.get_docstring(tree)] == []


def test_a_long_function_is_found_wherever_it_stands() -> None:
    lines = "\n".join("        x = 1" for _ in range(FUNCTION_LINES - 4))
    signature = "class A:\n    async def f(\n        self,\n        x: int,\n    ):\n"
    source = f'{signature}        """Not\n\n        counted."""\n{lines}\n'
    longer_module = ast.parse(source + "        return x\n")
    assert too_long(ast.parse(source)) == []
    assert too_long(longer_module) == [f"f: {FUNCTION_LINES + 1} lines"]
    assert too_long(longer_module, commands=True) == []
