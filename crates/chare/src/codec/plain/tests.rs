//! Every buffer is the same after a round trip, and invalid bytes are refused.

use std::fmt::Debug;

use proptest::prelude::*;

use super::*;
use crate::codec::{BySerde as _, best};

/// Writes a buffer behind `offset` other bytes and reads it again, so that it is read from any
/// alignment. Returns all bytes.
#[track_caller]
fn round_trip<B: Buffer + Debug>(buffer: &B, offset: usize) -> Vec<u8> {
    let mut bytes = vec![0xee; offset];
    let crossing = best!(B);
    crossing.write(buffer, &mut bytes).expect("it is plain");
    bytes.push(0xdd);
    let mut rest = &bytes[offset..];
    let read = crossing.read(&mut rest).expect("the buffer was written");
    let (was, is) = (buffer.numbers(), read.numbers());
    assert_eq!(
        bytemuck::cast_slice::<_, u8>(was),
        bytemuck::cast_slice::<_, u8>(is),
        "{buffer:?} and {read:?}"
    );
    assert_eq!(rest, [0xdd], "the bytes behind the buffer remain");
    bytes
}

macro_rules! every_number {
    ($($name:ident: $number:ty)+) => {$(
        #[test]
        fn $name() {
            let some = [<$number>::MIN, 1 as $number, <$number>::MAX, 77 as $number];
            for len in 0..=some.len() {
                for offset in 0..9 {
                    round_trip(&some[..len].to_vec(), offset);
                    round_trip(&Box::<[$number]>::from(&some[..len]), offset);
                    round_trip(&Arc::<[$number]>::from(&some[..len]), offset);
                    round_trip(&Sum(some[..len].to_vec()), offset);
                }
            }
            let bytes = round_trip(&vec![1 as $number; 100], 0);
            let size = 100 * size_of::<$number>();
            let head = if size < 128 { 1 } else { 2 };
            assert_eq!(bytes.len(), head + size + 1, "a length, and the bytes in memory");
        }
    )+};
}

every_number! {
    u8_comes_back: u8 u16_comes_back: u16 u32_comes_back: u32 u64_comes_back: u64
    u128_comes_back: u128
    i8_comes_back: i8 i16_comes_back: i16 i32_comes_back: i32 i64_comes_back: i64
    i128_comes_back: i128
    f32_comes_back: f32 f64_comes_back: f64
}

#[test]
fn bytes_of_half_a_number_are_refused() {
    for len in 0..40_u8 {
        let mut bytes = vec![len];
        bytes.extend(0..len);
        let read = best!(Vec<f64>).read(&mut &bytes[..]);
        assert_eq!(read.is_ok(), len.is_multiple_of(8), "{len} bytes");
        let read = best!(Box<[u16]>).read(&mut &bytes[..]);
        assert_eq!(read.is_ok(), len.is_multiple_of(2), "{len} bytes");
    }
}

#[test]
fn a_length_beyond_the_bytes_is_refused() {
    // Nearly 2^64.
    let mut bytes = vec![0xff; 9];
    bytes.push(1);
    for more in [0, 1, 100] {
        bytes.resize(10 + more, 0);
        assert!(best!(Vec<u8>).read(&mut &bytes[..]).is_err(), "{more}");
    }
}

#[test]
fn other_types_are_serialised_by_serde() {
    let words = vec!["one".to_owned(), String::new()];
    let mut bytes = Vec::new();
    let crossing = best!(Vec<String>);
    crossing.write(&words, &mut bytes).expect("serde writes it");
    assert_eq!(bytes, [2, 3, b'o', b'n', b'e', 0]);
    assert_eq!(crossing.read(&mut &bytes[..]).expect("as it was"), words);
    let mut bytes = Vec::new();
    let sizes = best!(Vec<usize>);
    sizes.write(&vec![7, 300], &mut bytes).expect("as above");
    assert_eq!(bytes, [2, 7, 0xac, 2]);
}

#[test]
fn numbers_of_other_machines_are_turned_around() {
    assert_eq!(turned_around(&[1, 2, 3, 4, 5, 6], 2), [2, 1, 4, 3, 6, 5]);
    assert_eq!(turned_around(&[1, 2, 3], 1), [1, 2, 3]);
    assert_eq!(turned_around(&[], 8), [0_u8; 0]);
}

proptest! {
    #[test]
    fn floats_of_all_bits_come_back(
        bits in prop::collection::vec(any::<u64>(), 0..300),
        offset in 0_usize..17,
    ) {
        let floats: Vec<_> = bits.into_iter().map(f64::from_bits).collect();
        round_trip(&floats, offset);
    }

    #[test]
    fn arbitrary_bytes_make_no_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let read = best!(Box<[u32]>).read(&mut &bytes[..]);
        if let Ok(numbers) = read {
            prop_assert!(size_of_val(&*numbers) < bytes.len());
        }
    }
}
