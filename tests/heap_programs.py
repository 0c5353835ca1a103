"""Small C and C++ programs whose use of the heap is known."""

from __future__ import annotations

from pathlib import Path

from tests import builds

# Calls each function of the allocator, and some functions of the C library that use it.
EVERY = r"""
#define _GNU_SOURCE
#include <errno.h>
#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static void *volatile kept[16];
int main(void) {
    kept[0] = malloc(100);
    kept[1] = calloc(7, 30);
    kept[2] = realloc(NULL, 10);
    kept[2] = realloc(kept[2], 5000);
    kept[2] = realloc(kept[2], 20);
    kept[3] = reallocarray(kept[0], 50, 40);
    if (posix_memalign((void **)&kept[4], 256, 300) || posix_memalign((void **)&kept[5], 3, 8) != EINVAL) return 1;
    kept[6] = aligned_alloc(64, 640);
    kept[7] = memalign(4096, 10);
    kept[8] = valloc(5000);
    kept[9] = strdup("a text");
    kept[10] = malloc(0);
    kept[11] = malloc(3000000);
    kept[11] = realloc(kept[11], 6000000);
    if (asprintf((char **)&kept[12], "%d and %s", 5, "so on") < 0) return 1;
    errno = 0;
    volatile size_t most = PTRDIFF_MAX;
    if (malloc(most) || errno != ENOMEM || calloc(most, 4) || reallocarray(kept[3], most, 4)) return 2;
    free(NULL);
    for (int i = 1; i < 10; i++) free(kept[i]);
    return puts("done") < 0 || malloc_usable_size(kept[10]) > 64;
}
"""

# One block of 1 MiB, as a program has that works on an array.
LARGE = r"""
#include <stdlib.h>
static void *volatile kept;
int main(void) {
    kept = malloc(1 << 20);
    free(kept);
    return 0;
}
"""

EVERY_NEW = r"""
#include <map>
#include <memory>
#include <string>
#include <vector>
struct alignas(128) Wide { char bytes[200]; };
int main() {
    std::map<std::string, std::vector<int>> words;
    for (int i = 0; i < 3000; i++) words["a word with a number " + std::to_string(i % 100)].push_back(i);
    auto wide = std::make_unique<Wide>();
    int *many = new int[1000];
    delete[] many;
    try { throw words.size(); } catch (size_t size) { return size != 100; }
}
"""

# 5 threads at a time, or as many as the argument says: each allocates 1,000 blocks, of which another one frees half.
THREADS = r"""
#include <pthread.h>
#include <stdlib.h>
enum { BLOCKS = 1000, MOST = 600 };
static void *volatile kept[MOST][BLOCKS];
static pthread_barrier_t all;
static int count = 5;
static void *work(void *argument) {
    long mine = (long)argument;
    for (int i = 0; i < BLOCKS; i++) kept[mine][i] = malloc(i);
    pthread_barrier_wait(&all);
    for (int i = 0; i < BLOCKS; i += 2) free(kept[(mine + 1) % count][i]);
    pthread_barrier_wait(&all);
    return 0;
}
int main(int words, char **word) {
    pthread_t threads[MOST];
    pthread_attr_t small;
    if (words > 1) count = atoi(word[1]);
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 65536);
    pthread_barrier_init(&all, 0, count);
    for (long i = 0; i < count; i++) if (pthread_create(threads + i, &small, work, (void *)i)) return 1;
    for (int i = 0; i < count; i++) pthread_join(threads[i], 0);
    return 0;
}
"""

# 1,000 threads one after the other: more than the library has room for at once.
MANY_THREADS = r"""
#include <pthread.h>
#include <stdlib.h>
static void *volatile kept;
static void *work(void *nothing) { kept = malloc(10); free(kept); return nothing; }
int main(void) {
    for (int i = 0; i < 1000; i++) {
        pthread_t thread;
        if (pthread_create(&thread, 0, work, 0)) return 1;
        pthread_join(thread, 0);
    }
    return 0;
}
"""

# 10 blocks in the parent, 3 in each of 2 children, 2 in a grandchild.
FORKS = r"""
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
static void *volatile kept;
static void take(int count) { while (count--) kept = malloc(1000); }
int main(void) {
    take(10);
    for (int i = 0; i < 2; i++)
        if (fork() == 0) {
            take(3);
            if (i == 1 && fork() == 0) { take(2); free(kept); _exit(0); }
            while (wait(0) > 0) {}
            _exit(0);
        }
    while (wait(0) > 0) {}
    return 0;
}
"""

# Takes 1,234 blocks, and ends as the argument says.
ENDS = r"""
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static void *volatile kept;
int main(int count, char **words) {
    for (int i = 0; i < 1234; i++) kept = malloc(10);
    const char *how = count > 1 ? words[1] : "return";
    if (!strcmp(how, "_exit")) _exit(0);
    if (!strcmp(how, "abort")) abort();
    if (!strcmp(how, "crash")) *(volatile int *)8 = 1;
    if (!strcmp(how, "kill")) raise(SIGKILL);
    return 0;
}
"""

# 1,000 signals whose handler takes and frees a block, and 1,000 blocks taken outside it.
SIGNALS = r"""
#include <signal.h>
#include <stdlib.h>
static void *volatile kept, *volatile mine;
static void caught(int number) { (void)number; mine = malloc(30); free(mine); }
int main(void) {
    signal(SIGUSR1, caught);
    for (int i = 0; i < 1000; i++) { kept = malloc(20); raise(SIGUSR1); free(kept); }
    return 0;
}
"""

# A timer's signals arrive at any moment; only their handler allocates.
TIMER = r"""
#include <signal.h>
#include <stdlib.h>
#include <sys/time.h>
static void *volatile mine;
static volatile int caught_so_far;
static void caught(int number) { (void)number; mine = malloc(30); free(mine); caught_so_far++; }
int main(void) {
    struct itimerval every = {{0, 200}, {0, 200}};
    signal(SIGALRM, caught);
    setitimer(ITIMER_REAL, &every, 0);
    while (caught_so_far < 500) {}
    return 0;
}
"""

LIBRARY = r"""
#include <stdlib.h>
void *take(int count) { void *last = 0; while (count--) last = malloc(77); return last; }
"""

OPENS = r"""
#include <dlfcn.h>
#include <stdio.h>
int main(int count, char **words) {
    void *library = dlopen(words[count - 1], RTLD_NOW);
    if (!library) return 1;
    void *(*take)(int) = (void *(*)(int))dlsym(library, "take");
    if (!take || !take(50)) return 2;
    if (dlsym(library, "nothing_of_this_name") || !dlerror()) return 3;
    return dlclose(library);
}
"""

# 100 blocks of 1000 bytes at a time, three times.
PEAK = r"""
#include <stdlib.h>
static void *volatile kept[100];
int main(void) {
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 100; i++) kept[i] = malloc(1000);
        for (int i = 0; i < 100; i++) free(kept[i]);
    }
    return 0;
}
"""

# Prints the addresses of its first blocks.
SHOWS = r"""
#include <stdio.h>
#include <stdlib.h>
int main(void) {
    void *blocks[8];
    for (int i = 0; i < 8; i++) blocks[i] = malloc(24 << i);
    for (int i = 0; i < 8; i++) printf("%p\n", blocks[i]);
    return 0;
}
"""

# A malloc of its own, in the program: it takes precedence over what is preloaded.
OWN = r"""
#include <stddef.h>
static char memory[1 << 20];
static size_t used;
void *malloc(size_t size) { void *block = memory + used; used += (size + 31) & ~15ul; return block; }
void free(void *block) { (void)block; }
int main(void) { for (int i = 0; i < 100; i++) if (!malloc(100)) return 1; return 0; }
"""

# An allocator for a library, which keeps the sizes of blocks elsewhere than glibc does.
OTHER = r"""
#include <stddef.h>
#include <string.h>
static char memory[1 << 22] __attribute__((aligned(16)));
static size_t used;
void *malloc(size_t size) {
    size_t place = used;
    used += 16 + ((size + 15) & ~15ul);
    *(size_t *)(memory + place) = size;
    *(size_t *)(memory + place + 8) = (size_t)-1;
    return memory + place + 16;
}
void free(void *block) { (void)block; }
void *calloc(size_t count, size_t size) { return malloc(count * size); }
size_t malloc_usable_size(void *block) { return block ? *(size_t *)((char *)block - 16) : 0; }
void *realloc(void *block, size_t size) {
    void *other = malloc(size);
    if (block) memcpy(other, block, malloc_usable_size(block) < size ? malloc_usable_size(block) : size);
    return other;
}
"""


NO_SHARED_MAPS = r"""
#define _GNU_SOURCE
#include <errno.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
/* As on a disk whose files cannot be mapped. */
void *mmap(void *place, size_t length, int protection, int flags, int file, off_t offset) {
    if (flags & MAP_SHARED) {
        errno = ENODEV;
        return MAP_FAILED;
    }
    return (void *)syscall(SYS_mmap, place, length, protection, flags, file, offset);
}
"""


def compiled_cpp(folder: Path, name: str, source: str, *flags: str) -> Path:
    """Build a C++ program; skips the test without a C++ compiler."""
    return builds.compiled("c++", folder, name, source, "-O1", "-g", "-std=c++17", *flags)
