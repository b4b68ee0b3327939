//! A thread's access to all bricks.

use std::fmt;
use std::ops::{AddAssign, Deref};
use std::sync::Arc;

use raddle_sync::backoff::Backoff;
use raddle_sync::lines::Pin;
use raddle_sync::wait::{SpinBudget, WaitCell};

use super::cache::Bytes;
use super::error::BrickError;
use super::loading::{Begun, Held, Lead};
use super::wire::{self, AnswerHead};
use super::{Answers, Bricks};
use crate::address::{NodeId, PortId};
use crate::error::SendError;
use crate::port::{Arrival, Data, Fetch, Message, Port};

/// The access of one thread to the bricks of all nodes.
#[derive(Debug)]
pub struct BrickReader {
    bricks: Arc<Bricks>,
    port: Port,
    cell: Arc<WaitCell>,
    budget: SpinBudget,
    counters: BrickCounters,
}

/// The bytes of a brick. They stay as they are until this is dropped.
pub struct Pinned<'a>(Way<'a>);

enum Way<'a> {
    Own(&'a [u8]),
    Hit(Pin<'a, Bytes>),
    Held(Held),
}

/// Counts of the bricks that a thread has asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct BrickCounters {
    /// Bricks in the memory of this node, which is their home.
    pub local: u64,
    /// Bricks in the cache.
    pub hits: u64,
    /// Bricks that this thread has requested from their homes, or has produced.
    pub misses: u64,
    /// Bricks that were on their way already, for another thread.
    pub joined: u64,
    /// Misses for which no line of the cache was free.
    pub alone: u64,
    /// Bricks of a home that has ended, which this thread has produced. They are misses, too.
    pub recovered: u64,
    /// Requests that were sent, each for one brick or several. With [`Answers::Get`] and shared
    /// memory there are none.
    pub requests: u64,
}

impl BrickCounters {
    /// Returns the share of bricks of other nodes that were in the cache, from 0 to 1. A brick that
    /// was on its way counts as a hit, because it caused no request. Returns `None` if there were
    /// none.
    pub fn hit_rate(&self) -> Option<f64> {
        let all = self.hits + self.joined + self.misses;
        (all > 0).then(|| (self.hits + self.joined) as f64 / all as f64)
    }
}

impl AddAssign for BrickCounters {
    fn add_assign(&mut self, other: Self) {
        self.local += other.local;
        self.hits += other.hits;
        self.misses += other.misses;
        self.joined += other.joined;
        self.alone += other.alone;
        self.recovered += other.recovered;
        self.requests += other.requests;
    }
}

impl BrickReader {
    pub(super) fn new(bricks: Arc<Bricks>, port: Port) -> Self {
        Self {
            bricks,
            port,
            cell: Arc::default(),
            budget: SpinBudget::default(),
            counters: BrickCounters::default(),
        }
    }

    /// Returns all bricks.
    pub const fn bricks(&self) -> &Arc<Bricks> {
        &self.bricks
    }

    /// Returns the counts since the reader was created.
    pub const fn counters(&self) -> &BrickCounters {
        &self.counters
    }

    /// Returns the port, to send messages. It should receive none: messages that are no bricks are
    /// dropped.
    pub const fn port(&mut self) -> &mut Port {
        &mut self.port
    }

    /// Returns true if a brick of another node takes a message and its answer, so that several of
    /// them are best [requested](Self::prefetch) at once.
    pub fn has_latency(&self) -> bool {
        self.bricks.has_latency
    }

    /// Returns a brick.
    ///
    /// Costs some nanoseconds if the brick is in memory of this node, two exchanges more if it is
    /// in the cache, and otherwise a read of the home's memory, or a request and its answer.
    ///
    /// # Errors
    /// A [`BrickError`] if there is no such brick, or its home does not answer.
    #[inline]
    pub fn get(&mut self, key: u64) -> Result<Pinned<'_>, BrickError> {
        let Some((home, place)) = self.bricks.homes.home(key) else {
            return Err(self.no_such_brick(key));
        };
        let Self {
            bricks,
            port,
            cell,
            budget,
            counters,
        } = self;
        let bricks: &Bricks = bricks;
        if bricks.my_home == Some(home)
            && let Some(bytes) = bricks.own(place)
        {
            counters.local += 1;
            return Ok(Pinned(Way::Own(bytes)));
        }
        if let Some(pin) = bricks.cache.pin(key) {
            counters.hits += 1;
            return Ok(Pinned(Way::Hit(pin)));
        }
        loop {
            let missed = miss(bricks, port, (cell, budget), counters, key, (home, place));
            match missed {
                Err(error) if bricks.recover(&error) => {}
                other => return other.map(Pinned),
            }
        }
    }

    /// Requests the bricks that are not in memory, all at once, and waits for them. Afterwards
    /// [`get`](Self::get) finds them in the cache, unless it is too small for all.
    ///
    /// # Errors
    /// As [`get`](Self::get), for the first brick that fails.
    pub fn prefetch(&mut self, keys: &[u64]) -> Result<(), BrickError> {
        match self.request_all(keys) {
            // The bricks of a home that has ended are produced when they are asked for.
            Err(error) if self.bricks.recover(&error) => Ok(()),
            other => other,
        }
    }

    fn request_all(&mut self, keys: &[u64]) -> Result<(), BrickError> {
        let bricks = Arc::clone(&self.bricks);
        let mut leads: Vec<(Lead<'_>, usize, u64)> = Vec::new();
        for &key in keys {
            let Some((home, place)) = bricks.homes.home(key) else {
                return Err(self.no_such_brick(key));
            };
            let is_here = bricks.my_home == Some(home) || bricks.backup_of(home).is_some();
            if is_here || bricks.cache.pin(key).is_some() || bricks.loading.has(&bricks.cache, key)
            {
                continue;
            }
            if let Some(lead) = begin_to_lead(&bricks, &self.cell, key, home) {
                leads.push((lead, home, place));
            }
        }
        self.counters.misses += leads.len() as u64;
        let alone = leads.iter().filter(|(lead, ..)| lead.is_alone());
        self.counters.alone += alone.count() as u64;
        match bricks.options.answers {
            Answers::Get => self.get_all(&bricks, leads),
            Answers::Direct => {
                let leads = leads.into_iter().map(|(lead, home, _)| (lead, home));
                collect(&bricks, &mut self.port, &mut self.counters, leads.collect())?;
                Ok(())
            }
            Answers::Handler => {
                let wanted: Vec<_> = leads
                    .iter()
                    .map(|(lead, home, _)| (lead.key(), *home))
                    .collect();
                // The server must know the places before the first answer arrives.
                let leave = |(lead, ..): (Lead<'_>, usize, u64)| lead.leave_to_server(&self.cell);
                let crowds: Vec<_> = leads.into_iter().map(leave).collect();
                request_for_server(&bricks, &mut self.port, &mut self.counters, &wanted);
                for crowd in crowds {
                    crowd.wait(&self.cell, &mut self.budget)?;
                }
                Ok(())
            }
        }
    }

    /// Reads the memory of the homes, with all reads on their way at once.
    fn get_all(
        &mut self,
        bricks: &Bricks,
        leads: Vec<(Lead<'_>, usize, u64)>,
    ) -> Result<(), BrickError> {
        let mut first_error = None;
        let mut begun: Vec<(Lead<'_>, usize, u64, Option<Fetch>)> = Vec::new();
        for (lead, home, place) in leads {
            let remote = bricks.remotes[home].as_ref();
            let at = place * bricks.options.brick_bytes as u64;
            // A read for which there is no space is done on its own later.
            let fetch = remote.and_then(|remote| {
                let started = self.port.start_get(remote, at, bricks.options.brick_bytes);
                started.ok()
            });
            begun.push((lead, home, place, fetch));
        }
        // Those that have begun come first, because a port can have only some reads on their way.
        begun.sort_by_key(|(.., fetch)| fetch.is_none());
        for (mut lead, home, place, fetch) in begun {
            let outcome = match (fetch, bricks.remotes[home].as_ref()) {
                (Some(fetch), Some(remote)) => {
                    let finished = self.port.finish_get(remote, fetch, lead.bytes_mut());
                    finished.map_err(|error| home_error(bricks, lead.key(), home, error))
                }
                _ => read_remote(bricks, &mut self.port, &mut lead, home, place),
            };
            if let Err(error) = lead.end(outcome) {
                first_error.get_or_insert(error);
            }
        }
        first_error.map_or(Ok(()), Err)
    }

    #[cold]
    fn no_such_brick(&self, key: u64) -> BrickError {
        let count = self.bricks.homes.brick_count();
        BrickError::NoSuchBrick { key, count }
    }
}

/// Begins to load a brick, unless another thread does, or has just done so.
fn begin_to_lead<'a>(
    bricks: &'a Bricks,
    cell: &Arc<WaitCell>,
    key: u64,
    home: usize,
) -> Option<Lead<'a>> {
    let brick_bytes = bricks.options.brick_bytes;
    let begun = bricks
        .loading
        .begin(&bricks.cache, key, home, cell, brick_bytes);
    match begun {
        Begun::Lead(lead) => Some(lead),
        Begun::Hit(_) | Begun::Join(_) => None,
    }
}

/// Loads a brick that is not in the cache, or waits for a thread that does.
#[cold]
fn miss<'a>(
    bricks: &'a Bricks,
    port: &mut Port,
    (cell, budget): (&Arc<WaitCell>, &mut SpinBudget),
    counters: &mut BrickCounters,
    key: u64,
    (home, place): (usize, u64),
) -> Result<Way<'a>, BrickError> {
    loop {
        let brick_bytes = bricks.options.brick_bytes;
        let begun = bricks
            .loading
            .begin(&bricks.cache, key, home, cell, brick_bytes);
        match begun {
            Begun::Hit(pin) => {
                counters.hits += 1;
                return Ok(Way::Hit(pin));
            }
            Begun::Join(crowd) => {
                counters.joined += 1;
                if let Some(held) = crowd.wait(cell, budget)? {
                    return Ok(Way::Held(held));
                }
                // The leader has given up.
                counters.joined -= 1;
            }
            Begun::Lead(lead) => {
                counters.misses += 1;
                counters.alone += u64::from(lead.is_alone());
                let loaded = load(bricks, port, (cell, budget), counters, lead, (home, place))?;
                if let Some(held) = loaded {
                    return Ok(Way::Held(held));
                }
            }
        }
    }
}

/// Loads a brick. Returns `None` if a server that was to fill it has given up.
fn load(
    bricks: &Bricks,
    port: &mut Port,
    (cell, budget): (&Arc<WaitCell>, &mut SpinBudget),
    counters: &mut BrickCounters,
    mut lead: Lead<'_>,
    (home, place): (usize, u64),
) -> Result<Option<Held>, BrickError> {
    let key = lead.key();
    if bricks.my_home == Some(home) {
        let read = bricks.read_own(key, lead.bytes_mut());
        let home = bricks.me;
        let read = read.map_err(|why| BrickError::Source { key, home, why });
        return lead.end(read).map(Some);
    }
    if let Some(backup) = bricks.backup_of(home) {
        counters.recovered += 1;
        let home = bricks.homes.nodes()[home];
        let read = backup.read(key, lead.bytes_mut());
        let read = read.map_err(|why| BrickError::Source { key, home, why });
        return lead.end(read).map(Some);
    }
    match bricks.options.answers {
        Answers::Get => {
            let read = read_remote(bricks, port, &mut lead, home, place);
            lead.end(read).map(Some)
        }
        Answers::Direct => {
            let mut held = collect(bricks, port, counters, vec![(lead, home)])?;
            Ok(held.pop())
        }
        Answers::Handler => {
            // The server must know the place before the answer arrives.
            let crowd = lead.leave_to_server(cell);
            request_for_server(bricks, port, counters, &[(key, home)]);
            crowd.wait(cell, budget)
        }
    }
}

/// Reads a brick from the memory of its home.
fn read_remote(
    bricks: &Bricks,
    port: &mut Port,
    lead: &mut Lead<'_>,
    home: usize,
    place: u64,
) -> Result<(), BrickError> {
    let key = lead.key();
    let to_error = |error| home_error(bricks, key, home, error);
    let remote = bricks.remotes[home].as_ref();
    let remote = remote.ok_or_else(|| to_error(SendError::Closed(bricks.homes.nodes()[home])))?;
    let at = place * bricks.options.brick_bytes as u64;
    port.get(remote, at, lead.bytes_mut()).map_err(to_error)
}

fn home_error(bricks: &Bricks, key: u64, home: usize, error: SendError) -> BrickError {
    BrickError::Home {
        key,
        home: bricks.homes.nodes()[home],
        error,
    }
}

/// Sends requests for bricks that have been left to the server. If that fails, or there is no
/// server, the threads that wait for the bricks get the error.
fn request_for_server(
    bricks: &Bricks,
    port: &mut Port,
    counters: &mut BrickCounters,
    wanted: &[(u64, usize)],
) {
    // The bricks were left to the server before this look. So the last server that ends either sees
    // them, or has been counted as ended here.
    let sent = match wanted.first() {
        Some(&(key, _)) if !bricks.has_server() => Err(BrickError::NoServer { key }),
        _ => request(bricks, port, counters, wanted),
    };
    if let Err(error) = sent {
        for &(key, _) in wanted {
            bricks
                .loading
                .finish(&bricks.cache, key, Err(error.clone()));
        }
    }
}

/// Sends requests for bricks, each given with its home. There is one message for the bricks of a
/// home, unless there are many.
fn request(
    bricks: &Bricks,
    port: &mut Port,
    counters: &mut BrickCounters,
    wanted: &[(u64, usize)],
) -> Result<(), BrickError> {
    let reply_port = match bricks.options.answers {
        Answers::Handler => bricks.options.server_port,
        Answers::Direct | Answers::Get => port.id().index,
    };
    let mut homes: Vec<usize> = wanted.iter().map(|&(_, home)| home).collect();
    homes.sort_unstable();
    homes.dedup();
    for home in homes {
        let of_home = wanted.iter().filter(|&&(_, it)| it == home);
        let keys: Vec<u64> = of_home.map(|&(key, _)| key).collect();
        for keys in keys.chunks(wire::KEYS_MAX) {
            let data: Vec<u8> = keys.iter().flat_map(|key| key.to_le_bytes()).collect();
            let to = PortId {
                node: bricks.homes.nodes()[home],
                index: bricks.options.server_port,
            };
            let message = Message {
                user: wire::REQUEST,
                metadata: &reply_port.to_le_bytes(),
                ..Message::default()
            };
            let mut backoff = Backoff::new();
            loop {
                match port.send(to, message, &data) {
                    Ok(()) => break,
                    Err(SendError::Full) => backoff.pause(),
                    Err(error) => return Err(home_error(bricks, keys[0], home, error)),
                }
            }
            counters.requests += 1;
        }
    }
    Ok(())
}

/// Requests bricks, receives the answers, and ends the loads. Returns the bricks.
///
/// # Errors
/// The first error. All loads have ended then, too.
fn collect(
    bricks: &Bricks,
    port: &mut Port,
    counters: &mut BrickCounters,
    mut leads: Vec<(Lead<'_>, usize)>,
) -> Result<Vec<Held>, BrickError> {
    let mut arrived = Vec::with_capacity(leads.len());
    let wanted = leads.iter().map(|(lead, home)| (lead.key(), *home));
    let wanted: Vec<_> = wanted.collect();
    let mut first_error = request(bricks, port, counters, &wanted).err();
    if let Some(error) = &first_error {
        for (lead, _) in leads.drain(..) {
            let _ = lead.end(Err(error.clone()));
        }
    }
    while !leads.is_empty() {
        let mut done = Vec::new();
        let polled = port.poll(|arrival| {
            if let Some(outcome) = take_answer(&mut leads, &arrival) {
                done.push(outcome);
            }
        });
        for (key, outcome) in done {
            let found = leads.iter().position(|(lead, _)| lead.key() == key);
            let Some(index) = found else { continue };
            match leads.swap_remove(index).0.end(outcome) {
                Ok(held) => arrived.push(held),
                Err(error) => {
                    first_error.get_or_insert(error);
                }
            }
        }
        if matches!(polled, Ok(1..)) {
            continue;
        }
        // The homes that have ended answer nothing more.
        let is_lost = |&(_, home): &(Lead<'_>, usize)| !port.is_alive(bricks.homes.nodes()[home]);
        while polled.is_err()
            && let Some(index) = leads.iter().position(is_lost)
        {
            let (lead, home) = leads.swap_remove(index);
            let node = bricks.homes.nodes()[home];
            let error = port.ended(node).unwrap_or(SendError::Left(node));
            let error = home_error(bricks, lead.key(), home, error);
            let _ = lead.end(Err(error.clone()));
            first_error.get_or_insert(error);
        }
        if !leads.is_empty() && polled.is_ok() {
            port.wait();
        }
    }
    first_error.map_or(Ok(arrived), Err)
}

/// Copies the part of a brick in a message. Returns the key and the outcome if that was the last
/// part.
fn take_answer(
    leads: &mut [(Lead<'_>, usize)],
    arrival: &Arrival<'_>,
) -> Option<(u64, Result<(), BrickError>)> {
    let Data::Here(data) = arrival.data else {
        return None;
    };
    let metadata = arrival.message.metadata;
    match arrival.message.user {
        wire::ANSWER => {
            let AnswerHead { key, at, is_last } = AnswerHead::read(metadata)?;
            let (lead, _) = leads.iter_mut().find(|(lead, _)| lead.key() == key)?;
            let is_whole = lead.add_part(at as usize, data);
            (is_last && is_whole).then_some((key, Ok(())))
        }
        wire::REFUSAL => {
            let key = wire::read_refusal(metadata)?;
            let why = String::from_utf8_lossy(data).into_owned();
            let home: NodeId = arrival.from.node;
            Some((key, Err(BrickError::Source { key, home, why })))
        }
        _ => None,
    }
}

impl Deref for Pinned<'_> {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        match &self.0 {
            Way::Own(bytes) => bytes,
            Way::Hit(pin) => pin,
            Way::Held(held) => held.bytes(),
        }
    }
}

impl fmt::Debug for Pinned<'_> {
    /// Prints the number of bytes.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "a brick of {} bytes", self.len())
    }
}
