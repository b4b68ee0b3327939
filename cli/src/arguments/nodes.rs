//! Options that several commands between nodes share.

use clap::ValueEnum;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use raddle::chare::nodes;
use raddle::net::TransportKind;
use raddle_messages::nodes::Receive;
use raddle_model::simulate;

/// The largest number of nodes, in the type of a `clap` range.
pub(crate) const NODES_MAX: i64 = nodes::NODES_MAX as i64;

/// The ways in which nodes receive messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReceiveChoice {
    /// The waiting thread polls
    Poll,
    /// The waiting thread is woken by the doorbell of the message
    Notify,
    /// A receiving thread is woken, and wakes the waiting thread
    Thread,
    /// All ways, one after the other
    All,
}

impl ReceiveChoice {
    /// Returns the selected ways.
    pub(crate) const fn all(self) -> &'static [Receive] {
        match self {
            Self::Poll => &[Receive::Poll],
            Self::Notify => &[Receive::Notify],
            Self::Thread => &[Receive::Thread],
            Self::All => &Receive::ALL,
        }
    }

    /// Returns the selected ways, for simulated nodes.
    pub(crate) const fn all_simulated(self) -> &'static [simulate::pingpong::Receive] {
        use simulate::pingpong::Receive;
        match self {
            Self::Poll => &[Receive::Poll],
            Self::Notify => &[Receive::Notify],
            Self::Thread => &[Receive::Thread],
            Self::All => &Receive::ALL,
        }
    }
}

/// Returns a parser that accepts the names of `kinds`.
pub(crate) fn transport_parser(
    kinds: &'static [TransportKind],
) -> impl TypedValueParser<Value = TransportKind> {
    PossibleValuesParser::new(kinds.iter().map(|kind| kind.name()))
        .try_map(|name| TransportKind::by_name(&name).ok_or("no such transport"))
}
