//! Every layer makes as many round trips as requested.

use raddle::MailboxKind;

use super::*;
use crate::common::runtime;

#[test]
fn all_trips_are_made_with_every_kind_of_mailbox() {
    for mailbox in MailboxKind::ALL {
        for workers in 1..=3 {
            let runtime = runtime(workers, mailbox);
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
fn only_the_timed_trips_are_recorded() {
    for (each, recorded) in [(true, 4), (false, 2)] {
        let mut progress = RoundTrips::new(3, each);
        let capacity = progress.times.capacity();
        let trips = (1..).take_while(|_| progress.finish_trip()).count() as u64 + 1;
        assert_eq!(trips, WARM_UP + 3);
        assert_eq!(progress.times.len(), recorded);
        assert_eq!(progress.times.capacity(), capacity);
    }
}
