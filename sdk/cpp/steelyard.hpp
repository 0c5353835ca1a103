// Benchmarks in C++ that Steelyard can weigh. One header, C++17, nothing but the standard library and POSIX.
//
//     #include "steelyard.hpp"
//
//     STEELYARD_BENCH(sum_of_squares) {
//         const auto numbers = drawn(1000, state.seed());            // set up: not timed
//         state.run([&] { return sum_of_squares(numbers); });        // timed; what it returns is kept
//     }
//     STEELYARD_MAIN()
//
// The guide is docs/cpp.md; docs/protocol.md describes the protocol on the descriptor. C programs include steelyard.h.
// SPDX-License-Identifier: Apache-2.0
#ifndef STEELYARD_HPP
#define STEELYARD_HPP

#if !defined(__GNUC__)
#error "steelyard.hpp needs the inline assembly of GCC or Clang, to keep the optimiser from the measured code"
#endif

#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

// Built without Valgrind's header, a program can be timed, but not counted.
#if !defined(STEELYARD_NO_VALGRIND) && __has_include(<valgrind/callgrind.h>)
#include <valgrind/callgrind.h>
#define STEELYARD_BEGIN_COUNTING_ CALLGRIND_START_INSTRUMENTATION
#define STEELYARD_END_COUNTING_ CALLGRIND_STOP_INSTRUMENTATION
#else
#define STEELYARD_BEGIN_COUNTING_ static_cast<void>(0)
#define STEELYARD_END_COUNTING_ static_cast<void>(0)
#endif

// The kind of registers in which floating-point numbers are computed, so that they can stay there.
#if defined(__SSE2__)
#define STEELYARD_FLOAT_REGISTER_ "x"
#elif defined(__aarch64__)
#define STEELYARD_FLOAT_REGISTER_ "w"
#endif

// The loop must cost the same instructions per iteration however short the body is: from GCC 13 on -O2 unrolls short
// loops.
#if defined(__clang__)
#define STEELYARD_NOT_UNROLLED_ _Pragma("clang loop unroll(disable)")
#elif __GNUC__ >= 8
#define STEELYARD_NOT_UNROLLED_ _Pragma("GCC unroll 1")
#else
#define STEELYARD_NOT_UNROLLED_
#endif

namespace steelyard {

inline constexpr const char* version = "0.1.0";

// Forces the value to be computed even if nothing else uses it. For a variable that is not const the compiler must also
// assume that it changed, so that nothing that follows can be computed beforehand.
template <class T>
__attribute__((always_inline)) inline void keep(T&& value) {
    using Value = std::remove_reference_t<T>;
    constexpr bool fits = std::is_scalar_v<Value> && sizeof(Value) <= sizeof(void*);
    constexpr bool changes = std::is_lvalue_reference_v<T> && !std::is_const_v<Value>;
    if constexpr (fits && !std::is_floating_point_v<Value>) {
        if constexpr (changes) asm volatile("" : "+r"(value) : : "memory");
        else asm volatile("" : : "r"(value) : "memory");
#ifdef STEELYARD_FLOAT_REGISTER_
    } else if constexpr (fits) {
        if constexpr (changes) asm volatile("" : "+" STEELYARD_FLOAT_REGISTER_(value) : : "memory");
        else asm volatile("" : : STEELYARD_FLOAT_REGISTER_(value) : "memory");
#endif
    } else {
        asm volatile("" : : "r"(std::addressof(value)) : "memory");
    }
}

// Forces all writes to reach memory, as if somebody read it now.
__attribute__((always_inline)) inline void clobber() { asm volatile("" : : : "memory"); }

class State;

namespace detail {

// A count in the type that containers use, which differs on some systems.
template <class Count>
constexpr std::size_t size_of(Count count) {
    return static_cast<std::size_t>(count);
}

inline constexpr std::uint64_t most_loops = std::uint64_t{1} << 53;  // what a JSON number holds exactly
inline constexpr std::uint64_t most_samples = 10000;
inline constexpr std::size_t longest_name = 500;
inline constexpr std::uint64_t a_look_ns = 10000000;

// --- The timed loop ------------------------------------------------------------------------------------------------

template <class Body, class... Input>
__attribute__((always_inline)) inline void once(Body& body, Input&... input) {
    if constexpr (std::is_void_v<decltype(body(input...))>) body(input...);
    else keep(body(input...));
    // As far as the compiler knows, everything that the body captured may be changed here through the address: it can
    // neither compute an iteration beforehand nor drop the loop. This costs no instruction.
    asm volatile("" : : "r"(std::addressof(body)) : "memory");
}

// A function of its own, at the start of a cache line: the position of a short loop can change its time, and would
// otherwise depend on the code before it.
template <class Body>
__attribute__((noinline, aligned(64))) void iterate(Body& body, std::uint64_t loops) {
    STEELYARD_NOT_UNROLLED_
    for (; loops != 0; --loops) once(body);
}

template <class Body, class Input>
__attribute__((noinline, aligned(64))) void iterate_over(Body& body, Input* input, Input* end) {
    STEELYARD_NOT_UNROLLED_
    for (; input != end; ++input) once(body, input->value);
}

// --- Text ----------------------------------------------------------------------------------------------------------

// The length of the UTF-8 character that the text begins with; 0 if there is none.
inline std::size_t character(std::string_view text) {
    const auto byte = [&](std::size_t at) { return at < text.size() ? static_cast<unsigned char>(text[at]) : 0U; };
    const unsigned lead = byte(0);
    if (lead < 0x80) return text.empty() ? 0 : 1;
    const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
    if (lead < 0xC2 || lead > 0xF4) return 0;
    for (std::size_t at = 1; at < length; ++at)
        if ((byte(at) & 0xC0U) != 0x80) return 0;
    const bool overlong = (lead == 0xE0 && byte(1) < 0xA0) || (lead == 0xF0 && byte(1) < 0x90);
    const bool surrogate = lead == 0xED && byte(1) > 0x9F;
    const bool too_high = lead == 0xF4 && byte(1) > 0x8F;
    return overlong || surrogate || too_high ? 0 : length;
}

// A JSON string. Bytes that are not UTF-8 become U+FFFD.
inline std::string quoted(std::string_view text) {
    std::string result = "\"";
    while (!text.empty()) {
        const std::size_t length = character(text);
        const auto first = static_cast<unsigned char>(text[0]);
        if (length == 0) {
            result += "\\ufffd";
        } else if (first < 0x20) {
            char escaped[8];
            std::snprintf(escaped, sizeof escaped, "\\u%04x", static_cast<unsigned>(first));
            result += escaped;
        } else {
            if (first == '"' || first == '\\') result += '\\';
            result += text.substr(0, length);
        }
        text.remove_prefix(std::max<std::size_t>(length, 1));
    }
    return result + '"';
}

// What is wrong with a benchmark's name, or nothing.
inline std::string fault_of_name(std::string_view name) {
    if (name.empty()) return "is empty";
    if (name.size() > longest_name) return "is longer than " + std::to_string(longest_name) + " bytes";
    while (!name.empty()) {
        const std::size_t length = character(name);
        if (length == 0) return "is not UTF-8";
        const auto first = static_cast<unsigned char>(name[0]);
        const bool second_set = first == 0xC2 && static_cast<unsigned char>(name[1]) < 0xA0;
        if (first < 0x20 || first == 0x7F || second_set) return "holds a control character";
        name.remove_prefix(length);
    }
    return "";
}

// Whether the text is a whole number in decimal digits, from `least` to `most`.
inline bool whole(const char* text, std::uint64_t least, std::uint64_t most, std::uint64_t& number) {
    number = 0;
    if (*text == '\0') return false;
    for (; *text != '\0'; ++text) {
        if (*text < '0' || *text > '9') return false;
        const auto digit = static_cast<std::uint64_t>(*text - '0');
        if (digit > most || number > (most - digit) / 10) return false;
        number = number * 10 + digit;
    }
    return number >= least;
}

// --- The response --------------------------------------------------------------------------------------------------

// The lines of the response, kept until the end so that nobody is woken while the clock runs. In interactive use there
// is nobody to send them to, and errors go to stderr.
class Response {
public:
    static constexpr int interactive = -1;

    // In interactive use errors are reported for the benchmark `name`, if one is running.
    explicit Response(int descriptor, const std::string& name = "")
        : descriptor_(descriptor), whose_(name.empty() ? "" : name + ": ") {
        line(R"({"steelyard": 1, "harness": "steelyard.hpp )" + std::string(version) +
             R"(", "language": "C++", "before": true, "lockstep": true})");
    }

    void line(const std::string& object) { lines_ += object + '\n'; }

    [[noreturn]] void fail(const std::string& message, int status) {
        end_body();
        report(message);
        std::exit(status);
    }

    // Between the two, a body that calls exit() would end everything without a word: then that is the error.
    void begin_body() {
        static const int registered = std::atexit([] {
            Response* const response = running().response;
            if (response == nullptr || running().process != ::getpid()) return;  // or it is a child of the body
            response->report("the benchmark ended the process");
            std::fflush(nullptr);
            ::_exit(1);
        });
        (void)registered;
        running() = {this, ::getpid()};
    }
    void end_body() { running().response = nullptr; }

    void send() {
        line("{\"end\": true}");
        std::string_view rest = lines_;
        while (!rest.empty()) {
            const ssize_t written = ::write(descriptor_, rest.data(), rest.size());
            if (written >= 0) rest.remove_prefix(static_cast<std::size_t>(written));
            else if (errno != EINTR) cannot_write();
        }
    }

private:
    struct Running {
        Response* response;
        pid_t process;
    };

    static Running& running() {
        static Running now{nullptr, 0};
        return now;
    }

    void report(const std::string& message) {
        if (descriptor_ == interactive) {
            std::fprintf(stderr, "steelyard: %s%s\n", whose_.c_str(), message.c_str());
            return;
        }
        line("{\"error\": " + quoted(message) + "}");
        send();
    }

    [[noreturn]] void cannot_write() const {
        std::fprintf(stderr, "steelyard: cannot write to descriptor %d: %s\n", descriptor_, std::strerror(errno));
        std::exit(1);
    }

    int descriptor_;
    std::string whose_{}, lines_{};
};

// --- Samples in turn with those of another launch -------------------------------------------------------------------

// The other launch of a pair, at the end of a socket. Both take their samples in rounds, one after the other, and a
// byte hands over the turn: the one without it sleeps. If the partner is gone, this launch goes on alone.
class Partner {
public:
    Partner() = default;
    // `orders` has a digit for each sample: 0 if it is the first one of its round, 1 if it follows the partner's.
    Partner(int descriptor, std::string orders) : descriptor_(descriptor), orders_(std::move(orders)) {}

    // Waits for the turn, before a sample and its preparation.
    void await_turn(std::size_t sample) {
        if (!is_there()) return;
        if (sample == 0) meet();
        const bool has_it = orders_[sample] == '0' && (sample == 0 || orders_[sample - 1] == '1');
        if (!has_it) await();
    }

    // Hands over the turn after a sample; returns its order, if it was taken in turn.
    std::int8_t hand_over(std::size_t sample) {
        if (!is_there()) return alone;
        const bool keeps_it = orders_[sample] == '1' && sample + 1 < orders_.size() && orders_[sample + 1] == '0';
        if (!keeps_it) tell();
        return orders_[sample] == '1' ? 1 : 0;
    }

    // Waits after the last sample, if the partner's is still to come: what follows would disturb it.
    void part() {
        if (is_there() && orders_.back() == '0') await();
    }

    static constexpr std::int8_t alone = -1;

private:
    bool is_there() const { return descriptor_ >= 0; }

    // The first sample has to wait until both are set up.
    void meet() {
        tell();
        await();
    }

    void tell() {
#ifdef MSG_NOSIGNAL
        constexpr int quietly = MSG_NOSIGNAL;
#else
        constexpr int quietly = 0;
#endif
        while (is_there() && ::send(descriptor_, "", 1, quietly) != 1)
            if (errno != EINTR) descriptor_ = -1;
    }

    void await() {
        char byte = 0;
        while (is_there()) {
            const ssize_t got = ::read(descriptor_, &byte, 1);
            if (got == 1) return;
            if (got == 0 || errno != EINTR) descriptor_ = -1;
        }
    }

    int descriptor_ = -1;
    std::string orders_{};
};

// --- The clocks ----------------------------------------------------------------------------------------------------

inline std::int64_t now(clockid_t clock) {
    timespec time{};
    ::clock_gettime(clock, &time);
    return std::int64_t{time.tv_sec} * 1000000000 + time.tv_nsec;
}

inline std::int64_t cpu_of_children() {
    rusage usage{};
    ::getrusage(RUSAGE_CHILDREN, &usage);
    const auto ns = [](const timeval& time) {
        return static_cast<std::int64_t>(time.tv_sec) * 1000000000 + static_cast<std::int64_t>(time.tv_usec) * 1000;
    };
    return ns(usage.ru_utime) + ns(usage.ru_stime);
}

struct Sample {
    std::uint64_t loops = 0;
    std::int64_t ns = 0;
    bool scheduled = false;  // whether the scheduler's two are known
    std::int64_t cpu_ns = 0;
    std::int64_t delay_ns = 0;
    std::int64_t elsewhere_ns = 0;  // CPU time of other threads and of children that ended
    std::int8_t order = Partner::alone;

    std::string json() const {
        std::string line = "{\"loops\": " + std::to_string(loops) + ", \"ns\": " + std::to_string(ns);
        if (elsewhere_ns > 0) line += ", \"elsewhere_ns\": " + std::to_string(elsewhere_ns);
        else if (scheduled)
            line += ", \"cpu_ns\": " + std::to_string(cpu_ns) + ", \"delay_ns\": " + std::to_string(delay_ns);
        if (order != Partner::alone) line += ", \"order\": " + std::to_string(order);
        return line + "}";
    }
};

// One reading of all clocks. Nothing is computed while it is taken, so that it takes the same instructions each time.
struct Reading {
    std::int64_t clock = 0, thread = 0, process = 0, children = 0;
    char schedstat[64] = {};

    // Schedstat is read next to the clock. When the kernel is asked for a CPU clock it also checks whether others wait
    // for the processor, and that wait would be in schedstat, but not in the time. The time on a processor comes from
    // its own clock: schedstat's lags behind by up to a tick of some milliseconds.
    void before(int descriptor) {
        children = cpu_of_children();
        thread = now(CLOCK_THREAD_CPUTIME_ID);
        process = now(CLOCK_PROCESS_CPUTIME_ID);
        read(descriptor);
        clock = now(CLOCK_MONOTONIC);
    }

    void after(int descriptor) {
        clock = now(CLOCK_MONOTONIC);
        read(descriptor);
        process = now(CLOCK_PROCESS_CPUTIME_ID);
        thread = now(CLOCK_THREAD_CPUTIME_ID);
        children = cpu_of_children();
    }

    bool parsed(std::int64_t& delay) const {
        char* rest = nullptr;
        const long long ran = std::strtoll(schedstat, &rest, 10);
        delay = std::strtoll(rest, nullptr, 10);
        return ran > 0;  // a kernel that does not keep them says 0
    }

private:
    void read(int descriptor) {
        if (descriptor < 0 || ::pread(descriptor, schedstat, sizeof schedstat - 1, 0) <= 0) schedstat[0] = '\0';
    }
};

inline Sample between(const Reading& start, const Reading& stop, std::uint64_t loops) {
    Sample sample;
    sample.loops = loops;
    sample.ns = std::max<std::int64_t>(stop.clock - start.clock, 1);  // 1: less than the clock can tell
    // The process's time is read within the thread's, so any excess over it was used by other threads.
    const std::int64_t threads = (stop.process - start.process) - (stop.thread - start.thread);
    sample.elsewhere_ns = std::max<std::int64_t>(threads, 0) + (stop.children - start.children);
    std::int64_t delay = 0;
    sample.scheduled = start.parsed(delay) && stop.parsed(sample.delay_ns);
    sample.cpu_ns = stop.thread - start.thread;
    sample.delay_ns -= delay;
    return sample;
}

// Takes the samples of one benchmark: as many as the driver requests, or, for a quick look, until one is long enough.
class Sampler {
public:
    Sampler(Response& response, std::uint64_t loops, std::uint64_t samples, Partner partner = {})
        : response_(response), loops_(loops), samples_(samples), partner_(std::move(partner)) {
        taken_.reserve(size_of(samples));
        response_.begin_body();
    }
    explicit Sampler(Response& response) : Sampler(response, 1, 0) {}
    Sampler(const Sampler&) = delete;
    Sampler& operator=(const Sampler&) = delete;
    ~Sampler() {
        response_.end_body();
        if (descriptor_ >= 0) ::close(descriptor_);
    }

    [[noreturn]] void fail(const std::string& message, int status = 1) { response_.fail(message, status); }
    std::uint64_t loops() const { return loops_; }
    const std::vector<Sample>& taken() const { return taken_; }

    bool more() {
        if (finished_) fail("the benchmark runs its body in two places: state.run is called once");
        if (running_) fail("the timed loop was left before its end");
        if (taken_.empty()) open();
        finished_ = enough();
        if (finished_) partner_.part();
        else partner_.await_turn(taken_.size());
        if (samples_ == 0 && !finished_ && !taken_.empty()) loops_ *= 2;
        return !finished_;
    }

    void begin() {
        running_ = true;
        STEELYARD_BEGIN_COUNTING_;
        start_.before(descriptor_);
    }

    void end() {
        stop_.after(descriptor_);
        STEELYARD_END_COUNTING_;
        running_ = false;
        taken_.push_back(between(start_, stop_, loops_));
        taken_.back().order = partner_.hand_over(taken_.size() - 1);
    }

    void check_finished() {
        if (finished_) return;
        fail(running_ || !taken_.empty() ? "the benchmark ended before its samples were taken"
                                         : "the benchmark never ran its body: state.run was not called");
    }

private:
    // Opened here, as `thread-self` is the thread that opens it: the one that runs the body.
    void open() {
        if (descriptor_ < 0) descriptor_ = ::open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
    }

    bool enough() const {
        if (samples_ != 0) return taken_.size() == samples_;
        if (taken_.empty()) return false;
        return taken_.back().ns >= static_cast<std::int64_t>(a_look_ns) || loops_ >= most_loops;
    }

    Response& response_;
    std::uint64_t loops_, samples_;
    Partner partner_;
    int descriptor_ = -1;
    bool running_ = false, finished_ = false;
    Reading start_{}, stop_{};
    std::vector<Sample> taken_{};
};

using Params = std::vector<std::pair<std::string, std::string>>;

}  // namespace detail

// --- What a benchmark's body sees ----------------------------------------------------------------------------------

class State {
public:
    State(detail::Sampler& sampler, std::uint64_t seed, const detail::Params& params)
        : sampler_(sampler), seed_(seed), params_(params) {}

    // The seed for random inputs: both launches of a pair get the same.
    std::uint64_t seed() const { return seed_; }

    // A parameter of this benchmark, as text and as a whole number.
    const std::string& text(std::string_view name) const {
        for (const auto& [known, value] : params_)
            if (known == name) return value;
        sampler_.fail("the benchmark has no parameter " + detail::quoted(name));
    }
    long long number(std::string_view name) const {
        const std::string& value = text(name);
        char* end = nullptr;
        errno = 0;
        const long long result = std::strtoll(value.c_str(), &end, 10);
        if (value.empty() || *end != '\0' || errno != 0)
            sampler_.fail("parameter " + detail::quoted(name) + " is no whole number: " + detail::quoted(value));
        return result;
    }

    // Times the body. Its result is kept from the optimiser.
    template <class Body>
    void run(Body&& body) {
        while (sampler_.more()) sample(body);
    }

    // Times the body on an input that is prepared anew for each sample, not timed: the body gets what `prepare`
    // returned, the same in each iteration.
    template <class Prepare, class Body>
    void run(Prepare&& prepare, Body&& body) {
        while (sampler_.more()) {
            if constexpr (std::is_void_v<decltype(prepare())>) {
                prepare();
                sample(body);
            } else {
                auto input = prepare();
                auto on_input = [&]() -> decltype(auto) { return body(input); };
                sample(on_input);
            }
        }
    }

    // Times the body on an input prepared for each iteration, not timed, for bodies that use up their input. All inputs
    // of a sample exist at once, so many of them do not fit into any cache.
    template <class Prepare, class Body>
    void run_each(Prepare&& prepare, Body&& body) {
        struct Slot {
            std::decay_t<decltype(prepare())> value;
        };
        while (sampler_.more()) {
            std::vector<Slot> inputs;
            inputs.reserve(detail::size_of(sampler_.loops()));
            while (inputs.size() < sampler_.loops()) inputs.push_back(Slot{prepare()});
            sampler_.begin();
            detail::iterate_over(body, inputs.data(), inputs.data() + inputs.size());
            sampler_.end();
        }
    }

    // Reports what went wrong, and ends the program with exit status 1.
    [[noreturn]] void fail(const std::string& message) const { sampler_.fail(message); }

private:
    friend struct CAccess;

    template <class Body>
    void sample(Body& body) {
        sampler_.begin();
        detail::iterate(body, sampler_.loops());
        sampler_.end();
    }

    detail::Sampler& sampler_;
    std::uint64_t seed_;
    const detail::Params& params_;
};

// --- How benchmarks are declared -----------------------------------------------------------------------------------

// One value of a parameter: text, or a whole number.
struct Value {
    std::string text;

    Value(const char* value) : text(value) {}
    Value(std::string value) : text(std::move(value)) {}
    template <class T, class = std::enable_if_t<std::is_integral_v<T> && !std::is_same_v<T, char>>>
    Value(T value) : text(std::to_string(value)) {}
};

namespace detail {

struct Benchmark {
    std::string name{};
    std::function<void(State&)> function{};
    Params params{};
    std::vector<std::string> tags{};
    std::string source{};

    std::string json() const {
        std::string line = "{\"benchmark\": " + quoted(name);
        if (!params.empty()) line += ", \"params\": {" + joined(params, [](const auto& param) {
            return quoted(param.first) + ": " + quoted(param.second);
        }) + "}";
        if (!tags.empty()) line += ", \"tags\": [" + joined(tags, [](const auto& tag) { return quoted(tag); }) + "]";
        if (!source.empty()) line += ", \"source\": " + quoted(source);
        return line + "}";
    }

private:
    template <class Items, class Text>
    static std::string joined(const Items& items, Text&& text) {
        std::string result;
        for (const auto& item : items) result += (result.empty() ? "" : ", ") + text(item);
        return result;
    }
};

struct Declaration {
    Benchmark plain{};
    std::vector<std::pair<std::string, std::vector<Value>>> params{};
};

struct Registry {
    std::vector<Benchmark> benchmarks{};
    std::string fault{};  // the first that was found
};

// In a function, so that it exists before the first benchmark of any source file is declared.
inline Registry& registry() {
    static Registry all;
    return all;
}

}  // namespace detail

using Option = std::function<void(detail::Declaration&)>;

// A name other than the identifier.
inline Option name(std::string text) {
    return [text = std::move(text)](detail::Declaration& made) { made.plain.name = text; };
}

inline Option tags(std::vector<std::string> texts) {
    return [texts = std::move(texts)](detail::Declaration& made) { made.plain.tags = texts; };
}

// One benchmark for each value, named as in `sort/n=1000`; with several parameters, one for each combination.
inline Option param(std::string name, std::vector<Value> values) {
    return [name = std::move(name), values = std::move(values)](detail::Declaration& made) {
        made.params.emplace_back(name, values);
    };
}

// Declares a benchmark before `run_main` is called, like STEELYARD_BENCH, but for names that are made at run time.
inline bool add(std::string name, std::function<void(State&)> function, const std::vector<Option>& options = {},
                std::string source = "") {
    detail::Declaration made;
    made.plain = {std::move(name), std::move(function), {}, {}, std::move(source)};
    for (const Option& option : options) option(made);
    std::vector<detail::Benchmark> all = {made.plain};
    for (const auto& [param, values] : made.params) {
        std::vector<detail::Benchmark> combined;
        for (const detail::Benchmark& one : all)
            for (const Value& value : values) {
                combined.push_back(one);
                combined.back().name += "/" + param + "=" + value.text;
                combined.back().params.emplace_back(param, value.text);
            }
        all = std::move(combined);
    }
    detail::Registry& registry = detail::registry();
    if (all.empty() && registry.fault.empty())
        registry.fault = "a parameter of benchmark " + detail::quoted(made.plain.name) + " has no value";
    registry.benchmarks.insert(registry.benchmarks.end(), all.begin(), all.end());
    return true;
}

namespace detail {

inline std::string fault_of_registry() {
    if (!registry().fault.empty()) return registry().fault;
    std::vector<std::string_view> names;
    for (const Benchmark& one : registry().benchmarks) {
        const std::string fault = fault_of_name(one.name), at = one.source.empty() ? "" : " (" + one.source + ")";
        const std::string begins = one.name.substr(0, longest_name);
        if (!fault.empty()) return "the name of benchmark " + quoted(begins) + at + " " + fault;
        names.push_back(one.name);
    }
    std::sort(names.begin(), names.end());
    const auto twice = std::adjacent_find(names.begin(), names.end());
    return twice == names.end() ? "" : "two benchmarks are called " + quoted(*twice);
}

// --- The two calls, and interactive use ----------------------------------------------------------------------------

// The driver's arguments, as given.
struct Arguments {
    bool any = false, list = false;
    bool names = false, help = false;  // what a user wants instead of a look
    const char *protocol = nullptr, *fd = nullptr, *run = nullptr;
    const char *loops = nullptr, *samples = nullptr, *seed = nullptr, *lockstep = nullptr;
    std::vector<std::string> before{};  // LOOPS:NAME of each that runs first, in the same process
    std::vector<std::string> words{};   // parts of the names that a user wants to look at
    std::vector<std::string> others{};  // options that are not ours

    Arguments(const Arguments&) = delete;
    Arguments& operator=(const Arguments&) = delete;
    Arguments(int count, char** arguments) {
        const std::pair<std::string_view, const char**> known[] = {
            {"protocol=", &protocol}, {"fd=", &fd}, {"run=", &run},
            {"loops=", &loops}, {"samples=", &samples}, {"seed=", &seed},
            {"lockstep=", &lockstep}};
        constexpr std::string_view prefix = "--steelyard-";
        for (int at = 1; at < count; ++at) {
            if (std::strncmp(arguments[at], prefix.data(), prefix.size()) != 0) {
                const std::string_view word = arguments[at];
                if (word == "--list") names = true;
                else if (word == "--help" || word == "-h") help = true;
                else if (word.empty() || word[0] != '-') words.emplace_back(word);
                else if (word != "--") others.emplace_back(word);
                continue;
            }
            const char* argument = arguments[at] + prefix.size();
            any = true;
            list = list || std::strcmp(argument, "list") == 0;
            if (std::strncmp(argument, "before=", 7) == 0) before.emplace_back(argument + 7);
            for (const auto& [key, value] : known)
                if (std::strncmp(argument, key.data(), key.size()) == 0) *value = argument + key.size();
        }
    }
};

inline void call(const Benchmark& benchmark, Sampler& sampler, std::uint64_t seed) {
    State state(sampler, seed, benchmark.params);
#ifdef __cpp_exceptions
    try {
        benchmark.function(state);
    } catch (const std::exception& error) {
        sampler.fail("benchmark " + quoted(benchmark.name) + " threw: " + error.what());
    } catch (...) {
        sampler.fail("benchmark " + quoted(benchmark.name) + " threw something that is no std::exception");
    }
#else
    benchmark.function(state);
#endif
    sampler.check_finished();
}

inline std::string readable(double ns) {
    const char* unit = ns < 1e3 ? "ns" : ns < 1e6 ? "us" : ns < 1e9 ? "ms" : "s";
    const double scale = ns < 1e3 ? 1 : ns < 1e6 ? 1e3 : ns < 1e9 ? 1e6 : 1e9;
    char text[32];
    std::snprintf(text, sizeof text, "%10.3f %s", ns / scale, unit);
    return text;
}

inline void look_at(const Benchmark& benchmark) {
    Response response(Response::interactive, benchmark.name);
    Sampler sampler(response);
    call(benchmark, sampler, 0);
    const Sample& last = sampler.taken().back();
    const double each = static_cast<double>(last.ns) / static_cast<double>(last.loops);
    std::printf("%s  %s\n", readable(each).c_str(), benchmark.name.c_str());
    std::fflush(stdout);
}

// Whether nobody reads the output any more, as with `| head`.
inline bool is_unread() {
    pollfd out{STDOUT_FILENO, 0, 0};
    return ::poll(&out, 1, 0) > 0 && (out.revents & POLLERR) != 0;
}

// The status of a process that has looked at a benchmark; any other is of one that the benchmark has ended.
constexpr int looked = 100;

// Looks at a benchmark in a process of its own, so that the others run even if this one fails; whether it succeeded.
inline bool looked_at_apart(const Benchmark& benchmark) {
    std::fflush(nullptr);
    const pid_t child = ::fork();
    if (child <= 0) {
        look_at(benchmark);
        if (child == 0) std::exit(looked);
        return true;  // there was no room for another process
    }
    int status = 0;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    if (WIFSIGNALED(status) && !is_unread())
        std::fprintf(stderr, "steelyard: %s: was killed by signal %d\n", benchmark.name.c_str(), WTERMSIG(status));
    if (status == 0) std::fprintf(stderr, "steelyard: %s: the benchmark ended the process\n", benchmark.name.c_str());
    return WIFEXITED(status) && WEXITSTATUS(status) == looked;
}

constexpr const char* usage =
    "usage: PROGRAM [PART...] [--list]\n\n"
    "Runs each benchmark, or those with a PART in their names, and shows a quick time.\n"
    "With --list it names them and runs none. To weigh two builds:\n"
    "  steelyard compare --harness protocol OLD NEW\n";

inline int look(const Arguments& asked) {
    if (asked.help) return std::fputs(usage, stdout) < 0 ? 1 : 0;
    const std::vector<std::string>& words = asked.words;
    Response response(Response::interactive);
    const std::string fault = fault_of_registry();
    if (!fault.empty()) response.fail(fault, 2);
    std::vector<const Benchmark*> chosen;
    for (const Benchmark& one : registry().benchmarks) {
        const auto is_part = [&](const std::string& word) { return one.name.find(word) != std::string::npos; };
        if (words.empty() || std::any_of(words.begin(), words.end(), is_part)) chosen.push_back(&one);
    }
    if (chosen.empty() && !words.empty()) response.fail("no benchmark has " + quoted(words.front()) + " in its name", 2);
    if (asked.names) {
        for (const Benchmark* one : chosen) std::printf("%s\n", one->name.c_str());
        return 0;
    }
    bool all_well = true;
    if (chosen.size() == 1) look_at(*chosen.front());  // where a debugger finds it
    else for (const Benchmark* one : chosen) {
        all_well = looked_at_apart(*one) && all_well;
        if (is_unread()) response.fail("cannot write what was found", 1);  // the others would be run for nobody
    }
    std::puts("for a look; weigh with: steelyard compare --harness protocol OLD NEW");
    if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) response.fail("cannot write what was found", 1);
    return all_well ? 0 : 1;
}

inline std::uint64_t number_of(Response& response, const char* key, const char* text, std::uint64_t least,
                               std::uint64_t most) {
    std::uint64_t number = 0;
    const std::string argument = std::string("--steelyard-") + key;
    if (text == nullptr) response.fail(argument + " is missing", 2);
    if (!whole(text, least, most, number))
        response.fail(argument + "=" + text + ": not a whole number from " + std::to_string(least) + " to " +
                          std::to_string(most),
                      2);
    return number;
}

inline const Benchmark& called(Response& response, const std::string& name) {
    const auto& all = registry().benchmarks;
    const auto found = std::find_if(all.begin(), all.end(), [&](const Benchmark& one) { return one.name == name; });
    if (found == all.end()) response.fail("no benchmark is called " + quoted(name), 2);
    return *found;
}

// The descriptor, made to close in programs that this process executes; -1 if it is not open.
inline int kept_from_children(const char* text) {
    std::uint64_t number = 0;
    if (!whole(text, 0, INT_MAX, number)) return -1;
    const int descriptor = static_cast<int>(number), flags = ::fcntl(descriptor, F_GETFD);
    const bool is_open = flags >= 0 && ::fcntl(descriptor, F_SETFD, flags | FD_CLOEXEC) == 0;
    return is_open ? descriptor : -1;
}

// The partner that FD:ORDERS names, with a digit for each sample; no partner without that argument.
inline Partner partner_of(Response& response, const Arguments& arguments, std::uint64_t samples) {
    if (arguments.lockstep == nullptr) return {};
    const std::string text = arguments.lockstep;
    const std::size_t colon = std::min(text.find(':'), text.size());
    const int descriptor = kept_from_children(text.substr(0, colon).c_str());
    const std::string orders = text.substr(std::min(colon + 1, text.size()));
    if (descriptor < 0 || orders.size() != samples || orders.find_first_not_of("01") != std::string::npos)
        response.fail("--steelyard-lockstep=" + text.substr(0, 40) +
                          ": it has to be FD:ORDERS, a socket that is open and a 0 or 1 for each sample",
                      2);
    return {descriptor, orders};
}

inline void run_one(Response& response, const Arguments& arguments) {
    const std::uint64_t loops = number_of(response, "loops", arguments.loops, 1, most_loops);
    const std::uint64_t samples = number_of(response, "samples", arguments.samples, 1, most_samples);
    const std::uint64_t seed = number_of(response, "seed", arguments.seed, 0, UINT64_MAX);
    Partner partner = partner_of(response, arguments, samples);
    for (const std::string& before : arguments.before) {
        const std::size_t colon = std::min(before.find(':'), before.size());
        const std::uint64_t few = number_of(response, "before", before.substr(0, colon).c_str(), 1, most_loops);
        Sampler earlier(response, few, 1);
        call(called(response, before.substr(std::min(colon + 1, before.size()))), earlier, seed);
    }
    Sampler sampler(response, loops, samples, std::move(partner));
    call(called(response, arguments.run), sampler, seed);
    for (const Sample& sample : sampler.taken()) response.line(sample.json());
}

// The descriptor for the response, which no child may hold. Without one, the fault can only be reported on stderr.
inline int descriptor_of(const Arguments& arguments) {
    const int descriptor = arguments.fd == nullptr ? -1 : kept_from_children(arguments.fd);
    if (descriptor >= 0) return descriptor;
    std::fprintf(stderr, "steelyard: --steelyard-fd=N must name a descriptor that is open for writing\n");
    std::exit(2);
}

}  // namespace detail

// Called by programs that have their own `main`, and perhaps options of their own. Returns the exit status.
inline int run_main(int count, char** arguments) {
    const detail::Arguments asked(count, arguments);
    if (!asked.any) return detail::look(asked);
    detail::Response response(detail::descriptor_of(asked));
    if (asked.protocol == nullptr || std::strcmp(asked.protocol, "1") != 0)
        response.fail("only version 1 of the protocol is spoken here (--steelyard-protocol=1)", 2);
    const std::string fault = detail::fault_of_registry();
    if (!fault.empty()) response.fail(fault, 2);
    if (asked.list == (asked.run != nullptr))
        response.fail("either --steelyard-list or --steelyard-run=NAME is needed", 2);
    if (asked.list)
        for (const detail::Benchmark& one : detail::registry().benchmarks) response.line(one.json());
    else
        detail::run_one(response, asked);
    response.send();
    return 0;
}

namespace detail {

// What STEELYARD_MAIN() defines: nobody else reads the arguments, so that an option that is not ours is misspelt.
inline int whole_main(int count, char** arguments) {
    const Arguments asked(count, arguments);
    if (!asked.any && !asked.others.empty())
        Response(Response::interactive).fail("there is no option " + quoted(asked.others.front()) + "; see --help", 2);
    return run_main(count, arguments);
}

}  // namespace detail
}  // namespace steelyard

#define STEELYARD_TEXT_(line) #line
#define STEELYARD_SOURCE_(line) __FILE__ ":" STEELYARD_TEXT_(line)

#define STEELYARD_DECLARE_(identifier, ...)                                                              \
    static void steelyard_bench_##identifier(steelyard::State& state);                                   \
    [[maybe_unused]] static const bool steelyard_added_##identifier = steelyard::add(                    \
        #identifier, steelyard_bench_##identifier, {__VA_ARGS__}, STEELYARD_SOURCE_(__LINE__));          \
    static void steelyard_bench_##identifier([[maybe_unused]] steelyard::State& state)

// Declares a benchmark; the block that follows sets up, calls `state.run` once, and tears down.
#define STEELYARD_BENCH(identifier) STEELYARD_DECLARE_(identifier, )

// The same with options: steelyard::param("n", {10, 1000}), steelyard::tags({"sorting"}), steelyard::name("std sort").
#define STEELYARD_BENCH_WITH(identifier, ...) STEELYARD_DECLARE_(identifier, __VA_ARGS__)

#define STEELYARD_MAIN() \
    int main(int count, char** arguments) { return steelyard::detail::whole_main(count, arguments); }

#ifdef STEELYARD_IMPLEMENTATION
#include "steelyard.h"

// Implements what steelyard.h declares for C, in the one C++ file that defines STEELYARD_IMPLEMENTATION.
struct steelyard_state {
    steelyard::State& state;
};

namespace steelyard {
struct CAccess {
    static detail::Sampler& sampler(const steelyard_state* state) { return state->state.sampler_; }
};
}  // namespace steelyard

extern "C" {
void steelyard_add(const char* name, void (*function)(steelyard_state*), const char* param, const long long* values,
                   size_t count, const char* source) {
    std::vector<steelyard::Option> options;
    if (param != nullptr) options.push_back(steelyard::param(param, {values, values + count}));
    steelyard::add(
        name,
        [function](steelyard::State& state) {
            steelyard_state wrapped{state};
            function(&wrapped);
        },
        options, source);
}
int steelyard_main(int count, char** arguments) { return steelyard::run_main(count, arguments); }
int steelyard_whole_main(int count, char** arguments) { return steelyard::detail::whole_main(count, arguments); }
uint64_t steelyard_seed(const steelyard_state* state) { return state->state.seed(); }
long long steelyard_number(const steelyard_state* state, const char* param) { return state->state.number(param); }
void steelyard_fail(const steelyard_state* state, const char* message) { state->state.fail(message); }
int steelyard_more(steelyard_state* state) { return steelyard::CAccess::sampler(state).more() ? 1 : 0; }
uint64_t steelyard_begin(steelyard_state* state) {
    steelyard::detail::Sampler& sampler = steelyard::CAccess::sampler(state);
    const uint64_t loops = sampler.loops();
    sampler.begin();
    return loops;
}
void steelyard_end(steelyard_state* state) { steelyard::CAccess::sampler(state).end(); }
}
#endif

#endif
