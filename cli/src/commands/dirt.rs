//! `raddle dirt`: surfaces of equal value, rendered by several nodes that share a volume in bricks.

mod arguments;
mod characterise;
mod nodes;
mod profile;
mod report;
mod subject;
pub(super) mod timeline;
mod view;

use raddle::net::Node;
use raddle_graphics::dirt::{DirtError, DirtOptions, Supervisor};
use raddle_graphics::picture::{self, Picture};

pub(super) use self::arguments::{DirtArguments, EXAMPLES};

use self::nodes::failed;
use self::report::Rendered;
use self::subject::Subject;
use crate::arguments::Options;
use crate::commands::turn::{numbered, turned};
use crate::error::CliError;
use crate::output;
use crate::progress::Phase;
use crate::report::{RanOn, Report};

/// Renders the pictures. Returns `None` in a process that was started as a node.
///
/// # Errors
/// [`CliError`]: a volume that cannot be read, nodes that do not start, a picture that cannot be
/// written, or the end of all nodes that render.
pub(super) fn run(
    arguments: &DirtArguments,
    options: &Options,
) -> Result<Option<Report>, CliError> {
    arguments.check()?;
    if arguments.view_page {
        return show(arguments, options).map(|()| None);
    }
    if arguments.characterise.is_wanted() {
        return characterise::run(arguments, options).map(Some);
    }
    let mut job = arguments.nodes.job(&subject::origin(&arguments.input)?)?;
    job.options.profiles = arguments.profile || arguments.trace.is_some();
    let paths = numbered(arguments.output(), 0..arguments.frames);
    for path in &paths {
        picture::check_path(path)?;
        output::check_apart(path, arguments.input.file.as_deref())?;
    }
    if let Some(path) = &arguments.trace {
        output::check_apart(path, arguments.input.file.as_deref())?;
    }
    let plan = nodes::plan(&job, options)?;
    let lead = |node: &Node, subject| {
        let save = |index: u32, picture: &Picture| Ok(picture.save(&paths[index as usize])?);
        lead(node, subject, arguments, &job.options, options.quiet, save)
    };
    let Some(rendered) = nodes::run(&job, plan.as_ref(), arguments, options, lead)? else {
        return Ok(None);
    };
    if let Some(path) = &arguments.trace {
        timeline::write(&rendered.threads, path)?;
    }
    let report = report::report(&rendered, &job, arguments, &paths, options);
    Ok(Some(report.on(plan.map_or(RanOn::Nothing, RanOn::Plan))))
}

/// Shows the page of a view until the process is ended. Returns in a process that was started as a
/// node.
fn show(arguments: &DirtArguments, options: &Options) -> Result<(), CliError> {
    let job = arguments.nodes.job(&subject::origin(&arguments.input)?)?;
    let plan = nodes::plan(&job, options)?;
    let lead = |node: &Node, subject| {
        view::show(node, &subject, arguments, &job.options, options)?;
        Ok(Rendered::new(subject))
    };
    nodes::run(&job, plan.as_ref(), arguments, options, lead).map(|_| ())
}

/// Supervises the nodes: renders all pictures, and calls `save` with each.
fn lead(
    node: &Node,
    subject: Subject,
    arguments: &DirtArguments,
    dirt: &DirtOptions,
    quiet: bool,
    mut save: impl FnMut(u32, &Picture) -> Result<(), CliError>,
) -> Result<Rendered, CliError> {
    let (grid, range, offset) = (subject.grid, subject.range, subject.offset);
    if !quiet && arguments.iso_step == 0.0 {
        arguments.surfaces.warn_of_values(&subject.name, range);
    }
    let mut supervisor = Supervisor::start(node, dirt).map_err(failed)?;
    let refused = |source| arguments.surfaces.refused(source, &arguments.view);
    let first = arguments.surfaces.options(&arguments.view, offset);
    let pixels = u64::from(arguments.view.size.width) * u64::from(arguments.view.size.height);
    let pixels = pixels * u64::from(arguments.frames);
    let mut rendered = Rendered::new(subject);
    let phase = Phase::begin("rendering", quiet);
    for index in 0..arguments.frames {
        let mut scene = first.clone();
        scene.view = turned(&first.view, &grid, arguments.turns(index))
            .map_err(|source| refused(source.moved_by(offset).into()))?;
        // The supervisor reports a wrong view before a node does.
        grid.camera(&scene.view)
            .map_err(|source| refused(source.moved_by(offset).into()))?;
        for surface in &mut scene.surfaces {
            surface.isovalue += f64::from(index) * arguments.iso_step;
        }
        let frame = supervisor.render(&scene, |_, part| {
            phase.more_of(part.pixel_count() as u64, pixels);
        });
        let frame = frame.map_err(|error| match error {
            DirtError::Isosurface(source) => refused(source),
            error => failed(error),
        })?;
        save(index, &frame.picture)?;
        rendered.add(&frame);
    }
    drop(phase);
    let reports = supervisor.finish().map_err(failed)?;
    (rendered.reports, rendered.threads) = (reports.workers, reports.threads);
    if quiet {
        return Ok(rendered);
    }
    if rendered.lost > 0 {
        let (lost, all) = (rendered.lost, dirt.workers);
        output::warn(&format!(
            "{lost} of {all} nodes have ended; the others have rendered their tiles"
        ));
    } else if rendered.sum().work.rays.hits == 0 {
        let (name, surfaces) = (&rendered.subject.name, &arguments.surfaces);
        let reason = surfaces.reason_for_nothing(range, "picture");
        output::warn(&format!("{name}: {reason}, --clip and --eye"));
    }
    Ok(rendered)
}
