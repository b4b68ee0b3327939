//! The rules for the combination of levels in one machine.

use super::kind::Kind;
use super::{Level, Machine, Problem};

/// Checks that hwloc accepts the combination of levels.
pub(super) fn check(machine: &Machine<'_>) -> Result<(), Problem> {
    let levels = machine.levels_with_words();
    let Some((innermost, inner)) = levels.split_last() else {
        return Err(Problem::new("no level", super::LEVELS));
    };
    if !matches!(innermost.kind, None | Some(Kind::Pu)) {
        return Err(Problem::new(
            format!("{:?} as the last level", innermost.word),
            "the CPUs as the last level, such as \"pu:2\"",
        ));
    }
    check_names(inner)?;
    check_repetitions(levels)?;
    check_memories(machine)
}

/// Checks that either all inner levels have a kind or none has. hwloc chooses the kinds of all
/// levels or of none.
fn check_names(inner: &[Level<'_>]) -> Result<(), Problem> {
    let of = |is_named: bool| inner.iter().find(|level| level.kind.is_some() == is_named);
    match (of(true), of(false)) {
        (Some(named), Some(unnamed)) => Err(Problem::new(
            format!("{:?} without a kind beside {:?}", unnamed.word, named.word),
            "a kind for each level, or for none but the last",
        )),
        _ => Ok(()),
    }
}

/// Checks that kinds that hwloc allows only once are not repeated.
fn check_repetitions(levels: &[Level<'_>]) -> Result<(), Problem> {
    for kind in [Kind::Package, Kind::Die, Kind::Numa, Kind::Core] {
        let mut of_kind = levels.iter().filter(|level| level.kind == Some(kind));
        if let (Some(first), Some(second)) = (of_kind.next(), of_kind.next()) {
            return Err(Problem::new(
                format!("{:?} below {:?}", second.word, first.word),
                format!("one level of the kind {kind}"),
            ));
        }
    }
    Ok(())
}

/// Checks that memories are either a level of their own or attached to other levels, not both.
fn check_memories(machine: &Machine<'_>) -> Result<(), Problem> {
    let level = machine
        .levels_with_words()
        .iter()
        .find(|level| level.kind == Some(Kind::Numa));
    match (level, machine.attached().next()) {
        (Some(level), Some((memory, _))) => Err(Problem::new(
            format!("{:?} beside {:?}", memory.word, level.word),
            "memories as a level, or in brackets",
        )),
        _ => Ok(()),
    }
}
