//! The path of a message, from the call that sends it to the note of its receiver.

use super::{After, Does, Event, NONE, Simulation, UnderWay};
use crate::simulate::client::{Client, Message, Note, Resumed, Thread};
use crate::simulate::interface::{Connection, Injection, Placed};
use crate::simulate::moment::Moment;
use crate::simulate::timeline::{Activity, Link, Timeline};
use crate::units::Bytes;

impl<C: Client, T: Timeline> Simulation<C, T> {
    /// Starts a call that sends. A message with a descriptor is a command after some work. For an
    /// inline message, the core stores the bytes first.
    pub(super) fn send(&mut self, thread: Thread, what: Message) {
        self.draw(thread, Activity::Sends);
        let now = self.now;
        let state = self.state_mut(thread);
        state.message = what;
        state.call_began = now;
        if !what.is_inline {
            return self.work(thread, self.machine.message.send_issue, After::Command);
        }
        // The core loads and stores each byte, and then notifies the interface that all are stored.
        let copying = self
            .machine
            .interface
            .storing(Bytes(what.data_bytes.into()));
        self.work(thread, self.machine.inline_issue + copying, After::Stored);
    }

    /// Handles an inline message after its bytes are stored. The interface starts to send it, while
    /// the call continues.
    pub(super) fn stored(&mut self, thread: Thread) {
        let resumed = self.accept(thread, self.machine.to_interface + self.machine.take_inline);
        self.work(thread, self.machine.inline, After::Client(resumed));
    }

    /// Handles a command at the interface, which checks it and fetches the first bytes while the
    /// answer is on its way to the core.
    pub(super) fn command(&mut self, thread: Thread) {
        let resumed = self.accept(thread, self.machine.fetch);
        self.state_mut(thread).after = After::Client(resumed);
        self.events
            .put(self.now + self.machine.to_interface, Event::Reply(thread));
    }

    /// Checks a thread's message and starts it. Its first byte is ready after the time `ready`.
    ///
    /// The message is refused if its node or connection does not exist, or if it is too long to be
    /// inline.
    fn accept(&mut self, thread: Thread, ready: Moment) -> Resumed {
        let what = &self.state(thread).message;
        let is_possible = what.node < self.layout.nodes
            && (what.connection as usize) < self.layout.connections.len()
            && (!what.is_inline || what.data_bytes <= self.machine.interface.inline_bytes_max);
        if !is_possible {
            self.counts.refused_sends += 1;
            return Resumed::Refused;
        }
        self.issue(thread, ready);
        Resumed::Sent
    }

    /// Starts a message. Its first byte is ready after the time `ready`.
    fn issue(&mut self, from: Thread, ready: Moment) {
        let state = self.state(from);
        let (what, sent) = (state.message, state.call_began);
        let translations = &mut self.nodes[from.node as usize].translations;
        let walks = match what.is_inline {
            true => 0,
            false => translations.translate(what.source, u64::from(what.data_bytes)),
        };
        let delay = self.walks(walks);
        let number = self.messages.sent;
        self.messages.sent += 1;
        let message = self.messages.put(UnderWay {
            what,
            from,
            sent,
            number,
            left: what.wire_bytes.max(1),
            data_left: what.data_bytes,
            in_memory: 0,
            delay: Moment::START,
            is_refused: false,
            is_visit: false,
            next_free: NONE,
        });
        if T::LISTENS {
            self.timeline.sent(number, from, sent);
        }
        self.events
            .put(self.now + ready + delay, Event::Ready { message });
    }

    /// Returns the delay of a number of page walks.
    fn walks(&self, count: u32) -> Moment {
        Moment::from_picoseconds(self.machine.walk.picoseconds() * u64::from(count))
    }

    /// Puts a message on the link out of its node. Its packets follow each other, and the first one
    /// reaches the receiver after the latency of the wire.
    pub(super) fn inject(&mut self, message: u32) {
        let under_way = self.messages.all[message as usize];
        let passing = self.machine.passing(under_way.left);
        let node = under_way.from.node;
        let (first, last) = self.nodes[node as usize].out.pass(self.now, passing);
        if T::LISTENS {
            self.timeline
                .passed(node, Link::Out, under_way.number, first, last);
        }
        self.events
            .put(first + self.machine.wire, Event::Packet { message });
    }

    /// Receives a packet from the network, after those that arrived before it. The next packet of
    /// the message follows directly.
    pub(super) fn eject(&mut self, message: u32) {
        let mut under_way = self.messages.all[message as usize];
        let what = under_way.what;
        let (bytes, data) =
            self.machine
                .packet_of(&under_way.what, under_way.left, under_way.data_left);
        let passing = self.machine.passing(bytes);
        let node = &mut self.nodes[what.node as usize];
        let (first, last) = node.into.pass(self.now, passing);
        if T::LISTENS {
            self.timeline
                .passed(what.node, Link::In, under_way.number, first, last);
        }
        self.counts.packets += 1;
        let connection = self.layout.connections[what.connection as usize];
        if under_way.left == what.wire_bytes.max(1) {
            self.check(&mut under_way, connection);
        }
        if !under_way.is_refused && data > 0 {
            self.place(&mut under_way, connection, data);
        }
        under_way.left -= bytes;
        under_way.data_left -= data;
        self.messages.all[message as usize] = under_way;
        if under_way.left > 0 {
            return self
                .events
                .put(self.now + passing, Event::Packet { message });
        }
        let at = last + self.machine.arrive + under_way.delay;
        self.events.put(at, Event::Arrived { message });
    }

    /// Handles the header of a message: checks the destination against the segment, and translates
    /// it.
    fn check(&mut self, message: &mut UnderWay, connection: Connection) {
        let what = message.what;
        let data = u64::from(what.data_bytes);
        if !connection.segment.holds(what.destination, data) {
            message.is_refused = true;
            self.counts.refused += 1;
            return;
        }
        let node = &mut self.nodes[what.node as usize];
        let walks = node.translations.translate(what.destination, data);
        message.delay = self.walks(walks);
    }

    /// Stores a packet's data in the cache or in memory.
    fn place(&mut self, message: &mut UnderWay, connection: Connection, data: u32) {
        let what = message.what;
        let node = &mut self.nodes[what.node as usize];
        let injection = Injection {
            message: what.hints_cache,
            connection: connection.injects,
            is_on_core: !node.core.is_away(),
        };
        let address = what.destination + u64::from(what.data_bytes - message.data_left);
        let bytes = u64::from(data);
        match node.cache.place(injection, address, bytes) {
            Placed::Injected => self.counts.injected += bytes,
            Placed::Updated => self.counts.updated += bytes,
            Placed::ToMemory => {
                self.counts.to_memory += bytes;
                message.in_memory += data;
            }
        }
    }

    /// Schedules the next message from outside, if there is one.
    pub(super) fn expect_visit(&mut self, node: u32) {
        if let Some(visit) = self.client.visit(node) {
            let connections = self.layout.connections.len();
            assert!(
                (visit.connection as usize) < connections,
                "a visit by connection {} of {connections}",
                visit.connection
            );
            let event = Event::Visit {
                node,
                connection: visit.connection,
                tag: visit.tag,
            };
            self.events.put(
                self.now + Moment::about(visit.after).max(Moment::from_picoseconds(1)),
                event,
            );
        }
    }

    /// Handles the arrival of a message from outside.
    pub(super) fn visited(&mut self, node: u32, connection: u32, tag: u64) {
        let what = Message {
            node,
            connection,
            rings: true,
            tag,
            ..Message::default()
        };
        let from = Thread { node, number: 0 };
        let message = self.messages.put(UnderWay {
            what,
            from,
            sent: self.now,
            number: 0,
            left: 0,
            data_left: 0,
            in_memory: 0,
            delay: Moment::START,
            is_refused: false,
            is_visit: true,
            next_free: NONE,
        });
        self.arrived(message);
        self.expect_visit(node);
    }

    /// Handles the arrival of a message: queues a note for its thread, and rings the doorbell.
    /// Returns the node.
    pub(super) fn arrived(&mut self, message: u32) -> u32 {
        let under_way = self.messages.all[message as usize];
        let node = under_way.what.node;
        if under_way.is_refused {
            self.messages.take(message);
            return node;
        }
        match under_way.is_visit {
            true => self.counts.visits += 1,
            false => self.counts.arrived += 1,
        }
        let number = self.layout.connections[under_way.what.connection as usize].thread;
        let thread = Thread { node, number };
        self.state_mut(thread).notes.push_back(message);
        match self.state(thread).does {
            Does::Polls(first) => self.found(thread, first),
            _ if under_way.what.rings => self.ring(thread),
            _ => {}
        }
        node
    }

    /// Takes the first note, and passes it to the program.
    pub(super) fn take(&mut self, thread: Thread) {
        let message = self.state_mut(thread).notes.pop_front();
        let message = message.expect("a thread takes a note that it has seen");
        let under_way = self.messages.take(message);
        if T::LISTENS && !under_way.is_visit {
            self.timeline.received(under_way.number, thread, self.now);
        }
        let fetch = self.machine.fetch_per_byte * f64::from(under_way.in_memory);
        if under_way.in_memory > 0 {
            // A receiver that reads only a part of the data still brings all of it into the cache
            // over time.
            let what = under_way.what;
            let node = &mut self.nodes[thread.node as usize];
            node.cache.bring(what.destination, what.data_bytes.into());
        }
        let note = Note {
            from: under_way.from,
            tag: under_way.what.tag,
            sent: under_way.sent,
            fetch,
        };
        self.proceed(thread, Resumed::Received(note));
    }
}
