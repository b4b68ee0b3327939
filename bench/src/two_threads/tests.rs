//! The numbers of the round trips.

use std::sync::mpsc::channel;

use super::*;

#[test]
fn trips_are_numbered_from_one_with_the_warm_up() {
    let (send, receive) = channel();
    let (answer, answers) = channel();
    let mut numbers = Vec::new();
    let received = &mut numbers;
    let trip = move |number| {
        send.send(number).expect("the server runs");
        received.push(answers.recv().expect("the server answers"));
    };
    let serve = move || {
        for _ in 0..7 {
            let number: u32 = receive.recv().expect("the client sends");
            answer.send(number).expect("the client waits");
        }
    };
    let time = time_round_trips(None, 2, 5, trip, serve);
    assert!(!time.is_zero());
    assert_eq!(numbers, [1, 2, 3, 4, 5, 6, 7]);
}
