//! Message exchanges between the processes of a test, with any launcher.
#![allow(dead_code, reason = "each test program uses a part of it")]

use raddle_net::{
    Arrival, Data, Message, NetError, Node, NodeId, Nodes, Port, PortId, Put, ReadOnlySegment,
    Remote, SendError, Shape,
};

/// The number of bytes that a node lets others read: more than fit into one packet.
pub(crate) const READ_BYTES: usize = 300_000;

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

/// Lets all other nodes read memory of this one, and returns the rights to read theirs.
pub(crate) fn share(node: &Node) -> Result<(ReadOnlySegment, Vec<Remote>), NetError> {
    let fill = |bytes: &mut [u8]| {
        for (index, byte) in bytes.iter_mut().enumerate() {
            *byte = shared_byte(node.id(), index);
        }
    };
    let segment = node.read_only_segment(READ_BYTES, fill)?.0;
    for other in others(node.shape(), node.id()) {
        node.open_to_read(other, &segment, 0..READ_BYTES)?;
    }
    let remotes = others(node.shape(), node.id()).map(|other| node.accept(other));
    Ok((segment, remotes.collect::<Result<_, _>>()?))
}

fn shared_byte(home: NodeId, index: usize) -> u8 {
    (index % 251) as u8 ^ home.0 as u8
}

/// Reads bytes of another node, and checks them.
pub(crate) fn read(
    port: &mut Port,
    remote: &Remote,
    at: usize,
    len: usize,
) -> Result<(), SendError> {
    let mut bytes = vec![0; len];
    port.get(remote, at as u64, &mut bytes)?;
    let mut bytes = bytes.iter().enumerate();
    assert!(bytes.all(|(index, &byte)| byte == shared_byte(remote.node(), at + index)));
    Ok(())
}

/// Has all nodes read memory of all others, while none of them receives messages.
pub(crate) fn read_all(nodes: Nodes) {
    let node = nodes.node();
    let mut port = node.port(0);
    let (_segment, remotes) = share(node).expect("the other nodes run");
    for turn in 0..200 {
        for remote in &remotes {
            read(&mut port, remote, 10 * turn, 3_456).expect("the other node runs");
        }
    }
    for remote in &remotes {
        read(&mut port, remote, 0, READ_BYTES).expect("the other node runs");
        let mut several = Vec::new();
        for at in 0..8 {
            let started = port.start_get(remote, 1_000 * at, 2_000);
            several.push(started.expect("space for eight requests"));
        }
        for fetch in several {
            let finished = port.finish_get(remote, fetch, &mut [0; 2_000]);
            finished.expect("the other node runs");
        }
    }
    // A node that leaves is not read any more, so all wait for each other.
    for other in others(node.shape(), node.id()) {
        say(&mut port, other);
    }
    let mut missing = node.shape().nodes - 1;
    while missing > 0 {
        port.wait();
        match port.poll(|_| missing -= 1) {
            // That node has received all of its messages.
            Ok(_) | Err(NetError::Left(_)) => {}
            Err(error) => panic!("{error}"),
        }
    }
    drop(port);
    nodes.finish().expect("all leave");
}

/// Reads memory of all other nodes until one of them ends. Returns the error that reports the end.
pub(crate) fn read_until_one_is_gone(nodes: &Nodes, port: &mut Port) -> String {
    let (_segment, remotes) = match share(nodes.node()) {
        Ok(shared) => shared,
        Err(error) => return error.to_string(),
    };
    loop {
        for remote in &remotes {
            match read(port, remote, 100, 5_000) {
                Ok(()) => {}
                // That node has seen an end already, and closes its connections.
                Err(SendError::Closed(_)) => return next_end(port).to_string(),
                Err(error) => return error.to_string(),
            }
        }
    }
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
