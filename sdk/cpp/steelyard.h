/* Benchmarks in C (C11) that Steelyard can weigh.
 *
 *     #include "steelyard.h"
 *
 *     STEELYARD_BENCH(sum_of_squares) {
 *         int numbers[1000];
 *         draw(numbers, 1000, steelyard_seed(state));                             // set up: not timed
 *         STEELYARD_RUN(state) { STEELYARD_KEEP(sum_of_squares(numbers, 1000)); } // timed
 *     }
 *     STEELYARD_MAIN()
 *
 * The implementation is in C++: one file of the program is C++ and has
 *
 *     #define STEELYARD_IMPLEMENTATION
 *     #include "steelyard.hpp"
 *
 * and the program is linked by the C++ compiler. The guide is docs/cpp.md.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef STEELYARD_H
#define STEELYARD_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct steelyard_state steelyard_state;

/* The seed for random inputs: both launches of a pair get the same. */
uint64_t steelyard_seed(const steelyard_state *state);
/* The benchmark's parameter. */
long long steelyard_number(const steelyard_state *state, const char *param);
/* Reports what went wrong, and ends the program with exit status 1. */
__attribute__((noreturn)) void steelyard_fail(const steelyard_state *state, const char *message);
/* Called by programs that have their own `main`. Returns the exit status. */
int steelyard_main(int count, char **arguments);

/* For the macros below. */
int steelyard_whole_main(int count, char **arguments);
void steelyard_add(const char *name, void (*function)(steelyard_state *), const char *param, const long long *values,
                   size_t count, const char *source);
int steelyard_more(steelyard_state *state);
uint64_t steelyard_begin(steelyard_state *state);
void steelyard_end(steelyard_state *state);

#ifdef __cplusplus
}
#else

#define STEELYARD_TEXT_(line) #line
#define STEELYARD_SOURCE_(line) __FILE__ ":" STEELYARD_TEXT_(line)

#define STEELYARD_DECLARE_(identifier, name, param, values, count)                                          \
    static void steelyard_bench_##identifier(steelyard_state *state);                                       \
    __attribute__((constructor)) static void steelyard_add_##identifier(void) {                             \
        steelyard_add(name, steelyard_bench_##identifier, param, values, count, STEELYARD_SOURCE_(__LINE__)); \
    }                                                                                                       \
    static void steelyard_bench_##identifier(__attribute__((unused)) steelyard_state *state)

/* Declares a benchmark; the block that follows sets up, has one STEELYARD_RUN, and tears down. */
#define STEELYARD_BENCH(identifier) STEELYARD_DECLARE_(identifier, #identifier, NULL, NULL, 0)

/* Declares a benchmark under a name other than the identifier. */
#define STEELYARD_BENCH_NAMED(identifier, name) STEELYARD_DECLARE_(identifier, name, NULL, NULL, 0)

/* Declares a benchmark for each value: STEELYARD_BENCH_PARAM(sort, "n", 10, 1000) is sort/n=10 and sort/n=1000. */
#define STEELYARD_BENCH_PARAM(identifier, param, ...)                                \
    static const long long steelyard_values_##identifier[] = {__VA_ARGS__};          \
    STEELYARD_DECLARE_(identifier, #identifier, param, steelyard_values_##identifier, \
                       sizeof steelyard_values_##identifier / sizeof(long long))

/* The loop must cost the same instructions per iteration however short the body is: from GCC 13 on -O2 unrolls short
 * loops. */
#if defined(__clang__)
#define STEELYARD_NOT_UNROLLED_ _Pragma("clang loop unroll(disable)")
#elif __GNUC__ >= 8
#define STEELYARD_NOT_UNROLLED_ _Pragma("GCC unroll 1")
#else
#define STEELYARD_NOT_UNROLLED_
#endif

/* The loop over samples, and within it the loop over timed iterations: what prepares a sample goes between the two, and
 * is not timed. Neither block may be left by break, return or goto. The inner loop has only one condition: with more,
 * GCC 12 ignores that it must not be unrolled. */
#define STEELYARD_SAMPLES(state) while (steelyard_more(state))
#define STEELYARD_LOOP(state)                                                             \
    for (uint64_t steelyard_left = steelyard_begin(state), steelyard_runs = 1; steelyard_runs; \
         steelyard_runs = 0, steelyard_left == 0 ? steelyard_end(state) : (void)0)         \
    STEELYARD_NOT_UNROLLED_                                                               \
    for (; steelyard_left != 0; steelyard_left = steelyard_step(steelyard_left))
#define STEELYARD_RUN(state) STEELYARD_SAMPLES(state) STEELYARD_LOOP(state)

/* Forces the value to be computed even if nothing else uses it; STEELYARD_CLOBBER() forces writes to reach memory. */
#define STEELYARD_KEEP(value) __asm__ volatile("" : : "g"(value) : "memory")
#define STEELYARD_CLOBBER() __asm__ volatile("" : : : "memory")

/* Counts down by one iteration. The assembly is empty, but keeps the compiler from dropping or merging iterations. */
static inline uint64_t steelyard_step(uint64_t left) {
    __asm__ volatile("" : : "r"(left) : "memory");
    return left - 1;
}

#define STEELYARD_MAIN() \
    int main(int count, char **arguments) { return steelyard_whole_main(count, arguments); }

#endif
#endif
