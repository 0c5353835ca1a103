//! What Steelyard's statistical tests compute for every pair, and for every flip of the pairs' signs:
//! `steelyard/stats` loads it (`stats/native.py`). All results but the scores and the effects of the order
//! come from whole numbers, so that they are the same on every processor.

#![warn(missing_docs)]

mod flips;
mod order;
mod scores;
mod sums;
mod words;

use flips::{Look, Room, Whole};
use scores::Scores;
use std::cell::RefCell;
use std::slice::{from_raw_parts, from_raw_parts_mut};

thread_local! {
    static ROOM: RefCell<Room> = const { RefCell::new([Vec::new(), Vec::new()]) };
}

/// The signed scores of `pairs` pairs for each of `many` changes, a row each.
///
/// # Safety
/// `differences` and `levels` have `pairs` numbers, 1 or more, `changes` has `many`, and `found` has room
/// for a row for each change.
#[no_mangle]
pub unsafe extern "C" fn steelyard_scores(
    differences: *const f64,
    levels: *const f64,
    pairs: usize,
    changes: *const f64,
    many: usize,
    found: *mut f64,
) {
    let mut scores = Scores::new(
        from_raw_parts(differences, pairs),
        from_raw_parts(levels, pairs),
    );
    let rows = from_raw_parts_mut(found, many * pairs).chunks_exact_mut(pairs);
    for (&change, row) in from_raw_parts(changes, many).iter().zip(rows) {
        scores.scores(change, row);
    }
}

/// How much the order of each of `pairs` pairs adds to its difference, estimated from the pairs before it.
///
/// # Safety
/// `differences` and `orders` have `pairs` numbers, 1 or more, and `found` has room for as many.
#[no_mangle]
pub unsafe extern "C" fn steelyard_effects_of_order(
    differences: *const f64,
    orders: *const i64,
    pairs: usize,
    found: *mut f64,
) {
    order::effects(
        from_raw_parts(differences, pairs),
        from_raw_parts(orders, pairs),
        from_raw_parts_mut(found, pairs),
    );
}

/// The signed ranks, in the form of the scores of `steelyard_scores`.
///
/// # Safety
/// The same as there.
#[no_mangle]
pub unsafe extern "C" fn steelyard_ranks(
    differences: *const f64,
    pairs: usize,
    changes: *const f64,
    many: usize,
    found: *mut f64,
) {
    let (differences, mut order) = (from_raw_parts(differences, pairs), places(pairs));
    let rows = from_raw_parts_mut(found, many * pairs).chunks_exact_mut(pairs);
    for (&change, row) in from_raw_parts(changes, many).iter().zip(rows) {
        scores::ranks(differences, change, &mut order, row);
    }
}

/// Writes to `whole`, for each of `many` changes, the signed scores in whole units followed by the signed
/// ranks; and to `sums` the sum of each of the two over the root of its squares. `whole` may be null, and is
/// then left out.
///
/// # Safety
/// The same as of `steelyard_scores`; `whole` is null or has room for two rows for each change, `sums` for
/// two numbers for each.
#[no_mangle]
pub unsafe extern "C" fn steelyard_whole(
    differences: *const f64,
    levels: *const f64,
    pairs: usize,
    changes: *const f64,
    many: usize,
    whole: *mut i16,
    sums: *mut f64,
) {
    let differences = from_raw_parts(differences, pairs);
    let mut scores = Scores::new(differences, from_raw_parts(levels, pairs));
    let (mut order, mut signed, mut units) = (places(pairs), vec![0.0; pairs], vec![0; pairs]);
    for (number, &change) in from_raw_parts(changes, many).iter().enumerate() {
        for kind in 0..2 {
            match kind {
                0 => scores.scores(change, &mut signed),
                _ => scores::ranks(differences, change, &mut order, &mut signed),
            }
            scores::in_units(&signed, &mut units);
            *sums.add(2 * number + kind) = scores::sum_by_root(&units);
            if !whole.is_null() {
                let place = whole.add((2 * number + kind) * pairs);
                place.copy_from_nonoverlapping(units.as_ptr(), pairs);
            }
        }
    }
}

fn places(pairs: usize) -> Vec<u32> {
    (0..pairs as u32).collect()
}

/// Converts signed scores to whole units.
///
/// # Safety
/// Both have `pairs` numbers, 1 or more.
#[no_mangle]
pub unsafe extern "C" fn steelyard_units(signed: *const f64, pairs: usize, whole: *mut i16) {
    scores::in_units(
        from_raw_parts(signed, pairs),
        from_raw_parts_mut(whole, pairs),
    );
}

/// The scale of each pair's noise for one change.
///
/// # Safety
/// `differences`, `levels` and `found` have `pairs` numbers, 1 or more.
#[no_mangle]
pub unsafe extern "C" fn steelyard_scales(
    differences: *const f64,
    levels: *const f64,
    pairs: usize,
    change: f64,
    found: *mut f64,
) {
    let mut scores = Scores::new(
        from_raw_parts(differences, pairs),
        from_raw_parts(levels, pairs),
    );
    from_raw_parts_mut(found, pairs).copy_from_slice(scores.scales(change));
}

/// The sum of whole scores after each of the first `flips` flips, a power of two.
///
/// # Safety
/// `whole` has `pairs` numbers, and `found` has `flips`.
#[no_mangle]
pub unsafe extern "C" fn steelyard_sums(
    whole: *const i16,
    pairs: usize,
    found: *mut f32,
    flips: usize,
) {
    let (whole, found) = (
        from_raw_parts(whole, pairs),
        from_raw_parts_mut(found, flips),
    );
    ROOM.with_borrow_mut(|room| widest::all_sums(whole, found, room));
}

/// After how many of the flips that differ for so many pairs the sum of whole scores is at least as large
/// as the observed one; with `fold` only flips of the subgroup are counted.
///
/// # Safety
/// `whole` has `kinds` times `pairs` numbers, 1 or 2 times 1 or more.
#[no_mangle]
pub unsafe extern "C" fn steelyard_as_large(
    whole: *const i16,
    kinds: usize,
    pairs: usize,
    counts: f64,
    fold: bool,
) -> usize {
    let scores = from_raw_parts(whole, kinds * pairs);
    ROOM.with_borrow_mut(|room| {
        widest::as_large(
            Whole {
                scores,
                kinds,
                counts,
            },
            fold,
            room,
        )
    })
}

/// A look at whole scores that may drop up to `may_drop` of the distinct flips. Writes those that it drops
/// to `newest`, and returns their number.
///
/// # Safety
/// `whole` has `kinds` times `pairs` numbers, 1 or 2 times 1 or more, `dropped` has `many`, and `newest` has
/// room for all flips.
#[no_mangle]
pub unsafe extern "C" fn steelyard_look(
    whole: *const i16,
    kinds: usize,
    pairs: usize,
    counts: f64,
    dropped: *const u16,
    many: usize,
    may_drop: usize,
    likely: f64,
    newest: *mut u16,
    bound: *mut f32,
    rejected: *mut bool,
) -> usize {
    let scores = from_raw_parts(whole, kinds * pairs);
    let (whole, dropped) = (
        Whole {
            scores,
            kinds,
            counts,
        },
        from_raw_parts(dropped, many),
    );
    let look = ROOM.with_borrow_mut(|room| widest::look(whole, dropped, may_drop, likely, room));
    newest.copy_from_nonoverlapping(look.newest.as_ptr(), look.newest.len());
    (*bound, *rejected) = (look.bound, look.rejected);
    look.newest.len()
}

/// The same functions, compiled for the widest registers of this processor: on whole numbers all give the same.
mod widest {
    use super::{flips, Look, Room, Whole};

    macro_rules! widest {
        ($name:ident($($argument:ident: $kind:ty),*) -> $result:ty) => {
            pub fn $name($($argument: $kind),*) -> $result {
                #[cfg(target_arch = "x86_64")]
                {
                    #[target_feature(enable = "avx2")]
                    unsafe fn wide($($argument: $kind),*) -> $result {
                        flips::$name($($argument),*)
                    }
                    if std::arch::is_x86_feature_detected!("avx2") {
                        // Safety: the processor has what it was compiled for.
                        return unsafe { wide($($argument),*) };
                    }
                }
                flips::$name($($argument),*)
            }
        };
    }

    widest!(all_sums(scores: &[i16], found: &mut [f32], room: &mut Room) -> ());
    widest!(as_large(whole: Whole, fold: bool, room: &mut Room) -> usize);
    widest!(look(whole: Whole, dropped: &[u16], may_drop: usize, likely: f64, room: &mut Room) -> Look);
}
