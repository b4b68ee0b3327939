//! The path of a message to its element.
//!
//! Every send resolves the element's route here, except the common case of a worker that sends to
//! an element which is placed: [`Place::worker_of`](crate::address::directory::Place::worker_of)
//! is that case alone, with one load and one comparison.

use crate::address::detours::Detours;
use crate::address::directory::{Directory, Location, Route, Site};
use crate::address::number::{ElementId, Number};

/// The path of a message to its element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// Directly to the worker of the element.
    Straight(usize),
    /// To the home of the element, which is a seed: the message waits there, or is forwarded.
    ViaHome(usize),
    /// To another node.
    Away(u16),
    /// Nowhere, because the element has ended.
    Gone,
}

impl Way {
    /// Returns the path of a message to element `number` for senders in `epoch`.
    pub(crate) fn of(route: Route, number: Number, epoch: u32) -> Self {
        if route.generation() != number.generation() {
            return Self::Gone;
        }
        match route.location() {
            Location::Vacant => Self::Gone,
            Location::Seed { .. } => Self::ViaHome(number.home()),
            Location::Placed => Self::Straight(route.worker(epoch)),
            Location::Away => match route.site(epoch) {
                Some(Site::Node(node)) => Self::Away(node),
                _ => Self::Straight(route.worker(epoch)),
            },
        }
    }

    /// Returns the path of a message from a sender in `epoch` with these `detours`. A message that
    /// goes via the home is counted in them.
    pub(crate) fn from_sender(
        directory: &Directory,
        id: ElementId,
        epoch: u32,
        detours: &mut Detours,
    ) -> Self {
        let number = id.1;
        let route = directory.place(number).route();
        let mut way = Self::of(route, number, epoch);
        // The message must not overtake the sender's messages that are under way via the home.
        if matches!(way, Self::Straight(_)) && detours.has(id) {
            way = Self::ViaHome(number.home());
        }
        if matches!(way, Self::ViaHome(_)) {
            detours.begin_own(id);
        }
        way
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_route_leads_to_one_place() {
        let number = Number::new(3, 5, 7);
        let way = |route| Way::of(route, number, 1);
        assert_eq!(way(Route::placed(5, 2)), Way::Straight(2));
        assert_eq!(way(Route::seed(5, false)), Way::ViaHome(3));
        assert_eq!(way(Route::seed(5, true)), Way::ViaHome(3));
        assert_eq!(way(Route::away(5, 9)), Way::Away(9));
        assert_eq!(way(Route::vacant(5)), Way::Gone);
        // Another element has the place.
        assert_eq!(way(Route::placed(6, 2)), Way::Gone);
        assert_eq!(way(Route::away(4, 9)), Way::Gone);
    }

    #[test]
    fn an_element_that_moves_is_found_by_epoch() {
        let number = Number::new(0, 1, 0);
        let route = Route::moving(1, 4, Site::Worker(2), Site::Node(8));
        assert_eq!(Way::of(route, number, 3), Way::Straight(2));
        assert_eq!(Way::of(route, number, 4), Way::Away(8));
    }

    #[test]
    fn a_message_does_not_overtake_those_via_the_home() {
        let directory = Directory::new(2);
        let number = directory.allocate(1);
        let (key, mut detours) = ((0, number), Detours::default());
        let place = directory.place(number);
        place.set_route(Route::seed(number.generation(), false));
        let mut send = || Way::from_sender(&directory, key, 0, &mut detours);
        assert_eq!(send(), Way::ViaHome(1));
        place.set_route(Route::placed(number.generation(), 0));
        assert_eq!(send(), Way::ViaHome(1));
        detours.end_own(key);
        detours.end_own(key);
        assert_eq!(
            Way::from_sender(&directory, key, 0, &mut detours),
            Way::Straight(0)
        );
    }
}
