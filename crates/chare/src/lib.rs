//! Message-driven objects on the workers of a runtime, and the tools for programs made of them.
//!
//! A *chare* is a value of a user-defined type that other code calls by messages. The attribute
//! [`chare`](macro@chare) on its plain `impl` block marks methods as *entries* and generates
//! *proxies*. A proxy has one method for each entry; calling that method sends a message and
//! returns at once. Each chare lives on one worker and runs one entry at a time, with exclusive
//! access through `&mut self`. So no locks are needed, and while a chare waits for its next
//! message, its worker runs other chares.
//!
//! | task | items |
//! |---|---|
//! | one chare, on any worker | [`Chares::chare`], [`Cx::chare`], [seed policies][policy] |
//! | many chares, by index | [`Array`] of one to six dimensions: [`Chares::array`] |
//! | elements that come and go | [`Chares::sparse_array`], [`Array::insert`], [`Array::remove`] |
//! | one on each worker; one on each node | [`Group`], [`NodeGroup`] |
//! | part of an array; a team of single chares | [`Array::section`], [`Chares::section`] |
//! | an answer | [`Reply`]: the return value of an entry |
//! | one result from many elements | [`Cx::contribute`], [`Cx::reduce`], module [`reduce`] |
//! | prefix results, in index order | [`Cx::scan`] for dense arrays, [`Cx::scan_in`] for sections |
//! | control flow over many messages | `async` entries, [`Cx::next`], [`Cx::next_where`] |
//! | priorities of messages | [`One::with_priority`], [`All::with_priority`]; seeds have none |
//! | migration | [`Cx::migrate_to`]; the module [`balance`] does it automatically |
//! | the grain size of work | [`Grain`], [`GrainTuner`] of `raddle-collections` |
//! | the end of the program | [`Cx::exit`] with [`Chares::until_exit`], [`Chares::quiescence`] |
//! | the end of elements | [`Cx::end`], [`Array::destroy`] |
//! | arrays over several processes | the module [`nodes`]: [`Job`](nodes::Job) |
//! | resuming with other workers and nodes | [`Array::checkpoint`], [`Chares::restore`] |
//! | diagnosing a standstill | [`Failure`], [`Chares::explain_waits`], variable `RADDLE_WATCH` |
//! | data written in chunks, read as an array | [`ChunkedArray`] of `raddle-collections` |
//!
//! [policy]: SeedPolicy
//! [`Grain`]: raddle_collections::Grain
//! [`GrainTuner`]: raddle_collections::GrainTuner
//! [`ChunkedArray`]: raddle_collections::ChunkedArray
//!
//! # An array and a reduction
//! Sending to all elements costs one message per worker. Contributions are merged on each worker
//! first, then up a tree of workers.
//! ```
//! use raddle_chare::reduce::Sum;
//! use raddle_chare::{Chares, Cx, chare};
//! use raddle_runtime::Runtime;
//!
//! struct Dice {
//!     pips: u32,
//! }
//!
//! #[chare]
//! impl Dice {
//!     #[entry]
//!     fn report(&mut self, cx: &mut Cx<Self>) {
//!         cx.contribute(Sum(self.pips));
//!     }
//! }
//!
//! let runtime = Runtime::builder().workers(2).build()?;
//! let dice = runtime.array(6, |index| Dice { pips: index as u32 + 1 });
//! dice.all().report();
//! let sum: u32 = dice.reduction().wait();
//! assert_eq!(sum, 21);
//! # Ok::<(), raddle_runtime::BuildError>(())
//! ```
//!
//! # Replies
//! An entry with a return value sends it back as a reply. A thread that is not a worker waits for a
//! [`Reply`]; an `async` entry awaits the reply.
//! ```
//! # use raddle_chare::{Chares, Cx, chare};
//! # use raddle_runtime::Runtime;
//! struct Account {
//!     balance: u64,
//! }
//!
//! #[chare]
//! impl Account {
//!     #[entry]
//!     fn pay_in(&mut self, amount: u64) {
//!         self.balance += amount;
//!     }
//!
//!     #[entry]
//!     fn pay_out(&mut self, amount: u64) -> Result<(), u64> {
//!         self.balance = self.balance.checked_sub(amount).ok_or(self.balance)?;
//!         Ok(())
//!     }
//!
//!     /// Takes what another account gives.
//!     #[entry]
//!     async fn draw_on(&mut self, other: AccountProxy, amount: u64) -> Result<u64, u64> {
//!         other.pay_out(amount).await?;
//!         self.balance += amount;
//!         Ok(self.balance)
//!     }
//! }
//!
//! let runtime = Runtime::builder().workers(2).build()?;
//! let accounts = runtime.array(2, |_| Account { balance: 0 });
//! let (rich, poor) = (accounts.at(0), accounts.at(1));
//! rich.pay_in(100);
//! assert_eq!(poor.draw_on(rich, 30).wait(), Ok(30));
//! assert_eq!(poor.draw_on(rich, 80).wait(), Err(70));
//! # Ok::<(), raddle_runtime::BuildError>(())
//! ```
//!
//! # Waiting for messages
//! A function without a body, marked `#[message]`, declares a kind of message that `async` entries
//! wait for. Messages that arrive before an entry waits for them are kept. While an entry waits, no
//! other entry of its chare runs, so `self` does not change.
//! ```
//! # use raddle_chare::{Chares, Cx, chare};
//! # use raddle_runtime::Runtime;
//! struct Reader;
//!
//! #[chare]
//! impl Reader {
//!     #[message]
//!     fn page(number: usize, text: String);
//!
//!     #[entry]
//!     async fn read(&mut self, cx: &mut Cx<Self>, page_count: usize) -> String {
//!         let mut book = String::new();
//!         for wanted in 0..page_count {
//!             let (_, text) = cx.next_where(Self::page, |&(number, _)| number == wanted).await;
//!             book += &text;
//!         }
//!         book
//!     }
//! }
//!
//! let runtime = Runtime::builder().workers(2).build()?;
//! let reader = runtime.chare(|_| Reader);
//! let book = reader.read(3);
//! for (number, text) in [(2, "down"), (0, "up"), (1, "side")] {
//!     reader.page(number, text.to_owned());
//! }
//! assert_eq!(book.wait(), "upsidedown");
//! # Ok::<(), raddle_runtime::BuildError>(())
//! ```
//!
//! # Seeds
//! A chare that is in no array is a seed until a worker has time to construct the chare. Idle
//! workers take seeds from others. The proxy can be used at once. Entries create seeds with
//! [`Cx::chare`], and arrays and groups through [`Cx::runtime`]. Seeds have no priorities: the
//! [`SeedPolicy`] decides which one is constructed first.
//! ```
//! # use raddle_chare::{Chares, Cx, chare};
//! # use raddle_runtime::Runtime;
//! struct Range;
//!
//! #[chare]
//! impl Range {
//!     /// The number of primes from `from` on and below `to`.
//!     #[entry]
//!     async fn primes(&mut self, cx: &mut Cx<Self>, from: u32, to: u32) -> usize {
//!         cx.end();
//!         if to - from <= 50 {
//!             let is_prime = |&n: &u32| n > 1 && (2..n).all(|divisor| n % divisor != 0);
//!             return (from..to).filter(is_prime).count();
//!         }
//!         let middle = from.midpoint(to);
//!         let low = cx.chare(|_| Self).primes(from, middle);
//!         let high = cx.chare(|_| Self).primes(middle, to);
//!         low.await + high.await
//!     }
//! }
//!
//! let runtime = Runtime::builder().workers(2).build()?;
//! assert_eq!(runtime.chare(|_| Range).primes(0, 1_000).wait(), 168);
//! # Ok::<(), raddle_runtime::BuildError>(())
//! ```
//!
//! # Sections
//! A section is a subset of an array's elements. Messages can be sent to all members, and the
//! members reduce and scan among themselves. Chares that are in no array, including seeds, can form
//! a section too: for example the team of one step of an algorithm ([`Chares::section`]).
//! ```
//! # use raddle_chare::reduce::Max;
//! # use raddle_chare::{Chares, Cx, Section, chare};
//! # use raddle_runtime::Runtime;
//! struct Field {
//!     height: u32,
//! }
//!
//! #[chare(index = [usize; 2])]
//! impl Field {
//!     #[entry]
//!     fn compare(&mut self, cx: &mut Cx<Self>, row: Section<Self>) {
//!         cx.contribute_to(row, Max(self.height));
//!     }
//! }
//!
//! let runtime = Runtime::builder().workers(2).build()?;
//! let map = runtime.array::<Field>([3, 4], |[row, column]| Field {
//!     height: (10 * row + column) as u32,
//! });
//! let row = map.section((0..4).map(|column| [1, column]));
//! row.all().compare(row);
//! assert_eq!(row.reduction::<u32>().wait(), 13);
//! # Ok::<(), raddle_runtime::BuildError>(())
//! ```
//!
//! # Elements that come and go
//! ```
//! # use raddle_chare::{Array, Chares, chare};
//! # use raddle_runtime::Runtime;
//! struct Word {
//!     count: u32,
//! }
//!
//! #[chare(index = &'static str)]
//! impl Word {
//!     #[entry]
//!     fn count_up(&mut self) {
//!         self.count += 1;
//!     }
//!
//!     #[entry]
//!     fn count(&self) -> u32 {
//!         self.count
//!     }
//! }
//!
//! let runtime = Runtime::builder().workers(2).build()?;
//! let words: Array<Word> = runtime.sparse_array();
//! for word in "to be or not to be".split(' ') {
//!     let word = words.get(word).unwrap_or_else(|| words.insert(word, |_| Word { count: 0 }));
//!     word.count_up();
//! }
//! assert_eq!(words.at("be").count().wait(), 2);
//! words.remove("or");
//! runtime.quiescence().wait();
//! assert!(words.get("or").is_none());
//! # Ok::<(), raddle_runtime::BuildError>(())
//! ```
//!
//! # Groups
//! A group has one element on each worker, for state that the chares of one worker share. A message
//! to [`here`](Group::here) stays on its core, and [`with_here`](Group::with_here) is a plain call.
//! A [`NodeGroup`] has one element for all workers, and any worker with time runs its entries.
//! ```
//! # use raddle_chare::reduce::Sum;
//! # use raddle_chare::{Chares, Cx, Group, chare};
//! # use raddle_runtime::Runtime;
//! #[derive(Default)]
//! struct Counter {
//!     count: u32,
//! }
//!
//! #[chare]
//! impl Counter {
//!     #[entry]
//!     fn report(&mut self, cx: &mut Cx<Self>) {
//!         cx.contribute(Sum(self.count));
//!     }
//! }
//!
//! struct Visitor;
//!
//! #[chare]
//! impl Visitor {
//!     #[entry]
//!     fn visit(&mut self, counters: Group<Counter>) {
//!         counters.with_here(|counter| counter.count += 1);
//!     }
//! }
//!
//! let runtime = Runtime::builder().workers(2).build()?;
//! let counters = runtime.group(|_worker| Counter::default());
//! runtime.array(100, |_| Visitor).all().visit(counters);
//! runtime.quiescence().wait();
//! counters.all().report();
//! assert_eq!(counters.reduction::<u32>().wait(), 100);
//! # Ok::<(), raddle_runtime::BuildError>(())
//! ```
//!
//! # Priorities
//! ```
//! # use raddle_chare::{Chares, Cx, chare};
//! # use raddle_runtime::Runtime;
//! struct Office {
//!     done: Vec<&'static str>,
//! }
//!
//! #[chare]
//! impl Office {
//!     #[entry]
//!     fn do_it(&mut self, what: &'static str) {
//!         self.done.push(what);
//!     }
//!
//!     #[entry]
//!     fn monday(&mut self, cx: &mut Cx<Self>) {
//!         let office = cx.this();
//!         office.with_priority(1).do_it("tidy up");
//!         office.do_it("write");
//!         office.with_priority(-1).do_it("answer the telephone");
//!     }
//!
//!     #[entry]
//!     fn done(&self) -> Vec<&'static str> {
//!         self.done.clone()
//!     }
//! }
//!
//! let runtime = Runtime::builder().workers(1).build()?;
//! let office = runtime.chare(|_| Office { done: Vec::new() });
//! office.monday();
//! runtime.quiescence().wait();
//! assert_eq!(office.done().wait(), ["answer the telephone", "write", "tidy up"]);
//! # Ok::<(), raddle_runtime::BuildError>(())
//! ```
//!
//! # Nodes, and checkpoints
//! A program that is a [`Job`](nodes::Job) runs on one process or on several. Every node runs the
//! same set-up, which creates the arrays; the main part runs once. Values are serialised, with
//! serde, only when they go to another node. `#[chare(nodes)]` requires arguments and replies that
//! can be serialised. `#[chare(state)]` requires values that can be serialised; checkpoints consist
//! of them. Buffers of plain numbers, such as `Vec<f64>` or `Box<[u8]>`, are sent as raw bytes if
//! they are a whole argument, reply or contribution; inside another type, [`nodes::plain`] asks for
//! the same.
//! ```
//! # use raddle_chare::nodes::Job;
//! # use raddle_chare::{Chares, chare};
//! use serde::{Deserialize, Serialize};
//!
//! #[derive(Serialize, Deserialize)]
//! struct Tank {
//!     litres: f64,
//! }
//!
//! #[chare(nodes, state)]
//! impl Tank {
//!     #[entry]
//!     fn fill(&mut self, litres: f64) -> f64 {
//!         self.litres += litres;
//!         self.litres
//!     }
//! }
//!
//! let folder = std::env::temp_dir().join(format!("tanks-{}", std::process::id()));
//! // Here the nodes are threads of this process; `run` makes them processes.
//! Job::new(2).run_within(
//!     |setup| setup.array(4, |_| Tank { litres: 1.0 }),
//!     |_, tanks| {
//!         assert_eq!(tanks.at(3).fill(0.5).wait(), 1.5);
//!         tanks.checkpoint(&folder)
//!     },
//! )??;
//! let runtime = raddle_runtime::Runtime::builder().workers(1).build()?;
//! let tanks = runtime.restore::<Tank>(&folder)?;
//! assert_eq!(tanks.at(3).fill(0.0).wait(), 1.5);
//! # std::fs::remove_dir_all(&folder)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Guarantees
//! - A message runs its entry exactly once, even while its chare moves. Only the end of the runtime
//!   drops messages.
//! - An entry, including an `async` one that waits, runs to its end before another entry of the
//!   same chare begins. Calls queue up meanwhile. Messages of the kinds that `async` entries wait
//!   for are queued separately.
//! - Messages of one sender to one chare arrive in the order in which they were sent, if they have
//!   the same priority. This includes messages to its whole array. Each chare is a sender, and so
//!   is each thread that is not a worker. Each fork of an entry (a half of a join, a task of a
//!   scope, a part of a loop) is a sender of its own, because another worker may run the fork. The
//!   messages of one fork keep their order. There is no order between the messages of a fork and
//!   those of other forks, nor those that the entry itself sends before it forks or after it has
//!   waited for its forks. An entry that needs one order collects values in its forks and sends
//!   afterwards. Messages to sections of the form [`SectionForm::Binomial`] travel along a tree, as
//!   do messages to sections of five or more chares in no array. A message that the sender sends to
//!   one member later may overtake them.
//! - A message is moved. The contents of its buffers are never copied, except for one clone per
//!   element when the message goes to many. Put large read-only data into an `Arc`.
//! - A waiting program uses no CPU.
//!
//! # What an entry should not do
//! An entry should not block: it occupies its worker, and all other chares of that worker wait.
//! [`Reply::wait`] panics on a worker, since the message that it waits for may have to run on that
//! same worker. Make the entry `async` and await the reply instead. Run blocking operations (files,
//! sockets) with [`Runtime::spawn_blocking`](raddle_runtime::Runtime::spawn_blocking), in a closure
//! that sends a message when it is done. An entry may use [`join`](raddle_runtime::join), loops and
//! scopes freely: no other entry begins on this worker before they end. A fork uses the entry's
//! [`Cx`] on behalf of its element, on whatever worker the fork runs.
//!
//! # Errors and panics
//! | problem | reported to |
//! |---|---|
//! | a message is not `Send`, borrows, or goes to many and is not `Clone` | compile error |
//! | an array over nodes of chares without `#[chare(nodes)]` | compile error |
//! | a value that crosses nodes is not `Serialize` and `Deserialize` | compile error |
//! | a wrong index or worker; a duplicate member or element | the caller, as a panic |
//! | an entry with an awaited reply panics | the waiter of the reply (see below) |
//! | another entry, or a constructor, panics | all waiters of the runtime (see below) |
//! | a message to an element that has ended | the waiter of its reply, else all waiters |
//! | a message to a section that was destroyed or lost a member | all waiters |
//! | a contribution to such a section | all waiters; the waiter of the reduction |
//! | a scan lost an element, or contributions differ | the participants, as a panic |
//! | incompatible contributions to one reduction | all waiters |
//! | a chare awaits a reply of its own | that entry, as a panic |
//! | the runtime ends | waiters of its replies; other messages are dropped silently |
//! | a message or contribution is never sent | not reported; see [`Chares::explain_waits`] |
//!
//! "All waiters" are the threads and futures outside of entries that wait for anything of this
//! runtime's chares, now or later. If nothing waits until the end, dropping the runtime panics, a
//! [`Job`](nodes::Job) returns the failure, and a program that uses the default runtime ends with
//! exit code 101.
//!
//! If an entry with an awaited reply panics, the waiter gets a panic from [`Reply::wait`] and
//! `.await`, and a [`Failure`] from [`Reply::try_wait`] and [`Reply::outcome`]. With
//! `RADDLE_WATCH=5s`, a program prints by itself what waits, and for what.
//!
//! A chare is dropped after one of its entries has panicked, since its state may be inconsistent.
//! Messages that are sent to it afterwards fail.
#![forbid(unsafe_code)]

extern crate self as raddle_chare;

// Layers, lowest first. A module imports only modules of its own layer and of the layers above it
// in this list. `cargo run -p raddle-tidy` prints the exceptions, which are small cycles.
//
// data       failure; address (numbers, indices, keys, the directory of places, the way to an
//            element); codec (values as bytes); state (what a worker, a part or a system keeps)
// engine     engine/system (what all workers share), engine/object (the traits of `#[chare]`, `Cx`,
//            proxies), engine/local (one worker), engine/elements (collections, a worker's part of
//            each, parcels), engine/context (operations of `Cx`), engine/handler (other nodes)
// waiting    reply; remote (the way out to other nodes)
// calls      measure; call (a message to a method), suspended (async entries), lifecycle (ends of
//            elements), reduction, scan, losses
// sending    send (the methods of proxies), by_route (within a node), outside (threads that are no
//            workers), seeds, node (node groups), spread, section, multicast (messages to many);
//            seeds and multicast also import migration
// features   migration, unpack, insertion, balance
// interface  array, group, chares, checkpoint, waits and watch (what a program waits for), start,
//            nodes (programs on several nodes)

mod address;
mod array;
pub mod balance;
mod by_route;
mod call;
mod chares;
#[cfg_attr(
    any(loom, shuttle),
    allow(dead_code, reason = "the models have no other nodes")
)]
mod checkpoint;
mod codec;
mod engine;
mod failure;
mod group;
mod insertion;
mod lifecycle;
mod losses;
mod measure;
mod migration;
#[cfg(doctest)]
mod misuse;
#[cfg(shuttle)]
#[doc(hidden)]
pub mod model;
mod multicast;
mod node;
#[cfg_attr(loom, allow(dead_code, reason = "the models have no other nodes"))]
pub mod nodes;
mod outside;
#[cfg_attr(loom, allow(dead_code, reason = "the models have no other nodes"))]
mod recorded;
mod reduction;
mod remote;
mod reply;
mod scan;
mod section;
mod seeds;
mod send;
mod spread;
mod start;
mod state;
mod suspended;
mod unpack;
mod waits;
#[cfg(not(any(loom, shuttle)))]
mod watch;

pub use address::index::{Index, Key};
pub use array::{Array, ArrayOptions, SparseOptions};
pub use chares::Chares;
pub use checkpoint::CheckpointError;
pub use engine::handler::CrossesNodes;
pub use engine::object::chare::{AsyncEntry, Chare, Entry, Message, Method};
pub use engine::object::cx::Cx;
#[doc(hidden)]
pub use engine::object::inbox::{Inbox, Lost, Queue};
pub use engine::object::proxy::{All, One};
pub use failure::Failure;
pub use group::Group;
pub use node::NodeGroup;
pub use raddle_collections::reduce;
/// Makes the values of a type message-driven objects.
///
/// # Examples
/// ```
/// use raddle_chare::{Chares, chare};
/// use raddle_runtime::Runtime;
///
/// /// Adds the numbers that it receives.
/// struct Cell {
///     sum: u64,
/// }
///
/// #[chare]
/// impl Cell {
///     #[entry]
///     fn add(&mut self, number: u64) {
///         self.sum += number;
///     }
///
///     #[entry]
///     fn sum(&self) -> u64 {
///         self.sum
///     }
/// }
///
/// let runtime = Runtime::builder().workers(2).build()?;
/// let cell: CellProxy = runtime.chare(|_| Cell { sum: 0 });
/// cell.add(3);
/// cell.add(4);
/// assert_eq!(cell.sum().wait(), 7);
/// # Ok::<(), raddle_runtime::BuildError>(())
/// ```
/// # What it writes
#[doc(inline)]
pub use raddle_macros::chare;
pub use reply::Reply;
pub use scan::{ScanForm, UnknownScanForm};
pub use section::Section;
pub use seeds::{SeedPolicy, UnknownSeedPolicy};
#[doc(hidden)]
pub use serde;
pub use state::members::{SectionForm, UnknownSectionForm};
