//! The length of a segment used to wrap when it was rounded up to whole pages. A segment of
//! `usize::MAX` bytes had none in a release build, and was a panic in a debug build. It is an error
//! now.

use raddle_net::{NetError, Node, Shape};

#[test]
fn a_segment_longer_than_any_memory_is_an_error() {
    let nodes = Node::in_process(Shape { nodes: 1, ports: 1 }).expect("a node");
    for len in [usize::MAX, usize::MAX - 4094, isize::MAX as usize] {
        let error = nodes[0]
            .segment(len)
            .expect_err("more than the address space");
        assert!(matches!(error, NetError::System { .. }), "{len}: {error}");
    }
    // The node still works.
    assert_eq!(nodes[0].segment(1).expect("a page").len(), 4096);
}
