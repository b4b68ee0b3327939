//! The variants of each figure, and their charts from made-up records.

use raddle::chare::{ArrayOptions, Section};
use raddle::prelude::*;

use super::super::tests::{record, words};
use super::*;

#[test]
fn variants_differ_only_in_their_own_option() {
    let best = MessageOptions::default();
    for figure in FIGURES {
        let variants = variants(figure, best);
        assert!(variants.len() >= 2, "{figure} compares nothing");
        let same_but_for_it = |options: MessageOptions| match figure {
            "balance" => MessageOptions {
                worker_tasks: best.worker_tasks,
                ..options
            },
            "sync" => MessageOptions {
                sync: best.sync,
                worker_tasks: best.worker_tasks,
                ..options
            },
            "scans" => MessageOptions {
                scans: best.scans,
                ..options
            },
            _ => MessageOptions {
                arrays: best.arrays,
                ..options
            },
        };
        for (index, &(name, options)) in variants.iter().enumerate() {
            assert_eq!(same_but_for_it(options), best, "{figure} {name}");
            let is_new = variants[..index].iter().all(|&(_, other)| other != options);
            assert!(is_new, "{figure} {name} is there twice");
        }
    }
    assert!(variants("grain", best).is_empty());
}

/// A member of a section.
#[derive(Debug)]
struct Member;

#[chare]
impl Member {}

// Regression: the figure measured dynamic tasks, for which `two-level` is the same as `auto`, so
// that the ratio of the two was noise.
#[test]
fn the_variants_of_sync_are_sections_of_different_forms() {
    let variants = variants("sync", MessageOptions::default());
    for (name, options) in &variants {
        assert_eq!(options.worker_tasks, WorkerTasks::Static, "{name}");
    }
    let runtime = Runtime::builder().workers(2).build();
    let runtime = runtime.expect("two workers");
    let forms_of = |make: &dyn Fn(SectionForm) -> Section<Member>| -> Vec<_> {
        let forms = |sync| {
            let section = make(sync);
            let forms = section.forms();
            section.destroy();
            forms
        };
        variants
            .iter()
            .map(|(_, options)| forms(options.sync))
            .collect()
    };
    let asked = [
        SectionForm::TwoLevel,
        SectionForm::PointToPoint,
        SectionForm::Binomial,
    ];
    for size in [2, 8] {
        let options = ArrayOptions::new(size).placed(|index: usize| index % 2);
        let array = runtime.array_with(options, |_| Member);
        let of_static = forms_of(&|form| array.section_with(form, 0..size));
        assert_eq!(of_static[..3], asked.map(|form| (form, form)));
        let singles: Vec<MemberProxy> = (0..size).map(|_| runtime.chare(|_| Member)).collect();
        let of_dynamic = forms_of(&|form| runtime.section_with(form, singles.iter().copied()));
        assert_eq!(
            of_dynamic[0], of_dynamic[3],
            "dynamic tasks are never two-level"
        );
    }
}

#[test]
fn a_chart_has_a_line_for_each_mesh() {
    let records = [
        record("balance-bunny-d8", "static", 2, None),
        record("balance-bunny-d8", "again", 2, Some(1.01)),
        record("balance-bunny-d8", "dynamic", 2, Some(0.9)),
        record("balance-dragon-res2-d8", "dynamic", 2, Some(1.1)),
        record("balance-dragon-res2-d8", "dynamic", 4, Some(1.3)),
        record("sync-bunny-d15", "auto", 2, Some(1.2)),
        record("speedup-bunny-d15", "serial", 2, Some(0.5)),
    ];
    let tables: Vec<_> = charts(&records).iter().map(Chart::table).collect();
    assert_eq!(tables.len(), 2, "equal builders have no panel");
    let rows = words(&tables[0]);
    assert!(
        tables[0].starts_with("fig. 2: static over dynamic, depth 8, speedup "),
        "{}",
        tables[0]
    );
    assert!(rows[0].ends_with(&["2", "4"]));
    assert_eq!(rows[1], ["bunny", "0.90"]);
    assert_eq!(rows[2], ["dragon-res2", "1.10", "1.30"]);
    assert!(tables[1].starts_with("fig. 4: two-level over auto, depth 15, speedup "));
}
