/* Benchmarks in C; steelyard.cpp in this folder holds the implementation of the macros.
 *
 *     gcc -std=c11 -O2 -I ../../../sdk/cpp -c bench.c
 *     g++ -std=c++17 -O2 -I ../../../sdk/cpp steelyard.cpp bench.o -o bench */
#include <stdlib.h>

#include "steelyard.h"

static void draw(int *numbers, size_t count, uint64_t seed) {
    for (size_t at = 0; at < count; at++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        numbers[at] = (int)(seed >> 40);
    }
}

static int by_size(const void *left, const void *right) {
    const int a = *(const int *)left, b = *(const int *)right;
    return (a > b) - (a < b);
}

STEELYARD_BENCH(sum) {
    int numbers[1000];
    draw(numbers, 1000, steelyard_seed(state));
    STEELYARD_RUN(state) {
        long sum = 0;
        for (size_t at = 0; at < 1000; at++) sum += numbers[at];
        STEELYARD_KEEP(sum);
    }
}

/* A sort uses up its input, so each iteration draws its own, and the drawing is timed, too. */
STEELYARD_BENCH_PARAM(draw_and_sort, "n", 10, 1000) {
    const size_t count = (size_t)steelyard_number(state, "n");
    int *numbers = malloc(count * sizeof *numbers);
    uint64_t seed = steelyard_seed(state);
    if (numbers == NULL) steelyard_fail(state, "no memory");
    STEELYARD_RUN(state) {
        draw(numbers, count, seed++);
        qsort(numbers, count, sizeof *numbers, by_size);
    }
    free(numbers);
}

STEELYARD_MAIN()
