//! Pictures of placements, with the matrix and the parties on the machine.
//!
//! The matrix is at the top in grey, with a row for each sender. The machine with the parties in
//! their places is below it.
//!
//! # Source
//! Gustedt, Jeannot, Mansouri: Fully-abstracted affinity optimization for task-based models. 2016,
//! figures 1 and 2.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::layout::{LINE, Layout, Look, Note, Notes, layout_with, text_width};
use super::svg::{MARGIN, STYLE, Writer, escaped, shortened};
use crate::cpu_set::CpuId;
use crate::matrix::Matrix;
use crate::place::Placement;
use crate::topology::Topology;

/// The maximum width of the matrix in pixels. If there are more parties, several share a cell.
const MATRIX_SIDE_MAX: usize = 512;

/// The maximum width of a cell in pixels.
const CELL_MAX: usize = 16;

/// The number of shades of grey. More would not show on a logarithmic scale.
const SHADES: usize = 32;

/// The maximum number of characters of a party's number and name.
const NAME_MAX: usize = 16;

/// The maximum number of parties that are written on a CPU.
const WRITTEN_MAX: usize = 4;

/// The entries of the legend.
const LEGEND: [(Look, &str); 5] = [
    (Look::CpuParty, "parties"),
    (Look::CpuControl, "control thread"),
    (Look::CpuIdle, "free CPU"),
    (Look::Core, "core"),
    (Look::Memory, "memory"),
];

/// Returns an SVG picture of the matrix on a logarithmic grey scale, and of the machine with every
/// party in its place.
///
/// Rows send and columns receive. White means no bytes, and black the most bytes. If the machine
/// has more than 1024 CPUs, only a part is drawn, and the rest is counted.
///
/// # Examples
/// ```
/// use raddle_topology::{Matrix, PlaceOptions, Topology, format, place};
/// let topology = Topology::synthetic("package:2 core:2 pu:1")?;
/// let matrix = Matrix::from_dense(2, &[0.0, 1.0, 1.0, 0.0])?;
/// let placement = place(&matrix, &topology, &PlaceOptions::new())?;
/// assert!(format::placement_svg(&topology, &matrix, &placement).starts_with("<svg xmlns="));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn placement_svg(topology: &Topology, matrix: &Matrix, placement: &Placement) -> String {
    let machine = layout_with(topology, &notes(topology, matrix, placement));
    let side = matrix_side(matrix.order());
    let cells = matrix.order().min(MATRIX_SIDE_MAX);
    let sums = cell_sums(matrix, cells);
    let facts = [
        format!("machine: {}", topology.source()),
        format!("placement: {}", placement.reason),
        format!("cost: {:.4e} hop-bytes", placement.cost),
        format!(
            "matrix: {} parties, rows send, columns receive; \
             from white for nothing to black for {:.4e} bytes, logarithmic{}",
            matrix.order(),
            sums.iter().copied().fold(0.0, f64::max),
            if matrix.order() > cells {
                ", several parties in a row"
            } else {
                ""
            },
        ),
    ]
    .map(|fact| shortened(&fact));
    let widest = facts
        .iter()
        .map(|fact| text_width(fact))
        .fold(side as f64, f64::max);
    let width = machine.width.max(widest) + 2.0 * MARGIN;
    let machine_top = 2.0 * MARGIN + side as f64;
    let facts_top = machine_top + machine.height + LINE;
    let height = facts_top + LINE * (facts.len() + 1) as f64 + MARGIN;
    let mut writer = Writer { svg: String::new() };
    writer.push(&format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" \
         viewBox=\"0 0 {width:.0} {height:.0}\">\n<title>{}</title>\n<style>{STYLE}</style>\n\
         <rect width=\"100%\" height=\"100%\" style=\"fill:#fff;stroke:none\"/>\n",
        escaped(&facts[1]),
    ));
    draw_matrix(&mut writer, &sums, cells, side);
    draw_machine(&mut writer, &machine, machine_top);
    writer.legend(facts_top, &LEGEND);
    for (line, fact) in facts.iter().enumerate() {
        writer.line(MARGIN, facts_top + LINE * (line + 1) as f64, fact);
    }
    writer.push("</svg>\n");
    writer.svg
}

/// Returns the notes on the usable CPUs: some names in the box, and all of them in its hint.
fn notes(topology: &Topology, matrix: &Matrix, placement: &Placement) -> Notes {
    let on_each = |cpus: &mut dyn Iterator<Item = (usize, CpuId)>| {
        let mut on = BTreeMap::<CpuId, Vec<usize>>::new();
        cpus.for_each(|(party, cpu)| on.entry(cpu).or_default().push(party));
        on
    };
    let parties = on_each(&mut placement.cpus.iter().copied().enumerate());
    let controlled = placement.control.iter().enumerate();
    let controls = on_each(&mut controlled.filter_map(|(party, cpu)| Some((party, (*cpu)?))));
    let idle = topology.allowed_cpus().map(|cpu| {
        let note = Note {
            look: Look::CpuIdle,
            label: String::new(),
            hint: String::new(),
        };
        (cpu.id, note)
    });
    let controls = controls.into_iter().map(|(cpu, parties)| {
        // Only the first party is shown, because there is no space for all of them.
        let more = if parties.len() > 1 { "…" } else { "" };
        let note = Note {
            look: Look::CpuControl,
            label: format!("control {}{more}", parties[0]),
            hint: format!("control threads of {}", joined(&parties, usize::to_string)),
        };
        (cpu, note)
    });
    let parties = parties.into_iter().map(|(cpu, parties)| {
        let name = |party: &usize| named(matrix, *party);
        let mut label = joined(&parties[..parties.len().min(WRITTEN_MAX)], |party| {
            name(party).chars().take(NAME_MAX).collect()
        });
        if parties.len() > WRITTEN_MAX {
            label += &format!(" +{}", parties.len() - WRITTEN_MAX);
        }
        let note = Note {
            look: Look::CpuParty,
            label,
            hint: joined(&parties, name),
        };
        (cpu, note)
    });
    // Later notes replace earlier ones.
    idle.chain(controls).chain(parties).collect()
}

/// Returns the number of a party, and its name if it has one.
fn named(matrix: &Matrix, party: usize) -> String {
    match matrix.name(party) {
        Some(name) => format!("{party} {name}"),
        None => party.to_string(),
    }
}

/// Returns the texts of parties, separated by commas.
fn joined(parties: &[usize], text: impl Fn(&usize) -> String) -> String {
    let texts: Vec<_> = parties.iter().map(text).collect();
    texts.join(", ")
}

/// Returns the width of the matrix in pixels. Cells have whole pixels.
fn matrix_side(order: usize) -> usize {
    match order {
        0 => 0,
        order if order > MATRIX_SIDE_MAX => MATRIX_SIDE_MAX,
        order => order * (MATRIX_SIDE_MAX / order).min(CELL_MAX),
    }
}

/// Returns the bytes of each cell of the picture, row by row.
fn cell_sums(matrix: &Matrix, cells: usize) -> Vec<f64> {
    let order = matrix.order();
    let mut sums = vec![0.0; cells * cells];
    for (from, to, bytes) in matrix.entries() {
        sums[from * cells / order * cells + to * cells / order] += bytes;
    }
    sums
}

/// Draws the matrix.
fn draw_matrix(writer: &mut Writer, sums: &[f64], cells: usize, side: usize) {
    if cells == 0 {
        return;
    }
    let pixel = side / cells;
    let sent = sums.iter().copied().filter(|sum| *sum > 0.0);
    let (least, most) = sent.fold((f64::INFINITY, 0.0_f64), |(least, most), sum| {
        (least.min(sum), most.max(sum))
    });
    let span = (most / least).ln();
    // Zero is white, the smallest sum light grey, and the largest black.
    let shade = |sum: f64| {
        if sum <= 0.0 {
            return 0;
        }
        let part = if span > 0.0 {
            (sum / least).ln() / span
        } else {
            1.0
        };
        1 + (part * (SHADES - 1) as f64).round() as usize
    };
    // Each run of cells with the same shade is a line, in units of cells, and all lines of a shade
    // are one path: a picture of 500 parties has 250,000 cells.
    let mut lines = vec![String::new(); SHADES + 1];
    for (row, sums) in sums.chunks_exact(cells).enumerate() {
        let mut column = 0;
        for run in sums.chunk_by(|&left, &right| shade(left) == shade(right)) {
            // Writing to a string cannot fail.
            let _infallible = write!(lines[shade(run[0])], "M{column} {row}h{}", run.len());
            column += run.len();
        }
    }
    writer.push(&format!(
        "<rect x=\"{MARGIN}\" y=\"{MARGIN}\" width=\"{side}\" height=\"{side}\" \
         style=\"fill:#fff\"/>\n\
         <g shape-rendering=\"crispEdges\" transform=\"translate({MARGIN} {}) scale({pixel})\">\n",
        MARGIN + pixel as f64 / 2.0
    ));
    let shaded = lines.iter().enumerate().skip(1);
    for (shade, line) in shaded.filter(|(_, line)| !line.is_empty()) {
        let grey = 225 - 225 * (shade - 1) / (SHADES - 1);
        writer.push(&format!(
            "<path d=\"{line}\" style=\"fill:none;stroke:#{grey:02x}{grey:02x}{grey:02x};\
             stroke-width:1\"/>\n"
        ));
    }
    writer.push("</g>\n");
}

/// Draws the machine below the matrix.
fn draw_machine(writer: &mut Writer, machine: &Layout, top: f64) {
    for tile in &machine.tiles {
        writer.tile(tile, MARGIN, top);
    }
}
