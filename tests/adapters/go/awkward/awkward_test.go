// Package awkward holds benchmarks with everything that makes Go's results hard to read.
package awkward

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"
)

// slower is set by the linker: then BenchmarkSum has twice the work.
var slower string

var sink int

func sum(n int) int {
	total := 0
	for i := range n {
		total += i ^ total<<1
	}
	return total
}

func BenchmarkSum(b *testing.B) {
	n := 1000
	if slower != "" {
		n *= 2
	}
	for range b.N {
		sink += sum(n)
	}
}

func BenchmarkSteady(b *testing.B) {
	for range b.N {
		sink += sum(1000)
	}
}

func BenchmarkGröße(b *testing.B) {
	for range b.N {
		sink += sum(10)
	}
}

func BenchmarkMetrics(b *testing.B) {
	b.ReportAllocs()
	b.SetBytes(1000)
	for b.Loop() {
		sink += len(bytes.Repeat([]byte("x"), 1000))
	}
	b.ReportMetric(3.5, "apples/op")
	b.ReportMetric(0.000012, "pears")
}

func BenchmarkParallel(b *testing.B) {
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			sum(1000)
		}
	})
}

func BenchmarkReads(b *testing.B) {
	for range b.N {
		text, err := os.ReadFile("testdata/input.txt")
		if err != nil {
			b.Fatal(err)
		}
		sink += len(text)
	}
}

// Names as subs: what Run makes of them is Go's affair, that we ask for exactly one of them is ours.
func BenchmarkNames(b *testing.B) {
	names := []string{
		"with spaces, and a comma",
		"a", "a/b", "a/b/c",
		"dup", "dup", "dup#01", "",
		"n=10-2", "n=10", "-2", "-",
		".*^$|(regex)+?", "*[glob]?{a,b}", "[", "(", "back\\slash", "|",
		"größe/日本語/🦀", "tab\tnul\x00zero\u200bwidth", "'single' \"double\" `back`",
		"/", "trailing/", "--flag", "$HOME;#<&>%s%n{n}", strings.Repeat("x", 450),
		"Benchmark", "BenchmarkNames 100 5 ns/op",
	}
	for _, name := range names {
		b.Run(name, func(b *testing.B) {
			for range b.N {
				sink += sum(100)
			}
		})
	}
}

func BenchmarkDeep(b *testing.B) {
	for _, outer := range []string{"one", "two"} {
		b.Run(outer, func(b *testing.B) {
			for _, inner := range []string{"one", "two"} {
				b.Run(inner, func(b *testing.B) {
					for range b.N {
						sink += sum(100)
					}
				})
			}
		})
	}
}

func BenchmarkPrints(b *testing.B) {
	fmt.Print("from the program, without an end of line")
	fmt.Fprintln(os.Stderr, "to stderr")
	b.Log("a log line of", b.N)
	for range b.N {
		sink += sum(100)
	}
	fmt.Print("100\t12 items\n 7")
}

func BenchmarkFails(b *testing.B) {
	b.Fatal("the input is missing")
}

func BenchmarkFailsLater(b *testing.B) {
	if b.N > 1 {
		b.Error("only once")
		b.Error("and no more")
	}
}

func BenchmarkSkips(b *testing.B) {
	b.Skip("not on this machine")
}

func BenchmarkSkipsLater(b *testing.B) {
	if b.N > 1 {
		b.Skip("not twice")
	}
}

func BenchmarkHidesItsTime(b *testing.B) {
	for range b.N {
		sink += sum(100)
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(5, "apples/op")
}

func BenchmarkIgnoresN(b *testing.B) {
	sink += sum(1000)
}

func TestThatIsNotRun(t *testing.T) {
	t.Fatal("a test, not a benchmark")
}

func BenchmarkLoops(b *testing.B) {
	for b.Loop() {
		sink += sum(1000)
	}
}
