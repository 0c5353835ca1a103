// Micro-benchmarks of containers and sorting; text.cpp has those of parsing, formatting and hashing.
//
//     g++ -std=c++17 -O2 -I ../../sdk/cpp *.cpp -o suite
//     g++ -std=c++17 -O2 -I ../../sdk/cpp *.cpp -DPLANTED -o suite-planted
//     steelyard compare --harness protocol ./suite ./suite-planted
#include <algorithm>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <numeric>
#include <queue>
#include <set>
#include <unordered_map>
#include <vector>

#include "inputs.hpp"
#include "steelyard.hpp"

using steelyard::keep;
using steelyard::param;
using steelyard::tags;

namespace {

std::size_t size_of(const steelyard::State& state) { return static_cast<std::size_t>(state.number("n")); }

template <class Map>
Map filled(const std::vector<int>& keys) {
    Map map;
    for (int key : keys) map.emplace(key, key);
    return map;
}

template <class Map>
long found(const Map& map, const std::vector<int>& keys) {
    long sum = 0;
    for (int key : keys) sum += map.find(key)->second;
    return sum;
}

}  // namespace

STEELYARD_BENCH_WITH(vector_push_back, param("n", {100, 10000}), tags({"containers"})) {
    const auto count = static_cast<int>(state.number("n"));
    state.run([&] {
        std::vector<int> all;
        for (int number = 0; number < count; ++number) all.push_back(number);
        keep(all);
    });
}

STEELYARD_BENCH_WITH(vector_insert_front, tags({"containers"})) {
    state.run([&] {
        std::vector<int> all;
        for (int number = 0; number < 300; ++number) all.insert(all.begin(), number);
        keep(all);
    });
}

STEELYARD_BENCH_WITH(deque_as_queue, tags({"containers"})) {
    std::deque<int> queue(500);
    state.run([&] {
        for (int number = 0; number < 1000; ++number) {
            queue.push_back(number);
            queue.pop_front();
        }
    });
}

STEELYARD_BENCH_WITH(list_walk, tags({"containers"})) {
    const auto drawn = numbers(1000, state.seed());
    const std::list<int> list(drawn.begin(), drawn.end());
    state.run([&] { return std::accumulate(list.begin(), list.end(), 0L); });
}

STEELYARD_BENCH_WITH(map_insert, tags({"containers"})) {
    const auto keys = numbers(500, state.seed());
    state.run([&] { return filled<std::map<int, int>>(keys); });
}

STEELYARD_BENCH_WITH(map_find, param("n", {100, 1000}), tags({"containers"})) {
    const auto keys = numbers(size_of(state), state.seed());
    const auto map = filled<std::map<int, int>>(keys);
    state.run([&] { return found(map, keys); });
}

STEELYARD_BENCH_WITH(unordered_map_insert, tags({"containers"})) {
    const auto keys = numbers(500, state.seed());
    state.run([&] { return filled<std::unordered_map<int, int>>(keys); });
}

STEELYARD_BENCH_WITH(unordered_map_find, param("n", {100, 1000}), tags({"containers"})) {
    const auto keys = numbers(size_of(state), state.seed());
    const auto map = filled<std::unordered_map<int, int>>(keys);
    state.run([&] { return found(map, keys); });
}

STEELYARD_BENCH_WITH(set_erase_insert, tags({"containers"})) {
    const auto keys = numbers(500, state.seed());
    std::set<int> set(keys.begin(), keys.end());
    state.run([&] {
        for (int key : keys) {
            set.erase(key);
            set.insert(key);
        }
    });
}

STEELYARD_BENCH_WITH(priority_queue, tags({"containers"})) {
    const auto drawn = numbers(500, state.seed());
    state.run([&] {
        std::priority_queue<int> queue;
        for (int number : drawn) queue.push(number);
        while (!queue.empty()) queue.pop();
        keep(queue);
    });
}

STEELYARD_BENCH_WITH(vector_of_bool_count, tags({"containers"})) {
    const auto drawn = numbers(4096, state.seed());
    std::vector<bool> bits;
    for (int number : drawn) bits.push_back(number % 2 == 0);
    state.run([&] { return std::count(bits.begin(), bits.end(), true); });
}

// A sort uses up its input: each iteration gets one of its own, drawn before the clock starts.
STEELYARD_BENCH_WITH(sort_std, param("n", {100, 1000}), tags({"sorting"})) {
    Random seeds(state.seed());
    state.run_each([&] { return numbers(size_of(state), seeds.next()); },
                   [](std::vector<int>& input) { std::sort(input.begin(), input.end()); });
}

STEELYARD_BENCH_WITH(sort_stable, tags({"sorting"})) {
    Random seeds(state.seed());
    state.run_each([&] { return numbers(1000, seeds.next()); },
                   [](std::vector<int>& input) { std::stable_sort(input.begin(), input.end()); });
}

STEELYARD_BENCH_WITH(sort_heap, tags({"sorting"})) {
    Random seeds(state.seed());
    state.run_each([&] { return numbers(1000, seeds.next()); }, [](std::vector<int>& input) {
        std::make_heap(input.begin(), input.end());
        std::sort_heap(input.begin(), input.end());
    });
}

// The copy is timed, too: it takes little beside the sort, and leaves the input as it was.
STEELYARD_BENCH_WITH(sort_copy, tags({"sorting"})) {
    const auto drawn = numbers(300, state.seed());
    state.run([&] {
        auto copy = drawn;
        std::sort(copy.begin(), copy.end(), std::greater<>());
        keep(copy);
    });
}

STEELYARD_BENCH_WITH(nth_element, tags({"sorting"})) {
    Random seeds(state.seed());
    state.run_each([&] { return numbers(1000, seeds.next()); }, [](std::vector<int>& input) {
        std::nth_element(input.begin(), input.begin() + 500, input.end());
    });
}

STEELYARD_BENCH_WITH(binary_search, tags({"sorting"})) {
    const auto wanted = numbers(100, state.seed());
    auto sorted = numbers(10000, state.seed() + 1);
    std::sort(sorted.begin(), sorted.end());
    state.run([&] {
        long sum = 0;
        for (int number : wanted) sum += std::lower_bound(sorted.begin(), sorted.end(), number) - sorted.begin();
        return sum;
    });
}

STEELYARD_MAIN()
