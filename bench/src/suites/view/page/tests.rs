//! A page and a view that answers at once.

use std::net::TcpListener;
use std::thread;

use super::*;

/// Returns an answer to a request: a header and no picture.
fn answer(request: &Value) -> Message {
    let is_moving = request["moving"].as_bool().expect("a truth value");
    let edge = if is_moving { 100 } else { EDGE };
    let header = json!({ "kind": "frame", "id": request["id"], "coarse": is_moving,
                         "size": [edge, edge] });
    let header = header.to_string();
    let len = (header.len() as u32).to_le_bytes();
    Message::binary([&len[..], header.as_bytes()].concat())
}

/// Starts a view that answers one page until it closes. Returns the address.
fn view(answer: impl Fn(&Value) -> Message + Send + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("an address");
    thread::spawn(move || {
        let (stream, _) = listener.accept().expect("a page");
        let mut socket = tungstenite::accept(stream).expect("a socket");
        let scene = json!({ "eye": [3, 0, 1], "at": [0, 0, 1], "fov": 45, "threshold": 7,
                            "colours": ["#102030"] });
        socket.send(Message::text(scene.to_string())).expect("sent");
        while let Ok(message) = socket.read() {
            let request = serde_json::from_slice(&message.into_data());
            let Ok(request) = request else { break };
            // The page may have closed.
            let _sent = socket.send(answer(&request));
        }
    });
    format!("http://{address}/?token=0123")
}

#[test]
fn a_drag_counts_coarse_pictures_and_ends_with_a_fine_one() {
    let mut page = Page::open(&view(answer)).expect("a page");
    assert_eq!(page.fine("surface").expect("a picture"), EDGE * EDGE);
    let drag = page.drag("direct", Duration::from_millis(300));
    let drag = drag.expect("pictures");
    assert!(!drag.widths.is_empty());
    assert!(drag.widths.iter().all(|&width| width == 100));
    assert_eq!(drag.fine_pixels, EDGE * EDGE);
    // The camera has turned about the vertical axis.
    assert!((page.eye.distance(page.at) - 3.0).abs() < 1e-9);
    assert!(page.eye.y > 0.0 && page.eye.z == 1.0);
}

#[test]
fn a_refused_request_is_an_error_of_the_view() {
    let refuse = |request: &Value| {
        let header = json!({ "kind": "error", "id": request["id"], "message": "no such mode" });
        let header = header.to_string();
        let len = (header.len() as u32).to_le_bytes();
        Message::binary([&len[..], header.as_bytes()].concat())
    };
    let mut page = Page::open(&view(refuse)).expect("a page");
    let error = page.fine("surface").expect_err("refused").to_string();
    assert!(error.contains("no such mode"), "{error}");
}

#[test]
fn addresses_and_messages_are_checked() {
    assert!(Page::open("127.0.0.1").is_err());
    for message in [
        &b"\x01"[..],
        b"\x09\0\0\0{}",
        b"\x02\0\0\0{}",
        b"\x02\0\0\0[]",
    ] {
        assert!(Header::parse(message).is_err(), "{message:?}");
    }
}
