//! The driver that `raddle lk23` and `raddle matmul` share: it runs a program of ordered locations
//! several times, checks the first result, and reports.
//!
//! A command implements [`Kernel`]: how its program is declared, run and checked, and the rows of
//! its report that no other program has. [`run`] does the rest.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use raddle::Runtime;
use raddle::orwl::{Outcome, Program, ProgramPlacement, RunError};
use raddle_numerics::lk23::Form;
use raddle_topology::Matrix;

use crate::arguments::{Options, ProgramArguments};
use crate::error::CliError;
use crate::progress::Phase;
use crate::report::{RanOn, Report};
use crate::system_counts::SystemCounts;
use crate::times::Times;
use crate::{memory, output, units};

/// The largest number of operations for which a dense matrix is written as a table or a picture.
const DENSE_ORDER_MAX: usize = 4_096;

/// A computation that runs as a program of ordered locations.
pub(super) trait Kernel {
    /// The program before it runs.
    type Declared;
    /// The program after it has run, with its result.
    type Ran;
    /// The name of the progress bar.
    const PHASE: &'static str;

    /// Returns the options that describe the computation, for errors.
    fn name(&self) -> String;

    /// Declares the program. Its operations report their progress to `phase`.
    ///
    /// Also returns a placement if the kernel places its operations itself. Otherwise they are
    /// placed by the data that they exchange.
    fn declare(
        &self,
        runtime: &Runtime,
        form: Form,
        phase: Arc<Phase>,
    ) -> (Self::Declared, Option<ProgramPlacement>);

    /// Returns the operations and locations of a declared program.
    fn program(declared: &Self::Declared) -> &Program;

    /// Runs a program.
    ///
    /// # Errors
    /// [`RunError`] if an operation fails.
    fn run_on(declared: Self::Declared, runtime: &Runtime) -> Result<Self::Ran, RunError>;

    /// Returns the time and the counts of a program that has run.
    fn outcome(ran: &Self::Ran) -> &Outcome;

    /// Takes from the result what the report needs, and compares the result with that of plain
    /// loops if `is_checked`.
    ///
    /// # Errors
    /// [`CliError::ResultWrong`] if they differ, [`CliError::Program`] if there is no result.
    fn inspect(
        &mut self,
        runtime: &Runtime,
        ran: &Self::Ran,
        is_checked: bool,
    ) -> Result<(), CliError>;

    /// Adds the rows and fields of this kernel to a report.
    fn describe(&self, measured: &Measured, report: &mut Report);
}

/// The measurements of a program.
#[derive(Debug)]
pub(super) struct Measured {
    /// The time of each run.
    pub(super) times: Times,
    /// The operations, and the workers or threads that run them, in words.
    pub(super) operations_in_words: String,
    /// True if the first result was compared with that of plain loops.
    pub(super) is_checked: bool,
}

impl Measured {
    /// Returns the median time of a run in seconds. The result is at least a nanosecond, because a
    /// short run may take less time than the clock resolves.
    pub(super) fn seconds(&self) -> f64 {
        self.times.median.max(Duration::from_nanos(1)).as_secs_f64()
    }
}

/// Counters of the system and the processor while a program runs, if `--stats` asks for them.
#[derive(Debug)]
pub(super) struct Watch(Option<SystemCounts>);

impl Watch {
    /// Creates the counters. Call it before the workers start (see [`SystemCounts`]).
    pub(super) fn new(options: &Options) -> Self {
        Self(options.stats.then(SystemCounts::new))
    }
}

/// Runs a kernel as often as the arguments ask for, and reports.
///
/// # Errors
/// [`CliError`]: a program that fails, a wrong result, or a matrix that cannot be written.
pub(super) fn run<K: Kernel>(
    mut kernel: K,
    runtime: Runtime,
    mut watch: Watch,
    arguments: &ProgramArguments,
    options: &Options,
) -> Result<Report, CliError> {
    let form = match arguments.threads {
        true => Form::Thread,
        false => Form::Future,
    };
    let (mut placement, mut operations, mut sections) = (None, 0, 0);
    let mut times = Vec::new();
    for repeat in 0..arguments.repeat {
        let is_first = repeat == 0;
        let phase = Arc::new(Phase::begin(K::PHASE, options.quiet));
        let (declared, own_placement) = kernel.declare(&runtime, form, Arc::clone(&phase));
        if is_first {
            let program = K::program(&declared);
            let place = || own_placement.unwrap_or_else(|| program.compute_placement(&runtime));
            let matrix = program.dependencies();
            operations = matrix.order();
            placement = show(&matrix, place, &runtime, arguments, options)?;
        }
        if let Some(counts) = &mut watch.0 {
            counts.begin();
        }
        let ran = K::run_on(declared, &runtime).map_err(|source| failed(&kernel, source))?;
        if let Some(counts) = &mut watch.0 {
            counts.pause();
        }
        drop(phase);
        let outcome = K::outcome(&ran);
        times.push(outcome.elapsed);
        sections = outcome.sections;
        let is_checked = is_first && arguments.check;
        let _phase = is_checked.then(|| Phase::begin("checking", options.quiet));
        kernel.inspect(&runtime, &ran, is_checked)?;
    }
    let measured = Measured {
        times: Times::of(times),
        operations_in_words: operations_on(&runtime, form, operations),
        is_checked: arguments.check,
    };
    let mut report = Report::new();
    kernel.describe(&measured, &mut report);
    report
        .field("checked", measured.is_checked)
        .field("form", form_name(form))
        .field("operations", operations)
        .field("sections", sections)
        .field("memory_peak_bytes", memory::peak_bytes());
    if let Some(placement) = &placement {
        report.field("placement", placement);
    }
    if let Some(counts) = watch.0.map(SystemCounts::end) {
        let facts = counts.facts();
        report.field("system", facts.object());
        report.requested(&format!("\n{}", facts.text()));
    }
    Ok(report.on(RanOn::Workers(runtime)))
}

/// Converts the error of a program that failed.
pub(super) fn failed(kernel: &impl Kernel, source: RunError) -> CliError {
    CliError::Program {
        what: kernel.name(),
        source,
    }
}

/// Prints and writes what the options ask for before a program runs: its placement, and the matrix
/// of the data that its operations exchange. Returns the placement if the JSON needs it.
fn show(
    matrix: &Matrix,
    place: impl FnOnce() -> ProgramPlacement,
    runtime: &Runtime,
    arguments: &ProgramArguments,
    options: &Options,
) -> Result<Option<ProgramPlacement>, CliError> {
    if !options.show_binding && arguments.show_matrix.is_none() {
        return Ok(None);
    }
    let placement = place();
    if let Some(path) = &arguments.show_matrix {
        write_matrix(matrix, &placement, runtime, path)?;
    }
    if !options.show_binding {
        return Ok(None);
    }
    if !options.json {
        output::print_ahead(&format!("{placement}\n"))?;
    }
    Ok(Some(placement))
}

const fn form_name(form: Form) -> &'static str {
    match form {
        Form::Thread => "threads",
        Form::Future => "futures",
    }
}

/// Returns the operations and the workers or threads that run them, in words.
fn operations_on(runtime: &Runtime, form: Form, operations: usize) -> String {
    let threads = match form {
        Form::Future => units::counted(runtime.worker_count(), "worker"),
        Form::Thread => units::counted(operations, "thread"),
    };
    format!("{} on {threads}", units::counted(operations, "operation"))
}

/// Refuses matrices that need more memory than the machine has.
pub(super) fn check_memory(bytes: u128, what: impl Fn() -> String) -> Result<(), CliError> {
    let available = memory::available_bytes();
    let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
    if available.is_none_or(|available| bytes <= available) && isize::try_from(bytes).is_ok() {
        return Ok(());
    }
    Err(CliError::MatricesTooLarge {
        what: what(),
        bytes,
        available: memory::expected(available, "smaller ones"),
    })
}

/// Writes a matrix in the format that the extension of the file selects.
fn write_matrix(
    matrix: &Matrix,
    placement: &ProgramPlacement,
    runtime: &Runtime,
    path: &Path,
) -> Result<(), CliError> {
    let wrong = |reason: String| CliError::WrongCall {
        options: format!("--show-matrix {}", path.display()),
        reason,
    };
    let extension = path
        .extension()
        .and_then(|extension| extension.to_str())
        .unwrap_or_default()
        .to_lowercase();
    if ["csv", "svg"].contains(&&*extension) && matrix.order() > DENSE_ORDER_MAX {
        return Err(wrong(format!(
            "{} operations exchange data; \
             expected at most {DENSE_ORDER_MAX} for .{extension}, or .mtx",
            matrix.order()
        )));
    }
    let text = match &*extension {
        "csv" => matrix.to_csv(),
        "mtx" => matrix.to_matrix_market(),
        "svg" => placement
            .svg(runtime, matrix)
            .map_err(|error| wrong(error.to_string()))?,
        _ => {
            return Err(wrong(
                "expected a name that ends in .csv, .mtx or .svg".to_owned(),
            ));
        }
    };
    output::write_file(path, &text)
}
