// One benchmark a defect that Python hardly can have: what `steelyard check` has to find.
#include <cstdint>

#include "steelyard.hpp"

namespace {

std::uint64_t mixed(std::uint64_t value) {
    for (int turn = 0; turn < 100; ++turn) value = value * 6364136223846793005U + 1442695040888963407U;
    return value;
}

}  // namespace

// Nobody uses what it computes, so the compiler leaves it out.
STEELYARD_BENCH_WITH(removed, steelyard::name("optimised-away")) {
    const std::uint64_t seed = state.seed();
    state.run([&] {
        const std::uint64_t unused = mixed(seed);
        static_cast<void>(unused);
    });
}

// A block of each iteration is lost.
STEELYARD_BENCH_WITH(lost_blocks, steelyard::name("leak")) {
    state.run([&] { return new std::uint64_t(mixed(state.seed())); });
}

// The same, by a name that is a pattern of the other's.
STEELYARD_BENCH_WITH(pattern, steelyard::name("l[e]ak")) {
    state.run([&] { return new std::uint64_t(mixed(state.seed())); });
}

// One multiplication, which the loop's own instructions stand beside.
STEELYARD_BENCH_WITH(short_body, steelyard::name("too-short")) {
    std::uint64_t value = state.seed();
    state.run([&] { value = value * 6364136223846793005U + 1; });
}

STEELYARD_MAIN()
