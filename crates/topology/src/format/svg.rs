//! Output of topologies as SVG pictures, with nested boxes and a legend.
//!
//! A picture is self-contained: it includes its style, uses the fonts of the viewer, and loads no
//! other file.

use std::fmt::Write;

use super::facts;
use super::layout::{LINE, Look, Tile, layout, text_width};
use crate::topology::Topology;

/// The margin around the picture in pixels.
pub(super) const MARGIN: f64 = 10.0;

/// The width of a box in the legend with the space around it, in pixels.
const LEGEND_BOX: f64 = 40.0;

/// The maximum number of characters of a fact, so that a long path does not widen the picture.
const FACT_CHARACTERS_MAX: usize = 140;

/// The style sheet. Each look has a class. Text is always dark on a light background.
pub(super) const STYLE: &str = "\
text{font:12px \"DejaVu Sans\",Verdana,sans-serif;fill:#1d2126}\
rect{stroke:#59616b;stroke-width:1}\
.machine{fill:#fff}.group{fill:#f2f4f7;stroke-dasharray:6 3}.package{fill:#e3e8ee}\
.die{fill:#eceff3}\
.core{fill:#c5ccd6}.data{fill:#fffdf2}.instruction{fill:#f4efdc}.memory{fill:#f3dfd9}\
.allowed{fill:#bfe5a8}.party{fill:#9bd67c}.control{fill:#a9c9ef}.idle{fill:#fff}\
.forbidden{fill:#f0a89c;stroke:#9c2717;stroke-dasharray:3 2}\
.more{fill:#fff;stroke-dasharray:2 3}";

/// The entries of the legend.
const LEGEND: [(Look, &str); 5] = [
    (Look::CpuAllowed, "CPU that may be used"),
    (Look::CpuForbidden, "CPU that may not"),
    (Look::Core, "core"),
    (Look::DataCache, "cache"),
    (Look::Memory, "memory"),
];

/// Returns a topology as SVG, with one unit per pixel.
///
/// Each object is a box. The colour of a CPU shows whether the process may use it. Below the
/// machine are the facts that the text format has below its tree. If the machine has more than 1024
/// CPUs, only a part is drawn, and the rest is counted.
///
/// # Examples
/// ```
/// use raddle_topology::{Topology, format};
/// let topology = Topology::synthetic("package:2 core:4 pu:2")?;
/// assert!(format::svg(&topology).starts_with("<svg xmlns="));
/// # Ok::<(), raddle_topology::TopologyError>(())
/// ```
#[must_use]
pub fn svg(topology: &Topology) -> String {
    let machine = layout(topology);
    let mut facts: Vec<_> = facts(topology)
        .into_iter()
        .map(|(name, fact)| shortened(&format!("{name}: {fact}")))
        .collect();
    facts.push(
        "numbers: L# counts in the order of the machine, P# is the operating system's".to_owned(),
    );
    let widest = facts
        .iter()
        .map(|fact| text_width(fact))
        .fold(legend_width(), f64::max);
    let width = machine.width.max(widest) + 2.0 * MARGIN;
    let facts_top = MARGIN + machine.height + LINE;
    let height = facts_top + LINE * (facts.len() + 1) as f64 + MARGIN;
    let mut writer = Writer { svg: String::new() };
    writer.push(&format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" \
         viewBox=\"0 0 {width:.0} {height:.0}\">\n<title>{}</title>\n<style>{STYLE}</style>\n\
         <rect width=\"100%\" height=\"100%\" style=\"fill:#fff;stroke:none\"/>\n",
        escaped(&shortened(&topology.source().to_string())),
    ));
    for tile in &machine.tiles {
        writer.tile(tile, MARGIN, MARGIN);
    }
    writer.legend(facts_top, &LEGEND);
    for (line, fact) in facts.iter().enumerate() {
        writer.line(MARGIN, facts_top + LINE * (line + 1) as f64, fact);
    }
    writer.push("</svg>\n");
    writer.svg
}

/// The picture so far.
pub(super) struct Writer {
    pub(super) svg: String,
}

impl Writer {
    /// Draws a tile, shifted by `dx` and `dy`.
    pub(super) fn tile(&mut self, tile: &Tile, dx: f64, dy: f64) {
        self.push("<g>");
        if !tile.hint.is_empty() {
            self.push(&format!("<title>{}</title>", escaped(&tile.hint)));
        }
        let (x, y) = (tile.x + dx, tile.y + dy);
        self.push(&format!(
            "<rect class=\"{}\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{:.1}\" height=\"{:.1}\" \
             rx=\"2\"/>",
            class(tile.look),
            tile.width,
            tile.height,
        ));
        let is_cpu = matches!(
            tile.look,
            Look::CpuAllowed
                | Look::CpuForbidden
                | Look::CpuParty
                | Look::CpuControl
                | Look::CpuIdle
                | Look::More
        );
        let (x, anchor) = if is_cpu {
            (x + tile.width / 2.0, " text-anchor=\"middle\"")
        } else {
            (x + 5.0, "")
        };
        self.push(&format!(
            "<text x=\"{x:.1}\" y=\"{:.1}\"{anchor}>{}</text></g>\n",
            y + 13.5,
            escaped(&tile.label)
        ));
    }

    /// Draws a legend in one line.
    pub(super) fn legend(&mut self, y: f64, legend: &[(Look, &str)]) {
        let mut x = MARGIN;
        for &(look, label) in legend {
            let tile = Tile {
                x,
                y: y + 2.0,
                width: 14.0,
                height: 14.0,
                look,
                label: String::new(),
                hint: String::new(),
            };
            self.tile(&tile, 0.0, 0.0);
            self.line(x + 20.0, y, label);
            x += LEGEND_BOX + text_width(label);
        }
    }

    /// Draws a line of text.
    pub(super) fn line(&mut self, x: f64, y: f64, text: &str) {
        self.push(&format!(
            "<text x=\"{x:.1}\" y=\"{:.1}\">{}</text>\n",
            y + 13.5,
            escaped(text)
        ));
    }

    /// Appends text to the picture.
    pub(super) fn push(&mut self, text: &str) {
        // Writing to a string cannot fail.
        let _ = self.svg.write_str(text);
    }
}

/// Returns the class of a look in the style sheet.
const fn class(look: Look) -> &'static str {
    match look {
        Look::Machine => "machine",
        Look::Group => "group",
        Look::Package => "package",
        Look::Die => "die",
        Look::Core => "core",
        Look::DataCache => "data",
        Look::InstructionCache => "instruction",
        Look::Memory => "memory",
        Look::CpuAllowed => "allowed",
        Look::CpuForbidden => "forbidden",
        Look::CpuParty => "party",
        Look::CpuControl => "control",
        Look::CpuIdle => "idle",
        Look::More => "more",
    }
}

/// Returns the width of the legend.
fn legend_width() -> f64 {
    LEGEND
        .iter()
        .map(|(_, label)| LEGEND_BOX + text_width(label))
        .sum()
}

/// Returns a text cut to the maximum number of characters.
pub(super) fn shortened(text: &str) -> String {
    if text.chars().count() <= FACT_CHARACTERS_MAX {
        return text.to_owned();
    }
    let start: String = text.chars().take(FACT_CHARACTERS_MAX - 1).collect();
    start + "…"
}

/// Escapes a text for XML. Characters that XML cannot contain are replaced.
pub(super) fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&apos;"),
            '\t' | '\n' | '\r' => escaped.push(' '),
            '\0'..='\x1f' | '\u{fffe}' | '\u{ffff}' => escaped.push('\u{fffd}'),
            other => escaped.push(other),
        }
    }
    escaped
}
