//! The ways in which a thread gets its next message: by polling, or by waiting for the doorbell.

use std::hint::spin_loop;
use std::thread::yield_now;

use raddle::net::{Arrival, Message, NetError, Port, PortId, SendError};

/// The number of polls after which a thread with a CPU of its own lets other processes run.
const POLLS_PER_YIELD: u32 = 4_096;

/// The way in which a thread waits for its next message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Watch {
    /// Polls the port continuously.
    Poll {
        /// True if the thread that is awaited may need the same CPU.
        yields: bool,
    },
    /// Waits in the wait cell of the port.
    Wait,
}

impl Watch {
    /// Returns true if messages to a thread that waits in this way must ring the doorbell.
    pub(super) const fn needs_doorbell(self) -> bool {
        matches!(self, Self::Wait)
    }

    /// Waits until at least one message has arrived, and calls `receive` with each one.
    #[inline]
    pub(super) fn next(
        self,
        port: &mut Port,
        mut receive: impl FnMut(Arrival<'_>),
    ) -> Result<(), NetError> {
        let mut polls = 0_u32;
        loop {
            if self == Self::Wait {
                port.wait();
            }
            if port.poll(&mut receive)? > 0 {
                return Ok(());
            }
            polls = polls.wrapping_add(1);
            match self {
                Self::Wait => {}
                Self::Poll { yields } if yields || polls.is_multiple_of(POLLS_PER_YIELD) => {
                    yield_now();
                }
                Self::Poll { .. } => spin_loop(),
            }
        }
    }
}

/// Sends a message. Waits while the lane to the receiver is full, which is not for long, because
/// the receiver takes messages all the time.
pub(super) fn send(
    port: &mut Port,
    to: PortId,
    message: Message<'_>,
    data: &[u8],
) -> Result<(), SendError> {
    retry(|| port.send(to, message, data))
}

/// Calls `send` until it no longer fails with [`SendError::Full`].
#[inline]
pub(super) fn retry(mut send: impl FnMut() -> Result<(), SendError>) -> Result<(), SendError> {
    loop {
        match send() {
            Err(SendError::Full) => yield_now(),
            other => return other,
        }
    }
}
