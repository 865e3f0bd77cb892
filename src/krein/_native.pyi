"""The compiled module, built from native/ where there is a C compiler."""

from typing import Any, Literal, final

from numpy.typing import NDArray

INSTRUCTIONS: tuple[str, ...]

@final
class Map:
    def rows(self, x: NDArray[Any], out: NDArray[Any], stream: bool, /) -> bool: ...
    def row(self, x: NDArray[Any], out: NDArray[Any], /) -> None: ...

def dense(
    instructions: str,
    amplitudes: NDArray[Any],
    phases: NDArray[Any] | None,
    constant: float | None,
    weights: NDArray[Any],
) -> Map: ...
def hadamard(
    instructions: str,
    amplitudes: NDArray[Any],
    phases: NDArray[Any] | None,
    constant: float | None,
    dim: int,
    diagonals: NDArray[Any],
    permutation: NDArray[Any] | None,
    scales: NDArray[Any],
    widths: tuple[int, ...],
) -> Map: ...
def angles(instructions: str, amplitudes: NDArray[Any], phases: NDArray[Any] | None, constant: float | None) -> Map: ...
def gram(
    instructions: str, z: NDArray[Any], w: NDArray[Any] | None, g: NDArray[Any], first: int, last: int
) -> None: ...
def multiply_add(instructions: str, precision: Literal["f", "d"], repeats: int) -> float: ...
def fill(instructions: str, out: NDArray[Any]) -> None: ...
def sincos(instructions: str, t: NDArray[Any], c: NDArray[Any], s: NDArray[Any], repeats: int) -> None: ...
