//! The arguments of `raddle volume`.

use std::path::PathBuf;
use std::str::FromStr;

use clap::{Args, ValueHint};
use raddle_graphics::volume::{PRESETS, Preset};

use crate::arguments::{ViewArguments, VolumeArguments, values};
use crate::commands::turn::FRAMES_MAX;
use crate::error::CliError;

pub(in crate::commands) const EXAMPLES: &str = "\
Examples:
  raddle volume head.nrrd -o head.png
  raddle volume ct/ -o ct.png --preset bone --step 0.25
  raddle volume engine_256x256x128_u8.raw -o turn.png --frames 36
  raddle volume head.den --study --adaptive -o frame.pgm
  raddle volume head.den --study --steps 4 --frame 7 -o x.pgm
  raddle volume head.den --study --frames y -o y.pgm

Pictures: .png, .ppm, .exr; with --study .pgm and .png.";

const BACKGROUND_HELP: &str = "Colour behind the volume: #rrggbb, black, white, grey or backdrop \
    [default: black with --mip and for presets that shine, backdrop otherwise]";

/// `raddle volume`.
#[derive(Debug, Clone, Args)]
#[command(mut_arg("background", |argument| argument.help(BACKGROUND_HELP)))]
pub(crate) struct VolumeCommandArguments {
    #[command(flatten)]
    pub(super) input: VolumeArguments,
    /// File for the picture; its extension selects the format
    #[arg(short, long, value_name = "PICTURE", value_hint = ValueHint::FilePath)]
    pub(super) output: PathBuf,
    /// File with the colour and opacity of values: lines of value, red, green, blue and opacity,
    /// the last four from 0 to 1; constant beyond the ends [default: derived from the histogram]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(super) transfer: Option<PathBuf>,
    /// Colours and opacities relative to the histogram
    #[arg(long, value_name = "NAME", help = preset_help(), conflicts_with = "transfer")]
    pub(super) preset: Option<PresetChoice>,
    /// Value between background and object [default: derived from the histogram]
    #[arg(
        long,
        value_name = "VALUE",
        conflicts_with = "transfer",
        value_parser = values::finite,
        allow_hyphen_values = true
    )]
    pub(super) threshold: Option<f64>,
    /// Factor for all opacities
    #[arg(long, value_name = "FACTOR", default_value_t = 1.0, value_parser = values::factor)]
    #[arg(allow_hyphen_values = true)]
    pub(super) opacity: f32,
    /// Show the largest value along each ray, in grey unless colours are given (maximum intensity
    /// projection)
    #[arg(long)]
    pub(super) mip: bool,
    /// Distance between samples, in voxels
    #[arg(long, value_name = "VOXELS", default_value_t = 0.5)]
    pub(super) step: f64,
    /// Leave out the light
    #[arg(long)]
    pub(super) no_shading: bool,
    /// Number of pictures of a whole turn; with --study, the axis of the frames: x, y or z
    #[arg(long, value_name = "N|AXIS")]
    pub(super) frames: Option<String>,
    /// Render exactly as the volume renderer of SPLASH-2 does
    #[arg(long)]
    #[arg(conflicts_with_all = [
        "transfer", "preset", "threshold", "opacity", "mip", "step", "no_shading", "background",
        "size", "samples", "eye", "look_at", "up", "fov", "orthographic", "clip", "spacing"
    ])]
    pub(super) study: bool,
    /// Trace rays only where the picture changes
    #[arg(long, requires = "study")]
    pub(super) adaptive: bool,
    /// Number of frames about each axis
    #[arg(long, value_name = "S", default_value_t = 4, requires = "study")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=FRAMES_MAX as i64))]
    pub(super) steps: u32,
    /// Number of the frame: axis · steps + step
    #[arg(long, value_name = "F", default_value_t = 0, requires = "study")]
    #[arg(conflicts_with = "frames")]
    pub(super) frame: u32,
    #[command(flatten)]
    pub(super) view: ViewArguments,
}

impl VolumeCommandArguments {
    /// Checks that a threshold has an effect.
    pub(super) fn check_threshold(&self) -> Result<(), CliError> {
        let option = match self.preset {
            Some(PresetChoice(preset)) if !preset.has_threshold() => {
                format!("--preset {}", preset.name)
            }
            None if self.mip => "--mip".to_owned(),
            _ => return Ok(()),
        };
        match self.threshold {
            Some(threshold) => Err(CliError::WrongCall {
                options: format!("--threshold {threshold} {option}"),
                reason: "this preset has no threshold; expected another preset".to_owned(),
            }),
            None => Ok(()),
        }
    }
}

/// A preset.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PresetChoice(pub(super) &'static Preset);

impl FromStr for PresetChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Preset::named(text).map(Self).ok_or_else(|| {
            let names: Vec<&str> = PRESETS.iter().map(|preset| preset.name).collect();
            format!("expected one of {}", names.join(", "))
        })
    }
}

fn preset_help() -> String {
    let presets = PRESETS
        .iter()
        .map(|preset| format!("{} ({})", preset.name, preset.about));
    let presets: Vec<String> = presets.collect();
    format!(
        "Colours and opacities relative to the histogram: {}",
        presets.join(", ")
    )
}
