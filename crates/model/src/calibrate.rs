//! Parameters for a machine on which the steps of a message have been measured.
//!
//! From outside, only calls and round trips can be measured. They are divided into the simulator's
//! steps as follows. A call that sends stores the message where the receiver looks, so no interface
//! adds time in between. The call may continue while the message is under way. Half a round trip
//! minus the send and the wire is the receiver's part. As a result, the simulated round trips equal
//! the measured ones.
//!
//! Message measurements say nothing about the other parameters, which keep their values: the
//! program and the bytes of its messages, the speed of the core relative to the one on which the
//! program was measured, its contexts, the cache and the address translations.

use crate::error::{DomainError, ModelError, above_zero, from_zero};
use crate::parameters::Parameters;
use crate::speed::Fit;
use crate::units::{Bytes, Nanoseconds};

/// The measurements between two nodes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Measured {
    /// The time of a call that sends a short message.
    pub send: Nanoseconds,
    /// The time of a message between two threads that do nothing else.
    pub wire: Nanoseconds,
    /// The time of a polling receive when a message has arrived.
    pub poll: Nanoseconds,
    /// The time of one poll when no message has arrived.
    pub poll_period: Nanoseconds,
    /// The time of a notified receive when a message has arrived.
    pub notify: Nanoseconds,
    /// The time of a call that wakes a thread.
    pub wake: Nanoseconds,
    /// The time from the start of a call that wakes a thread until that thread runs.
    pub wake_latency: Nanoseconds,
    /// The time of a round trip of a short message, with polling receives.
    pub poll_trip: Nanoseconds,
    /// The time of a round trip of a short message, with notified receives.
    pub notify_trip: Nanoseconds,
    /// The time of each further byte, one way; `None` if it was not measured.
    pub per_byte: Option<Nanoseconds>,
    /// The speed of each of 1, 2, … threads of a core; empty if it was not measured.
    pub speeds: Vec<f64>,
}

impl Measured {
    /// Returns one sentence for each contradiction in the measurements.
    ///
    /// Contradictions occur on a machine that is busy with other work. Parameters made from such
    /// measurements are unreliable.
    #[must_use]
    pub fn doubts(&self) -> Vec<String> {
        let mut doubts = Vec::new();
        let rises = self.speeds.windows(2).zip(1..);
        let rises = rises.filter(|(pair, _)| pair[1] > pair[0]);
        for (pair, threads) in rises {
            doubts.push(format!(
                "core.speeds: each of {} threads was measured to be faster ({:.3}) \
                 than each of {threads} ({:.3})",
                threads + 1,
                pair[1],
                pair[0]
            ));
        }
        let trips = [("polling", self.poll_trip), ("notified", self.notify_trip)];
        for (how, trip) in trips
            .into_iter()
            .filter(|(_, trip)| *trip < self.wire * 2.0)
        {
            doubts.push(format!(
                "network.wire_ns: a {how} round trip ({:.1} ns) was measured to be shorter \
                 than its two ways on the wire ({:.1} ns each)",
                trip.0, self.wire.0
            ));
        }
        doubts
    }
}

impl Parameters {
    /// Replaces parameters by measurements, and renames the machine to `name`.
    ///
    /// # Errors
    /// [`ModelError`] if a measurement is out of range. The parameters are unchanged then.
    pub fn calibrate(&mut self, name: &str, measured: &Measured) -> Result<(), ModelError> {
        let mut changed = self.clone();
        name.clone_into(&mut changed.name);
        if let Some(time) = measured.per_byte {
            changed.network.bandwidth.0 = 1.0 / above_zero("time for a byte", time.0)?;
        }
        changed.calibrate_message(measured)?;
        if !measured.speeds.is_empty() {
            changed.calibrate_speeds(&measured.speeds)?;
        }
        self.adopt(changed)
    }

    fn calibrate_message(&mut self, measured: &Measured) -> Result<(), DomainError> {
        let all = [
            ("send", measured.send),
            ("wire", measured.wire),
            ("polling receive", measured.poll),
            ("polling period", measured.poll_period),
            ("notified receive", measured.notify),
            ("wake", measured.wake),
            ("wake latency", measured.wake_latency),
            ("round trip, polling", measured.poll_trip),
            ("round trip, notified", measured.notify_trip),
        ];
        for (what, time) in all {
            from_zero(what, time.0)?;
        }
        above_zero("polling period", measured.poll_period.0)?;
        // A message may leave before the call that sends it ends. Its latency plus the wire and
        // half a polling period must not exceed half a round trip.
        let half = Nanoseconds(measured.poll_trip.0.min(measured.notify_trip.0)) / 2.0;
        // The measured round trips carry one byte.
        let wire = measured.wire + Bytes(1.0) / self.network.bandwidth;
        let first = (half - wire - measured.poll_period / 2.0).max(Nanoseconds::ZERO);
        let latency = Nanoseconds(measured.send.0.min(first.0));
        let left = |trip: Nanoseconds| (trip / 2.0 - wire - latency).max(Nanoseconds::ZERO);
        let (polled, notified) = (left(measured.poll_trip), left(measured.notify_trip));
        let message = &mut self.message;
        message.send = measured.send;
        message.send_issue = latency;
        message.send_latency = latency;
        message.poll = measured.poll;
        message.poll_period = measured.poll_period;
        message.poll_latency = polled;
        message.notify = measured.notify;
        message.notify_latency = notified;
        message.wake = measured.wake;
        message.wake_latency = measured.wake_latency;
        // A poll comes half a period after the message, on average. Its call ends after the rest.
        let rest = (polled - measured.poll_period / 2.0).max(Nanoseconds::ZERO);
        message.poll_finish = Nanoseconds(rest.0.min(measured.poll.0));
        let arrive = rest - message.poll_finish;
        let woken = (notified - arrive).max(Nanoseconds::ZERO);
        message.notify_finish = Nanoseconds(woken.0.min(measured.notify.0));
        message.notify_wake = woken - message.notify_finish;
        message.notify_setup = measured.notify;
        let interface = &mut self.interface;
        interface.trip = Nanoseconds::ZERO;
        interface.arrive = arrive;
        interface.inline = measured.send;
        interface.inline_latency = latency;
        let network = &mut self.network;
        network.wire = measured.wire;
        network.message_min_bytes = 1;
        network.packet_header_bytes = 0;
        Ok(())
    }

    fn calibrate_speeds(&mut self, speeds: &[f64]) -> Result<(), DomainError> {
        let fit = Fit::of(speeds)?;
        self.core.speeds = speeds.to_vec();
        self.core.aggregate = fit.aggregate;
        self.core.saturation = fit.saturation;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulate::Silent;
    use crate::simulate::pingpong::{PingPong, Receive};
    use crate::{Scenario, predict};

    /// Returns measurements as on a machine with nodes that share memory.
    fn measured() -> Measured {
        let ns = Nanoseconds;
        Measured {
            send: ns(43.0),
            wire: ns(52.0),
            poll: ns(20.0),
            poll_period: ns(4.0),
            notify: ns(30.0),
            wake: ns(1.0),
            wake_latency: ns(50.0),
            poll_trip: ns(240.0),
            notify_trip: ns(262.0),
            per_byte: Some(ns(0.08)),
            speeds: vec![1.0, 0.5, 0.33, 0.25],
        }
    }

    #[test]
    fn simulated_round_trips_are_those_that_were_measured() {
        let mut parameters = Parameters::study();
        parameters.calibrate("here", &measured()).unwrap();
        let of = |receive| {
            let what = PingPong::new(receive, 500, 1);
            what.run(&parameters, Silent).unwrap().0.mean.0
        };
        assert!(
            (of(Receive::Poll) - 240.0).abs() < 2.0,
            "{}",
            of(Receive::Poll)
        );
        assert!(
            (of(Receive::Notify) - 262.0).abs() < 2.0,
            "{}",
            of(Receive::Notify)
        );
        let found = predict(&parameters, &Scenario::new(4, 2)).unwrap();
        assert!(found.mean_frame.0.is_finite());
        assert_eq!(parameters.name, "here");
        let wake = parameters.message.wake_latency;
        assert_eq!(
            (parameters.message.wake, wake),
            (Nanoseconds(1.0), Nanoseconds(50.0))
        );
        assert_eq!(parameters.interface.inline, Nanoseconds(43.0));
        let woken = of(Receive::Thread) - of(Receive::Notify);
        assert!((woken - 50.0).abs() < 0.01, "{woken}");
    }

    // Regression: on one machine two of the calls that send took longer than the time left in half
    // a round trip. The simulated trips were too long by half.
    #[test]
    fn a_send_that_goes_on_while_its_message_is_under_way_fits_into_the_trip() {
        let mut parameters = Parameters::study();
        let long = Measured {
            send: Nanoseconds(76.0),
            wire: Nanoseconds(58.0),
            poll_trip: Nanoseconds(165.0),
            notify_trip: Nanoseconds(166.0),
            ..measured()
        };
        parameters.calibrate("here", &long).unwrap();
        let of = |receive| {
            let what = PingPong::new(receive, 500, 1);
            what.run(&parameters, Silent).unwrap().0.mean.0
        };
        assert!(
            (of(Receive::Poll) - 165.0).abs() < 4.0,
            "{}",
            of(Receive::Poll)
        );
        assert!(
            (of(Receive::Notify) - 166.0).abs() < 4.0,
            "{}",
            of(Receive::Notify)
        );
        assert_eq!(parameters.message.send, Nanoseconds(76.0));
    }

    // Regression: on a busy machine three threads of a core were measured to be faster than two,
    // and nothing reported this.
    #[test]
    fn measurements_that_contradict_themselves_are_reported() {
        let doubts = Measured::doubts(&measured());
        assert!(doubts.is_empty(), "{doubts:?}");
        let busy = Measured {
            speeds: vec![1.0, 0.4, 0.6, 0.25, 0.3],
            wire: Nanoseconds(125.0),
            ..measured()
        };
        let doubts = busy.doubts();
        assert_eq!(doubts.len(), 3, "{doubts:?}");
        let parts = [
            "each of 3 threads was measured to be faster (0.600) than each of 2 (0.400)",
            "each of 5 threads",
            "a polling round trip (240.0 ns)",
        ];
        for (doubt, part) in doubts.iter().zip(parts) {
            assert!(doubt.contains(part), "{doubt}");
        }
    }

    #[test]
    fn parameters_without_measurements_keep_their_values() {
        let mut parameters = Parameters::study();
        let part = Measured {
            per_byte: None,
            speeds: Vec::new(),
            ..measured()
        };
        parameters.calibrate("here", &part).unwrap();
        let study = Parameters::study();
        assert_eq!(parameters.core, study.core);
        assert_eq!(parameters.network.bandwidth, study.network.bandwidth);
        assert_eq!(parameters.tracer, study.tracer);
    }

    #[test]
    fn measurements_out_of_range_are_refused() {
        let mut parameters = Parameters::study();
        let mut report = |measured: Measured| {
            parameters
                .calibrate("here", &measured)
                .unwrap_err()
                .to_string()
        };
        let good = measured();
        assert!(
            report(Measured {
                send: Nanoseconds(-1.0),
                ..good.clone()
            })
            .contains("send is -1")
        );
        assert!(
            report(Measured {
                poll_period: Nanoseconds(0.0),
                ..good.clone()
            })
            .contains("polling period")
        );
        assert!(
            report(Measured {
                speeds: vec![1.0],
                ..good.clone()
            })
            .contains("core.speeds")
        );
        assert!(
            report(Measured {
                per_byte: Some(Nanoseconds(0.0)),
                ..good
            })
            .contains("a byte")
        );
        assert_eq!(parameters.message, Parameters::study().message);
    }
}
