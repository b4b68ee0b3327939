//! Misuse that does not compile. Each case is next to a corrected version that does compile, so
//! that it fails for the stated reason only.

/// A message goes to another thread, so arguments must be `Send`.
///
/// ```compile_fail,E0277
/// use std::rc::Rc;
/// struct Cell;
/// #[raddle_chare::chare]
/// impl Cell {
///     #[entry]
///     fn receive(&mut self, _word: Rc<str>) {}
/// }
/// ```
/// ```
/// use std::sync::Arc;
/// struct Cell;
/// #[raddle_chare::chare]
/// impl Cell {
///     #[entry]
///     fn receive(&mut self, _word: Arc<str>) {}
/// }
/// ```
/// The same applies to a kind of message,
/// ```compile_fail,E0277
/// use std::rc::Rc;
/// struct Cell;
/// #[raddle_chare::chare]
/// impl Cell {
///     #[message]
///     fn word(text: Rc<str>);
/// }
/// ```
/// ```
/// use std::sync::Arc;
/// struct Cell;
/// #[raddle_chare::chare]
/// impl Cell {
///     #[message]
///     fn word(text: Arc<str>);
/// }
/// ```
/// to a reply,
/// ```compile_fail,E0277
/// use std::rc::Rc;
/// struct Cell;
/// #[raddle_chare::chare]
/// impl Cell {
///     #[entry]
///     fn say(&self) -> Rc<str> {
///         "word".into()
///     }
/// }
/// ```
/// ```
/// use std::sync::Arc;
/// struct Cell;
/// #[raddle_chare::chare]
/// impl Cell {
///     #[entry]
///     fn say(&self) -> Arc<str> {
///         "word".into()
///     }
/// }
/// ```
/// and to the chare itself, which may move.
/// ```compile_fail,E0277
/// use std::rc::Rc;
/// struct Cell(Rc<u32>);
/// #[raddle_chare::chare]
/// impl Cell {
///     #[entry]
///     fn value(&self) -> u32 {
///         *self.0
///     }
/// }
/// ```
/// ```
/// use std::sync::Arc;
/// struct Cell(Arc<u32>);
/// #[raddle_chare::chare]
/// impl Cell {
///     #[entry]
///     fn value(&self) -> u32 {
///         *self.0
///     }
/// }
/// ```
struct NotSend;

/// Local variables of an asynchronous entry that are alive while it waits may move with the chare.
///
/// ```compile_fail
/// use std::rc::Rc;
/// use raddle_chare::Cx;
/// struct Cell;
/// #[raddle_chare::chare]
/// impl Cell {
///     #[message]
///     fn word();
///     #[entry]
///     async fn wait(&mut self, cx: &mut Cx<Self>) {
///         let kept = Rc::new(1);
///         cx.next(Self::word).await;
///         drop(kept);
///     }
/// }
/// ```
/// ```
/// use std::rc::Rc;
/// use raddle_chare::Cx;
/// struct Cell;
/// #[raddle_chare::chare]
/// impl Cell {
///     #[message]
///     fn word();
///     #[entry]
///     async fn wait(&mut self, cx: &mut Cx<Self>) {
///         drop(Rc::new(1));
///         cx.next(Self::word).await;
///     }
/// }
/// ```
struct KeptNotSend;

/// A message to many is cloned; a message to one need not be `Clone`.
///
/// ```compile_fail,E0277
/// use raddle_chare::{Array, chare};
/// struct Note;
/// struct Cell;
/// #[chare]
/// impl Cell {
///     #[entry]
///     fn receive(&mut self, _note: Note) {}
/// }
/// fn send(cells: Array<Cell>) {
///     cells.all().receive(Note);
/// }
/// ```
/// ```
/// use raddle_chare::{Array, chare};
/// struct Note;
/// struct Cell;
/// #[chare]
/// impl Cell {
///     #[entry]
///     fn receive(&mut self, _note: Note) {}
/// }
/// fn send(cells: Array<Cell>) {
///     cells.at(0).receive(Note);
/// }
/// ```
struct NotClone;

/// The arguments of a message must not borrow: the message may live longer than its sender.
///
/// ```compile_fail
/// struct Cell;
/// #[raddle_chare::chare]
/// impl Cell {
///     #[entry]
///     fn receive(&mut self, _word: &str) {}
/// }
/// ```
/// ```
/// struct Cell;
/// #[raddle_chare::chare]
/// impl Cell {
///     #[entry]
///     fn receive(&mut self, _word: &'static str) {}
/// }
/// ```
struct Borrowed;

/// An entry must be a method without type parameters.
///
/// ```compile_fail
/// struct Cell;
/// #[raddle_chare::chare]
/// impl Cell {
///     #[entry]
///     fn receive(_word: u32) {}
/// }
/// ```
/// ```compile_fail
/// struct Cell;
/// #[raddle_chare::chare]
/// impl Cell {
///     #[entry]
///     fn receive<T: Send>(&mut self, _word: T) {}
/// }
/// ```
/// ```
/// struct Cell;
/// #[raddle_chare::chare]
/// impl Cell {
///     #[entry]
///     fn receive(&mut self, _word: u32) {}
/// }
/// ```
struct NoMethod;

/// A kind of message has no body.
///
/// ```compile_fail
/// struct Cell;
/// #[raddle_chare::chare]
/// impl Cell {
///     #[message]
///     fn word(_text: String) {}
/// }
/// ```
/// ```
/// struct Cell;
/// #[raddle_chare::chare]
/// impl Cell {
///     #[message]
///     fn word(text: String);
/// }
/// ```
struct Body;

/// The attribute is allowed only on inherent `impl` blocks.
///
/// ```compile_fail
/// trait Receive {
///     fn receive(&mut self);
/// }
/// struct Cell;
/// #[raddle_chare::chare]
/// impl Receive for Cell {
///     #[entry]
///     fn receive(&mut self) {}
/// }
/// ```
/// ```
/// struct Cell;
/// #[raddle_chare::chare]
/// impl Cell {
///     #[entry]
///     fn receive(&mut self) {}
/// }
/// ```
struct OfTrait;

/// Proxies have methods for the entries, and for nothing else of the type.
///
/// ```compile_fail,E0599
/// use raddle_chare::{Array, chare};
/// struct Cell;
/// #[chare]
/// impl Cell {
///     fn think(&mut self) {}
/// }
/// fn send(cells: Array<Cell>) {
///     cells.at(0).think();
/// }
/// ```
/// ```
/// use raddle_chare::{Array, chare};
/// struct Cell;
/// #[chare]
/// impl Cell {
///     #[entry]
///     fn think(&mut self) {}
/// }
/// fn send(cells: Array<Cell>) {
///     cells.at(0).think();
/// }
/// ```
/// The visibility of an entry limits its callers.
/// ```compile_fail,E0624
/// mod cells {
///     pub struct Cell;
///     #[raddle_chare::chare]
///     impl Cell {
///         #[entry]
///         fn think(&mut self) {}
///     }
/// }
/// fn send(cells: raddle_chare::Array<cells::Cell>) {
///     cells.at(0).think();
/// }
/// ```
/// ```
/// mod cells {
///     pub struct Cell;
///     #[raddle_chare::chare]
///     impl Cell {
///         #[entry]
///         pub fn think(&mut self) {}
///     }
/// }
/// fn send(cells: raddle_chare::Array<cells::Cell>) {
///     cells.at(0).think();
/// }
/// ```
struct NoEntry;

/// Arrays over nodes need chares with messages that cross nodes.
///
/// ```compile_fail,E0277
/// struct Cell;
/// #[raddle_chare::chare]
/// impl Cell {}
/// fn setup(setup: &raddle_chare::nodes::Setup<'_>) {
///     setup.array(4, |_| Cell);
/// }
/// ```
/// ```
/// struct Cell;
/// #[raddle_chare::chare(nodes)]
/// impl Cell {}
/// fn setup(setup: &raddle_chare::nodes::Setup<'_>) {
///     setup.array(4, |_| Cell);
/// }
/// ```
/// Arguments that cross nodes must be serialisable.
/// ```compile_fail,E0277
/// struct Point(f64);
/// struct Cell;
/// #[raddle_chare::chare(nodes)]
/// impl Cell {
///     #[entry]
///     fn receive(&mut self, _point: Point) {}
/// }
/// ```
/// ```
/// #[derive(serde::Serialize, serde::Deserialize)]
/// struct Point(f64);
/// struct Cell;
/// #[raddle_chare::chare(nodes)]
/// impl Cell {
///     #[entry]
///     fn receive(&mut self, _point: Point) {}
/// }
/// ```
struct NoNodes;

/// Chares wait for their own kinds of messages only.
///
/// ```compile_fail,E0271
/// use raddle_chare::{Cx, chare};
/// struct Cell;
/// struct Other;
/// #[chare]
/// impl Other {
///     #[message]
///     fn word();
/// }
/// #[chare]
/// impl Cell {
///     #[entry]
///     async fn wait(&mut self, cx: &mut Cx<Self>) {
///         cx.next(Other::word).await;
///     }
/// }
/// ```
/// ```
/// use raddle_chare::{Cx, chare};
/// struct Cell;
/// #[chare]
/// impl Cell {
///     #[message]
///     fn word();
///     #[entry]
///     async fn wait(&mut self, cx: &mut Cx<Self>) {
///         cx.next(Self::word).await;
///     }
/// }
/// ```
struct MessageOfOthers;
