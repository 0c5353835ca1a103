"""Small C programs for tests of counting: what each does is known, and so are its counts."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests import builds

# About 12 instructions per round, in a function of its own; an argument, such as {loops}, says how many rounds.
LOOP = r"""
#include <stdlib.h>
static volatile unsigned sum;
__attribute__((noinline)) void hot(long rounds) { for (long i = 0; i < rounds; i++) sum += i * i; }
int main(int count, char **words) { hot(count > 1 ? atol(words[1]) : 100000); return 0; }
"""
# The same program with 1 % more rounds.
LONGER_LOOP = LOOP.replace("100000", "101000")

NOTHING = "int main(void) { return 0; }"

SAYS = '#include <stdio.h>\nint main(void) { return puts("a") < 0; }'

# Works and then creates the file that its argument names; does nothing if that file exists.
FILLS = r"""
#include <fcntl.h>
#include <unistd.h>
static volatile unsigned sum;
int main(int count, char **words) {
    if (count < 2 || access(words[1], F_OK) == 0) return 0;
    for (long i = 0; i < 1000000; i++) sum += i;
    return creat(words[1], 0644) < 0;
}
"""

# Asks Callgrind to count one part, and not the part before it.
BODY = r"""
#include <valgrind/callgrind.h>
static volatile unsigned sum;
static void work(unsigned rounds) { for (unsigned i = 0; i < rounds; i++) sum += i; }
int main(int count, char **words) {
    work(50000 * count);
    CALLGRIND_START_INSTRUMENTATION;
    work(10000);
    CALLGRIND_STOP_INSTRUMENTATION;
    return words == 0;
}
"""

# Has Callgrind write what it has counted so far, and goes on.
DUMPS = r"""
#include <valgrind/callgrind.h>
static volatile unsigned sum;
__attribute__((noinline)) void hot(unsigned rounds) { for (unsigned i = 0; i < rounds; i++) sum += i; }
int main(void) {
    hot(50000);
    CALLGRIND_DUMP_STATS;
    hot(10000);
    return 0;
}
"""

FORKS = r"""
#include <sys/wait.h>
#include <unistd.h>
static volatile unsigned sum;
int main(void) {
    for (int child = 0; child < 3; child++)
        if (fork() == 0) {
            for (int i = 0; i < 100000; i++) sum += i;
            _exit(0);
        }
    while (wait(0) > 0) {}
    return 0;
}
"""

FORKS_AND_EXECUTES = r"""
#include <sys/wait.h>
#include <unistd.h>
int main(int count, char **words) {
    if (count == 1) return 0;
    if (fork() == 0) { execv(words[1], words + 1); _exit(1); }
    int status;
    wait(&status);
    return status != 0;
}
"""

# Executes itself once more, with the same arguments.
AGAIN = r"""
#include <stdlib.h>
#include <unistd.h>
int main(int count, char **words) {
    if (getenv("AGAIN")) return count != 1;
    setenv("AGAIN", "1", 1);
    execv(words[0], words);
    return 1;
}
"""

# Has a child execute its own file, by the kernel's name for it.
SELF = r"""
#include <sys/wait.h>
#include <unistd.h>
int main(int count, char **words) {
    if (count > 1) return 0;
    if (fork() == 0) { execl("/proc/self/exe", words[0], "again", (char *)0); _exit(1); }
    wait(0);
    return 0;
}
"""

DAEMON = r"""
#define _DEFAULT_SOURCE
#include <unistd.h>
int main(void) { if (daemon(1, 0)) return 1; sleep(300); return 0; }
"""

SEGFAULT = "int main(void) { *(volatile int *)8 = 1; return 0; }"

# Adds numbers in a register that only AVX-512 has.
AVX512 = r"""
int main(void) { __asm__ volatile(".byte 0x62, 0xf1, 0x7d, 0x48, 0xfe, 0xc0"); return 0; }
"""

# An instruction of GFNI, in the encoding of AVX: vgf2p8affineqb.
GFNI = r"""
int main(void) { __asm__ volatile(".byte 0xc4, 0xe3, 0xfd, 0xce, 0xf9, 0x00"); return 0; }
"""

# Tries out whether the processor has AVX-512, as some libraries do.
TRIES_AVX512 = r"""
#include <setjmp.h>
#include <signal.h>
static jmp_buf back;
static void caught(int number) { (void)number; longjmp(back, 1); }
int main(void) {
    signal(SIGILL, caught);
    if (!setjmp(back)) __asm__ volatile(".byte 0x62, 0xf1, 0x7d, 0x48, 0xfe, 0xc0");
    return 0;
}
"""

UNDEFINED_INSTRUCTION = 'int main(void) { __asm__ volatile("ud2"); return 0; }'

DEAF = r"""
#include <signal.h>
#include <unistd.h>
int main(void) { signal(SIGTERM, SIG_IGN); for (;;) pause(); }
"""

THREADS = r"""
#include <pthread.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile long sum;
static void *work(void *nothing) {
    for (int i = 0; i < 20000; i++) { pthread_mutex_lock(&lock); sum += i; pthread_mutex_unlock(&lock); }
    return nothing;
}
int main(void) {
    pthread_t threads[4];
    for (int i = 0; i < 4; i++) pthread_create(threads + i, 0, work, 0);
    for (int i = 0; i < 4; i++) pthread_join(threads[i], 0);
    return 0;
}
"""

# Executes itself once more, and then writes a flood and closes all.
UNRULY = r"""
#include <stdlib.h>
#include <unistd.h>
static char block[65536];
int main(int count, char **words) {
    if (!getenv("AGAIN")) {
        setenv("AGAIN", "1", 1);
        execv(words[0], words);
        return 1;
    }
    for (int i = 0; i < 100; i++) if (write(1, block, sizeof block) < 0) return 1;
    for (int i = 0; i < 4096; i++) close(i);
    return count != 1;
}
"""

# Has a child that only forked, leaves a daemon behind, tries out AVX-512, and loops as often as the clock says.
NOTED = r"""
#define _DEFAULT_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
static jmp_buf back;
static volatile unsigned sum;
static void caught(int number) { (void)number; longjmp(back, 1); }
int main(void) {
    if (fork() == 0) _exit(0);
    wait(0);
    if (fork() == 0) {
        if (daemon(1, 0)) return 1;
        sleep(300);
        _exit(0);
    }
    wait(0);
    signal(SIGILL, caught);
    if (!setjmp(back)) __asm__ volatile(".byte 0x62, 0xf1, 0x7d, 0x48, 0xfe, 0xc0");
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    for (long i = 0; i < now.tv_nsec % 100000; i++) sum += i;
    return 0;
}
"""


def compiled(folder: Path, name: str, source: str, *flags: str) -> Path:
    """Build a C program; skips the test without a C compiler."""
    return builds.compiled("cc", folder, name, source, "-O1", "-g", "-pthread", *flags)


def need_callgrind_header() -> None:
    """Skip the test if C programs cannot make requests of Callgrind."""
    if not Path("/usr/include/valgrind/callgrind.h").is_file():
        pytest.skip("not tested without valgrind/callgrind.h")


def need_valgrind() -> str:
    """Return the path of Valgrind; skips the test without it."""
    found = shutil.which("valgrind")
    if found is None:
        pytest.skip("not tested without valgrind")
    return found
