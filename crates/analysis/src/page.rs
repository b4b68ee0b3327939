//! The report as a page: one HTML file that needs nothing else.
//!
//! The page works without a network: its styles and its script are inside, and a content security
//! policy forbids everything else. Without the script, only sorting of tables is missing.

mod charts;

use maud::{DOCTYPE, Markup, PreEscaped, html};

use crate::findings::duration;
use crate::forecast::Forecast;
use crate::grain::Grain;
use crate::summary::Summary;
use crate::table::{Cell, Table};
use charts::heat;

/// The number of rows of a table that a page shows.
const ROWS_MAX: usize = 200;
/// The number of kinds of grains with a histogram.
const HISTOGRAMS_MAX: usize = 12;

const STYLE: &str = include_str!("page/style.css");
const SCRIPT: &str = include_str!("page/sort.js");

/// Returns the page about a recording, which is called `title`.
#[must_use]
pub fn render(summary: &Summary, title: &str) -> String {
    let policy = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'";
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(policy);
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { "Raddle report: " (title) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                (header(summary, title))
                main {
                    (utilisation(summary))
                    (forecast(summary))
                    (grains(summary))
                    (off_cpu(summary))
                    (waits(summary))
                    (messages(summary))
                    (places(summary))
                    (profile(summary))
                }
                script { (PreEscaped(SCRIPT)) }
            }
        }
    };
    page.into_string()
}

fn header(summary: &Summary, title: &str) -> Markup {
    let (first, others) = match summary.findings.split_first() {
        Some((first, others)) => (Some(first), others),
        None => (None, &[][..]),
    };
    html! {
        header {
            h1 { (title) }
            p.facts {
                (summary.programs.join(", ")) " · "
                (duration(summary.length_ns as f64)) " · "
                (summary.utilisation.worker_count()) " workers · "
                (summary.events) " events"
            }
            @if let Some(first) = first { p.overview { (first.text) } }
            @if others.is_empty() {
                p { "The recording shows no problem that costs 5 % or more." }
            } @else {
                ol.findings {
                    @for finding in others {
                        li {
                            @if finding.loss > 0.0 {
                                span.loss { (format!("{:.0} %", finding.loss * 100.0)) } " "
                            }
                            (finding.text)
                        }
                    }
                }
            }
        }
    }
}

/// Returns a section of the page.
fn section(id: &str, heading: &str, about: &str, content: &Markup) -> Markup {
    html! {
        section id=(id) {
            h2 { (heading) }
            p.about { (about) }
            (content)
        }
    }
}

fn utilisation(summary: &Summary) -> Markup {
    let content = html! {
        (charts::legend())
        (charts::over_time(&summary.utilisation))
        (table(&summary.utilisation.table()))
    };
    let about = "The state of each thread over time. A thread that runs a task in a wait works.";
    section("utilisation", "Utilisation over time", about, &content)
}

fn forecast(summary: &Summary) -> Markup {
    let content = match &summary.forecast {
        None => html! {
            @if let Some(reason) = &summary.no_forecast {
                p { "There is no forecast: " (reason) "." }
            }
        },
        Some(forecast) => html! {
            p { (work_and_span(forecast)) }
            (charts::speedup(forecast))
            (table(&forecast.table()))
            h3 { "Critical path" }
            p.about {
                "The longest chain of parts of tasks that depend on each other. Only less work on \
                 it makes the program faster with many workers."
            }
            (table(&forecast.span.table()))
        },
    };
    let about = "The recorded tasks and messages, run on simulated workers with the costs of \
                 steals and messages that the recording shows. Caches are not simulated.";
    section("forecast", "Forecast", about, &content)
}

/// Returns a sentence about work and span.
pub(crate) fn work_and_span(forecast: &Forecast) -> String {
    format!(
        "Work {}, span {}, parallelism {:.1}. Recorded with {} worker{} in {}.",
        duration(forecast.span.work_ns as f64),
        duration(forecast.span.span_ns as f64),
        forecast.span.parallelism(),
        forecast.recorded_workers,
        if forecast.recorded_workers == 1 {
            ""
        } else {
            "s"
        },
        duration(forecast.recorded_ns as f64),
    )
}

fn grains(summary: &Summary) -> Markup {
    let kinds = summary.durations.kinds.iter().zip(&summary.grains.kinds);
    let content = html! {
        (table(&summary.grains.table()))
        div.histograms {
            @for (histogram, grain) in kinds.take(HISTOGRAMS_MAX) {
                figure {
                    figcaption { (caption(grain)) }
                    (charts::histogram(histogram, grain.pays_ns))
                }
            }
        }
        h3 { "Durations" }
        (table(&summary.durations.table()))
    };
    let about = "The durations of tasks, messages and entries, without waits. Each costs the \
                 runtime some time: the dashed line is the grain from which on it is at most 5 %.";
    section("grain", "Grain", about, &content)
}

fn caption(grain: &Grain) -> String {
    format!(
        "{} ({}): {} × {}",
        grain.name,
        grain.category,
        grain.count,
        duration(grain.mean_ns)
    )
}

fn off_cpu(summary: &Summary) -> Markup {
    let about = "Times in which a thread had work, but was not on a CPU: blocked in the operating \
                 system, or preempted by other threads.";
    section(
        "off-cpu",
        "Off the CPU",
        about,
        &table(&summary.off_cpu.table()),
    )
}

fn waits(summary: &Summary) -> Markup {
    let pairs = summary.waits.pairs.iter();
    let pairs = pairs.filter_map(|pair| {
        let value = pair.idle_ns as f64 * 1e-6;
        Some((pair.thread.clone(), pair.on.clone()?, value))
    });
    let gaps = summary.gaps.pairs.iter();
    let gaps = gaps.map(|gap| {
        let value = gap.ns() as f64 * 1e-6;
        (gap.worker.clone(), gap.sender.clone(), value)
    });
    let content = html! {
        (heat(pairs, "ms", "Idle time of each thread (row), by the thread waited for (column)"))
        (table(&summary.waits.table()))
        h3 { "Idle until a message came" }
        (heat(gaps, "ms", "Idle time of each worker (row), by the sender that ended it (column)"))
        (table(&summary.gaps.table()))
    };
    let about = "Waits inside of tasks: for the other half of a join, for the tasks of a scope, \
                 for a handle or for a location. Then times in which a worker had nothing to do \
                 until a message came: a long time before it was sent is the sender's, a long time \
                 after it was sent is the runtime's.";
    section("waits", "Waits", about, &content)
}

fn messages(summary: &Summary) -> Markup {
    let messages = &summary.messages;
    let name = |thread: usize| messages.threads[thread].clone();
    let between_workers = messages.between_workers.iter();
    let between_workers =
        between_workers.map(|flow| (name(flow.from), name(flow.to), flow.traffic.messages as f64));
    let between_nodes = messages.between_nodes.iter().map(|flow| {
        let [from, to] = [flow.from, flow.to].map(|node| messages.nodes[node].clone());
        (from, to, flow.traffic.bytes as f64)
    });
    let object = |object: (u64, u64)| crate::messages::object_name(object);
    let between_objects = messages
        .between_objects
        .iter()
        .filter_map(|(from, to, traffic)| {
            Some((object((*from)?), object(*to), traffic.messages as f64))
        });
    let content = html! {
        (table(&messages.table()))
        (heat(between_workers, "messages", "Messages from worker (row) to worker (column)"))
        (heat(between_nodes, "bytes", "Bytes from each node (row) to each node (column)"))
        (heat(between_objects, "messages", "Messages from each chare (row) to each chare (column)"))
        h3 { "Chares" }
        (table(&messages.table_of_objects()))
    };
    section(
        "messages",
        "Messages",
        "Messages by entry, worker, node and chare.",
        &content,
    )
}

fn places(summary: &Summary) -> Markup {
    let places = &summary.places;
    let name = |worker: usize| places.workers[worker].name.clone();
    let steals = places.pairs.iter().filter(|pair| pair.steals > 0);
    let steals = steals.map(|pair| (name(pair.to), name(pair.from), pair.steals as f64));
    let bytes = places.pairs.iter().filter(|pair| pair.bytes > 0.0);
    let bytes = bytes.map(|pair| (name(pair.from), name(pair.to), pair.bytes));
    let content = html! {
        (table(&places.table()))
        h3 { "Steals and traffic by distance" }
        (table(&places.table_of_distances()))
        (heat(steals, "tasks", "Tasks that each worker (row) has taken from each other (column)"))
        (heat(bytes, "bytes", "Bytes from each worker (row) to each worker (column)"))
        h3 { "Pairs of workers" }
        (table(&places.table_of_pairs()))
    };
    let about = "The CPU of each worker at the end, beside what went between the workers.";
    section("placement", "Placement and traffic", about, &content)
}

fn profile(summary: &Summary) -> Markup {
    let about = "Inclusive times contain the functions that a function has called, exclusive times \
                 do not. The measured cost of recording scopes is subtracted.";
    section(
        "profile",
        "Profile",
        about,
        &table(&summary.profile.table()),
    )
}

/// Returns a table. A table without rows says so.
fn table(table: &Table) -> Markup {
    if table.rows.is_empty() {
        return html! { p.empty { (table.title) ": none in this recording." } };
    }
    let is_text = |cell: &Cell| matches!(cell, Cell::Text(_));
    let left = table.rows.len().saturating_sub(ROWS_MAX);
    html! {
        div.scroll {
            table data-key=(table.key) {
                thead {
                    tr {
                        @for column in &table.columns {
                            th scope="col" { button type="button" { (column.heading) } }
                        }
                    }
                }
                tbody {
                    @for row in table.rows.iter().take(ROWS_MAX) {
                        tr {
                            @for (column, cell) in row.iter().enumerate() {
                                td.text[is_text(cell)] { (table.text_of(column, cell)) }
                            }
                        }
                    }
                }
            }
        }
        @if left > 0 {
            p.empty { "… and " (left) " more rows (raddle report --csv " (table.key) ")" }
        }
    }
}

#[cfg(test)]
mod tests;
