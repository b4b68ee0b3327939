//! A message's way: from the call that sends it to the note of its receiver.

use super::*;

impl<C: Client, T: Timeline> Simulation<C, T> {
    /// A call that sends: work, then the command, or the bytes themselves and then the command.
    pub(super) fn send(&mut self, thread: Thread, what: Message) {
        self.draw(thread, Activity::Sends);
        let now = self.now;
        let state = self.state_mut(thread);
        state.message = what;
        state.call_began = now;
        if !what.is_inline {
            return self.work(thread, self.machine.message.send_issue, After::Command);
        }
        // Writes are posted: nobody waits for the interface, which has all of it when the last one has been made.
        let copying = Bytes(f64::from(what.data_bytes)) / self.machine.inline_bandwidth * 2.0;
        let resumed = match self.is_possible(&what) {
            true => Resumed::Sent,
            false => Resumed::Refused,
        };
        if resumed == Resumed::Sent {
            self.issue(thread, self.machine.to_interface + self.machine.take_inline);
        }
        self.work(
            thread,
            self.machine.inline + copying,
            After::Client(resumed),
        );
    }

    /// The interface has a command: it checks it, and fetches the first bytes while the answer is on its way.
    pub(super) fn command(&mut self, thread: Thread) {
        let what = self.state(thread).message;
        let is_possible = self.is_possible(&what);
        if is_possible {
            self.issue(thread, self.machine.fetch);
        }
        let resumed = match is_possible {
            true => Resumed::Sent,
            false => Resumed::Refused,
        };
        self.state_mut(thread).after = After::Client(resumed);
        self.agenda
            .put(self.now + self.machine.to_interface, reply(thread));
    }

    /// Whether there is such a node and connection, and the message is not too long to be inline.
    fn is_possible(&mut self, what: &Message) -> bool {
        let is_possible = what.node < self.layout.nodes
            && (what.connection as usize) < self.layout.connections.len()
            && (!what.is_inline || what.data_bytes <= self.machine.inline_bytes_max);
        self.counts.refused_sends += u64::from(!is_possible);
        is_possible
    }

    /// A message is under way; its first byte is ready after so long.
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
        let message = self.messages.put(UnderWay {
            what,
            from,
            sent,
            number,
            left: what.wire_bytes,
            in_memory: 0,
            delay: Moment::START,
            is_refused: false,
            next_free: NONE,
        });
        if T::LISTENS {
            self.timeline.sent(number, from, sent);
        }
        self.agenda
            .put(self.now + ready + delay, Event::Ready { message });
    }

    fn walks(&self, count: u32) -> Moment {
        Moment::from_picoseconds(self.machine.walk.picoseconds() * u64::from(count))
    }

    /// Puts all packets of a message on the link, one behind the other.
    pub(super) fn inject(&mut self, message: u32) {
        let under_way = self.messages.all[message as usize];
        let node = under_way.from.node;
        let mut left = under_way.what.wire_bytes.max(1);
        while left > 0 {
            let bytes = left.min(self.machine.packet_bytes);
            left -= bytes;
            let passing = self.machine.passing(bytes);
            let (first, last) = self.nodes[node as usize].out.pass(self.now, passing);
            if T::LISTENS {
                self.timeline
                    .packet(node, Link::Out, under_way.number, first, last);
            }
            let packet = Event::Packet { message, bytes };
            self.agenda.put(first + self.machine.wire, packet);
        }
    }

    /// A packet comes out of the network, when those before it have.
    pub(super) fn eject(&mut self, message: u32, bytes: u32) {
        let passing = self.machine.passing(bytes);
        let under_way = self.messages.all[message as usize];
        let what = under_way.what;
        let node = &mut self.nodes[what.node as usize];
        let (first, last) = node.into.pass(self.now, passing);
        if T::LISTENS {
            self.timeline
                .packet(what.node, Link::In, under_way.number, first, last);
        }
        self.counts.packets += 1;
        let is_header = under_way.left == what.wire_bytes;
        let connection = self.layout.connections[what.connection as usize];
        let mut after = under_way;
        after.left = under_way.left.saturating_sub(bytes);
        if is_header {
            self.check(&mut after, connection);
        }
        if !after.is_refused && what.data_bytes > 0 {
            self.place(&mut after, connection, bytes);
        }
        self.messages.all[message as usize] = after;
        if after.left == 0 {
            let at = last + self.machine.arrive + after.delay;
            self.agenda.put(at, Event::Arrived { message });
        }
    }

    /// The header is there: may the sender write where it wants to, and where is that?
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

    /// Where a packet's data goes.
    fn place(&mut self, message: &mut UnderWay, connection: Connection, bytes: u32) {
        let what = message.what;
        let data = bytes.saturating_sub(self.machine.packet_header_bytes);
        // The last packets may be all header.
        let offset = what.wire_bytes - message.left - bytes.min(what.wire_bytes);
        let data = data.min(what.data_bytes.saturating_sub(offset));
        let node = &mut self.nodes[what.node as usize];
        let injection = Injection {
            message: what.hints_cache,
            connection: connection.injects,
            is_on_core: !node.core.is_away(),
        };
        let address = what.destination + u64::from(offset);
        match node.cache.place(injection, address, u64::from(data)) {
            Placed::Injected => self.counts.injected += u64::from(data),
            Placed::Updated => self.counts.updated += u64::from(data),
            Placed::ToMemory => {
                self.counts.to_memory += u64::from(data);
                message.in_memory += data;
            }
        }
    }

    /// The next message from outside, if there will be one.
    pub(super) fn expect_visit(&mut self, node: u32) {
        if let Some(visit) = self.client.visit(node) {
            let event = Event::Visit {
                node,
                connection: visit.connection,
                tag: visit.tag,
            };
            self.agenda
                .put(self.now + Moment::about(visit.after), event);
        }
    }

    /// A message from outside is there.
    pub(super) fn visited(&mut self, node: u32, connection: u32, tag: u64) {
        let what = Message {
            node,
            connection,
            rings: true,
            tag,
            ..Message::default()
        };
        let number = self.messages.sent;
        let from = Thread { node, number: 0 };
        let message = self.messages.put(UnderWay {
            what,
            from,
            sent: self.now,
            number,
            left: 0,
            in_memory: 0,
            delay: Moment::START,
            is_refused: false,
            next_free: NONE,
        });
        self.arrived(message);
        self.expect_visit(node);
    }

    /// A message is there: a note for its receiver, and the doorbell. Returns the node.
    pub(super) fn arrived(&mut self, message: u32) -> u32 {
        let under_way = self.messages.all[message as usize];
        let node = under_way.what.node;
        if under_way.is_refused {
            self.messages.take(message);
            return node;
        }
        self.counts.arrived += 1;
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

    /// Takes the first note, and gives it to the program.
    pub(super) fn take(&mut self, thread: Thread) {
        let message = self.state_mut(thread).notes.pop_front();
        let message = message.expect("a thread takes a note that it has seen");
        let under_way = self.messages.take(message);
        if T::LISTENS {
            self.timeline.received(under_way.number, thread, self.now);
        }
        let fetch = self.machine.fetch_per_byte * f64::from(under_way.in_memory);
        if under_way.in_memory > 0 {
            let bytes = u64::from(under_way.in_memory);
            let node = &mut self.nodes[thread.node as usize];
            node.cache.bring(under_way.what.destination, bytes);
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
