//! Where targets find their memory: at random addresses, at fixed ones, or at addresses drawn for them.
//!
//! The addresses that the kernel draws for a process differ between two launches, and so does their speed, by some
//! percent where caches predict by address. The kernel offers no seed for them. But without its randomisation the
//! highest address that `mmap` uses follows from the limit of the stack's size, in pages, if that is 128 MiB or more:
//! drawing a limit draws a place, and two launches with the same limit have the same place.

use crate::protocol::Request;
use crate::sys;

/// The least room that the kernel leaves for the stack.
const LEAST_STACK_BYTES: u64 = 128 << 20;
/// The smallest page size anywhere; where pages are larger, some numbers have the same place.
const PAGE_BYTES: u64 = 4096;
const MOST_STACK_BYTES: u64 = LEAST_STACK_BYTES + PAGE_BYTES * u16::MAX as u64;

/// Lays out children of the server at addresses that are not random, for as long as this lives.
pub struct Addresses {
    stack_limit: Option<sys::Limit>,
}

impl Addresses {
    /// The addresses that a request asks for, where fixed ones take precedence over drawn ones; `None` for random ones.
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

    /// Places all mappings so many pages lower; `None` where the system does not let us choose.
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
        // Back to how the server was at its start; lowering a limit again is always allowed.
        if let Some(limit) = self.stack_limit {
            let _ = sys::set_stack_limit(limit);
        }
        sys::randomize_addresses();
    }
}
