//! What is measured: twice as much of it where the program is called `slower`.

use std::hint::black_box;

pub fn work(steps: u64) -> u64 {
    let times = if std::env::args()
        .next()
        .is_some_and(|program| program.ends_with("slower"))
    {
        2
    } else {
        1
    };
    (0..times * steps).fold(0, |sum, step| black_box(sum ^ step.wrapping_mul(31)))
}
