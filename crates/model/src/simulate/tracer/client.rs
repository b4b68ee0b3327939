//! The steps of renderers and handlers.

mod tiles;

use rand_core::SeedableRng;
use rand_distr::{Distribution, Exp1, StandardUniform};
use rand_xoshiro::Xoshiro256PlusPlus;

use self::tiles::Tiles;
use super::{FoundSupervisor, Tracer, Work};
use crate::error::{DomainError, ModelError};
use crate::node::Waits;
use crate::parameters::Parameters;
use crate::simulate::{Client, Message, Moment, Note, Resumed, Segment, Step, Thread, Visit, Way};
use crate::tracer::{Answers, Sends};
use crate::units::{Bandwidth, Bytes, Nanoseconds, Rate};

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
    /// The tiles, if a supervisor assigns them.
    tiles: Option<Tiles>,
    /// The work of a tile, on average.
    tile_work: Nanoseconds,
    tile_misses: f64,
    bandwidth: Bandwidth,
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
    /// The mean work before a miss.
    render: Nanoseconds,
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
    /// Waiting for a tile.
    WaitsForTile,
    /// Rendering a tile without a miss.
    RendersTile,
    /// Returning a tile.
    Returns,
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
    /// Assignments: the first tile, and their number.
    Tiles(u32, u32),
    Other,
}

/// The tag of a message: its kind, and the number of its renderer.
const REQUEST: u64 = 0;
const ANSWER: u64 = 1 << 32;
const OTHER: u64 = 1 << 33;
/// The tag of assignments: the first tile, and above the kind their number. The tag of a tile.
const TILES: u64 = 1 << 34;
const TILES_SHIFT: u32 = 40;
const TILE: u64 = 1 << 35;

impl Tracers {
    pub(super) fn new(
        what: &Tracer,
        parameters: &Parameters,
        misses: f64,
    ) -> Result<Self, ModelError> {
        let scenario = &what.scenario;
        let tracer = &parameters.tracer;
        let threads = scenario.nodes as usize * scenario.renderers as usize;
        let tile_count = tracer.tiles();
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
        let supervised = what.supervised.as_ref();
        let tile = Message {
            connection: scenario.renderers,
            destination: CACHE.base,
            tag: TILE,
            ..message
        };
        Ok(Self {
            tiles: supervised.map(|supervised| {
                Tiles::new(supervised, parameters, scenario.nodes, what.frames, tile)
            }),
            tile_work: tracer.render / tracer.core_speedup / tile_count,
            tile_misses: share / tile_count,
            bandwidth: parameters.network.bandwidth,
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
            of_handlers: vec![Handler::new(); scenario.nodes as usize + 1],
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
        if let Some(tiles) = &self.tiles {
            return tiles.done();
        }
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
            let mean = renderer.render;
            return self.render(thread, mean, Doing::Renders, now);
        }
        if self.tiles.is_some() {
            return self.return_tile(thread, now);
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
                let render = self.render;
                let renderer = self.renderer(thread);
                (renderer.left, renderer.render) = (misses, render);
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
            (Doing::Begins | Doing::WaitsForTile, _) if self.tiles.is_some() => {
                self.take_tile(thread, now)
            }
            (Doing::RendersTile, _) => {
                self.rendered_until(thread, now);
                self.return_tile(thread, now)
            }
            (Doing::Returns, Resumed::Computed) => {
                self.rendered_until(thread, now);
                let tile = self.tiles.as_ref().map(Tiles::tile);
                tile.map_or(Step::Stop, Step::Send)
            }
            (Doing::Returns, _) => {
                self.rendered += self.send;
                self.rendered_until(thread, now);
                self.take_tile(thread, now)
            }
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
                    Serves::Tiles(first, number) => {
                        if let Some(tiles) = &mut self.tiles {
                            tiles.push(node, first, number);
                        }
                        self.wake_for_tile(node)
                    }
                    Serves::Other | Serves::Nobody => self.receive(),
                }
            }
            Resumed::Waked => self.wake_for_tile(node),
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
            TILES.. => {
                let count = (note.tag >> TILES_SHIFT) as u32;
                let tiles = self.tiles.as_ref();
                let work = tiles.map_or(Nanoseconds::ZERO, |it| it.assignment * f64::from(count));
                (Serves::Tiles(number, count), work)
            }
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

/// Tiles, and the supervisor that assigns them.
impl Tracers {
    /// Begins the next tile of a node, or waits for one.
    fn take_tile(&mut self, thread: Thread, now: Moment) -> Step {
        let is_waiting = self.renderer(thread).does == Doing::WaitsForTile;
        let waited = now.since(self.renderer(thread).since).nanoseconds();
        let Some(tiles) = &mut self.tiles else {
            return Step::Stop;
        };
        if is_waiting {
            tiles.idle += waited;
        }
        let tile = tiles.take(thread.node, thread.number);
        let Some([work, misses]) = tile else {
            let renderer = self.renderer(thread);
            renderer.does = Doing::WaitsForTile;
            renderer.since = now;
            return match self.waits {
                Waits::AllPoll => Step::Spin,
                _ => Step::Sleep,
            };
        };
        // The mean number of misses is that of the model: its fraction is a probability.
        let share = self.share();
        let misses = (self.tile_misses * misses + share) as u32;
        let work = self.tile_work * work;
        if misses == 0 {
            return self.render(thread, work, Doing::RendersTile, now);
        }
        let renderer = self.renderer(thread);
        (renderer.left, renderer.render) = (misses, work / f64::from(misses));
        self.next(thread, now)
    }

    /// Returns a tile to the supervisor.
    fn return_tile(&mut self, thread: Thread, now: Moment) -> Step {
        let returning = self.tiles.as_ref().map(|tiles| tiles.returning);
        let returning = returning.unwrap_or(Nanoseconds::ZERO);
        self.rendered += returning;
        let renderer = self.renderer(thread);
        renderer.does = Doing::Returns;
        renderer.since = now;
        Step::Compute(returning)
    }

    /// Wakes a renderer for which there is a tile, or receives.
    fn wake_for_tile(&mut self, node: u32) -> Step {
        let sleeper = self.tiles.as_mut().and_then(|tiles| tiles.sleeper(node));
        sleeper.map_or_else(|| self.receive(), Step::Wake)
    }

    /// Returns the next step of the supervisor.
    fn step_of_supervisor(&mut self, thread: Thread, resumed: Resumed, now: Moment) -> Step {
        let receive = self.receive();
        let Some(tiles) = self
            .tiles
            .as_mut()
            .filter(|_| thread.number == self.renderers)
        else {
            // The node of the supervisor has no renderers.
            return Step::Stop;
        };
        let handler = &mut self.of_handlers[thread.node as usize];
        match resumed {
            Resumed::Begun => tiles.begin_frame(self.renderers),
            Resumed::Received(note) if note.tag == TILE => {
                *handler = Handler {
                    serves: Serves::Answer(note.from.node),
                    since: now,
                };
                return Step::Compute(tiles.supervise);
            }
            Resumed::Computed => {
                if let Serves::Answer(node) = handler.serves
                    && tiles.note_back(node, now)
                {
                    tiles.begin_frame(self.renderers);
                }
            }
            _ => {}
        }
        let Some((node, first, number, [data_bytes, wire_bytes])) = tiles.next_assignment() else {
            return receive;
        };
        Step::Send(Message {
            node,
            connection: self.renderers,
            data_bytes,
            wire_bytes,
            destination: CACHE.base,
            rings: self.waits == Waits::Notified,
            tag: TILES + u64::from(first) + (u64::from(number) << TILES_SHIFT),
            ..Message::default()
        })
    }

    /// Returns the work of the supervisor, if there is one.
    pub(super) fn supervisor(&self, time: Nanoseconds) -> Option<FoundSupervisor> {
        let tiles = self.tiles.as_ref()?;
        let back = f64::from(tiles.count()) * tiles.ends.len() as f64;
        let wire = Bytes(f64::from(tiles.tile().wire_bytes)) / self.bandwidth;
        let renderers = self.of_renderers.len() as f64;
        // The waits that the end of the run has ended.
        let waiting = self.of_renderers.iter();
        let waiting = waiting.filter(|renderer| renderer.does == Doing::WaitsForTile);
        let open: Nanoseconds = waiting
            .map(|renderer| time - renderer.since.nanoseconds())
            .sum();
        Some(FoundSupervisor {
            tiles: tiles.count(),
            link: wire * back / time,
            work: tiles.supervise * back / time,
            imbalance: (tiles.idle + open) / (time * renderers),
        })
    }
}

impl Client for Tracers {
    fn step(&mut self, thread: Thread, resumed: Resumed, now: Moment) -> Step {
        if thread.node == self.nodes {
            return self.step_of_supervisor(thread, resumed, now);
        }
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
        if let Some(tiles) = &self.tiles {
            return tiles.is_over();
        }
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
            render: Nanoseconds::ZERO,
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
