// Benchmarks for Catch2 2 and 3. A program of the name "slower" takes ten times as long for "sums / a thousand".
#if __has_include(<catch_amalgamated.hpp>)
#include <catch_amalgamated.hpp>
#elif __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
#else
#define CATCH_CONFIG_MAIN
#define CATCH_CONFIG_ENABLE_BENCHMARKING
#include <catch2/catch.hpp>
#endif

#include <errno.h>

#include <cstdio>
#include <cstring>
#include <stdexcept>

static unsigned sum(unsigned count) {
    volatile unsigned total = 0;
    for (unsigned i = 0; i < count; ++i) total = total + i;
    return total;
}

TEST_CASE("sums", "[!benchmark][fast]") {
    const unsigned factor = std::strcmp(program_invocation_short_name, "slower") == 0 ? 10 : 1;
    BENCHMARK("a thousand") { return sum(1000 * factor); };
    BENCHMARK("<ten> & \"more\" größe/日本") { return sum(10); };
    std::puts("<what a program prints is no result>");
}

TEST_CASE("Sums, and [more] \"y\" (z) *w\\v größe - ~ / {a}", "[!benchmark][fast]") {
    BENCHMARK("one") { return sum(100); };
}

TEST_CASE("-starts oddly", "[!benchmark][fast]") {
    SECTION("first") {
        BENCHMARK("one") { return sum(100); };
    }
    SECTION("second") {
        BENCHMARK("one") { return sum(100); };
    }
}

TEST_CASE("fails later", "[!benchmark][later]") {
    int calls = 0;
    BENCHMARK("x") {
        if (++calls > 50) throw std::runtime_error("too many calls");
        return sum(30000);
    };
}

TEST_CASE("fails", "[.fails]") {
    BENCHMARK("x") { return sum(10); };
    REQUIRE(sum(3) == 4);
}

TEST_CASE("upper", "[.cases]") {
    BENCHMARK("x") { return sum(10); };
}

TEST_CASE("UPPER", "[.cases]") {
    BENCHMARK("y") { return sum(10); };
}

TEST_CASE("twice", "[.twice]") {
    for (int i = 0; i < 2; ++i) {
        BENCHMARK("x") { return sum(10); };
    }
}

TEST_CASE("plain") { REQUIRE(sum(3) == 3); }
