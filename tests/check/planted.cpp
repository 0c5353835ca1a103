// A benchmark for each defect that Python can hardly have, which `steelyard check` has to find.
#include <cstdint>

#include "steelyard.hpp"

namespace {

std::uint64_t mixed(std::uint64_t value) {
    for (int turn = 0; turn < 100; ++turn) value = value * 6364136223846793005U + 1442695040888963407U;
    return value;
}

}  // namespace

// Nothing uses its result, so the compiler removes it.
STEELYARD_BENCH_WITH(removed, steelyard::name("optimised-away")) {
    const std::uint64_t seed = state.seed();
    state.run([&] {
        const std::uint64_t unused = mixed(seed);
        static_cast<void>(unused);
    });
}

// Each iteration leaks a block.
STEELYARD_BENCH_WITH(lost_blocks, steelyard::name("leak")) {
    state.run([&] { return new std::uint64_t(mixed(state.seed())); });
}

// The same; its name is a pattern that selects the other one.
STEELYARD_BENCH_WITH(pattern, steelyard::name("l[e]ak")) {
    state.run([&] { return new std::uint64_t(mixed(state.seed())); });
}

// One multiplication, beside which the loop's own instructions count.
STEELYARD_BENCH_WITH(short_body, steelyard::name("too-short")) {
    std::uint64_t value = state.seed();
    state.run([&] { value = value * 6364136223846793005U + 1; });
}

STEELYARD_MAIN()
