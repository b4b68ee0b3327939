//! The application of a scenario to a machine: the node that the model solves, and the machine that
//! is simulated.
//!
//! Each option changes both. The two changes are side by side here: one in the equations, one in
//! the steps.

use super::scenario::{Answers, QueueModel, Scenario, Sends, Slower};
use crate::error::{DomainError, ModelError};
use crate::misses::Brick;
use crate::node::{Links, Node, Queues, Waits};
use crate::parameters::Parameters;
use crate::units::{Bytes, Nanoseconds};

/// The tolerance for a time that was given in another unit.
const ROUNDING_NS: f64 = 1e-6;

impl Scenario {
    /// Returns the number of misses of one renderer in one frame.
    pub(crate) fn misses(&self, parameters: &Parameters) -> Result<f64, DomainError> {
        let tracer = &parameters.tracer;
        let misses = tracer
            .miss_model()
            .per_renderer(self.nodes, self.renderers)?;
        let edge = self.brick_edge.unwrap_or(tracer.brick_edge);
        let growth = self
            .brick_law
            .growth(f64::from(tracer.brick_edge), f64::from(edge))?;
        Ok(misses * growth)
    }

    /// Returns a node of the machine with the changes of the scenario.
    pub(super) fn node(&self, parameters: &Parameters, misses: f64) -> Result<Node, ModelError> {
        self.slower.check()?;
        let Parameters {
            message,
            network,
            tracer,
            ..
        } = parameters;
        let slower = &self.slower;
        let frames_work = tracer.render / tracer.core_speedup;
        let threads = f64::from(self.nodes) * f64::from(self.renderers);
        let response = self.response(parameters);
        let bytes = (tracer.request + response) / network.bandwidth;
        let latency = match self.waits {
            Waits::Notified => message.notify_latency,
            Waits::HandlerPolls | Waits::AllPoll => message.poll_latency,
        };
        let way = network.wire + slower.wire + message.send_latency + latency;
        let send = message.send + slower.send;
        let receive = self.receive(parameters, self.waits == Waits::Notified);
        let handle = tracer.handle / tracer.core_speedup;
        let mut node = Node {
            renderers: self.renderers,
            render: frames_work / (misses * threads) + send + slower.sleep,
            handle: handle + receive + send + receive + message.wake + slower.wake,
            port: bytes,
            round_trip: (way + message.wake_latency) * 2.0 + bytes,
            others: tracer.other_requests,
            waits: self.waits,
            queues: Queues::Open,
        };
        self.answer(parameters, receive, &mut node);
        self.send(parameters, response, &mut node)?;
        // Falling asleep overlaps the miss. The study's model holds only while it takes no longer
        // than the miss. With links a miss also waits in queues, and `Links` subtracts the sleep
        // from the total.
        let left = node.round_trip - slower.sleep;
        if self.queues == QueueModel::Study && left.0 < -ROUNDING_NS {
            let expected = format!(
                "at most {:.1} ns, as long as a miss is on its way",
                node.round_trip.max(Nanoseconds::ZERO).0
            );
            let error = DomainError::new("slower sleep", slower.sleep.0, expected);
            return Err(error.in_nanoseconds().into());
        }
        node.round_trip = left.max(Nanoseconds::ZERO);
        if self.queues == QueueModel::Links {
            node.queues = Queues::Links(self.links(parameters, &node));
        }
        Ok(node)
    }

    /// Returns the latencies and service times of a miss on its way to a node and back.
    ///
    /// The latencies are those of the simulator's steps, without the work of threads.
    fn links(&self, parameters: &Parameters, node: &Node) -> Links {
        let Parameters {
            message,
            interface,
            network,
            tracer,
            ..
        } = parameters;
        let noticed = |is_notified| match is_notified {
            true => message.notify_wake,
            false => (message.poll_period + interface.trip) / 2.0,
        };
        let is_notified = self.waits == Waits::Notified;
        // The last step: the handler wakes the renderer, or the renderer itself receives.
        let last = match self.answers {
            Answers::ToHandler => noticed(is_notified) + message.wake_latency,
            _ => noticed(self.waits != Waits::AllPoll),
        };
        // The call itself is part of the thread's work, so it is subtracted.
        let sent = |is_inline| match is_inline {
            true => interface.inline_latency - interface.inline,
            false => message.send_latency - message.send,
        };
        let inline_answers = matches!(self.sends, Sends::Inline { .. });
        let sending = sent(self.sends != Sends::Descriptors) + sent(inline_answers);
        let way = network.wire + self.slower.wire + interface.arrive;
        let latency = sending + way * 2.0 + noticed(is_notified) + last;
        let receive = self.receive(parameters, is_notified);
        let (answer, ask) = tracer.handler_parts();
        // The renderer already runs while the call that wakes it continues, and it falls asleep
        // while its request is under way. Both overlap the miss.
        let wake = message.wake + self.slower.wake;
        let (computing, for_answer, hidden) = match self.answers {
            Answers::ToHandler => (
                ask + answer,
                answer + receive + wake,
                wake + self.slower.sleep,
            ),
            _ => (ask, Nanoseconds::ZERO, self.slower.sleep),
        };
        Links {
            nodes: self.nodes,
            request: tracer.request / network.bandwidth,
            response: self.response(parameters) / network.bandwidth,
            latency,
            hidden,
            answer_share: (for_answer / node.handle).min(1.0),
            random_share: (computing / node.handle).min(1.0),
        }
    }

    /// Returns the time of a call that receives, including the notification if the thread is
    /// notified.
    fn receive(&self, parameters: &Parameters, is_notified: bool) -> Nanoseconds {
        match is_notified {
            true => parameters.message.notify + self.slower.receive + self.slower.notification,
            false => parameters.message.poll + self.slower.receive,
        }
    }

    /// Returns the machine for a simulation, with the slower steps.
    ///
    /// The simulated program itself adds the time that a renderer takes to fall asleep.
    pub(crate) fn slowed(&self, parameters: &Parameters) -> Result<Parameters, DomainError> {
        self.slower.check()?;
        let Slower {
            wire,
            send,
            receive,
            notification,
            wake,
            ..
        } = self.slower;
        let mut slowed = parameters.clone();
        slowed.network.wire += wire;
        let message = &mut slowed.message;
        // The delay comes before the interface gets the command, so the message also leaves later.
        message.send += send;
        message.send_issue += send;
        message.send_latency += send;
        message.notify += receive + notification;
        message.notify_finish += receive + notification;
        message.poll += receive;
        message.poll_finish += receive;
        message.wake += wake;
        if let Sends::Inline { share } = self.sends {
            let interface = &mut slowed.interface;
            interface.inline_bandwidth.0 *= checked_share(share)?;
            // The scenario asks for the cost of the loads and stores, so the limit is lifted.
            interface.inline_bytes_max = u32::MAX;
        }
        if self.sends != Sends::Descriptors {
            let interface = &mut slowed.interface;
            interface.inline += send;
            interface.inline_issue += send;
            interface.inline_latency += send;
        }
        Ok(slowed)
    }

    /// Returns the size of a response on the wire and the size of its data, in whole bytes.
    ///
    /// # Errors
    /// [`DomainError`] if the response is longer than 4 GiB.
    pub(crate) fn response_bytes(
        &self,
        parameters: &Parameters,
    ) -> Result<(u32, u32), DomainError> {
        let wire = self.response(parameters).0.ceil();
        let data = parameters.packets().data_bytes(wire as u64);
        match (u32::try_from(wire as u64), u32::try_from(data)) {
            (Ok(wire), Ok(data)) => Ok((wire, data)),
            _ => {
                let expected = format!("up to {}, of a response", u32::MAX);
                Err(DomainError::new("bytes on the wire", wire, expected))
            }
        }
    }

    /// Returns the size of a response on the wire.
    fn response(&self, parameters: &Parameters) -> Bytes {
        let tracer = &parameters.tracer;
        match self.brick_edge {
            Some(edge) if edge != tracer.brick_edge => {
                let brick = Brick {
                    edge,
                    element_bytes: tracer.element_bytes,
                    header_bytes: tracer.brick_header_bytes,
                };
                brick.wire(parameters.packets())
            }
            _ => tracer.response,
        }
    }

    fn send(
        &self,
        parameters: &Parameters,
        response: Bytes,
        node: &mut Node,
    ) -> Result<(), DomainError> {
        let Parameters {
            message, interface, ..
        } = parameters;
        let less = message.send - interface.inline;
        let sooner = message.send_latency - interface.inline_latency;
        if self.sends != Sends::Descriptors {
            node.render += -less;
            node.round_trip += -sooner;
        }
        if let Sends::Inline { share } = self.sends {
            let share = checked_share(share)?;
            let copying = interface.storing(response) / share;
            node.handle += copying - less;
            node.round_trip += -sooner;
        }
        Ok(())
    }

    /// Moves the work for an answer from the handler to the renderer, if answers go there directly.
    fn answer(&self, parameters: &Parameters, receive: Nanoseconds, node: &mut Node) {
        let Parameters {
            message, tracer, ..
        } = parameters;
        let (answer, _) = tracer.handler_parts();
        let taken_over = match self.answers {
            Answers::ToHandler => return,
            Answers::Careful => answer,
            Answers::Bold => tracer.response_handle_bold,
        };
        node.handle += -(answer + receive + message.wake + self.slower.wake);
        node.render += taken_over + self.receive(parameters, self.waits != Waits::AllPoll);
        node.round_trip += -message.wake_latency;
    }
}

fn checked_share(share: f64) -> Result<f64, DomainError> {
    if share > 0.0 && share <= 1.0 {
        return Ok(share);
    }
    let expected = "a number above 0, up to 1";
    Err(DomainError::new(
        "share of loads and stores",
        share,
        expected,
    ))
}
