//! The binomial tree of a section's members: multicasts go down and reductions go up, from member
//! to member.
//!
//! The first member is the top. Messages along the tree go to a member wherever it is, even while
//! it is a seed. After a member has ended, the shares that wait with it or arrive later go straight
//! to the root of the section's reductions. The root counts contributions, however they arrive.

use super::Members;
use crate::address::number::Number;
use crate::engine::elements::collection::Collection;
use crate::engine::elements::parcel::Parcel;
use crate::engine::elements::part::Part;
use crate::engine::local::Local;
use crate::engine::local::any_thread;
use crate::engine::object::chare::Chare;
use crate::engine::system::System;
use crate::failure::Failure;
use crate::reduction::{self, AllGathered, Share};
use crate::spread::Spread;

/// Returns the positions of the members directly below the one at `position`, in a binomial tree of
/// `count` members.
fn below(position: usize, count: usize) -> impl Iterator<Item = usize> {
    let span = if position == 0 {
        usize::BITS
    } else {
        position.trailing_zeros()
    };
    (0..span)
        .map(move |bit| position.saturating_add(1 << bit))
        .take_while(move |&below| below < count)
}

/// Returns the position of the member above the one at `position`, which is not 0.
fn above(position: usize) -> usize {
    position & (position - 1)
}

/// A multicast on its way down the tree.
pub(crate) struct PassOn<S> {
    pub(crate) spread: S,
    pub(crate) section: u32,
    pub(crate) priority: i32,
    pub(crate) position: usize,
}

impl<T: Chare, S: Spread<T>> Parcel<T> for PassOn<S> {
    fn entry(&self) -> &'static str {
        self.spread.name()
    }

    /// Sends the message to the members below and delivers it to this one. It is sent from the
    /// worker where the member is: messages that arrived for the member at its old worker were
    /// forwarded from there, and reach the members below first.
    fn deliver(self, local: &Local, part: &Part<T>, number: Number) {
        if !part.has(number) {
            return part.keep(local, number, Box::new(self));
        }
        let members = match part.section(self.section) {
            Ok(members) => members,
            Err(failure) => return local.system().fail(failure),
        };
        for position in below(self.position, members.numbers.len()) {
            let one = part.one(members.numbers[position]);
            local.guard(|| {
                one.with_priority(self.priority).send_parcel(Self {
                    spread: self.spread.clone(),
                    section: self.section,
                    priority: self.priority,
                    position,
                });
            });
        }
        // The last receiver gets the message itself, without a copy.
        self.spread.into_parcel().deliver(local, part, number);
    }

    fn fail(self, system: &System, failure: Failure) {
        system.fail(failure);
    }
}

/// A share of a reduction on its way up the tree of members.
struct Rise {
    collection: u32,
    section: u32,
    position: usize,
    round: u64,
    share: Share,
}

impl<T: Chare> Parcel<T> for Rise {
    fn entry(&self) -> &'static str {
        "reduction"
    }

    /// Adds the share at the member, even if one of its entries is running or waits.
    fn deliver(self, local: &Local, part: &Part<T>, number: Number) {
        if !part.has(number) {
            return part.keep(local, number, Box::new(self));
        }
        let members = match part.section(self.section) {
            Ok(members) => members,
            Err(failure) => return local.system().fail(failure),
        };
        gather(
            local,
            part,
            &members,
            self.section,
            self.position,
            self.round,
            self.share,
        );
    }

    /// Sends the share to the root of the reduction, because the member has ended. If the member
    /// contributed before it ended, its share is at the root too. Otherwise there will be no
    /// result.
    fn fail(self, system: &System, _failure: Failure) {
        let Self {
            collection,
            section,
            round,
            share,
            ..
        } = self;
        let members = Collection::<T>::of(system, collection).section(section);
        let root = members.and_then(|members| members.loss.of(round).map_or(Ok(members.root), Err));
        match root {
            Ok(root) => any_thread::post(system, root, move |local| {
                let part = Part::<T>::of(local, collection);
                reduction::send_to_root(local, &part, Some(section), round, share);
            }),
            Err(failure) => system.fail(failure),
        }
    }
}

/// Merges a share at a member, and sends the sum up when all members below have sent theirs.
pub(crate) fn gather<T: Chare>(
    local: &Local,
    part: &Part<T>,
    members: &Members,
    section: u32,
    position: usize,
    round: u64,
    share: Share,
) {
    if let Some(failure) = members.loss.of(round) {
        return local.system().fail(failure);
    }
    let count = members.numbers.len();
    let (number, key) = (members.numbers[position], (section, round));
    let mut gathered = part.state::<AllGathered>().borrow_mut();
    let own = gathered.0.entry(number).or_default();
    let (waiting, sum) = own
        .entry(key)
        .or_insert_with(|| (1 + below(position, count).count(), Share::default()));
    *waiting -= 1;
    sum.add(share);
    // The sum is complete when the member itself and all members directly below have contributed.
    let done = (*waiting == 0).then(|| own.remove(&key)).flatten();
    if own.is_empty() {
        gathered.0.remove(&number);
    }
    drop(gathered);
    let Some((_, share)) = done else { return };
    if position == 0 {
        return reduction::send_to_root(local, part, Some(section), round, share);
    }
    let position = above(position);
    part.one(members.numbers[position]).send_parcel(Rise {
        collection: part.collection().id(),
        section,
        position,
        round,
        share,
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_binomial_tree_reaches_every_member_once() {
        for count in 0..70 {
            let mut reached = vec![0; count];
            let mut front = if count > 0 { vec![0] } else { Vec::new() };
            while let Some(position) = front.pop() {
                reached[position] += 1;
                for child in below(position, count) {
                    assert_eq!(above(child), position);
                    front.push(child);
                }
            }
            assert!(
                reached.iter().all(|&times| times == 1),
                "{count}: {reached:?}"
            );
        }
    }
}
