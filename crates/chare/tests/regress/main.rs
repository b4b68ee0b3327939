//! Regression tests for past bugs, and programs written to find bugs. Each file describes its bugs.

#![cfg(not(any(loom, shuttle)))]

#[path = "../common/blocker.rs"]
mod blocker;
#[path = "../common/mod.rs"]
mod common;
#[path = "../common/panics.rs"]
mod panics;

mod arguments;
mod bomb;
mod bombs;
mod ends;
mod failure_reports;
mod forks;
mod hostile;
mod insertion;
mod keys;
mod moves;
mod node_end;
mod sections;
mod soon;
mod unreceived;
mod waiting_report;

use raddle_chare::SectionForm;

/// The forms of sections, without the automatic choice.
const FORMS: [SectionForm; 3] = [
    SectionForm::TwoLevel,
    SectionForm::PointToPoint,
    SectionForm::Binomial,
];
