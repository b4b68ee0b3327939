//! Tests of connections: messages that are allowed are delivered, and no others.

use proptest::prelude::*;

use super::*;
use crate::descriptor::Flags;

const KEY: u64 = 0xFEED;
const START_KEY: u64 = 0xBEEF;
const PEER: NodeId = NodeId(3);

fn table() -> (Rights, u16) {
    let table = Rights::new(START_KEY);
    let (memory, _file) = Memory::create("window", 4096).expect("memory");
    let window = Window {
        segment: SegmentId(5),
        memory: Arc::new(memory),
        bytes: 100..200,
        access: Access::Put,
    };
    let connection = Connection {
        peer: PEER,
        key: KEY,
        window: Some(window),
    };
    let number = table.open(connection).expect("the first");
    (table, number)
}

fn message(connection: u16, key: u64, part: Option<(u64, u64)>) -> Descriptor {
    Descriptor {
        connection,
        flags: Flags::default(),
        metadata_len: 0,
        user: 0,
        key,
        part,
    }
}

fn check(peer: NodeId, descriptor: &Descriptor) -> Result<Option<Range<u64>>, Refusal> {
    let mut view = ConnectionView::default();
    let found = view.check(&table().0, peer, descriptor, Access::Put)?;
    Ok(found.map(|put| put.bytes))
}

#[test]
fn each_refusal_states_its_reason() {
    let number = table().1;
    let refused = |peer, connection, key, put| check(peer, &message(connection, key, put)).err();
    assert_eq!(refused(PEER, number, KEY, Some((0, 100))), None);
    assert_eq!(
        refused(PEER, number, KEY + 1, None),
        Some(Refusal::WrongKey)
    );
    assert_eq!(
        refused(PEER, number + 1, KEY, None),
        Some(Refusal::NoConnection)
    );
    assert_eq!(
        refused(NodeId(2), number, KEY, None),
        Some(Refusal::NoConnection)
    );
    assert_eq!(
        refused(PEER, number, KEY, Some((1, 100))),
        Some(Refusal::OutOfBounds)
    );
    assert_eq!(
        refused(PEER, number, KEY, Some((u64::MAX, 2))),
        Some(Refusal::OutOfBounds)
    );
    assert_eq!(refused(PEER, 0, START_KEY, None), None);
    assert_eq!(refused(PEER, 0, KEY, None), Some(Refusal::WrongKey));
    assert_eq!(
        refused(PEER, 0, START_KEY, Some((0, 0))),
        Some(Refusal::OutOfBounds)
    );
}

#[test]
fn a_closed_connection_allows_nothing() {
    let (table, number) = table();
    let mut view = ConnectionView::default();
    let message = message(number, KEY, None);
    assert!(matches!(
        view.check(&table, PEER, &message, Access::Put),
        Ok(None)
    ));
    assert_eq!(
        table.close(number, KEY).map(|closed| closed.peer),
        Some(PEER)
    );
    let refused = view.check(&table, PEER, &message, Access::Put);
    assert_eq!(refused.err(), Some(Refusal::NoConnection));
    assert!(table.close(0, START_KEY).is_none());
    assert!(table.close(number, KEY).is_none());
    assert!(table.close(number + 1, KEY).is_none());
}

// The number of a closed connection may be reused for another node. Regression: a node that had not
// yet received the report of the close got the memory of the new connection.
#[test]
fn only_the_allowed_node_gets_the_memory() {
    let (table, number) = table();
    assert!(table.memory_of(PEER, number, KEY).is_some());
    assert!(table.memory_of(NodeId(2), number, KEY).is_none());
    assert!(table.memory_of(PEER, number, KEY + 1).is_none());
    // Numbers are reused, so a close with another key than the connection's has no effect.
    assert!(table.close(number, KEY + 1).is_none());
    assert!(table.memory_of(PEER, number, KEY).is_some());
    assert_eq!(
        table.close(number, KEY).map(|closed| closed.peer),
        Some(PEER)
    );
    assert!(table.memory_of(PEER, number, KEY).is_none());
    assert!(table.memory_of(PEER, 0, START_KEY).is_none());
}

#[test]
fn a_connection_allows_one_kind_of_access() {
    let (table, number) = table();
    let mut view = ConnectionView::default();
    let named = message(number, KEY, Some((0, 10)));
    let refused = view.check(&table, PEER, &named, Access::Get).err();
    assert_eq!(refused, Some(Refusal::OutOfBounds));
    assert!(view.check(&table, PEER, &named, Access::Put).is_ok());
}

proptest! {
    #[test]
    fn allowed_puts_lie_within_the_window(at: u64, len: u64, near in any::<bool>()) {
        let (at, len) = if near { (at % 128, len % 128) } else { (at, len) };
        let number = table().1;
        let found = check(PEER, &message(number, KEY, Some((at, len))));
        let is_inside = at.checked_add(len).is_some_and(|end| end <= 100);
        match found {
            Ok(Some(bytes)) => {
                prop_assert!(is_inside);
                prop_assert_eq!(bytes, 100 + at..100 + at + len);
            }
            other => {
                prop_assert!(!is_inside);
                prop_assert_eq!(other, Err(Refusal::OutOfBounds));
            }
        }
    }
}
