//! `raddle view`: shows a volume or a mesh in a browser, where it can be turned and changed.
//!
//! # Parts
//! - [`content`]: what a page shows: a scene of this process, or one that nodes render.
//! - [`scene`]: the content of the file, and one picture of it.
//! - [`place`]: the box of a scene, and the words that name it.
//! - [`request`]: a picture that the page asks for, and the command line that makes the same one.
//! - [`surfaces`]: the surfaces of equal value in a request.
//! - [`session`]: the conversation with one page: the newest request wins, coarse pictures while
//!   something moves, and a fine one at rest.
//! - [`urgency`]: coarse pictures of all pages come before fine ones.
//! - [`server`]: the connections, and the checks that each of them has to pass.
//! - [`browser`]: opens the page on the desktop.
//! - `page`: the page itself.
//!
//! The server waits in the kernel for connections and messages, so a view that is left alone takes
//! no processor time.

mod browser;
mod content;
mod place;
mod request;
mod scene;
mod server;
mod session;
mod surfaces;
mod urgency;

use std::io::IsTerminal;
use std::sync::Arc;

use clap::Args;

use self::content::Local;
use self::scene::Scene;
use crate::arguments::{ContentArguments, Options};
use crate::error::CliError;
use crate::report::{self, Report};
use crate::workers;

pub(super) use self::content::Content;
pub(super) use self::place::{Place, words_of_volume};
pub(super) use self::request::{Mode, Request};
pub(super) use self::scene::{Rendered, describe_camera, described, described_volume};

pub(super) const EXAMPLES: &str = "\
Examples:
  raddle view heptane_302x302x302_u8.raw
  raddle view ct/ --port 8080 --no-open
  raddle view dragon.ply
  raddle view --scene spheres:256

The page shows the command for its picture. Only this machine can connect; for a view of another
machine, forward the port: ssh -L 8080:127.0.0.1:8080 HOST.";

pub(super) const QUIET: &str = "Print only the address and errors";

const HELP: &str = "A volume, the folder of a DICOM series, or a mesh";

/// `raddle view`.
#[derive(Debug, Clone, Args)]
#[command(mut_arg("file", |file| file.help(HELP)))]
pub(crate) struct ViewCommandArguments {
    #[command(flatten)]
    input: ContentArguments,
    #[command(flatten)]
    page: PageArguments,
}

/// The page.
#[derive(Debug, Clone, Args)]
pub(in crate::commands) struct PageArguments {
    /// Port of the page [default: a free one]
    #[arg(
        long,
        value_name = "PORT",
        default_value_t = 0,
        hide_default_value = true
    )]
    port: u16,
    /// Only print the address of the page, without opening a browser
    #[arg(long)]
    no_open: bool,
}

/// Shows the file until the process is ended.
///
/// # Errors
/// [`CliError`] if the file cannot be read, or if the port is not free.
pub(super) fn run(
    arguments: &ViewCommandArguments,
    options: &Options,
) -> Result<Option<Report>, CliError> {
    if options.stats {
        return Err(CliError::WrongCall {
            options: "--stats".to_owned(),
            reason: "expected a command that ends; raddle volume has statistics".to_owned(),
        });
    }
    let runtime = workers::start(options)?;
    let scene = runtime.install(|| Scene::load(arguments.input.input()?, options.quiet))?;
    let content = Arc::new(Local { scene, runtime });
    show(content, &arguments.page, "view", options)?;
    Ok(None)
}

impl PageArguments {
    /// Returns the options that were given.
    pub(in crate::commands) fn given(&self) -> Vec<String> {
        let port = (self.port != 0).then(|| format!("--port {}", self.port));
        let no_open = self.no_open.then(|| "--no-open".to_owned());
        port.into_iter().chain(no_open).collect()
    }
}

/// Shows a content until the process is ended.
///
/// # Errors
/// [`CliError::Listen`] if the port is not free.
pub(super) fn show(
    content: Arc<dyn Content>,
    page: &PageArguments,
    command: &str,
    options: &Options,
) -> Result<(), CliError> {
    let server = server::Server::bind(page.port)?;
    let address = server.address();
    // The address is needed while the command runs, so it is printed before the end. A view
    // without it is of no use, so that `--quiet` does not leave it out.
    let mut report = Report::new();
    report
        .requested(&format!("{address}\n"))
        .field("address", &address);
    report::finish(&report, command, options)?;
    let wants_browser = !page.no_open && std::io::stdout().is_terminal();
    let reference = wants_browser.then(|| browser::open(&address)).flatten();
    server.serve(content, reference)
}
