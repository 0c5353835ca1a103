// Adds up in a number on its stack that is not aligned, like one in a packed header. The stack begins below the
// environment and the arguments, at a multiple of 16 bytes. If the number then lies across the end of a cache line, or
// of a page, each addition takes longer.

#include <stdint.h>
#include <stdlib.h>

typedef uint64_t __attribute__((aligned(1))) unaligned;

int main(int count, char **words) {
    unsigned rounds = count > 1 ? (unsigned)atoi(words[1]) : 1000000;
    _Alignas(16) unsigned char header[32] = {0};
    volatile unaligned *sum = (volatile unaligned *)(header + 12);
    for (unsigned round = 0; round < rounds; round++)
        *sum += round;
    return *sum == 1;
}
