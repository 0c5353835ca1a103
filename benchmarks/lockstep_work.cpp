// What benchmarks/lockstep.py weighs: three kinds of work, of which PERCENT says how much.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "steelyard.hpp"

namespace {

std::uint32_t next(std::uint32_t number) { return number * 1664525U + 1013904223U; }

}  // namespace

STEELYARD_BENCH(loop) {
    const unsigned rounds = 1000U * PERCENT;
    state.run([&] {
        std::uint32_t number = 1;
        for (unsigned round = 0; round < rounds; ++round) {
            number = next(number);
            steelyard::keep(number);
        }
    });
}

STEELYARD_BENCH(memory) {
    std::vector<std::uint32_t> numbers(1U << 20, 1U);  // 4 MiB, walked by cache lines and more than once
    const std::size_t lines = 800U * PERCENT;
    state.run([&] {
        std::uint32_t sum = 0;
        for (std::size_t line = 0; line < lines; ++line) sum += numbers[line * 16 % numbers.size()];
        return sum;
    });
}

STEELYARD_BENCH(sort) {
    std::vector<std::uint32_t> numbers(160);
    auto number = static_cast<std::uint32_t>(state.seed());
    for (auto& one : numbers) one = number = next(number);
    const unsigned times = 2U * PERCENT;
    state.run([&] {
        for (unsigned time = 0; time < times; ++time) {
            auto copy = numbers;
            std::sort(copy.begin(), copy.end());
            steelyard::keep(copy);
        }
    });
}

STEELYARD_MAIN()
