//! Events, one word each, so that a list of them sorts as integers and a sweep reads one stream.
//!
//! ```text
//!  63                            32 31  30 29                           0
//! ┌────────────────────────────────┬──────┬──────────────────────────────┐
//! │ position, in the order of u32  │ kind │ index of the node's triangle │
//! └────────────────────────────────┴──────┴──────────────────────────────┘
//! ```

use super::cell::Cell;

/// The sweep leaves the triangle.
pub(super) const END: u64 = 0;
/// The triangle lies in the plane of the sweep.
pub(super) const PLANAR: u64 = 1;
/// The sweep reaches the triangle.
pub(super) const START: u64 = 2;

/// The number of bits below the kind.
pub(super) const KIND_SHIFT: u32 = 30;
const INDEX_MASK: u64 = (1 << KIND_SHIFT) - 1;

/// The number of bits in a digit of the sort: position and kind make four digits.
const DIGIT_BITS: u32 = 9;
const DIGITS: usize = 1 << DIGIT_BITS;

/// Packs an event. Both zeros are the same position.
#[inline]
pub(super) fn pack(position: f32, kind: u64, index: usize) -> u64 {
    let bits = (position + 0.0).to_bits();
    let ordered = if bits >> 31 == 0 {
        bits | 1 << 31
    } else {
        !bits
    };
    u64::from(ordered) << 32 | kind << KIND_SHIFT | index as u64
}

#[inline]
pub(super) fn position(event: u64) -> f32 {
    f32::from_bits((event >> 32) as u32 ^ flip_of(event))
}

/// Returns the bits to flip in the position of an event. They depend only on its sign.
#[inline]
pub(super) fn flip_of(event: u64) -> u32 {
    if event >> 63 == 0 { u32::MAX } else { 1 << 31 }
}

#[inline]
pub(super) fn kind(event: u64) -> u64 {
    event >> KIND_SHIFT & 3
}

/// Returns position and kind. A sweep does not distinguish events with the same rank.
#[inline]
pub(super) fn rank(event: u64) -> u64 {
    event >> KIND_SHIFT
}

#[inline]
pub(super) fn index(event: u64) -> usize {
    (event & INDEX_MASK) as usize
}

#[inline]
pub(super) fn with_index(event: u64, index: u32) -> u64 {
    event & !INDEX_MASK | u64::from(index)
}

/// Appends the events of a triangle along an axis to a list.
pub(super) fn push(events: &mut Vec<u64>, extent: &Cell, axis: usize, index: usize) {
    let (low, high) = (extent.low[axis], extent.high[axis]);
    if low == high {
        events.push(pack(low, PLANAR, index));
    } else {
        events.push(pack(low, START, index));
        events.push(pack(high, END, index));
    }
}

/// Sorts events that were created in the order of their triangles. `spare` gets their length.
///
/// # Source
/// Radix sort from the least significant digit: D. Knuth, The Art of Computer Programming 3,
/// section 5.2.5.
pub(super) fn sort(events: &mut Vec<u64>, spare: &mut Vec<u64>) {
    spare.resize(events.len(), 0);
    for shift in (KIND_SHIFT..u64::BITS).step_by(DIGIT_BITS as usize) {
        let digit = |event: u64| (event >> shift) as usize % DIGITS;
        let mut places = [0; DIGITS];
        for &event in &*events {
            places[digit(event)] += 1;
        }
        let mut sum = 0;
        for place in &mut places {
            sum += std::mem::replace(place, sum);
        }
        for &event in &*events {
            let place = &mut places[digit(event)];
            spare[*place] = event;
            *place += 1;
        }
        std::mem::swap(events, spare);
    }
}
