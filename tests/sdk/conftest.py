"""Programs that are built once for all of these tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.builds import built
from tests.sdk.cpp_programs import C_BENCHMARKS, C_LEFT, HARNESS, IMPLEMENTATION, SDK, STRICT, called, need

# No loop of the SDK may be unrolled, even where the compiler is asked to do so; GCC 13 does so by itself.
UNROLLED = "-funroll-loops"


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cpp")


@pytest.fixture(scope="session")
def harness() -> Path:
    build = [need("g++"), "-std=c++17", *STRICT, UNROLLED]

    def make(place: Path) -> None:
        called(*build, HARNESS, "-o", place / "harness")

    return built("cpp-harness", make, *build, HARNESS, SDK) / "harness"


@pytest.fixture(scope="session")
def c_harness() -> Path:
    # All loops that are counted are in C.
    in_c, in_cpp = [need("gcc"), "-std=c11", *STRICT, UNROLLED], [need("g++"), "-std=c++17", *STRICT, "-O0"]

    def make(place: Path) -> None:
        source, implementation = place / "bench.c", place / "implementation.cpp"
        source.write_text(C_BENCHMARKS + C_LEFT)
        implementation.write_text(IMPLEMENTATION)
        called(*in_c, "-c", source, "-o", place / "bench.o")
        called(*in_cpp, implementation, place / "bench.o", "-o", place / "c_harness")

    return built("c-harness", make, *in_c, *in_cpp, C_BENCHMARKS, C_LEFT, IMPLEMENTATION, SDK) / "c_harness"
