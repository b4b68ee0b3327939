//! Sections that lose a member, or are destroyed: their reductions and scans have no results.

use crate::engine::elements::part::Part;
use crate::engine::local::Local;
use crate::engine::object::chare::Chare;
use crate::reduction::{self, AllRounds, lose_gathered};
use crate::scan;
use crate::state::members::Members;

/// Handles the end of a section's member. The reductions to which it has not contributed have no
/// results; the contributions that have arrived are reported as failed.
pub(crate) fn lose_member<T: Chare>(local: &Local, part: &Part<T>, section: u32) {
    if !part.knows_section(section) {
        return;
    }
    let Ok(members) = part.section(section) else {
        return;
    };
    let (Some(from), Some(failure)) = (members.loss.from(), members.loss.any()) else {
        return;
    };
    let has_gathered = lose_gathered(part, section, from);
    let has_begun = part.state::<AllRounds>().borrow_mut().lose(section, from);
    if has_begun || has_gathered {
        local.system().fail(failure);
    }
    reduction::fail_lost_claims(part, section, &members);
    scan::lose_scans(local, part, Some(section));
}

/// Removes a section: fails waits for its reductions and scans, and reports the contributions as
/// failed.
pub(crate) fn forget_section<T: Chare>(
    local: &Local,
    part: &Part<T>,
    section: u32,
    members: &Members,
) {
    part.forget_section(section);
    let Err(failure) = part.collection().section(section) else {
        return;
    };
    let (has_begun, claims) = part.state::<AllRounds>().borrow_mut().forget(section);
    let has_gathered = lose_gathered(part, section, 0);
    scan::forget_scans(local, part, section, members, &failure);
    for &number in members.numbers.iter().filter(|&&number| part.has(number)) {
        part.forget_rounds(number, section);
    }
    if has_begun || has_gathered {
        local.system().fail(failure.clone());
    }
    for claim in claims {
        claim(Err(failure.clone()));
    }
}
