//! Scotch as a program: this module writes its input files, runs it, and reads its results.
//!
//! # Source
//! Pellegrini: Scotch and libScotch 7.0 User's Guide: files of graphs, targets and mappings.

use std::fmt::Write as _;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use raddle_topology::{CpuId, Distances, Matrix, Topology};

use crate::error::BenchError;

/// The possible names of the program, the most precise variant first.
const PROGRAMS: [&str; 3] = ["scotch_gmap-int64", "scotch_gmap", "gmap"];

/// The strategies: the default, quality first, and balance first.
const STRATEGIES: [&[&str]; 3] = [&[], &["-cq"], &["-cqb"]];

/// The integer weight of the heaviest edge. Scotch supports only whole numbers.
const WEIGHT_MAX: f64 = 1e5;

/// The factor that turns distances with thirds and quarters into whole numbers.
const DISTANCE_SCALE: f64 = 12.0;

/// The largest number of CPUs for which Scotch gets a table of all distances. With more, the table
/// is no fair target, and only the tree is used.
const TABLE_CPUS_MAX: usize = 512;

/// A mapping that Scotch found.
#[derive(Debug)]
pub(super) struct Mapping {
    /// The CPU of each party.
    pub(super) cpus: Vec<CpuId>,
    /// The largest number of parties on one CPU.
    pub(super) most: usize,
}

/// A folder that is removed when this value is dropped.
struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        let _not_removed = std::fs::remove_dir_all(&self.0);
    }
}

/// Maps a matrix to the CPUs of a placement, with every strategy on every available target.
///
/// Each attempt may fail independently of the others.
///
/// # Errors
/// [`BenchError::PeerMissing`] if Scotch is not installed, [`BenchError::System`] if its files
/// cannot be written.
pub(super) fn map(
    matrix: &Matrix,
    topology: &Topology,
    cpus: &[CpuId],
) -> Result<Vec<Result<Mapping, BenchError>>, BenchError> {
    let distances = Distances::new(topology);
    let places: Vec<CpuId> = topology
        .cpus()
        .iter()
        .map(|cpu| cpu.id)
        .filter(|id| cpus.contains(id))
        .collect();
    let folder = Folder(std::env::temp_dir().join(format!("raddle-scotch-{}", std::process::id())));
    let system = |source: io::Error| BenchError::System {
        what: folder.0.display().to_string(),
        source,
    };
    std::fs::create_dir_all(&folder.0).map_err(system)?;
    let graph = folder.0.join("graph.grf");
    std::fs::write(&graph, graph_text(matrix)).map_err(system)?;
    let mut targets = Vec::new();
    targets.extend(tleaf(&distances, &places));
    if places.len() <= TABLE_CPUS_MAX {
        targets.push(deco(&distances, &places));
    }
    let mut mappings = Vec::new();
    for text in targets {
        let target = folder.0.join("target.tgt");
        std::fs::write(&target, text).map_err(system)?;
        for strategy in STRATEGIES {
            let out = folder.0.join("mapping.map");
            let found = run(strategy, &graph, &target, &out).and_then(|()| {
                let text = std::fs::read_to_string(&out).map_err(system)?;
                read(&text, matrix.order(), &places)
            });
            match found {
                Err(missing @ BenchError::PeerMissing { .. }) => return Err(missing),
                found => mappings.push(found),
            }
        }
    }
    Ok(mappings)
}

fn run(strategy: &[&str], graph: &Path, target: &Path, out: &Path) -> Result<(), BenchError> {
    for program in PROGRAMS {
        let output = Command::new(program)
            .args(strategy)
            .args([graph, target, out])
            .output();
        match output {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(source) => {
                let what = program.to_owned();
                return Err(BenchError::System { what, source });
            }
            Ok(output) if output.status.success() => return Ok(()),
            Ok(output) => {
                let message = String::from_utf8_lossy(&output.stderr);
                let message = message.lines().next().unwrap_or("no message");
                let call = strategy.join(" ");
                return Err(failed(&format!(
                    "{program} {call} ended with {}: {message}",
                    output.status
                )));
            }
        }
    }
    Err(BenchError::PeerMissing {
        peer: "scotch".to_owned(),
        what: PROGRAMS.join(", "),
        package: "scotch".to_owned(),
    })
}

fn failed(message: &str) -> BenchError {
    BenchError::contender("scotch", message)
}

/// Returns the text of the graph of the bytes that parties exchange in both directions.
fn graph_text(matrix: &Matrix) -> String {
    let order = matrix.order();
    let mut rows: Vec<Vec<(usize, f64)>> = vec![Vec::new(); order];
    for (from, to, bytes) in matrix.entries() {
        if from != to {
            rows[from].push((to, bytes));
            rows[to].push((from, bytes));
        }
    }
    let mut heaviest = 0.0_f64;
    for row in &mut rows {
        row.sort_by_key(|&(to, _)| to);
        row.dedup_by(|more, kept| {
            let same = more.0 == kept.0;
            if same {
                kept.1 += more.1;
            }
            same
        });
        heaviest = row.iter().map(|&(_, bytes)| bytes).fold(heaviest, f64::max);
    }
    let arcs: usize = rows.iter().map(Vec::len).sum();
    let mut text = format!("0\n{order} {arcs}\n0 010\n");
    for row in rows {
        // Writing to a string cannot fail, here and below.
        let _ = write!(text, "{}", row.len());
        for (to, bytes) in row {
            let weight = (bytes / heaviest * WEIGHT_MAX).round().max(1.0);
            let _ = write!(text, " {weight} {to}");
        }
        text.push('\n');
    }
    text
}

fn whole(distances: &Distances, left: CpuId, right: CpuId) -> u64 {
    let distance = distances.between(left, right).unwrap_or(0.0);
    (distance * DISTANCE_SCALE).round() as u64
}

/// Describes the CPUs as a regular tree, if they form one: for each level from the root, the number
/// of children and the distance between them.
fn tleaf(distances: &Distances, places: &[CpuId]) -> Option<String> {
    let mut levels = Vec::new();
    let mut groups: Vec<&[CpuId]> = vec![places];
    while groups[0].len() > 1 {
        let first = groups[0];
        let far = first
            .iter()
            .map(|&cpu| whole(distances, first[0], cpu))
            .max()?;
        let mut next: Vec<&[CpuId]> = Vec::new();
        for group in &groups {
            next.extend(group.chunk_by(|&left, &right| whole(distances, left, right) < far));
        }
        let arity = next.len() / groups.len();
        let size = next[0].len();
        if arity == 1 {
            // Neighbours are nearer to each other than the ends, so there are no groups.
            return None;
        }
        if next.iter().any(|group| group.len() != size) || !next.len().is_multiple_of(groups.len())
        {
            return None;
        }
        levels.push((arity, far));
        groups = next;
    }
    let mut text = format!("tleaf {}", levels.len());
    for (arity, far) in levels {
        let _ = write!(text, " {arity} {far}");
    }
    text.push('\n');
    Some(text)
}

/// Describes the CPUs with all distances and with the way to halve them: the halves of the set with
/// number n have the numbers 2n and 2n + 1.
fn deco(distances: &Distances, places: &[CpuId]) -> String {
    let mut numbers = vec![0_u64; places.len()];
    let mut waiting = vec![(0, places.len(), 1_u64)];
    while let Some((first, end, number)) = waiting.pop() {
        if end - first == 1 {
            numbers[first] = number;
            continue;
        }
        let middle = first + (end - first).div_ceil(2);
        waiting.push((first, middle, 2 * number));
        waiting.push((middle, end, 2 * number + 1));
    }
    let largest = numbers.iter().max().copied().unwrap_or(1);
    let mut text = format!("deco\n0\n{} {largest}\n", places.len());
    for (label, number) in numbers.iter().enumerate() {
        let _ = writeln!(text, "{label} 1 {number}");
    }
    for (index, &left) in places.iter().enumerate().skip(1) {
        for &right in &places[..index] {
            let _ = write!(text, "{} ", whole(distances, left, right));
        }
        text.push('\n');
    }
    text
}

fn read(text: &str, order: usize, places: &[CpuId]) -> Result<Mapping, BenchError> {
    let mut numbers = text
        .split_ascii_whitespace()
        .map(|word| word.parse::<usize>().ok());
    let wrong = || failed("its mapping is malformed");
    let count = numbers
        .next()
        .flatten()
        .filter(|count| *count == order)
        .ok_or_else(wrong)?;
    let mut cpus = vec![None; order];
    let mut counts = vec![0; places.len()];
    for _ in 0..count {
        let vertex = numbers
            .next()
            .flatten()
            .filter(|vertex| *vertex < order)
            .ok_or_else(wrong)?;
        let place = numbers
            .next()
            .flatten()
            .filter(|place| *place < places.len())
            .ok_or_else(wrong)?;
        cpus[vertex] = Some(places[place]);
        counts[place] += 1;
    }
    Ok(Mapping {
        cpus: cpus.into_iter().collect::<Option<_>>().ok_or_else(wrong)?,
        most: counts.into_iter().max().unwrap_or(0),
    })
}
