"""The preloaded library in real programs."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from steelyard.measure.count.counter import Counter
from steelyard.measure.count.pins import environment
from steelyard.measure.count.valgrind import Valgrind
from steelyard.measure.launch import Launcher
from steelyard.measure.native import PRELOAD
from steelyard.model.counting import CountSettings
from steelyard.model.launch_spec import LaunchSpec
from tests.c_programs import compiled
from tests.measure.counting import Counting

# Calls each function once, through the dynamic linker: an older C library has no arc4random.
DRAWS = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <sys/random.h>

static void show(const unsigned char *bytes, int count) {
    for (int i = 0; i < count; i++) printf("%02x", bytes[i]);
    printf("\n");
}

int main(void) {
    unsigned char bytes[20];
    if (getrandom(bytes, 20, 0) != 20) return 1;
    show(bytes, 20);
    if (getentropy(bytes, 20) != 0) return 1;
    show(bytes, 20);
    unsigned (*one)(void) = (unsigned (*)(void))dlsym(RTLD_DEFAULT, "arc4random");
    void (*many)(void *, size_t) = (void (*)(void *, size_t))dlsym(RTLD_DEFAULT, "arc4random_buf");
    unsigned (*below)(unsigned) = (unsigned (*)(unsigned))dlsym(RTLD_DEFAULT, "arc4random_uniform");
    if (!one || !many || !below) return 2;
    many(bytes, 3);
    show(bytes, 3);
    printf("%u %u\n", one(), below(1000));
    return 0;
}
"""

REFUSALS = r"""
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <sys/random.h>

int main(void) {
    unsigned char bytes[257];
    unsigned char *volatile nowhere = NULL;
    int longest = getentropy(bytes, 256);
    errno = 0;
    int too_long = getentropy(bytes, 257);
    printf("%d %d %d\n", longest, too_long, errno == EIO);
    errno = 0;
    long at_null = getrandom(nowhere, 1, 0);
    printf("%ld %d\n", at_null, errno == EFAULT);
    errno = 0;
    long unknown_flag = getrandom(bytes, 1, 64);
    printf("%ld %d %ld\n", unknown_flag, errno == EINVAL, (long)getrandom(bytes, 257, GRND_NONBLOCK));
    return 0;
}
"""

# Prints whether a variable of each thread lies in the stack that the thread is said to have.
STACKS = r"""
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>

static void *show(void *unused) {
    pthread_attr_t attributes;
    void *start;
    size_t size, guard;
    char here;
    if (pthread_getattr_np(pthread_self(), &attributes)) return unused;
    pthread_attr_getstack(&attributes, &start, &size);
    pthread_attr_getguardsize(&attributes, &guard);
    printf("%d %d\n", &here > (char *)start && &here < (char *)start + size, size >= 65536);
    pthread_attr_destroy(&attributes);
    return unused;
}

int main(void) {
    pthread_t thread;
    show(NULL);
#ifdef ALONE
    return 0;
#endif
    if (pthread_create(&thread, NULL, show, NULL)) return 1;
    return pthread_join(thread, NULL);
}
"""

# Does an amount of work that is drawn at random.
WORK = r"""
#include <sys/random.h>

int main(void) {
    unsigned times;
    if (getrandom(&times, sizeof times, 0) != sizeof times) return 1;
    for (volatile unsigned i = 0; i < times % 100000; i++) {}
    return 0;
}
"""


def program_of(folder: Path, text: str, *flags: str) -> Path:
    return compiled(folder, "program", text, "-Wl,--no-as-needed", "-ldl", *flags)


def printed(program: Path, *, preload: bool) -> str:
    env = {"LD_PRELOAD": os.fspath(PRELOAD)} if preload else {}
    return subprocess.run([program], env=env, check=True, capture_output=True, text=True).stdout


def counted(valgrind: str, options: list[str], program: Path, **env: str) -> int:
    """Return the instructions that a Valgrind tool counts."""
    env = {"PATH": os.environ["PATH"], "LD_PRELOAD": os.fspath(PRELOAD), **env}
    done = subprocess.run([valgrind, *options, program], env=env, check=True, capture_output=True, text=True)
    found = re.search(r"I +refs: +([\d,]+)", done.stderr)
    assert found, done.stderr
    return int(found[1].replace(",", ""))


def test_every_run_draws_the_same(tmp_path: Path) -> None:
    program = program_of(tmp_path, DRAWS)
    first = printed(program, preload=True)
    assert first == printed(program, preload=True)
    drawn = first.splitlines()
    assert drawn[0] != drawn[1]
    assert [len(line) for line in drawn[:3]] == [40, 40, 6]
    assert int(drawn[3].split()[1]) < 1000


def test_without_it_randomness_is_what_it_was(tmp_path: Path) -> None:
    program = program_of(tmp_path, WORK.replace("return 0", "return times % 100 + 1"))
    codes = {subprocess.run([program], env={}, check=False).returncode for _ in range(20)}
    assert len(codes) > 1


def test_what_the_c_library_refuses_is_refused(tmp_path: Path) -> None:
    program = program_of(tmp_path, REFUSALS)
    expected = "0 -1 1\n-1 1\n-1 1 257\n"
    assert printed(program, preload=True) == expected


@pytest.mark.parametrize("preload", [True, False])
def test_every_thread_is_told_its_stack(tmp_path: Path, preload: bool) -> None:
    program = program_of(tmp_path, STACKS)
    assert printed(program, preload=preload) == "1 1\n1 1\n"


def test_finding_the_stack_costs_the_same_wherever_files_are(
    valgrind: str,  # noqa: ARG001 - skips the test without Valgrind
    tmp_path: Path,
) -> None:
    # The search for the last slash takes 7 instructions less for 64 bytes without one; these names are shorter.
    deep = tmp_path.joinpath(*["a-long-name"] * 8)
    deep.mkdir(parents=True)
    # Without threads, because the cost of waiting for one depends on the machine.
    program = program_of(tmp_path, STACKS, "-DALONE")
    elsewhere = Path(shutil.copy(program, deep / program.name))
    with Launcher() as launcher:
        counter = Counting(launcher.launch, Counter(Valgrind.found(), CountSettings()))
        counts = [counter.count(spec(path)).events["Ir"] for path in (program, elsewhere)]
    assert counts[0] == counts[1]


def spec(program: Path) -> LaunchSpec:
    path = os.fsencode(program)
    env = environment({}, [], {}, preload=True, start=False)
    return LaunchSpec(path, (path,), tuple(f"{name}={value}".encode() for name, value in env.items()))


def test_counts_of_a_program_that_draws_are_equal(valgrind: str, tmp_path: Path) -> None:
    program = program_of(tmp_path, WORK)
    options = ["--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"]
    assert len({counted(valgrind, options, program) for _ in range(3)}) == 1


def test_counting_starts_with_the_program_and_not_with_the_loader(valgrind: str, tmp_path: Path) -> None:
    program = program_of(tmp_path, WORK)
    always = ["--tool=callgrind", "--callgrind-out-file=/dev/null"]
    later = [*always, "--instr-atstart=no"]
    assert counted(valgrind, later, program) == 0
    started = counted(valgrind, later, program, STEELYARD_START="1")
    assert 100_000 < started < counted(valgrind, always, program, STEELYARD_START="1")
    assert started == counted(valgrind, later, program, STEELYARD_START="1", FURTHER="variable")
    assert counted(valgrind, later, program, STEELYARD_START="0") == 0
