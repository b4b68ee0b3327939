//! The event loop of the simulation: it takes the next event and computes its consequences.
//!
//! # A thread
//! ```text
//!              step                 work done
//!   (client) ───────► RUNS ──────────────────────► the action `After`: the client again, or
//!                      ▲                            AT THE INTERFACE   for a round trip
//!                      │ a message, a wake-up       POLLS              until one finds a message
//!                      └─────────────────────────── BLOCKED            in the sync table
//! ```
//! A thread is active if it runs, accesses the interface or polls. Active threads share the core,
//! so work takes longer the more threads are active. Round trips and polls take a fixed time.
//!
//! # A message
//! A message passes these stages: send call → command at the interface (checked, translated) →
//! first byte ready → link out → wire → link in, packet by packet → (last packet) arrived: a note
//! in the queue of the thread of its connection → doorbell: the thread is unblocked → taken.
//!
//! The link into the network passes one message after the other. The link out of the network passes
//! one packet after the other, in the order of arrival. So there is contention at both ends of the
//! network, but none inside it.
//!
//! # Invariants
//! 1. An event changes only the threads of one node, except for a meeting, which involves all.
//! 2. `Core::due` is the time of the core's event in the event list. The event has the number
//!    `turn`. Events with other numbers are outdated and ignored.
//! 3. A thread is active exactly in the states `Runs`, `AtInterface`, `Polls`, `Finds` and `Spins`
//!    (`Does::is_active`). It has an end in `ends` exactly in state `Runs`.
//! 4. Memory is linear in the number of nodes, threads and messages under way.
//! 5. A simulation is a function of its parameters, program and seed. Time is counted in whole
//!    picoseconds, and simultaneous events happen in the order in which they were caused.
//!
//! # Source
//! Parker 2013, chapter 3 and sections 4.2 and 4.3. The study simulates the processor instruction
//! by instruction. Here the processor is a speed for each number of active threads.

use std::collections::VecDeque;

use super::client::{Client, Message, Resumed, Step, Thread, Way};
use super::core::{Core, Occupied};
use super::event_list::EventList;
use super::interface::{Cache, Gate, Translations};
use super::machine::Machine;
use super::moment::Moment;
use super::sync_table::Entry;
use super::timeline::{Activity, Timeline};
use super::{Counts, Layout};
use crate::error::ModelError;
use crate::parameters::Parameters;
use crate::units::Nanoseconds;

/// A simulation in progress.
///
/// # Examples
/// A custom program: node 0 sends a kilobyte to node 1, which records the time of its arrival.
/// ```
/// use raddle_model::Parameters;
/// use raddle_model::simulate::{
///     Client, Layout, Message, Moment, Resumed, Silent, Simulation, Step, Thread, Way,
/// };
///
/// struct Post(Option<Moment>);
///
/// impl Client for Post {
///     fn step(&mut self, thread: Thread, resumed: Resumed, now: Moment) -> Step {
///         match (thread.node, resumed) {
///             (0, Resumed::Begun) => Step::Send(Message {
///                 node: 1,
///                 wire_bytes: 1_024 + 38,
///                 data_bytes: 1_024,
///                 rings: true,
///                 ..Message::default()
///             }),
///             (1, Resumed::Begun) => Step::Receive(Way::Notify),
///             (1, Resumed::Received(_)) => {
///                 self.0 = Some(now);
///                 Step::Stop
///             }
///             _ => Step::Stop,
///         }
///     }
/// }
///
/// let layout = Layout::new(2, 1);
/// let mut simulation = Simulation::new(&Parameters::study(), layout, Post(None), Silent)?;
/// simulation.run(|_| ());
/// let came = simulation.client().0.expect("it comes");
/// assert_eq!(came.nanoseconds().0.round(), 45.0 + 300.0 + 1_062.0 + 40.0 + 10.0 + 25.0);
/// # Ok::<(), raddle_model::ModelError>(())
/// ```
#[derive(Debug)]
pub struct Simulation<C, T> {
    machine: Machine,
    layout: Layout,
    events: EventList<Event>,
    now: Moment,
    nodes: Vec<Node>,
    threads: Vec<State>,
    /// The value of the core's work clock at which each thread is done, or [`NEVER`] if it does not
    /// run. The ends have a separate array, because all ends of a node are compared after each
    /// event.
    ends: Vec<Nanoseconds>,
    messages: Messages,
    /// The threads that wait at a meeting.
    met: Vec<Thread>,
    occupied: Occupied,
    counts: Counts,
    client: C,
    timeline: T,
}

/// An event.
#[derive(Clone, Copy, Debug)]
enum Event {
    /// The next thread of a core completes its work, unless another event has changed that.
    Turn { node: u32, turn: u32 },
    /// A command to send reaches the interface.
    Command(Thread),
    /// The interface has answered a thread.
    Reply(Thread),
    /// A poll of a thread finds a message.
    Found(Thread),
    /// The first byte of a message is ready to be sent.
    Ready { message: u32 },
    /// The first byte of a packet reaches its receiver.
    Packet { message: u32 },
    /// A message has arrived.
    Arrived { message: u32 },
    /// An unblocked thread runs again.
    Runs(Thread),
    /// A message from outside the simulated nodes has arrived.
    Visit {
        node: u32,
        connection: u32,
        tag: u64,
    },
    /// A core switches to another program.
    Away { node: u32 },
    /// A core comes back from another program.
    Back { node: u32 },
}

#[derive(Debug)]
struct Node {
    core: Core,
    out: Gate,
    into: Gate,
    translations: Translations,
    cache: Cache,
}

/// A thread, and its entries in the sync table.
#[derive(Debug)]
struct State {
    does: Does,
    after: After,
    /// The sync table entry for messages.
    doorbell: Entry,
    /// The sync table entry for wake-ups by other threads.
    alarm: Entry,
    /// The message that the thread sends.
    message: Message,
    /// The time at which the call that sends started.
    call_began: Moment,
    /// The messages that have arrived for the thread.
    notes: VecDeque<u32>,
    /// The current activity, for the timeline.
    activity: Activity,
    /// The time at which the activity started.
    since: Moment,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Does {
    Runs,
    AtInterface,
    /// The thread polls. The first poll reaches the interface at that moment.
    Polls(Moment),
    /// A poll has found a message.
    Finds,
    /// The thread polls for a wake-up by another thread.
    Spins,
    Blocked,
    Over,
}

/// The next action of a thread after its work or its round trip.
#[derive(Clone, Copy, Debug, PartialEq)]
enum After {
    /// Ask the program for the next step.
    Client(Resumed),
    /// Give the command to send to the interface.
    Command,
    /// Notify the interface that all bytes of a message are stored.
    Stored,
    /// Poll for a message once, and sleep if there is none.
    Check,
    /// Handle the answer to the poll of `Check`.
    Checked,
    /// Poll until there is a message.
    Look,
    /// Take the first note, and give it to the client.
    Take,
    /// Finish the call of a thread that was blocked for a message.
    Finish,
}

/// A message under way.
#[derive(Clone, Copy, Debug)]
struct UnderWay {
    what: Message,
    from: Thread,
    sent: Moment,
    number: u64,
    /// The number of bytes that the receiver has not received yet.
    left: u32,
    /// The number of data bytes among them.
    data_left: u32,
    /// The number of data bytes that went to memory instead of the cache.
    in_memory: u32,
    /// The delay due to address translations.
    delay: Moment,
    /// True if the receiver's interface has refused it.
    is_refused: bool,
    /// True if it comes from outside the simulated nodes.
    is_visit: bool,
    next_free: u32,
}

/// The messages under way, in slots that are reused.
#[derive(Debug)]
struct Messages {
    all: Vec<UnderWay>,
    free: u32,
    sent: u64,
}

/// The number of events between two progress reports.
const PROGRESS_EVENTS: u64 = 1 << 18;
/// The memory of a node without its threads.
pub(super) const NODE_BYTES: u64 = size_of::<Node>() as u64;
/// The memory of a thread with one or two notes and a message under way.
pub(super) const THREAD_BYTES: u64 = (size_of::<State>() + 2 * size_of::<UnderWay>()) as u64;
const NONE: u32 = u32::MAX;
const NEVER: Nanoseconds = Nanoseconds(f64::INFINITY);

impl<C: Client, T: Timeline> Simulation<C, T> {
    /// Creates a simulation of nodes that all have the same threads and connections.
    ///
    /// # Errors
    /// Returns [`ModelError`] if a core has fewer contexts than threads, or if the parameters have
    /// no speed for that many threads.
    pub fn new(
        parameters: &Parameters,
        layout: Layout,
        client: C,
        timeline: T,
    ) -> Result<Self, ModelError> {
        layout.check(parameters)?;
        let machine = Machine::of(parameters, layout.threads)?;
        let asks_cache = layout.bypasses_cache || machine.slices.is_some();
        let node = || Node {
            core: Core::new(),
            out: Gate::default(),
            into: Gate::default(),
            translations: Translations::new(
                machine.interface.translations,
                machine.interface.page_bytes,
            ),
            cache: Cache::new(machine.cache_bytes, machine.block_bytes, asks_cache),
        };
        let thread_count = layout.nodes as usize * layout.threads as usize;
        let mut simulation = Self {
            events: EventList::new(),
            now: Moment::START,
            nodes: (0..layout.nodes).map(|_| node()).collect(),
            threads: (0..thread_count).map(|_| State::new()).collect(),
            ends: vec![NEVER; thread_count],
            messages: Messages {
                all: Vec::new(),
                free: NONE,
                sent: 0,
            },
            met: Vec::new(),
            occupied: Occupied::new(layout.threads),
            counts: Counts::default(),
            machine,
            layout,
            client,
            timeline,
        };
        simulation.begin();
        Ok(simulation)
    }

    /// Simulates up to `events` events. Returns `false` if no further event will follow.
    ///
    /// # Panics
    /// Panics if a program wakes a thread that the node does not have, or expects a visit by a
    /// connection that does not exist.
    pub fn advance(&mut self, events: u64) -> bool {
        let goal = self.counts.events.saturating_add(events);
        while self.counts.events < goal {
            if self.client.is_over() {
                return false;
            }
            let Some((at, event)) = self.events.take() else {
                return false;
            };
            if at == Moment::END {
                return false;
            }
            self.now = at;
            self.happen(event);
        }
        true
    }

    /// Simulates all events. From time to time it calls `progress` with the program.
    ///
    /// # Panics
    /// Same as [`Self::advance`].
    pub fn run(&mut self, mut progress: impl FnMut(&C)) {
        while self.advance(PROGRESS_EVENTS) {
            progress(&self.client);
        }
    }

    /// Simulates a program until it is over.
    ///
    /// # Errors
    /// Returns [`ModelError::Unfinished`] if the events end before the program is over.
    ///
    /// # Panics
    /// Same as [`Self::advance`].
    pub fn finish(&mut self, progress: impl FnMut(&C)) -> Result<(), ModelError> {
        self.run(progress);
        match self.client.is_over() {
            true => Ok(()),
            false => Err(ModelError::Unfinished {
                milliseconds: self.now.nanoseconds().milliseconds(),
            }),
        }
    }

    /// Returns the program.
    pub const fn client(&self) -> &C {
        &self.client
    }

    /// Returns the simulated time.
    pub const fn now(&self) -> Moment {
        self.now
    }

    /// Returns the event counters so far.
    pub fn counts(&mut self) -> Counts {
        for node in 0..self.layout.nodes {
            self.settle(node);
        }
        let mut counts = self.counts.clone();
        let (without, with) = self.occupied.times();
        counts.without_handler = without;
        counts.with_handler = with;
        counts.away = self.occupied.away;
        for node in &self.nodes {
            counts.translations += node.translations.hits;
            counts.walks += node.translations.walks;
            counts.out_busy += node.out.busy().nanoseconds();
            counts.in_busy += node.into.busy().nanoseconds();
        }
        counts.sent = self.messages.sent;
        counts
    }

    /// Returns the program, the event counters and the timeline.
    pub fn into_parts(mut self) -> (C, Counts, T) {
        for node in 0..self.layout.nodes {
            for number in 0..self.layout.threads {
                self.draw(Thread { node, number }, Activity::Sleeps);
            }
        }
        let counts = self.counts();
        (self.client, counts, self.timeline)
    }

    /// Starts all threads, and schedules the first slices and visits.
    fn begin(&mut self) {
        for node in 0..self.layout.nodes {
            for number in 0..self.layout.threads {
                self.proceed(Thread { node, number }, Resumed::Begun);
            }
            if let Some((slice, away)) = self.machine.slices {
                // The slices are staggered, so that those of all nodes do not end at once.
                let share =
                    u64::from(node) * ((slice + away).picoseconds() / u64::from(self.layout.nodes));
                self.events.put(
                    slice + Moment::from_picoseconds(share),
                    Event::Away { node },
                );
            }
            self.expect_visit(node);
            self.retime(node);
        }
    }

    /// Handles an event.
    fn happen(&mut self, event: Event) {
        if let Event::Turn { node, turn } = event {
            // An event with another number has replaced this one.
            if self.nodes[node as usize].core.turn != turn {
                return;
            }
            self.nodes[node as usize].core.due = None;
        }
        self.counts.events += 1;
        let node = match event {
            Event::Turn { node, .. } => {
                self.turn(node);
                node
            }
            Event::Command(thread) => {
                self.command(thread);
                thread.node
            }
            Event::Reply(thread) => {
                self.reply(thread);
                thread.node
            }
            Event::Found(thread) => {
                self.draw(thread, Activity::Receives);
                self.work(thread, self.machine.message.poll_finish, After::Take);
                thread.node
            }
            Event::Ready { message } => return self.inject(message),
            Event::Packet { message } => return self.eject(message),
            Event::Arrived { message } => self.arrived(message),
            Event::Runs(thread) => {
                self.unblocked(thread);
                thread.node
            }
            Event::Visit {
                node,
                connection,
                tag,
            } => {
                self.visited(node, connection, tag);
                node
            }
            Event::Away { node } => {
                self.set_away(node, true);
                node
            }
            Event::Back { node } => {
                self.set_away(node, false);
                node
            }
        };
        self.retime(node);
    }

    /// Reschedules the core's event if the end of its next work has changed.
    fn retime(&mut self, node: u32) {
        let ends = &self.ends[self.layout.threads_of(node)];
        let core = &mut self.nodes[node as usize].core;
        let first = ends
            .iter()
            .fold(NEVER, |one, &other| if other < one { other } else { one });
        let due = match first < NEVER {
            true => core.when(first).map(|due| due.max(self.now)),
            false => None,
        };
        if due == core.due {
            return;
        }
        core.due = due;
        core.turn = core.turn.wrapping_add(1);
        if let Some(due) = due {
            let turn = core.turn;
            self.events.put(due, Event::Turn { node, turn });
        }
    }

    /// Continues the threads of a core that have completed their work.
    fn turn(&mut self, node: u32) {
        self.settle(node);
        for number in 0..self.layout.threads {
            let thread = Thread { node, number };
            let end = self.ends[self.layout.place_of(thread)];
            if self.nodes[node as usize].core.has_ended(end) {
                let after = self.state(thread).after;
                self.go_on(thread, after);
            }
        }
    }

    /// Continues a thread with its next action.
    fn go_on(&mut self, thread: Thread, after: After) {
        match after {
            After::Client(resumed) => self.proceed(thread, resumed),
            After::Command => {
                let at = self.now + self.machine.to_interface;
                self.set(thread, Does::AtInterface);
                self.events.put(at, Event::Command(thread));
            }
            After::Check => {
                self.state_mut(thread).after = After::Checked;
                self.set(thread, Does::AtInterface);
                self.events
                    .put(self.now + self.machine.trip, Event::Reply(thread));
            }
            After::Stored => self.stored(thread),
            After::Look => self.look(thread),
            After::Take => self.take(thread),
            After::Checked | After::Finish => unreachable!("nothing runs before these"),
        }
    }

    /// Asks the program for the next step of a thread, and starts it.
    fn proceed(&mut self, thread: Thread, resumed: Resumed) {
        let step = self.client.step(thread, resumed, self.now);
        let message = self.machine.message;
        match step {
            Step::Compute(work) => {
                self.draw(thread, Activity::Computes);
                self.work(thread, work, After::Client(Resumed::Computed));
            }
            Step::Send(what) => self.send(thread, what),
            Step::Receive(Way::Poll) => {
                self.draw(thread, Activity::Receives);
                let before = message.poll - self.machine.trip.nanoseconds() - message.poll_finish;
                self.work(thread, before, After::Look);
            }
            Step::Receive(Way::Notify) => {
                self.draw(thread, Activity::Receives);
                let before =
                    (message.notify_setup - self.machine.trip.nanoseconds()).max(Nanoseconds::ZERO);
                self.work(thread, before, After::Check);
            }
            Step::Sleep => self.sleep(thread, Activity::Sleeps, Does::Blocked),
            Step::Spin => self.sleep(thread, Activity::Polls, Does::Spins),
            Step::Wake(other) => {
                self.draw(thread, Activity::Wakes);
                // The wake-up starts with the call, not with its end.
                self.wake_later(thread.node, other);
                self.work(thread, message.wake, After::Client(Resumed::Waked));
            }
            Step::Meet => self.meet(thread),
            Step::Stop => {
                self.draw(thread, Activity::Sleeps);
                self.set(thread, Does::Over);
            }
        }
    }

    /// Starts work, after which the thread continues with `after`. `work` is the time that it takes
    /// if the thread is alone on the core.
    fn work(&mut self, thread: Thread, work: Nanoseconds, after: After) {
        self.set(thread, Does::Runs);
        let end = self.nodes[thread.node as usize].core.end_of(work);
        let place = self.layout.place_of(thread);
        self.ends[place] = end;
        self.threads[place].after = after;
    }

    /// Changes the state of a thread, and updates its core if the thread becomes active or
    /// inactive.
    fn set(&mut self, thread: Thread, does: Does) {
        let was_active = self.state(thread).does.is_active();
        self.settle(thread.node);
        let place = self.layout.place_of(thread);
        self.threads[place].does = does;
        self.ends[place] = NEVER;
        if was_active != does.is_active() {
            let is_handler = self.client.handler() == Some(thread.number);
            let core = &mut self.nodes[thread.node as usize].core;
            core.change(does.is_active(), is_handler, &self.machine.speeds);
            if T::LISTENS {
                self.timeline.active(thread.node, core.active(), self.now);
            }
        }
    }

    /// Advances the core's work clock to the current time.
    fn settle(&mut self, node: u32) {
        let core = &mut self.nodes[node as usize].core;
        core.settle(self.now, &mut self.occupied);
    }

    fn state(&self, thread: Thread) -> &State {
        &self.threads[self.layout.place_of(thread)]
    }

    fn state_mut(&mut self, thread: Thread) -> &mut State {
        &mut self.threads[self.layout.place_of(thread)]
    }

    /// Reports the current activity of a thread to the timeline, and starts another one.
    fn draw(&mut self, thread: Thread, activity: Activity) {
        if !T::LISTENS {
            return;
        }
        let now = self.now;
        let state = self.state_mut(thread);
        let (before, since) = (state.activity, state.since);
        state.activity = activity;
        state.since = now;
        if since < now {
            self.timeline.thread(thread, before, since, now);
        }
    }

    /// Switches a core to another program or back, and schedules the next switch.
    fn set_away(&mut self, node: u32, is_away: bool) {
        self.settle(node);
        let core = &mut self.nodes[node as usize].core;
        core.set_away(is_away, &self.machine.speeds);
        let Some((slice, away)) = self.machine.slices else {
            return;
        };
        let (at, event) = match is_away {
            true => (away, Event::Back { node }),
            false => (slice, Event::Away { node }),
        };
        self.events.put(self.now + at, event);
        if !is_away {
            self.look_again(node);
        }
    }
}

mod messages;
mod waiting;

impl State {
    fn new() -> Self {
        Self {
            does: Does::Over,
            after: After::Client(Resumed::Begun),
            doorbell: Entry::default(),
            alarm: Entry::default(),
            message: Message::default(),
            call_began: Moment::START,
            notes: VecDeque::new(),
            activity: Activity::Sleeps,
            since: Moment::START,
        }
    }
}

impl Does {
    const fn is_active(self) -> bool {
        matches!(
            self,
            Self::Runs | Self::AtInterface | Self::Polls(_) | Self::Finds | Self::Spins
        )
    }
}

impl Messages {
    fn put(&mut self, message: UnderWay) -> u32 {
        match self.free {
            NONE => {
                self.all.push(message);
                // A message takes some 100 bytes of memory, so the count always fits.
                (self.all.len() - 1) as u32
            }
            place => {
                self.free = self.all[place as usize].next_free;
                self.all[place as usize] = message;
                place
            }
        }
    }

    fn take(&mut self, place: u32) -> UnderWay {
        let message = self.all[place as usize];
        self.all[place as usize].next_free = self.free;
        self.free = place;
        message
    }
}
