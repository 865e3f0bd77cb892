"""Calls of krein._native with random shapes, strides and values, against numpy; and calls that it must refuse.

    python native/fuzz.py [--rounds 300] [--seed 0] [--module PATH]

``sanitize.py`` runs this with a module that was built with the address and undefined behaviour sanitizers.
"""

from __future__ import annotations

import argparse
import importlib.util
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import hadamard

SENTINEL = -77.0


def import_module(path: str | None) -> Any:
    if path is None:
        from krein import _native

        return _native
    spec = importlib.util.spec_from_file_location("krein._native", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def strided(rng: np.random.Generator, n: int, width: int, dtype: Any, *, reverse: bool) -> NDArray[Any]:
    """Rows with gaps between them, of any alignment, sometimes in reverse order; filled with the sentinel."""
    gap, offset = int(rng.integers(0, 40)), int(rng.integers(0, 20))
    whole = np.full(offset + n * (width + gap), SENTINEL, dtype)
    rows = whole[offset:].reshape(n, width + gap)[:, :width]
    return rows[::-1] if reverse else rows


def random_map(native: Any, rng: np.random.Generator, dtype: Any) -> tuple[Any, int, int, Any]:
    """A function from instructions to a map, numbers of entries and columns, and the same map in numpy."""
    kind = rng.choice(["dense", "angles", "hadamard"])
    count = int(rng.choice([1, 2, 3, 7, 8, 15, 16, 17, 31, 32, 33, 63, 64, 65, 100, 129, int(rng.integers(1, 300))]))
    dim = int(rng.choice([1, 2, 3, 5, 16, 22, 255, 256, 257, 258, 511, 513, 784, int(rng.integers(1, 600))]))
    a = rng.normal(size=count).astype(dtype)
    phases = rng.random(count).astype(dtype) if rng.random() < 0.4 else None
    constant = float(rng.normal()) if rng.random() < 0.5 else None
    columns = a, phases, constant
    if kind == "dense":
        W = (rng.normal(size=(count, dim)) / np.sqrt(dim)).astype(dtype)
        project = lambda X: X @ W.T.astype(float)  # noqa: E731
        make = lambda name: native.dense(name, *columns, W)  # noqa: E731
    elif kind == "angles":
        dim = count
        project = lambda X: X / np.pi  # noqa: E731
        make = lambda name: native.angles(name, *columns)  # noqa: E731
    else:
        size = max(64, 1 << (dim - 1).bit_length())
        n_blocks, stages = -(-count // size), int(rng.integers(1, 4))
        widths = [size] * (count // size) + ([count % size] if count % size else [])
        if len(widths) == 1 or rng.random() < 0.5:  # cut blocks, as where the parts of a measure stand side by side
            cuts = np.sort(rng.integers(0, count + 1, size=3))
            widths = [int(w) for part in np.diff([0, *cuts, count]) for w in [size] * (part // size) + [part % size]]
            n_blocks = len(widths)
        D = (rng.choice([-1.0, 1.0], size=(n_blocks, stages, size)) / np.sqrt(size)).astype(dtype)
        P = np.array([rng.permutation(size) for _ in widths], np.intc) if rng.random() < 0.5 else None
        scales = rng.random(count).astype(dtype)
        H = hadamard(size).astype(float)

        def project(X: Any) -> Any:
            pieces = []
            for block, width in enumerate(widths):
                y = np.zeros((len(X), size))
                y[:, :dim] = X
                for stage in range(stages):
                    if P is not None and stage == stages - 1:
                        y = y[:, P[block]]
                    y = (y * D[block, stage]) @ H
                pieces.append(y[:, :width])
            return np.concatenate(pieces, axis=1) * scales

        make = lambda name: native.hadamard(name, *columns, dim, D, P, scales, tuple(widths))  # noqa: E731

    def reference(X: NDArray[Any]) -> NDArray[Any]:
        t = np.pi * project(X.astype(float))
        parts = [np.cos(t) * a, np.sin(t) * a] if phases is None else [np.cos(t + np.pi * phases.astype(float)) * a]
        return np.concatenate([*parts, np.full((len(X), int(constant is not None)), constant or 0.0)], axis=1)

    return make, dim, count * (2 if phases is None else 1) + (constant is not None), reference


def check_map(native: Any, rng: np.random.Generator) -> None:
    dtype = rng.choice([np.float32, np.float64])
    make, dim, width, reference = random_map(native, rng, dtype)
    n = int(rng.choice([0, 1, 2, 3, 4, 5, 6, 7, 11, 12, 13, 23, 24, 25, 40, int(rng.integers(0, 130))]))
    X = strided(rng, n, dim, dtype, reverse=bool(rng.integers(2)))
    X[:] = rng.normal(size=X.shape)
    expected = reference(X)
    results = []
    for name in native.INSTRUCTIONS:
        out = strided(rng, n, width, dtype, reverse=bool(rng.integers(2)))
        aligned = rng.random() < 0.3
        if aligned:
            memory = np.empty(n * width * out.itemsize + 64, np.uint8)
            start = -memory.ctypes.data % 64
            out = memory[start : start + n * width * out.itemsize].view(dtype).reshape(n, width)
        made = make(name)
        cut = int(rng.integers(0, n + 1))
        made.rows(X[:cut], out[:cut], bool(rng.integers(2)))
        made.rows(X[cut:], out[cut:], bool(rng.integers(2)))
        base = out.base if not aligned and out.base is not None else out
        outside = base.size - out.size if not aligned else 0
        assert not outside or np.count_nonzero(base == SENTINEL) >= outside, "something was written outside out"
        tolerance = 60 * np.sqrt(dim) * np.finfo(dtype).eps * max(1.0, float(np.abs(expected).max(initial=0)))
        np.testing.assert_allclose(out, expected, rtol=0, atol=tolerance)
        if n:
            wrong = strided(rng, n, dim, dtype, reverse=bool(rng.integers(2)))
            wrong[:] = X
            wrong[rng.integers(n), rng.integers(dim)] = rng.choice([np.nan, np.inf, -np.inf])
            assert made.rows(X, np.empty((n, width), dtype), False), "finite rows are said not to be"
            assert not made.rows(wrong, np.empty((n, width), dtype), False), "an entry that is not finite is not seen"
            z = np.empty(width, dtype)
            made.row(np.ascontiguousarray(X[n // 2]), z)
            assert z.tobytes() == out[n // 2].tobytes(), "a single row differs from the same row among others"
        results.append(np.ascontiguousarray(out).tobytes())
    fused = [bits for bits, name in zip(results, native.INSTRUCTIONS, strict=True) if name != "baseline"]
    assert len(set(fused)) <= 1, "instruction sets differ"


def check_gram(native: Any, rng: np.random.Generator) -> None:
    n, m = int(rng.integers(0, 600)), int(rng.integers(1, 120))
    Z = strided(rng, n, m, float, reverse=bool(rng.integers(2)))
    Z[:] = rng.normal(size=Z.shape)
    w = rng.normal(size=n) if rng.random() < 0.5 else None
    cut = int(rng.integers(0, m + 1))
    for name in native.INSTRUCTIONS:
        G = np.ones((m, m))
        native.gram(name, Z, w, G, cut, m)
        native.gram(name, Z, w, G, 0, cut)
        expected = 1 + (Z if w is None else Z * w[:, None]).T @ Z
        np.testing.assert_allclose(np.tril(G), np.tril(expected), rtol=0, atol=1e-11)


def refused(function: Any, *arguments: Any) -> bool:
    try:
        function(*arguments)
    except (TypeError, ValueError, BufferError, OverflowError, MemoryError):
        return True
    return False


def check_refusals(native: Any) -> None:
    """Wrong calls raise; none of them may write anything."""
    name, f = native.INSTRUCTIONS[0], np.ones(5, np.float32)
    made = native.dense(name, f, None, None, np.ones((5, 3), np.float32))
    X, out = np.ones((4, 3), np.float32), np.ones((4, 10), np.float32)
    read_only = out.copy()
    read_only.flags.writeable = False
    shifted = np.zeros(4 * 10 * 4 + 1, np.uint8)[1:].view(np.float32).reshape(4, 10)
    for x, z in [
        (X.astype(float), out), (X, out.astype(float)), (X[:, :2], out), (X, out[:, :9]), (X[:3], out), (X, read_only),
        (X[0], out[0]), (X.astype(">f4"), out), (X, out.astype(">f4")), (X, out[:, ::-1]), (np.asfortranarray(X), out),
        (X, np.asfortranarray(out)), (X, shifted), (X.astype(complex), out), (X.astype(int), out), (None, out),
        (X, "z"),
        (X, out.astype(object)), (X[None], out[None]),
    ]:  # fmt: skip
        assert refused(made.rows, x, z, False), (x, z)
    assert refused(made.rows, X, out)
    assert refused(made.row, X[0, :2], out[0])
    assert refused(made.row, X, out)
    assert refused(type(made))
    ones, D, big = np.ones(5), np.ones((1, 2, 64)), 1 << 62
    for arguments in [
        ("sse9", f, None, None), (name, f[:0], None, None), (name, f, f[:4], None), (name, f, ones, None),
        (name, f, None, "c"), (name, 3, None, None), (name, f[::2], None, None),
    ]:  # fmt: skip
        assert refused(native.angles, *arguments), arguments
    for shape, dtype in [((4, 3), np.float32), ((5, 0), np.float32), ((5, 3), float), (5, np.float32)]:
        weights = np.ones(shape, dtype)
        assert refused(native.dense, name, f, None, None, weights), weights.shape
    P = np.zeros((1, 64), np.intc)
    for arguments in [
        (0, D, None, ones, (5,)), (65, D, None, ones, (5,)), (big, D, None, ones, (5,)),
        (3, D[:, :, :48], None, ones, (5,)),
        (3, D, None, ones[:4], (5,)), (3, D, None, ones, (4,)), (3, D, None, ones, (5, 0)), (3, D, None, ones, (-1, 6)),
        (3, D, None, ones, (big,)), (3, D, None, ones, ("5",)), (3, D, P + 64, ones, (5,)), (3, D, P - 1, ones, (5,)),
        (3, D, P[:, :32], ones, (5,)), (3, D[:0], None, ones, ()), (3, D[:, :0], None, ones, (5,)),
        (3, D, None, ones, [5]),
        (3, D.astype(np.float32), None, ones, (5,)), (3, D, P.astype(float), ones, (5,)), (-big, D, None, ones, (5,)),
    ]:  # fmt: skip
        assert refused(native.hadamard, name, ones, None, None, *arguments), arguments
    Z, G = np.ones((4, 3)), np.ones((3, 3))
    for arguments in [
        (Z, None, G, 0, 4), (Z, None, G, -1, 3), (Z, None, G, 2, 1), (Z, ones, G, 0, 3), (Z[:, :2], None, G, 0, 3),
        (Z.astype(np.float32), None, G, 0, 3), (Z, None, G[:, ::-1], 0, 3), (Z, None, np.ones((6, 3))[::2], 0, 3),
        (Z, None, G, 0, big), (Z, None, G.astype(np.float32), 0, 3),
    ]:  # fmt: skip
        assert refused(native.gram, name, *arguments), arguments
    assert refused(native.fill, name, np.ones(3))
    assert refused(native.sincos, name, ones, ones, ones, 1)
    assert (out == 1).all()
    assert (G == 1).all()


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Random calls of krein._native against numpy.")
    parser.add_argument("--rounds", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--module", default=None, help="file of the module; default: the installed one")
    options = parser.parse_args(arguments)
    native = import_module(options.module)
    check_refusals(native)
    for k in range(options.rounds):
        rng = np.random.default_rng([options.seed, k])
        try:
            check_map(native, rng)
            if k % 4 == 0:
                check_gram(native, rng)
        except BaseException:
            print(f"round {k} of seed {options.seed}")
            raise
    print(f"{options.rounds} rounds with {', '.join(native.INSTRUCTIONS)}: all right")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
