//! kNeighbor: the elements of a ring exchange messages with their neighbours, iteration after
//! iteration.
//!
//! In each iteration an element sends a message to each of the `k` elements on its left and on its
//! right. It begins the next iteration when it has received the `2k` messages of this one. In a
//! ring of fewer than `2k + 1` elements, some neighbours are the same element, or the element
//! itself. The number of messages is the same.
//!
//! A neighbour is at most one iteration ahead, because it cannot finish an iteration before this
//! element has sent its message for it. Two message counters are therefore enough: one for even
//! iterations and one for odd iterations.
//!
//! The same program runs on the workers of one runtime and on several nodes, which are processes.
//! Between the workers of one process, buffers are passed on without copying. A message to another
//! node is copied into a new buffer there.
//!
//! # Source
//! Mei, Zheng, Gioachin, Kalé: Optimizing a parallel runtime system for multicore clusters. 2010,
//! sect. 3.

mod jobs;
mod node_reports;
mod variant;

use std::sync::Arc;
use std::time::{Duration, Instant};

use raddle::chare::balance::Balancing;
use raddle::chare::{Array, ArrayOptions, Chares, Cx, Failure};
use raddle::reduce::{Max, Sum};
use raddle::trace::Report;
use raddle::{Runtime, chare};

use self::jobs::OfNodes;
use self::node_reports::NodeReports;
use self::variant::Extras;

pub use self::jobs::{claims, together};
pub use self::variant::{Buffers, PrivateForm, Variant};

/// The memory for a message besides its bytes: entries in two lists of its element, the allocation,
/// and cells for this message and the next one.
const MESSAGE_BYTES: u64 = 384;
/// The memory for an element.
const ELEMENT_BYTES: u64 = 512;

/// The number of iterations before the timed ones. After them, all workers are awake, and all
/// elements have begun.
const WARM_UP: u64 = 10;

/// The size of the ring and of its messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// The number of elements in the ring.
    pub elements: usize,
    /// The number of neighbours on each side.
    pub k: usize,
    /// The number of bytes in a message.
    pub bytes: usize,
    /// If true, every byte is written before it is sent and checked after it is received. Otherwise
    /// the bytes are not accessed, and only the delivery of the messages is measured.
    pub touch: bool,
}

impl Shape {
    /// Returns the number of messages that all elements together send in an iteration.
    pub fn messages(self) -> u64 {
        (self.elements as u64)
            .saturating_mul(2)
            .saturating_mul(self.k as u64)
    }

    /// Returns an estimate of the memory of the ring, which is too high rather than too low.
    pub fn memory_bytes(self) -> u64 {
        let of_elements = (self.elements as u64).saturating_mul(ELEMENT_BYTES);
        let of_message = (self.bytes as u64).saturating_add(MESSAGE_BYTES);
        self.messages()
            .saturating_mul(of_message)
            .saturating_add(of_elements)
    }
}

/// The result of a number of iterations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exchange {
    /// The time that the slowest element took for the iterations.
    pub time: Duration,
    /// The number of messages that were received in these iterations.
    pub messages: u64,
}

/// A ring of elements on the workers of one runtime, or of the runtimes of several nodes.
///
/// # Examples
/// ```
/// use raddle_messages::kneighbor::{KNeighbor, Shape};
///
/// let runtime = raddle::Runtime::builder().workers(2).build()?;
/// let shape = Shape { elements: 4, k: 3, bytes: 100, touch: true };
/// let ring = KNeighbor::new(&runtime, shape);
/// let exchange = ring.run(50)?;
/// assert_eq!(exchange.messages, 4 * 2 * 3 * 50);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct KNeighbor<'runtime> {
    runtime: &'runtime Runtime,
    shape: Shape,
    ring: Array<Element>,
    /// Reads the counters of all nodes, if there are several.
    reports: Option<(NodeReports, usize)>,
}

impl<'runtime> KNeighbor<'runtime> {
    /// Creates the elements and all buffers. Each worker gets a block of consecutive elements.
    ///
    /// # Panics
    /// If there is no element, or if there are 2³¹ or more.
    pub fn new(runtime: &'runtime Runtime, shape: Shape) -> Self {
        Self::with(runtime, shape, |options| options)
    }

    /// Creates a ring as [`new`](Self::new) does, and balances its load: elements are measured, and
    /// are moved to other workers if that is worthwhile.
    ///
    /// # Panics
    /// As for [`new`](Self::new).
    pub fn balanced(runtime: &'runtime Runtime, shape: Shape, balancing: Balancing) -> Self {
        Self::with(runtime, shape, |options| options.balanced(balancing))
    }

    /// Creates a ring as [`new`](Self::new) does, of a variant of the program.
    ///
    /// # Panics
    /// As for [`new`](Self::new).
    pub fn of_variant(runtime: &'runtime Runtime, shape: Shape, variant: Variant) -> Self {
        let extras = Extras::of(variant, runtime).map(Arc::new);
        Self::with_extras(runtime, shape, extras, |options| options)
    }

    fn with(
        runtime: &'runtime Runtime,
        shape: Shape,
        set: impl FnOnce(ArrayOptions<usize>) -> ArrayOptions<usize>,
    ) -> Self {
        Self::with_extras(runtime, shape, None, set)
    }

    fn with_extras(
        runtime: &'runtime Runtime,
        shape: Shape,
        extras: Option<Arc<Extras>>,
        set: impl FnOnce(ArrayOptions<usize>) -> ArrayOptions<usize>,
    ) -> Self {
        assert!(shape.elements > 0, "a ring needs at least one element");
        let options = set(ArrayOptions::new(shape.elements));
        let ring = runtime.array_with(options, move |_| Element::of(shape, extras.clone()));
        Self {
            runtime,
            shape,
            ring,
            reports: None,
        }
    }

    /// Takes over the ring of a job.
    fn over_nodes(runtime: &'runtime Runtime, shape: Shape, of_nodes: OfNodes) -> Self {
        let OfNodes {
            ring,
            reports,
            node_count,
        } = of_nodes;
        Self {
            runtime,
            shape,
            ring,
            reports: (node_count > 1).then_some((reports, node_count)),
        }
    }

    /// Returns the counters of the workers of each node, by node. Those of other nodes are read by
    /// a message, which is counted, too.
    ///
    /// # Errors
    /// [`Failure`] if a node has ended.
    pub fn reports(&self) -> Result<Vec<Report>, Failure> {
        match &self.reports {
            Some((reports, node_count)) => reports.read(*node_count),
            None => Ok(vec![self.runtime.report()]),
        }
    }

    /// Returns the runtime of the ring; with several nodes, the runtime of this node.
    pub fn runtime(&self) -> &'runtime Runtime {
        self.runtime
    }

    /// Runs a short warm-up and then `iterations` timed iterations.
    ///
    /// # Errors
    /// [`Failure`] if a message arrives in the wrong iteration or with wrong bytes, or if a node
    /// has ended.
    pub fn run(&self, iterations: u64) -> Result<Exchange, Failure> {
        self.run_with(self.shape.bytes, iterations)
    }

    /// Sets the size of the messages to `bytes`, now and for later runs, and calls
    /// [`run`](Self::run).
    ///
    /// # Errors
    /// As for [`run`](Self::run).
    pub fn run_with(&self, bytes: usize, iterations: u64) -> Result<Exchange, Failure> {
        self.ring.all().begin(bytes, iterations);
        let (time_ns, messages): (u64, u64) = self.ring.reduction().try_wait()?;
        Ok(Exchange {
            time: Duration::from_nanos(time_ns),
            messages: messages - WARM_UP * self.shape.messages(),
        })
    }
}

impl Drop for KNeighbor<'_> {
    /// Destroys all elements at once. After a failure, some elements have not begun. If the
    /// elements were removed one by one, an element that begins late would send to neighbours that
    /// no longer exist.
    fn drop(&mut self) {
        self.ring.destroy();
    }
}

/// One element of the ring.
struct Element {
    shape: Shape,
    /// The additional work of a variant of the program; `None` for the program itself.
    extras: Option<Arc<Extras>>,
    /// Empty until the element first runs.
    neighbours: Vec<ElementProxy>,
    /// Buffers for the next messages, if they are reused.
    buffers: Vec<Box<[u8]>>,
    /// The current iteration.
    iteration: u64,
    /// The iteration before which the element stops; `None` while it does not run.
    end: Option<u64>,
    /// The number of received messages of the current and of the next iteration, indexed by the
    /// lowest bit of the iteration.
    received: [usize; 2],
    /// The number of messages that were received since the run began.
    messages: u64,
    /// The start of the first timed iteration.
    began: Instant,
}

/// Takes a buffer of a received message, and writes `stamp` to all its bytes.
///
/// # Panics
/// If there is none: an element receives as many messages as it sends.
fn reused(buffers: &mut Vec<Box<[u8]>>, stamp: Option<u8>) -> Box<[u8]> {
    let mut buffer = buffers.pop().expect("a buffer was received per message");
    if let Some(stamp) = stamp {
        buffer.fill(stamp);
    }
    buffer
}

impl Element {
    fn new(shape: Shape) -> Self {
        Self::of(shape, None)
    }

    fn of(shape: Shape, extras: Option<Arc<Extras>>) -> Self {
        let mut element = Self {
            shape,
            extras,
            neighbours: Vec::new(),
            // Space for the messages of this iteration and of the next.
            buffers: Vec::with_capacity(4 * shape.k),
            iteration: 0,
            end: None,
            received: [0; 2],
            messages: 0,
            began: Instant::now(),
        };
        element.make_buffers();
        element
    }

    /// Creates the buffers of one iteration, and drops buffers of another size. Buffers that were
    /// received from neighbours that began earlier already have the right size.
    fn make_buffers(&mut self) {
        if !self.reuses_buffers() {
            return;
        }
        let Shape { k, bytes, .. } = self.shape;
        self.buffers.retain(|buffer| buffer.len() == bytes);
        let count = self.buffers.len() + 2 * k;
        let buffer = || vec![0; bytes].into_boxed_slice();
        self.buffers.resize_with(count, buffer);
    }

    fn reuses_buffers(&self) -> bool {
        let extras = self.extras.as_ref();
        extras.is_none_or(|extras| extras.reuses_buffers())
    }

    /// Gets the proxies of the neighbours: the nearest first, alternating between left and right.
    fn find_neighbours(&mut self, cx: &Cx<Self>) {
        let (count, own) = (self.shape.elements, cx.index());
        let around = (1..=self.shape.k).flat_map(|distance| {
            let distance = distance % count;
            [own + count - distance, own + distance]
        });
        self.neighbours = around.map(|index| cx.array().at(index % count)).collect();
    }

    /// Sends the messages of an iteration. The first iteration after the warm-up starts the clock.
    fn send(&mut self) {
        if self.iteration == WARM_UP {
            self.began = Instant::now();
        }
        if let Some(extras) = &self.extras {
            let extras = Arc::clone(extras);
            return self.send_variant(&extras);
        }
        let stamp = self.stamp();
        for neighbour in &self.neighbours {
            neighbour.receive(self.iteration, reused(&mut self.buffers, stamp));
        }
    }

    /// Sends messages like [`send`](Self::send), with the additional work of a variant of the
    /// program.
    fn send_variant(&mut self, extras: &Extras) {
        let (bytes, stamp) = (self.shape.bytes, self.stamp());
        for neighbour in &self.neighbours {
            let buffer = match extras.reuses_buffers() {
                true => reused(&mut self.buffers, stamp),
                false => extras.allocate(bytes, stamp.unwrap_or(0)),
            };
            extras.send(|| neighbour.receive(self.iteration, buffer));
        }
    }

    /// Returns the value of all bytes of a message of this iteration, if messages are touched.
    fn stamp(&self) -> Option<u8> {
        self.shape.touch.then_some(self.iteration as u8)
    }

    /// Keeps the buffer of a message, or frees it.
    fn keep(&mut self, buffer: Box<[u8]>) {
        if let Some(extras) = &self.extras {
            extras.update_private();
            if !extras.reuses_buffers() {
                return extras.free(buffer);
            }
        }
        self.buffers.push(buffer);
    }

    /// Begins further iterations as long as all messages of the current one have been received.
    fn proceed(&mut self, cx: &mut Cx<Self>) {
        while let Some(end) = self.end {
            let received = &mut self.received[(self.iteration & 1) as usize];
            if *received < self.neighbours.len() {
                return;
            }
            *received = 0;
            self.iteration += 1;
            if self.iteration < end {
                self.send();
            } else {
                self.finish(cx);
            }
        }
    }

    fn finish(&mut self, cx: &mut Cx<Self>) {
        let time_ns = self.began.elapsed().as_nanos() as u64;
        (self.end, self.iteration) = (None, 0);
        let messages = std::mem::take(&mut self.messages);
        cx.contribute((Max(time_ns), Sum(messages)));
    }
}

#[chare(nodes)]
impl Element {
    #[entry]
    fn begin(&mut self, cx: &mut Cx<Self>, bytes: usize, iterations: u64) {
        if self.neighbours.is_empty() {
            self.find_neighbours(cx);
        }
        if self.shape.bytes != bytes {
            self.shape.bytes = bytes;
            self.make_buffers();
        }
        self.end = Some(WARM_UP + iterations);
        self.send();
        self.proceed(cx);
    }

    #[entry]
    fn receive(&mut self, cx: &mut Cx<Self>, iteration: u64, buffer: Box<[u8]>) {
        let ahead = iteration.wrapping_sub(self.iteration);
        assert!(
            ahead <= 1,
            "a message of iteration {iteration} arrived in iteration {}",
            self.iteration
        );
        if self.shape.touch {
            let stamp = iteration as u8;
            let wrong = buffer.iter().filter(|&&byte| byte != stamp).count();
            assert_eq!(
                wrong, 0,
                "wrong bytes in a message of iteration {iteration}"
            );
        }
        self.messages += 1;
        self.keep(buffer);
        let received = &mut self.received[(iteration & 1) as usize];
        *received += 1;
        assert!(
            *received <= 2 * self.shape.k,
            "more messages of iteration {iteration} arrived than were sent"
        );
        self.proceed(cx);
    }
}

#[cfg(test)]
mod tests;
