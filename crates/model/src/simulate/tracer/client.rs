//! The steps of renderers and handlers.

use rand_core::SeedableRng;
use rand_distr::{Distribution, Exp1, StandardUniform};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::{Tracer, Work};
use crate::error::{DomainError, ModelError};
use crate::node::Waits;
use crate::parameters::Parameters;
use crate::simulate::{Client, Message, Moment, Note, Resumed, Segment, Step, Thread, Visit, Way};
use crate::tracer::{Answers, Sends};
use crate::units::{Nanoseconds, Rate};

/// The memory in which renderers keep bricks of other nodes: half a gigabyte, as on the study's
/// nodes, at random addresses. The node's own bricks lie below it.
pub(super) const CACHE: Segment = Segment {
    base: 1 << 40,
    bytes: CACHE_BYTES + (1 << 32),
};
const CACHE_BYTES: u64 = 1 << 29;
const NODE_BYTES: u64 = 3 << 29;

/// All renderers and handlers.
#[derive(Debug)]
pub(super) struct Tracers {
    nodes: u32,
    renderers: u32,
    frames: u32,
    meets: bool,
    /// The number of renderers that have completed all frames.
    over: usize,
    pub(super) misses_per_frame: f64,
    /// The mean work: of a renderer before a miss, of a handler for a request and for an answer,
    /// and of a renderer for an answer that it receives itself.
    render: Nanoseconds,
    request: Nanoseconds,
    answer: Nanoseconds,
    own_answer: Nanoseconds,
    sleep: Nanoseconds,
    send: Nanoseconds,
    others: Rate,
    work: Work,
    answers: Answers,
    waits: Waits,
    asks: Message,
    gives: Message,
    random: Xoshiro256PlusPlus,
    of_renderers: Vec<Renderer>,
    of_handlers: Vec<Handler>,
    /// The number of misses so far, the work of renderers and handlers, alone on a core, and the
    /// time that it took.
    pub(super) misses: u64,
    pub(super) waited: Nanoseconds,
    pub(super) rendered: Nanoseconds,
    pub(super) rendering: Nanoseconds,
    pub(super) handled: Nanoseconds,
    pub(super) handling: Nanoseconds,
}

#[derive(Clone, Copy, Debug)]
struct Renderer {
    /// The remaining misses of this frame, and the completed frames.
    left: u32,
    frames: u32,
    does: Doing,
    /// The start of the current activity.
    since: Moment,
    /// The time to fetch the received data.
    fetch: Nanoseconds,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Doing {
    /// The renderer has not started yet.
    Begins,
    /// Between two misses, including the call that sends.
    Renders,
    /// Falling asleep.
    FallsAsleep,
    /// Waiting for a miss.
    Waits,
    /// Processing an answer that it has received itself.
    Takes,
}

#[derive(Clone, Copy, Debug)]
struct Handler {
    /// The renderer to answer or wake, if any.
    serves: Serves,
    since: Moment,
}

#[derive(Clone, Copy, Debug)]
enum Serves {
    Nobody,
    Request(Thread),
    Answer(u32),
    Other,
}

/// The tag of a message: its kind, and the number of its renderer.
const REQUEST: u64 = 0;
const ANSWER: u64 = 1 << 32;
const OTHER: u64 = 1 << 33;

impl Tracers {
    pub(super) fn new(
        what: &Tracer,
        parameters: &Parameters,
        misses: f64,
    ) -> Result<Self, ModelError> {
        let scenario = &what.scenario;
        let tracer = &parameters.tracer;
        let threads = scenario.nodes as usize * scenario.renderers as usize;
        let share = misses * threads as f64;
        let (answer, request) = tracer.handler_parts();
        let inline_answers = matches!(scenario.sends, Sends::Inline { .. });
        let (response_wire, response_data) = scenario.response_bytes(parameters)?;
        let message = Message {
            rings: scenario.waits == Waits::Notified,
            hints_cache: true,
            ..Message::default()
        };
        let request_wire = tracer.request.0.ceil() as u32;
        let request_data = parameters.packets().data_bytes(request_wire.into()) as u32;
        let is_inline = scenario.sends != Sends::Descriptors;
        if is_inline && request_data > parameters.interface.inline_bytes_max {
            let expected = format!("{request_data} or more, for requests that are sent inline");
            let most = f64::from(parameters.interface.inline_bytes_max);
            let error = DomainError::new("interface.inline_bytes_max", most, expected);
            return Err(parameters.located(error));
        }
        Ok(Self {
            nodes: scenario.nodes,
            renderers: scenario.renderers,
            frames: what.frames,
            meets: what.meets,
            over: 0,
            misses_per_frame: misses,
            render: tracer.render / tracer.core_speedup / share,
            request,
            answer,
            own_answer: match scenario.answers {
                Answers::Bold => tracer.response_handle_bold,
                _ => answer,
            },
            sleep: scenario.slower.sleep,
            send: match scenario.sends {
                Sends::Descriptors => parameters.message.send,
                _ => parameters.interface.inline,
            },
            others: tracer.other_requests,
            work: what.work,
            answers: scenario.answers,
            waits: scenario.waits,
            asks: Message {
                wire_bytes: request_wire,
                data_bytes: request_data,
                is_inline,
                destination: CACHE.base,
                ..message
            },
            gives: Message {
                wire_bytes: response_wire,
                data_bytes: response_data,
                is_inline: inline_answers,
                rings: message.rings || scenario.answers.are_direct(),
                ..message
            },
            random: Xoshiro256PlusPlus::seed_from_u64(what.seed),
            of_renderers: vec![Renderer::new(); threads],
            of_handlers: vec![Handler::new(); scenario.nodes as usize],
            misses: 0,
            waited: Nanoseconds::ZERO,
            rendered: Nanoseconds::ZERO,
            rendering: Nanoseconds::ZERO,
            handled: Nanoseconds::ZERO,
            handling: Nanoseconds::ZERO,
        })
    }

    /// Returns the completed share of the misses.
    pub(super) fn done(&self) -> f64 {
        let threads = self.of_renderers.len() as f64;
        let all = self.misses_per_frame * threads * f64::from(self.frames);
        (self.misses as f64 / all).min(1.0)
    }

    fn draw(&mut self, mean: Nanoseconds) -> Nanoseconds {
        match self.work {
            Work::Constant => mean,
            Work::Exponential => {
                let share: f64 = Exp1.sample(&mut self.random);
                mean * share
            }
        }
    }

    fn share(&mut self) -> f64 {
        StandardUniform.sample(&mut self.random)
    }

    /// Returns a random address in the `bytes` bytes from `base` on, aligned to 4,096 bytes.
    fn address(&mut self, base: u64, bytes: u64) -> u64 {
        let place = (self.share() * bytes as f64) as u64;
        base + place / 4096 * 4096
    }

    fn renderer(&mut self, thread: Thread) -> &mut Renderer {
        &mut self.of_renderers[(thread.node * self.renderers + thread.number) as usize]
    }

    /// Returns the step to the next miss of this frame or the next frame, or stops.
    fn next(&mut self, thread: Thread, now: Moment) -> Step {
        let renderer = self.renderer(thread);
        if renderer.left > 0 {
            renderer.left -= 1;
            return self.render(thread, self.render, Doing::Renders, now);
        }
        match self.end_frame(thread) {
            Some(step) => step,
            None => self.begin_frame(thread, now),
        }
    }

    /// Ends a frame of a renderer. Returns its next step, or `None` if it begins the next frame.
    fn end_frame(&mut self, thread: Thread) -> Option<Step> {
        let renderer = self.renderer(thread);
        renderer.frames += 1;
        let is_over = renderer.frames == self.frames;
        self.over += usize::from(is_over);
        match (is_over, self.meets) {
            (true, _) => Some(Step::Stop),
            (false, true) => Some(Step::Meet),
            (false, false) => None,
        }
    }

    fn render(&mut self, thread: Thread, mean: Nanoseconds, does: Doing, now: Moment) -> Step {
        let work = self.draw(mean);
        self.rendered += work;
        let renderer = self.renderer(thread);
        renderer.does = does;
        renderer.since = now;
        Step::Compute(work)
    }

    fn begin_frame(&mut self, thread: Thread, now: Moment) -> Step {
        loop {
            // The mean number of misses is that of the model: its fraction is a probability.
            let share = self.share();
            let misses = (self.misses_per_frame + share) as u32;
            if misses > 0 {
                self.renderer(thread).left = misses;
                return self.next(thread, now);
            }
            if let Some(step) = self.end_frame(thread) {
                return step;
            }
        }
    }

    fn rendered_until(&mut self, thread: Thread, now: Moment) {
        let renderer = self.renderer(thread);
        let time = now.since(renderer.since).nanoseconds();
        renderer.since = now;
        self.rendering += time;
    }

    fn ask(&mut self, thread: Thread) -> Step {
        let share = self.share();
        let other = (share * f64::from(self.nodes - 1)) as u32;
        let home = if other >= thread.node {
            other + 1
        } else {
            other
        };
        self.misses += 1;
        Step::Send(Message {
            node: home,
            connection: self.renderers,
            tag: REQUEST + u64::from(thread.number),
            ..self.asks
        })
    }

    fn wait(&mut self, thread: Thread, now: Moment) -> Step {
        let renderer = self.renderer(thread);
        renderer.does = Doing::Waits;
        renderer.since = now;
        match (self.answers.are_direct(), self.waits) {
            (true, Waits::AllPoll) => Step::Receive(Way::Poll),
            (true, _) => Step::Receive(Way::Notify),
            (false, Waits::AllPoll) => Step::Spin,
            (false, _) => Step::Sleep,
        }
    }

    fn step_of_renderer(&mut self, thread: Thread, resumed: Resumed, now: Moment) -> Step {
        let does = self.renderer(thread).does;
        match (does, resumed) {
            (Doing::Begins, _) | (_, Resumed::Met) => self.begin_frame(thread, now),
            (Doing::Renders, Resumed::Computed) => self.ask(thread),
            (Doing::Renders, Resumed::Sent) => {
                self.rendered += self.send;
                self.rendered_until(thread, now);
                if self.sleep.0 <= 0.0 {
                    return self.wait(thread, now);
                }
                self.rendered += self.sleep;
                self.renderer(thread).does = Doing::FallsAsleep;
                Step::Compute(self.sleep)
            }
            (Doing::FallsAsleep, _) => {
                self.rendered_until(thread, now);
                self.wait(thread, now)
            }
            (Doing::Waits, Resumed::Woken) => {
                self.waited_until(thread, now);
                let fetch = self.renderer(thread).fetch;
                self.take(thread, fetch, now)
            }
            (Doing::Waits, Resumed::Received(note)) => {
                self.waited_until(thread, now);
                let work = self.draw(self.own_answer) + note.fetch;
                self.take(thread, work, now)
            }
            (Doing::Takes, Resumed::Computed) => {
                self.rendered_until(thread, now);
                self.next(thread, now)
            }
            _ => Step::Stop,
        }
    }

    fn waited_until(&mut self, thread: Thread, now: Moment) {
        let renderer = self.renderer(thread);
        let time = now.since(renderer.since).nanoseconds();
        self.waited += time;
    }

    /// Processes received data, and continues to render.
    fn take(&mut self, thread: Thread, work: Nanoseconds, now: Moment) -> Step {
        if work.0 <= 0.0 {
            return self.next(thread, now);
        }
        self.rendered += work;
        let renderer = self.renderer(thread);
        renderer.fetch = Nanoseconds::ZERO;
        renderer.does = Doing::Takes;
        renderer.since = now;
        Step::Compute(work)
    }

    fn step_of_handler(&mut self, node: u32, resumed: Resumed, now: Moment) -> Step {
        match resumed {
            Resumed::Received(note) => self.serve(node, note, now),
            Resumed::Computed => {
                let handler = &mut self.of_handlers[node as usize];
                let time = now.since(handler.since).nanoseconds();
                let serves = std::mem::replace(&mut handler.serves, Serves::Nobody);
                self.handling += time;
                match serves {
                    Serves::Request(thread) => self.give(thread),
                    Serves::Answer(renderer) => Step::Wake(renderer),
                    Serves::Other | Serves::Nobody => self.receive(),
                }
            }
            _ => self.receive(),
        }
    }

    const fn receive(&self) -> Step {
        Step::Receive(match self.waits {
            Waits::Notified => Way::Notify,
            Waits::HandlerPolls | Waits::AllPoll => Way::Poll,
        })
    }

    fn serve(&mut self, node: u32, note: Note, now: Moment) -> Step {
        let number = note.tag as u32;
        let (serves, mean) = match note.tag {
            OTHER.. => (Serves::Other, self.request + self.answer),
            ANSWER.. => {
                let thread = Thread { node, number };
                self.renderer(thread).fetch = note.fetch;
                (Serves::Answer(number), self.answer)
            }
            _ => (Serves::Request(note.from), self.request),
        };
        let work = self.draw(mean);
        self.handled += work;
        self.of_handlers[node as usize] = Handler { serves, since: now };
        Step::Compute(work)
    }

    /// Sends the answer to a request: to the handler of the asking renderer, or to the renderer
    /// itself.
    fn give(&mut self, thread: Thread) -> Step {
        let connection = match self.answers.are_direct() {
            true => thread.number,
            false => self.renderers,
        };
        let source = self.address(0, NODE_BYTES);
        let destination = self.address(CACHE.base, CACHE_BYTES);
        Step::Send(Message {
            node: thread.node,
            connection,
            source,
            destination,
            tag: ANSWER + u64::from(thread.number),
            ..self.gives
        })
    }
}

impl Client for Tracers {
    fn step(&mut self, thread: Thread, resumed: Resumed, now: Moment) -> Step {
        match thread.number < self.renderers {
            true => self.step_of_renderer(thread, resumed, now),
            false => self.step_of_handler(thread.node, resumed, now),
        }
    }

    fn handler(&self) -> Option<u32> {
        Some(self.renderers)
    }

    fn visit(&mut self, _node: u32) -> Option<Visit> {
        if self.others.0 <= 0.0 {
            return None;
        }
        let share: f64 = Exp1.sample(&mut self.random);
        Some(Visit {
            after: self.others.interval() * share,
            connection: self.renderers,
            tag: OTHER,
        })
    }

    fn meeting(&self) -> u32 {
        self.nodes * self.renderers
    }

    fn is_over(&self) -> bool {
        match self.meets {
            true => self.over == self.of_renderers.len(),
            false => self.over > 0,
        }
    }
}

impl Renderer {
    const fn new() -> Self {
        Self {
            left: 0,
            frames: 0,
            does: Doing::Begins,
            since: Moment::START,
            fetch: Nanoseconds::ZERO,
        }
    }
}

impl Handler {
    const fn new() -> Self {
        Self {
            serves: Serves::Nobody,
            since: Moment::START,
        }
    }
}
