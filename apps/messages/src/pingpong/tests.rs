//! As many round trips as were asked for, on every layer.

use raddle::MailboxKind;

use super::*;

#[test]
fn all_trips_are_made_whatever_the_mailboxes_are() {
    for mailbox in MailboxKind::ALL {
        for workers in 1..=3 {
            let runtime = Runtime::builder()
                .workers(workers)
                .mailbox(mailbox)
                .build()
                .expect("it comes up");
            for layer in Layer::ALL {
                let sides = PingPong::new(&runtime, layer, 10);
                for trips in [50, 1, 200] {
                    let times = sides.run_each(trips).expect("no chare fails");
                    assert_eq!(times.len() as u64, trips, "{layer}");
                    sides.run(trips).expect("no chare fails");
                }
            }
        }
    }
}

#[test]
fn a_rally_notes_the_trips_that_count() {
    for (each, noted) in [(true, 4), (false, 2)] {
        let mut rally = Rally::new(3, each);
        let room = rally.times.capacity();
        let trips = (1..).take_while(|_| rally.goes_on()).count() as u64 + 1;
        assert_eq!(trips, WARM_UP + 3);
        assert_eq!(rally.times.len(), noted);
        assert_eq!(rally.times.capacity(), room);
    }
}
