//! Parses the words of a call.
//!
//! A command accepts only the options that it honours, so no option is global. Two rules are added
//! to the declarations:
//! - Options before a command are read as if they came after it: `raddle --json sort 1e5`.
//! - Names that other programs use for `--workers` are refused with a hint.

use std::ffi::{OsStr, OsString};

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, Args, FromArgMatches};

use super::{Arguments, Options};

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

/// Returns the command line as it is declared, for help and completions.
pub(crate) fn command() -> clap::Command {
    let command = <Arguments as clap::CommandFactory>::command();
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
pub(crate) fn parse(words: impl IntoIterator<Item = OsString>) -> Result<Arguments, clap::Error> {
    let words = options_after_command(words.into_iter().collect());
    let matches = with_hints(command()).try_get_matches_from(words)?;
    Arguments::from_arg_matches(&matches)
}

/// Moves options that precede the command behind its name, and returns other calls unchanged.
fn options_after_command(words: Vec<OsString>) -> Vec<OsString> {
    // Parsing the beginning tells values of options from the command. Errors are ignored here: the
    // call is parsed as a whole afterwards.
    let before =
        Options::augment_args(clap::Command::new("raddle")).allow_external_subcommands(true);
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
