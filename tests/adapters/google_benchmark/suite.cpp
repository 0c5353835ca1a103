// Benchmarks with all that makes Google Benchmark's reports differ; in a program of the name "slower", "sum/1000" takes twice as long.
#include <benchmark/benchmark.h>

#include <errno.h>

#include <chrono>
#include <cstdio>
#include <cstring>
#include <thread>

static const unsigned factor = std::strcmp(program_invocation_short_name, "slower") == 0 ? 2 : 1;

static void add(unsigned count) {
    for (unsigned i = 0; i < count; ++i) benchmark::DoNotOptimize(i);
}

static void sum(benchmark::State& state) {
    for (auto _ : state) add(static_cast<unsigned>(state.range(0)) * factor);
}
BENCHMARK(sum)->Arg(1000)->Arg(10000);

static void plain(benchmark::State& state) {
    for (auto _ : state) add(2000);
}
BENCHMARK(plain)->Name("sum/1000 and more");
BENCHMARK(plain)->Name("a b, (c) [d] {e} .*+?^$|\\ \"f\" größe/日本 -~!");
BENCHMARK(plain)->Name("--benchmark_list_tests=true");
BENCHMARK(plain)->Name("template<int, std::pair<long, char>>::operator()");
BENCHMARK(plain)->Name("in ms")->Unit(benchmark::kMillisecond);
BENCHMARK(plain)->Name("threads")->Threads(2)->UseRealTime();
BENCHMARK(plain)->Name("cpu of the process")->MeasureProcessCPUTime();
BENCHMARK(plain)->Name("namesake");
BENCHMARK(plain)->Name("namesake");
BENCHMARK(plain)->Name("three times")->Repetitions(3);
BENCHMARK(plain)->Name("seven iterations")->Iterations(7);
BENCHMARK(plain)->Name("aggregates")->Repetitions(3)->ReportAggregatesOnly(true);
BENCHMARK(plain)->Name("display of aggregates")->DisplayAggregatesOnly(true);

static void slow(benchmark::State& state) {
    for (auto _ : state) std::this_thread::sleep_for(std::chrono::milliseconds(3));
}
BENCHMARK(slow)->Name("slow")->UseRealTime();

static void manual(benchmark::State& state) {
    for (auto _ : state) {
        add(2000);
        state.SetIterationTime(5e-7);
    }
}
BENCHMARK(manual)->Name("manual")->UseManualTime();

static void empty(benchmark::State& state) {
    for (auto _ : state) {
    }
}
BENCHMARK(empty)->Name("empty");

static void bad(benchmark::State& state) {
    std::puts("{ what a program prints is no result");
    state.SkipWithError("the \"file\" is not there");
    for (auto _ : state) {
    }
}
BENCHMARK(bad)->Name("bad");

BENCHMARK_MAIN();
