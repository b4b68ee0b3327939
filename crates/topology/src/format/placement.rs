//! A placement as a picture: who talks to whom, and who is where.
//!
//! On top the matrix in grey, a row for each sender; below the machine with the parties in their places.
//!
//! # Source
//! Gustedt, Jeannot, Mansouri: Fully-abstracted affinity optimization for task-based models. 2016, figures 1 and 2.

use std::fmt::Write as _;

use super::layout::{LINE, Layout, Look, Notes, layout_with, text_width};
use super::svg::{MARGIN, STYLE, Writer, escaped, shortened};
use crate::cpu_set::CpuId;
use crate::matrix::Matrix;
use crate::place::Placement;
use crate::topology::Topology;

/// The matrix is drawn so wide at most, in pixels; several parties share a cell when there are more of them.
const MATRIX_SIDE_MAX: usize = 512;

/// A cell of a small matrix is so wide.
const CELL_MAX: usize = 16;

/// Shades of grey; a logarithm has no use for more.
const SHADES: usize = 32;

/// The most characters of a party's name that are drawn.
const NAME_MAX: usize = 12;

/// The most parties of which each is written on their CPU.
const WRITTEN_MAX: usize = 4;

const LEGEND: [(Look, &str); 5] = [
    (Look::CpuParty, "parties"),
    (Look::CpuControl, "control thread"),
    (Look::CpuIdle, "free CPU"),
    (Look::Core, "core"),
    (Look::Memory, "memory"),
];

/// Draws the matrix in logarithmic grey, and the machine with every party in its place, as SVG.
///
/// Rows send and columns receive; white is nothing, black the most. Of a machine with more than 1024 CPUs only a part
/// is drawn, and the rest counted.
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
    let facts = [
        format!("machine: {}", topology.source()),
        format!("placement: {}", placement.reason),
        format!("cost: {:.4e} hop-bytes", placement.cost),
        format!(
            "matrix: {} parties, rows send, columns receive; from white for nothing to black for {:.4e} bytes, logarithmic",
            matrix.order(),
            matrix.entries().map(|(_, _, bytes)| bytes).fold(0.0, f64::max),
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
    draw_matrix(&mut writer, matrix, side);
    draw_machine(&mut writer, &machine, machine_top);
    writer.legend(facts_top, &LEGEND);
    for (line, fact) in facts.iter().enumerate() {
        writer.line(MARGIN, facts_top + LINE * (line + 1) as f64, fact);
    }
    writer.push("</svg>\n");
    writer.svg
}

/// What stands on each CPU that may be used.
fn notes(topology: &Topology, matrix: &Matrix, placement: &Placement) -> Notes {
    let mut notes: Notes = topology
        .allowed_cpus()
        .map(|cpu| (cpu.id, (Look::CpuIdle, String::new())))
        .collect();
    let mut on: std::collections::BTreeMap<CpuId, Vec<String>> = std::collections::BTreeMap::new();
    for (party, &cpu) in placement.cpus.iter().enumerate() {
        let name = match matrix.name(party) {
            Some(name) => format!(
                "{party} {}",
                name.chars().take(NAME_MAX).collect::<String>()
            ),
            None => party.to_string(),
        };
        on.entry(cpu).or_default().push(name);
    }
    for (party, &cpu) in placement.control.iter().enumerate() {
        if let Some(cpu) = cpu.filter(|cpu| !on.contains_key(cpu)) {
            let (look, note) = notes
                .entry(cpu)
                .or_insert((Look::CpuControl, String::new()));
            *look = Look::CpuControl;
            // The first party that it serves; the rest are many and not worth the room.
            if note.is_empty() {
                *note = format!("control {party}");
            } else if !note.ends_with('…') {
                note.push('…');
            }
        }
    }
    for (cpu, names) in on {
        let mut note = names[..names.len().min(WRITTEN_MAX)].join(", ");
        if names.len() > WRITTEN_MAX {
            note += &format!(" +{}", names.len() - WRITTEN_MAX);
        }
        notes.insert(cpu, (Look::CpuParty, note));
    }
    notes
}

/// How wide the matrix is drawn: whole pixels for a cell.
fn matrix_side(order: usize) -> usize {
    match order {
        0 => 0,
        order if order > MATRIX_SIDE_MAX => MATRIX_SIDE_MAX,
        order => order * (MATRIX_SIDE_MAX / order).min(CELL_MAX),
    }
}

fn draw_matrix(writer: &mut Writer, matrix: &Matrix, side: usize) {
    let order = matrix.order();
    let cells = order.min(MATRIX_SIDE_MAX);
    if cells == 0 {
        return;
    }
    let pixel = side / cells;
    let mut sums = vec![0.0_f64; cells * cells];
    for (from, to, bytes) in matrix.entries() {
        sums[from * cells / order * cells + to * cells / order] += bytes;
    }
    let said = sums.iter().copied().filter(|sum| *sum > 0.0);
    let (least, most) = said.fold((f64::INFINITY, 0.0_f64), |(least, most), sum| {
        (least.min(sum), most.max(sum))
    });
    let span = (most / least).ln();
    // Nothing is white; the least that is said is light grey, the most black.
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
    // A line for each run of one shade, in units of cells, all of a shade in one path: a picture of 500 parties has 250,000 cells.
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
        "<rect x=\"{MARGIN}\" y=\"{MARGIN}\" width=\"{side}\" height=\"{side}\" style=\"fill:#fff\"/>\n\
         <g shape-rendering=\"crispEdges\" transform=\"translate({MARGIN} {}) scale({pixel})\">\n",
        MARGIN + pixel as f64 / 2.0
    ));
    let shaded = lines.iter().enumerate().skip(1);
    for (shade, line) in shaded.filter(|(_, line)| !line.is_empty()) {
        let grey = 225 - 225 * (shade - 1) / (SHADES - 1);
        writer.push(&format!(
            "<path d=\"{line}\" style=\"fill:none;stroke:#{grey:02x}{grey:02x}{grey:02x};stroke-width:1\"/>\n"
        ));
    }
    writer.push("</g>\n");
}

fn draw_machine(writer: &mut Writer, machine: &Layout, top: f64) {
    for tile in &machine.tiles {
        writer.tile(tile, MARGIN, top);
    }
}
