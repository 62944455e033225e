import ast
from statistics import median

from tests.architecture.tree import PACKAGE, named, parsed, python_files

FILE_LINES_MAX = 400
FUNCTION_LINES_MAX = 70
MEDIAN_FUNCTION_LINES_MAX = 15


def functions(tree: ast.Module) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    return [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]


def lines_of(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    assert function.end_lineno is not None
    return function.end_lineno - function.lineno + 1


def test_no_file_is_longer_than_a_reader_can_hold() -> None:
    lengths = {named(path): len(path.read_text(encoding="utf-8").splitlines()) for path in python_files()}
    assert {name: length for name, length in lengths.items() if length > FILE_LINES_MAX} == {}


def test_no_function_is_longer_than_a_screen() -> None:
    long = {
        f"{named(path)}: {function.name}": lines_of(function)
        for path in python_files()
        for function in functions(parsed(path))
        if lines_of(function) > FUNCTION_LINES_MAX
    }
    assert long == {}


def test_a_usual_function_is_short() -> None:
    lengths = [
        lines_of(function)
        for path in python_files()
        if path.is_relative_to(PACKAGE)
        for function in functions(parsed(path))
    ]
    assert median(lengths) <= MEDIAN_FUNCTION_LINES_MAX
