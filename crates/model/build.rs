//! Converts the derivations in `maths/` for rustdoc: LaTeX between dollar signs becomes MathML,
//! which browsers display themselves.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::{env, fs};

use pulldown_latex::config::{DisplayMode, RenderConfig};
use pulldown_latex::{Parser, Storage, push_mathml};

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=maths");
    let target = PathBuf::from(env::var("OUT_DIR")?);
    for entry in fs::read_dir("maths")? {
        let path = entry?.path();
        let text = fs::read_to_string(&path)?;
        let name = path.file_name().ok_or("a derivation without a name")?;
        fs::write(target.join(name), rendered(&path, &text)?)?;
    }
    Ok(())
}

/// Renders the formulas in a text. Every second piece between dollar signs is a formula, and one
/// between double dollar signs is a separate block.
fn rendered(path: &Path, text: &str) -> Result<String, Box<dyn Error>> {
    let mut out = String::new();
    for (index, piece) in text.split("$$").enumerate() {
        if index % 2 == 1 {
            out += &mathml(path, piece, DisplayMode::Block)?;
            continue;
        }
        for (index, piece) in piece.split('$').enumerate() {
            match index % 2 {
                0 => out += piece,
                _ => out += &mathml(path, piece, DisplayMode::Inline)?,
            }
        }
    }
    Ok(out)
}

fn mathml(path: &Path, latex: &str, display_mode: DisplayMode) -> Result<String, Box<dyn Error>> {
    let failure = |what: String| format!("{}: {what} in {latex:?}", path.display());
    let storage = Storage::new();
    let events: Vec<_> = Parser::new(latex, &storage).collect();
    if let Some(Err(error)) = events.iter().find(|event| event.is_err()) {
        return Err(failure(error.to_string()).into());
    }
    let config = RenderConfig {
        display_mode,
        ..RenderConfig::default()
    };
    let mut out = String::new();
    push_mathml(&mut out, events.into_iter(), config)
        .map_err(|error| failure(error.to_string()))?;
    // The library omits the space before an attribute of sized brackets. Markdown also interprets
    // characters between tags.
    let out = out.replace("\"minsize", "\" minsize");
    let out = out.replace('*', "&#42;").replace('_', "&#95;");
    Ok(out.replace('\n', " "))
}
