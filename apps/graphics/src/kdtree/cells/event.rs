//! Events: the places where a sweep along one axis enters a triangle, leaves it, or touches it only
//! at one position.
//!
//! An event is one `u64`. Its integer order is the order that the sweep needs: first the position,
//! then the kind (end before planar before start), then the reference. So no two events are equal,
//! and every sorting algorithm gives the same list.
//!
//! ```text
//!  63                            32 31  30 29                           0
//! ┌────────────────────────────────┬──────┬──────────────────────────────┐
//! │ position, as an ordered integer│ kind │ index of the reference       │
//! └────────────────────────────────┴──────┴──────────────────────────────┘
//! ```
//!
//! # Source
//! I. Wald, V. Havran: On building fast kd-trees for ray tracing, and on doing that in O(N log N).
//! IEEE Symposium on Interactive Ray Tracing 2006, sections 4.2 and 4.3. Radix keys of floats: M.
//! Herf, Radix Tricks, 2001.

#[cfg(test)]
mod tests;

/// The number of low bits of an event that hold the index of its reference.
const INDEX_BITS: u32 = 30;
/// The number of low bits that the radix sort ignores: events are generated in the order of their
/// indices, and the sort is stable.
const RADIX_SKIP_BITS: u32 = INDEX_BITS;
/// The number of bits per pass of the radix sort: 34 bits of kind and position take four passes.
const RADIX_BITS: u32 = 9;
/// Lists shorter than this are sorted by comparison.
const RADIX_LEN_MIN: usize = 2048;

/// The kind of an event. The order of the discriminants is the order of events at the same
/// position.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub(in crate::kdtree) enum Kind {
    /// The sweep leaves the triangle.
    End = 0,
    /// The triangle lies in the plane of the sweep.
    Planar = 1,
    /// The sweep enters the triangle.
    Start = 2,
}

/// One event of a sweep along one axis. The module documentation shows the layout.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(in crate::kdtree) struct Event(u64);

impl Event {
    /// A value that is greater than every real event.
    pub(in crate::kdtree) const LAST: Self = Self(u64::MAX);

    /// Packs an event. `position` must not be NaN, and `reference` must be below 2^30.
    #[inline]
    pub(in crate::kdtree) fn new(position: f32, kind: Kind, reference: u32) -> Self {
        debug_assert!(!position.is_nan() && reference >> INDEX_BITS == 0);
        Self(
            u64::from(ordered_from_float(position)) << 32
                | u64::from(kind as u8) << INDEX_BITS
                | u64::from(reference),
        )
    }

    /// Returns the position on the axis.
    #[inline]
    pub(in crate::kdtree) fn position(self) -> f32 {
        float_from_ordered((self.0 >> 32) as u32)
    }

    /// Returns the kind of the event, as the discriminant of [`Kind`].
    #[inline]
    pub(in crate::kdtree) fn kind(self) -> u32 {
        (self.0 as u32) >> INDEX_BITS
    }

    /// Returns true if the triangle lies in the plane of the sweep.
    #[inline]
    pub(in crate::kdtree) fn is_planar(self) -> bool {
        self.0 >> INDEX_BITS & 1 != 0
    }

    /// Returns the discriminant of the [`Kind`] in the low 32 bits, and 1 in the high 32 bits if
    /// the event is a start. Adding up these values counts both in one pass.
    #[inline]
    pub(in crate::kdtree) fn kind_and_start(self) -> u64 {
        (self.0 >> INDEX_BITS & 3) | (self.0 << 1 & 1 << 32)
    }

    /// Returns the index of the reference within its cell.
    #[inline]
    pub(in crate::kdtree) fn reference(self) -> u32 {
        self.0 as u32 & ((1 << INDEX_BITS) - 1)
    }

    /// Returns this event with another reference index.
    #[inline]
    pub(in crate::kdtree) fn with_reference(self, reference: u32) -> Self {
        Self(self.0 & !((1 << INDEX_BITS) - 1) | u64::from(reference))
    }

    /// Returns this event with a reference index that is smaller by `distance`.
    #[inline]
    pub(in crate::kdtree) fn moved_down(self, distance: u32) -> Self {
        Self(self.0 - u64::from(distance))
    }

    /// Returns true if both events have the same position and the same kind.
    #[inline]
    pub(in crate::kdtree) fn is_beside(self, other: Self) -> bool {
        self.0 >> INDEX_BITS == other.0 >> INDEX_BITS
    }

    /// Returns true if both events are planar and have the same position.
    #[inline]
    pub(in crate::kdtree) fn is_planar_with(self, other: Self) -> bool {
        self.kind() == Kind::Planar as u32 && self.is_beside(other)
    }
}

/// Maps a float to an integer and preserves the order. Both zeros map to the same integer.
#[inline]
fn ordered_from_float(value: f32) -> u32 {
    let bits = (value + 0.0).to_bits();
    bits ^ (((bits as i32 >> 31) as u32) | 0x8000_0000)
}

/// Inverts [`ordered_from_float`].
#[inline]
fn float_from_ordered(ordered: u32) -> f32 {
    f32::from_bits(ordered ^ (((!ordered as i32 >> 31) as u32) | 0x8000_0000))
}

/// Sorts events that were generated in the order of their references.
///
/// Long lists are sorted by a stable least-significant-digit radix sort on position and kind; the
/// index needs no pass. Takes O(n) time. `spare` is used as the second buffer and keeps its
/// capacity.
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

/// Distributes `from` into `to` by one digit. Returns false and leaves `to` unchanged if all events
/// have the same digit.
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
        // The condition advances both slices by arithmetic, without a branch: the processor cannot
        // predict from which list the next event comes.
        let from_first = a < b;
        merged.push(if from_first { a } else { b });
        first = &first[usize::from(from_first)..];
        second = &second[usize::from(!from_first)..];
    }
    merged.extend_from_slice(first);
    merged.extend_from_slice(second);
    merged
}
