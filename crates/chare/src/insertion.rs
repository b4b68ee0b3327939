//! Insertion of elements into arrays that reduce meanwhile: from which reduction on a new element
//! takes part.
//!
//! Messages that its maker sent to all elements earlier do not reach the new element, so no
//! reduction that they trigger may wait for it. Later messages of the maker reach the element, and
//! the reductions that they trigger must wait for it. So an insertion takes part in the order of
//! the maker's messages:
//!
//! ```text
//! maker        reports the start to the root, then sends a mark to each worker, in order
//! each worker  at the mark: reports the first reduction without contributions of its elements
//! root         after all answers: the last of these is the element's first; counts it, has it made
//! ```
//! A message that a worker keeps for an element that is still to come has not run when a mark
//! passes it, and may still trigger a contribution. Then the worker keeps the mark too, and counts
//! the contributions of such messages when they run. The insertion waits for its turn: after the
//! elements of all earlier insertions have been made, the root asks again. If messages are kept
//! even then, for an element that is on its way from another worker, the answer comes after they
//! have run.
//!
//! The insertion does not wait for messages that wait for the end of an `async` entry: that end may
//! wait for the insertion.
//! # Invariants
//! 1. The root completes no reduction while it does not know whether a new element takes part, for
//!    any insertion that began before the first contribution to that reduction.
//! 2. Everything that an insertion waits for happens by itself, or waits for an insertion with an
//!    earlier turn. Turns are in the order in which the marks of insertions had arrived everywhere;
//!    for each maker this is its own order.

use crate::address::directory::{NO_SLOT, REQUESTED};
use crate::address::number::Number;
use crate::engine::elements::parcel::Parcel;
use crate::engine::elements::part::Part;
use crate::engine::local::{self, Local};
use crate::engine::object::chare::Chare;
use crate::engine::system::System;
use crate::failure::Failure;
use crate::migration;
use crate::reduction::{self, AllRounds, Insertion, Insertions, Make};

/// An answer about an insertion.
#[derive(Clone, Copy, Debug)]
struct Answer {
    insertion: Number,
    first: u64,
    must_wait: bool,
    /// The number of further answers to come.
    more: isize,
}

/// An insertion has begun. For the root.
pub(crate) fn begin_insertion<T: Chare>(local: &Local, part: &Part<T>, number: Number, make: Make) {
    let mut rounds = part.state::<AllRounds>().borrow_mut();
    // With one queue, everything that has arrived before this was sent before it, and the marks
    // find that out.
    let first = if local.system().post().is_one_queue() {
        rounds.untouched()
    } else {
        0
    };
    drop(rounds);
    let mut insertions = part.state::<Insertions>().borrow_mut();
    insertions.begun += 1;
    let insertion = insertions.under_way.entry(number).or_default();
    insertion.make = Some(make);
    drop(insertions);
    let answer = Answer {
        insertion: number,
        first,
        must_wait: false,
        more: local.system().worker_count() as isize + 1,
    };
    take_answer_about(local, part, answer);
}

/// Handles the mark of an insertion from a sender in `epoch`; the element is to be made on worker
/// `on`.
pub(crate) fn take_mark<T: Chare>(
    local: &Local,
    part: &Part<T>,
    number: Number,
    on: usize,
    epoch: u32,
) {
    if part.is_under_construction() {
        return part.after_construction(move |local, part| {
            take_mark(local, part, number, on, epoch);
        });
    }
    migration::go_over(local, epoch);
    let first = part
        .state::<AllRounds>()
        .borrow_mut()
        .first_untouched_here();
    let must_wait = part.presence().has_early();
    if must_wait {
        part.with_marks(|marks| marks.keep(number, first));
    }
    if on == local.worker() {
        part.announce(local, number);
    }
    let answer = Answer {
        insertion: number,
        first,
        must_wait,
        more: 0,
    };
    send_answer(local, part, answer);
}

fn send_answer<T: Chare>(local: &Local, part: &Part<T>, answer: Answer) {
    let (root, collection) = (part.collection().root(), part.collection().id());
    if root == local.worker() {
        return take_answer_about(local, part, answer);
    }
    local.post_seldom(root, move |local| {
        take_answer_about::<T>(local, &Part::of(local, collection), answer);
    });
}

/// Takes in an answer about an insertion. For the root.
fn take_answer_about<T: Chare>(local: &Local, part: &Part<T>, answer: Answer) {
    let number = answer.insertion;
    let mut insertions = part.state::<Insertions>().borrow_mut();
    let insertion = insertions.under_way.entry(number).or_default();
    insertion.first = insertion.first.max(answer.first);
    insertion.must_wait |= answer.must_wait;
    insertion.missing += answer.more - 1;
    if insertion.missing != 0 || insertion.make.is_none() {
        return;
    }
    if !std::mem::take(&mut insertion.must_wait) {
        drop(insertions);
        return end_insertion(local, part, number);
    }
    insertions.turns.push_back(number);
    let is_next = insertions.turns.len() == 1;
    drop(insertions);
    if is_next {
        ask_again(local, part, number);
    }
}

/// All is known about an insertion. For the root.
fn end_insertion<T: Chare>(local: &Local, part: &Part<T>, number: Number) {
    let mut insertions = part.state::<Insertions>().borrow_mut();
    let insertion = insertions.under_way.remove(&number);
    let next = if insertions.turns.front() == Some(&number) {
        insertions.turns.pop_front();
        insertions.turns.front().copied()
    } else {
        None
    };
    drop(insertions);
    if let Some(Insertion {
        first,
        make: Some(make),
        ..
    }) = insertion
    {
        let first = first.max(part.state::<AllRounds>().borrow_mut().first_incomplete());
        part.collection()
            .directory()
            .place(number)
            .set_slot(REQUESTED);
        reduction::change_population(local, part, first, 1);
        make(local, first);
    }
    if let Some(next) = next {
        ask_again(local, part, next);
    }
}

/// Asks all workers about an insertion that has its turn. The workers that make earlier elements
/// have been notified before. For the root.
fn ask_again<T: Chare>(local: &Local, part: &Part<T>, number: Number) {
    let (collection, worker_count) = (part.collection().id(), local.system().worker_count());
    if let Some(insertion) = part
        .state::<Insertions>()
        .borrow_mut()
        .under_way
        .get_mut(&number)
    {
        insertion.missing = worker_count as isize;
    }
    for worker in 0..worker_count {
        local.post_seldom(worker, move |local| {
            look_again::<T>(local, &Part::of(local, collection), number);
        });
    }
}

/// Answers about an insertion that has its turn: now, and after the messages kept for elements that
/// are on their way.
fn look_again<T: Chare>(local: &Local, part: &Part<T>, insertion: Number) {
    if !part.with_marks(|marks| marks.has(insertion)) {
        // The answer at the mark was complete.
        return send_answer(local, part, Answer::nothing(insertion));
    }
    let mut more = 0;
    for number in part.presence().arriving() {
        let slot = part.collection().directory().place(number).slot();
        // One that is not made yet may wait for this one, and has its turn after it.
        let is_made = slot != NO_SLOT as usize;
        let then = AnswerThen {
            collection: part.collection().id(),
            insertion,
        };
        if is_made && part.presence().keep_behind_early(number, Box::new(then)) {
            more += 1;
        }
    }
    part.with_marks(|marks| marks.set_answers(insertion, more + 1));
    answer_for_mark(local, part, insertion, more);
}

/// Answers with the count of a kept mark; `more` answers are to come.
fn answer_for_mark<T: Chare>(local: &Local, part: &Part<T>, insertion: Number, more: usize) {
    let Some(first) = part.with_marks(|marks| marks.answer(insertion)) else {
        return;
    };
    let answer = Answer {
        first,
        more: more as isize,
        ..Answer::nothing(insertion)
    };
    send_answer(local, part, answer);
}

impl Answer {
    fn nothing(insertion: Number) -> Self {
        Self {
            insertion,
            first: 0,
            must_wait: false,
            more: 0,
        }
    }
}

/// Answers about an insertion when what was kept before it has run.
struct AnswerThen {
    collection: u32,
    insertion: Number,
}

impl<T: Chare> Parcel<T> for AnswerThen {
    fn entry(&self) -> &'static str {
        "insert"
    }

    fn deliver(self, local: &Local, part: &Part<T>, _number: Number) {
        answer_for_mark(local, part, self.insertion, 0);
    }

    /// The message that it came with has failed, and triggers nothing.
    fn fail(self, system: &System, _failure: Failure) {
        local::with(system.id(), |local| {
            if let Some(local) = local {
                answer_for_mark::<T>(local, &Part::of(local, self.collection), self.insertion, 0);
            }
        });
    }
}
