// Micro-benchmarks of parsing, formatting and hashing. Built with -DPLANTED, one of them, hash_fnv1a,
// is about 2 % slower, and all others are the same, instruction by instruction.
#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "inputs.hpp"
#include "steelyard.hpp"

using steelyard::keep;
using steelyard::tags;

namespace {

#ifdef PLANTED
constexpr std::size_t hashed_bytes = 4178;  // 2 % more: each byte waits for the one before it, so 2 % slower
#else
constexpr std::size_t hashed_bytes = 4096;
#endif

std::uint64_t fnv1a(std::string_view text) {
    std::uint64_t hash = 0xCBF29CE484222325;
    for (char byte : text) hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001B3;
    return hash;
}

std::uint32_t adler32(std::string_view text) {
    std::uint32_t low = 1, high = 0;
    for (char byte : text) {
        low = (low + static_cast<unsigned char>(byte)) % 65521;
        high = (high + low) % 65521;
    }
    return high << 16 | low;
}

std::array<std::uint32_t, 256> crc_table() {
    std::array<std::uint32_t, 256> table{};
    for (std::uint32_t byte = 0; byte < 256; ++byte) {
        std::uint32_t value = byte;
        for (int bit = 0; bit < 8; ++bit) value = (value >> 1) ^ ((value & 1) != 0 ? 0xEDB88320 : 0);
        table[byte] = value;
    }
    return table;
}

std::string joined_numbers(std::size_t count, std::uint64_t seed) {
    std::string text;
    for (int number : numbers(count, seed)) text += std::to_string(number) + ',';
    return text;
}

long sum_of_numbers(std::string_view text) {
    long sum = 0;
    while (!text.empty()) {
        int number = 0;
        const auto end = std::from_chars(text.data(), text.data() + text.size(), number).ptr;
        text.remove_prefix(static_cast<std::size_t>(end - text.data()) + 1);
        sum += number;
    }
    return sum;
}

std::vector<std::string_view> split(std::string_view text) {
    std::vector<std::string_view> parts;
    for (std::size_t end = text.find(' '); end != text.npos; end = text.find(' ')) {
        parts.push_back(text.substr(0, end));
        text.remove_prefix(end + 1);
    }
    return parts;
}

// How deep brackets nest: unpredictable branches, as in a parser.
int deepest(std::string_view text) {
    int depth = 0, most = 0;
    for (char one : text) {
        if (one == '(') most = std::max(most, ++depth);
        else if (one == ')') --depth;
    }
    return most;
}

}  // namespace

STEELYARD_BENCH_WITH(parse_integers, tags({"parsing"})) {
    const auto text = joined_numbers(200, state.seed());
    state.run([&] { return sum_of_numbers(text); });
}

STEELYARD_BENCH_WITH(parse_doubles, tags({"parsing"})) {
    std::vector<std::string> texts;
    for (int number : numbers(100, state.seed())) texts.push_back(std::to_string(number) + ".25e-3");
    state.run([&] {
        double sum = 0;
        for (const auto& text : texts) sum += std::strtod(text.c_str(), nullptr);
        return sum;
    });
}

STEELYARD_BENCH_WITH(split_words, tags({"parsing"})) {
    const auto text = words(200, state.seed());
    state.run([&] { return split(text); });
}

STEELYARD_BENCH_WITH(nesting, tags({"parsing"})) {
    Random random(state.seed());
    std::string text;
    for (int at = 0; at < 2000; ++at) text += "()a"[random.below(3)];
    state.run([&] { return deepest(text); });
}

STEELYARD_BENCH_WITH(find_text, tags({"parsing"})) {
    const auto text = letters(4000, state.seed());
    state.run([&] { return text.find("steelyard"); });
}

STEELYARD_BENCH_WITH(format_integers, tags({"formatting"})) {
    const auto drawn = numbers(200, state.seed());
    std::array<char, 16> buffer{};
    state.run([&] {
        for (int number : drawn) {
            std::to_chars(buffer.data(), buffer.data() + buffer.size(), number);
            keep(buffer);
        }
    });
}

STEELYARD_BENCH_WITH(format_doubles, tags({"formatting"})) {
    const auto drawn = numbers(50, state.seed());
    std::array<char, 32> buffer{};
    state.run([&] {
        for (int number : drawn) {
            std::snprintf(buffer.data(), buffer.size(), "%.6g", number / 1024.0);
            keep(buffer);
        }
    });
}

STEELYARD_BENCH_WITH(join_strings, tags({"formatting"})) {
    const std::vector<std::string> parts(100, letters(12, state.seed()));
    state.run([&] {
        std::string all;
        for (const auto& part : parts) all += part;
        return all;
    });
}

STEELYARD_BENCH_WITH(hash_fnv1a, tags({"hashing"})) {
    const auto text = letters(hashed_bytes, state.seed());
    state.run([&] { return fnv1a(text); });
}

STEELYARD_BENCH_WITH(hash_adler32, tags({"hashing"})) {
    const auto text = letters(1000, state.seed());
    state.run([&] { return adler32(text); });
}

STEELYARD_BENCH_WITH(hash_crc32, tags({"hashing"})) {
    const auto text = letters(1000, state.seed());
    const auto table = crc_table();
    state.run([&] {
        std::uint32_t value = 0xFFFFFFFF;
        for (char byte : text) value = table[(value ^ static_cast<unsigned char>(byte)) & 0xFF] ^ (value >> 8);
        return ~value;
    });
}

STEELYARD_BENCH_WITH(hash_std, tags({"hashing"})) {
    const auto text = letters(1000, state.seed());
    state.run([&] { return std::hash<std::string>()(text); });
}
