//! Where targets find their memory: at random, at fixed addresses, or at addresses that were drawn for them.
//!
//! What the kernel draws for a process differs between two launches, and so does their speed, by some percent where
//! caches predict by address. It offers no seed for that. But without its randomness the highest address that `mmap`
//! takes follows from the limit of the stack's size, in pages, if that is 128 MiB or more: a limit that is drawn is a
//! place that is drawn, and two launches with one limit have one place.

use crate::protocol::Request;
use crate::sys;

/// The least room that the kernel leaves for the stack.
const LEAST_STACK_BYTES: u64 = 128 << 20;
/// As small as pages are anywhere; where they are larger, some numbers have the same place.
const PAGE_BYTES: u64 = 4096;
const MOST_STACK_BYTES: u64 = LEAST_STACK_BYTES + PAGE_BYTES * u16::MAX as u64;

/// How children of the server are laid out for as long as this lives, where that is not at random.
pub struct Addresses {
    stack_limit: Option<sys::Limit>,
}

impl Addresses {
    /// As a request has it, the same in every launch before those of a draw; `None` for random ones.
    #[must_use]
    pub fn of(request: &Request) -> Option<Self> {
        if request.fixed_layout {
            return Some(Self::fixed());
        }
        request.mapping_pages.and_then(Self::below)
    }

    fn fixed() -> Self {
        sys::fix_addresses();
        Self { stack_limit: None }
    }

    /// All that is mapped lies so many pages lower; `None` where the system does not let us choose.
    fn below(pages: u16) -> Option<Self> {
        let before = sys::stack_limit().ok()?;
        let bytes = LEAST_STACK_BYTES + PAGE_BYTES * u64::from(pages);
        if before.most < MOST_STACK_BYTES || !sys::fix_addresses() {
            return None;
        }
        let drawn = sys::Limit {
            now: bytes,
            ..before
        };
        if sys::set_stack_limit(drawn).is_err() {
            sys::randomize_addresses();
            return None;
        }
        let stack_limit = Some(before);
        Some(Self { stack_limit })
    }

    /// Whether a request's `mapping_pages` have an effect here.
    #[must_use]
    pub fn can_be_chosen() -> bool {
        Self::below(0).is_some()
    }
}

impl Drop for Addresses {
    fn drop(&mut self) {
        // As the server was at its start; nothing forbids to take a limit back.
        if let Some(limit) = self.stack_limit {
            let _ = sys::set_stack_limit(limit);
        }
        sys::randomize_addresses();
    }
}
