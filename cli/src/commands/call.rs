//! A call of the program, and how it is parsed.
//!
//! A command accepts only the options that it uses, so no option is global. Two rules are added
//! to the declarations:
//! - Options before a command are read as if they came after it: `raddle --json sort 1e5`.
//! - Names that other programs use for `--workers` are refused with a hint.

use std::ffi::{OsStr, OsString};

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, Args, FromArgMatches, Parser};

use super::Command;
use crate::arguments::{Options, TaskAndMailboxOptions, TaskOptions};

/// The names that other programs use for the number of workers.
const WORKERS_ELSEWHERE: [&str; 7] = [
    "threads",
    "num-threads",
    "nthreads",
    "thread-count",
    "num-workers",
    "nworkers",
    "jobs",
];

const EXAMPLES: &str = "\
Examples:
  raddle                                        render a generated scene
  raddle render dragon.ply.zst -o dragon.png    a mesh, from a camera that is chosen for it
  raddle render --scene terrain:500000 -o t.exr --size 1920x1080 --samples 16
  raddle kdtree dragon.ply --check --repeat 5   build the tree only, and compare the builders
  raddle sort 2e7                               quicksort, and its speedup
  raddle lk23 --size 4096 --check               a stencil in waves, with ordered locations
  raddle matmul --size 2048                     a product, with blocks that move between tasks
  raddle kneighbor --bytes 64K                  messages between neighbours in a ring
  raddle kneighbor --mode all --bytes all       the same between threads and between processes
  raddle pingpong                               the time of one message, there and back
  raddle pingpong --nodes 2                     the same from process to process
  raddle launch -n 4 ./program                  your own program on four processes
  raddle predict --nodes 256                    the frame time of a ray tracer on 256 nodes
  raddle simulate pingpong                      a message between simulated nodes
  raddle topology                               the machine, its caches and its CPUs
  raddle place traffic.csv                      CPUs for parties that exchange these bytes
  raddle place --program lk23                   the same for a program, with its predicted time
  raddle --show-binding --workers 4             the CPUs of four workers, and the reasons

Environment: RADDLE_WORKERS, RADDLE_POOL, RADDLE_BLOCKS, RADDLE_AFFINITY, RADDLE_IDLE,
RADDLE_TASK_MEMORY, RADDLE_MAILBOX and RADDLE_PARAMETERS set the defaults of the options with these
names. RADDLE_SEEDS selects how new chares are distributed: stealing, random, ring, mesh or
hypercube. RADDLE_CLAIMS names a group of processes that avoid each other's CPUs. RADDLE_WATCH is a
time such as 5s: a program of chares that makes no progress for so long prints what is waiting.
RADDLE_SEED is a number on which random decisions of the scheduler depend.
RADDLE_TRACE records every program that starts workers, like --trace. RADDLE_TRACE_BUFFER is the
memory for that in MiB. RADDLE_TRACE_DETAIL is limited, or all, which may slow the program down.
RADDLE_MONITOR=on lets raddle top show a program that starts workers.
RADDLE_NODES, RADDLE_TRANSPORT and RADDLE_PROGRESS apply to kneighbor, pingpong and launched
programs; the other commands run on one node. A node sets RADDLE_NODE for the nodes that it starts.
The tests of Raddle read RADDLE_BLESS, RADDLE_DATA, RADDLE_FUZZ_SECONDS, RADDLE_SCHEDULES_COUNT,
RADDLE_SCHEDULES_SEED, RADDLE_STRESS_MESSAGES, RADDLE_STRESS_SECONDS, RADDLE_STRESS_SEED and names
that begin with RADDLE_TEST_. A warning names all other variables that begin with RADDLE_.

JSON: with --json, a command prints its result as one JSON object on one line. The key of a
quantity ends in its unit: _s, _ms, _us, _ns or _bytes. The key \"schema\" is a version number,
which grows when a key is removed or changes its meaning.

Exit codes: 0 for success; 1 for a failure, with the reason in one line on standard error; 2 for a
wrong option, argument or environment variable.";

/// Runs irregular parallel programs: renders meshes, sorts, exchanges messages, shows the machine.
///
/// Without a command, raddle renders a generated scene and writes raddle-demo.png into the current
/// folder.
#[derive(Debug, Parser)]
#[command(name = "raddle", version, after_help = EXAMPLES, max_term_width = 100)]
#[command(disable_help_subcommand = true)]
pub(crate) struct Call {
    /// The command.
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
    /// Options without a command. Options before a command belong to the command (see [`parse`]).
    #[command(flatten)]
    options: Options,
    /// The options for the tasks of a call without a command.
    #[command(flatten)]
    tasks: TaskOptions,
}

impl Call {
    /// Returns the options of a call without a command.
    pub(super) fn options(&self) -> Options {
        self.options.with(&self.tasks)
    }
}

/// Returns the command line as it is declared, for help and completions.
pub(crate) fn definition() -> clap::Command {
    let command = <Call as clap::CommandFactory>::command();
    // These may precede or follow the name of the simulated program.
    command.mut_subcommand("simulate", |simulate| {
        simulate
            .mut_arg("json", |arg| arg.global(true))
            .mut_arg("quiet", |arg| arg.global(true))
    })
}

/// Parses a call. The first word is the name of the program.
///
/// # Errors
/// [`clap::Error`] with the reason why the call is wrong, or with the help that it asks for.
pub(crate) fn parse(words: impl IntoIterator<Item = OsString>) -> Result<Call, clap::Error> {
    let words = options_after_command(words.into_iter().collect());
    let matches = with_hints(definition()).try_get_matches_from(words)?;
    Call::from_arg_matches(&matches)
}

/// Moves options that precede the command behind its name, and returns other calls unchanged.
fn options_after_command(words: Vec<OsString>) -> Vec<OsString> {
    // Parsing the beginning tells values of options from the command. Errors are ignored here: the
    // call is parsed as a whole afterwards.
    let before = Options::augment_args(clap::Command::new("raddle"));
    let before = TaskAndMailboxOptions::augment_args(before).allow_external_subcommands(true);
    let Ok(matches) = before.try_get_matches_from(&words) else {
        return words;
    };
    let Some((_, rest)) = matches.subcommand() else {
        return words;
    };
    let rest = rest.get_many::<OsString>("").map_or(0, Iterator::count);
    let Some(command) = words.len().checked_sub(rest + 1).filter(|&at| at > 1) else {
        return words;
    };
    let parts = [&words[..1], &words[command..=command], &words[1..command]];
    [&parts.concat()[..], &words[command + 1..]].concat()
}

/// Adds hidden options to all commands with `--workers`. Using one is an error with a hint.
fn with_hints(command: clap::Command) -> clap::Command {
    let command = command.mut_subcommands(with_hints);
    let names = command.get_arguments().filter_map(Arg::get_long);
    let taken: Vec<_> = names.map(str::to_owned).collect();
    let is_taken = |name: &str| taken.iter().any(|taken| taken == name);
    if !is_taken("workers") {
        return command;
    }
    let hint = |id: &'static str, asked: String| {
        let parser = UnknownOption { asked };
        let arg = Arg::new(id).hide(true).num_args(0..=1);
        arg.default_missing_value("").value_parser(parser)
    };
    let free = WORKERS_ELSEWHERE.into_iter().filter(|name| !is_taken(name));
    let long = free.map(|name| hint(name, format!("--{name}")).long(name));
    command
        .args(long)
        .arg(hint("j", "-j".to_owned()).short('j'))
}

/// Refuses an option that does not exist, and suggests `--workers`.
#[derive(Debug, Clone)]
struct UnknownOption {
    asked: String,
}

impl clap::builder::TypedValueParser for UnknownOption {
    type Value = String;

    fn parse_ref(
        &self,
        command: &clap::Command,
        _arg: Option<&Arg>,
        _value: &OsStr,
    ) -> Result<String, clap::Error> {
        let mut error = clap::Error::new(ErrorKind::UnknownArgument).with_cmd(command);
        let text = |text: &str| ContextValue::String(text.to_owned());
        error.insert(ContextKind::InvalidArg, text(&self.asked));
        error.insert(ContextKind::SuggestedArg, text("--workers"));
        let usage = command.clone().render_usage();
        error.insert(ContextKind::Usage, ContextValue::StyledStr(usage));
        Err(error)
    }
}

#[cfg(test)]
mod tests;
