//! Pairs the events of a thread to slices.
//!
//! Most events that end a slice are the begin of something else ([`crate::record`]): a task ends
//! where the next one of the same level begins. So this is a machine with a stack of open slices.
//! Each event closes the slices that cannot go on, then opens its own.

use std::collections::HashMap;

use super::flows::Link;
use crate::events::Event;
use crate::record::kind::{Idling, Kind, Waiting};
use crate::record::{BYTES_MAX, ObjectId, RECEIVER_SHIFT, UNKNOWN_WORKER};
use crate::sources::Counts;

/// The largest number of arguments of a slice or instant.
pub(super) const ARGUMENTS_MAX: usize = 4;

/// A change of the timeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Change {
    /// A slice begins inside of those that are open.
    Begin(Mark),
    /// The innermost slice ends.
    End,
    /// Something happens at one point in time.
    Instant(Mark),
}

/// The name, category and arguments of a slice or instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Mark {
    pub(super) name: Label,
    pub(super) category: &'static str,
    pub(super) arguments: [Option<(&'static str, Argument)>; ARGUMENTS_MAX],
    /// The number of the flow that begins or ends here.
    pub(super) flow: Option<u64>,
    /// The number of the message that arrives here: a flow that ends, before another one begins.
    pub(super) arrived: Option<u64>,
}

/// A text: a constant, or a name of the recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Label {
    Fixed(&'static str),
    Name(u32),
}

/// The value of an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Argument {
    Number(u64),
    Label(Label),
}

/// An open slice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Open {
    /// A task, fork, message or call. It ends where the next one of its level begins.
    Run,
    /// A time without work. It ends where anything else begins.
    Idle,
    /// An entry after the first one of a message. It ends where the next one begins.
    Entry,
    Wait,
    Join(u32),
    Loop,
    Section(u32),
    Scope(u32),
}

/// A time in which nothing of a thread was recorded.
#[derive(Clone, Copy, Debug)]
pub(super) struct Unrecorded {
    pub(super) from_ns: u64,
    pub(super) until_ns: u64,
    /// The work that was left out.
    pub(super) counts: Counts,
}

/// The open slices of a thread.
#[derive(Debug)]
pub(super) struct Slices<'a> {
    events: &'a [Event],
    /// The pauses of the recording, oldest first.
    pauses: &'a [Unrecorded],
    /// The flows and names of events, by index.
    links: &'a HashMap<usize, Link>,
    open: Vec<Open>,
    /// For each fork, by the index of its event: the time to its second half.
    halves: HashMap<usize, u64>,
    /// The index of an entry that is shown as its message.
    shown: Option<usize>,
    /// The changes that the last event has brought, with their times.
    changes: Vec<(u64, Change)>,
    now_ns: u64,
}

impl<'a> Slices<'a> {
    /// Creates a machine for the events of a thread.
    pub(super) fn of(
        events: &'a [Event],
        links: &'a HashMap<usize, Link>,
        pauses: &'a [Unrecorded],
    ) -> Self {
        Self {
            events,
            pauses,
            now_ns: 0,
            links,
            open: Vec::new(),
            halves: halves(events),
            shown: None,
            changes: Vec::new(),
        }
    }

    /// Returns the number of open slices.
    pub(super) fn open(&self) -> usize {
        self.open.len()
    }

    /// Returns the changes that event `index` brings.
    pub(super) fn step(&mut self, index: usize) -> &[(u64, Change)] {
        self.changes.clear();
        let event = self.events[index];
        self.now_ns = event.at_ns;
        let (argument, [one, two]) = (event.argument, event.more);
        let link = self.links.get(&index).copied().unwrap_or_default();
        match event.kind {
            Kind::Time => {}
            Kind::Resume => self.resume(index),
            Kind::RunTask => self.run(task_name(link), "task", [None; 2], link.flow),
            Kind::RunFork => self.run(Label::Fixed("fork"), "fork", [None; 2], link.flow),
            Kind::RunCall => self.run(Label::Name(argument), "call", [None; 2], None),
            Kind::RunMessage => self.run_message(index),
            Kind::Entry => self.entry(index, link),
            Kind::Idle => self.idle(argument),
            Kind::Wait => self.wait(argument, one),
            Kind::EndWait => self.close(|open| open == Open::Wait),
            Kind::Fork => self.fork(index, argument),
            Kind::SecondHalf => {}
            Kind::EndJoin => self.close(|open| open == Open::Join(argument)),
            Kind::Loop => self.begin(
                Open::Loop,
                mark(Label::Name(argument), "loop", [number("items", one)]),
            ),
            Kind::EndLoop => self.close(|open| open == Open::Loop),
            Kind::Section => self.section(argument, one == 1),
            Kind::EndSection => self.close(|open| open == Open::Section(argument)),
            Kind::Scope => {
                self.begin(
                    Open::Scope(argument),
                    mark(Label::Name(argument), "scope", []),
                );
            }
            Kind::EndScope => self.close(|open| open == Open::Scope(argument)),
            Kind::Put => self.put(Label::Name(one as u32), link),
            Kind::Publish => {
                let arguments = [
                    number("owner", one >> 32),
                    number("depth", one & 0xffff_ffff),
                ];
                let mark = mark(Label::Fixed("publish fork"), "publish", arguments);
                self.instant(mark, link.flow);
            }
            Kind::Steal => {
                let victim = number("victim", argument.into());
                self.instant(mark(Label::Fixed("steal"), "steal", [victim]), None);
            }
            Kind::Send => self.send(event.kind, argument, [one, two], link.flow),
            Kind::SendToNode => {
                let crossing = self.crossing(index);
                self.send(event.kind, argument, [one, two], crossing);
            }
            Kind::Cross => {}
            Kind::Arrive => {
                let mark = mark(Label::Name(argument), "arrival", object(one));
                let arrived = Some(two);
                self.instant(Mark { arrived, ..mark }, link.flow);
            }
            Kind::NodeSend | Kind::NodeReceive => {
                let name = match event.kind {
                    Kind::NodeSend => "send to node",
                    _ => "receive from node",
                };
                let arguments = [number("node", argument.into()), number("bytes", one)];
                self.instant(mark(Label::Fixed(name), "node", arguments), None);
            }
            Kind::Note => {
                let mark = mark(Label::Name(argument), "note", [number("value", one)]);
                self.instant(mark, None);
            }
        }
        &self.changes
    }

    /// Closes the innermost slice for which `is_it` is true, and all slices inside of it. Does
    /// nothing if there is none: it began before the recording.
    fn close(&mut self, is_it: impl Fn(Open) -> bool) {
        if let Some(index) = self.open.iter().rposition(|open| is_it(*open)) {
            self.close_to(index);
        }
    }

    /// Closes all slices but the first `count`.
    fn close_to(&mut self, count: usize) {
        for _ in count..self.open.len() {
            self.changes.push((self.now_ns, Change::End));
        }
        self.open.truncate(count);
    }

    /// Closes the slices of the innermost level: those inside of the innermost wait.
    fn close_level(&mut self) {
        let wait = self.open.iter().rposition(|open| *open == Open::Wait);
        self.close_to(wait.map_or(0, |index| index + 1));
    }

    /// Closes a time without work, because the thread has work again.
    fn close_idle(&mut self) {
        if self.open.last() == Some(&Open::Idle) {
            self.close_to(self.open.len() - 1);
        }
    }

    fn begin(&mut self, open: Open, mark: Mark) {
        self.close_idle();
        self.open.push(open);
        self.changes.push((self.now_ns, Change::Begin(mark)));
    }

    fn instant(&mut self, mark: Mark, flow: Option<u64>) {
        self.changes
            .push((self.now_ns, Change::Instant(Mark { flow, ..mark })));
    }

    fn run<const N: usize>(
        &mut self,
        name: Label,
        category: &'static str,
        arguments: [Option<(&'static str, Argument)>; N],
        flow: Option<u64>,
    ) {
        self.close_level();
        let mark = mark(name, category, arguments);
        self.begin(Open::Run, Mark { flow, ..mark });
    }

    /// Begins a message. If it begins with an entry, the slice has the name of that entry.
    fn run_message(&mut self, index: usize) {
        let next = self.events.get(index + 1);
        let Some(entry) = next.filter(|next| next.kind == Kind::Entry) else {
            return self.run(Label::Fixed("message"), "message", [None; 2], None);
        };
        let link = self.links.get(&(index + 1)).copied().unwrap_or_default();
        self.shown = Some(index + 1);
        let arguments = object(entry.more[0]);
        self.run(Label::Name(entry.argument), "message", arguments, link.flow);
    }

    fn entry(&mut self, index: usize, link: Link) {
        if self.shown.take() == Some(index) {
            return;
        }
        // An entry ends the one before it in the same run.
        if let Some(last) = self
            .open
            .iter()
            .rposition(|open| matches!(open, Open::Run | Open::Wait))
            && self.open.get(last + 1) == Some(&Open::Entry)
        {
            self.close_to(last + 1);
        }
        let event = self.events[index];
        let mark = mark(Label::Name(event.argument), "entry", object(event.more[0]));
        self.begin(
            Open::Entry,
            Mark {
                flow: link.flow,
                ..mark
            },
        );
    }

    fn idle(&mut self, reason: u32) {
        let reason = Idling::ALL.get(reason as usize).copied();
        self.close_level();
        let name = reason.map_or("idle", Idling::name);
        self.begin(Open::Idle, mark(Label::Fixed(name), "idle", []));
    }

    /// Ends all slices where the pause before this event began, and shows the pause.
    fn resume(&mut self, index: usize) {
        let at_ns = self.now_ns;
        let last_ns = index
            .checked_sub(1)
            .map_or(0, |last| self.events[last].at_ns);
        let pause = self.pauses.iter().rfind(|pause| pause.from_ns < at_ns);
        // A thread may have recorded its last event just after the pause began.
        self.now_ns = pause
            .map_or(at_ns, |pause| pause.from_ns)
            .clamp(last_ns, at_ns);
        self.close_to(0);
        if let Some(pause) = pause {
            let arguments = [
                number("tasks", pause.counts.tasks),
                number("messages", pause.counts.messages),
                number("idle_ns", pause.counts.idle_ns),
            ];
            let mark = mark(Label::Fixed("not recorded"), "pause", arguments);
            self.changes.push((self.now_ns, Change::Begin(mark)));
            let until_ns = pause.until_ns.clamp(self.now_ns, at_ns);
            self.changes.push((until_ns, Change::End));
        }
        self.now_ns = at_ns;
    }

    fn wait(&mut self, reason: u32, subject: u64) {
        let reason = Waiting::ALL.get(reason as usize).copied();
        let on = match reason {
            Some(Waiting::Location) => Some(("on", Argument::Label(Label::Name(subject as u32)))),
            Some(Waiting::Join) if subject > 0 => number("on", subject - 1),
            _ => None,
        };
        let name = reason.map_or("wait", Waiting::name);
        self.begin(Open::Wait, mark(Label::Fixed(name), "wait", [on]));
    }

    fn fork(&mut self, index: usize, depth: u32) {
        // Without a second half here, the depth says which published fork belongs to the join.
        let argument = match self.halves.get(&index) {
            Some(half_ns) => number("second_ns", *half_ns),
            None => number("depth", depth.into()),
        };
        let arguments = [argument];
        let mark = mark(Label::Fixed("join"), "join", arguments);
        self.begin(Open::Join(depth), mark);
    }

    fn section(&mut self, location: u32, is_write: bool) {
        let access = Label::Fixed(if is_write { "write" } else { "read" });
        let arguments = [Some(("access", Argument::Label(access)))];
        let mark = mark(Label::Name(location), "section", arguments);
        self.begin(Open::Section(location), mark);
    }

    fn put(&mut self, name: Label, link: Link) {
        self.instant(mark(name, "put", []), link.flow);
    }

    /// Returns the number of the message to another node that event `index` has sent.
    fn crossing(&self, index: usize) -> Option<u64> {
        let next = self.events.get(index + 1)?;
        (next.kind == Kind::Cross).then_some(next.more[0])
    }

    fn send(&mut self, kind: Kind, entry: u32, [to, size]: [u64; 2], flow: Option<u64>) {
        let [collection, element] = object(to);
        let receiver = size >> RECEIVER_SHIFT;
        let receiver = match kind {
            Kind::SendToNode => number("node", receiver),
            _ if receiver == UNKNOWN_WORKER as u64 => None,
            _ => number("worker", receiver),
        };
        let bytes = number("bytes", size & BYTES_MAX);
        let arguments = [collection, element, receiver, bytes];
        self.instant(mark(Label::Name(entry), "send", arguments), flow);
    }
}

/// Returns the name with which a task was put, if that was recorded.
fn task_name(link: Link) -> Label {
    link.name.map_or(Label::Fixed("task"), Label::Name)
}

fn number(name: &'static str, value: u64) -> Option<(&'static str, Argument)> {
    Some((name, Argument::Number(value)))
}

/// Returns the arguments that say which object an event is about.
fn object(word: u64) -> [Option<(&'static str, Argument)>; 2] {
    let (collection, element) = ObjectId::unpack(word);
    [
        number("collection", collection.into()),
        number("element", element),
    ]
}

fn mark<const N: usize>(
    name: Label,
    category: &'static str,
    arguments: [Option<(&'static str, Argument)>; N],
) -> Mark {
    let mut all = [None; ARGUMENTS_MAX];
    all[..N].copy_from_slice(&arguments);
    Mark {
        name,
        category,
        arguments: all,
        flow: None,
        arrived: None,
    }
}

/// Returns the time from each fork to its second half, by the index of the fork's event.
fn halves(events: &[Event]) -> HashMap<usize, u64> {
    let mut halves = HashMap::new();
    let mut open: Vec<usize> = Vec::new();
    for (index, event) in events.iter().enumerate() {
        match event.kind {
            Kind::Fork => open.push(index),
            Kind::EndJoin | Kind::SecondHalf => {
                // Forks inside that did not end have unwound, or ended before the recording.
                let is_it = |fork: &usize| events[*fork].argument == event.argument;
                let Some(at) = open.iter().rposition(is_it) else {
                    continue;
                };
                let fork = open[at];
                open.truncate(at + usize::from(event.kind == Kind::SecondHalf));
                if event.kind == Kind::SecondHalf {
                    halves.insert(fork, event.at_ns - events[fork].at_ns);
                }
            }
            _ => {}
        }
    }
    halves
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(at_ns: u64, kind: Kind, argument: u32) -> Event {
        Event {
            at_ns,
            is_timed: true,
            kind,
            argument,
            more: [0; 2],
        }
    }

    /// Returns the slices of events as text: the name when one begins, and a `)` when one ends.
    fn text(events: &[Event]) -> String {
        let links = HashMap::new();
        let pause = Unrecorded {
            from_ns: 60,
            until_ns: 90,
            counts: Counts::default(),
        };
        let pauses = [pause];
        let mut slices = Slices::of(events, &links, &pauses);
        let mut text = String::new();
        for (index, event) in events.iter().enumerate() {
            for (at_ns, change) in slices.step(index) {
                assert!(*at_ns <= event.at_ns);
                match change {
                    Change::Begin(mark) => text += &format!("{}(", mark.category),
                    Change::End => text.push(')'),
                    Change::Instant(mark) => text += &format!("{},", mark.category),
                }
            }
        }
        text
    }

    #[test]
    fn a_task_ends_where_the_next_one_or_a_search_begins() {
        let events = [
            event(1, Kind::RunTask, 1),
            event(2, Kind::RunTask, 2),
            event(3, Kind::Scope, 3),
            event(4, Kind::EndScope, 3),
            event(5, Kind::Idle, 0),
            event(6, Kind::RunTask, 1),
        ];
        assert_eq!(text(&events), "task()task(scope())idle()task(");
    }

    #[test]
    fn tasks_in_a_wait_leave_the_waiting_task_open() {
        let events = [
            event(1, Kind::RunTask, 1),
            event(2, Kind::Fork, 0),
            event(3, Kind::Wait, 0),
            event(4, Kind::Idle, 0),
            event(5, Kind::RunTask, 2),
            event(6, Kind::EndWait, 0),
            event(7, Kind::EndJoin, 0),
            event(8, Kind::Idle, 1),
        ];
        assert_eq!(text(&events), "task(join(wait(idle()task())))idle(");
    }

    #[test]
    fn a_pause_ends_all_slices_and_is_a_slice() {
        let events = [
            event(50, Kind::RunMessage, 0),
            event(55, Kind::Scope, 1),
            event(100, Kind::Resume, 0),
            event(101, Kind::EndScope, 1),
            event(102, Kind::RunMessage, 0),
        ];
        assert_eq!(text(&events), "message(scope())pause()message(");
    }

    #[test]
    fn an_end_without_a_begin_is_ignored() {
        let events = [
            event(1, Kind::EndJoin, 3),
            event(2, Kind::EndWait, 0),
            event(3, Kind::RunMessage, 0),
            event(4, Kind::EndSection, 1),
        ];
        assert_eq!(text(&events), "message(");
    }

    #[test]
    fn a_message_with_an_entry_is_one_slice_and_further_entries_are_inside() {
        let events = [
            event(1, Kind::RunMessage, 0),
            event(1, Kind::Entry, 7),
            event(2, Kind::Send, 8),
            event(3, Kind::Entry, 7),
            event(4, Kind::Entry, 7),
            event(5, Kind::Idle, 0),
        ];
        assert_eq!(text(&events), "message(send,entry()entry())idle(");
    }

    #[test]
    fn the_second_half_of_a_join_is_found_behind_inner_joins() {
        let events = [
            event(10, Kind::Fork, 0),
            event(12, Kind::Fork, 1),
            event(15, Kind::SecondHalf, 1),
            event(17, Kind::EndJoin, 1),
            event(18, Kind::SecondHalf, 0),
            event(19, Kind::Fork, 0),
            event(20, Kind::SecondHalf, 0),
            event(24, Kind::EndJoin, 0),
            event(30, Kind::EndJoin, 0),
        ];
        let expected = HashMap::from([(0, 8), (1, 3), (5, 1)]);
        assert_eq!(halves(&events), expected);
    }
}
