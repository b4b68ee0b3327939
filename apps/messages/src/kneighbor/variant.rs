//! Variants of the program that bring back what the study removed from its runtime, step by step.
//!
//! The study measured each step by the time of an iteration before and after it. Three of the steps
//! concern work that is done for every message, so they can be repeated around the sends of the
//! program: how a message gets its memory, how much of a send is a critical section, and where the
//! private variables of a worker are.
//!
//! # Source
//! Mei, Zheng, Gioachin, Kalé: Optimizing a parallel runtime system for multicore clusters. 2010,
//! sect. 3.2.1 (memory), 3.2.2 (critical sections) and 3.3 (private variables).

use raddle::{Private, PrivateArray, Runtime};
use raddle_sync::lock::{Locked, PthreadLock};

/// The number of private variables that are updated for each message that is sent, and again for
/// each message that is received.
const PRIVATE_COUNT: usize = 4;

/// A variant of the program. The default is the program itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Variant {
    /// The memory of messages.
    pub buffers: Buffers,
    /// If true, all elements hold one Pthreads mutex during each send, so that the whole send is a
    /// critical section. Otherwise the critical sections are those of the mailbox.
    pub is_send_locked: bool,
    /// The location of private variables that are updated for every message, if there are any.
    pub private: Option<PrivateForm>,
}

/// The memory of messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Buffers {
    /// The receiver sends the buffer on with its next message.
    #[default]
    Reused,
    /// Each message is allocated by its sender and freed by its receiver.
    New,
    /// Like [`New`](Self::New), with one Pthreads mutex around each allocation and each free.
    NewLocked,
}

/// The location of the private variables of workers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PrivateForm {
    /// Thread-local storage: [`Private`].
    ThreadLocal,
    /// One array for each variable, with the values of all workers side by side: [`PrivateArray`].
    Array,
    /// Like [`Array`](Self::Array), with cache lines of its own for each value.
    Padded,
}

impl PrivateForm {
    /// All variants.
    pub const ALL: [Self; 3] = [Self::ThreadLocal, Self::Array, Self::Padded];
}

/// The locks and variables of a variant, which all elements share.
#[derive(Debug)]
pub(super) struct Extras {
    buffers: Buffers,
    allocator: Locked<PthreadLock, ()>,
    send: Option<Locked<PthreadLock, ()>>,
    private: Variables,
}

/// The private variables.
#[derive(Debug)]
enum Variables {
    None,
    ThreadLocal(Box<[Private<u64>; PRIVATE_COUNT]>),
    Array(Box<[PrivateArray; PRIVATE_COUNT]>),
}

impl Extras {
    /// Returns `None` for the default, which needs nothing.
    pub(super) fn of(variant: Variant, runtime: &Runtime) -> Option<Self> {
        if variant == Variant::default() {
            return None;
        }
        let array = |make: fn(&Runtime) -> PrivateArray| {
            Variables::Array(Box::new(std::array::from_fn(|_| make(runtime))))
        };
        Some(Self {
            buffers: variant.buffers,
            allocator: Locked::default(),
            send: variant.is_send_locked.then(Locked::default),
            private: match variant.private {
                None => Variables::None,
                Some(PrivateForm::ThreadLocal) => {
                    Variables::ThreadLocal(Box::new(std::array::from_fn(|_| Private::new(|| 0))))
                }
                Some(PrivateForm::Array) => array(PrivateArray::new),
                Some(PrivateForm::Padded) => array(PrivateArray::padded),
            },
        })
    }

    /// Returns true if received buffers are sent again.
    pub(super) fn reuses_buffers(&self) -> bool {
        self.buffers == Buffers::Reused
    }

    /// Allocates a buffer for a message. Only the allocation itself is locked.
    pub(super) fn allocate(&self, bytes: usize, stamp: u8) -> Box<[u8]> {
        let allocate = || Vec::with_capacity(bytes);
        let mut buffer = match self.buffers {
            Buffers::NewLocked => self.allocator.with(|()| allocate()),
            Buffers::New | Buffers::Reused => allocate(),
        };
        buffer.resize(bytes, stamp);
        buffer.into_boxed_slice()
    }

    /// Frees the buffer of a message.
    pub(super) fn free(&self, buffer: Box<[u8]>) {
        match self.buffers {
            Buffers::NewLocked => self.allocator.with(|()| drop(buffer)),
            Buffers::New | Buffers::Reused => drop(buffer),
        }
    }

    /// Updates the private variables, and calls `send`, which sends a message.
    pub(super) fn send(&self, send: impl FnOnce()) {
        self.update_private();
        match &self.send {
            Some(lock) => lock.with(|()| send()),
            None => send(),
        }
    }

    /// Updates the private variables of the calling worker.
    pub(super) fn update_private(&self) {
        match &self.private {
            Variables::None => {}
            Variables::ThreadLocal(variables) => variables
                .iter()
                .for_each(|variable| variable.with(|number| *number += 1)),
            Variables::Array(variables) => variables.iter().for_each(|variable| variable.add(1)),
        }
    }

    /// Returns the sum of all private variables over all workers.
    #[cfg(test)]
    pub(super) fn private_sum(self) -> u64 {
        match self.private {
            Variables::None => 0,
            Variables::ThreadLocal(variables) => {
                variables.into_iter().flat_map(Private::into_values).sum()
            }
            Variables::Array(variables) => variables
                .iter()
                .flat_map(|variable| variable.values())
                .sum(),
        }
    }
}
