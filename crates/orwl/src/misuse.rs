//! Misuse that does not compile.
//!
//! Each case is followed by a version without the mistake, which compiles. This shows that the case
//! fails for the intended reason.

/// Data does not leave its section.
///
/// ```compile_fail,E0521
/// let mut program = raddle_orwl::Program::new("leak");
/// let words = program.location("words", String::new());
/// program.task("task", |task| {
///     let mut words = task.reads_each_turn(&words);
///     move || {
///         let mut kept: Option<&str> = None;
///         words.section(|words| kept = Some(words));
///         drop(kept);
///     }
/// });
/// ```
/// ```
/// let mut program = raddle_orwl::Program::new("leak");
/// let words = program.location("words", String::new());
/// program.task("task", |task| {
///     let mut words = task.reads_each_turn(&words);
///     move || {
///         let mut kept: Option<String> = None;
///         words.section(|words| kept = Some(words.clone()));
///         drop(kept);
///     }
/// });
/// ```
/// Nor does it outlive a section that was awaited,
/// ```compile_fail,E0505
/// let mut program = raddle_orwl::Program::new("late");
/// let words = program.location("words", String::new());
/// program.async_task("task", |task| {
///     let mut words = task.reads_each_turn(&words);
///     async move {
///         let section = words.enter().await;
///         let first: &str = &section;
///         drop(section);
///         let _len = first.len();
///     }
/// });
/// ```
/// ```
/// let mut program = raddle_orwl::Program::new("late");
/// let words = program.location("words", String::new());
/// program.async_task("task", |task| {
///     let mut words = task.reads_each_turn(&words);
///     async move {
///         let section = words.enter().await;
///         let first: &str = &section;
///         let _len = first.len();
///         drop(section);
///     }
/// });
/// ```
/// and a reader does not write:
/// ```compile_fail,E0594
/// let mut program = raddle_orwl::Program::new("reader");
/// let number = program.location("number", 0);
/// program.task("task", |task| {
///     let mut number = task.reads_each_turn(&number);
///     move || number.section(|number| *number = 1)
/// });
/// ```
/// ```
/// let mut program = raddle_orwl::Program::new("writer");
/// let number = program.location("number", 0);
/// program.task("task", |task| {
///     let mut number = task.writes_each_turn(&number);
///     move || number.section(|number| *number = 1)
/// });
/// ```
#[expect(dead_code, reason = "it carries examples")]
struct DataStaysInSections;

/// A handle is in one section at a time.
///
/// ```compile_fail,E0499
/// let mut program = raddle_orwl::Program::new("twice");
/// let number = program.location("number", 0);
/// program.task("task", |task| {
///     let mut number = task.writes_each_turn(&number);
///     move || {
///         let one = number.enter().wait();
///         let two = number.enter().wait();
///         drop((one, two));
///     }
/// });
/// ```
/// ```
/// let mut program = raddle_orwl::Program::new("once");
/// let number = program.location("number", 0);
/// program.task("task", |task| {
///     let mut number = task.writes_each_turn(&number);
///     move || drop(number.enter().wait())
/// });
/// ```
/// And shared data can be sent between threads:
/// ```compile_fail,E0277
/// let mut program = raddle_orwl::Program::new("local");
/// let _number = program.location_of("number", std::cell::Cell::new(0), |_| 4);
/// ```
/// ```
/// let mut program = raddle_orwl::Program::new("shared");
/// let _number = program.location_of("number", std::sync::Mutex::new(0), |_| 4);
/// ```
#[expect(dead_code, reason = "it carries examples")]
struct HandlesAreBorrowed;
