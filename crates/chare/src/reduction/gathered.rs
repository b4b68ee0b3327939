//! The shares of sections' reductions that wait at members, in binomial trees of members.

use std::collections::HashMap;

use super::Share;
use crate::address::number::Number;
use crate::engine::elements::part::Part;
use crate::engine::object::chare::Chare;
use crate::state::{Feature, LocalState};

/// The shares that wait at a member for those of the members below it, by section and reduction:
/// the number of missing shares, and the sum.
pub(crate) type Gathered = HashMap<(u32, u64), (usize, Share)>;

/// The shares that wait at each member on this worker.
#[derive(Default)]
pub(crate) struct AllGathered(pub(crate) HashMap<Number, Gathered>);

impl LocalState for AllGathered {
    const FEATURE: Feature = Feature::Section;
}

impl AllGathered {
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Gathered> {
        self.0.values()
    }
}

/// Takes the shares that wait at a member, if there are any.
pub(crate) fn take_gathered<T: Chare>(part: &Part<T>, number: Number) -> Option<Gathered> {
    let all = &mut part.state::<AllGathered>().borrow_mut().0;
    // Nearly always, nothing waits: then the number is not hashed.
    (!all.is_empty()).then(|| all.remove(&number))?
}

/// Puts shares back that [`take_gathered`] has taken, for a member that has moved here.
pub(crate) fn put_gathered<T: Chare>(part: &Part<T>, number: Number, gathered: Option<Gathered>) {
    if let Some(gathered) = gathered {
        let all = &mut part.state::<AllGathered>().borrow_mut().0;
        all.insert(number, gathered);
    }
}

/// Drops the shares that wait at members of a section for reductions from `from` on. Returns true
/// if there were any.
pub(crate) fn lose_gathered<T: Chare>(part: &Part<T>, section: u32, from: u64) -> bool {
    let mut lost = false;
    part.state::<AllGathered>()
        .borrow_mut()
        .0
        .retain(|_, gathered| {
            gathered.retain(|&(of, round), _| {
                let is_lost = of == section && round >= from;
                lost |= is_lost;
                !is_lost
            });
            !gathered.is_empty()
        });
    lost
}
