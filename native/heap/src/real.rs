//! The program's real allocator: the functions of the next library after ours, usually the C library's.

use crate::libc::{dladdr, dlsym, Library, NEXT};
use core::ffi::{c_int, c_void, CStr};
use core::mem::transmute;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicBool, AtomicPtr, Ordering};

/// `malloc`, `valloc` and `pvalloc`.
pub type Allocate = unsafe extern "C" fn(usize) -> *mut c_void;
/// `free`.
pub type Free = unsafe extern "C" fn(*mut c_void);
/// `realloc`.
pub type Reallocate = unsafe extern "C" fn(*mut c_void, usize) -> *mut c_void;
/// `calloc`, `memalign` and `aligned_alloc`.
pub type AllocateTwo = unsafe extern "C" fn(usize, usize) -> *mut c_void;
/// `posix_memalign`.
pub type AllocateAt = unsafe extern "C" fn(*mut *mut c_void, usize, usize) -> c_int;
/// `malloc_usable_size`.
pub type Usable = unsafe extern "C" fn(*mut c_void) -> usize;

type Found = AtomicPtr<c_void>;

const fn missing() -> Found {
    AtomicPtr::new(null_mut())
}

static MALLOC: Found = missing();
static FREE: Found = missing();
static REALLOC: Found = missing();
static CALLOC: Found = missing();
static MEMALIGN: Found = missing();
static ALIGNED_ALLOC: Found = missing();
static POSIX_MEMALIGN: Found = missing();
static VALLOC: Found = missing();
static PVALLOC: Found = missing();
static USABLE: Found = missing();

// `malloc` comes last: once it is found, so are all others.
static ALL: [(&Found, &[u8]); 10] = [
    (&FREE, b"free\0"),
    (&REALLOC, b"realloc\0"),
    (&CALLOC, b"calloc\0"),
    (&MEMALIGN, b"memalign\0"),
    (&ALIGNED_ALLOC, b"aligned_alloc\0"),
    (&POSIX_MEMALIGN, b"posix_memalign\0"),
    (&VALLOC, b"valloc\0"),
    (&PVALLOC, b"pvalloc\0"),
    (&USABLE, b"malloc_usable_size\0"),
    (&MALLOC, b"malloc\0"),
];

/// Looks up all of them, unless that is already going on: `dlsym` itself may allocate, and call us.
#[cold]
fn resolve() {
    static BUSY: AtomicBool = AtomicBool::new(false);
    if BUSY.swap(true, Ordering::Acquire) {
        return;
    }
    for (place, name) in &ALL {
        if let Ok(name) = CStr::from_bytes_with_nul(name) {
            // SAFETY: the name ends in NUL; of ours, `dlsym` calls only functions that meanwhile take their
            // memory from elsewhere.
            place.store(unsafe { dlsym(NEXT, name.as_ptr()) }, Ordering::Release);
        }
    }
    BUSY.store(false, Ordering::Release);
}

macro_rules! functions {
    ($($(#[$doc:meta])* $name:ident: $type:ty = $place:ident;)*) => {$(
        $(#[$doc])*
        #[inline(always)]
        pub fn $name() -> Option<$type> {
            let mut found = $place.load(Ordering::Relaxed);
            if found.is_null() {
                resolve();
                found = $place.load(Ordering::Relaxed);
            }
            // SAFETY: null, which is None, or the function of that name, which has this type.
            unsafe { transmute::<*mut c_void, Option<$type>>(found) }
        }
    )*};
}

functions! {
    /// The real `malloc`; like all of these, None while they are looked up, or if there is none.
    malloc: Allocate = MALLOC;
    /// The real `free`.
    free: Free = FREE;
    /// The real `realloc`.
    realloc: Reallocate = REALLOC;
    /// The real `calloc`.
    calloc: AllocateTwo = CALLOC;
    /// The real `memalign`.
    memalign: AllocateTwo = MEMALIGN;
    /// The real `aligned_alloc`.
    aligned_alloc: AllocateTwo = ALIGNED_ALLOC;
    /// The real `posix_memalign`.
    posix_memalign: AllocateAt = POSIX_MEMALIGN;
    /// The real `valloc`.
    valloc: Allocate = VALLOC;
    /// The real `pvalloc`.
    pvalloc: Allocate = PVALLOC;
    /// The real `malloc_usable_size`.
    usable: Usable = USABLE;
}

/// How many bytes the allocator used for a block, including its header where that is known.
///
/// # Safety
/// The real allocator returned the block, and it is not freed.
#[inline(always)]
pub unsafe fn usable_size(block: *mut c_void) -> usize {
    if HAS_HEADERS.load(Ordering::Relaxed) {
        // SAFETY: as the caller promises; the allocator is glibc's.
        return unsafe { size_in_header(block) };
    }
    match usable() {
        // SAFETY: as the caller promises.
        Some(function) => unsafe { function(block) },
        None => 0,
    }
}

/// The most frequently called functions, once they have been looked up.
pub mod known {
    use super::{transmute, Allocate, Free, Ordering, FREE, MALLOC};

    /// The real `malloc`.
    ///
    /// # Safety
    /// It was found.
    #[inline(always)]
    pub unsafe fn malloc() -> Allocate {
        // SAFETY: not null, as the caller promises, and of this type.
        unsafe { transmute(MALLOC.load(Ordering::Relaxed)) }
    }

    /// The real `free`.
    ///
    /// # Safety
    /// It was found.
    #[inline(always)]
    pub unsafe fn free() -> Free {
        // SAFETY: not null, as the caller promises, and of this type.
        unsafe { transmute(FREE.load(Ordering::Relaxed)) }
    }
}

/// How many more bytes a glibc block takes than can be used.
const HEADER: usize = 8;

/// Whether sizes are read directly where glibc keeps them: its function for that takes longer than
/// everything else done here.
static HAS_HEADERS: AtomicBool = AtomicBool::new(false);

/// How many bytes glibc uses for a block, including its header: the number before the block, with three flags in it.
///
/// # Safety
/// Blocks have headers, and this one is not freed.
#[inline(always)]
pub unsafe fn size_in_header(block: *mut c_void) -> usize {
    // SAFETY: as the caller promises, the header is there.
    let header = unsafe { block.cast::<usize>().sub(1).read() };
    header & !0b111
}

/// Whether sizes are read from blocks' headers; the real functions are known then.
pub fn has_headers() -> bool {
    HAS_HEADERS.load(Ordering::Relaxed)
}

/// Checks whether the allocator is glibc's, and its blocks have the expected headers.
pub fn look_for_headers() {
    if let (Some(malloc), Some(free), Some(usable)) = (malloc(), free(), usable()) {
        if !is_glibc() {
            return;
        }
        // SAFETY: each block is freed once, and read before that. Sizes that are mapped alone are not tried:
        // freeing one would make the allocator map fewer from then on.
        let alike = [1, 24, 25, 1000, 5000].iter().all(|&size| unsafe {
            let block = malloc(size);
            let found = block.is_null() || size_in_header(block) == usable(block) + HEADER;
            free(block);
            found
        });
        HAS_HEADERS.store(alike, Ordering::Relaxed);
    }
}

/// Whether `malloc` and `free`, which are known by now, are those of glibc. Only on x86-64: elsewhere memory
/// may be tagged, and then a header may not be read through a block's pointer.
fn is_glibc() -> bool {
    if !cfg!(all(target_arch = "x86_64", target_env = "gnu")) {
        return false;
    }
    // SAFETY: the name ends in NUL; the function's address is only looked at.
    let of_libc = unsafe { dlsym(NEXT, b"gnu_get_libc_version\0".as_ptr().cast()) };
    let home = home_of(of_libc);
    !home.is_null()
        && home_of(MALLOC.load(Ordering::Relaxed)) == home
        && home_of(FREE.load(Ordering::Relaxed)) == home
}

/// The start of the library that an address is in; null if it is in none.
fn home_of(address: *mut c_void) -> *mut c_void {
    let mut found = Library {
        path: null_mut(),
        start: null_mut(),
        symbol: null_mut(),
        address: null_mut(),
    };
    // SAFETY: the place is ours; any address may be asked for.
    let is_known = !address.is_null() && unsafe { dladdr(address, &mut found) } != 0;
    if is_known {
        found.start
    } else {
        null_mut()
    }
}
