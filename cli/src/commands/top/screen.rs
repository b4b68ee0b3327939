//! The terminal: draws the lines about running programs until a key ends it.
//!
//! The text is on the alternate screen, so that the terminal is afterwards as it was before, also
//! after an error, a panic and a signal that ends the program.

use std::fs::File;
use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};

use crossterm::event::{self, Event, KeyCode, KeyEvent, KeyModifiers};
use crossterm::{cursor, execute, queue, style, terminal};
use raddle_trace::monitor::{self, VARIABLE};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;

use super::sample::{Program, Sampler};
use super::text;
use crate::error::CliError;
use crate::units;

/// The shortest and the longest interval that a key chooses.
const INTERVALS: [Duration; 2] = [Duration::from_millis(100), Duration::from_mins(1)];

/// The time to the first rates.
const FIRST: Duration = Duration::from_millis(500);

/// The longest time without a look at signals and at the terminal.
const LOOK: Duration = Duration::from_millis(100);

/// The terminal as the view needs it, until this is dropped.
struct Screen;

/// The view, as keys have set it.
struct View {
    interval: Duration,
    is_paused: bool,
    /// The number of lines above the top of the terminal.
    scrolled: usize,
    /// The size of the terminal when it was drawn last.
    size: (u16, u16),
}

/// The effect of a key.
#[derive(Debug, PartialEq, Eq)]
enum Effect {
    End,
    Draw,
    Nothing,
}

impl Screen {
    fn begin() -> io::Result<Self> {
        terminal::enable_raw_mode()?;
        let screen = Self;
        execute!(io::stdout(), terminal::EnterAlternateScreen, cursor::Hide)?;
        Ok(screen)
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        // If the terminal is gone, there is nothing to restore.
        let _gone = execute!(io::stdout(), cursor::Show, terminal::LeaveAlternateScreen);
        let _gone = terminal::disable_raw_mode();
    }
}

/// Shows the programs until a key ends it.
pub(super) fn show(mut sampler: Sampler, interval: Duration) -> Result<(), CliError> {
    // An error of the call is better seen on the usual screen.
    let mut programs = sampler.take()?;
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP]).map_err(CliError::StandardOutput)?;
    let keyboard = Keyboard::open().map_err(CliError::StandardOutput)?;
    let screen = Screen::begin().map_err(CliError::StandardOutput)?;
    let mut view = View {
        interval,
        is_paused: false,
        scrolled: 0,
        size: (0, 0),
    };
    view.draw(&programs)?;
    // The first rates soon.
    let mut next = Instant::now() + view.interval.min(FIRST);
    loop {
        if let Some(signal) = signals.pending().next() {
            drop(screen);
            // Ends the process.
            let _ended = emulate_default_handler(signal);
            return Ok(());
        }
        let left = next.saturating_duration_since(Instant::now()).min(LOOK);
        let input = keyboard.wait(left).map_err(CliError::StandardOutput)?;
        if input == Input::Gone {
            return Ok(());
        }
        // One read may bring several keys.
        let has_keys = input == Input::Keys;
        while has_keys && event::poll(Duration::ZERO).unwrap_or(false) {
            let effect = match event::read().map_err(CliError::StandardOutput)? {
                Event::Key(key) if !key.is_release() => view.press(key),
                _ => Effect::Nothing,
            };
            match effect {
                Effect::End => return Ok(()),
                Effect::Draw => {
                    view.draw(&programs)?;
                    next = next.min(Instant::now() + view.interval);
                }
                Effect::Nothing => {}
            }
        }
        if Instant::now() < next {
            if terminal::size().is_ok_and(|size| size != view.size) {
                view.draw(&programs)?;
            }
            continue;
        }
        if !view.is_paused {
            programs = sampler.take()?;
            view.draw(&programs)?;
        }
        next = Instant::now() + view.interval;
    }
}

/// The device from which the keys come.
enum Keyboard {
    StandardInput,
    Terminal(File),
}

/// The state of the keyboard.
#[derive(Debug, PartialEq, Eq)]
enum Input {
    Keys,
    Nothing,
    /// The terminal has gone. Reading a key from it would not end.
    Gone,
}

impl Keyboard {
    /// Opens the same device that crossterm reads.
    fn open() -> io::Result<Self> {
        match io::stdin().is_terminal() {
            true => Ok(Self::StandardInput),
            false => File::open("/dev/tty").map(Self::Terminal),
        }
    }

    /// Waits for keys. Also a signal ends the wait.
    fn wait(&self, time: Duration) -> io::Result<Input> {
        let standard = io::stdin();
        let mut polled = [match self {
            Self::StandardInput => PollFd::new(&standard, PollFlags::IN),
            Self::Terminal(terminal) => PollFd::new(terminal, PollFlags::IN),
        }];
        let time = Timespec::try_from(time).unwrap_or_default();
        match poll(&mut polled, Some(&time)) {
            Err(Errno::INTR) => return Ok(Input::Nothing),
            result => result?,
        };
        let found = polled[0].revents();
        Ok(match found {
            _ if found.intersects(PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL) => Input::Gone,
            _ if found.contains(PollFlags::IN) => Input::Keys,
            _ => Input::Nothing,
        })
    }
}

impl View {
    fn press(&mut self, key: KeyEvent) -> Effect {
        let is_interrupt =
            key.code == KeyCode::Char('c') && key.modifiers.contains(KeyModifiers::CONTROL);
        match key.code {
            _ if is_interrupt => return Effect::End,
            KeyCode::Char('q') | KeyCode::Esc => return Effect::End,
            KeyCode::Char(' ') => self.is_paused = !self.is_paused,
            KeyCode::Char('+') => self.interval = (self.interval / 2).max(INTERVALS[0]),
            KeyCode::Char('-') => self.interval = (self.interval * 2).min(INTERVALS[1]),
            KeyCode::Down => self.scrolled += 1,
            KeyCode::Up => self.scrolled = self.scrolled.saturating_sub(1),
            KeyCode::PageDown => self.scrolled += page(),
            KeyCode::PageUp => self.scrolled = self.scrolled.saturating_sub(page()),
            KeyCode::Home => self.scrolled = 0,
            _ => return Effect::Nothing,
        }
        Effect::Draw
    }

    fn draw(&mut self, programs: &[Program]) -> Result<(), CliError> {
        self.try_draw(programs).map_err(CliError::StandardOutput)
    }

    fn try_draw(&mut self, programs: &[Program]) -> io::Result<()> {
        self.size = terminal::size()?;
        let (width, height) = self.size;
        let lines = self.frame(programs, usize::from(width), usize::from(height));
        let mut out = io::stdout().lock();
        queue!(out, terminal::BeginSynchronizedUpdate)?;
        for (row, line) in (0_u16..).zip(&lines) {
            let clear = terminal::Clear(terminal::ClearType::UntilNewLine);
            queue!(out, cursor::MoveTo(0, row))?;
            match row {
                0 => queue!(
                    out,
                    style::PrintStyledContent(style::Stylize::reverse(&**line))
                )?,
                _ => queue!(out, style::Print(line))?,
            }
            queue!(out, clear)?;
        }
        queue!(
            out,
            terminal::Clear(terminal::ClearType::FromCursorDown),
            terminal::EndSynchronizedUpdate
        )?;
        out.flush()
    }

    /// Returns the lines that fit on a terminal of this size.
    fn frame(&mut self, programs: &[Program], width: usize, height: usize) -> Vec<String> {
        let mut lines = match programs {
            [] => nothing_to_watch(),
            programs => text::lines(programs),
        };
        let space = height.saturating_sub(1).max(1);
        self.scrolled = self.scrolled.min(lines.len().saturating_sub(space));
        lines.drain(..self.scrolled);
        lines.truncate(space);
        lines.insert(0, self.heading(programs.len()));
        let cut = |line: String| line.chars().take(width).collect();
        lines.into_iter().map(cut).collect()
    }

    fn heading(&self, programs: usize) -> String {
        let pause = if self.is_paused { "  paused" } else { "" };
        format!(
            "raddle top  {}  every {}{pause}  (q ends, space pauses, + and - change the interval)",
            units::counted(programs, "program"),
            units::time(self.interval),
        )
    }
}

fn nothing_to_watch() -> Vec<String> {
    vec![
        "No program of yours can be watched now.".to_owned(),
        format!("Start one with {VARIABLE}=on in its environment; it appears here."),
        format!("(Its socket will be in {}.)", monitor::folder().display()),
    ]
}

fn page() -> usize {
    terminal::size().map_or(1, |(_, height)| {
        usize::from(height).saturating_sub(2).max(1)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(code: KeyCode) -> KeyEvent {
        KeyEvent::new(code, KeyModifiers::NONE)
    }

    #[test]
    fn keys_end_pause_and_change_the_interval() {
        let mut view = View {
            interval: Duration::from_secs(1),
            is_paused: false,
            scrolled: 0,
            size: (0, 0),
        };
        assert_eq!(view.press(key(KeyCode::Char('x'))), Effect::Nothing);
        assert_eq!(view.press(key(KeyCode::Char(' '))), Effect::Draw);
        assert!(view.is_paused && view.heading(2).contains("2 programs  every 1.00 s  paused"));
        for _ in 0..20 {
            view.press(key(KeyCode::Char('+')));
        }
        assert_eq!(view.interval, INTERVALS[0]);
        assert_eq!(view.press(key(KeyCode::Char('q'))), Effect::End);
        let interrupt = KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL);
        assert_eq!(view.press(interrupt), Effect::End);
        assert_eq!(view.press(key(KeyCode::Char('c'))), Effect::Nothing);
    }

    #[test]
    fn a_frame_fits_on_any_terminal() {
        let mut view = View {
            interval: Duration::from_secs(1),
            is_paused: false,
            scrolled: 50,
            size: (0, 0),
        };
        for (width, height) in [(0, 0), (1, 1), (20, 2), (80, 24), (300, 100)] {
            let lines = view.frame(&[], width, height);
            assert!(lines.len() <= height.max(2));
            assert!(lines.iter().all(|line| line.chars().count() <= width));
        }
    }
}
