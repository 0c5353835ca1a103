"""What is found in CMake's lists: the programs that it builds, where, and with which options."""

from __future__ import annotations

from pathlib import Path

import pytest

from steelyard.subjects.projects.cmake import cmake

OPTIONS = """
project(x)
option(X_TESTS "tests; and more" OFF)
option(X_BENCH "benchmarks" OFF)
option(X_TOOLS "tools" ON)
set(NAMES one two)
if(NOT CMAKE_RUNTIME_OUTPUT_DIRECTORY)
    set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
endif()
if(X_TESTS OR X_BENCH)
    if(X_TESTS AND NOT WIN32)
        add_executable(unit unit.cpp)
    endif()
    if(X_BENCH)
        add_subdirectory(speed)
    endif()
endif()
if(X_TOOLS)
    add_executable(tool tool.cpp)
elseif(APPLE)
    add_executable(mac mac.cpp)
endif()
if(MSVC)
    add_executable(windows windows.cpp)
endif()
"""
FUNCTION = """
function(speed_of name)
    add_executable(${name} ${ARGN})
    target_link_libraries(${name} PRIVATE x benchmark::benchmark)
endfunction()
foreach(NAME IN LISTS NAMES)
    speed_of("speed_${NAME}" ${NAME}.cpp)
endforeach()
"""
BESIDE = """
project(x)
option(X_TESTS "tests" OFF)
option(X_SPEED "measures" OFF)
add_executable(mock-test m.c)
if(X_TESTS)
    add_executable(inner i.c)
    add_executable(perf-sanity p.c)
endif()
if(X_SPEED)
    add_executable(tool t.c)
    set_target_properties(tool PROPERTIES OUTPUT_NAME x-tool)
endif()
"""
CONFIGURE = "cmake -S . -B build -DCMAKE_BUILD_TYPE=Release"


def put(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


def found(folder: Path, files: dict[str, str]) -> tuple[dict[str, str | None], str]:
    """Return (command -> harness of each target, the first line of the build)."""
    put(folder, files)
    made = cmake(folder)
    assert made is not None
    assert made.build is not None
    return {one.command: one.harness for one in made.targets}, made.build.split("\n")[0]


def test_benchmarks_behind_an_option_are_built_with_it_and_with_no_other(tmp_path: Path) -> None:
    targets, configured = found(tmp_path, {"CMakeLists.txt": OPTIONS, "speed/CMakeLists.txt": FUNCTION})
    names = ("./build/bin/speed_one", "./build/bin/speed_two")
    assert targets == dict.fromkeys(names, "google-benchmark")
    assert configured == f"{CONFIGURE} -DX_BENCH=ON"


def test_a_list_that_returns_without_an_option_is_read_on_with_it(tmp_path: Path) -> None:
    lists = (
        "project(x)\noption(X_DEV off OFF)\nadd_executable(tool t.c)\nif(NOT X_DEV)\n  return()\nendif()\n"
        "if(MORE)\n  return()\nendif()\nadd_executable(speed s.cpp)\ntarget_link_libraries(speed benchmark)\n"
    )
    assert found(tmp_path, {"CMakeLists.txt": lists}) == (
        {"./build/speed": "google-benchmark"},
        f"{CONFIGURE} -DX_DEV=ON",
    )


def test_what_a_folder_links_with_all_its_programs_drives_those_made_after_it(tmp_path: Path) -> None:
    lists = (
        "project(x)\nadd_executable(before b.cpp)\nadd_subdirectory(in)\nadd_executable(after a.cpp)\n",
        "add_executable(plain p.cpp)\nlink_libraries(x benchmark::benchmark)\nadd_executable(speed s.cpp)\n"
        "add_subdirectory(more)\n",
        "add_executable(more m.cpp)",
    )
    files = dict(zip(("CMakeLists.txt", "in/CMakeLists.txt", "in/more/CMakeLists.txt"), lists, strict=True))
    targets, _ = found(tmp_path, files)
    assert targets == {"./build/in/speed": "google-benchmark", "./build/in/more/more": "google-benchmark"}


def test_programs_that_try_others_are_left_out_where_there_are_others(tmp_path: Path) -> None:
    user = "project(user)\nadd_executable(user u.c)\n"
    targets, configured = found(tmp_path, {"CMakeLists.txt": BESIDE, "tests/CMakeLists.txt": user})
    assert targets == {"./build/perf-sanity": None, "./build/x-tool": None}
    assert configured == f"{CONFIGURE} -DX_TESTS=ON -DX_SPEED=ON"


def test_programs_that_try_others_are_named_where_there_is_nothing_else(tmp_path: Path) -> None:
    targets, configured = found(tmp_path, {"CMakeLists.txt": "add_executable(unit-test u.c)\n"})
    assert (targets, configured) == ({"./build/unit-test": None}, CONFIGURE)


def test_no_option_is_turned_on_for_programs_that_only_try_others(tmp_path: Path) -> None:
    lists = (
        "option(X_FUZZ off OFF)\nadd_executable(unit-test u.c)\nif(X_FUZZ)\nadd_executable(fuzz-main f.c)\nendif()\n"
    )
    assert found(tmp_path, {"CMakeLists.txt": lists}) == ({"./build/unit-test": None}, CONFIGURE)


def test_benchmarks_that_are_a_project_of_their_own_are_built_by_themselves(tmp_path: Path) -> None:
    own = "project(y)\nadd_executable(y y.cpp)\ntarget_link_libraries(y benchmark)\n"
    lists = {
        "CMakeLists.txt": "project(x)\nadd_executable(tool t.c)\nadd_subdirectory(more)\n",
        "more/CMakeLists.txt": "project(more)\nadd_executable(more m.cpp)\n",
        "tests/speed/CMakeLists.txt": own,
        "tests/user/CMakeLists.txt": "project(user)\nadd_executable(user u.c)\n",
    }
    targets, first = found(tmp_path, lists)
    assert targets == {"./tests/speed/build/y": "google-benchmark"}
    configured = "cmake -S ./tests/speed -B ./tests/speed/build -DCMAKE_BUILD_TYPE=Release"
    assert first == f"[ ! -f ./tests/speed/CMakeLists.txt ] || {configured}"
    made = cmake(tmp_path)
    assert made is not None
    assert made.build == first
    assert [one.build for one in made.targets] == ["cmake --build ./tests/speed/build --target y --parallel $(nproc)"]


def test_programs_of_submodules_and_of_copied_libraries_are_not_those_of_the_project(tmp_path: Path) -> None:
    tests = "option(BENCHMARK_TESTS OFF)\nif(BENCHMARK_TESTS)\nadd_subdirectory(test)\nendif()\n"
    own = "add_executable(own_test own.cc)\ntarget_link_libraries(own_test benchmark)\n"
    lists = {
        "CMakeLists.txt": "add_executable(tool t.c)\nadd_subdirectory(lib/fast)\nadd_subdirectory(third-party)\n",
        "lib/fast/.git": "gitdir: ../../.git/modules/fast\n",
        "lib/fast/CMakeLists.txt": f"project(benchmark)\n{tests}",
        "lib/fast/test/CMakeLists.txt": own,
        "lib/fast/apart/CMakeLists.txt": f"project(apart)\n{own}",
        "third-party/CMakeLists.txt": own,
    }
    assert found(tmp_path, lists) == ({"./build/tool": None}, CONFIGURE)


def test_a_program_may_have_the_name_of_its_source(tmp_path: Path) -> None:
    function = """
function(speed_of file)
    get_filename_component(name "${file}" NAME_WE)
    add_executable("${name}" "")
    target_sources("${name}" PRIVATE "${file}")
    target_link_libraries("${name}" x benchmark)
endfunction()
speed_of("speed/sort.of.cc")
"""
    targets, _ = found(tmp_path, {"CMakeLists.txt": function, "speed/sort.of.cc": "BENCHMARK(BM_sort);\n"})
    assert targets == {"./build/sort": "google-benchmark"}


@pytest.mark.parametrize(
    ("source", "harness"),
    [
        ("#include <cstdio>\nint main(int argc, char** argv) { run(); }\n", None),
        ("int main(int argc, char** argv) { benchmark::Initialize(&argc, argv); }\n", "google-benchmark"),
        ('#include "cases.h"\n', "google-benchmark"),
    ],
)
def test_a_program_that_measures_by_itself_is_not_driven_by_what_it_is_linked_with(
    tmp_path: Path, source: str, harness: str | None
) -> None:
    lists = "add_executable(speed main.cc)\ntarget_link_libraries(speed benchmark)\n"
    targets, _ = found(tmp_path, {"CMakeLists.txt": lists, "main.cc": source})
    assert targets == {"./build/speed": harness}


@pytest.mark.parametrize(
    "lists",
    [
        "set(A x)\n" + "set(A ${A}${A}${A})\n" * 60 + "add_executable(${A} a.c)\n",
        "foreach(A 1 2 3 4 5 6 7 8 9)\n" * 40 + "add_executable(a${A} a.c)\n" + "endforeach()\n" * 40,
        "function(f)\nf()\nf()\nendfunction()\nf()\n",
        "#[[\n" * 5_000 + '"',
        "if(A)\nforeach(\nelse()\nendif()\nendif()\nadd_executable(\n)\nproject()\nset(A CACHE BOOL)\n",
    ],
)
def test_lists_of_cmake_that_go_on_for_ever_are_read_to_some_end(tmp_path: Path, lists: str) -> None:
    put(tmp_path, {"CMakeLists.txt": lists})
    assert cmake(tmp_path) is not None
