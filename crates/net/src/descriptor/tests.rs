//! Tests of descriptors: a written descriptor is read back, and arbitrary bytes are read or
//! refused.

use proptest::prelude::*;

use super::*;

fn descriptors() -> impl Strategy<Value = Descriptor> {
    let flags = (any::<bool>(), any::<bool>()).prop_map(|(doorbell, cache_hint)| Flags {
        doorbell,
        cache_hint,
    });
    (
        any::<u16>(),
        flags,
        any::<u32>(),
        any::<u64>(),
        any::<Option<(u64, u64)>>(),
    )
        .prop_map(|(connection, flags, user, key, part)| Descriptor {
            connection,
            flags,
            metadata_len: 0,
            user,
            key,
            part,
        })
}

proptest! {
    #[test]
    fn a_written_descriptor_is_read_back(
        descriptor in descriptors(),
        rest: Vec<u8>,
        metadata_len: u8,
    ) {
        let metadata_len = metadata_len.min(rest.len() as u8);
        let descriptor = Descriptor { metadata_len, ..descriptor };
        let mut short = descriptor.write().to_vec();
        short.extend(&rest);
        let (metadata, data) = rest.split_at(metadata_len.into());
        prop_assert_eq!(Descriptor::read(&short), Ok((descriptor, metadata, data)));
    }

    #[test]
    fn arbitrary_bytes_are_read_or_refused(bytes: Vec<u8>) {
        if let Ok((descriptor, metadata, data)) = Descriptor::read(&bytes) {
            let mut again = descriptor.write().to_vec();
            again.extend(metadata);
            again.extend(data);
            prop_assert_eq!(again, bytes);
        }
    }
}

#[test]
fn a_truncated_descriptor_is_malformed() {
    let whole = Descriptor {
        connection: 1,
        flags: Flags::default(),
        metadata_len: 0,
        user: 2,
        key: 3,
        part: None,
    }
    .write();
    for len in 0..whole.len() {
        assert_eq!(Descriptor::read(&whole[..len]), Err(Refusal::Malformed));
    }
}
