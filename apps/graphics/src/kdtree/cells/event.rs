//! Events: where a sweep along one axis meets a triangle, leaves it, or passes it in one go.
//!
//! An event is one `u64` whose plain integer order is the order that the sweep needs: position first,
//! then kind (end before planar before start), then the triangle, so that no two events are equal and every
//! way of sorting gives the same list.
//!
//! ```text
//!  63                            32 31  30 29                           0
//! ┌────────────────────────────────┬──────┬──────────────────────────────┐
//! │ position, as an ordered integer│ kind │ index of the reference       │
//! └────────────────────────────────┴──────┴──────────────────────────────┘
//! ```
//!
//! # Source
//! I. Wald, V. Havran: On building fast kd-trees for ray tracing, and on doing that in O(N log N). IEEE
//! Symposium on Interactive Ray Tracing 2006, sections 4.2 and 4.3. Radix keys of floats: M. Herf, Radix
//! Tricks, 2001.

#[cfg(test)]
mod tests;

/// The low bits of an event that hold the index of its reference.
const INDEX_BITS: u32 = 30;
/// The low bits that stay out of the sort: the events are made in the order of their indices.
const RADIX_SKIP_BITS: u32 = INDEX_BITS;
/// Bits per pass of the radix sort: 34 bits of kind and position take four passes.
const RADIX_BITS: u32 = 9;
/// Lists shorter than this are sorted by comparison.
const RADIX_LEN_MIN: usize = 2048;

/// What happens at an event. The order of the discriminants is the order at one position.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub(in crate::kdtree) enum Kind {
    /// The sweep leaves the triangle.
    End = 0,
    /// The triangle lies in the plane of the sweep.
    Planar = 1,
    /// The sweep meets the triangle.
    Start = 2,
}

/// One event of a sweep along one axis, as the header draws it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(in crate::kdtree) struct Event(u64);

impl Event {
    /// Behind all others.
    pub(in crate::kdtree) const LAST: Self = Self(u64::MAX);

    /// Packs an event. `position` is no NaN; `reference` is below 2^30.
    #[inline]
    pub(in crate::kdtree) fn new(position: f32, kind: Kind, reference: u32) -> Self {
        debug_assert!(!position.is_nan() && reference >> INDEX_BITS == 0);
        Self(
            u64::from(ordered_from_float(position)) << 32
                | u64::from(kind as u8) << INDEX_BITS
                | u64::from(reference),
        )
    }

    /// Where on the axis.
    #[inline]
    pub(in crate::kdtree) fn position(self) -> f32 {
        float_from_ordered((self.0 >> 32) as u32)
    }

    /// What happens there, as the number of the [`Kind`].
    #[inline]
    pub(in crate::kdtree) fn kind(self) -> u32 {
        (self.0 as u32) >> INDEX_BITS
    }

    /// Whether it is of a triangle that lies in the plane of the sweep.
    #[inline]
    pub(in crate::kdtree) fn is_planar(self) -> bool {
        self.0 >> INDEX_BITS & 1 != 0
    }

    /// The number of the [`Kind`], and above its 32 bits whether that is a start: what sums count by.
    #[inline]
    pub(in crate::kdtree) fn kind_and_start(self) -> u64 {
        (self.0 >> INDEX_BITS & 3) | (self.0 << 1 & 1 << 32)
    }

    /// The index of the reference within its cell.
    #[inline]
    pub(in crate::kdtree) fn reference(self) -> u32 {
        self.0 as u32 & ((1 << INDEX_BITS) - 1)
    }

    /// The same event of the same triangle, where that has another index.
    #[inline]
    pub(in crate::kdtree) fn with_reference(self, reference: u32) -> Self {
        Self(self.0 & !((1 << INDEX_BITS) - 1) | u64::from(reference))
    }

    /// The same event of the same triangle, where that has an index less by some distance.
    #[inline]
    pub(in crate::kdtree) fn moved_down(self, distance: u32) -> Self {
        Self(self.0 - u64::from(distance))
    }

    /// Whether both events are at the same position and of the same kind.
    #[inline]
    pub(in crate::kdtree) fn is_beside(self, other: Self) -> bool {
        self.0 >> INDEX_BITS == other.0 >> INDEX_BITS
    }

    /// Whether both events are planar and at the same position.
    #[inline]
    pub(in crate::kdtree) fn is_planar_with(self, other: Self) -> bool {
        self.kind() == Kind::Planar as u32 && self.is_beside(other)
    }
}

/// Maps a float to an integer so that the order is kept. Both zeros become the same.
#[inline]
fn ordered_from_float(value: f32) -> u32 {
    let bits = (value + 0.0).to_bits();
    bits ^ (((bits as i32 >> 31) as u32) | 0x8000_0000)
}

/// Undoes [`ordered_from_float`].
#[inline]
fn float_from_ordered(ordered: u32) -> f32 {
    f32::from_bits(ordered ^ (((!ordered as i32 >> 31) as u32) | 0x8000_0000))
}

/// Sorts events that were made in the order of their references.
///
/// Long lists by a stable radix sort from the least significant digit over position and kind; the
/// index needs no pass. Cost: O(n); `spare` serves as the other buffer and keeps its capacity.
pub(in crate::kdtree) fn sort(events: &mut Vec<Event>, spare: &mut Vec<Event>) {
    if events.is_sorted() {
        return;
    }
    if events.len() < RADIX_LEN_MIN {
        events.sort_unstable();
        return;
    }
    spare.clear();
    spare.resize(events.len(), Event::default());
    let mut shift = RADIX_SKIP_BITS;
    while shift < u64::BITS {
        let bits = RADIX_BITS.min(u64::BITS - shift);
        if radix_pass(events, spare, shift, bits) {
            std::mem::swap(events, spare);
        }
        shift += bits;
    }
}

/// Distributes `from` into `to` by one digit, unless all events share that digit (then returns false).
fn radix_pass(from: &[Event], to: &mut [Event], shift: u32, bits: u32) -> bool {
    const BUCKETS: usize = 1 << RADIX_BITS;
    let mask = (1_usize << bits) - 1;
    let digit = |event: &Event| (event.0 >> shift) as usize & mask & (BUCKETS - 1);
    let mut next = [0_usize; BUCKETS];
    for event in from {
        next[digit(event)] += 1;
    }
    if next.contains(&from.len()) {
        return false;
    }
    let mut sum = 0;
    for slot in &mut next {
        sum += std::mem::replace(slot, sum);
    }
    for event in from {
        let slot = &mut next[digit(event)];
        to[*slot] = *event;
        *slot += 1;
    }
    true
}

/// Merges two sorted lists into a new one.
pub(in crate::kdtree) fn merge(first: &[Event], second: &[Event]) -> Vec<Event> {
    let mut merged = Vec::with_capacity(first.len() + second.len());
    let (mut first, mut second) = (first, second);
    while let (Some(&a), Some(&b)) = (first.first(), second.first()) {
        // Both slices move by a condition that is computed, not jumped on: which list is next is pure chance.
        let from_first = a < b;
        merged.push(if from_first { a } else { b });
        first = &first[usize::from(from_first)..];
        second = &second[usize::from(!from_first)..];
    }
    merged.extend_from_slice(first);
    merged.extend_from_slice(second);
    merged
}
