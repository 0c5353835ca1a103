/* A small real program for `make demo`: it makes up numbers and counts them in a hash table.
 *
 *     cc -O2 -DROUNDS=2800 -o work work.c
 *
 * 2,800 rounds take about 12 ms; a version with 2,828 is 1 % slower. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#ifndef ROUNDS
#define ROUNDS 2800
#endif

enum { SLOTS = 1 << 15, A_ROUND = 1000 };

struct slot {
    uint32_t number;
    uint32_t count;
};

static struct slot table[SLOTS]; /* 256 KiB */
static uint64_t state = 88172645463325252u;

static uint64_t next_random(void) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

static void count(uint32_t number) {
    uint32_t place = number * 2654435761u % SLOTS;
    while (table[place].count && table[place].number != number) place = (place + 1) % SLOTS;
    table[place].number = number;
    table[place].count++;
}

int main(void) {
    for (long round = 0; round < ROUNDS; round++) {
        uint32_t *numbers = malloc(A_ROUND * sizeof *numbers);
        if (!numbers) return 1;
        for (int i = 0; i < A_ROUND; i++) numbers[i] = (uint32_t)(next_random() % 20000);
        for (int i = 0; i < A_ROUND; i++) count(numbers[i]);
        free(numbers);
    }
    uint32_t most = 0;
    for (int i = 0; i < SLOTS; i++)
        if (table[i].count > most) most = table[i].count;
    printf("%u\n", most);
    return 0;
}
