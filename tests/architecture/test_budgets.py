"""Budgets that keep rooms liveable: short files, short functions."""

import ast

from tests.architecture.sources import FLOORS, modules, parsed, shown

FILE_LINES = 400
FUNCTION_LINES = 40

Function = ast.FunctionDef | ast.AsyncFunctionDef


def body_lines(function: Function) -> int:
    """Lines from the first statement behind the docstring to the last one."""
    body = function.body[1:] if ast.get_docstring(function) is not None else function.body
    return (body[-1].end_lineno or 0) - body[0].lineno + 1 if body else 0


def too_long(tree: ast.AST) -> list[str]:
    functions = [node for node in ast.walk(tree) if isinstance(node, Function)]
    return [f"{f.name}: {body_lines(f)} lines" for f in functions if body_lines(f) > FUNCTION_LINES]


def test_a_file_can_be_read_in_one_go() -> None:
    lines = {shown(path): len(path.read_text("utf-8").splitlines()) for path in modules(*FLOORS)}
    assert len(lines) > 100
    assert {path: count for path, count in lines.items() if count > FILE_LINES} == {}


def test_a_function_can_be_seen_at_once() -> None:
    assert {
        shown(path): result for path in modules(*FLOORS) if (result := too_long(parsed(path)))
    } == {}


def test_a_file_says_first_what_it_is_for() -> None:
    trees = {shown(path): parsed(path) for path in modules(*FLOORS)}
    assert [path for path, tree in trees.items() if tree.body and not ast.get_docstring(tree)] == []


def test_a_long_function_is_found_wherever_it_stands() -> None:
    lines = "\n".join("        x = 1" for _ in range(FUNCTION_LINES))
    source = f'class A:\n    async def f(self):\n        """Not\n\n        counted."""\n{lines}\n'
    assert too_long(ast.parse(source)) == []
    assert too_long(ast.parse(source + "        return x\n")) == ["f: 41 lines"]
