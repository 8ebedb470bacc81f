//! The only place that prints.
//!
//! Standard output carries results and nothing else; status, warnings, hints, errors, progress and the
//! log go to standard error. Commands ask for what they want to say and leave to [`Ui`] whether and how it
//! is shown.

use std::env;
use std::fmt;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use anstream::{AutoStream, ColorChoice};
use clap::ValueEnum;
use clap::builder::styling::{AnsiColor, Style};
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};
use tracing_subscriber::fmt::MakeWriter;

use crate::error::{Error, ErrorKind, ExitCode};

/// Large enough that a pipe is filled by one write.
const OUTPUT_BUFFER: usize = 64 * 1024;

/// How long work goes on before its progress is shown; most runs are over by then.
const PROGRESS_DELAY: Duration = Duration::from_millis(250);

/// How often progress is drawn, in redraws a second.
const PROGRESS_RATE: u8 = 10;

const ERROR: Style = AnsiColor::Red.on_default().bold();
/// The style of the word that begins a warning.
pub const WARNING: Style = AnsiColor::Yellow.on_default().bold();
const HINT: Style = AnsiColor::Cyan.on_default().bold();

/// When to do something that suits a terminal and little else.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum When {
    /// On a terminal only
    #[default]
    Auto,
    /// Wherever the output goes
    Always,
    /// Not at all
    Never,
}

/// What the command line says about printing.
#[derive(Debug, Clone, Copy, Default)]
pub struct UiOptions {
    /// Whether to use colour. `Auto` also heeds `NO_COLOR` and its relatives.
    pub color: When,
    /// Whether to show progress.
    pub progress: When,
    /// 0 prints everything; 1 leaves out status and progress; 2 leaves out warnings and hints too.
    pub quiet: u8,
}

/// How results for people are laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OutputStyle {
    /// The columns that a line has.
    pub width: usize,
    /// Whether something tells how many there are: a terminal, or the environment.
    pub is_told: bool,
    /// Whether there is colour.
    pub color: bool,
    /// Whether characters beyond ASCII can be counted on.
    pub unicode: bool,
}

/// The columns of a line where nothing tells: enough for tables, and what windows usually have at least.
const WIDTH: usize = 100;

/// The user's end of the program. There is one, and it lives as long as the run.
pub struct Ui {
    output: Box<dyn Write>,
    output_color: bool,
    messages: Box<dyn Write>,
    color: bool,
    quiet: u8,
    progress: bool,
    bars: MultiProgress,
}

impl Ui {
    /// Takes hold of standard output for the rest of the run.
    #[must_use]
    pub fn new(options: UiOptions) -> Self {
        let stdout = io::stdout().lock();
        let output_color = use_color(options.color, AutoStream::choice(&stdout));
        // Somebody who watches wants each line when it is there: the standard library's own line buffer
        // does that. Everybody else wants few, large writes.
        let output: Box<dyn Write> = if stdout.is_terminal() {
            Box::new(stdout)
        } else {
            Box::new(BufWriter::with_capacity(OUTPUT_BUFFER, stdout))
        };
        let progress = match options.progress {
            When::Auto => options.quiet == 0 && io::stderr().is_terminal(),
            When::Always => true,
            When::Never => false,
        };
        let target = match options.progress {
            // As a terminal-like target the bar is drawn even where standard error is a file.
            When::Always => ProgressDrawTarget::term_like_with_hz(
                Box::new(console::Term::stderr()),
                PROGRESS_RATE,
            ),
            When::Auto | When::Never => ProgressDrawTarget::stderr_with_hz(PROGRESS_RATE),
        };
        Self {
            output,
            output_color,
            messages: Box::new(io::stderr()),
            color: use_color(options.color, AutoStream::choice(&io::stderr())),
            quiet: options.quiet,
            progress,
            bars: MultiProgress::with_draw_target(target),
        }
    }

    /// Where results go. Pass what a write returns through [`output_error`].
    pub fn output(&mut self) -> &mut dyn Write {
        &mut self.output
    }

    /// Writes to standard output.
    ///
    /// # Errors
    ///
    /// Of kind [`ErrorKind::ClosedPipe`] if nobody reads any more, else of kind [`ErrorKind::Io`].
    pub fn print(&mut self, bytes: impl AsRef<[u8]>) -> Result<(), Error> {
        self.output.write_all(bytes.as_ref()).map_err(output_error)
    }

    /// Hands everything that was printed so far to the operating system.
    ///
    /// # Errors
    ///
    /// As for [`Ui::print`].
    pub fn flush(&mut self) -> Result<(), Error> {
        self.output.flush().map_err(output_error)
    }

    /// Whether messages are coloured.
    #[must_use]
    pub const fn color(&self) -> bool {
        self.color
    }

    /// How to lay out results: as wide as the terminal is, in its characters.
    ///
    /// This looks at the terminal and at the environment variables COLUMNS, `LC_ALL`, `LC_CTYPE` and LANG.
    #[must_use]
    pub fn output_style(&self) -> OutputStyle {
        let terminal = console::Term::stdout();
        let columns = || env::var("COLUMNS").ok()?.trim().parse().ok();
        let width = match terminal.size_checked() {
            Some((_, columns)) if terminal.is_term() => Some(usize::from(columns)),
            _ => columns(),
        };
        OutputStyle {
            width: width.unwrap_or(WIDTH).clamp(40, 400),
            is_told: width.is_some(),
            color: self.output_color,
            unicode: locale_is_unicode(|name| env::var(name).ok()),
        }
    }

    /// Says what is being done or was done.
    pub fn status(&mut self, text: impl fmt::Display) {
        if self.quiet < 1 {
            self.message(format_args!("{}", visible(&text.to_string())));
        }
    }

    /// Says what is worth a second look, though the run goes on.
    pub fn warning(&mut self, text: impl fmt::Display) {
        if self.quiet < 2 {
            let label = self.label("warning:", WARNING);
            self.message(format_args!("{label} {}", visible(&text.to_string())));
        }
    }

    /// Says what could be done about a warning.
    pub fn hint(&mut self, text: impl fmt::Display) {
        if self.quiet < 2 {
            let label = self.label("hint:", HINT);
            self.message(format_args!("{label} {}", visible(&text.to_string())));
        }
    }

    /// Reports an error with its details, causes and hints. Errors are shown however quiet the run is.
    pub fn error(&mut self, error: &Error) {
        let label = self.label("error:", ERROR);
        let mut text = format!("{label} {}", visible(&error.to_string()));
        for detail in error.details() {
            text.push_str("\n  - ");
            text.push_str(&visible(detail));
        }
        for cause in error.causes() {
            text.push_str("\n  caused by: ");
            text.push_str(&visible(&cause.to_string()));
        }
        let label = self.label("hint:", HINT);
        for hint in error.hints() {
            text.push_str(&format!("\n{label} {}", visible(hint)));
        }
        self.message(format_args!("{text}"));
    }

    /// Shows what the command-line parser has to say instead of a parsed command: help, a version, or what
    /// is wrong with the arguments.
    ///
    /// # Errors
    ///
    /// As for [`Ui::print`].
    pub fn answer(&mut self, answer: &clap::Error) -> Result<ExitCode, Error> {
        let text = answer.render();
        if answer.use_stderr() {
            let text = if self.color {
                text.ansi().to_string()
            } else {
                text.to_string()
            };
            self.message(format_args!("{}", text.trim_end()));
            Ok(ExitCode::Usage)
        } else if self.output_color {
            self.print(text.ansi().to_string())?;
            Ok(ExitCode::Done)
        } else {
            self.print(text.to_string())?;
            Ok(ExitCode::Done)
        }
    }

    /// Ends the run: writes out what is still held back, reports what went wrong, and says how to exit.
    pub fn finish(&mut self, outcome: Result<ExitCode, Error>) -> ExitCode {
        // Output first, so that on a terminal the error stands below what came before it.
        let flushed = self.flush();
        match (outcome, flushed) {
            (Ok(code), Ok(())) => code,
            (Ok(_), Err(lost)) if lost.kind() == ErrorKind::ClosedPipe => ExitCode::Done,
            (Ok(code), Err(lost)) => code.merge(self.report(&lost)),
            // Where a write has failed already, the flush fails for the same reason.
            (Err(error), Err(lost))
                if error.kind() != ErrorKind::Io && lost.kind() == ErrorKind::Io =>
            {
                self.report(&error).merge(self.report(&lost))
            }
            (Err(error), _) => self.report(&error),
        }
    }

    fn report(&mut self, error: &Error) -> ExitCode {
        if error.kind() != ErrorKind::ClosedPipe {
            self.error(error);
        }
        error.exit_code()
    }

    /// Starts to count work of `total` units, whose plural is `unit`. Nothing is drawn before a quarter of a
    /// second has passed, and nothing at all where progress is not wanted.
    #[must_use]
    pub fn progress(&self, total: u64, unit: &str) -> Progress {
        let bar = ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::hidden());
        let template = format!("{{wide_bar}} {{human_pos}}/{{human_len}} {unit}, {{eta}} left");
        if let Ok(style) = ProgressStyle::with_template(&template) {
            bar.set_style(style);
        }
        Progress {
            bar,
            bars: self.progress.then(|| self.bars.clone()),
            started: Instant::now(),
            shown: OnceLock::new(),
        }
    }

    /// Starts to count bytes, of which there will be about `total`, and shows how fast they come, beside what [`Progress::say`]
    /// is told.
    #[must_use]
    pub fn progress_bytes(&self, total: u64) -> Progress {
        let progress = self.progress(total, "bytes");
        let template = "{wide_bar} {binary_bytes}/{binary_total_bytes}, {binary_bytes_per_sec}, {eta} left, {msg}";
        if let Ok(style) = ProgressStyle::with_template(template) {
            progress.bar.set_style(style);
        }
        progress
    }

    /// Starts to count bytes of which nobody knows how many there will be. `what` says what becomes of them: `decoded`.
    #[must_use]
    pub fn count(&self, what: &str) -> Progress {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
        let template = format!("{{spinner}} {{binary_bytes}} {what}, {{binary_bytes_per_sec}}");
        if let Ok(style) = ProgressStyle::with_template(&template) {
            bar.set_style(style);
        }
        Progress {
            bar,
            bars: self.progress.then(|| self.bars.clone()),
            started: Instant::now(),
            shown: OnceLock::new(),
        }
    }

    /// Where the log goes: standard error, without tearing a progress bar.
    #[must_use]
    pub fn log_writer(&self) -> LogWriter {
        LogWriter(self.bars.clone())
    }

    fn label(&self, text: &str, style: Style) -> String {
        if self.color {
            format!("{style}{text}{style:#}")
        } else {
            text.to_owned()
        }
    }

    fn message(&mut self, text: fmt::Arguments<'_>) {
        let messages = &mut self.messages;
        // Where standard error cannot be written there is no place left to say so; the exit code remains.
        let _ = self.bars.suspend(|| writeln!(messages, "{text}"));
    }
}

/// A message in which nothing from outside commands the terminal or hides: control characters, and those that turn the
/// direction of text or have no width, are escaped.
fn visible(text: &str) -> String {
    let hidden = |c: char| {
        c.is_control() && c != '\n'
            || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
    };
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if hidden(c) {
            shown.extend(c.escape_unicode());
        } else {
            shown.push(c);
        }
    }
    shown
}

/// What a failed write to standard output means.
#[must_use]
pub fn output_error(error: io::Error) -> Error {
    if error.kind() == io::ErrorKind::BrokenPipe {
        Error::new(ErrorKind::ClosedPipe, "standard output was closed")
    } else {
        Error::io("could not write to standard output", error)
    }
}

/// Whether the locale has the characters of Unicode. The first variable that is set to anything decides.
fn locale_is_unicode(variable: impl Fn(&str) -> Option<String>) -> bool {
    let names = ["LC_ALL", "LC_CTYPE", "LANG"];
    let mut values = names.into_iter().filter_map(variable);
    let locale = values.find(|value| !value.is_empty());
    let charset = locale.unwrap_or_default().to_ascii_lowercase();
    charset.ends_with("utf-8") || charset.ends_with("utf8")
}

fn use_color(wanted: When, detected: ColorChoice) -> bool {
    match wanted {
        When::Auto => detected != ColorChoice::Never,
        When::Always => true,
        When::Never => false,
    }
}

/// Work that is counted and, if it takes long enough, shown. Threads may share it.
#[derive(Debug)]
pub struct Progress {
    bar: ProgressBar,
    bars: Option<MultiProgress>,
    started: Instant,
    shown: OnceLock<()>,
}

impl Progress {
    /// Counts `units` more as done.
    pub fn advance(&self, units: u64) {
        self.bar.inc(units);
        if let Some(bars) = &self.bars
            && self.started.elapsed() >= PROGRESS_DELAY
        {
            self.shown.get_or_init(|| {
                bars.add(self.bar.clone());
            });
        }
    }

    /// Says a word beside the bar, if there is one.
    pub fn say(&self, text: impl FnOnce() -> String) {
        if self.shown.get().is_some() {
            self.bar.set_message(text());
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

/// A writer for the log, to be handed to `tracing_subscriber`.
#[derive(Debug, Clone)]
pub struct LogWriter(MultiProgress);

impl Write for LogWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.suspend(|| io::stderr().write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
    }
}

impl<'a> MakeWriter<'a> for LogWriter {
    type Writer = Self;

    fn make_writer(&'a self) -> Self::Writer {
        self.clone()
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::rc::Rc;

    use indicatif::InMemoryTerm;

    use super::*;

    /// A writer whose contents can be looked at while a `Ui` holds it.
    #[derive(Clone, Default)]
    struct Shared(Rc<RefCell<Vec<u8>>>);

    impl Shared {
        fn text(&self) -> String {
            String::from_utf8(self.0.borrow().clone()).unwrap()
        }
    }

    impl Write for Shared {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.borrow_mut().write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// A writer that takes everything and fails when it is flushed, as a file on a full disk may.
    struct FailsOnFlush(io::ErrorKind);

    impl Write for FailsOnFlush {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Err(self.0.into())
        }
    }

    fn ui(output: impl Write + 'static) -> (Ui, Shared) {
        let messages = Shared::default();
        let ui = Ui {
            output: Box::new(output),
            output_color: false,
            messages: Box::new(messages.clone()),
            color: false,
            quiet: 0,
            progress: false,
            bars: MultiProgress::with_draw_target(ProgressDrawTarget::hidden()),
        };
        (ui, messages)
    }

    fn chain_error() -> Error {
        Error::usage("the chain is invalid")
            .detail("codec 0: scale is 0")
            .detail("codec 1: no such type")
            .because(io::Error::other("told so"))
            .hint("change the scale")
    }

    #[test]
    fn nothing_from_outside_commands_the_terminal() {
        let (mut ui, messages) = ui(io::sink());
        let hostile = "\u{1b}[31mred\u{7}\r\u{9b}\u{202e}\u{feff}\tx";
        let error = Error::usage(hostile).detail(hostile).hint(hostile);
        ui.error(&error.because(io::Error::other(hostile)));
        ui.warning(hostile);
        ui.status(hostile);
        ui.hint(hostile);
        let text = messages.text();
        let escaped = r"\u{1b}[31mred\u{7}\u{d}\u{9b}\u{202e}\u{feff}\u{9}x";
        assert_eq!(text.matches(escaped).count(), 7, "{text}");
        assert!(!text.contains(['\u{1b}', '\r', '\u{202e}']));
    }

    #[test]
    fn an_error_has_details_then_causes_then_hints() {
        let (mut ui, messages) = ui(io::sink());
        ui.error(&chain_error());
        insta::assert_snapshot!(messages.text(), @r"
        error: the chain is invalid
          - codec 0: scale is 0
          - codec 1: no such type
          caused by: told so
        hint: change the scale
        ");
    }

    #[test]
    fn colour_marks_the_labels_only() {
        let (mut ui, messages) = ui(io::sink());
        ui.color = true;
        ui.warning("odd");
        ui.error(&chain_error());
        let text = messages.text();
        assert!(
            text.starts_with("\u{1b}[1m\u{1b}[33mwarning:\u{1b}[0m odd\n"),
            "{text:?}"
        );
        assert!(
            text.contains("\u{1b}[1m\u{1b}[31merror:\u{1b}[0m the chain"),
            "{text:?}"
        );
    }

    #[test]
    fn quiet_hides_status_then_warnings_but_never_errors() {
        let shown = |quiet| {
            let (mut ui, messages) = ui(io::sink());
            ui.quiet = quiet;
            ui.status("busy");
            ui.warning("odd");
            ui.hint("look");
            ui.error(&Error::finding("bad"));
            messages.text()
        };
        assert_eq!(shown(0), "busy\nwarning: odd\nhint: look\nerror: bad\n");
        assert_eq!(shown(1), "warning: odd\nhint: look\nerror: bad\n");
        assert_eq!(shown(2), "error: bad\n");
        assert_eq!(shown(u8::MAX), "error: bad\n");
    }

    #[test]
    fn a_closed_pipe_ends_quietly_even_on_flush() {
        let (mut ui, messages) = ui(FailsOnFlush(io::ErrorKind::BrokenPipe));
        assert_eq!(ui.finish(Ok(ExitCode::Findings)), ExitCode::Done);
        assert_eq!(messages.text(), "");
    }

    #[test]
    fn a_full_disk_on_flush_is_an_error() {
        let (mut ui, messages) = ui(FailsOnFlush(io::ErrorKind::StorageFull));
        assert_eq!(ui.finish(Ok(ExitCode::Findings)), ExitCode::Io);
        assert!(
            messages
                .text()
                .starts_with("error: could not write to standard output\n")
        );
    }

    #[test]
    fn an_error_outlives_a_closed_pipe() {
        let (mut ui, messages) = ui(FailsOnFlush(io::ErrorKind::BrokenPipe));
        let closed = output_error(io::ErrorKind::BrokenPipe.into());
        assert_eq!(ui.finish(Err(closed)), ExitCode::Done);
        assert_eq!(messages.text(), "");
        assert_eq!(ui.finish(Err(Error::finding("bad"))), ExitCode::Findings);
        assert_eq!(messages.text(), "error: bad\n");
    }

    #[test]
    fn a_full_disk_is_reported_once() {
        let (mut ui, messages) = ui(FailsOnFlush(io::ErrorKind::StorageFull));
        let full = output_error(io::ErrorKind::StorageFull.into());
        assert_eq!(ui.finish(Err(full)), ExitCode::Io);
        assert_eq!(messages.text().matches("error:").count(), 1);
        assert_eq!(ui.finish(Err(Error::finding("bad"))), ExitCode::Io);
        assert_eq!(messages.text().matches("error:").count(), 3);
    }

    #[test]
    fn the_first_variable_that_is_set_tells_the_locale() {
        let unicode = |all: &str, lang: &str| {
            locale_is_unicode(|name| match name {
                "LC_ALL" => Some(all.to_owned()),
                "LANG" => Some(lang.to_owned()),
                _ => None,
            })
        };
        assert!(unicode("", "en_GB.UTF-8"));
        assert!(unicode("C.utf8", "C"));
        assert!(!unicode("C", "en_GB.UTF-8"));
        assert!(!unicode("", ""));
    }

    #[test]
    fn progress_appears_late_and_clears_itself() {
        let term = InMemoryTerm::new(5, 60);
        let (mut ui, _) = ui(io::sink());
        ui.progress = true;
        ui.bars
            .set_draw_target(ProgressDrawTarget::term_like(Box::new(term.clone())));
        let mut progress = ui.progress(10, "chunks");
        progress.advance(1);
        assert_eq!(term.contents(), "");
        progress.started -= PROGRESS_DELAY;
        progress.advance(1);
        progress.bar.tick();
        assert!(
            term.contents().contains("2/10 chunks"),
            "{}",
            term.contents()
        );
        drop(progress);
        assert_eq!(term.contents(), "");
    }

    #[test]
    fn unwanted_progress_is_never_drawn() {
        let term = InMemoryTerm::new(5, 60);
        let (ui, _) = ui(io::sink());
        ui.bars
            .set_draw_target(ProgressDrawTarget::term_like(Box::new(term.clone())));
        let mut progress = ui.progress(10, "chunks");
        progress.started -= PROGRESS_DELAY;
        progress.advance(5);
        progress.bar.tick();
        assert_eq!(term.contents(), "");
    }
}
