"""Kernels from text, such as ``Gaussian(1) - 0.5 * Laplacian(scale=2)``, without running code."""

from __future__ import annotations

import ast
from inspect import isclass
from typing import Any

import krein.kernels as kernels
from krein.kernels import Kernel

MAX_LENGTH = 1000  # a longer text could exhaust the parser's stack
NAMES = sorted(name for name in kernels.__all__ if isclass(getattr(kernels, name)))


def parse_kernel(text: str) -> Kernel:
    """The kernel that an expression describes: names of ``krein.kernels``, numbers, tuples, ``+``, ``-`` and ``*``.

    Parameters
    ----------
    text : str
        Only calls of kernel classes are carried out; anything else is a ValueError.

    Examples
    --------
    >>> from krein.experiments.compare import parse_kernel
    >>> parse_kernel("DeltaGaussian((1, -1), (1, 10)) + 0.5 * Gaussian(scale=3)")
    DeltaGaussian(weights=(1, -1), scales=(1, 10)) + 0.5 * Gaussian(scale=3)
    >>> parse_kernel("open('file')")
    Traceback (most recent call last):
        ...
    ValueError: A kernel expression may call names of krein.kernels only (...); got open.
    """
    if len(text) > MAX_LENGTH:
        raise ValueError(f"A kernel expression must have at most {MAX_LENGTH} characters; got {len(text)}.")
    try:
        tree = ast.parse(text.strip(), mode="eval")
    except (SyntaxError, ValueError) as error:
        raise ValueError(
            f"A kernel expression must look like 'Gaussian(2.0) - 0.5 * Laplacian()'; got {text!r}."
        ) from error
    kernel = _value(tree.body)
    if not isinstance(kernel, Kernel):
        raise ValueError(f"A kernel expression must give a kernel; got {kernel!r} from {text!r}.")
    return kernel


def _value(node: ast.expr) -> Any:
    """Kernel, number or tuple of a node of the syntax tree."""
    match node:
        case ast.Constant(value=int() | float() as number) if not isinstance(number, bool):
            return number
        case ast.Tuple(elts=items) | ast.List(elts=items):
            return tuple(map(_value, items))
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_operand(operand)
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub() | ast.Mult() as operator, right=right):
            return _combined(_operand(left), operator, _operand(right))
        case ast.Call(func=function, args=arguments, keywords=keywords):
            return _kernel(function)(*map(_value, arguments), **{_name(item): _value(item.value) for item in keywords})
    raise ValueError(
        f"A kernel expression may have kernels, numbers, tuples, +, - and * only; got {ast.unparse(node)!r}."
    )


def _operand(node: ast.expr) -> Any:
    """A kernel or a number: tuples cannot be added or repeated."""
    value = _value(node)
    if isinstance(value, tuple):
        raise ValueError(f"A kernel expression may add and multiply kernels and numbers only; got {value!r}.")
    return value


def _combined(left: Any, operator: ast.operator, right: Any) -> Any:
    match operator:
        case ast.Add():
            return left + right
        case ast.Sub():
            return left - right
    return left * right


def _kernel(function: ast.expr) -> type[Kernel]:
    if not isinstance(function, ast.Name) or function.id not in NAMES:
        raise ValueError(
            f"A kernel expression may call names of krein.kernels only ({', '.join(NAMES)}); "
            f"got {ast.unparse(function)}."
        )
    found: type[Kernel] = getattr(kernels, function.id)
    return found


def _name(keyword: ast.keyword) -> str:
    if keyword.arg is None:
        raise ValueError(f"A kernel expression may not unpack arguments; got **{ast.unparse(keyword.value)}.")
    return keyword.arg
