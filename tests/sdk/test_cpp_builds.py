"""The C++ header with other compilers and standards, in C, and with CMake."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.sdk.cpp_programs import (
    C_BENCHMARKS,
    EXAMPLES,
    HARNESS,
    IMPLEMENTATION,
    SDK,
    STRICT,
    called,
    driven,
    need,
    need_clang,
    run,
)

SMALL = '#include "steelyard.hpp"\nSTEELYARD_BENCH(small) { state.run([] {}); }\nSTEELYARD_MAIN()\n'
CMAKE = """
cmake_minimum_required(VERSION 3.14)
project(small LANGUAGES CXX)
{how}
add_executable(small small.cpp)
target_link_libraries(small PRIVATE steelyard::steelyard)
"""
# Compiled in a fraction of the time: that both headers are found, and the standard is set.
FOUND = """
#if !__has_include("steelyard.hpp") || __cplusplus < 201703L
#error "not found, or an older standard"
#endif
#include "steelyard.h"
int main() { return 0; }
"""


# For the other tests GCC compiles everything as C++17, and must print no warning there either.
@pytest.mark.parametrize(
    ("compiler", "standard", "others"),
    [("g++", "c++20", []), ("clang++", "c++17", []), ("clang++", "c++20", [*EXAMPLES.glob("*.cpp")])],
)
def test_no_compiler_warns(folder: Path, compiler: str, standard: str, others: list[Path]) -> None:
    found = need_clang("clang++") if compiler == "clang++" else need("g++")
    both = folder / "strict.cpp"
    both.write_text(f'{IMPLEMENTATION}#include "{HARNESS}"\n')
    called(found, f"-std={standard}", *STRICT, "-fsyntax-only", both, *others)


def test_what_a_project_may_have_on_besides_is_silent(folder: Path) -> None:
    implementation = folder / "stricter.cpp"
    implementation.write_text(IMPLEMENTATION)
    more = ["-Weffc++", "-Wuseless-cast", "-Wold-style-cast", "-Wsign-conversion", "-Wzero-as-null-pointer-constant"]
    called(need("g++"), "-std=c++17", *STRICT, *more, "-fsyntax-only", HARNESS, implementation)


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_no_c_compiler_warns(folder: Path, compiler: str) -> None:
    found = need_clang("clang") if compiler == "clang" else need("gcc")
    source = folder / "strict.c"
    source.write_text(C_BENCHMARKS)
    called(found, "-std=c11", *STRICT, "-fsyntax-only", source, *EXAMPLES.glob("**/*.c"))


def test_without_valgrinds_header_without_exceptions_and_unoptimised(folder: Path) -> None:
    source, program = folder / "small.cpp", folder / "small"
    source.write_text(SMALL)
    flags = [flag for flag in STRICT if flag != "-O2"]
    bare = ["-O0", "-fno-exceptions", "-fno-rtti", "-DSTEELYARD_NO_VALGRIND"]
    called(need("g++"), "-std=c++17", *flags, *bare, source, "-o", program)
    assert len(run(program, "small").samples) == 3
    assert b"callgrind" not in program.read_bytes()


def test_in_c(c_harness: Path) -> None:
    listed = driven(c_harness, "--steelyard-list").samples
    names = ["nothing", "multiplies", 'another "name"', "sized/n=10", "sized/n=1000", "breaks", "returns"]
    assert sorted(line["benchmark"] for line in listed) == sorted(names)
    (sized,) = (line for line in listed if line["benchmark"] == "sized/n=10")
    assert sized["params"] == {"n": "10"}
    assert re.fullmatch(r".*bench\.c:\d+", sized["source"])
    for name in names[:4]:
        assert [sample["loops"] for sample in run(c_harness, name).samples] == [100] * 3


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("sized/n=1000", "too large"),
        ("breaks", "the timed loop was left before its end"),
        ("returns", "ended before its samples were taken"),
    ],
)
def test_in_c_errors_are_told_as_well(c_harness: Path, name: str, said: str) -> None:
    response = run(c_harness, name)
    assert said in response.error
    assert response.status == 1


def built_by_cmake(folder: Path, how: str, source: str) -> Path:
    folder.mkdir()
    (folder / "small.cpp").write_text(source)
    (folder / "CMakeLists.txt").write_text(CMAKE.format(how=how))
    called(need("cmake"), "-S", folder, "-B", folder / "build")
    called(need("cmake"), "--build", folder / "build")
    return folder / "build" / "small"


def test_by_cmake(tmp_path: Path) -> None:
    cmake = need("cmake")
    need("g++")
    small = built_by_cmake(tmp_path / "subdirectory", f'add_subdirectory("{SDK}" steelyard)', SMALL)
    assert len(run(small, "small").samples) == 3
    installed = tmp_path / "installed"
    called(cmake, "-S", SDK, "-B", tmp_path / "sdk", f"-DCMAKE_INSTALL_PREFIX={installed}")
    called(cmake, "--install", tmp_path / "sdk")
    for header in ("steelyard.hpp", "steelyard.h"):
        assert (installed / "include" / header).read_bytes() == (SDK / header).read_bytes()
    found = f'find_package(steelyard 0.1 REQUIRED PATHS "{installed}" NO_DEFAULT_PATH)'
    called(built_by_cmake(tmp_path / "package", found, FOUND))
