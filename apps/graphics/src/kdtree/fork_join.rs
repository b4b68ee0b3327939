//! The threads that share the work of a build: only the calling thread, all workers, or the threads
//! of another runtime.

/// A group of threads that share work. This is all that the builders need from a fork-join runtime.
///
/// Each element of a list is visited exactly once, so the result is the same on all threads. To
/// build trees on another runtime, implement this trait and call
/// [`KdTree::from_prepared_by`](super::KdTree::from_prepared_by).
///
/// # Examples
/// ```
/// use raddle_graphics::kdtree::{ForkJoin, KdTree, Parameters, Prepared};
/// use raddle_graphics::scene::{self, Scene};
///
/// /// A thread for each element.
/// struct Threads;
///
/// impl ForkJoin for Threads {
///     fn for_each<T: Send>(&self, items: &mut [T], body: impl Fn(usize, &mut T) + Sync) {
///         std::thread::scope(|scope| {
///             for (index, item) in items.iter_mut().enumerate() {
///                 let body = &body;
///                 scope.spawn(move || body(index, item));
///             }
///         });
///     }
///
///     fn join<A: Send, B: Send>(
///         &self,
///         first: impl FnOnce() -> A + Send,
///         second: impl FnOnce() -> B + Send,
///     ) -> (A, B) {
///         std::thread::scope(|scope| {
///             let second = scope.spawn(second);
///             (first(), second.join().expect("no panic"))
///         })
///     }
///
///     fn part_count(&self) -> usize {
///         2
///     }
/// }
///
/// let mesh = scene::generate(Scene::Flake, 10_000);
/// let parameters = Parameters::default();
/// let tree = KdTree::from_prepared_by(Prepared::new(&mesh)?, &parameters, &Threads, |_| ())?;
/// assert_eq!(tree, KdTree::build_sequential(&mesh, &parameters)?);
/// # Ok::<(), raddle_graphics::kdtree::BuildError>(())
/// ```
pub trait ForkJoin: Sync {
    /// Calls `body` with the index of every element and the element.
    fn for_each<T: Send>(&self, items: &mut [T], body: impl Fn(usize, &mut T) + Sync);

    /// Calls both closures, possibly in parallel, and returns their results.
    fn join<A: Send, B: Send>(
        &self,
        first: impl FnOnce() -> A + Send,
        second: impl FnOnce() -> B + Send,
    ) -> (A, B);

    /// Returns the number of parts into which to divide work. Every part adds to the total cost, so
    /// this should be about the number of threads.
    fn part_count(&self) -> usize;
}

/// The calling thread.
#[derive(Debug)]
pub(super) struct OneThread;

impl ForkJoin for OneThread {
    fn for_each<T: Send>(&self, items: &mut [T], body: impl Fn(usize, &mut T) + Sync) {
        for (index, item) in items.iter_mut().enumerate() {
            body(index, item);
        }
    }

    fn join<A: Send, B: Send>(
        &self,
        first: impl FnOnce() -> A + Send,
        second: impl FnOnce() -> B + Send,
    ) -> (A, B) {
        (first(), second())
    }

    fn part_count(&self) -> usize {
        1
    }
}

/// All workers of the runtime of the calling thread. On a thread that is not a worker, these are
/// the workers of the default runtime. [`KdTree::build`](super::KdTree::build) uses them.
///
/// A panic in one part is passed on to the caller after all parts have ended.
#[derive(Debug, Clone, Copy, Default)]
pub struct AllWorkers;

impl ForkJoin for AllWorkers {
    fn for_each<T: Send>(&self, items: &mut [T], body: impl Fn(usize, &mut T) + Sync) {
        raddle::for_each_mut(items, body);
    }

    fn join<A: Send, B: Send>(
        &self,
        first: impl FnOnce() -> A + Send,
        second: impl FnOnce() -> B + Send,
    ) -> (A, B) {
        // Spawn a task, which is visible to all workers at once. A fork would be offered only at
        // the next fork after a worker has asked for work, and a task that builds a subtree
        // sequentially executes no fork for milliseconds.
        let mut found = None;
        let first = raddle::scope(|scope| {
            scope.spawn(|| found = Some(second()));
            first()
        });
        (first, found.expect("a scope waits for its tasks"))
    }

    fn part_count(&self) -> usize {
        raddle::worker_count()
    }
}
