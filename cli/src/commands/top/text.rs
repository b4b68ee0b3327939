//! The lines about running programs, and their JSON.

use std::time::Duration;

use raddle_trace::snapshot::{Activity, ProcessSnapshot, WorkerSnapshot};
use serde::Serialize;

use super::sample::{Program, Rates, RuntimeRates};
use crate::report::{Column, Columns, Row};
use crate::units;

/// The number of characters of a bar.
const BAR: usize = 10;

/// Returns the lines about all programs.
pub(super) fn lines(programs: &[Program]) -> Vec<String> {
    let mut lines = Vec::new();
    for program in programs {
        if !lines.is_empty() {
            lines.push(String::new());
        }
        match &program.state {
            Ok(state) => lines.extend(lines_of(state, &program.runtimes)),
            Err(socket) => lines.push(format!(
                "process {}  does not answer: it may be stopped",
                socket.process
            )),
        }
    }
    lines
}

fn lines_of(state: &ProcessSnapshot, runtimes: &[RuntimeRates]) -> Vec<String> {
    let node = match state.node_count {
        1 => String::new(),
        count => format!("  node {} of {count}", state.node),
    };
    let age = units::time(Duration::from_nanos(state.age_ns));
    let mut lines = vec![format!(
        "process {}  {}{node}  runs for {age}",
        state.process,
        state.command.replace(char::is_control, "\u{fffd}")
    )];
    for runtime in runtimes {
        lines.push(heading(runtime, runtimes.len() > 1));
        let table = table(runtime).text();
        lines.extend(table.lines().map(|line| line.trim_end().to_owned()));
    }
    if runtimes.is_empty() {
        lines.push("no runtime".to_owned());
    }
    lines
}

fn heading(runtime: &RuntimeRates, is_numbered: bool) -> String {
    let state = &runtime.state;
    let name = match is_numbered {
        true => format!("runtime {}: ", state.number),
        false => String::new(),
    };
    let in_pool = match state.pool_tasks {
        Some(tasks) => format!("{} in the pool", units::grouped(tasks)),
        None => "an unknown number in the pool".to_owned(),
    };
    let messages = state
        .messages_under_way
        .map_or_else(String::new, |messages| {
            format!(", messages under way: {}", units::grouped(messages))
        });
    format!(
        "{name}{}, pool {}, tasks that wait: {in_pool}, {} from outside{messages}",
        units::counted(state.worker_count as usize, "worker"),
        state.pool,
        units::grouped(state.outside_tasks),
    )
}

fn table(runtime: &RuntimeRates) -> Columns {
    let mut table = Columns::new([
        Column::right("worker", 6),
        Column::right("CPU", 4),
        Column::left("activity", 23),
        Column::left("busy", BAR),
        Column::right("%", 4),
        Column::right("tasks/s", 8),
        Column::right("messages/s", 10),
        Column::right("forks/s", 8),
        Column::right("stolen/s", 8),
        Column::right("parks/s", 8),
        Column::right("wakes/s", 8),
    ]);
    let workers = runtime.state.workers.iter().zip(&runtime.workers);
    for (index, (worker, rates)) in workers.enumerate() {
        let cpu = worker.cpu.map_or_else(String::new, |cpu| cpu.to_string());
        table.push(row(
            &index.to_string(),
            &cpu,
            &activity(worker, rates),
            rates,
        ));
    }
    table.push(row("all", "", "", &runtime.total));
    table
}

fn row(name: &str, cpu: &str, activity: &str, rates: &Rates) -> Row {
    let mut row = Row::new();
    row.cell(name).cell(cpu).cell(activity);
    row.cell(bar(rates.busy_share));
    row.cell(format!("{:.0}", rates.busy_share * 100.0));
    let numbers = [
        rates.tasks,
        rates.messages,
        rates.forks,
        rates.stolen,
        rates.parks,
        rates.wakes,
    ];
    for number in numbers {
        row.cell(short(number));
    }
    row
}

fn activity(worker: &WorkerSnapshot, rates: &Rates) -> String {
    let name = name_of(worker.activity);
    match rates.on_one_task_ns.max(worker.since_ns) {
        0 => name.to_owned(),
        ns => format!("{name} {}", units::time(Duration::from_nanos(ns))),
    }
}

fn name_of(activity: Activity) -> &'static str {
    match activity {
        Activity::Works => "works",
        Activity::WaitsForJoin => "waits for join",
        Activity::WaitsForScope => "waits for scope",
        Activity::WaitsForHandle => "waits for handle",
        Activity::Idle => "idle",
        Activity::Rests => "rests",
        _ => "",
    }
}

/// Returns a bar for a share of 1.
fn bar(share: f64) -> String {
    const EIGHTHS: [char; 8] = [' ', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];
    let eighths = (share.clamp(0.0, 1.0) * (8 * BAR) as f64).round() as usize;
    let full = "█".repeat(eighths / 8);
    match eighths % 8 {
        0 => full,
        part => format!("{full}{}", EIGHTHS[part]),
    }
}

/// Formats a number in at most five characters: `0`, `7`, `950`, `12.3k`, `4.56M`.
fn short(number: f64) -> String {
    let (value, unit) = match number {
        ..999.5 => return format!("{number:.0}"),
        ..999_500.0 => (number * 1e-3, "k"),
        ..999.5e6 => (number * 1e-6, "M"),
        _ => (number * 1e-9, "G"),
    };
    let digits = match value {
        ..9.995 => 2,
        ..99.95 => 1,
        _ => 0,
    };
    format!("{value:.digits$}{unit}")
}

/// A program in JSON.
#[derive(Debug, Serialize)]
pub(super) struct ProgramObject<'a> {
    process: u32,
    /// False if the process did not answer; then it has no other fields.
    answers: bool,
    #[serde(flatten)]
    answer: Option<AnswerObject<'a>>,
}

#[derive(Debug, Serialize)]
struct AnswerObject<'a> {
    command: &'a str,
    node: u32,
    nodes: u32,
    age_ns: u64,
    runtimes: Vec<RuntimeObject<'a>>,
}

#[derive(Debug, Serialize)]
struct RuntimeObject<'a> {
    number: u32,
    pool: &'a str,
    pool_tasks: Option<u64>,
    outside_tasks: u64,
    messages_under_way: Option<u64>,
    workers: Vec<WorkerObject<'a>>,
    total: RatesObject,
}

#[derive(Debug, Serialize)]
struct WorkerObject<'a> {
    #[serde(flatten)]
    state: &'a WorkerSnapshot,
    on_one_task_ns: u64,
    rates: RatesObject,
}

#[derive(Debug, Serialize)]
struct RatesObject {
    busy_share: f64,
    tasks_per_s: f64,
    messages_per_s: f64,
    forks_per_s: f64,
    stolen_per_s: f64,
    parks_per_s: f64,
    wakes_per_s: f64,
}

impl From<&Rates> for RatesObject {
    fn from(rates: &Rates) -> Self {
        Self {
            busy_share: rates.busy_share,
            tasks_per_s: rates.tasks,
            messages_per_s: rates.messages,
            forks_per_s: rates.forks,
            stolen_per_s: rates.stolen,
            parks_per_s: rates.parks,
            wakes_per_s: rates.wakes,
        }
    }
}

/// Returns the objects of all programs.
pub(super) fn objects(programs: &[Program]) -> Vec<ProgramObject<'_>> {
    programs.iter().map(object).collect()
}

fn object(program: &Program) -> ProgramObject<'_> {
    let (process, answer) = match &program.state {
        Err(socket) => (socket.process, None),
        Ok(state) => {
            let answer = AnswerObject {
                command: &state.command,
                node: state.node,
                nodes: state.node_count,
                age_ns: state.age_ns,
                runtimes: program.runtimes.iter().map(runtime_object).collect(),
            };
            (state.process, Some(answer))
        }
    };
    ProgramObject {
        process,
        answers: answer.is_some(),
        answer,
    }
}

fn runtime_object(runtime: &RuntimeRates) -> RuntimeObject<'_> {
    let state = &runtime.state;
    let workers = state.workers.iter().zip(&runtime.workers);
    let workers = workers.map(|(state, rates)| WorkerObject {
        state,
        on_one_task_ns: rates.on_one_task_ns,
        rates: rates.into(),
    });
    RuntimeObject {
        number: state.number,
        pool: &state.pool,
        pool_tasks: state.pool_tasks,
        outside_tasks: state.outside_tasks,
        messages_under_way: state.messages_under_way,
        workers: workers.collect(),
        total: (&runtime.total).into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_at_most_five_characters() {
        let texts = [
            (0.4, "0"),
            (999.4, "999"),
            (999.6, "1.00k"),
            (12_345.0, "12.3k"),
            (999_499.0, "999k"),
            (4_560_000.0, "4.56M"),
            (2.5e9, "2.50G"),
        ];
        for (number, text) in texts {
            assert_eq!(short(number), text);
        }
    }

    #[test]
    fn bars_have_a_length_of_eighths() {
        assert_eq!(bar(0.0), "");
        assert_eq!(bar(0.5), "█████");
        assert_eq!(bar(0.5125), "█████▏");
        assert_eq!(bar(7.0).chars().count(), BAR);
    }
}
