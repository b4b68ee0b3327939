//! Detours: messages that a sender sends via the home of their element.
//!
//! [`crate::seeds`] describes why messages take detours, and how their order is kept.

use std::collections::HashMap;

use crate::address::number::ElementId;

/// The elements to which messages of a sender are under way via the home.
#[derive(Debug, Default)]
pub(crate) struct Detours {
    by_element: HashMap<ElementId, Detour>,
    /// The number of the next leftover of this worker.
    count: u64,
}

/// The messages that a moving element leaves under way, for its new worker to wait for: the old
/// worker and a sequence number.
pub(crate) type Leftover = (usize, u64);

/// The messages that must arrive before a sender may send straight to an element.
#[derive(Debug, Default)]
struct Detour {
    /// The number of the sender's own messages that have not met the element.
    own: usize,
    /// The leftovers of other workers from which elements have moved here.
    taken_over: Vec<Leftover>,
    successors: Vec<Successor>,
}

/// A worker to which an element has moved from here. Its messages must not overtake those that had
/// been sent here by then.
///
/// The successor waits for nothing that was sent, or taken over, after the move. Otherwise two
/// workers that exchange elements could wait for each other.
#[derive(Debug)]
struct Successor {
    worker: usize,
    leftover: Leftover,
    /// The count at the time of the move. Messages meet their element in order, so after this many
    /// have met it, the earliest ones have.
    own: usize,
    taken_over: Vec<Leftover>,
}

impl Detour {
    fn is_over(&self) -> bool {
        self.own == 0 && self.taken_over.is_empty()
    }
}

impl Detours {
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.by_element.is_empty()
    }

    /// Returns true while messages to the element are under way via its home: messages of this
    /// sender, or of another worker from which an element has moved here.
    pub(crate) fn has(&self, key: ElementId) -> bool {
        self.by_element.contains_key(&key)
    }

    /// Counts a message that is sent via the home of its element.
    pub(crate) fn begin_own(&mut self, key: ElementId) {
        self.by_element.entry(key).or_default().own += 1;
    }

    /// Returns the number of elements with a detour.
    #[cfg(shuttle)]
    pub(crate) fn count(&self) -> usize {
        self.by_element.len()
    }

    /// Notes that a message has met the element. Returns the successors to notify of arrived
    /// leftovers.
    pub(crate) fn end_own(&mut self, key: ElementId) -> Vec<(usize, Leftover)> {
        self.end_some(key, |own, _| *own = own.saturating_sub(1))
    }

    /// Notes that a leftover has arrived. Returns the successors to notify of further arrived
    /// leftovers.
    pub(crate) fn end_leftover(
        &mut self,
        key: ElementId,
        ended: Leftover,
    ) -> Vec<(usize, Leftover)> {
        self.end_some(key, |_, taken_over| {
            taken_over.retain(|&leftover| leftover != ended)
        })
    }

    fn end_some(
        &mut self,
        key: ElementId,
        end: impl Fn(&mut usize, &mut Vec<Leftover>),
    ) -> Vec<(usize, Leftover)> {
        let Some(detour) = self.by_element.get_mut(&key) else {
            return Vec::new();
        };
        end(&mut detour.own, &mut detour.taken_over);
        for successor in &mut detour.successors {
            end(&mut successor.own, &mut successor.taken_over);
        }
        let is_due =
            |successor: &mut Successor| successor.own == 0 && successor.taken_over.is_empty();
        let notified = detour.successors.extract_if(.., is_due);
        let notified = notified
            .map(|successor| (successor.worker, successor.leftover))
            .collect();
        if detour.is_over() {
            self.by_element.remove(&key);
        }
        notified
    }

    /// Creates the leftover of an element that moves from worker `from` to worker `to`. Also
    /// returns the elements that it concerns.
    pub(crate) fn hand_over(&mut self, from: usize, to: usize) -> (Leftover, Vec<ElementId>) {
        let leftover = (from, self.count);
        self.count += 1;
        for detour in self.by_element.values_mut() {
            detour.successors.push(Successor {
                worker: to,
                leftover,
                own: detour.own,
                taken_over: detour.taken_over.clone(),
            });
        }
        (leftover, self.by_element.keys().copied().collect())
    }

    /// Records that messages to these elements go via their homes until the leftover of an element
    /// that moves here has arrived.
    pub(crate) fn take_over(&mut self, leftover: Leftover, keys: &[ElementId]) {
        for &key in keys {
            let detour = self.by_element.entry(key).or_default();
            detour.taken_over.push(leftover);
        }
    }
}
