//! The plan of an array: a route for each element, computed before the array is created.

use std::sync::Arc;

use super::{Array, ArrayOptions};
use crate::address::directory::{Directory, Location, Route, Site};
use crate::address::index::{Index, Shaped};
use crate::address::number::Number;
use crate::balance;
use crate::engine::elements::collection::Collection;
use crate::engine::elements::part::Part;
use crate::engine::elements::part::construction::Construction;
use crate::engine::handler::Handlers;
use crate::engine::local::Local;
use crate::engine::local::any_thread;
use crate::engine::object::chare::Chare;
use crate::engine::system::System;
use crate::remote::{self, Away};
use crate::seeds;

/// The plan of a new array, with a route for each of its elements.
pub(crate) struct Plan<T: Chare<Index: Index>> {
    options: ArrayOptions<T::Index>,
    /// The handlers of messages from other nodes, for an array over nodes.
    handlers: Option<Handlers<T>>,
    sites: Sites,
    routes: Vec<Route>,
}

impl<T: Chare<Index: Index>> Plan<T> {
    /// Plans an array with an element at each index. With `handlers`, the array is over nodes, and
    /// all nodes make it.
    ///
    /// # Panics
    /// If the shape has 2³¹ elements or more, or an option names a worker that does not exist.
    pub(crate) fn new(
        system: &System,
        options: ArrayOptions<T::Index>,
        handlers: Option<Handlers<T>>,
    ) -> Self {
        let shape = options.shape;
        let count = T::Index::count(shape).filter(|&count| count < Directory::CAPACITY);
        let count = count.unwrap_or_else(|| {
            panic!("an array of shape {shape:?} has too many elements; expected fewer than 2^31")
        });
        let sites = Sites::of(system, handlers.is_some());
        let worker_count = sites.worker_count;
        let worker_of = |index: u32| match &options.worker_of {
            Some(worker_of) => {
                let at = T::Index::at(u64::from(index), shape);
                let worker = worker_of(at);
                assert!(
                    worker < worker_count,
                    "{}[{at:?}] is placed on worker {worker}; there are {worker_count}",
                    T::NAME
                );
                worker
            }
            None => (u64::from(index) * worker_count as u64 / count) as usize,
        };
        // The program's code is called before a lock is taken.
        let routes = (0..count as u32).map(|index| sites.route(worker_of(index)));
        Self {
            routes: routes.collect(),
            options,
            handlers,
            sites,
        }
    }

    /// Returns the number of elements.
    pub(crate) fn len(&self) -> usize {
        self.routes.len()
    }

    /// Returns true if the element at a position is to be on this node.
    pub(crate) fn is_here(&self, position: usize) -> bool {
        self.routes[position].location() == Location::Placed
    }

    /// Removes the elements that are not present from the plan.
    pub(crate) fn vacate(&mut self, is_present: &[bool]) {
        for (route, is_present) in self.routes.iter_mut().zip(is_present) {
            if !is_present {
                *route = Route::vacant(0);
            }
        }
    }

    /// Creates the array. Each worker then constructs its own elements.
    pub(crate) fn make(
        self,
        system: &Arc<System>,
        make: impl Fn(T::Index) -> T + Send + Sync + 'static,
    ) -> Array<T> {
        let Self {
            options,
            handlers,
            sites,
            routes,
        } = self;
        let (shape, count) = (options.shape, routes.len() as u32);
        let is_taken = |route: &&Route| route.location() != Location::Vacant;
        // The root of the array is on the node of its first element.
        let root_node = routes.iter().find(is_taken);
        let root_node = root_node.map_or(0, |&route| sites.node(route));
        let worker_count = system.worker_count();
        // Each worker runs this closure, and constructs the elements that the routes place on it.
        let construction = Construction::new(worker_count, move |local: &Local, part: &Part<T>| {
            let numbers = (0..count).map(|index| Number::new(0, 0, index));
            for number in numbers {
                let place = part.collection().directory().place(number);
                if place.worker_of(number, 0) == Some(local.worker()) {
                    let index = T::Index::at(u64::from(number.index()), shape);
                    seeds::make_element(local, part, number, Some(index), |_| make(index));
                }
            }
        });
        let collection = Collection::<T>::add(system, |id| {
            let grid = Box::new(Shaped::<T::Index>(shape));
            let root = id as usize % worker_count;
            let dense = Collection::dense(system.id(), id, grid, root, &routes);
            let number = remote::away(system).filter(|_| handlers.is_some());
            let number = number.map(Away::next_collection);
            let mut made = dense
                .known_as(number, root_node)
                .that_stays(options.stays)
                .with_state(construction);
            if let Some(handlers) = handlers {
                made = made.with_state(handlers);
            }
            balance::balanced_by(made, options.balancing.clone())
        });
        if handlers.is_some()
            && let Some(away) = remote::away(system)
        {
            away.add(Arc::clone(&collection) as _);
        }
        let id = collection.id();
        // Have each worker construct its elements, unless code there has needed them before.
        for worker in 0..worker_count {
            any_thread::post(system, worker, move |local| {
                Part::<T>::of(local, id).construct(local);
            });
        }
        Array::new(system.id(), id)
    }
}

/// The sites for elements of an array: the workers of this node, or of all nodes in order.
struct Sites {
    me: u16,
    /// The number of workers of each node.
    own: usize,
    worker_count: usize,
}

impl Sites {
    fn of(system: &System, is_wide: bool) -> Self {
        let own = system.worker_count();
        let away = remote::away(system).filter(|_| is_wide);
        let (me, nodes) = away.map_or((0, 1), |away| (away.me, away.node_count));
        Self {
            me,
            own,
            worker_count: own * usize::from(nodes),
        }
    }

    /// Returns the route to a worker.
    fn route(&self, worker: usize) -> Route {
        // The cast loses nothing: there are fewer than 2^16 nodes.
        let node = (worker / self.own) as u16;
        if node == self.me {
            Route::placed(0, worker % self.own)
        } else {
            Route::away(0, node)
        }
    }

    /// Returns the node to which a route leads.
    fn node(&self, route: Route) -> u16 {
        match route.site(0) {
            Some(Site::Node(node)) => node,
            _ => self.me,
        }
    }
}
