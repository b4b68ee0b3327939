//! What all programs of locations have in common: memory, placement, matrix, counts.

use std::path::Path;

use raddle::Runtime;
use raddle::orwl::{Program, ProgramPlacement};
use raddle_numerics::lk23::Form;
use raddle_topology::Matrix;
use serde_json::{Map, Value, json};

use crate::arguments::{Options, ProgramArguments};
use crate::error::CliError;
use crate::system_counts::{Counts, SystemCounts};
use crate::{memory, output, table, workers};

/// A matrix of more operations is no picture and no table any more.
const DENSE_ORDER_MAX: usize = 4_096;

/// What there is to say of a program besides its result.
#[derive(Debug)]
pub(super) struct Told {
    pub(super) form: Form,
    placement: Option<ProgramPlacement>,
    counts: Option<Counts>,
    pub(super) operations: usize,
    pub(super) sections: u64,
}

/// A program that is about to run, and what watches it.
#[derive(Debug)]
pub(super) struct Watch(Option<SystemCounts>);

impl Watch {
    /// To be made before the workers.
    pub(super) fn new(options: &Options) -> Self {
        Self(options.stats.then(SystemCounts::new))
    }

    pub(super) fn begin(&mut self) {
        if let Some(counts) = &mut self.0 {
            counts.begin();
        }
    }

    pub(super) fn pause(&mut self) {
        if let Some(counts) = &mut self.0 {
            counts.pause();
        }
    }

    pub(super) fn end(self) -> Option<Counts> {
        self.0.map(SystemCounts::end)
    }
}

pub(super) fn form(arguments: &ProgramArguments) -> Form {
    if arguments.threads {
        Form::Thread
    } else {
        Form::Future
    }
}

/// Says what is asked of a program before it runs: where its operations go, which `place` says, and what they exchange.
pub(super) fn show(
    program: &Program,
    place: impl FnOnce(&Program) -> ProgramPlacement,
    runtime: &Runtime,
    arguments: &ProgramArguments,
    options: &Options,
) -> Result<Told, CliError> {
    let matrix = program.dependencies();
    let is_asked = options.show_binding || arguments.show_matrix.is_some();
    let placement = is_asked.then(|| place(program));
    if let Some((path, placement)) = arguments.show_matrix.as_ref().zip(placement.as_ref()) {
        write_matrix(&matrix, placement, runtime, path)?;
    }
    let placement = placement.filter(|_| options.show_binding);
    if let Some(placement) = placement.as_ref().filter(|_| !options.json) {
        output::print(&format!("{placement}\n"))?;
    }
    Ok(Told {
        form: form(arguments),
        placement,
        counts: None,
        operations: matrix.order(),
        sections: 0,
    })
}

impl Told {
    /// Notes what the watch has seen.
    pub(super) fn watched(&mut self, watch: Watch) {
        self.counts = watch.end();
    }

    /// The operations and what carries them, in words.
    pub(super) fn operations_on(&self, runtime: &Runtime) -> String {
        let counted = |count: usize, what: &str| {
            let what = table::plural(count, what);
            format!("{} {what}", table::grouped(count as u64))
        };
        let carriers = match self.form {
            Form::Future => counted(runtime.worker_count(), "worker"),
            Form::Thread => counted(self.operations, "thread"),
        };
        format!("{} on {carriers}", counted(self.operations, "operation"))
    }

    /// Adds it to a result for programs.
    pub(super) fn describe(
        &self,
        runtime: &Runtime,
        options: &Options,
        result: &mut Map<String, Value>,
    ) {
        let mut insert = |name: &str, value: Value| result.insert(name.to_owned(), value);
        insert(
            "form",
            json!(if self.form == Form::Thread {
                "threads"
            } else {
                "futures"
            }),
        );
        insert("operations", json!(self.operations));
        insert("sections", json!(self.sections));
        if let Some(placement) = &self.placement {
            insert("placement", json!(placement));
        }
        if let Some(counts) = &self.counts {
            insert("system", counts.json());
        }
        insert("memory_peak_bytes", json!(memory::peak_bytes()));
        workers::describe(runtime, options, result);
    }

    /// Prints the counts where they were asked for and people read them.
    pub(super) fn print_stats(&self, runtime: &Runtime, options: &Options) -> Result<(), CliError> {
        if let Some(counts) = self.counts.as_ref().filter(|_| !options.json) {
            output::print(&format!("\n{}", counts.text()))?;
        }
        workers::print_stats(runtime, options)
    }
}

/// Refuses what the machine has no memory for.
pub(super) fn check_memory(bytes: u128, what: impl Fn() -> String) -> Result<(), CliError> {
    let available = memory::available_bytes();
    let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
    if available.is_none_or(|available| bytes <= available) && isize::try_from(bytes).is_ok() {
        return Ok(());
    }
    Err(CliError::MatricesTooLarge {
        what: what(),
        bytes,
        available: available.map_or_else(
            || "smaller ones".to_owned(),
            |available| format!("at most {available} bytes"),
        ),
    })
}

/// Writes a matrix in the format that the name of the file says.
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
            "{} operations exchange data; expected at most {DENSE_ORDER_MAX} for .{extension}, or .mtx",
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
