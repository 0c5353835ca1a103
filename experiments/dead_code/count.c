// Counts kinds of characters in a generated text, with a small function for each kind, and computes its checksum. The
// time of the counting depends on how the processor predicts the ways into and out of these functions, and so on their
// places; the checksum, whose every step waits for the one before, takes the same time in any place.

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { LENGTH = 1 << 14 };

static unsigned char text[LENGTH];

__attribute__((noinline)) static unsigned is_blank(unsigned c) {
    return c == ' ' || c == '\t';
}

__attribute__((noinline)) static unsigned is_digit(unsigned c) {
    return c - '0' < 10;
}

__attribute__((noinline)) static unsigned is_vowel(unsigned c) {
    switch (c | 0x20) {
    case 'a':
    case 'e':
    case 'i':
    case 'o':
    case 'u':
        return 1;
    default:
        return 0;
    }
}

__attribute__((noinline)) static unsigned weight(unsigned c) {
    if (c < 0x40)
        return is_blank(c) + 2 * is_digit(c);
    return 4 * is_vowel(c);
}

static void fill(void) {
    uint32_t state = 1;
    for (unsigned i = 0; i < LENGTH; i++) {
        state = state * 1664525u + 1013904223u;
        unsigned kind = i % 8;
        text[i] = kind == 7 ? ' ' : kind == 3 ? '0' + (state >> 24) % 10 : "aeioubcd"[kind];
    }
}

__attribute__((noinline)) static uint64_t checksum(uint64_t sum) {
    for (unsigned i = 0; i < LENGTH; i++)
        sum = (sum ^ text[i]) * 0x100000001b3u;
    return sum;
}

int main(int count, char **words) {
    unsigned rounds = count > 1 ? (unsigned)strtoul(words[1], NULL, 10) : 200;
    unsigned long sum = 0;
    uint64_t check = 0;
    fill();
    for (unsigned round = 0; round < rounds; round++) {
        for (unsigned i = 0; i < LENGTH; i++)
            sum += weight(text[i]);
        check = checksum(checksum(check));
    }
    printf("%lu %llx\n", sum, (unsigned long long)check);
    return 0;
}
