//! The messages between the supervisor and the workers.
//!
//! The user field of a message says which of them it is. Numbers are little-endian.
//!
//! | message | direction | metadata | data |
//! |---|---|---|---|
//! | ready | to the supervisor | | |
//! | scene | to a worker | frame (4 bytes) | the options, by postcard |
//! | tasks | to a worker | frame (4) | assignments: number (4), column, row, width, height (2) |
//! | tile | to the supervisor | frame, number, hits (4) | pixels: 3 floats (4 each) |
//! | failed | to the supervisor | frame (4), or none ([`NO_FRAME`]) | the reason, in UTF-8 |
//! | lost | to a worker | node (2) | |
//! | end | to a worker, or from its own renderer that panics | | |
//! | profile | to the supervisor | | times of a thread, or of some of its tiles, by postcard |
//! | report | to the supervisor | | counts of the worker (8 each) |
//!
//! # Source
//! BARRIER, SCENE_UPDATE, NEW_TASK and the tiles in Parker, Efficient user-level event
//! notification, sections 6.2 and 6.3: 12 bytes for each assignment.

use raddle::net::{Message, NodeId, Port, PortId, SendError};
use raddle_sync::backoff::Backoff;
use raddle_sync::lane::LONG_MAX;

use super::SUPERVISOR;
use super::error::DirtError;
use super::schedule::Assignment;
use crate::render::Part;

pub(super) const READY: u32 = 0xD127_0001;
pub(super) const SCENE: u32 = 0xD127_0002;
pub(super) const TASKS: u32 = 0xD127_0003;
pub(super) const TILE: u32 = 0xD127_0004;
pub(super) const FAILED: u32 = 0xD127_0005;
pub(super) const LOST: u32 = 0xD127_0006;
pub(super) const END: u32 = 0xD127_0007;
pub(super) const REPORT: u32 = 0xD127_0008;
pub(super) const PROFILE: u32 = 0xD127_0009;

/// The number of no frame: a worker has failed before the first one.
pub(super) const NO_FRAME: u32 = u32::MAX;

/// The number of assignments in a message, at most.
pub(super) const TASKS_MAX: usize = LONG_MAX / TASK_BYTES;
/// The number of bytes of an assignment.
pub(super) const TASK_BYTES: usize = 12;
/// The number of bytes of a pixel.
pub(super) const PIXEL_BYTES: usize = 12;
/// The number of bytes of the metadata of a tile.
const TILE_HEAD_BYTES: usize = 12;

/// The port of each node at which its messages arrive.
pub(super) const MESSAGES: u16 = 0;

/// Returns the port at which the messages of a node arrive.
pub(super) const fn messages_of(node: NodeId) -> PortId {
    PortId {
        node,
        index: MESSAGES,
    }
}

/// Sends a message to the supervisor, and waits for space.
///
/// # Errors
/// As for [`send`].
pub(super) fn send_to_supervisor(
    port: &mut Port,
    user: u32,
    metadata: &[u8],
    data: &[u8],
) -> Result<(), DirtError> {
    Ok(send(port, SUPERVISOR, user, metadata, data)?)
}

/// Sends a message, and waits for space.
///
/// # Errors
/// Those of [`Port::send`], except [`SendError::Full`].
pub(super) fn send(
    port: &mut Port,
    to: PortId,
    user: u32,
    metadata: &[u8],
    data: &[u8],
) -> Result<(), SendError> {
    let message = Message {
        user,
        metadata,
        ..Message::default()
    };
    let mut backoff = Backoff::new();
    loop {
        match port.send(to, message, data) {
            Err(SendError::Full) => backoff.pause(),
            other => return other,
        }
    }
}

/// Returns the bytes of a reason, as far as they fit into a message.
pub(super) fn reason(why: &str) -> &[u8] {
    let len = why.floor_char_boundary(LONG_MAX.min(why.len()));
    &why.as_bytes()[..len]
}

/// Writes an assignment.
pub(super) fn write_task(assignment: &Assignment, into: &mut Vec<u8>) {
    let Part { corner, size } = assignment.part;
    into.extend_from_slice(&assignment.number.to_le_bytes());
    for word in [corner.0, corner.1, size.0, size.1] {
        // A picture has at most 2¹⁶ pixels each way, and a tile fewer.
        into.extend_from_slice(&(word as u16).to_le_bytes());
    }
}

/// Reads the assignments of a message.
pub(super) fn read_tasks(metadata: &[u8], data: &[u8]) -> Option<Vec<Assignment>> {
    let frame = u32::from_le_bytes(metadata.try_into().ok()?);
    let (tasks, rest) = data.as_chunks::<TASK_BYTES>();
    let read = |bytes: &[u8; TASK_BYTES]| {
        let half = |at: usize| u32::from(u16::from_le_bytes([bytes[at], bytes[at + 1]]));
        Assignment {
            frame,
            number: u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]),
            part: Part {
                corner: (half(4), half(6)),
                size: (half(8), half(10)),
            },
        }
    };
    rest.is_empty().then(|| tasks.iter().map(read).collect())
}

/// The head of a tile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TileHead {
    pub(super) frame: u32,
    pub(super) number: u32,
    /// The number of samples that hit a surface.
    pub(super) hits: u32,
}

impl TileHead {
    /// Returns the metadata of a message.
    pub(super) fn write(self) -> [u8; TILE_HEAD_BYTES] {
        let mut bytes = [0; TILE_HEAD_BYTES];
        let (words, _) = bytes.as_chunks_mut();
        for (place, word) in words.iter_mut().zip([self.frame, self.number, self.hits]) {
            *place = word.to_le_bytes();
        }
        bytes
    }

    /// Reads the metadata of a message.
    pub(super) fn read(metadata: &[u8]) -> Option<Self> {
        let bytes: &[u8; TILE_HEAD_BYTES] = metadata.try_into().ok()?;
        let word = |at: usize| u32::from_le_bytes(std::array::from_fn(|index| bytes[at + index]));
        Some(Self {
            frame: word(0),
            number: word(4),
            hits: word(8),
        })
    }
}

/// Writes pixels.
pub(super) fn write_pixels(pixels: &[[f32; 3]], into: &mut Vec<u8>) {
    // Plain loops over one slice each: a frame has millions of numbers.
    into.resize(pixels.len() * PIXEL_BYTES, 0);
    let (places, _) = into.as_chunks_mut();
    for (place, value) in places.iter_mut().zip(pixels.as_flattened()) {
        *place = value.to_le_bytes();
    }
}

/// Reads pixels, of which there are as many as places.
pub(super) fn read_pixels(data: &[u8], pixels: &mut [[f32; 3]]) {
    let (values, _) = data.as_chunks();
    for (place, &value) in pixels.as_flattened_mut().iter_mut().zip(values) {
        *place = f32::from_le_bytes(value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_is_read() {
        let assignment = Assignment {
            frame: 7,
            number: 0x0102_0304,
            part: Part {
                corner: (65_528, 16),
                size: (8, 64),
            },
        };
        let mut bytes = Vec::new();
        write_task(&assignment, &mut bytes);
        write_task(&assignment, &mut bytes);
        assert_eq!(bytes.len(), 2 * TASK_BYTES);
        let read = read_tasks(&7_u32.to_le_bytes(), &bytes);
        assert_eq!(read, Some(vec![assignment; 2]));
        assert_eq!(read_tasks(&7_u32.to_le_bytes(), &bytes[1..]), None);
        assert_eq!(read_tasks(&[7], &bytes), None);
        let head = TileHead {
            frame: 3,
            number: 9,
            hits: u32::MAX,
        };
        assert_eq!(TileHead::read(&head.write()), Some(head));
        assert_eq!(TileHead::read(&[0; 11]), None);
        let pixels = [[0.1, -2.0, f32::MAX], [f32::MIN_POSITIVE, 0.0, 1.0]];
        write_pixels(&pixels, &mut bytes);
        let mut read = [[0.0; 3]; 2];
        read_pixels(&bytes, &mut read);
        assert_eq!(read, pixels);
    }
}
