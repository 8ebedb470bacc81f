//! How a run can end: exit codes, and the error that reaches the user.
//!
//! Modules of the library have error types of their own, close to what went wrong. At the edge of a
//! command they become an [`Error`], whose kind decides the exit code and whose hints are data, so that
//! only [`crate::ui`] decides how an error looks.

use std::fmt;

/// What the process tells its caller.
///
/// The numbers grow with how little of the result can be relied on, which makes [`ExitCode::merge`] the
/// larger of two.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
#[repr(u8)]
pub enum ExitCode {
    /// Done, nothing to report.
    #[default]
    Done = 0,
    /// Done, and something was found: a rule failed, or a value cannot be packed.
    Findings = 1,
    /// The command line asks for what cannot be done.
    Usage = 2,
    /// Something could not be read or written.
    Io = 3,
    /// Stopped before the end because the terminal went away.
    HungUp = 129,
    /// Stopped by the user before the end.
    Interrupted = 130,
    /// Stopped before the end by SIGTERM, as schedulers send it.
    Terminated = 143,
}

impl ExitCode {
    /// Every exit code, in ascending order.
    pub const ALL: [Self; 7] = [
        Self::Done,
        Self::Findings,
        Self::Usage,
        Self::Io,
        Self::HungUp,
        Self::Interrupted,
        Self::Terminated,
    ];

    /// The number that the operating system sees.
    #[must_use]
    pub const fn number(self) -> u8 {
        self as u8
    }

    /// What the code means, as help and manual say it.
    #[must_use]
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::Done => "done, nothing to report",
            Self::Findings => "findings: a rule failed, or a value cannot be packed",
            Self::Usage => "usage: a wrong flag, or an invalid chain given by flags",
            Self::Io => "something could not be read or written",
            Self::HungUp => "its terminal went away",
            Self::Interrupted => "interrupted",
            Self::Terminated => "terminated by a signal",
        }
    }

    /// The code for a run of several parts, of which two ended with `self` and `other`.
    ///
    /// The larger wins: findings give way to a failure to read or write, since what was not read may hold
    /// more findings, and both give way to an interruption, after which anything may be missing.
    #[must_use]
    pub fn merge(self, other: Self) -> Self {
        self.max(other)
    }
}

impl From<ExitCode> for std::process::ExitCode {
    fn from(code: ExitCode) -> Self {
        code.number().into()
    }
}

/// Why a command ended early.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The input was read, and what it holds is refused.
    Finding,
    /// The command line asks for what cannot be done.
    Usage,
    /// Something could not be read or written.
    Io,
    /// The user stopped the run.
    Interrupted,
    /// Somebody else stopped the run, with SIGTERM.
    Terminated,
    /// The terminal of the run went away.
    HungUp,
    /// The reader of standard output has gone away: `zarrpack ... | head`. Nobody is left to tell.
    ClosedPipe,
}

impl ErrorKind {
    /// The exit code of a run that ended with an error of this kind.
    #[must_use]
    pub const fn exit_code(self) -> ExitCode {
        match self {
            Self::Finding => ExitCode::Findings,
            Self::Usage => ExitCode::Usage,
            Self::Io => ExitCode::Io,
            Self::Interrupted => ExitCode::Interrupted,
            Self::Terminated => ExitCode::Terminated,
            Self::HungUp => ExitCode::HungUp,
            Self::ClosedPipe => ExitCode::Done,
        }
    }
}

/// An error as the user meets it: what happened, the parts and causes of it, and what to do.
#[derive(Debug)]
pub struct Error {
    kind: ErrorKind,
    message: String,
    details: Vec<String>,
    cause: Option<anyhow::Error>,
    hints: Vec<String>,
}

impl Error {
    /// An error of the given kind. The message starts with a lower-case letter and has no full stop.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            details: Vec::new(),
            cause: None,
            hints: Vec::new(),
        }
    }

    /// What was read is refused (exit code 1).
    pub fn finding(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Finding, message)
    }

    /// The command line asks for what cannot be done (exit code 2).
    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Usage, message)
    }

    /// Something could not be read or written (exit code 3).
    pub fn io(message: impl Into<String>, cause: impl Into<anyhow::Error>) -> Self {
        Self::new(ErrorKind::Io, message).because(cause)
    }

    /// Names the cause; its own causes are shown after it.
    #[must_use]
    pub fn because(mut self, cause: impl Into<anyhow::Error>) -> Self {
        self.cause = Some(cause.into());
        self
    }

    /// Says what the error is about, such as a flag, before everything else.
    #[must_use]
    pub fn about(mut self, what: &str) -> Self {
        self.message = format!("{what}: {}", self.message);
        self
    }

    /// Adds one of several things that the message sums up, such as one problem of an invalid chain.
    #[must_use]
    pub fn detail(mut self, detail: impl Into<String>) -> Self {
        self.details.push(detail.into());
        self
    }

    /// Adds advice.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// Why the command ended.
    #[must_use]
    pub const fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// The exit code that belongs to the kind.
    #[must_use]
    pub const fn exit_code(&self) -> ExitCode {
        self.kind.exit_code()
    }

    /// The things that the message sums up, if there are several.
    #[must_use]
    pub fn details(&self) -> &[String] {
        &self.details
    }

    /// The causes, nearest first.
    pub fn causes(&self) -> impl Iterator<Item = &(dyn std::error::Error + 'static)> {
        self.cause.iter().flat_map(anyhow::Error::chain)
    }

    /// Advice on what to do.
    #[must_use]
    pub fn hints(&self) -> &[String] {
        &self.hints
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.causes().next()
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;

    #[test]
    fn findings_and_io_merge_to_io() {
        assert_eq!(ExitCode::Findings.merge(ExitCode::Io), ExitCode::Io);
        assert_eq!(ExitCode::Io.merge(ExitCode::Findings), ExitCode::Io);
    }

    #[test]
    fn merging_is_commutative_and_done_changes_nothing() {
        for a in ExitCode::ALL {
            assert_eq!(a.merge(ExitCode::Done), a);
            assert_eq!(a.merge(a), a);
            assert!(a.merge(ExitCode::HungUp) >= ExitCode::HungUp);
            for b in ExitCode::ALL {
                assert_eq!(a.merge(b), b.merge(a));
            }
        }
    }

    #[test]
    fn numbers_are_a_contract() {
        assert_eq!(
            ExitCode::ALL.map(ExitCode::number),
            [0, 1, 2, 3, 129, 130, 143]
        );
    }

    #[test]
    fn kinds_have_their_codes() {
        let codes = [
            (ErrorKind::Finding, 1),
            (ErrorKind::Usage, 2),
            (ErrorKind::Io, 3),
            (ErrorKind::Interrupted, 130),
            (ErrorKind::Terminated, 143),
            (ErrorKind::HungUp, 129),
            (ErrorKind::ClosedPipe, 0),
        ];
        for (kind, number) in codes {
            assert_eq!(Error::new(kind, "x").exit_code().number(), number);
        }
    }

    #[test]
    fn causes_come_nearest_first() {
        let cause = anyhow::Error::from(io::Error::other("disk on fire")).context("flushing");
        let error = Error::io("could not write a.json", cause).hint("use water");
        let causes: Vec<String> = error.causes().map(ToString::to_string).collect();
        assert_eq!(causes, ["flushing", "disk on fire"]);
        assert_eq!(error.to_string(), "could not write a.json");
        assert_eq!(error.hints(), ["use water"]);
    }
}
