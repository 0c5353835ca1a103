//! The benchmarks: `cargo bench` for a quick look, `steelyard compare --harness protocol` to weigh.

mod containers;
mod hashing;
mod numbers;
mod parsing;
mod random;
mod sorting;
mod text;

steelyard_bench::main! {
    "vec/push" tags ["containers"] => containers::vec_push,
    "deque/rotate" tags ["containers"] => containers::deque_rotate,
    "string/push" tags ["containers"] => containers::string_push,
    "heap/push_and_pop" tags ["containers"] => containers::heap_push_and_pop,
    "hash_map/insert/n={n}" tags ["containers", "maps"] for n in [100, 1000] => containers::hash_map_insert,
    "hash_map/find/n={n}" tags ["containers", "maps"] for n in [100, 1000] => containers::hash_map_find,
    "btree_map/insert/n={n}" tags ["containers", "maps"] for n in [100, 1000] => containers::btree_map_insert,
    "btree_map/find/n={n}" tags ["containers", "maps"] for n in [100, 1000] => containers::btree_map_find,
    "btree_map/range" tags ["containers", "maps"] => containers::btree_map_range,

    "parse/integers" tags ["parsing"] => parsing::integers,
    "parse/floats" tags ["parsing"] => parsing::floats,
    "parse/csv" tags ["parsing"] => parsing::csv,
    "parse/key_values" tags ["parsing"] => parsing::key_values,
    "parse/roman" tags ["parsing"] => parsing::roman,
    "parse/json_depth" tags ["parsing"] => parsing::json_depth,

    "hash/fnv1a" tags ["hashing"] => hashing::fnv1a,
    "hash/adler32" tags ["hashing"] => hashing::adler32,
    "hash/crc32" tags ["hashing"] => hashing::crc32,
    "hash/sip" tags ["hashing"] => hashing::sip,

    "sort/stable/n={n}" tags ["sorting"] for n in [100, 5000] => sorting::stable,
    "sort/unstable/n={n}" tags ["sorting"] for n in [100, 5000] => sorting::unstable,
    "sort/nearly_sorted" tags ["sorting"] => sorting::nearly_sorted,
    "sort/words" tags ["sorting"] => sorting::words,
    "sort/insertion" tags ["sorting"] => sorting::insertion,
    "sort/heap" tags ["sorting"] => sorting::heap,
    "sort/radix" tags ["sorting"] => sorting::radix,
    "search/binary" tags ["sorting"] => sorting::binary_search,

    "text/word_counts" tags ["text"] => text::word_counts,
    "text/edit_distance" tags ["text"] => text::edit_distance,
    "text/is_palindrome" tags ["text"] => text::is_palindrome,
    "text/find" tags ["text"] => text::find,

    "numbers/primes" tags ["numbers"] => numbers::primes,
    "numbers/matrix_product" tags ["numbers"] => numbers::matrix_product,
    "numbers/divisors" tags ["numbers"] => numbers::divisors,
}
