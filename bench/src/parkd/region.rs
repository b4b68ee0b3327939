//! Memory for the lists of nodes: two buffers, between which the lists move back and forth.
//!
//! A node's lists are at the start of a region of one buffer. Its children's lists are written to a
//! region of the other buffer: first those above the plane, then those below. After that, the
//! node's own region is free for the children of the children.
//!
//! A single thread first builds the half below, in the part of the region behind the cut. Then it
//! builds the half above, over the same memory. So the lists that are read next were written last,
//! and nothing is ever allocated. If two threads continue, both regions are cut in proportion. If a
//! region is too small, its node continues in a new one.

/// The lengths of a node's lists.
#[derive(Debug, Clone, Copy)]
pub(super) struct Lens {
    pub(super) events: [usize; 3],
    pub(super) triangles: usize,
}

/// The place in a region at which the lists of the half below the plane begin.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cut {
    pub(super) events: usize,
    pub(super) triangles: usize,
}

/// A part of a buffer.
#[derive(Debug)]
pub(super) struct Region<'a> {
    pub(super) events: [&'a mut [u64]; 3],
    pub(super) triangles: &'a mut [u32],
}

impl Region<'_> {
    /// Reborrows the region.
    pub(super) fn reborrow(&mut self) -> Region<'_> {
        let [x, y, z] = &mut self.events;
        Region {
            events: [x, y, z],
            triangles: self.triangles,
        }
    }

    /// Returns the part of the region behind a cut.
    pub(super) fn behind(&mut self, cut: Cut) -> Region<'_> {
        Region {
            events: self
                .events
                .each_mut()
                .map(|events| &mut events[cut.events..]),
            triangles: &mut self.triangles[cut.triangles..],
        }
    }

    /// Returns the parts of the region before and behind a cut.
    pub(super) fn split(&mut self, cut: Cut) -> [Region<'_>; 2] {
        let (first, second) = self.triangles.split_at_mut(cut.triangles);
        let [x, y, z] = self
            .events
            .each_mut()
            .map(|events| events.split_at_mut(cut.events));
        [
            Region {
                events: [x.0, y.0, z.0],
                triangles: first,
            },
            Region {
                events: [x.1, y.1, z.1],
                triangles: second,
            },
        ]
    }

    /// Returns the cut that gives both halves memory in proportion to their triangles.
    pub(super) fn cut_for(&self, below: usize, above: usize) -> Cut {
        let share = |len: usize| (len as u128 * above as u128 / (below + above) as u128) as usize;
        Cut {
            events: share(self.events_len()),
            triangles: share(self.triangles.len()),
        }
    }

    /// Returns true if `count` triangles and their events fit.
    pub(super) fn holds(&self, count: usize) -> bool {
        self.events_len() >= 2 * count && self.triangles.len() >= count
    }

    fn events_len(&self) -> usize {
        let [x, y, z] = self.events.each_ref().map(|events| events.len());
        x.min(y).min(z)
    }
}

/// Memory for the lists of nodes.
#[derive(Debug, Clone, Default)]
pub(super) struct Buffer {
    pub(super) events: [Vec<u64>; 3],
    pub(super) triangles: Vec<u32>,
}

impl Buffer {
    /// Creates a buffer for `count` triangles.
    pub(super) fn new(count: usize) -> Self {
        Self {
            events: [0; 3].map(|zero| vec![zero; 2 * count]),
            triangles: vec![0; count],
        }
    }

    /// Grows the buffer, if necessary, so that `count` triangles fit.
    pub(super) fn grow_to(&mut self, count: usize) {
        for events in &mut self.events {
            let len = events.len().max(2 * count);
            events.resize(len, 0);
        }
        let len = self.triangles.len().max(count);
        self.triangles.resize(len, 0);
    }

    pub(super) fn region(&mut self) -> Region<'_> {
        Region {
            events: self.events.each_mut().map(Vec::as_mut_slice),
            triangles: &mut self.triangles,
        }
    }
}
