// Inputs for the suite. Drawn from the seed by hand: the distributions of <random> differ between standard libraries.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

// SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014).
class Random {
public:
    explicit Random(std::uint64_t seed) : state_(seed) {}

    std::uint64_t next() {
        std::uint64_t mixed = state_ += 0x9E3779B97F4A7C15;
        mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9;
        mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EB;
        return mixed ^ (mixed >> 31);
    }
    std::uint64_t below(std::uint64_t limit) { return next() % limit; }

private:
    std::uint64_t state_;
};

inline std::vector<int> numbers(std::size_t count, std::uint64_t seed) {
    Random random(seed);
    std::vector<int> result(count);
    for (int& number : result) number = static_cast<int>(random.below(1000000000));
    return result;
}

inline std::string letters(std::size_t count, std::uint64_t seed) {
    Random random(seed);
    std::string result(count, ' ');
    for (char& letter : result) letter = static_cast<char>('a' + random.below(26));
    return result;
}

// Words of 1 to 12 letters, separated by spaces.
inline std::string words(std::size_t count, std::uint64_t seed) {
    Random random(seed);
    std::string result;
    for (std::size_t word = 0; word < count; ++word)
        result += letters(1 + random.below(12), random.next()) + ' ';
    return result;
}
