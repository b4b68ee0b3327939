//! Finds the events in a JSON file, one after the other, without the whole file in memory.
//!
//! The file is an array of events, or an object of which the member `traceEvents` is one. An array
//! may lack its closing bracket, and may have commas before it.

use std::io::BufRead;

use crate::error::{Place, ReadError};
use crate::input::Input;

/// The first byte of a byte order mark.
pub(crate) const BYTE_ORDER_MARK: u8 = 0xef;
/// The largest number of arrays and objects around a value.
const DEPTH_MAX: u32 = 128;

/// The events of a file that have not been read.
#[derive(Debug)]
pub(super) struct Scanner<R> {
    input: Input<R>,
    state: State,
    place: Place,
    is_cut: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Start,
    /// In an array. `is_member` is true if the array is a member of an object.
    Array {
        is_member: bool,
    },
    Object,
    End,
}

impl<R: BufRead> Scanner<R> {
    /// Starts to read a file.
    pub(super) const fn new(input: Input<R>) -> Self {
        Self {
            input,
            state: State::Start,
            place: Place { byte: 0, item: 0 },
            is_cut: false,
        }
    }

    /// Returns the place of the last event.
    pub(super) const fn place(&self) -> Place {
        self.place
    }

    /// Returns the byte at which the file ends too early, after all events.
    pub(super) fn cut_at(&self) -> Option<u64> {
        self.is_cut.then_some(self.input.byte())
    }

    /// Reads the JSON object of the next event into `event`. Returns false at the end.
    pub(super) fn next(&mut self, event: &mut Vec<u8>) -> Result<bool, ReadError> {
        loop {
            event.clear();
            let Some(byte) = self.peek()? else {
                self.is_cut |= self.state != State::End;
                return Ok(false);
            };
            self.place.byte = self.input.byte();
            match (self.state, byte) {
                (State::Start, BYTE_ORDER_MARK) => {
                    self.input.read(3, event)?;
                }
                (State::Start, b'[') => self.enter(State::Array { is_member: false }),
                (State::Start, b'{') => self.enter(State::Object),
                (State::Array { .. } | State::Object, b',') => self.input.skip(),
                (State::Array { is_member: true }, b']') => self.enter(State::Object),
                (State::Array { is_member: false }, b']') | (State::Object, b'}') => {
                    self.enter(State::End);
                }
                (State::Array { .. }, b'{') => {
                    self.place.item += 1;
                    return Ok(self.read_value(event)? || self.cut());
                }
                (State::Object, b'"') => {
                    if !self.enter_member(event)? {
                        return Ok(self.cut());
                    }
                }
                (state, byte) => return Err(self.unexpected(byte, state.expected())),
            }
        }
    }

    /// Notes that the file is cut off. Returns false, for no event.
    fn cut(&mut self) -> bool {
        self.is_cut = true;
        false
    }

    fn enter(&mut self, state: State) {
        self.input.skip();
        self.state = state;
    }

    /// Reads a member of the outermost object up to the first event, or as a whole if it has no
    /// events. Returns false if the file is cut off.
    fn enter_member(&mut self, buffer: &mut Vec<u8>) -> Result<bool, ReadError> {
        if !self.read_value(buffer)? {
            return Ok(false);
        }
        let has_events = buffer == b"\"traceEvents\"";
        match self.peek()? {
            Some(b':') => self.input.skip(),
            Some(byte) => return Err(self.unexpected(byte, "':' after the name of a member")),
            None => return Ok(false),
        }
        match self.peek()? {
            Some(b'[') if has_events => {
                self.enter(State::Array { is_member: true });
                Ok(true)
            }
            Some(byte) if has_events => Err(self.unexpected(byte, "'[' before events")),
            Some(_) => {
                buffer.clear();
                self.read_value(buffer)
            }
            None => Ok(false),
        }
    }

    /// Returns the next byte that is no white space.
    fn peek(&mut self) -> Result<Option<u8>, ReadError> {
        loop {
            match self.input.peek()? {
                Some(b' ' | b'\t' | b'\r' | b'\n') => self.input.skip(),
                byte => return Ok(byte),
            }
        }
    }

    /// Appends a JSON value, of which only the brackets and texts are checked. Returns false if the
    /// file ends within it.
    fn read_value(&mut self, out: &mut Vec<u8>) -> Result<bool, ReadError> {
        let mut depth = 0;
        loop {
            let Some(byte) = self.input.peek()? else {
                return Ok(false);
            };
            match byte {
                b'"' => {
                    if !self.read_text(out)? {
                        return Ok(false);
                    }
                }
                b'{' | b'[' => {
                    depth += 1;
                    if depth > DEPTH_MAX {
                        let expected = "at most 128 arrays and objects within each other";
                        return Err(self.unexpected(byte, expected));
                    }
                    self.input.skip();
                    out.push(byte);
                }
                // The end of a number that stands before them.
                b'}' | b']' | b',' | b' ' | b'\t' | b'\r' | b'\n' if depth == 0 => return Ok(true),
                _ => {
                    depth -= u32::from(matches!(byte, b'}' | b']'));
                    self.input.skip();
                    out.push(byte);
                }
            }
            if depth == 0 && matches!(out.last(), Some(b'"' | b'}' | b']')) {
                return Ok(true);
            }
        }
    }

    /// Appends a text with its quotation marks. Returns false if the file ends within it.
    fn read_text(&mut self, out: &mut Vec<u8>) -> Result<bool, ReadError> {
        self.input.skip();
        out.push(b'"');
        loop {
            let Some(byte) = self.input.next()? else {
                return Ok(false);
            };
            out.push(byte);
            match byte {
                b'"' => return Ok(true),
                b'\\' => {
                    let Some(byte) = self.input.next()? else {
                        return Ok(false);
                    };
                    out.push(byte);
                }
                _ => {}
            }
        }
    }

    fn unexpected(&self, byte: u8, expected: &'static str) -> ReadError {
        let place = Place {
            byte: self.input.byte(),
            ..self.place
        };
        let found = match byte {
            b' '..=b'~' => format!("{:?}", char::from(byte)),
            _ => format!("byte {byte:#04x}"),
        };
        ReadError::Malformed {
            place,
            found,
            expected,
        }
    }
}

impl State {
    const fn expected(self) -> &'static str {
        match self {
            Self::Start => "'[' or '{'",
            Self::Array { .. } => "an event, which is a JSON object, or ']'",
            Self::Object => "a member of an object, or '}'",
            Self::End => "the end of the file",
        }
    }
}
