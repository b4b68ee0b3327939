//! Protobuf's encoding: a message is a list of fields, each with a number and a value.

/// Appends fields of a message.
pub(super) trait Encode {
    /// Appends a number with as many bytes as it needs, 7 bits in each.
    fn put_varint(&mut self, value: u64);

    /// Appends a field with a whole number or truth value.
    fn put_number(&mut self, field: u32, value: u64);

    /// Appends a field of 8 bytes.
    fn put_fixed64(&mut self, field: u32, value: u64);

    /// Appends the beginning of a field of bytes, which the caller appends.
    fn put_length(&mut self, field: u32, len: usize);

    /// Appends a field with a text, bytes or an encoded message.
    fn put_bytes(&mut self, field: u32, bytes: &[u8]);

    /// Appends a field with a message that `write` appends.
    fn put_message(&mut self, field: u32, write: impl FnOnce(&mut Self));
}

/// The kinds of values.
pub(super) mod wire_type {
    pub(in crate::perfetto) const VARINT: u32 = 0;
    pub(in crate::perfetto) const FIXED64: u32 = 1;
    pub(in crate::perfetto) const BYTES: u32 = 2;
    pub(in crate::perfetto) const FIXED32: u32 = 5;
}

impl Encode for Vec<u8> {
    #[inline]
    fn put_varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.push(value as u8);
    }

    #[inline]
    fn put_number(&mut self, field: u32, value: u64) {
        self.put_varint(tag(field, wire_type::VARINT));
        self.put_varint(value);
    }

    #[inline]
    fn put_fixed64(&mut self, field: u32, value: u64) {
        self.put_varint(tag(field, wire_type::FIXED64));
        self.extend_from_slice(&value.to_le_bytes());
    }

    #[inline]
    fn put_length(&mut self, field: u32, len: usize) {
        self.put_varint(tag(field, wire_type::BYTES));
        self.put_varint(len as u64);
    }

    #[inline]
    fn put_bytes(&mut self, field: u32, bytes: &[u8]) {
        self.put_length(field, bytes.len());
        self.extend_from_slice(bytes);
    }

    #[inline]
    fn put_message(&mut self, field: u32, write: impl FnOnce(&mut Self)) {
        self.put_varint(tag(field, wire_type::BYTES));
        // The length takes one byte in most messages. Other messages are moved by some bytes.
        self.push(0);
        let start = self.len();
        write(self);
        let len = self.len() - start;
        if len < 0x80 {
            self[start - 1] = len as u8;
        } else {
            let mut encoded = Self::with_capacity(10);
            encoded.put_varint(len as u64);
            self.splice(start - 1..start, encoded);
        }
    }
}

/// Returns the beginning of a field.
pub(super) const fn tag(field: u32, wire_type: u32) -> u64 {
    (field << 3 | wire_type) as u64
}

/// A value of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wire<'a> {
    /// A whole number or truth value. A negative one is in two's complement.
    Varint(u64),
    /// 8 bytes.
    Fixed64(u64),
    /// 4 bytes.
    Fixed32(u32),
    /// A text, bytes, a message or a packed list.
    Bytes(&'a [u8]),
}

/// A defect of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Defect {
    /// The message ends within a field.
    Short,
    /// There is something that no message has.
    Broken(String),
}

impl Defect {
    /// Describes what was found.
    pub(super) fn found(self) -> String {
        match self {
            Self::Short => "a message that ends within a field".to_owned(),
            Self::Broken(found) => found,
        }
    }
}

/// The fields of a message that have not been read.
#[derive(Clone, Debug)]
pub(super) struct Fields<'a> {
    bytes: &'a [u8],
}

impl<'a> Fields<'a> {
    /// Starts to read a message.
    pub(super) const fn new(bytes: &'a [u8]) -> Self {
        Self { bytes }
    }

    /// Returns the rest of the message, which has not been read.
    pub(super) const fn rest(&self) -> &'a [u8] {
        self.bytes
    }

    /// Reads the next field: its number and value. Returns `None` at the end of the message.
    ///
    /// # Errors
    /// A [`Defect`] of the message. The number of the field is known to be at least 1.
    #[inline]
    pub(super) fn next(&mut self) -> Result<Option<(u32, Wire<'a>)>, Defect> {
        if self.bytes.is_empty() {
            return Ok(None);
        }
        let tag = self.varint()?;
        let (number, wire_type) = (tag >> 3, tag as u32 & 7);
        if number == 0 || number > u64::from(u32::MAX >> 3) {
            return Err(Defect::Broken(format!("field number {number}")));
        }
        let value = match wire_type {
            wire_type::VARINT => Wire::Varint(self.varint()?),
            wire_type::FIXED64 => Wire::Fixed64(u64::from_le_bytes(self.array()?)),
            wire_type::FIXED32 => Wire::Fixed32(u32::from_le_bytes(self.array()?)),
            wire_type::BYTES => {
                let len = self.varint()?;
                let len = usize::try_from(len).map_err(|_| Defect::Short)?;
                let (bytes, rest) = self.bytes.split_at_checked(len).ok_or(Defect::Short)?;
                self.bytes = rest;
                Wire::Bytes(bytes)
            }
            other => return Err(Defect::Broken(format!("wire type {other}"))),
        };
        Ok(Some((number as u32, value)))
    }

    /// Reads a number of up to 10 bytes.
    #[inline]
    pub(super) fn varint(&mut self) -> Result<u64, Defect> {
        let mut value = 0;
        for (index, &byte) in self.bytes.iter().take(10).enumerate() {
            // The tenth byte has one bit of 64; decoders drop the others.
            value |= u64::from(byte & 0x7f) << (7 * index);
            if byte < 0x80 {
                self.bytes = &self.bytes[index + 1..];
                return Ok(value);
            }
        }
        match self.bytes.len() {
            0..10 => Err(Defect::Short),
            _ => Err(Defect::Broken("a number of more than 10 bytes".to_owned())),
        }
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Defect> {
        let (bytes, rest) = self.bytes.split_first_chunk().ok_or(Defect::Short)?;
        self.bytes = rest;
        Ok(*bytes)
    }
}

impl Wire<'_> {
    /// Calls `each` for the numbers of a repeated field: a single one, or a packed list.
    pub(super) fn numbers(self, is_fixed: bool, mut each: impl FnMut(u64)) -> Result<(), Defect> {
        match self {
            Self::Varint(value) | Self::Fixed64(value) => each(value),
            Self::Fixed32(value) => each(value.into()),
            Self::Bytes(bytes) => {
                let mut list = Fields::new(bytes);
                while !list.bytes.is_empty() {
                    each(match is_fixed {
                        true => u64::from_le_bytes(list.array()?),
                        false => list.varint()?,
                    });
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_read_as_they_were_written() {
        let mut bytes = Vec::new();
        for value in [0, 1, 0x7f, 0x80, 0x3fff, 0x4000, u64::MAX] {
            bytes.put_number(1, value);
        }
        bytes.put_fixed64(20, u64::MAX - 1);
        bytes.put_bytes(1 << 20, b"text");
        let long = vec![7; 300];
        bytes.put_message(3, |message| message.put_bytes(4, &long));
        let mut fields = Fields::new(&bytes);
        let mut next = || fields.next().expect("no defect").expect("a field");
        for value in [0, 1, 0x7f, 0x80, 0x3fff, 0x4000, u64::MAX] {
            assert_eq!(next(), (1, Wire::Varint(value)));
        }
        assert_eq!(next(), (20, Wire::Fixed64(u64::MAX - 1)));
        assert_eq!(next(), (1 << 20, Wire::Bytes(b"text")));
        let (3, Wire::Bytes(message)) = next() else {
            panic!("no message");
        };
        assert_eq!(
            Fields::new(message).next(),
            Ok(Some((4, Wire::Bytes(&long))))
        );
        assert_eq!(fields.next(), Ok(None));
    }

    #[test]
    fn each_cut_of_a_field_is_short() {
        let mut bytes = Vec::new();
        bytes.put_bytes(100, &[1; 200]);
        for len in 1..bytes.len() {
            assert_eq!(Fields::new(&bytes[..len]).next(), Err(Defect::Short));
        }
        assert_eq!(Fields::new(&[0x09, 1, 2]).next(), Err(Defect::Short));
    }

    #[test]
    fn what_no_message_has_is_broken() {
        for bytes in [&[0x00, 0][..], &[0x0b], &[0x0c], &[0x0f], &[0xff; 11]] {
            let found = Fields::new(bytes).next();
            assert!(matches!(found, Err(Defect::Broken(_))), "{bytes:?}");
        }
    }
}
