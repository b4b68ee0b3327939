//! Files of volumes in every format, made byte by byte. Also used by the seeds of the fuzz targets.
//!
//! They were compared once with the files that VTK and pydicom write for the same voxels.
#![allow(dead_code, reason = "each test program uses a part of it")]

use std::io::Write;

pub(crate) fn voxels() -> Vec<i16> {
    (0..60).map(|index: i16| index * 37 % 200 - 50).collect()
}

/// Returns the voxels as bytes, least significant byte first.
pub(crate) fn little() -> Vec<u8> {
    voxels().into_iter().flat_map(i16::to_le_bytes).collect()
}

pub(crate) fn big() -> Vec<u8> {
    voxels().into_iter().flat_map(i16::to_be_bytes).collect()
}

pub(crate) fn text() -> String {
    let words: Vec<String> = voxels().iter().map(i16::to_string).collect();
    words.join(" ")
}

pub(crate) fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder
        .write_all(bytes)
        .expect("writing to memory succeeds");
    encoder.finish().expect("writing to memory succeeds")
}

pub(crate) fn zlib(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder
        .write_all(bytes)
        .expect("writing to memory succeeds");
    encoder.finish().expect("writing to memory succeeds")
}

/// Returns a NRRD file with some fields besides type and size.
pub(crate) fn nrrd(fields: &str, data: &[u8]) -> Vec<u8> {
    let header = format!(
        "NRRD0004\n# a comment\ntype: short\ndimension: 3\nsizes: 5 4 3\nkey:=value\n{fields}\n\n"
    );
    [header.as_bytes(), data].concat()
}

/// Returns a MetaImage file with some fields besides the size.
pub(crate) fn metaimage(fields: &str, data: &[u8]) -> Vec<u8> {
    let header = format!(
        "ObjectType = Image\nNDims = 3\nDimSize = 5 4 3\nElementType = MET_SHORT\n\
         ElementSpacing = 1 2 3\nOffset = 10 20 30\n{fields}ElementDataFile = LOCAL\n"
    );
    [header.as_bytes(), data].concat()
}

/// Returns a NIfTI file in a byte order.
pub(crate) fn nifti(is_big_endian: bool, data: &[u8]) -> Vec<u8> {
    let mut header = vec![0; 352];
    let mut put = |at: usize, little: &[u8]| {
        let bytes = &mut header[at..at + little.len()];
        bytes.copy_from_slice(little);
        if is_big_endian {
            bytes.reverse();
        }
    };
    put(0, &348_i32.to_le_bytes());
    for (index, len) in [3_i16, 5, 4, 3, 1, 1, 1, 1].into_iter().enumerate() {
        put(40 + 2 * index, &len.to_le_bytes());
    }
    put(70, &4_i16.to_le_bytes());
    put(72, &16_i16.to_le_bytes());
    for (index, distance) in [1.0_f32, 1.0, 2.0, 3.0].into_iter().enumerate() {
        put(76 + 4 * index, &distance.to_le_bytes());
    }
    put(108, &352_f32.to_le_bytes());
    put(252, &1_i16.to_le_bytes());
    for (index, place) in [10.0_f32, 20.0, 30.0].into_iter().enumerate() {
        put(268 + 4 * index, &place.to_le_bytes());
    }
    header[344..348].copy_from_slice(b"n+1\0");
    [&header, data].concat()
}

/// Returns a VTK file with an array, and data behind it.
pub(crate) fn vti(attributes: &str, array: &str, inner: &[u8], behind: &[u8]) -> Vec<u8> {
    let start = format!(
        "<?xml version=\"1.0\"?>\n<VTKFile type=\"ImageData\" byte_order=\"LittleEndian\" \
         {attributes}>\n<ImageData WholeExtent=\"0 4 0 3 0 2\" Origin=\"10 20 30\" \
         Spacing=\"1 2 3\">\n<Piece Extent=\"0 4 0 3 0 2\">\n<PointData Scalars=\"s\">\n\
         <DataArray type=\"Float32\" Name=\"other\" format=\"appended\" offset=\"9\"/>\n\
         <DataArray type=\"Int16\" Name=\"s\" {array}>\n"
    );
    let end = b"\n</DataArray></PointData><CellData/></Piece></ImageData>";
    [start.as_bytes(), inner, end, behind, b"</VTKFile>\n"].concat()
}

/// Returns data with their size before them, as VTK writes them.
pub(crate) fn sized(data: &[u8]) -> Vec<u8> {
    [&(data.len() as u32).to_le_bytes(), data].concat()
}

/// Compresses a block.
type Compress = fn(&[u8]) -> Vec<u8>;

/// The attributes of a VTK file with blocks, for each compression, with its function.
pub(crate) const COMPRESSORS: [(&str, Compress); 2] = [
    (
        "compressor=\"vtkZLibDataCompressor\" header_type=\"UInt64\"",
        zlib,
    ),
    (
        "compressor=\"vtkLZ4DataCompressor\" header_type=\"UInt64\"",
        lz4_flex::block::compress,
    ),
];

/// Returns the sizes and the data of compressed blocks, with sizes of 64 bits.
pub(crate) fn blocks(compress: Compress) -> (Vec<u8>, Vec<u8>) {
    let blocks: Vec<Vec<u8>> = little().chunks(64).map(compress).collect();
    let mut sizes = vec![blocks.len() as u64, 64, 120 - 64];
    sizes.extend(blocks.iter().map(|block| block.len() as u64));
    (
        sizes.into_iter().flat_map(u64::to_le_bytes).collect(),
        blocks.concat(),
    )
}

pub(crate) fn base64(bytes: &[u8]) -> String {
    use ::base64::Engine as _;
    ::base64::engine::general_purpose::STANDARD.encode(bytes)
}

/// Returns a density map of SPLASH.
pub(crate) fn den(size: [i16; 3], voxels: &[u8]) -> Vec<u8> {
    let mut header = vec![0; 62];
    header[0] = 1;
    for (axis, len) in size.into_iter().enumerate() {
        header[50 + 2 * axis..52 + 2 * axis].copy_from_slice(&len.to_le_bytes());
    }
    let count = size.iter().map(|&len| i32::from(len)).product::<i32>();
    header[58..62].copy_from_slice(&count.to_le_bytes());
    [&header, voxels].concat()
}

/// Returns files of all formats with the same volume.
pub(crate) fn every_format() -> Vec<(&'static str, Vec<u8>)> {
    let space = "spacings: 1 2 3\nspace origin: (10,20,30)\nendian: little\nencoding: raw";
    let directions = "space directions: (1,0,0) (0,2,0) (0,0,3)\nspace origin: (10, 20, 30)";
    let gzipped = format!("{directions}\nendian: big\nencoding: gzip");
    let ascii = format!("{directions}\nencoding: ascii");
    let [(zipped, zlib_blocks), (lz4, lz4_blocks)] =
        COMPRESSORS.map(|(attributes, compress)| (attributes, blocks(compress)));
    let (sizes, data) = zlib_blocks;
    let appended = "format=\"appended\" offset=\"0\"";
    let behind = |encoding: &str, data: &[u8]| {
        let tag = format!("<AppendedData encoding=\"{encoding}\">\n  _");
        [tag.as_bytes(), data, b"</AppendedData>"].concat()
    };
    vec![
        ("a.nrrd", nrrd(space, &little())),
        ("b.nrrd", nrrd(&gzipped, &gzip(&big()))),
        ("c.nrrd", nrrd(&ascii, text().as_bytes())),
        (
            "d.nrrd",
            nrrd(
                &format!("{space}\nbyte skip: -1"),
                &[&[9; 7], &little()[..]].concat(),
            ),
        ),
        (
            "e.nrrd",
            nrrd(
                &format!("{space}\nline skip: 1\nbyte skip: 2"),
                &[b"line\n12", &little()[..]].concat(),
            ),
        ),
        ("f.mha", metaimage("", &little())),
        (
            "g.mha",
            metaimage("BinaryDataByteOrderMSB = True\n", &big()),
        ),
        (
            "h.mha",
            metaimage("CompressedData = True\n", &zlib(&little())),
        ),
        (
            "i.mha",
            metaimage("BinaryData = False\n", text().as_bytes()),
        ),
        ("j.nii", nifti(false, &little())),
        ("k.nii", nifti(true, &big())),
        ("l.nii.gz", gzip(&nifti(false, &little()))),
        ("m.vti", vti("", "format=\"ascii\"", text().as_bytes(), b"")),
        (
            "n.vti",
            vti(
                "",
                "format=\"binary\"",
                base64(&sized(&little())).as_bytes(),
                b"",
            ),
        ),
        (
            "o.vti",
            vti(
                zipped,
                "format=\"binary\"",
                (base64(&sizes) + &base64(&data)).as_bytes(),
                b"",
            ),
        ),
        (
            "p.vti",
            vti("", appended, b"", &behind("raw", &sized(&little()))),
        ),
        (
            "q.vti",
            vti(
                "",
                appended,
                b"",
                &behind("base64", base64(&sized(&little())).as_bytes()),
            ),
        ),
        (
            "r.vti",
            vti(
                zipped,
                appended,
                b"",
                &behind("raw", &[sizes, data].concat()),
            ),
        ),
        (
            "s.vti",
            vti(
                lz4,
                appended,
                b"",
                &behind("raw", &[lz4_blocks.0, lz4_blocks.1].concat()),
            ),
        ),
    ]
}

/// An image with pixels of 16 bits.
#[derive(Clone)]
pub(crate) struct Slice {
    pub(crate) z: f64,
    pub(crate) series: &'static str,
    pub(crate) number: &'static str,
    pub(crate) kind: &'static str,
    pub(crate) slope: &'static str,
    pub(crate) syntax: &'static str,
    pub(crate) frames: usize,
    pub(crate) columns: u16,
    pub(crate) rows: u16,
}

pub(crate) const SLICE: Slice = Slice {
    z: 0.0,
    series: "1.2.3",
    number: "7",
    kind: "ORIGINAL\\PRIMARY\\AXIAL",
    slope: "1",
    syntax: "1.2.840.10008.1.2.1",
    frames: 1,
    columns: 3,
    rows: 2,
};

/// Appends an element with a type of a short length.
fn element(bytes: &mut Vec<u8>, group: u16, number: u16, kind: &[u8; 2], value: &[u8]) {
    let mut value = value.to_vec();
    if value.len() % 2 == 1 {
        value.push(if kind == b"UI" { 0 } else { b' ' });
    }
    bytes.extend(group.to_le_bytes());
    bytes.extend(number.to_le_bytes());
    bytes.extend(kind);
    bytes.extend((value.len() as u16).to_le_bytes());
    bytes.extend(value);
}

impl Slice {
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let mut bytes = dicom_start("1.2.840.10008.5.1.4.1.1.2", self.syntax);
        element(&mut bytes, 8, 8, b"CS", self.kind.as_bytes());
        element(&mut bytes, 8, 0x103E, b"LO", b"a series");
        element(&mut bytes, 0x18, 0x88, b"DS", b"2.5");
        element(&mut bytes, 0x20, 0xE, b"UI", self.series.as_bytes());
        element(&mut bytes, 0x20, 0x11, b"IS", self.number.as_bytes());
        element(
            &mut bytes,
            0x20,
            0x32,
            b"DS",
            format!("10\\20\\{}", self.z).as_bytes(),
        );
        element(&mut bytes, 0x20, 0x37, b"DS", b"1\\0\\0\\0\\1\\0");
        element(&mut bytes, 0x28, 2, b"US", &1_u16.to_le_bytes());
        element(
            &mut bytes,
            0x28,
            8,
            b"IS",
            self.frames.to_string().as_bytes(),
        );
        element(&mut bytes, 0x28, 0x10, b"US", &self.rows.to_le_bytes());
        element(&mut bytes, 0x28, 0x11, b"US", &self.columns.to_le_bytes());
        element(&mut bytes, 0x28, 0x30, b"DS", b"0.5\\0.25");
        element(&mut bytes, 0x28, 0x100, b"US", &16_u16.to_le_bytes());
        element(&mut bytes, 0x28, 0x103, b"US", &0_u16.to_le_bytes());
        element(&mut bytes, 0x28, 0x1052, b"DS", b"-1024");
        element(&mut bytes, 0x28, 0x1053, b"DS", self.slope.as_bytes());
        let count = self.frames * usize::from(self.rows) * usize::from(self.columns);
        let first = (10.0 * self.z) as u16;
        pixels(
            &mut bytes,
            (0..count).map(|index| first.wrapping_add(index as u16)),
        );
        bytes
    }
}

/// Returns the beginning of a DICOM file: the class of its content, and the transfer syntax.
fn dicom_start(class: &str, syntax: &str) -> Vec<u8> {
    let mut meta = Vec::new();
    element(&mut meta, 2, 2, b"UI", class.as_bytes());
    element(&mut meta, 2, 3, b"UI", b"1.2.3.4");
    element(&mut meta, 2, 0x10, b"UI", syntax.as_bytes());
    let mut bytes = vec![0; 128];
    bytes.extend(b"DICM");
    element(&mut bytes, 2, 0, b"UL", &(meta.len() as u32).to_le_bytes());
    bytes.extend(meta);
    bytes
}

/// Appends pixels of 16 bits.
fn pixels(bytes: &mut Vec<u8>, values: impl Iterator<Item = u16>) {
    let values: Vec<u8> = values.flat_map(u16::to_le_bytes).collect();
    bytes.extend(b"\xE0\x7F\x10\0OW\0\0");
    bytes.extend((values.len() as u32).to_le_bytes());
    bytes.extend(values);
}

/// A frame of 3 × 2 pixels in a file with a description of each frame.
#[derive(Clone)]
pub(crate) struct Frame {
    pub(crate) z: f64,
    pub(crate) slope: &'static str,
    pub(crate) stack: &'static str,
    /// The direction; that of all frames if it is empty.
    pub(crate) orientation: &'static str,
}

pub(crate) const FRAME: Frame = Frame {
    z: 0.0,
    slope: "1",
    stack: "1",
    orientation: "",
};

/// Appends a sequence.
fn sequence(bytes: &mut Vec<u8>, group: u16, number: u16, items: &[Vec<u8>]) {
    let items = items.iter().flat_map(|item| {
        let len = (item.len() as u32).to_le_bytes();
        [b"\xFE\xFF\0\xE0", &len[..], item].concat()
    });
    let items: Vec<u8> = items.collect();
    bytes.extend([group.to_le_bytes(), number.to_le_bytes()].concat());
    bytes.extend(b"SQ\0\0");
    bytes.extend((items.len() as u32).to_le_bytes());
    bytes.extend(items);
}

/// Appends a sequence with one item.
fn part(bytes: &mut Vec<u8>, number: [u16; 2], make: impl FnOnce(&mut Vec<u8>)) {
    let mut item = Vec::new();
    make(&mut item);
    sequence(bytes, number[0], number[1], &[item]);
}

impl Frame {
    /// Returns the description of the frame.
    fn item(&self) -> Vec<u8> {
        let mut item = Vec::new();
        part(&mut item, [0x20, 0x9111], |part| {
            element(part, 0x20, 0x9056, b"SH", self.stack.as_bytes());
        });
        part(&mut item, [0x20, 0x9113], |part| {
            let position = format!("10\\20\\{}", self.z);
            element(part, 0x20, 0x32, b"DS", position.as_bytes());
        });
        if !self.orientation.is_empty() {
            part(&mut item, [0x20, 0x9116], |part| {
                element(part, 0x20, 0x37, b"DS", self.orientation.as_bytes());
            });
        }
        part(&mut item, [0x28, 0x9145], |part| {
            element(part, 0x28, 0x1052, b"DS", b"-1024");
            element(part, 0x28, 0x1053, b"DS", self.slope.as_bytes());
        });
        // Some vendors add the image from which the frame was made, with another position.
        part(&mut item, [0x2005, 0x140F], |part| {
            element(part, 0x20, 0x32, b"DS", b"5\\5\\5");
        });
        item
    }
}

/// Returns an enhanced CT file. The pixels of frame `i` begin with 100 · `i`.
pub(crate) fn enhanced(frames: &[Frame]) -> Vec<u8> {
    let mut bytes = dicom_start("1.2.840.10008.5.1.4.1.1.2.1", SLICE.syntax);
    element(&mut bytes, 0x20, 0xE, b"UI", SLICE.series.as_bytes());
    element(&mut bytes, 0x28, 2, b"US", &1_u16.to_le_bytes());
    let count = frames.len().to_string();
    element(&mut bytes, 0x28, 8, b"IS", count.as_bytes());
    element(&mut bytes, 0x28, 0x10, b"US", &2_u16.to_le_bytes());
    element(&mut bytes, 0x28, 0x11, b"US", &3_u16.to_le_bytes());
    element(&mut bytes, 0x28, 0x100, b"US", &16_u16.to_le_bytes());
    element(&mut bytes, 0x28, 0x101, b"US", &16_u16.to_le_bytes());
    element(&mut bytes, 0x28, 0x102, b"US", &15_u16.to_le_bytes());
    element(&mut bytes, 0x28, 0x103, b"US", &0_u16.to_le_bytes());
    part(&mut bytes, [0x5200, 0x9229], |shared| {
        part(shared, [0x20, 0x9116], |part| {
            element(part, 0x20, 0x37, b"DS", b"1\\0\\0\\0\\1\\0");
        });
        part(shared, [0x28, 0x9110], |part| {
            element(part, 0x18, 0x50, b"DS", b"9");
            element(part, 0x28, 0x30, b"DS", b"0.5\\0.25");
        });
    });
    let items: Vec<_> = frames.iter().map(Frame::item).collect();
    sequence(&mut bytes, 0x5200, 0x9230, &items);
    let values = (0..frames.len() as u16).flat_map(|frame| (0..6).map(move |it| 100 * frame + it));
    pixels(&mut bytes, values);
    bytes
}
