//! What the Raddle runtime synchronises with: the door to atomics, wait cells, queues and small protocols.
//!
//! Every crate above takes its atomics from [`prim`], so that the same code runs under `std` in production, under
//! `loom` in the models (`tests/loom_*.rs`) and under `shuttle` in the seeded schedules of the runtime.
//!
//! | module | what it is |
//! |---|---|
//! | [`prim`] | atomics, cells, mutex, futex, threads, clock: `std`, `loom` or `shuttle` |
//! | [`wait`] | the one place where a thread waits: spin, then futex |
//! | [`table`] | the wait cells of many, by number, for one process or several |
//! | [`backoff`] | how short waits pause, and give the CPU away |
//! | [`biased`] | a value that its owner uses for nothing, and others dearly |
//! | [`per_thread`] | a variable of which each thread has a value |
//! | [`lock`] | simple, ticket, CLH and Pthreads locks |
//! | [`hand_over`] | copying to where another core reads next |
//! | [`lane`] | messages from one to one, through memory that both can reach |
//! | [`stack`] | a lock-free stack with a version against ABA |
//! | [`single_put`] | a queue that its owner fills without a lock |
//! | [`deque`] | a work-stealing deque: one owner, many thieves |
//! | [`ever`] | whether something rare has been made, asked for nothing |
//! | [`exit`] | failures that a process must not hide behind exit code 0 |
//! | [`fifo`] | the order of those who read and write one thing |
//! | [`ordered`] | data that is reached only when its FIFO says so |
//! | [`ranks`] | what waits for its turn by rank |
//! | [`gates`] | how hungry workers make a busy one look up |
//! | [`split_stack`] | the forks of one worker, of which others can take the oldest |
//! | [`offer`] | who may run an offered fork: its owner or one thief |
//! | [`idle`] | who searches and who sleeps; no wake-up is lost |
//! | [`bits`] | a fixed set of small numbers, shared |
//! | [`returns`] | where memory freed elsewhere comes home, and messages arrive |

pub mod prim;

pub mod backoff;
pub mod biased;
pub mod bits;
pub mod deque;
pub mod ever;
pub mod exit;
pub mod fifo;
pub mod gates;
pub mod hand_over;
pub mod idle;
pub mod lane;
pub mod late;
pub mod lock;
pub mod offer;
pub mod ordered;
pub mod per_thread;
mod placed;
pub mod ranks;
pub mod returns;
pub mod single_put;
pub mod split_stack;
pub mod stack;
pub mod table;
pub mod wait;

pub use crossbeam_utils::CachePadded;
