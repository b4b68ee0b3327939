//! The parameters of a node in the form that the simulator uses: fixed times in whole picoseconds,
//! sizes in whole bytes.

use super::client;
use super::moment::Moment;
use crate::error::ModelError;
use crate::packets::PacketFormat;
use crate::parameters::{Interface, Message, Parameters};
use crate::units::{Bandwidth, Nanoseconds, Speed};

/// A machine of identical nodes.
#[derive(Clone, Debug)]
pub(super) struct Machine {
    /// `speeds[n]` is the speed of each of `n` active threads.
    pub(super) speeds: Vec<Speed>,
    pub(super) message: Message,
    pub(super) interface: Interface,
    /// The time from the core to the interface, and the time there and back.
    pub(super) to_interface: Moment,
    pub(super) trip: Moment,
    /// The time from there until the first byte is ready, for a message by a descriptor and for an
    /// inline message.
    pub(super) fetch: Moment,
    pub(super) take_inline: Moment,
    /// The work of an inline send before its bytes are stored, and after.
    pub(super) inline_issue: Nanoseconds,
    pub(super) inline: Nanoseconds,
    pub(super) arrive: Moment,
    pub(super) notify_wake: Moment,
    pub(super) wake_latency: Moment,
    pub(super) poll_period: Moment,
    pub(super) wire: Moment,
    pub(super) walk: Moment,
    pub(super) bandwidth: Bandwidth,
    pub(super) packets: PacketFormat,
    pub(super) block_bytes: u64,
    pub(super) cache_bytes: u64,
    /// The reader's time to fetch one byte of a message that is in memory.
    pub(super) fetch_per_byte: Nanoseconds,
    /// The time for which a core runs these threads, and then other programs; `None` if it runs
    /// only these.
    pub(super) slices: Option<(Moment, Moment)>,
}

impl Machine {
    /// Converts the parameters for `threads` threads on each node.
    pub(super) fn of(parameters: &Parameters, threads: u32) -> Result<Self, ModelError> {
        let Parameters {
            message,
            interface,
            cache,
            network,
            system,
            ..
        } = parameters;
        let speeds = parameters.speeds()?.up_to(threads as usize);
        let speeds = speeds.map_err(|error| parameters.located(error))?;
        let half_trip = interface.trip / 2.0;
        let lines = cache.referenced / cache.line.0;
        let slice = Moment::about(system.slice);
        let away = system.slice * (system.away / (1.0 - system.away));
        Ok(Self {
            speeds,
            message: *message,
            interface: *interface,
            to_interface: Moment::about(half_trip),
            trip: Moment::about(half_trip) + Moment::about(half_trip),
            fetch: Moment::about(message.send_latency - message.send_issue - half_trip),
            take_inline: Moment::about(
                interface.inline_latency - interface.inline_issue - half_trip,
            ),
            inline_issue: interface.inline_issue,
            inline: interface.inline - interface.inline_issue,
            arrive: Moment::about(interface.arrive),
            notify_wake: Moment::about(message.notify_wake),
            wake_latency: Moment::about(message.wake_latency),
            poll_period: Moment::about(message.poll_period).max(Moment::from_picoseconds(1)),
            wire: Moment::about(network.wire),
            walk: Moment::about(interface.walk),
            bandwidth: network.bandwidth,
            packets: parameters.packets(),
            block_bytes: u64::from(network.packet_payload_bytes),
            cache_bytes: cache.bytes.0 as u64,
            fetch_per_byte: cache.miss * lines,
            slices: (system.away > 0.0).then(|| (slice, Moment::about(away))),
        })
    }

    /// Returns the time that bytes take to pass a link.
    #[inline]
    pub(super) fn passing(&self, bytes: u32) -> Moment {
        Moment::about(crate::units::Bytes(f64::from(bytes)) / self.bandwidth)
    }

    /// Returns the size of the next packet of a message, and the number of data bytes in it.
    ///
    /// `left` bytes of the message are left, of which `data_left` are data. The first packet
    /// includes everything that is neither data nor the header of another packet. The last packet
    /// is the rest.
    #[inline]
    pub(super) fn packet_of(
        &self,
        what: &client::Message,
        left: u32,
        data_left: u32,
    ) -> (u32, u32) {
        let data = data_left.min(self.packets.payload_bytes);
        if data == data_left {
            return (left, data);
        }
        let is_first = data_left == what.data_bytes;
        let header = match is_first {
            true => self.packets.message_min_bytes,
            false => self.packets.header_bytes,
        };
        // A packet has at least one byte, whatever size on the wire the program gives.
        (left.min(data.saturating_add(header)).max(1), data)
    }
}
