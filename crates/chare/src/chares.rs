//! Creation of chares, from threads that are not workers and from entries.

use std::path::Path;
use std::sync::Arc;

use raddle_runtime::Runtime;

use crate::address::index::Index;
use crate::array::{Array, ArrayOptions, Plan, SparseOptions, make_sparse};
use crate::checkpoint::{CheckpointError, restore};
use crate::engine::local;
use crate::engine::object::chare::Chare;
use crate::engine::object::cx::Cx;
use crate::engine::object::proxy::One;
use crate::engine::system::System;
use crate::group::{Group, make_group};
use crate::node::{NodeGroup, make_node_group};
use crate::remote::{self, notify_when_quiet as notify_when_all_are_quiet};
use crate::reply::{Reply, What, reply};
use crate::section::{Section, of_singles};
use crate::seeds;
use crate::start::system_of;
use crate::state::members::SectionForm;
use crate::waits::explain_waits;

/// Creates chares: implemented by [`Runtime`], and in entries by [`Cx::runtime`].
pub trait Chares: HasSystem {
    /// Creates a chare that is in no array, on any worker. Messages can be sent to it at once.
    fn chare<T: Chare>(&self, make: impl FnOnce(&mut Cx<T>) -> T + Send + 'static) -> T::One {
        self.with_system(|system| T::One::from(seeds::create(system, make)))
    }

    /// Creates a chare that is in no array, on worker `worker`.
    ///
    /// # Panics
    /// If there is no such worker.
    #[track_caller]
    fn chare_on<T: Chare>(
        &self,
        worker: usize,
        make: impl FnOnce(&mut Cx<T>) -> T + Send + 'static,
    ) -> T::One {
        let system = self.with_system(Arc::clone);
        system.check_worker(worker);
        T::One::from(seeds::create_on(&system, worker, make))
    }

    /// Creates an array of this shape. Its elements are distributed to the workers in blocks; each
    /// worker constructs its own.
    ///
    /// # Panics
    /// If the shape has 2³¹ elements or more.
    fn array<T: Chare<Index: Index>>(
        &self,
        shape: <T::Index as Index>::Shape,
        make: impl Fn(T::Index) -> T + Send + Sync + 'static,
    ) -> Array<T> {
        self.array_with(ArrayOptions::new(shape), make)
    }

    /// Creates an array with options.
    ///
    /// # Panics
    /// As for [`array`](Self::array), and if an option names a worker that does not exist.
    fn array_with<T: Chare<Index: Index>>(
        &self,
        options: ArrayOptions<T::Index>,
        make: impl Fn(T::Index) -> T + Send + Sync + 'static,
    ) -> Array<T> {
        self.with_system(|system| Plan::new(system, options, None).make(system, make))
    }

    /// Creates an array from a [checkpoint](Array::checkpoint) in `folder`. The numbers of workers
    /// and nodes may differ from those that wrote it.
    ///
    /// The elements are distributed to the workers in blocks of equal size.
    ///
    /// # Errors
    /// [`CheckpointError`].
    fn restore<T: Chare<Index: Index>>(
        &self,
        folder: impl AsRef<Path>,
    ) -> Result<Array<T>, CheckpointError> {
        self.with_system(|system| restore(system, folder.as_ref(), None, |options| options))
    }

    /// Creates an empty array without a shape: elements are inserted by any key.
    fn sparse_array<T: Chare>(&self) -> Array<T> {
        self.sparse_array_with(SparseOptions::new())
    }

    /// Creates an empty array without a shape, with options.
    fn sparse_array_with<T: Chare>(&self, options: SparseOptions) -> Array<T> {
        self.with_system(|system| make_sparse(system, options))
    }

    /// Creates a group: an element for each worker, which stays there.
    fn group<T: Chare<Index = usize>>(
        &self,
        make: impl Fn(usize) -> T + Send + Sync + 'static,
    ) -> Group<T> {
        self.with_system(|system| make_group(system, make))
    }

    /// Creates a node group: one element for each node. Any worker of the node with time runs its
    /// entries, one at a time.
    fn node_group<T: Chare>(
        &self,
        make: impl FnOnce(&mut Cx<T>) -> T + Send + 'static,
    ) -> NodeGroup<T> {
        self.with_system(|system| make_node_group(system, make))
    }

    /// Creates a section of chares that are in no array, in this order: chares made with
    /// [`chare`](Self::chare) or [`chare_on`](Self::chare_on), including seeds that still wait for
    /// a worker. [`Array::section`] creates sections of array elements.
    ///
    /// The members can be the team of one step of an algorithm: created when needed, constructed on
    /// workers with time, and ended when the step is over.
    ///
    /// # Panics
    /// If a proxy leads to an element of an array or a group, to a chare of another runtime, or to
    /// an ended chare, or if two proxies lead to the same chare.
    /// # Examples
    /// ```
    /// use raddle_chare::reduce::Sum;
    /// use raddle_chare::{Chares, Cx, Section, chare};
    /// use raddle_runtime::Runtime;
    ///
    /// /// Works on a part of some numbers.
    /// struct Worker {
    ///     part: Vec<u64>,
    /// }
    ///
    /// #[chare]
    /// impl Worker {
    ///     #[entry]
    ///     fn add_up(&mut self, cx: &mut Cx<Self>, team: Section<Self>) {
    ///         cx.contribute_to(team, Sum(self.part.iter().sum::<u64>()));
    ///     }
    /// }
    ///
    /// /// Distributes work to others.
    /// struct Leader;
    ///
    /// #[chare]
    /// impl Leader {
    ///     #[entry]
    ///     async fn sum(&mut self, cx: &mut Cx<Self>, numbers: Vec<u64>) -> u64 {
    ///         let parts: Vec<_> = numbers.chunks(30).map(<[u64]>::to_vec).collect();
    ///         let workers = parts.into_iter().map(|part| cx.chare(|_| Worker { part }));
    ///         let team = cx.runtime().section(workers);
    ///         team.all().add_up(team);
    ///         team.reduction().await
    ///     }
    /// }
    ///
    /// let runtime = Runtime::builder().workers(2).build()?;
    /// let sum = runtime.chare(|_| Leader).sum((1..=100).collect());
    /// assert_eq!(sum.wait(), 5050);
    /// # Ok::<(), raddle_runtime::BuildError>(())
    /// ```
    #[track_caller]
    fn section<T: Chare>(&self, members: impl IntoIterator<Item: Into<One<T>>>) -> Section<T> {
        self.section_with(SectionForm::Auto, members)
    }

    /// Creates a section of chares that are in no array, with messages and reductions in the given
    /// `form`.
    ///
    /// # Panics
    /// As for [`section`](Self::section).
    #[track_caller]
    fn section_with<T: Chare>(
        &self,
        form: SectionForm,
        members: impl IntoIterator<Item: Into<One<T>>>,
    ) -> Section<T> {
        let system = self.with_system(Arc::clone);
        of_singles(&system, form, members)
    }

    /// Waits until an entry ends the program with [`Cx::exit`]; returns at once if an entry has
    /// done so.
    ///
    /// # Panics
    /// On a worker, and with the [`Failure`](crate::Failure) of a chare, if one has failed, even if
    /// an entry has also called `exit`.
    #[track_caller]
    fn until_exit(&self) {
        let system = self.with_system(Arc::clone);
        assert!(
            !local::is_own_thread(system.id()),
            "a worker waits for the end of the program, which may need that worker"
        );
        if let Err(failure) = system.wait_for_exit() {
            panic!("{failure}");
        }
    }

    /// Lists everything that waits, and for what: asynchronous entries, messages for elements that
    /// are not inserted yet, and reductions and scans that lack contributions.
    ///
    /// This is for programs that make no progress. While messages are under way, each line
    /// describes the state of a worker when it was asked. For an array, the list contains the first
    /// reduction and the first scan that lack contributions, with the first elements that have not
    /// contributed:
    ///
    /// ```text
    /// Cell[3] waits in `meet`, and 2 messages for it
    /// reduction 0 of Cell has 3 of 4 contributions; Array<Cell>#0 lacks those of Cell[2]
    /// ```
    /// On several nodes the list covers only the calling node. The variable `RADDLE_WATCH` makes a
    /// program print the list by itself.
    ///
    /// The list is empty in a process that fork(2) made after the runtime was started.
    ///
    /// # Panics
    /// On a worker, because all workers have to answer.
    #[track_caller]
    fn explain_waits(&self) -> Vec<String> {
        explain_waits(&self.with_system(Arc::clone))
    }

    /// Returns a reply that arrives when no message is under way and no entry runs.
    ///
    /// Asynchronous entries that wait for messages that were never sent count as quiet. If anything
    /// has failed before, the reply is that [`Failure`](crate::Failure) instead.
    fn quiescence(&self) -> Reply<()> {
        self.with_system(quiescence)
    }
}

impl Chares for Runtime {}

impl<T: Chare> Chares for Running<'_, T> {}

/// A type that belongs to a runtime, on which chares can be created.
pub trait HasSystem {
    #[doc(hidden)]
    fn with_system<R>(&self, call: impl FnOnce(&Arc<System>) -> R) -> R;
}

impl HasSystem for Runtime {
    fn with_system<R>(&self, call: impl FnOnce(&Arc<System>) -> R) -> R {
        call(&system_of(self))
    }
}

/// The runtime that runs an entry.
#[derive(Debug)]
pub(crate) struct Running<'cx, T: Chare>(pub(crate) &'cx Cx<T>);

impl<T: Chare> HasSystem for Running<'_, T> {
    fn with_system<R>(&self, call: impl FnOnce(&Arc<System>) -> R) -> R {
        self.0.with_system(call)
    }
}

/// Returns a reply that arrives when no message is under way and no entry runs.
pub(crate) fn quiescence(system: &Arc<System>) -> Reply<()> {
    let what = What {
        chare: "Runtime",
        entry: "quiescence",
    };
    let (replier, reply) = reply(system.id(), None, what);
    if remote::away(system).is_some() {
        notify_when_all_are_quiet(system, replier);
    } else {
        let notify = Box::new(|outcome| replier.give(outcome));
        system.quiet().notify_when_quiet(system, notify);
    }
    reply
}

impl<T: Chare> Cx<T> {
    /// Returns the runtime that runs the entry, for creating arrays and groups.
    pub fn runtime(&self) -> impl Chares + use<'_, T> {
        Running(self)
    }

    /// Returns a reply that arrives when no message is under way and no entry runs, except
    /// asynchronous entries that wait; as [`Chares::quiescence`].
    pub fn quiescence(&self) -> Reply<()> {
        self.with_system(quiescence)
    }
}
