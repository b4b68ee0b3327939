//! Message exchanges between the processes of a test, with any launcher.
#![allow(dead_code, reason = "each test program uses a part of it")]

use raddle_net::{
    Arrival, Data, Message, NetError, NodeId, Nodes, Port, PortId, Put, SendError, Shape,
};

/// Returns the first port of a node.
pub(crate) const fn port_of(node: NodeId) -> PortId {
    PortId { node, index: 0 }
}

/// Returns all nodes but one.
pub(crate) fn others(shape: Shape, than: NodeId) -> impl Iterator<Item = NodeId> {
    shape.node_ids().filter(move |&node| node != than)
}

/// Waits for messages and receives them. The end of node `of` is an error, the end of another node
/// is not.
pub(crate) fn receive(
    port: &mut Port,
    of: NodeId,
    mut each: impl FnMut(Arrival<'_>),
) -> Result<usize, NetError> {
    loop {
        port.wait();
        match port.poll(&mut each) {
            Ok(0) => {}
            Err(NetError::Left(node)) if node != of => {}
            other => return other,
        }
    }
}

/// Returns the data that arrived with a message.
pub(crate) fn here(data: Data<'_>) -> &[u8] {
    match data {
        Data::Here(bytes) => bytes,
        Data::Put { .. } => panic!("nothing was put"),
    }
}

/// Sends to all others and receives, until a node ends. Returns the error that reports the end.
pub(crate) fn until_one_is_gone(nodes: &Nodes, port: &mut Port) -> String {
    let own = nodes.node().id();
    loop {
        let mut has_sent = false;
        for other in others(nodes.node().shape(), own) {
            match port.send(port_of(other), Message::default(), &[own.0 as u8; 500]) {
                Ok(()) => has_sent = true,
                Err(SendError::Full) => {}
                Err(error) => return error.to_string(),
            }
        }
        let polled = port.poll(|arrival| {
            assert_eq!(here(arrival.data), [arrival.from.node.0 as u8; 500]);
        });
        match polled {
            // Let a process run that empties its lanes.
            Ok(0) if !has_sent => std::thread::yield_now(),
            Ok(_) => {}
            Err(error) => return error.to_string(),
        }
    }
}

/// Has the second of two nodes put data into the memory of the first, more than fit one packet.
pub(crate) fn put_and_look(nodes: Nodes) {
    let node = nodes.node();
    let mut port = node.port(0);
    if node.id() == NodeId(0) {
        let segment = node.segment(1 << 20).expect("memory");
        let opened = node.open(NodeId(1), &segment, 4_096..1 << 20);
        opened.expect("the other node runs");
        let received = receive(&mut port, NodeId(1), |arrival| {
            let range = arrival.data.range().expect("put");
            assert_eq!(range, 4_096 + 1_234..4_096 + 301_234);
            let bytes = segment.to_vec(range);
            let mut bytes = bytes.iter().enumerate();
            assert!(bytes.all(|(index, &byte)| byte == (index % 253) as u8));
        });
        received.expect("the other node puts before it leaves");
    } else {
        let remote = node.accept(NodeId(0)).expect("the first node runs");
        let data: Vec<_> = (0..300_000).map(|index| (index % 253) as u8).collect();
        let mut put = Put::new(&remote, 0, 1_234, &data, Message::default());
        while let Err(error) = port.put(&mut put) {
            assert_eq!(error, SendError::Full);
            std::thread::yield_now();
        }
    }
    drop(port);
    nodes.finish().expect("both leave");
}

/// Sends a message that says that this node runs.
pub(crate) fn say(port: &mut Port, to: NodeId) {
    let sent = port.send(port_of(to), Message::default(), b"here");
    sent.expect("space for one message");
}

/// Waits for `count` messages.
pub(crate) fn wait_for_messages(port: &mut Port, mut count: u16) {
    while count > 0 {
        port.wait();
        port.poll(|_| count -= 1).expect("no node has ended");
    }
}

/// Sleeps until a node ends. Returns the error that reports the end.
pub(crate) fn next_end(port: &mut Port) -> NetError {
    loop {
        port.wait();
        if let Err(error) = port.poll(|_| ()) {
            return error;
        }
    }
}

/// Has the second of two nodes put data into the memory of the first, which then closes the
/// connection. The next put is refused, and writes nothing.
pub(crate) fn put_after_close(nodes: Nodes) {
    let node = nodes.node();
    let mut port = node.port(0);
    if node.id() == NodeId(0) {
        let segment = node.segment(4_096).expect("memory");
        let connection = node.open(NodeId(1), &segment, 0..4_096);
        let connection = connection.expect("the other node runs");
        wait_for_messages(&mut port, 1);
        assert_eq!(segment.to_vec(0..3), b"ok!");
        node.close(connection);
        segment.write(0, &[0; 4_096]);
        say(&mut port, NodeId(1));
        wait_for_messages(&mut port, 1);
        assert!(segment.to_vec(0..4_096).iter().all(|&byte| byte == 0));
    } else {
        let remote = node.accept(NodeId(0)).expect("the first node runs");
        let mut put = Put::new(&remote, 0, 0, b"ok!", Message::default());
        port.put(&mut put).expect("space for the message");
        wait_for_messages(&mut port, 1);
        let mut put = Put::new(&remote, 0, 0, b"late", Message::default());
        assert_eq!(port.put(&mut put), Err(SendError::Closed(NodeId(0))));
        say(&mut port, NodeId(0));
    }
    drop(port);
    nodes.finish().expect("both leave");
}
