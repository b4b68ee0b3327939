//! Misuse that does not compile. Each case stands beside the same with the mistake mended, which does: so it fails for that reason and no other.

/// What is sent goes to another thread.
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
/// So does a kind of message,
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
/// a reply,
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
/// and the chare itself, which may move.
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

/// What an asynchronous entry keeps while it waits goes where its chare goes.
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

/// What is sent to many is cloned; what is sent to one need not be.
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

/// A message outlives what it is sent from.
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

/// An entry is a method, and one with types that are known.
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

/// The attribute belongs on a type's own block.
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

/// Proxies have the entries, and nothing else of the type.
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
/// Who may call an entry is said by its visibility.
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

/// In arrays over nodes are chares whose messages cross them.
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
/// What crosses nodes can be written.
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
