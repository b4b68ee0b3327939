//! Models of the runtime and of its pools.

#![cfg(loom)]

mod pools;
mod runtime;
