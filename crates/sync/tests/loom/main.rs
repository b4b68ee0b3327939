//! Models of the structures of this crate.

#![cfg(loom)]

mod biased;
mod deque;
mod ever;
mod fifo;
mod gates;
mod idle;
mod lane;
mod late;
mod latest;
mod lines;
mod lock;
mod log_segment;
mod mpsc;
mod offer;
mod ordered;
mod per_thread;
mod push_list;
mod single_put;
mod split_stack;
mod stack;
mod wait;
