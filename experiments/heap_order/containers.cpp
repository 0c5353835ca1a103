// A benchmark of a container twice, with one in between that leaves the heap fragmented.
//
//     containers --together      all three in one process, as most runners do; prints the times of both, in ns
//     containers                 as a harness: each in a process of its own
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <memory>
#include <random>
#include <unordered_set>
#include <vector>

#include "steelyard.hpp"

namespace {

constexpr int elements = 100000;
constexpr std::size_t blocks_made = 150000, blocks_kept = 30000;

__attribute__((noinline)) std::size_t fill() {
    std::unordered_set<int> filled;
    for (int number = 0; number < elements; ++number) filled.emplace(number);
    return filled.size();
}

// Many small blocks, freed in an order other than that in which they were made; a fifth of them stay.
__attribute__((noinline)) std::size_t churn() {
    static std::vector<std::unique_ptr<char[]>> kept;
    std::vector<std::unique_ptr<char[]>> made(blocks_made);
    for (auto& block : made) block = std::make_unique<char[]>(24);
    std::shuffle(made.begin(), made.end(), std::mt19937(1));
    kept.assign(std::make_move_iterator(made.begin()), std::make_move_iterator(made.begin() + blocks_kept));
    return kept.size();
}

// The processor time of this thread, which does not include waiting for a processor.
long long cpu_ns() {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return time.tv_sec * 1000000000LL + time.tv_nsec;
}

// The median of five samples, after one that is not judged.
template <class Body>
long long median_ns(Body body) {
    std::vector<long long> times;
    for (int sample = 0; sample < 6; ++sample) {
        const long long begun = cpu_ns();
        steelyard::keep(body());
        const long long ended = cpu_ns();
        if (sample > 0) times.push_back(ended - begun);
    }
    std::nth_element(times.begin(), times.begin() + 2, times.end());
    return times[2];
}

}  // namespace

STEELYARD_BENCH(fill_first) { state.run(fill); }
STEELYARD_BENCH(churn_between) { state.run(churn); }
STEELYARD_BENCH(fill_last) { state.run(fill); }

int main(int count, char** words) {
    if (count < 2 || std::strcmp(words[1], "--together") != 0) return steelyard::run_main(count, words);
    const long long first = median_ns(fill);
    steelyard::keep(churn());
    std::printf("%lld %lld\n", first, median_ns(fill));
    return 0;
}
