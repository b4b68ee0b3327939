//! kNeighbor: elements in a ring, each of which exchanges messages with its neighbours, iteration after iteration.
//!
//! In each iteration an element sends a message to each of the `k` elements on its left and of the `k` on its right, around the
//! ring, and begins the next when it has received the `2k` messages of this one. In a ring of fewer than `2k + 1` elements some
//! neighbours are the same, or the element itself; there are as many messages all the same.
//!
//! A neighbour may be one iteration ahead, and no more: it cannot end an iteration to which this element has not sent. So two counters
//! of messages are enough, one for even iterations and one for odd ones.
//!
//! The program is the same wherever the elements are: on the workers of one runtime, or on nodes, which are processes. Between workers of one process a
//! buffer goes from hand to hand; where it goes to another node it is copied, and the element there gets one of its own.
//!
//! # Source
//! Mei, Zheng, Gioachin, Kalé: Optimizing a parallel runtime system for multicore clusters. 2010, sect. 3.

mod jobs;

use std::time::{Duration, Instant};

use raddle::chare::balance::Balancing;
use raddle::chare::{Array, ArrayOptions, Chares, Cx, Failure};
use raddle::reduce::{Max, Sum};
use raddle::{Runtime, chare};

pub use self::jobs::{claims, together};

/// What a message takes besides its bytes: a place in two lists of its element, its allocation, and cells for it and for the one after it.
const MESSAGE_BYTES: u64 = 384;
/// What an element takes.
const ELEMENT_BYTES: u64 = 512;

/// Iterations before the clock runs: all workers are awake then, and all elements have begun.
const WARM_UP: u64 = 10;

/// Who exchanges, and what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Elements in the ring.
    pub elements: usize,
    /// Neighbours on each side.
    pub k: usize,
    /// Bytes in a message.
    pub bytes: usize,
    /// Whether every byte is written before it is sent, and read when it has come. Otherwise nobody looks at them, and what is
    /// measured is the way of the messages alone.
    pub touch: bool,
}

impl Shape {
    /// Messages that all elements together send in an iteration.
    pub fn messages(self) -> u64 {
        (self.elements as u64)
            .saturating_mul(2)
            .saturating_mul(self.k as u64)
    }

    /// About how much memory the ring takes, and rather more than less.
    pub fn memory_bytes(self) -> u64 {
        let of_elements = (self.elements as u64).saturating_mul(ELEMENT_BYTES);
        let of_message = (self.bytes as u64).saturating_add(MESSAGE_BYTES);
        self.messages()
            .saturating_mul(of_message)
            .saturating_add(of_elements)
    }
}

/// What some iterations took.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exchange {
    /// The time of the iterations, of the element that took longest.
    pub time: Duration,
    /// Messages that came in these iterations.
    pub messages: u64,
}

/// A ring of elements on the workers of a runtime, or of those of several nodes.
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
}

impl<'runtime> KNeighbor<'runtime> {
    /// Makes the elements, dealt to the workers in blocks, and all buffers.
    ///
    /// # Panics
    /// When there is no element, or 2³¹ of them or more.
    pub fn new(runtime: &'runtime Runtime, shape: Shape) -> Self {
        Self::with(runtime, shape, |options| options)
    }

    /// The same, with elements that are observed, and moved where that pays.
    ///
    /// # Panics
    /// As [`new`](Self::new).
    pub fn balanced(runtime: &'runtime Runtime, shape: Shape, balancing: Balancing) -> Self {
        Self::with(runtime, shape, |options| options.balanced(balancing))
    }

    fn with(
        runtime: &'runtime Runtime,
        shape: Shape,
        set: impl FnOnce(ArrayOptions<usize>) -> ArrayOptions<usize>,
    ) -> Self {
        assert!(shape.elements > 0, "a ring has an element at least");
        let options = set(ArrayOptions::new(shape.elements));
        let ring = runtime.array_with(options, move |_| Element::new(shape));
        Self {
            runtime,
            shape,
            ring,
        }
    }

    /// The runtime on which it runs; over nodes, this node's.
    pub fn runtime(&self) -> &'runtime Runtime {
        self.runtime
    }

    /// Runs so many iterations, after some that are not counted.
    ///
    /// # Errors
    /// [`Failure`] when a message came in a wrong iteration, or with other bytes than were sent; when a node has ended.
    pub fn run(&self, iterations: u64) -> Result<Exchange, Failure> {
        self.run_with(self.shape.bytes, iterations)
    }

    /// The same, with messages of so many bytes from now on.
    ///
    /// # Errors
    /// As [`run`](Self::run).
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
    /// All elements go at once. After a failure some have not begun. If they were removed one by
    /// one, an element that begins late would look for neighbours that are gone.
    fn drop(&mut self) {
        self.ring.destroy();
    }
}

/// One element of the ring.
struct Element {
    shape: Shape,
    /// Empty until the element first runs.
    neighbours: Vec<ElementProxy>,
    /// Buffers to be sent.
    buffers: Vec<Box<[u8]>>,
    /// The iteration in which it is, and the one in which it will stop; none while it stands still.
    iteration: u64,
    end: Option<u64>,
    /// Messages of this iteration and of the next that have come, by the last bit of the iteration.
    heard: [usize; 2],
    /// Messages that have come since it began.
    messages: u64,
    began: Instant,
}

impl Element {
    fn new(shape: Shape) -> Self {
        let mut element = Self {
            shape,
            neighbours: Vec::new(),
            // Those of this iteration and of the next.
            buffers: Vec::with_capacity(4 * shape.k),
            iteration: 0,
            end: None,
            heard: [0; 2],
            messages: 0,
            began: Instant::now(),
        };
        element.make_buffers();
        element
    }

    /// Makes those of an iteration, instead of those of another size. What neighbours have sent that began before has the right one.
    fn make_buffers(&mut self) {
        let Shape { k, bytes, .. } = self.shape;
        self.buffers.retain(|buffer| buffer.len() == bytes);
        let count = self.buffers.len() + 2 * k;
        let buffer = || vec![0; bytes].into_boxed_slice();
        self.buffers.resize_with(count, buffer);
    }

    /// The proxies of the neighbours: the nearest first, left and right in turn.
    fn find_neighbours(&mut self, cx: &Cx<Self>) {
        let (count, own) = (self.shape.elements, cx.index());
        let around = (1..=self.shape.k).flat_map(|distance| {
            let distance = distance % count;
            [own + count - distance, own + distance]
        });
        self.neighbours = around.map(|index| cx.array().at(index % count)).collect();
    }

    /// Sends the messages of an iteration; the first that counts starts the clock.
    fn send(&mut self) {
        if self.iteration == WARM_UP {
            self.began = Instant::now();
        }
        for neighbour in &self.neighbours {
            let mut buffer = self.buffers.pop().expect("as many come as are sent");
            if self.shape.touch {
                buffer.fill(self.iteration as u8);
            }
            neighbour.hear(self.iteration, buffer);
        }
    }

    /// Goes on as long as all messages of an iteration have come.
    fn proceed(&mut self, cx: &mut Cx<Self>) {
        while let Some(end) = self.end {
            let heard = &mut self.heard[(self.iteration & 1) as usize];
            if *heard < self.neighbours.len() {
                return;
            }
            *heard = 0;
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
    fn hear(&mut self, cx: &mut Cx<Self>, iteration: u64, buffer: Box<[u8]>) {
        let ahead = iteration.wrapping_sub(self.iteration);
        assert!(
            ahead <= 1,
            "a message of iteration {iteration} came in iteration {}",
            self.iteration
        );
        if self.shape.touch {
            let stamp = iteration as u8;
            let strange = buffer.iter().filter(|&&byte| byte != stamp).count();
            assert_eq!(
                strange, 0,
                "bytes that nobody sent, in iteration {iteration}"
            );
        }
        self.messages += 1;
        self.buffers.push(buffer);
        let heard = &mut self.heard[(iteration & 1) as usize];
        *heard += 1;
        assert!(
            *heard <= 2 * self.shape.k,
            "more messages of iteration {iteration} came than were sent"
        );
        self.proceed(cx);
    }
}

#[cfg(test)]
mod tests;
