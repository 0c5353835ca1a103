//! What the language asks for where there is no standard library. The other preloaded libraries compile this file too.

/// There is nothing to tell and nobody to tell it to.
#[cfg(not(test))]
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    loop {
        core::hint::spin_loop();
    }
}
