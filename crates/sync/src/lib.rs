//! The synchronisation layer of the Raddle runtime: atomics, wait cells, queues and small
//! protocols.
//!
//! Every other crate imports its atomics from [`prim`]. The same code therefore runs under `std` in
//! production, under `loom` in the models (`tests/loom`), and under `shuttle` in the seeded
//! schedules of the runtime.
//!
//! | module | contents |
//! |---|---|
//! | [`prim`] | atomics, cells, mutex, futex, threads, time: `std`, `loom` or `shuttle` |
//! | [`wait`] | the cell in which a thread waits: it spins, then sleeps on a futex |
//! | [`table`] | a table of wait cells, indexed by waiter, for one process or several |
//! | [`clock`] | the clock for short times that are measured often |
//! | [`latest`] | a few words that are read and replaced together, without a lock |
//! | [`lines`] | the lines of a software cache, which threads pin while they use them |
//! | [`log_segment`] | a part of a log, which its owner writes and overwrites, and anyone copies |
//! | [`backoff`] | pauses for short waits, which end by yielding the CPU |
//! | [`biased`] | a value that is free for its owner to use, and expensive for other threads |
//! | [`per_thread`] | a variable with one value per thread |
//! | [`lock`] | simple, ticket, CLH and Pthreads locks |
//! | [`hand_over`] | copies for data that another core reads next |
//! | [`lane`] | messages from one sender to one receiver, through shared memory |
//! | [`stack`] | a lock-free stack with a version against ABA |
//! | [`single_put`] | a queue with one producer, which needs no lock to put |
//! | [`mpsc`] | a queue with many producers and one consumer |
//! | [`deque`] | a work-stealing deque: one owner, many thieves |
//! | [`ever`] | a flag that records a rare event, and is almost free to read |
//! | [`late`] | a value that is set once, and read by all threads afterwards |
//! | [`exit`] | failures that a process must not hide behind exit code 0 |
//! | [`fifo`] | the order of the readers and writers of one location |
//! | [`ordered`] | data that is accessible only when its FIFO grants access |
//! | [`ranks`] | a priority queue that keeps the insertion order of equal ranks |
//! | [`gates`] | two words with which idle workers ask a busy worker for work |
//! | [`split_stack`] | the forks of one worker, from which other threads take the oldest |
//! | [`offer`] | decides whether the owner or a thief runs an offered fork |
//! | [`idle`] | searching and sleeping workers; no wake-up is lost |
//! | [`bits`] | a shared set of small numbers |
//! | [`push_list`] | a list that many threads push to and one thread takes as a whole |
//!
//! # Invariants
//! 1. If either side of a labelled ordering is weakened, a model fails, or the header of the module
//!    says why no model can.
//! 2. There is one way to wait: a worker has one wait cell, for everything that it waits for.

pub mod prim;

pub mod backoff;
pub mod biased;
pub mod bits;
pub mod clock;
pub mod deque;
pub mod ever;
pub mod exit;
pub mod fifo;
pub mod gates;
pub mod hand_over;
pub mod idle;
pub mod lane;
pub mod late;
pub mod latest;
pub mod lines;
pub mod lock;
pub mod log_segment;
pub mod mpsc;
pub mod offer;
pub mod ordered;
pub mod per_thread;
mod placed;
pub mod push_list;
pub mod ranks;
pub mod single_put;
pub mod split_stack;
pub mod stack;
pub mod table;
pub mod wait;

pub use crossbeam_utils::CachePadded;
