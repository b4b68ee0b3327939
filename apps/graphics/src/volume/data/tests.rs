//! Tests of the conversion of bytes to voxels, and of what is refused.

use super::*;

fn layout(scalar: Scalar) -> Layout {
    Layout::new([2, 2, 2], scalar, Place::Byte(7))
}

fn read(layout: &Layout, bytes: &[u8]) -> Result<Voxels, String> {
    let length = Some(bytes.len() as u64);
    let mut source = Source::new(Box::new(bytes), length, u64::MAX, Box::new(|| ()));
    layout
        .read(&mut source, None)
        .map_err(|fault| fault.at("it").to_string())
}

fn text(layout: &Layout, text: &str) -> Result<Voxels, String> {
    let length = Some(text.len() as u64);
    let mut source = Source::new(Box::new(text.as_bytes()), length, u64::MAX, Box::new(|| ()));
    layout
        .read_text(&mut source)
        .map_err(|fault| fault.at("it").to_string())
}

#[test]
fn types_and_byte_orders_are_converted() {
    let bytes: Vec<u8> = (0..8).flat_map(|it: i16| (it - 3).to_be_bytes()).collect();
    let big = Layout {
        is_big_endian: true,
        ..layout(Scalar::I16)
    };
    assert_eq!(
        read(&big, &bytes),
        Ok((-3..5_i16).collect::<Vec<_>>().into())
    );
    let bytes: Vec<u8> = (0..8)
        .flat_map(|it: u32| (it << 20).to_le_bytes())
        .collect();
    let floats: Vec<f32> = (0..8).map(|it| (it << 20) as f32).collect();
    assert_eq!(read(&layout(Scalar::U32), &bytes), Ok(floats.into()));
    let bytes: Vec<u8> = (0..8)
        .flat_map(|it| (0.5 * f64::from(it)).to_le_bytes())
        .collect();
    let floats: Vec<f32> = (0..8_u8).map(|it| 0.5 * f32::from(it)).collect();
    assert_eq!(read(&layout(Scalar::F64), &bytes), Ok(floats.into()));
    let signed: Vec<i8> = vec![-1, 0, 1, 2, 3, 4, 5, -128];
    let bytes: Vec<u8> = signed.iter().map(|&it| it as u8).collect();
    assert_eq!(read(&layout(Scalar::I8), &bytes), Ok(signed.into()));
}

#[test]
fn a_scale_gives_short_integers_if_they_fit_and_floats_otherwise() {
    let bytes: Vec<u8> = (0..8).collect();
    let scaled = |slope, intercept| Layout {
        slope,
        intercept,
        ..layout(Scalar::U8)
    };
    let shorts: Vec<i16> = (0..8).map(|it| 2 * it - 1024).collect();
    assert_eq!(read(&scaled(2.0, -1024.0), &bytes), Ok(shorts.into()));
    let floats: Vec<f32> = (0..8_u8).map(|it| 0.25 * f32::from(it) + 1.0).collect();
    assert_eq!(read(&scaled(0.25, 1.0), &bytes), Ok(floats.into()));
    let large: Vec<f32> = (0..8_u8).map(|it| 1e6 * f32::from(it)).collect();
    assert_eq!(read(&scaled(1e6, 0.0), &bytes), Ok(large.into()));
    assert_eq!(
        read(&scaled(1e300, 0.0), &bytes),
        Err("it: byte 1: voxel (1, 0, 0) is inf; expected finite numbers".to_owned())
    );
}

#[test]
fn voxels_that_are_not_numbers_are_refused_with_their_position() {
    let mut bytes: Vec<u8> = (0..8).flat_map(|it| (it as f32).to_le_bytes()).collect();
    bytes[5 * 4..6 * 4].copy_from_slice(&f32::NAN.to_le_bytes());
    assert_eq!(
        read(&layout(Scalar::F32), &bytes),
        Err("it: byte 20: voxel (1, 0, 1) is NaN; expected finite numbers".to_owned())
    );
    let mut bytes = [0; 8 * 8];
    bytes[6 * 8..7 * 8].copy_from_slice(&1e300_f64.to_le_bytes());
    let too_large = "it: byte 48: voxel (0, 1, 1) is inf; expected finite numbers of magnitude \
                     below 3.4e38";
    assert_eq!(
        read(&layout(Scalar::F64), &bytes),
        Err(too_large.to_owned())
    );
    assert_eq!(
        text(&layout(Scalar::F32), "0 1 2 inf 4 5 6 7"),
        Err("it: line 1: voxel (1, 1, 0) is inf; expected finite numbers".to_owned())
    );
    assert_eq!(
        text(&layout(Scalar::U8), "0 1 2 300 4 5 6 7"),
        Err("it: line 1: \"300\"; expected a number of type u8".to_owned())
    );
    assert_eq!(
        text(&layout(Scalar::I16), "0 -1 2 3\n4 5 6 7"),
        Ok(vec![0_i16, -1, 2, 3, 4, 5, 6, 7].into())
    );
}

#[test]
fn a_size_that_the_file_cannot_contain_is_refused_before_memory_is_reserved() {
    let claims = |size| Layout {
        size,
        ..layout(Scalar::U8)
    };
    assert_eq!(
        read(&claims([1 << 19; 3]), &[0; 8]),
        Err(
            "it: byte 0: 8 bytes of voxels; expected 144115188075855872 bytes for 524288 × \
             524288 × 524288 voxels"
                .to_owned()
        )
    );
    let error = read(&claims([1 << 24, 1 << 24, 1 << 24]), &[0; 8]).expect_err("too many");
    assert!(error.contains("voxels that fit into the memory"), "{error}");
    let error = read(&claims([1, 8, 1]), &[0; 8]).expect_err("too thin");
    assert!(
        error.contains("expected 2 to 16777216 along each axis"),
        "{error}"
    );
    let error = text(&claims([1 << 9, 1 << 9, 1 << 9]), "1 2 3").expect_err("too short");
    assert!(error.contains("5 bytes of voxels"), "{error}");
    // A compressed file of a hundred bytes cannot contain so much either.
    let mut source = Source::new(Box::new(&[][..]), None, u64::MAX, Box::new(|| ()));
    let fault = claims([1 << 12; 3])
        .read(&mut source, Some(100))
        .expect_err("too large");
    let error = fault.at("it").to_string();
    assert!(error.contains("voxels in 100 compressed bytes"), "{error}");
}

#[test]
fn a_file_that_ends_early_is_refused() {
    let mut source = Source::new(Box::new(&[1, 2, 3][..]), None, u64::MAX, Box::new(|| ()));
    let fault = layout(Scalar::U8)
        .read(&mut source, None)
        .expect_err("too short");
    assert_eq!(
        fault.at("it").to_string(),
        "it: byte 3: the end of the file; expected 8 voxels of 1 bytes"
    );
    assert_eq!(
        text(&layout(Scalar::F32), "1 2 3 4 5.5 6 7    "),
        Err("it: line 1: the end of the file; expected 8 numbers".to_owned())
    );
}

#[test]
fn a_pipe_reserves_no_memory_for_what_a_header_only_claims() {
    let mut source = Source::new(Box::new(&[1, 2, 3][..]), None, u64::MAX, Box::new(|| ()));
    let claims = Layout::new([1 << 15; 3], Scalar::F64, Place::Byte(0));
    let fault = claims.read(&mut source, None).expect_err("too short");
    assert!(fault.at("it").to_string().contains("the end of the file"));
}
