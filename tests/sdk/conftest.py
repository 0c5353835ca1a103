"""Programs that are built once for all of these tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.sdk.cpp_programs import C_BENCHMARKS, C_LEFT, HARNESS, IMPLEMENTATION, STRICT, called, need


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cpp")


@pytest.fixture(scope="session")
def harness(folder: Path) -> Path:
    program = folder / "harness"
    called(need("g++"), "-std=c++17", *STRICT, HARNESS, "-o", program)
    return program


@pytest.fixture(scope="session")
def c_harness(folder: Path) -> Path:
    source, implementation, program = folder / "bench.c", folder / "implementation.cpp", folder / "c_harness"
    source.write_text(C_BENCHMARKS + C_LEFT)
    implementation.write_text(IMPLEMENTATION)
    called(need("gcc"), "-std=c11", *STRICT, "-c", source, "-o", folder / "bench.o")
    called(need("g++"), "-std=c++17", *STRICT, implementation, folder / "bench.o", "-o", program)
    return program
