// Package panics has benchmarks that end their process, before and after good ones.
package panics

import (
	"os"
	"testing"
)

var sink int

// In a goroutine of its own: what Go's testing defers in that of a benchmark lets the main one go on, which may end the
// process well before the panic does.
func BenchmarkPanics(*testing.B) {
	go panic("as it was meant to")
	select {}
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
