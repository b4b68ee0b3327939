//! The traits that `#[chare]` implements. Each entry is a type, so that messages carry only
//! arguments.

use std::fmt;
use std::hash::Hash;

use crate::address::index::Key;
use crate::codec::{Across, Crossing};
use crate::engine::object::cx::Cx;
use crate::engine::object::inbox::{Inbox, Queue};
use crate::engine::object::proxy::{All, One};

/// A type of message-driven objects. The attribute [`chare`](macro@crate::chare) implements this
/// trait.
pub trait Chare: Sized + Send + 'static {
    /// The name of the type in error messages.
    const NAME: &'static str;

    /// The type of the indices of its arrays.
    type Index: Key;

    /// The messages that asynchronous entries wait for.
    type Inbox: Inbox;

    /// Serialises values for disk and for other nodes; `None` without `#[chare(state)]`.
    const STATE: Option<Crossing<Self>> = None;

    /// The proxy of one of them, with a method for each entry.
    type One: From<One<Self>> + Copy + Eq + Hash + fmt::Debug + Send + Sync + 'static;

    /// The proxy of many chares, with a method for each entry with arguments that can be cloned.
    type All: From<All<Self>> + Copy + Eq + Hash + fmt::Debug + Send + Sync + 'static;
}

/// A method of a chare that a message calls: an [`Entry`], an [`AsyncEntry`] or a [`Message`].
pub trait Method: 'static {
    /// The type that the method belongs to.
    type Chare: Chare;
    /// The arguments, which are the content of the message.
    type Args: Send + 'static;
    /// The value that the method replies.
    type Output: Send + 'static;

    /// The method's name, for error messages.
    const NAME: &'static str;

    /// How its messages cross nodes; `None` if they do not.
    const ACROSS: Option<Across<Self::Args, Self::Output>> = None;
}

/// A method that runs to completion.
pub trait Entry: Method {
    /// Calls the method.
    fn call(me: &mut Self::Chare, cx: &mut Cx<Self::Chare>, args: Self::Args) -> Self::Output;
}

/// A method that may wait for messages.
pub trait AsyncEntry: Method {
    /// Calls the method.
    fn call<'a>(
        me: &'a mut Self::Chare,
        cx: &'a mut Cx<Self::Chare>,
        args: Self::Args,
    ) -> impl Future<Output = Self::Output> + Send + 'a;
}

/// A kind of message that asynchronous entries wait for.
pub trait Message: Method<Output = ()> {
    /// Returns the queue in which messages of this kind wait.
    fn queue(inbox: &mut <Self::Chare as Chare>::Inbox) -> &mut Queue<Self::Args>;
}
