//! Insertion of elements into arrays that reduce meanwhile: from which reduction on a new element
//! takes part.
//!
//! The caller of `insert` is the *maker* of the element. Messages that the maker sent to all
//! elements earlier do not reach the new element, so no reduction that they trigger may wait for
//! it. Later messages of the maker reach the element, and the reductions that they trigger must
//! wait for it. So an insertion takes part in the order of the maker's messages:
//!
//! ```text
//! maker        reports the start to the root, then sends a mark to each worker, in order
//! each worker  at the mark: reports the first reduction without contributions of its elements
//! root         after all answers: the last of these reductions is the element's first one;
//!              counts the element from there on, and has it constructed
//! ```
//! A worker keeps messages for elements that are not constructed yet. Such a message has not run
//! when a mark passes it, and may still trigger a contribution. Then the worker keeps the mark too,
//! and counts the contributions of such messages when they run. The insertion waits for its turn:
//! after the elements of all earlier insertions have been constructed, the root asks all workers
//! again. If messages are kept even then, for an element that is moving here from another worker,
//! the answer is sent after they have run.
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

/// The answer of a worker about an insertion. The request at the root counts as one answer too.
#[derive(Clone, Copy, Debug)]
struct Answer {
    insertion: Number,
    first: u64,
    must_wait: bool,
    /// The number of further answers to expect after this one.
    more: isize,
}

/// Records that an insertion has begun. Runs on the root.
pub(crate) fn begin_insertion<T: Chare>(local: &Local, part: &Part<T>, number: Number, make: Make) {
    let mut rounds = part.state::<AllRounds>().borrow_mut();
    // If each worker has one queue, every contribution that has arrived was sent before this
    // request, so the element takes part in none of these reductions. With a queue for each pair of
    // workers, later contributions may have arrived too: then only the answers at the marks
    // determine the first reduction.
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

/// Handles the mark of an insertion from a sender in `epoch`; the element is to be constructed on
/// worker `on`.
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
    migration::enter_epoch(local, epoch);
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

/// Handles an answer about an insertion. Runs on the root.
fn take_answer_about<T: Chare>(local: &Local, part: &Part<T>, answer: Answer) {
    let number = answer.insertion;
    let mut insertions = part.state::<Insertions>().borrow_mut();
    let insertion = insertions.under_way.entry(number).or_default();
    insertion.first = insertion.first.max(answer.first);
    insertion.must_wait |= answer.must_wait;
    insertion.missing += answer.more - 1;
    // Answers may arrive before the request itself: `missing` is negative then.
    if insertion.missing != 0 || insertion.make.is_none() {
        return;
    }
    if !std::mem::take(&mut insertion.must_wait) {
        drop(insertions);
        return end_insertion(local, part, number);
    }
    // Some worker keeps messages that may still contribute: ask again when it is this insertion's
    // turn.
    insertions.turns.push_back(number);
    let is_next = insertions.turns.len() == 1;
    drop(insertions);
    if is_next {
        ask_again(local, part, number);
    }
}

/// Completes an insertion after all answers: has the element constructed. Runs on the root.
fn end_insertion<T: Chare>(local: &Local, part: &Part<T>, number: Number) {
    let mut insertions = part.state::<Insertions>().borrow_mut();
    let insertion = insertions.under_way.remove(&number);
    // The insertion gives its turn, if it has one, to the next.
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

/// Asks all workers again about the insertion that has its turn. The workers that construct the
/// elements of earlier insertions have been notified before. Runs on the root.
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

/// Answers about the insertion that has its turn: once now, and once after the messages that are
/// kept for each element that is moving here.
fn look_again<T: Chare>(local: &Local, part: &Part<T>, insertion: Number) {
    if !part.with_marks(|marks| marks.has(insertion)) {
        // No mark was kept: the answer at the mark was complete.
        return send_answer(local, part, Answer::nothing(insertion));
    }
    let mut more = 0;
    for number in part.presence().arriving() {
        let slot = part.collection().directory().place(number).slot();
        // An element that is not constructed yet may wait for this insertion, and its turn is after
        // it.
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

/// Answers with the first reduction of a kept mark; `more` further answers will follow.
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

/// A message that follows kept messages, and answers about an insertion when they have run.
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

    /// Answers as well: the kept messages have failed, and will not contribute.
    fn fail(self, system: &System, _failure: Failure) {
        local::with(system.id(), |local| {
            if let Some(local) = local {
                answer_for_mark::<T>(local, &Part::of(local, self.collection), self.insertion, 0);
            }
        });
    }
}
