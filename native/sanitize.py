"""Build krein._native with the address and undefined behaviour sanitizers of gcc, and run fuzz.py with it.

    python native/sanitize.py [--rounds 150]

Takes gcc (or CC) and half a minute; the exit status is not 0 if a sanitizer or the comparison with numpy complains.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import sysconfig
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
CHECKS = ["-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-fno-omit-frame-pointer"]
COMMON = ["-std=gnu11", "-fPIC", "-ffp-contract=fast", "-Wall", "-Wextra", "-Werror", "-Wno-psabi"]
AVX512 = ["-mavx512f", "-mavx512dq", "-mavx512bw", "-mavx512vl", "-mavx2", "-mfma"]
FLAGS = {"baseline": [], "avx2": ["-mavx2", "-mfma"], "avx512": AVX512}
X86 = ("x86_64", "AMD64", "i686")


def build(folder: Path, compiler: str) -> Path:
    """The module, instrumented."""
    machine = os.uname().machine
    flags = {name: given for name, given in FLAGS.items() if name == "baseline" or machine in X86}
    commands = []
    for name, given in flags.items():
        for precision, define in {"float": [], "double": ["-DREAL_DOUBLE"]}.items():
            table = [f"-DKERNELS=krein_{name}_{precision}", f'-DINSTRUCTIONS="{name}"', *define]
            commands.append([*given, *table, str(HERE / "kernels.c"), "-o", str(folder / f"{name}_{precision}.o")])
    have = [f"-DHAVE_{name.upper()}" for name in flags]
    include = f"-I{sysconfig.get_paths()['include']}"
    commands.append([include, *have, str(HERE / "module.c"), "-o", str(folder / "module.o")])
    with ThreadPoolExecutor(2) as pool:
        for done in pool.map(lambda c: subprocess.run([compiler, *CHECKS, *COMMON, "-c", *c], check=True), commands):
            assert done.returncode == 0
    objects = [command[-1] for command in commands]
    module = folder / "_native.so"
    subprocess.run([compiler, *CHECKS, "-shared", *objects, "-o", str(module)], check=True)
    return module


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=150)
    options = parser.parse_args(arguments)
    compiler = os.environ.get("CC", "gcc")
    library = subprocess.run([compiler, "-print-file-name=libasan.so"], capture_output=True, text=True, check=True)
    with tempfile.TemporaryDirectory() as folder:
        module = build(Path(folder), compiler)
        environment = os.environ | {
            "LD_PRELOAD": library.stdout.strip(),
            "ASAN_OPTIONS": "detect_leaks=0",  # Python itself does not free everything
            "PYTHONMALLOC": "malloc",
        }
        fuzz = [sys.executable, str(HERE / "fuzz.py"), "--module", str(module), "--rounds", str(options.rounds)]
        return subprocess.run(fuzz, env=environment, check=False).returncode


if __name__ == "__main__":
    raise SystemExit(main())
