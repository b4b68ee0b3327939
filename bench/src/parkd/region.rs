//! Memory for the lists of nodes: two buffers, between which the lists go to and fro.
//!
//! A node's lists are at the start of a region of one buffer. Its children get theirs from it in a region of the
//! other, those above the plane first, then those below; after that the node's own region is free for what the children's
//! children need. One thread builds what is below first, in what is behind it, and then what is above, over the same
//! places again: what is read next was written last, and nothing is ever allocated. Where two threads go on, both
//! regions are cut in proportion. Should a region not do, its node goes on in a new one.

/// The lists of a node: how long they are.
#[derive(Debug, Clone, Copy)]
pub(super) struct Lens {
    pub(super) events: [usize; 3],
    pub(super) triangles: usize,
}

/// Where in a region the lists of the half below the plane begin.
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
    /// The same region for a while.
    pub(super) fn again(&mut self) -> Region<'_> {
        let [x, y, z] = &mut self.events;
        Region {
            events: [x, y, z],
            triangles: self.triangles,
        }
    }

    /// What is behind a place.
    pub(super) fn behind(&mut self, cut: Cut) -> Region<'_> {
        Region {
            events: self
                .events
                .each_mut()
                .map(|events| &mut events[cut.events..]),
            triangles: &mut self.triangles[cut.triangles..],
        }
    }

    /// Both sides of a place: what is before it and what is behind.
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

    /// Where to cut so that both sides have room in proportion.
    pub(super) fn cut_for(&self, below: usize, above: usize) -> Cut {
        let share = |len: usize| (len as u128 * above as u128 / (below + above) as u128) as usize;
        Cut {
            events: share(self.events_len()),
            triangles: share(self.triangles.len()),
        }
    }

    /// Whether so many triangles and their events fit.
    pub(super) fn holds(&self, count: usize) -> bool {
        self.events_len() >= 2 * count && self.triangles.len() >= count
    }

    fn events_len(&self) -> usize {
        let [x, y, z] = self.events.each_ref().map(|events| events.len());
        x.min(y).min(z)
    }
}

/// A buffer.
#[derive(Debug, Clone, Default)]
pub(super) struct Buffer {
    pub(super) events: [Vec<u64>; 3],
    pub(super) triangles: Vec<u32>,
}

impl Buffer {
    /// Room for so many triangles.
    pub(super) fn new(count: usize) -> Self {
        Self {
            events: [0; 3].map(|zero| vec![zero; 2 * count]),
            triangles: vec![0; count],
        }
    }

    /// Makes the buffer at least so long that so many triangles fit.
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
