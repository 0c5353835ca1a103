/* A harness of the protocol (docs/protocol.md) with -DBENCHMARKS benchmarks whose iterations each take 1 ms. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static long now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000L + time.tv_nsec;
}

static void iterate(long loops) {
    long end = now() + loops * 1000000;
    while (now() < end) {
    }
}

static const char *word(int count, char **words, const char *key) {
    for (int place = 1; place < count; place++)
        if (strncmp(words[place], key, strlen(key)) == 0) return words[place] + strlen(key);
    return NULL;
}

int main(int count, char **words) {
    FILE *out = fdopen(atoi(word(count, words, "--steelyard-fd=")), "w");
    fprintf(out, "{\"steelyard\": 1}\n");
    if (word(count, words, "--steelyard-list"))
        for (int number = 0; number < BENCHMARKS; number++) fprintf(out, "{\"benchmark\": \"b%d\"}\n", number);
    else
        for (long samples = atol(word(count, words, "--steelyard-samples=")); samples > 0; samples--) {
            long begun = now();
            iterate(atol(word(count, words, "--steelyard-loops=")));
            fprintf(out, "{\"ns\": %ld}\n", now() - begun);
        }
    fprintf(out, "{\"end\": true}\n");
    return fclose(out);
}
