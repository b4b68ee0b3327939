//! A thread's access to all bricks.

use std::fmt;
use std::ops::{AddAssign, Deref};
use std::sync::Arc;

use raddle_sync::backoff::Backoff;
use raddle_sync::lines::Pin;
use raddle_sync::wait::{SpinBudget, WaitCell};
use raddle_trace::profile::{NoProfile, Profiler};

use super::cache::Bytes;
use super::error::BrickError;
use super::functions::{GET, LOAD, PREFETCH, PRODUCE, READ, REQUEST, WAIT};
use super::loading::{Begun, Crowd, Held, Lead};
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
    /// The bricks of the last [`prefetch`](Self::prefetch) that have not been asked for. They have
    /// been counted as misses, so their first [`get`](Self::get) does not count.
    prefetched: Vec<u64>,
}

/// The bricks that were requested together, and their outcomes, in any order.
type Outcomes = Vec<(u64, Result<Option<Held>, BrickError>)>;

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
    /// Bricks of which this node is the home: in memory, or produced on demand.
    pub local: u64,
    /// Bricks of other nodes in the cache.
    pub hits: u64,
    /// Bricks that this thread has requested from their homes, or has produced in their place.
    pub misses: u64,
    /// Bricks of other nodes that were on their way already, for another thread.
    pub joined: u64,
    /// Bricks for which no line of the cache was free.
    pub alone: u64,
    /// Bricks of this node that this thread has produced on demand.
    pub produced: u64,
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

    /// Returns the count of a brick in the cache, of this node or of another one.
    const fn hit(&mut self, is_own: bool) -> &mut u64 {
        if is_own {
            &mut self.local
        } else {
            &mut self.hits
        }
    }
}

impl AddAssign for BrickCounters {
    fn add_assign(&mut self, other: Self) {
        self.local += other.local;
        self.hits += other.hits;
        self.misses += other.misses;
        self.joined += other.joined;
        self.alone += other.alone;
        self.produced += other.produced;
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
            prefetched: Vec::new(),
        }
    }

    /// Sets how long the waits of this thread spin. See [`Port::set_budget`].
    pub fn set_budget(&mut self, budget: SpinBudget) {
        self.port.set_budget(budget.clone());
        self.budget = budget;
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
        self.get_profiled(key, &NoProfile)
    }

    /// Returns a brick as [`get`](Self::get) does, and measures the parts of the work.
    ///
    /// # Errors
    /// As [`get`](Self::get).
    #[inline]
    pub fn get_profiled(
        &mut self,
        key: u64,
        profiler: &impl Profiler,
    ) -> Result<Pinned<'_>, BrickError> {
        let _call = profiler.call(&GET);
        let Some((home, place)) = self.bricks.homes.home(key) else {
            return Err(self.no_such_brick(key));
        };
        let Self {
            bricks,
            port,
            cell,
            budget,
            counters,
            prefetched,
        } = self;
        let bricks: &Bricks = bricks;
        let is_own = bricks.my_home == Some(home);
        if is_own && let Some(bytes) = bricks.own(place) {
            counters.local += 1;
            return Ok(Pinned(Way::Own(bytes)));
        }
        if let Some(pin) = bricks.cache.pin(key) {
            let is_counted = !prefetched.is_empty() && take(prefetched, key);
            *counters.hit(is_own) += u64::from(!is_counted);
            return Ok(Pinned(Way::Hit(pin)));
        }
        let _call = profiler.call(&LOAD);
        loop {
            let waiting = (&*cell, &mut *budget);
            let missed = miss(
                bricks,
                port,
                waiting,
                counters,
                key,
                (home, place),
                profiler,
            );
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
        self.prefetch_profiled(keys, &NoProfile)
    }

    /// Requests bricks as [`prefetch`](Self::prefetch) does, and measures the parts of the work.
    ///
    /// # Errors
    /// As [`prefetch`](Self::prefetch).
    pub fn prefetch_profiled(
        &mut self,
        keys: &[u64],
        profiler: &impl Profiler,
    ) -> Result<(), BrickError> {
        let _call = profiler.call(&PREFETCH);
        self.prefetched.clear();
        match self.request_all(keys, profiler) {
            // The bricks of a home that has ended are produced when they are asked for.
            Err(error) if self.bricks.recover(&error) => Ok(()),
            other => other,
        }
    }

    fn request_all(&mut self, keys: &[u64], profiler: &impl Profiler) -> Result<(), BrickError> {
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
        if leads.is_empty() {
            return Ok(());
        }
        let alone = leads.iter().filter(|(lead, ..)| lead.is_alone());
        let alone: Vec<u64> = alone.map(|(lead, ..)| lead.key()).collect();
        let outcomes = match bricks.options.answers {
            Answers::Get => {
                let _call = profiler.call(&READ);
                self.get_all(&bricks, leads)
            }
            Answers::Direct => {
                let _call = profiler.call(&WAIT);
                let leads = leads.into_iter().map(|(lead, home, _)| (lead, home));
                let leads = leads.collect();
                let (port, counters) = (&mut self.port, &mut self.counters);
                collect(&bricks, port, counters, leads, profiler)
            }
            Answers::Handler => self.ask_server(&bricks, leads, profiler),
        };
        let mut first_error = None;
        for (key, outcome) in outcomes {
            match outcome {
                Ok(Some(_)) => {
                    self.counters.misses += 1;
                    self.counters.alone += u64::from(alone.contains(&key));
                    self.prefetched.push(key);
                }
                // The server has given up. The brick is requested again when it is asked for.
                Ok(None) => {}
                Err(error) => {
                    first_error.get_or_insert(error);
                }
            }
        }
        first_error.map_or(Ok(()), Err)
    }

    /// Reads the memory of the homes, with all reads on their way at once.
    fn get_all(&mut self, bricks: &Bricks, leads: Vec<(Lead<'_>, usize, u64)>) -> Outcomes {
        let mut begun: Vec<(Lead<'_>, usize, u64, Option<Fetch>)> = Vec::new();
        for (lead, home, place) in leads {
            let remote = bricks.remotes[home].as_ref();
            let at = place * bricks.options.brick_bytes as u64;
            // A read for which there is no space is done on its own later.
            let fetch = remote.and_then(|remote| {
                let started = self.port.start_get(remote, at, bricks.options.brick_bytes);
                started.ok()
            });
            let is_request = fetch.is_some() && bricks.is_far[home];
            self.counters.requests += u64::from(is_request);
            begun.push((lead, home, place, fetch));
        }
        // Those that have begun come first, because a port can have only some reads on their way.
        begun.sort_by_key(|(.., fetch)| fetch.is_none());
        let (port, counters) = (&mut self.port, &mut self.counters);
        let finish = |(mut lead, home, place, fetch): (Lead<'_>, usize, u64, Option<Fetch>)| {
            let key = lead.key();
            let outcome = match (fetch, bricks.remotes[home].as_ref()) {
                (Some(fetch), Some(remote)) => {
                    let finished = port.finish_get(remote, fetch, lead.bytes_mut());
                    finished.map_err(|error| home_error(bricks, key, home, error))
                }
                _ => read_remote(bricks, port, counters, &mut lead, home, place),
            };
            (key, lead.end(outcome).map(Some))
        };
        begun.into_iter().map(finish).collect()
    }

    /// Leaves bricks to the server, requests them, and waits.
    fn ask_server(
        &mut self,
        bricks: &Bricks,
        leads: Vec<(Lead<'_>, usize, u64)>,
        profiler: &impl Profiler,
    ) -> Outcomes {
        // The server must know the places before the first answer arrives.
        let leave = |(lead, home, _): (Lead<'_>, usize, u64)| {
            let key = lead.key();
            (key, home, lead.leave_to_server(&self.cell))
        };
        let left: Vec<_> = leads.into_iter().map(leave).collect();
        request_for_server(bricks, &mut self.port, &mut self.counters, &left, profiler);
        let _call = profiler.call(&WAIT);
        let (cell, budget) = (&self.cell, &mut self.budget);
        left.into_iter()
            .map(|(key, _, crowd)| (key, crowd.wait(cell, budget)))
            .collect()
    }

    #[cold]
    fn no_such_brick(&self, key: u64) -> BrickError {
        let count = self.bricks.homes.brick_count();
        BrickError::NoSuchBrick { key, count }
    }
}

/// Takes a key out of a short list. Returns true if it was there.
#[cold]
fn take(keys: &mut Vec<u64>, key: u64) -> bool {
    let found = keys.iter().position(|&it| it == key);
    found.map(|index| keys.swap_remove(index)).is_some()
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
    profiler: &impl Profiler,
) -> Result<Way<'a>, BrickError> {
    let is_own = bricks.my_home == Some(home);
    loop {
        let brick_bytes = bricks.options.brick_bytes;
        let begun = bricks
            .loading
            .begin(&bricks.cache, key, home, cell, brick_bytes);
        match begun {
            Begun::Hit(pin) => {
                *counters.hit(is_own) += 1;
                return Ok(Way::Hit(pin));
            }
            Begun::Join(crowd) => {
                let _call = profiler.call(&WAIT);
                // If there is no brick, the leader has given up.
                if let Some(held) = crowd.wait(cell, budget)? {
                    let count = if is_own {
                        &mut counters.local
                    } else {
                        &mut counters.joined
                    };
                    *count += 1;
                    return Ok(Way::Held(held));
                }
            }
            Begun::Lead(lead) => {
                let is_alone = lead.is_alone();
                let waiting = (cell, &mut *budget);
                let loaded = load(
                    bricks,
                    port,
                    waiting,
                    counters,
                    lead,
                    (home, place),
                    profiler,
                )?;
                if let Some(held) = loaded {
                    if is_own {
                        counters.local += 1;
                        counters.produced += 1;
                    } else {
                        counters.misses += 1;
                    }
                    counters.alone += u64::from(is_alone);
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
    profiler: &impl Profiler,
) -> Result<Option<Held>, BrickError> {
    let key = lead.key();
    if bricks.my_home == Some(home) {
        let _call = profiler.call(&PRODUCE);
        let read = bricks.read_own(key, lead.bytes_mut());
        let home = bricks.me;
        let read = read.map_err(|why| BrickError::Source { key, home, why });
        return lead.end(read).map(Some);
    }
    if let Some(backup) = bricks.backup_of(home) {
        let _call = profiler.call(&PRODUCE);
        counters.recovered += 1;
        let home = bricks.homes.nodes()[home];
        let read = backup.read(key, lead.bytes_mut());
        let read = read.map_err(|why| BrickError::Source { key, home, why });
        return lead.end(read).map(Some);
    }
    match bricks.options.answers {
        Answers::Get => {
            let _call = profiler.call(&READ);
            let read = read_remote(bricks, port, counters, &mut lead, home, place);
            lead.end(read).map(Some)
        }
        Answers::Direct => {
            let _call = profiler.call(&WAIT);
            let leads = vec![(lead, home)];
            let mut outcomes = collect(bricks, port, counters, leads, profiler);
            outcomes.pop().map_or(Ok(None), |(_, outcome)| outcome)
        }
        Answers::Handler => {
            // The server must know the place before the answer arrives.
            let crowd = lead.leave_to_server(cell);
            let left = [(key, home, Arc::clone(&crowd))];
            request_for_server(bricks, port, counters, &left, profiler);
            let _call = profiler.call(&WAIT);
            crowd.wait(cell, budget)
        }
    }
}

/// Reads a brick from the memory of its home.
fn read_remote(
    bricks: &Bricks,
    port: &mut Port,
    counters: &mut BrickCounters,
    lead: &mut Lead<'_>,
    home: usize,
    place: u64,
) -> Result<(), BrickError> {
    let key = lead.key();
    let to_error = |error| home_error(bricks, key, home, error);
    let remote = bricks.remotes[home].as_ref();
    let remote = remote.ok_or_else(|| to_error(SendError::Closed(bricks.homes.nodes()[home])))?;
    let at = place * bricks.options.brick_bytes as u64;
    counters.requests += u64::from(bricks.is_far[home]);
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
    wanted: &[(u64, usize, Arc<Crowd>)],
    profiler: &impl Profiler,
) {
    let _call = profiler.call(&REQUEST);
    // The bricks were left to the server before this look. So the last server that ends either sees
    // them, or has been counted as ended here.
    let has_server = bricks.has_server();
    let failures = match has_server {
        true => request(
            bricks,
            port,
            counters,
            wanted.iter().map(|&(key, home, _)| (key, home)),
        ),
        false => Vec::new(),
    };
    for (key, home, crowd) in wanted {
        let failure = failures.iter().find(|(of, _)| of == home);
        let error = match failure {
            Some((_, error)) => home_error(bricks, *key, *home, *error),
            None if has_server => continue,
            None => BrickError::NoServer { key: *key },
        };
        bricks.loading.fail_one(&bricks.cache, *key, crowd, error);
    }
}

/// Sends requests for bricks, each given with its home. There is one message for the bricks of a
/// home, unless there are many. Returns the homes to which a message could not be sent, and the
/// reasons.
fn request(
    bricks: &Bricks,
    port: &mut Port,
    counters: &mut BrickCounters,
    wanted: impl Iterator<Item = (u64, usize)>,
) -> Vec<(usize, SendError)> {
    let mut wanted: Vec<(usize, u64)> = wanted.map(|(key, home)| (home, key)).collect();
    wanted.sort_unstable();
    let mut failures = Vec::new();
    for of_home in wanted.chunk_by(|(home, _), (other, _)| home == other) {
        let home = of_home[0].0;
        for part in of_home.chunks(wire::KEYS_MAX) {
            match request_from(bricks, port, home, part.iter().map(|&(_, key)| key)) {
                Ok(()) => counters.requests += 1,
                Err(error) => {
                    failures.push((home, error));
                    break;
                }
            }
        }
    }
    failures
}

/// Sends a request for bricks of one home. Waits while there is no space for it: the server of the
/// home receives, whatever it sends.
fn request_from(
    bricks: &Bricks,
    port: &mut Port,
    home: usize,
    keys: impl Iterator<Item = u64>,
) -> Result<(), SendError> {
    let reply_port = match bricks.options.answers {
        Answers::Handler => bricks.options.server_port,
        Answers::Direct | Answers::Get => port.id().index,
    };
    let data: Vec<u8> = keys.flat_map(u64::to_le_bytes).collect();
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
            Err(SendError::Full) => backoff.pause(),
            other => return other,
        }
    }
}

/// Requests bricks, receives the answers, and ends the loads.
fn collect(
    bricks: &Bricks,
    port: &mut Port,
    counters: &mut BrickCounters,
    mut leads: Vec<(Lead<'_>, usize)>,
    profiler: &impl Profiler,
) -> Outcomes {
    let mut outcomes = Vec::with_capacity(leads.len());
    let wanted = leads.iter().map(|(lead, home)| (lead.key(), *home));
    let requesting = profiler.call(&REQUEST);
    let failures = request(bricks, port, counters, wanted);
    drop(requesting);
    let mut fail_home = |leads: &mut Vec<(Lead<'_>, usize)>, home: usize, error: SendError| {
        while let Some(index) = leads.iter().position(|&(_, of)| of == home) {
            let lead = leads.swap_remove(index).0;
            let key = lead.key();
            let error = home_error(bricks, key, home, error);
            outcomes.push((key, lead.end(Err(error)).map(Some)));
        }
    };
    for (home, error) in failures {
        fail_home(&mut leads, home, error);
    }
    let mut arrived = Vec::with_capacity(leads.len());
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
            let lead = leads.swap_remove(index).0;
            arrived.push((key, lead.end(outcome).map(Some)));
        }
        if matches!(polled, Ok(1..)) {
            continue;
        }
        // The homes that have ended answer nothing more.
        let is_lost = |&(_, home): &(Lead<'_>, usize)| !port.is_alive(bricks.homes.nodes()[home]);
        while polled.is_err()
            && let Some(&(_, home)) = leads.iter().find(|lead| is_lost(lead))
        {
            let node = bricks.homes.nodes()[home];
            let error = port.ended(node).unwrap_or(SendError::Left(node));
            fail_home(&mut leads, home, error);
        }
        if !leads.is_empty() && polled.is_ok() {
            port.wait();
        }
    }
    outcomes.append(&mut arrived);
    outcomes
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
            let head = AnswerHead::read(metadata)?;
            let AnswerHead { key, at, is_last } = head;
            let (lead, _) = leads.iter_mut().find(|(lead, _)| lead.key() == key)?;
            if let Some(why) = head.fault(data.len(), lead.bytes_mut().len()) {
                let home = arrival.from.node;
                return Some((key, Err(BrickError::Source { key, home, why })));
            }
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
