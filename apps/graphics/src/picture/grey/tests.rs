//! Tests of the files of grey pictures.

use super::*;

#[test]
fn a_png_has_the_pixels_as_they_are() {
    let picture = GreyPicture::new(3, vec![0, 1, 2, 253, 254, 255]);
    let bytes = picture.png().expect("a small picture");
    let image = image::load_from_memory(&bytes)
        .expect("a PNG file")
        .into_luma8();
    assert_eq!(image.dimensions(), (3, 2));
    assert_eq!(image.into_raw(), [0, 1, 2, 253, 254, 255]);
}

#[test]
fn other_extensions_are_refused() {
    let error = GreyPicture::check_path("it.jpg").expect_err("another extension");
    assert_eq!(
        error.to_string(),
        "it.jpg: extension .jpg; expected a name that ends in .pgm or .png"
    );
    assert!(GreyPicture::check_path("no/such/folder/it.pgm").is_err());
}
