//! Reading of Scotch graphs.
//!
//! # Source
//! Pellegrini: Scotch and libScotch 7.0 User's Guide, section "Graph files".

use super::Matrix;
use super::text::{Problem, Word, lines, words};

/// Parses a graph of at most `order_max` vertices.
pub(super) fn parse(text: &str, order_max: usize) -> Result<Matrix, Problem> {
    let mut words = lines(text, '#').flat_map(|(number, line)| words(number, line));
    let mut next = |what: &str| words.next().ok_or_else(|| Problem::at_end(text, what));
    next("a version")?.index(0, 0, "a version")?;
    // Each vertex takes at least a digit and a blank.
    let vertices_max = order_max.min(text.len());
    let order = next("a number of vertices")?.index(0, vertices_max, "a number of vertices")?;
    let arc_word = next("a number of arcs")?;
    let arcs = arc_word.index(0, text.len(), "a number of arcs")?;
    let base =
        next("the number of the first vertex")?.index(0, 1, "the number of the first vertex,")?;
    let flags = next("three flags")?;
    let [has_labels, has_loads, has_weights] = read_flags(&flags)?;
    let mut matrix = Matrix::new(order);
    let mut found = 0;
    // Vertices may have labels in any order, and arcs name labels. So arcs are resolved at the end.
    let mut vertices = std::collections::HashMap::new();
    let mut rows: Vec<(usize, Vec<(Word<'_>, f64)>)> = Vec::new();
    for vertex in 0..order {
        if has_labels {
            let label = next("the label of a vertex")?;
            let number = label.index(0, usize::MAX, "a label")?;
            if vertices.insert(number, vertex).is_some() {
                return Err(label.wrong("a label that no vertex before has"));
            }
        }
        if has_weights {
            next("the weight of a vertex")?.bytes()?;
        }
        let degree_word = next("the number of arcs of a vertex")?;
        let degree = degree_word.index(0, arcs - found.min(arcs), "a number of arcs")?;
        found += degree;
        let mut row = Vec::new();
        for _ in 0..degree {
            let load = if has_loads {
                next("the load of an arc")?.bytes()?
            } else {
                1.0
            };
            row.push((next("the end of an arc")?, load));
        }
        rows.push((vertex, row));
    }
    if found != arcs {
        return Err(arc_word.wrong(format!("{found}, the sum over all vertices")));
    }
    for (vertex, row) in rows {
        for (end, load) in row {
            let to = if has_labels {
                let label = end.index(0, usize::MAX, "a label")?;
                *vertices
                    .get(&label)
                    .ok_or_else(|| end.wrong("the label of a vertex"))?
            } else {
                end.index(base, (base + order).saturating_sub(1), "a vertex")? - base
            };
            matrix.add(vertex, to, load);
        }
    }
    match words.next() {
        Some(word) => Err(word.wrong(format!("the end of the file after {order} vertices"))),
        None => Ok(matrix),
    }
}

/// Parses the flags for labels, loads of arcs and weights of vertices. Each is a digit, and leading
/// zeros may be omitted.
fn read_flags(word: &Word<'_>) -> Result<[bool; 3], Problem> {
    let wrong = || word.wrong("three flags, each 0 or 1");
    if word.text.len() > 3 || word.text.is_empty() {
        return Err(wrong());
    }
    let mut flags = [false; 3];
    for (flag, byte) in flags.iter_mut().rev().zip(word.text.bytes().rev()) {
        *flag = match byte {
            b'0' => false,
            b'1' => true,
            _ => return Err(wrong()),
        };
    }
    Ok(flags)
}
