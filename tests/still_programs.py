"""Small C programs for tests of the still clock."""

from __future__ import annotations

_HEAD = r"""
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
static double at(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return time.tv_sec + time.tv_nsec / 1e9;
}
static double now(void) { return at(CLOCK_MONOTONIC); }
/* As a program that the library does not reach. */
static double elapsed(void) {
    struct timespec time;
    syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &time);
    return time.tv_sec + time.tv_nsec / 1e9;
}
static double waited(void) {
    double ran, waits = 0;
    FILE *file = fopen("/proc/thread-self/schedstat", "r");
    if (file == NULL || fscanf(file, "%lf %lf", &ran, &waits) != 2) exit(77);
    fclose(file);
    return waits / 1e9;
}
/* Until it has been on a processor for so long. */
static void work(double seconds) {
    double end = at(CLOCK_THREAD_CPUTIME_ID) + seconds;
    while (at(CLOCK_THREAD_CPUTIME_ID) < end) {}
}
static struct timespec later(double seconds) {
    double then = now() + seconds;
    struct timespec time = {(time_t)then, (long)((then - (time_t)then) * 1e9)};
    return time;
}
"""

# Prints the time that elapsed by its clock, by the kernel's clock, and how long it waited according to the kernel.
WORKS = (
    _HEAD
    + r"""
int main(int count, char **words) {
    double still = now(), real = elapsed(), waits = waited(), last = still;
    for (int part = 0; part < 200; part++) {
        work(atof(words[1]) / 200);
        if (now() < last) return 1;
        last = now();
    }
    printf("%.6f %.6f %.6f\n", now() - still, elapsed() - real, waited() - waits);
    return count != 2;
}
"""
)

# A child's clock goes on from its parent's, and the child counts as a process of its own, however it ends.
FORKS = (
    _HEAD
    + r"""
int main(void) {
    now();
    work(0.05);
    double before = now();
    if (fork() == 0) {
        if (now() < before) _exit(1);
        work(0.05);
        if (now() - before < 0.05) _exit(2);
        kill(getpid(), SIGKILL);
    }
    int status;
    wait(&status);
    return !(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL && now() > before);
}
"""
)

# The clocks of two threads can be compared: neither is behind the other.
THREADS = (
    _HEAD
    + r"""
static double theirs;
static void *other(void *nothing) {
    theirs = now();
    return nothing;
}
int main(void) {
    pthread_t thread;
    now();
    work(0.05);
    double before = now();
    pthread_create(&thread, NULL, other, NULL);
    pthread_join(thread, NULL);
    return !(before <= theirs && theirs <= now());
}
"""
)

# Waits for deadlines computed from its clock: no wait ends early, or later than a busy machine explains.
DEADLINES = (
    _HEAD
    + r"""
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int slept(double start) { return now() - start >= 0.0199 && now() - start < 5; }
int main(void) {
    now();
    work(0.1);
    double start = now();
    struct timespec time = later(0.02);
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL);
    if (!slept(start)) return 1;
    pthread_condattr_t attributes;
    pthread_cond_t condition;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&condition, &attributes);
    pthread_mutex_lock(&mutex);
    start = now();
    time = later(0.02);
    while (pthread_cond_timedwait(&condition, &mutex, &time) == 0) {}
    if (!slept(start)) return 2;
    start = now();
    struct itimerspec times = {{0, 0}, later(0.02)};
    int timer = timerfd_create(CLOCK_MONOTONIC, 0);
    unsigned long expired;
    timerfd_settime(timer, TFD_TIMER_ABSTIME, &times, NULL);
    if (read(timer, &expired, 8) != 8 || !slept(start)) return 3;
    pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
    pthread_rwlock_rdlock(&lock);
    start = now();
    time = later(0.02);
    if (pthread_rwlock_clockwrlock(&lock, CLOCK_MONOTONIC, &time) == 0 || !slept(start)) return 4;
    return 0;
}
"""
)

# Closes every descriptor that it did not open, and uses their numbers itself.
CLOSES = (
    _HEAD
    + r"""
int main(void) {
    now();
    for (int file = 3; file < 1024; file++) close(file);
    for (int file = 3; file < 300; file++) if (dup2(1, file) != file) return 1;
    double before = now();
    work(0.05);
    double after = now();
    if (after - before < 0.045) return 2;
    for (int file = 3; file < 300; file++) if (write(file, "", 0) != 0) return 3;
    return 0;
}
"""
)

# Reads the clock in a signal handler that interrupts a reading of it.
SIGNALS = (
    _HEAD
    + r"""
static volatile double last;
static void ask(int number) { last = now(); (void)number; }
int main(void) {
    struct itimerval often = {{0, 200}, {0, 200}};
    signal(SIGALRM, ask);
    setitimer(ITIMER_REAL, &often, NULL);
    double end = at(CLOCK_PROCESS_CPUTIME_ID) + 0.3, before = now();
    while (at(CLOCK_PROCESS_CPUTIME_ID) < end) {
        double time = now();
        if (time < before) return 1;
        before = time;
    }
    return last == 0;
}
"""
)

SILENT = "int main(void) { return 0; }"
