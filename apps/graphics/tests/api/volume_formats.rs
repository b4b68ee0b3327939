//! Every format gives the same volume, and errors that name their place.

use glam::DVec3;
use raddle_graphics::render::FrameOptions;
use raddle_graphics::volume::direct::{self, DirectOptions};
use raddle_graphics::volume::isosurface::{self, IsosurfaceOptions};
use raddle_graphics::volume::{LoadOptions, Loaded, Macrocells, TransferFunction, Volume, Voxels};

use crate::volume_support::*;

fn read(name: &str, bytes: &[u8]) -> Result<Loaded, String> {
    let length = Some(bytes.len() as u64);
    Volume::read(bytes, length, name, &LoadOptions::default(), |_| ())
        .map_err(|error| error.to_string())
}

fn error(name: &str, bytes: &[u8]) -> String {
    let error = read(name, bytes).expect_err("the file is bad");
    assert_eq!(error.lines().count(), 1, "{error}");
    assert!(error.contains("; expected "), "{error}");
    error
}

#[test]
fn every_format_gives_the_same_volume() {
    let expected = Voxels::from(voxels());
    for (name, bytes) in every_format() {
        let loaded = read(name, &bytes).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(loaded.volume.size(), [5, 4, 3], "{name}");
        assert!(*loaded.volume.voxels() == expected, "{name}");
        assert_eq!(loaded.volume.spacing(), DVec3::new(1.0, 2.0, 3.0), "{name}");
        // The volume is far from the origin along z, for its size.
        let origin = loaded.volume.origin() + loaded.report.offset;
        assert_eq!(origin, DVec3::new(10.0, 20.0, 30.0), "{name}");
        assert_eq!(loaded.volume.direction(), glam::DMat3::IDENTITY, "{name}");
        assert_eq!(loaded.report.trailing_bytes, 0, "{name}");
        // The content decides, whatever the name is.
        let other = read("it", &bytes).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(other.volume, loaded.volume, "{name}");
    }
}

#[test]
fn raw_files_have_their_size_and_type_in_the_name() {
    for (name, bytes) in [
        ("head_5x4x3_i16le.raw", little()),
        ("head-5x4x3-i16be.bin", big()),
        ("5x4x3_short.raw", little()),
        ("head_5x4x3_int16.raw.gz", gzip(&little())),
    ] {
        let loaded = read(name, &bytes).unwrap_or_else(|error| panic!("{error}"));
        assert!(*loaded.volume.voxels() == Voxels::from(voxels()), "{name}");
    }
    let bytes = read("head_5x4x6.raw", &little()).expect("bytes without a type");
    assert_eq!(bytes.volume.voxels().type_name(), "u8");
    let mut options = LoadOptions {
        raw_size: Some([4, 5, 3]),
        raw_type: Some("u16be".to_owned()),
        ..LoadOptions::default()
    };
    let loaded = Volume::read(&little()[..], None, "it.raw", &options, |_| ());
    assert_eq!(loaded.expect("a volume").volume.size(), [4, 5, 3]);
    options.raw_type = Some("complex".to_owned());
    let error = Volume::read(&little()[..], None, "it.raw", &options, |_| ());
    let error = error.expect_err("an unknown type").to_string();
    assert!(error.contains("the type \"complex\""), "{error}");
}

#[test]
fn raw_files_without_a_sound_size_are_refused() {
    let little = little();
    assert!(error("head.raw", &little).contains("voxels without a size"));
    let length = error("head_5x4x3_u8.raw", &little);
    assert!(length.contains("120 bytes; expected 60 bytes for 5 × 4 × 3 voxels of 1 bytes"));
    assert!(error("head_5x4x3.raw", &little).contains("120 bytes for 60 voxels; expected a name"));
    let huge = "head_1000000000000000000000x4x3_u8.raw";
    assert!(error(huge, &little).contains("voxels without a size"));
    let large = "head_4000000000x4000000000x4_u8.raw";
    assert!(error(large, &little).contains("along each axis"));
}

#[test]
fn density_maps_are_recognised_by_their_header() {
    let voxels: Vec<u8> = (0..24).collect();
    let loaded = read("it", &den([4, 3, 2], &voxels)).expect("a density map");
    assert_eq!(loaded.volume.size(), [4, 3, 2]);
    assert!(*loaded.volume.voxels() == Voxels::from(voxels.clone()));
    let mut wrong = den([4, 3, 2], &voxels);
    wrong[58] = 25;
    let found = error("it.den", &wrong);
    assert_eq!(
        found,
        "it.den: byte 58: 25 voxels; expected 4 × 3 × 2, the product of the sizes"
    );
    wrong[0] = 2;
    assert!(error("it.den", &wrong).contains("byte 0: version 2; expected version 1"));
    assert!(error("it.den", &den([4, 3, 2], &voxels[..20])).contains("20 bytes of voxels"));
    assert!(error("it.den", &wrong[..40]).contains("a header of 62 bytes"));
}

#[test]
fn headers_of_nrrd_with_errors_name_the_line() {
    let space = "endian: little\nencoding: raw";
    let file = |from: &str, to: &str| {
        let file = nrrd(space, &little());
        let end = file
            .windows(2)
            .position(|two| two == b"\n\n")
            .expect("a header");
        let header = String::from_utf8_lossy(&file[..end]).replace(from, to);
        [header.as_bytes(), &file[end..]].concat()
    };
    for (from, to, expected) in [
        (
            "dimension: 3",
            "dimension: 4",
            "line 4: \"4\"; expected 3 dimensions",
        ),
        (
            "sizes: 5 4 3",
            "sizes: 5 4",
            "line 5: \"5 4\"; expected three sizes",
        ),
        (
            "sizes: 5 4 3",
            "sizes: 5 4 -3",
            "line 5: \"5 4 -3\"; expected three sizes",
        ),
        (
            "type: short",
            "type: block",
            "line 3: \"block\"; expected a type",
        ),
        (
            "endian: little",
            "endian: middle",
            "line 7: \"middle\"; expected \"little\"",
        ),
        (
            "endian: little\n",
            "",
            "expected a field \"endian\" before it",
        ),
        (
            "encoding: raw",
            "encoding: bzip2",
            "line 8: \"bzip2\"; expected \"raw\"",
        ),
        (
            "key:=value",
            "key",
            "line 6: \"key\"; expected \"field: value\"",
        ),
        ("key:=value", "type: int", "line 6: a second field \"type\""),
        (
            "key:=value",
            "spacings: 1 0 2",
            "expected three axes that are independent",
        ),
        (
            "key:=value",
            "space directions: (1,0,0) (1,0,0) (0,0,1)",
            "independent",
        ),
        (
            "key:=value",
            "space directions: 1,0,0",
            "expected vectors such as (1,0,0)",
        ),
        (
            "key:=value",
            "data file: it.raw",
            "line 6: data in another file, \"it.raw\"",
        ),
        (
            "sizes: 5 4 3",
            "sizes: 999999 999999 3",
            "bytes of voxels; expected 5999988000006",
        ),
    ] {
        let message = error("it.nrrd", &file(from, to));
        assert!(message.contains(expected), "{message}\n{expected}");
    }
}

#[test]
fn headers_of_metaimage_with_errors_name_the_line() {
    for (fields, expected) in [
        (
            "ElementNumberOfChannels = 3\n",
            "line 7: \"3\"; expected 1 channel",
        ),
        (
            "CompressedData = maybe\n",
            "line 7: \"maybe\"; expected \"True\" or \"False\"",
        ),
        (
            "HeaderSize = x\n",
            "line 7: \"x\"; expected a number of bytes, or -1",
        ),
        (
            "TransformMatrix = 1 0 0\n",
            "line 7: \"1 0 0\"; expected 9 numbers",
        ),
        (
            "no value\n",
            "line 7: \"no value\"; expected \"Key = value\"",
        ),
    ] {
        let message = error("it.mha", &metaimage(fields, &little()));
        assert!(message.contains(expected), "{message}\n{expected}");
    }
}

#[test]
fn nifti_files_with_errors_are_refused() {
    let change = |at: usize, bytes: &[u8]| {
        let mut file = nifti(false, &little());
        file[at..at + bytes.len()].copy_from_slice(bytes);
        error("it.nii", &file)
    };
    assert!(change(40, &[4, 0, 5, 0, 4, 0, 3, 0, 7, 0]).contains("one volume of 3 dimensions"));
    assert!(change(70, &32_i16.to_le_bytes()).contains("byte 70: data type 32"));
    assert!(change(108, &f32::NAN.to_le_bytes()).contains("byte 108: voxels at byte NaN"));
    assert!(change(108, &1e9_f32.to_le_bytes()).contains("the end of the file"));
    assert!(error("it.nii", &nifti(false, &little())[..200]).contains("a header of 348 bytes"));
    let second = [&540_i32.to_le_bytes()[..], b"n+2\0\r\n\x1a\n", &[0; 540]].concat();
    assert!(error("it.nii", &second).contains("a NIfTI-2 header; expected NIfTI-1"));
    let mut scaled = nifti(false, &little());
    scaled[112..116].copy_from_slice(&0.5_f32.to_le_bytes());
    scaled[116..120].copy_from_slice(&3_f32.to_le_bytes());
    let loaded = read("it.nii", &scaled).expect("a volume");
    assert_eq!(loaded.volume.value([1, 0, 0]), 0.5 * (37.0 - 50.0) + 3.0);
}

#[test]
fn vtk_files_with_errors_are_refused() {
    let good = vti("", "format=\"ascii\"", text().as_bytes(), b"");
    let change = |from: &str, to: &str| {
        let file = String::from_utf8_lossy(&good).replace(from, to);
        error("it.vti", file.as_bytes())
    };
    assert!(change("\"ImageData\"", "\"PolyData\"").contains("a regular grid"));
    assert!(change("Int16", "Bit").contains("a type of integers or floats"));
    assert!(
        change("Name=\"s\" ", "Name=\"s\" NumberOfComponents=\"3\" ").contains("with 3 components")
    );
    assert!(change("0 4 0 3 0 2\" Origin", "0 4 0 3\" Origin").contains("the last index of x"));
    assert!(change("Piece Extent=\"0 4", "Piece Extent=\"0 2").contains("one piece"));
    assert!(change("<DataArray type=\"Int16\"", "<DataArray").contains("a type before it"));
    assert!(change("format=\"ascii\"", "format=\"other\"").contains("\"ascii\", \"binary\""));
    assert!(error("it.vti", &good[..good.len() - 250]).contains("; expected "));
    let short = vti(
        "",
        "format=\"binary\"",
        base64(&sized(&little()[2..])).as_bytes(),
        b"",
    );
    assert!(error("it.vti", &short).contains("118 bytes of voxels; expected 120 bytes"));
    for (attributes, compress) in COMPRESSORS {
        let (mut sizes, data) = blocks(compress);
        sizes[0] = 200;
        let text = base64(&sizes) + &base64(&data);
        let wrong = vti(attributes, "format=\"binary\"", text.as_bytes(), b"");
        assert!(error("it.vti", &wrong).contains("200 blocks of 64 bytes; expected 120 bytes"));
    }
}

#[test]
fn a_compression_that_is_not_supported_names_the_ones_that_are() {
    let other = "compressor=\"vtkLZMADataCompressor\"";
    let file = vti(other, "format=\"ascii\"", text().as_bytes(), b"");
    read("it.vti", &file).expect("text is not compressed");
    let text = base64(&sized(&little()));
    let file = vti(other, "format=\"binary\"", text.as_bytes(), b"");
    let error = error("it.vti", &file);
    assert!(error.contains("vtkLZMADataCompressor"), "{error}");
    assert!(error.contains("no compression, zlib or LZ4; "), "{error}");
}

#[test]
fn damaged_blocks_of_lz4_are_refused() {
    let (attributes, compress) = COMPRESSORS[1];
    let packed = compress(&little());
    let claimed = |bytes: u64, packed: &[u8]| {
        let sizes = [1, bytes, 0, packed.len() as u64].map(u64::to_le_bytes);
        let text = base64(&sizes.concat()) + &base64(packed);
        vti(attributes, "format=\"binary\"", text.as_bytes(), b"")
    };
    read("it.vti", &claimed(120, &packed)).expect("a volume");
    for len in 0..packed.len() {
        error("it.vti", &claimed(120, &packed[..len]));
    }
    for index in 0..packed.len() {
        let mut damaged = packed.clone();
        damaged[index] ^= 0x80;
        // A changed literal is a different voxel, not an error.
        let _ = read("it.vti", &claimed(120, &damaged));
    }
    let less = error("it.vti", &claimed(120, &compress(&little()[..100])));
    assert!(less.contains("too short for its voxels"), "{less}");
    let more = error("it.vti", &claimed(120, &compress(&[0; 130])));
    assert!(more.contains("; expected data that can be read"), "{more}");
}

#[test]
fn truncated_files_are_refused_at_every_length() {
    let files = [
        ("it.nrrd", nrrd("endian: little\nencoding: raw", &little())),
        ("it.mha", metaimage("", &little())),
        ("it.nii", nifti(false, &little())),
        ("it.den", den([4, 3, 2], &[7; 24])),
        ("it_5x4x3_i16.raw", little()),
    ];
    for (name, bytes) in files {
        for len in 0..bytes.len() {
            error(name, &bytes[..len]);
        }
    }
    // The end of a VTK file does not matter once the voxels are complete.
    let file = vti("", "format=\"ascii\"", text().as_bytes(), b"");
    for len in 0..file.len() - 100 {
        error("it.vti", &file[..len]);
    }
}

#[test]
fn the_first_voxel_may_look_like_the_end_of_a_line() {
    for first in 0..=u8::MAX {
        for end in ["\n", "\r\n"] {
            let data = [first, 10, 13, 4, 5, 6, 7, 8];
            let nrrd = "NRRD0004\ntype: uchar\ndimension: 3\nsizes: 2 2 2\nencoding: raw\n\n";
            let metaimage = "NDims = 3\nDimSize = 2 2 2\nElementType = MET_UCHAR\n\
                ElementDataFile = LOCAL\n";
            for header in [nrrd, metaimage] {
                let bytes = [header.replace('\n', end).as_bytes(), &data].concat();
                let loaded = read("it", &bytes).unwrap_or_else(|error| panic!("{error}"));
                assert!(
                    *loaded.volume.voxels() == Voxels::from(data.to_vec()),
                    "{first}"
                );
                assert_eq!(loaded.report.trailing_bytes, 0);
            }
        }
    }
}

#[test]
fn lengths_of_directions_are_distances() {
    let file = metaimage("TransformMatrix = 10 0 0 0 -5 0 0 0 1\n", &little());
    let volume = read("it.mha", &file).expect("a volume").volume;
    assert_eq!(volume.spacing(), DVec3::new(10.0, 10.0, 3.0));
    assert_eq!(volume.direction().y_axis, DVec3::NEG_Y);
}

#[test]
fn a_sequence_of_one_volume_in_metaimage_is_a_volume() {
    let file = |sizes: &str| {
        let header = format!(
            "NDims = 4\nDimSize = {sizes}\nElementType = MET_UCHAR\nOffset = 7 8 9 0\n\
             ElementSpacing = 1 2 3 1\nTransformMatrix = 0 1 0 0 -1 0 0 0 0 0 1 0 0 0 0 1\n\
             ElementDataFile = LOCAL\n"
        );
        [header.as_bytes(), &[5; 24]].concat()
    };
    let volume = read("it.mha", &file("4 3 2 1")).expect("a volume").volume;
    assert_eq!(volume.size(), [4, 3, 2]);
    assert_eq!(volume.spacing(), DVec3::new(1.0, 2.0, 3.0));
    assert_eq!(volume.origin(), DVec3::new(7.0, 8.0, 9.0));
    assert_eq!(volume.direction().x_axis, DVec3::Y);
    let expected = "line 2: \"4 3 1 2\"; expected three sizes, or a fourth one of 1";
    assert!(error("it.mha", &file("4 3 1 2")).contains(expected));
    assert!(error("it.mha", &file("4 3 2")).contains("line 2: \"4 3 2\"; expected three sizes"));
}

#[test]
fn values_of_cells_are_a_volume_between_the_points() {
    let text = "<VTKFile type=\"ImageData\" byte_order=\"LittleEndian\">\n\
        <ImageData WholeExtent=\"0 2 0 2 0 2\" Origin=\"10 20 30\" Spacing=\"1 2 4\">\n\
        <Piece Extent=\"0 2 0 2 0 2\"><PointData></PointData><CellData Scalars=\"s\">\n\
        <DataArray type=\"UInt8\" Name=\"s\" format=\"ascii\">1 2 3 4 5 6 7 8</DataArray>\n\
        </CellData></Piece></ImageData></VTKFile>\n";
    let loaded = read("it.vti", text.as_bytes()).expect("a volume");
    assert_eq!(loaded.volume.size(), [2, 2, 2]);
    assert_eq!(loaded.volume.value([1, 0, 1]), 6.0);
    let origin = loaded.volume.origin() + loaded.report.offset;
    assert_eq!(origin, DVec3::new(10.5, 21.0, 32.0));
}

// Regression: rays and boxes in f32 made holes in volumes far from the origin.
#[test]
fn a_distant_volume_has_the_picture_that_it_has_at_the_origin() {
    let ball = |origin: [f64; 3]| {
        let header = format!(
            "NRRD0004\ntype: uint8\ndimension: 3\nsizes: 24 24 24\nencoding: raw\n\
             space directions: (1,0,0) (0,1,0) (0,0,1)\nspace dimension: 3\n\
             space origin: ({},{},{})\n\n",
            origin[0], origin[1], origin[2]
        );
        let voxel = |index: usize| {
            let at = [index % 24, index / 24 % 24, index / 576].map(|at| at as f64 - 11.5);
            (20.0 * at.iter().map(|it| it * it).sum::<f64>().sqrt()).min(255.0) as u8
        };
        let mut bytes = header.into_bytes();
        bytes.extend((0..24 * 24 * 24).map(voxel));
        read("ball.nrrd", &bytes).expect("a volume")
    };
    let options = IsosurfaceOptions {
        frame: FrameOptions {
            size: (64, 64),
            ..FrameOptions::default()
        },
        ..IsosurfaceOptions::new(150.0)
    };
    let picture = |volume: &Volume| {
        let macrocells = Macrocells::of(volume);
        isosurface::render(volume, &macrocells, &options, |_| ()).expect("a picture")
    };
    let near = ball([0.0; 3]);
    let far = ball([3e7, -5_400_000.0, 1e12]);
    assert_eq!(near.report.offset, DVec3::ZERO);
    assert_eq!(far.report.offset, DVec3::new(3e7, -5_400_000.0, 1e12));
    assert!(picture(&near.volume).picture == picture(&far.volume).picture);
}

#[test]
fn further_axes_of_nrrd_may_have_size_1() {
    let fields = |dimension: &str, more: &str| {
        let file = nrrd(&format!("endian: little\nencoding: raw\n{more}"), b"");
        let header = String::from_utf8(file).expect("a header is text");
        let header = header.replace("dimension: 3\nsizes: 5 4 3", dimension);
        [header.as_bytes(), &little()].concat()
    };
    let directions = "(1,0,0) (0,2,0) (0,0,3)";
    for (axes, geometry) in [
        (
            "dimension: 4\nsizes: 5 4 3 1",
            "spacings: 1 2 3 nan".to_owned(),
        ),
        (
            "dimension: 4\nsizes: 1 5 4 3",
            "spacings: nan 1 2 3".to_owned(),
        ),
        (
            "dimension: 4\nsizes: 1 5 4 3",
            format!("space directions: none {directions}"),
        ),
        (
            "dimension: 5\nsizes: 1 5 4 3 1",
            format!("space directions: none {directions} none"),
        ),
    ] {
        let loaded = read("it.nrrd", &fields(axes, &geometry)).expect("a volume");
        assert_eq!(loaded.volume.size(), [5, 4, 3], "{axes}");
        assert!(*loaded.volume.voxels() == Voxels::from(voxels()), "{axes}");
        assert_eq!(loaded.volume.spacing(), DVec3::new(1.0, 2.0, 3.0), "{axes}");
    }
    for (axes, geometry, expected) in [
        (
            "dimension: 4\nsizes: 5 4 3 2",
            "",
            "line 4: \"4\"; expected 3 dimensions",
        ),
        (
            "dimension: 4\nsizes: 5 4 1 1",
            "",
            "line 4: \"4\"; expected 3 dimensions",
        ),
        (
            "dimension: 4\nsizes: 5 4 3 1",
            "spacings: 1 2 3",
            "a distance for each axis",
        ),
        (
            "dimension: 4\nsizes: 1 5 4 3",
            "space directions: (1,0,0) (0,2,0) (0,0,3) none",
            "expected three vectors, and \"none\"",
        ),
    ] {
        let error = error("it.nrrd", &fields(axes, geometry));
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn the_arrays_of_a_vtk_file_are_reported() {
    for (name, bytes) in every_format()
        .iter()
        .filter(|(name, _)| name.ends_with("vti"))
    {
        let report = read(name, bytes).expect("a volume").report;
        assert_eq!(report.array.as_deref(), Some("s"), "{name}");
        assert_eq!(report.arrays_left_out, ["other"], "{name}");
    }
    let points = |scalars: &str, arrays: &str| {
        let file = format!(
            "<VTKFile type=\"ImageData\"><ImageData WholeExtent=\"0 1 0 1 0 1\"><FieldData>\
             <DataArray type=\"Int8\" Name=\"time\">1</DataArray></FieldData>\
             <Piece Extent=\"0 1 0 1 0 1\"><PointData {scalars}>{arrays}</PointData></Piece>\
             </ImageData></VTKFile>"
        );
        file.into_bytes()
    };
    let array = |name: &str, first: u8| {
        let attributes = format!("type=\"UInt8\" Name=\"{name}\" format=\"ascii\"");
        format!("<DataArray {attributes}>{first} 2 3 4 5 6 7 8</DataArray>")
    };
    let vectors = "<DataArray type=\"Float32\" Name=\"v\" NumberOfComponents=\"3\">1</DataArray>";
    let arrays = [vectors, &array("a", 10), &array("b", 20), &array("c", 30)].concat();
    for (scalars, expected, others) in [
        ("", 10.0, ["v", "b", "c"]),
        ("Scalars=\"b\"", 20.0, ["v", "a", "c"]),
        ("Scalars=\"\"", 10.0, ["v", "b", "c"]),
    ] {
        let loaded = read("it.vti", &points(scalars, &arrays)).expect("a volume");
        assert_eq!(loaded.volume.value([0, 0, 0]), expected, "{scalars}");
        assert_eq!(loaded.report.arrays_left_out, others, "{scalars}");
    }
    let missing = error("it.vti", &points("Scalars=\"d\"", &arrays));
    assert!(
        missing.contains("expected the array \"d\", the active scalars"),
        "{missing}"
    );
    let none = error("it.vti", &points("", vectors));
    assert!(
        none.contains("expected an array with one number for each voxel"),
        "{none}"
    );
    // The caller may choose one, whatever the active scalars are.
    let chosen = |array: &str| {
        let options = LoadOptions {
            array: Some(array.to_owned()),
            ..LoadOptions::default()
        };
        let bytes = points("Scalars=\"b\"", &arrays);
        Volume::read(&bytes[..], None, "it.vti", &options, |_| ())
            .map_err(|error| error.to_string())
    };
    assert_eq!(chosen("c").expect("a volume").volume.value([0, 0, 0]), 30.0);
    let missing = chosen("d").expect_err("no such array");
    assert!(missing.contains("expected the array \"d\""), "{missing}");
    let vectors = chosen("v").expect_err("an array of vectors");
    assert!(
        vectors.contains("the array \"v\" with 3 components; expected an array with one number"),
        "{vectors}"
    );
    let options = LoadOptions {
        array: Some("a".to_owned()),
        ..LoadOptions::default()
    };
    let raw = Volume::read(&[7; 24][..], Some(24), "b_2x3x4_u8.raw", &options, |_| ());
    let raw = raw.expect_err("no arrays").to_string();
    assert!(raw.contains("expected no name of an array"), "{raw}");
}

#[test]
fn coordinates_must_differ_between_voxels() {
    let file = |origin: &str| {
        let header = format!(
            "NRRD0004\ntype: uchar\ndimension: 3\nsizes: 2 2 2\nencoding: raw\n\
             space dimension: 3\nspace directions: (1,0,0) (0,2,0) (0,0,3)\n\
             space origin: {origin}\n\n"
        );
        [header.as_bytes(), &[1; 8]].concat()
    };
    assert!(read("it.nrrd", &file("(4e15,0,0)")).is_ok());
    let far = error("it.nrrd", &file("(0,5e15,0)"));
    assert!(
        far.contains("a first voxel at [0, 5000000000000000, 0]"),
        "{far}"
    );
    error("it.nrrd", &file("(1e30,1e30,1e30)"));
}

#[test]
fn files_of_vtk_in_the_old_format_are_recognised_and_refused() {
    let old = b"# vtk DataFile Version 3.0\nhead\nBINARY\nDATASET STRUCTURED_POINTS\n";
    for name in ["it.vtk", "it.vti", "it"] {
        let error = error(name, old);
        let expected =
            "line 1: a VTK file of the old format; expected VTK image data as XML (.vti)";
        assert!(error.contains(expected), "{error}");
    }
}

// Regression: the decoder read on into the next array, behind the padding of this one.
#[test]
fn further_arrays_may_follow_in_base64() {
    let appended = |attributes: &str, data: &str| {
        let behind = format!("<AppendedData encoding=\"base64\">_{data}</AppendedData>");
        let array = "format=\"appended\" offset=\"0\"";
        vti(attributes, array, b"", behind.as_bytes())
    };
    let plain = base64(&sized(&little()));
    assert!(plain.ends_with('='));
    let mut files = vec![appended("", &format!("{plain}{plain}"))];
    for (attributes, compress) in COMPRESSORS {
        let (sizes, data) = blocks(compress);
        let zipped = base64(&sizes) + &base64(&data);
        files.push(appended(attributes, &format!("{zipped}{zipped}")));
    }
    for file in files {
        let loaded = read("it.vti", &file).expect("a volume");
        assert!(*loaded.volume.voxels() == Voxels::from(voxels()));
    }
}

#[test]
fn a_complete_file_without_the_array_lists_those_that_it_has() {
    let file = vti("", "format=\"ascii\"", text().as_bytes(), b"");
    let options = LoadOptions {
        array: Some("missing".to_owned()),
        ..LoadOptions::default()
    };
    let load = |bytes: &[u8]| {
        let error = Volume::read(bytes, None, "it.vti", &options, |_| ());
        error.expect_err("no such array").to_string()
    };
    let complete = load(&file);
    let expected = "the arrays \"other\", \"s\"; expected the array \"missing\"";
    assert!(complete.contains(expected), "{complete}");
    let cut_off = load(&file[..file.len() - "</VTKFile>\n".len()]);
    assert!(
        cut_off.contains("the end of the file; expected the array"),
        "{cut_off}"
    );
}

#[test]
fn names_of_arrays_may_have_entities_and_be_in_several_pieces() {
    let numbers = "1 2 3 4 5 6 7 8";
    let array = |name: &str| {
        format!("<DataArray type=\"UInt8\" Name=\"{name}\" format=\"ascii\">{numbers}</DataArray>")
    };
    let piece = format!(
        "<Piece Extent=\"0 1 0 1 0 1\"><PointData Scalars=\"a &lt; b\">{}{}</PointData></Piece>",
        array("other"),
        array("a &lt; b"),
    );
    let file = format!(
        "<VTKFile type=\"ImageData\"><ImageData WholeExtent=\"0 1 0 1 0 1\">{piece}{piece}\
         </ImageData></VTKFile>"
    );
    let report = read("it.vti", file.as_bytes()).expect("a volume").report;
    assert_eq!(report.array.as_deref(), Some("a < b"));
    assert_eq!(report.arrays_left_out, ["other"]);
}

// Regression: a distance of 1e38 gave messages about a camera and a step that were not given.
#[test]
fn edges_of_a_volume_have_a_length_that_rays_can_have() {
    let options = |spacing: f64| LoadOptions {
        spacing: Some(DVec3::splat(spacing)),
        ..LoadOptions::default()
    };
    // A ball with its surface in the middle of the volume.
    let at = |index: i32| 2 * (index % 8) - 7;
    let voxel = |index: i32| {
        let [x, y, z] = [at(index), at(index / 8), at(index / 64)];
        (200 - x * x - y * y - z * z) as u8
    };
    let voxels: Vec<u8> = (0..512).map(voxel).collect();
    let load = |spacing: f64| {
        let name = "ball_8x8x8_u8.raw";
        Volume::read(&voxels[..], Some(512), name, &options(spacing), |_| ())
    };
    let hits = |spacing: f64| {
        let volume = load(spacing).expect("a volume").volume;
        let options = IsosurfaceOptions {
            frame: FrameOptions {
                size: (64, 64),
                ..FrameOptions::default()
            },
            ..IsosurfaceOptions::new(160.0)
        };
        let macrocells = Macrocells::of(&volume);
        let rendering = isosurface::render(&volume, &macrocells, &options, |_| ());
        rendering.expect("a picture").counts.hits
    };
    let direct = |spacing: f64| {
        let volume = load(spacing).expect("a volume").volume;
        let macrocells = Macrocells::of(&volume);
        let transfer = TransferFunction::relative(None, macrocells.range(), 100.0);
        let options = DirectOptions {
            frame: FrameOptions {
                size: (64, 64),
                ..FrameOptions::default()
            },
            ..DirectOptions::new(transfer)
        };
        let rendering = direct::render(&volume, &macrocells, &options, |_| ());
        rendering.expect("a picture").counts.samples
    };
    assert!(hits(1.0) > 500);
    for spacing in [1e-17, 5e17] {
        assert_eq!(hits(spacing), hits(1.0), "{spacing}");
        let [found, expected] = [direct(spacing), direct(1.0)];
        assert!(
            found.abs_diff(expected) * 100 <= expected,
            "{spacing}: {found}"
        );
    }
    for spacing in [1e-18, 1e18, 1e38] {
        let error = load(spacing)
            .expect_err("too short or too long")
            .to_string();
        assert!(error.contains("an edge of length "), "{error}");
    }
}
