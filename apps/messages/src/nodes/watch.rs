//! How a thread gets what comes next: by looking, or by waiting for the doorbell.

use std::hint::spin_loop;
use std::thread::yield_now;

use raddle::net::{Arrival, Message, NetError, Port, PortId, SendError};

/// Looks between which a thread that shares its CPU with nobody of ours lets others run.
const LOOKS: u32 = 4_096;

/// One of the two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Watch {
    /// Looks again and again.
    Poll {
        /// Whether who is waited for may want the same CPU.
        yields: bool,
    },
    /// Waits in the port's cell.
    Wait,
}

impl Watch {
    /// Whether messages for who watches so have to ring.
    pub(super) const fn needs_doorbell(self) -> bool {
        matches!(self, Self::Wait)
    }

    /// Calls `receive` with what comes next; there is one message at least.
    #[inline]
    pub(super) fn next(
        self,
        port: &mut Port,
        mut receive: impl FnMut(Arrival<'_>),
    ) -> Result<(), NetError> {
        let mut looks = 0_u32;
        loop {
            if self == Self::Wait {
                port.wait();
            }
            if port.poll(&mut receive)? > 0 {
                return Ok(());
            }
            looks = looks.wrapping_add(1);
            match self {
                Self::Wait => {}
                Self::Poll { yields } if yields || looks.is_multiple_of(LOOKS) => yield_now(),
                Self::Poll { .. } => spin_loop(),
            }
        }
    }
}

/// Sends a message to a port that is never behind for long.
pub(super) fn send(
    port: &mut Port,
    to: PortId,
    message: Message<'_>,
    data: &[u8],
) -> Result<(), SendError> {
    retry(|| port.send(to, message, data))
}

/// Does it until there is room.
#[inline]
pub(super) fn retry(mut send: impl FnMut() -> Result<(), SendError>) -> Result<(), SendError> {
    loop {
        match send() {
            Err(SendError::Full) => yield_now(),
            other => return other,
        }
    }
}
