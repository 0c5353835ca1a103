//! The panic handler that Rust requires without a standard library. The other preloaded libraries compile this file,
//! too.

/// Loops, as there is nothing to report and nobody to report it to.
#[cfg(not(test))]
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    loop {
        core::hint::spin_loop();
    }
}
