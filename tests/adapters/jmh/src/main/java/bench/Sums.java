package bench;

import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;

/** Sums of numbers: twice as many with -Dbench.factor=2, which a test plants as a slowdown. */
@Fork(jvmArgsAppend = "-Dbench.fork=yes")
public class Sums {
    @State(Scope.Benchmark)
    public static class Size {
        @Param({"1000", "4000"})
        public int n;
    }

    @State(Scope.Benchmark)
    public static class Words {
        @Param({"plain", "a.b* [c] größe/日本 http://x:y"})
        public String word;

        @Param({"1", "2"})
        public int times;
    }

    @Benchmark
    public long sum(Size size) {
        return collatz(size.n * Integer.getInteger("bench.factor", 1));
    }

    /** Its name begins as that of another. */
    @Benchmark
    public long sumOfAll() {
        return collatz(500);
    }

    @Benchmark
    public int length(Words words) {
        return words.word.length() * words.times;
    }

    @Benchmark
    public long fails() {
        throw new IllegalStateException("planted failure");
    }

    /** Only right where JMH's own JVM, with the arguments of the annotation, runs it. */
    @Benchmark
    public long forked() {
        if (!"yes".equals(System.getProperty("bench.fork"))) {
            throw new IllegalStateException("the arguments of @Fork are missing");
        }
        return collatz(500);
    }

    /** What no compiler folds into a formula. */
    private static long collatz(int n) {
        long steps = 0;
        for (int start = 1; start <= n; start++) {
            for (long value = start; value != 1; value = value % 2 == 0 ? value / 2 : 3 * value + 1) {
                steps++;
            }
        }
        return steps;
    }
}
