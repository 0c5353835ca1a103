// Benchmarks of nanobench, steered as docs/adapters/nanobench.md says. With --slower, "sum" takes five times as long.
#define ANKERL_NANOBENCH_IMPLEMENT
#include <nanobench.h>

#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>

int main(int count, char** words) {
    std::string only, file, way;
    for (int i = 1; i < count; ++i) {
        const std::string word = words[i];
        if (word.rfind("--only=", 0) == 0) only = word.substr(7);
        else if (word.rfind("--json=", 0) == 0) file = word.substr(7);
        else way = word;
    }
    ankerl::nanobench::Bench bench;
    const auto add = [](unsigned end) {
        for (unsigned i = 0; i < end; ++i) ankerl::nanobench::doNotOptimizeAway(i);
    };
    const auto run = [&](const char* name, auto body) {
        if (only.empty() || only == name || way == "--deaf") bench.run(name, body);
    };
    run("sum", [&] { add(way == "--slower" ? 5000 : 1000); });
    run("a b, (c) [d] {e} .*+?^$|/ größe/日本 -~!", [&] { add(500); });
    run("--json=none", [&] { add(500); });
    run("fails alone", [&] {
        if (!only.empty() && way != "--deaf") throw std::runtime_error("alone");
        add(500);
    });
    if (way == "--quote") run("a \"quoted\" name", [&] { add(500); });
    if (way == "--twice") run("sum", [&] { add(500); });
    if (way == "--silent") return 0;
    if (file.empty()) {
        bench.render(ankerl::nanobench::templates::json(), std::cout);
    } else {
        std::ofstream out(file);
        bench.render(ankerl::nanobench::templates::json(), out);
    }
}
