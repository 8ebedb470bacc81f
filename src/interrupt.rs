//! Ctrl-C and the polite request to end: signals that set a flag, which long work asks for.
//!
//! A terminal that goes away counts too, unless the program was started to outlive it, as `nohup` does.
//!
//! The first signal lets what is being written be finished or taken back. Another Ctrl-C ends the process at once, unless it comes
//! within a moment, since programs that run this one may hand on what the terminal has sent it already; what it leaves behind, the
//! next run finds.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;
use std::{fmt, io, thread};

#[cfg(unix)]
use signal_hook::consts::SIGHUP;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;
use signal_hook::iterator::Signals;

use crate::error::{Error, ErrorKind, ExitCode};

/// A number for what this system does not send.
#[cfg(not(unix))]
const SIGHUP: i32 = 1;

/// How soon after a first Ctrl-C another one is taken for the same.
const MOMENT: Duration = Duration::from_millis(300);

/// A signal that asks the program to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Signal {
    /// SIGINT: the user pressed Ctrl-C.
    Interrupt,
    /// SIGTERM: a scheduler or a service manager wants the process gone.
    Terminate,
    /// SIGHUP: the terminal has gone away.
    HangUp,
}

impl Signal {
    const ALL: [Self; 3] = [Self::Interrupt, Self::Terminate, Self::HangUp];

    /// The kind of the error that a run ends with after this signal.
    #[must_use]
    pub const fn kind(self) -> ErrorKind {
        match self {
            Self::Interrupt => ErrorKind::Interrupted,
            Self::Terminate => ErrorKind::Terminated,
            Self::HangUp => ErrorKind::HungUp,
        }
    }

    const fn number(self) -> i32 {
        match self {
            Self::Interrupt => SIGINT,
            Self::Terminate => SIGTERM,
            Self::HangUp => SIGHUP,
        }
    }

    /// How the signal is written into the flag, where 0 is none.
    const fn mark(self) -> usize {
        match self {
            Self::Interrupt => 1,
            Self::Terminate => 2,
            Self::HangUp => 3,
        }
    }
}

/// Work ended early because of a signal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Interrupted(pub Signal);

impl fmt::Display for Interrupted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0 {
            Signal::Interrupt => "interrupted",
            Signal::Terminate => "asked to end by a signal",
            Signal::HangUp => "ended with its terminal",
        })
    }
}

impl std::error::Error for Interrupted {}

impl From<Interrupted> for Error {
    fn from(interrupted: Interrupted) -> Self {
        Self::new(interrupted.0.kind(), interrupted.to_string())
    }
}

/// Whether the program was asked to end. Clones share the answer.
#[derive(Debug, Clone, Default)]
pub struct Interrupt {
    mark: Arc<AtomicUsize>,
}

impl Interrupt {
    /// Starts to heed signals. From then on they no longer end the process by themselves, so the caller has to ask
    /// [`Interrupt::check`] every now and then. Meant to be called once in a process.
    ///
    /// # Errors
    ///
    /// Where the system refuses.
    pub fn install() -> io::Result<Self> {
        let interrupt = Self::default();
        let armed = Arc::new(AtomicBool::new(false));
        let heeded = |signal: &Signal| *signal != Signal::HangUp || !outlives_its_terminal();
        let heeded: Vec<_> = Signal::ALL.into_iter().filter(heeded).collect();
        // The marks come first: a signal must not find a handler that does not set one.
        for signal in &heeded {
            let mark = Arc::clone(&interrupt.mark);
            flag::register_usize(signal.number(), mark, signal.mark())?;
        }
        // Only Ctrl-C shuts down, since schedulers may repeat SIGTERM without impatience.
        let status = ExitCode::Interrupted.number().into();
        flag::register_conditional_shutdown(SIGINT, status, Arc::clone(&armed))?;
        let mut signals = Signals::new(heeded.iter().map(|signal| signal.number()))?;
        thread::Builder::new().spawn(move || {
            if signals.forever().next().is_some() {
                thread::sleep(MOMENT);
                armed.store(true, Ordering::Relaxed);
            }
        })?;
        Ok(interrupt)
    }

    /// The signal that came, the last one if several did.
    #[must_use]
    pub fn signal(&self) -> Option<Signal> {
        let mark = self.mark.load(Ordering::Relaxed);
        Signal::ALL.into_iter().find(|signal| signal.mark() == mark)
    }

    /// Asks whether to go on.
    ///
    /// # Errors
    ///
    /// Where a signal came.
    pub fn check(&self) -> Result<(), Interrupted> {
        match self.signal() {
            Some(signal) => Err(Interrupted(signal)),
            None => Ok(()),
        }
    }

    /// Acts as if a signal had come, for programs that have other ways to be told.
    pub fn raise(&self, signal: Signal) {
        self.mark.store(signal.mark(), Ordering::Relaxed);
    }
}

/// Whether the program was started with SIGHUP ignored, so that it goes on when its terminal goes away.
#[cfg(target_os = "linux")]
fn outlives_its_terminal() -> bool {
    // There is no way to ask the system without `unsafe`, and this is what it says of itself.
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    ignored.is_some_and(|mask| mask & (1 << (SIGHUP - 1)) != 0)
}

/// Whether the program was started to go on when its terminal goes away: where that cannot be told, what the system does stays, and
/// the next run tidies up.
#[cfg(not(target_os = "linux"))]
const fn outlives_its_terminal() -> bool {
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clones_share_what_came() {
        let interrupt = Interrupt::default();
        let clone = interrupt.clone();
        assert_eq!(clone.check(), Ok(()));
        interrupt.raise(Signal::Terminate);
        assert_eq!(clone.check(), Err(Interrupted(Signal::Terminate)));
    }

    #[test]
    fn signals_have_their_exit_codes() {
        let number = |signal| Error::from(Interrupted(signal)).exit_code().number();
        assert_eq!(Signal::ALL.map(number), [130, 143, 129]);
    }

    #[test]
    fn a_signal_of_the_system_sets_the_flag() {
        let interrupt = Interrupt::install().unwrap();
        signal_hook::low_level::raise(SIGTERM).unwrap();
        assert_eq!(interrupt.signal(), Some(Signal::Terminate));
        // Twice is not too much of this one.
        signal_hook::low_level::raise(SIGTERM).unwrap();
        assert_eq!(interrupt.signal(), Some(Signal::Terminate));
    }
}
