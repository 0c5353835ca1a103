// Package panics has benchmarks that end their process, before and after good ones.
package panics

import (
	"os"
	"testing"
)

var sink int

func BenchmarkPanics(b *testing.B) {
	panic("as it was meant to")
}

func BenchmarkGood(b *testing.B) {
	for i := range b.N {
		sink += i ^ sink<<1
	}
}

func BenchmarkParent(b *testing.B) {
	b.Run("before", BenchmarkGood)
	b.Run("exits", func(*testing.B) { os.Exit(0) })
	b.Run("after", BenchmarkGood)
}
