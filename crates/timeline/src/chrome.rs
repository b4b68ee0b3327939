//! The Trace Event Format of Chrome: a JSON array with an object for each event.
//!
//! | event            | `ph`     | fields                                                      |
//! |------------------|----------|-------------------------------------------------------------|
//! | slice            | `X`      | `ts`, `dur`                                                 |
//! | begin, end       | `B`, `E` | `ts`                                                        |
//! | instant          | `i`      | `ts`, `s` (scope)                                           |
//! | counter          | `C`      | `ts`, `args` with the unit, or "value", and the value       |
//! | flow begins/ends | `s`, `f` | `ts`, `id`, and `bp` with "e": it belongs to the last event |
//! | name, rank       | `M`      | `args`                                                      |
//!
//! Every event has `pid` and `tid`. `ts` and `dur` are in microseconds, with three decimals.
//!
//! # Source
//! Trace Event Format, by the developers of Chrome, as <https://ui.perfetto.dev> reads it.

#[cfg(feature = "json")]
mod event;
#[cfg(feature = "json")]
mod reader;
#[cfg(feature = "json")]
mod scanner;
#[cfg(all(test, feature = "json"))]
mod tests;
mod writer;

#[cfg(feature = "json")]
pub(crate) use self::reader::read;
#[cfg(feature = "json")]
pub(crate) use self::scanner::BYTE_ORDER_MARK;
pub(crate) use self::writer::{ARRAY_BEGIN, ARRAY_END, ChromeWriter, SEPARATOR};
