//! Tests of transfer functions and their files.

use super::*;

fn read(text: &str) -> Result<TransferFunction, String> {
    let mut source = Source::new(Box::new(text.as_bytes()), None, u64::MAX, Box::new(|| ()));
    TransferFunction::read(&mut source).map_err(|fault| fault.at("it").to_string())
}

#[test]
fn colours_and_opacities_are_linear_between_points_and_constant_outside() {
    let transfer = read("# comment\n20 1 1 1 0.5\n\n10, 0, 0, 0, 0 # first\n").expect("a file");
    assert_eq!(transfer.points().len(), 2);
    assert_eq!(transfer.at(5.0), Vec4::ZERO);
    assert_eq!(transfer.at(15.0), Vec4::new(0.5, 0.5, 0.5, 0.25));
    assert_eq!(transfer.at(20.0), Vec4::new(1.0, 1.0, 1.0, 0.5));
    assert_eq!(transfer.at(99.0), Vec4::new(1.0, 1.0, 1.0, 0.5));
    // Two points at one value are a step.
    let step = read("1 0 0 0 0\n1 0 0 0 1").expect("a file");
    assert_eq!(
        [0.5, 1.0, 1.5].map(|value| step.at(value).w),
        [0.0, 1.0, 1.0]
    );
}

#[test]
fn errors_name_the_line() {
    let line = "it: line 2: \"1 2 3\"; expected a value, red, green, blue and opacity";
    assert_eq!(read("0 0 0 0 0\n1 2 3\n"), Err(line.to_owned()));
    let error = read("0 0 0 0 1.5\n").expect_err("out of range");
    assert!(error.ends_with("expected a finite value, and colours and opacity from 0 to 1"));
    assert!(read("nan 0 0 0 0\n").is_err());
    assert!(
        read("# nothing\n")
            .expect_err("empty")
            .contains("the end of the file")
    );
}

#[test]
fn a_table_finds_every_visible_value() {
    let transfer = read("100 0 0 0 0\n110 1 0 0 0.5\n120 0 0 0 0\n").expect("a file");
    let table = transfer.table([0.0, 255.0], 1.0);
    let entry = |table: &Table| table.entry(table.place(110.0));
    assert_eq!(
        [50.0, 105.0, f32::NAN].map(|value| table.visible(table.place(value))),
        [0, 1, 0]
    );
    assert!(!table.is_visible([0.0, 99.0]) && !table.is_visible([121.0, 255.0]));
    assert!(table.is_visible([0.0, 101.0]) && table.is_visible([119.0, 200.0]));
    assert!(table.is_visible([105.0, 105.0]) && table.is_visible([-5.0, 900.0]));
    assert!((entry(&table).w - 0.5).abs() < 0.01);
    // Two layers of half the thickness stop as much as one.
    let half = entry(&transfer.table([0.0, 255.0], 0.5)).w;
    let both = 1.0 - (1.0 - half) * (1.0 - half);
    assert!((both - entry(&table).w).abs() < 1e-6);
    let one_value = transfer.table([110.0, 110.0], 1.0);
    assert!(one_value.is_visible([110.0, 110.0]));
    assert!((entry(&one_value).w - 0.5).abs() < 1e-6);
}

#[test]
fn presets_show_something_of_every_histogram() {
    let histogram = Histogram {
        range: [-1000.0, 3000.0],
        counts: vec![50, 3, 0, 0, 10, 5, 1, 1],
    };
    for preset in &PRESETS {
        let transfer =
            TransferFunction::relative(Some(preset), histogram.range, histogram.threshold());
        assert!(transfer.at(3000.0).w > 0.0, "{}", preset.name);
        assert_eq!(transfer.at(-1000.0).w, 0.0, "{}", preset.name);
    }
    assert!(TransferFunction::of_histogram(&histogram).at(2500.0).w > 0.2);
}

#[test]
fn threshold_and_opacity_can_be_set() {
    let transfer = TransferFunction::relative(Some(&PRESETS[0]), [0.0, 100.0], 50.0);
    assert_eq!(transfer.points()[0].value, 62.5);
    assert_eq!(transfer.clone().with_opacity(0.5).at(75.0).w, 0.25);
    assert_eq!(transfer.with_opacity(9.0).at(100.0).w, 1.0);
}

// Regression: a threshold above all values made all of them opaque.
#[test]
fn a_threshold_out_of_range_has_all_values_on_one_side() {
    let with = |threshold| TransferFunction::relative(None, [0.0, 100.0], threshold);
    for transfer in [with(200.0), with(-50.0)] {
        assert!(transfer.points().is_sorted_by(|a, b| a.value <= b.value));
    }
    assert!(
        !with(200.0)
            .table([0.0, 100.0], 1.0)
            .is_visible([0.0, 100.0])
    );
    assert!(with(-50.0).at(0.0).w > 0.2);
    for preset in PRESETS.iter().filter(|preset| !preset.has_threshold()) {
        let with = |threshold| TransferFunction::relative(Some(preset), [0.0, 100.0], threshold);
        assert_eq!(with(30.0), with(700.0), "{}", preset.name);
        assert_eq!(with(30.0).points()[0].value, 0.0);
    }
}

#[test]
fn a_peak_between_two_entries_of_the_table_is_not_lost() {
    let point = |value: f64, opacity: f32| ControlPoint {
        value,
        colour: [1.0; 3],
        opacity,
    };
    let points = vec![point(1000.0, 0.0), point(1004.0, 0.8), point(1008.0, 0.0)];
    let transfer = TransferFunction::new(points).expect("sound points");
    let table = transfer.table([0.0, 65_535.0], 1.0);
    assert!(table.is_visible([1000.0, 1008.0]));
    assert!((table.entry(table.place(1004.0)).w - 0.8).abs() < 1e-6);
    // A peak out of range is not moved to the last entry.
    assert!(!transfer.table([0.0, 900.0], 1.0).is_visible([0.0, 900.0]));
}
