// The harness that test_cpp.py drives. What it finds out itself it says on stdout, or by state.fail.
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "steelyard.hpp"

using steelyard::keep;
using steelyard::param;

namespace {

int descriptor() { return std::atoi(std::getenv("STEELYARD_TEST_FD")); }

unsigned work(unsigned from) {
    for (unsigned round = 0; round < 20; ++round) from = from * 31 + round;
    return from;
}

void sleep_ms(long ms) { std::this_thread::sleep_for(std::chrono::milliseconds(ms)); }

}  // namespace

STEELYARD_BENCH(nothing) { state.run([] {}); }

STEELYARD_BENCH(multiplies) {
    const unsigned from = static_cast<unsigned>(state.seed());
    state.run([&] { return work(from); });
}

// Nothing is kept and nothing returned: only the loop itself can keep the body from being done once, before it.
STEELYARD_BENCH(stores) {
    const unsigned from = static_cast<unsigned>(state.seed());
    double last = 0;
    state.run([&] { last = (from * from + 3) * (from + 5) * (from * from + 7); });
}

STEELYARD_BENCH(keeps) {
    const unsigned from = 7;
    const std::string text = "text";
    double number = 1.5;
    state.run([&] {
        keep(work(from));
        keep(number * from);
        keep(number);
        keep(text);
        keep(&text);
        keep(std::pair<int, int>(1, 2));
        steelyard::clobber();
    });
}

STEELYARD_BENCH_WITH(map, param("n", {10, -2000000000000}), param("kind", {"flat", "\"q\" é\\"}),
                     steelyard::tags({"containers", "odd \x01 \xff tag"})) {
    std::printf("%lld %s", state.number("n"), state.text("kind").c_str());
    state.run([] {});
}

STEELYARD_BENCH_WITH(odd_name, steelyard::name("an \"odd\" näme \\ of ✓ ")) { state.run([] {}); }

STEELYARD_BENCH(seed) {
    std::printf("%llu", static_cast<unsigned long long>(state.seed()));
    state.run([] {});
}

STEELYARD_BENCH(sleeps_outside) {
    sleep_ms(100);
    state.run([] { sleep_ms(100); }, [] {});
    sleep_ms(100);
}

STEELYARD_BENCH(sleeps_before_each) {
    state.run_each([] { return sleep_ms(100), 0; }, [](int) {});
}

STEELYARD_BENCH(prepared) {
    int prepared = 0, used = 0;
    state.run([&] { return std::make_unique<int>(++prepared); }, [&](std::unique_ptr<int>& input) { used += *input; });
    std::printf("%d %d", prepared, used);
}

STEELYARD_BENCH(prepared_each) {
    int prepared = 0, used = 0, fresh = 0;
    state.run_each([&] { return std::make_unique<int>(++prepared); }, [&](std::unique_ptr<int>& input) {
        fresh += ++*input == ++used + 1;
    });
    std::printf("%d %d", prepared, fresh);
}

STEELYARD_BENCH(other_thread) {
    state.run([] { std::thread([] { keep(work(static_cast<unsigned>(std::rand()))); }).join(); });
}

STEELYARD_BENCH(child) {
    state.run([&] {
        if (std::system("i=0; while [ $i -lt 5000 ]; do i=$((i + 1)); done") != 0) state.fail("no shell");
    });
}

STEELYARD_BENCH(writes_late) {
    state.run([] {});
    int waiting = -1;
    if (ioctl(descriptor(), FIONREAD, &waiting) != 0 || waiting != 0) state.fail("something was written early");
}

STEELYARD_BENCH(child_without_descriptor) {
    state.run([] {});
    if (std::system("test ! -e /proc/$$/fd/$STEELYARD_TEST_FD") != 0) state.fail("a child holds the descriptor");
}

STEELYARD_BENCH(throws) {
    int iterations = 0;
    state.run([&] {
        if (++iterations == 3) throw std::runtime_error("\"no\"\n more");
    });
}

STEELYARD_BENCH(throws_a_number) {
    state.run([] { throw 1; });
}

STEELYARD_BENCH(runs_nothing) {}

STEELYARD_BENCH(runs_twice) {
    state.run([] {});
    state.run([] {});
}

STEELYARD_BENCH(gives_up) {
    state.fail("no input");
}

STEELYARD_BENCH(wants_what_is_not_there) {
    state.run([] {});
    keep(state.number("n"));
}

STEELYARD_BENCH_WITH(wants_a_number, param("n", {"many"})) {
    keep(state.number("n"));
    state.run([] {});
}

int main(int count, char** arguments) {
    if (const char* extra = std::getenv("STEELYARD_TEST_NAME"))
        steelyard::add(extra, [](steelyard::State& state) { state.run([] {}); });
    if (std::getenv("STEELYARD_TEST_NO_VALUES"))
        steelyard::add("empty", [](steelyard::State& state) { state.run([] {}); }, {param("n", {})});
    return steelyard::run_main(count, arguments);
}
