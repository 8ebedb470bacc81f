//! Standard input that is waited for no longer than until a signal comes.

use std::fs::{File, Metadata};
use std::io::{self, Read};
#[cfg(unix)]
use std::time::Duration;

use crate::error::Error;
use crate::interrupt::{Interrupt, Interrupted};

/// How long a signal waits at most that came while nobody listened.
#[cfg(unix)]
const PATIENCE: Duration = Duration::from_millis(100);

/// Standard input, unbuffered. Where a signal has come, reading fails with [`Interrupted`] inside.
#[derive(Debug)]
pub struct StandardInput<'i> {
    #[cfg(unix)]
    file: File,
    interrupt: &'i Interrupt,
}

impl<'i> StandardInput<'i> {
    /// Standard input, read until a signal comes.
    ///
    /// # Errors
    ///
    /// Where it is closed.
    pub fn open(interrupt: &'i Interrupt) -> io::Result<Self> {
        Ok(Self {
            #[cfg(unix)]
            file: handle()?,
            interrupt,
        })
    }

    /// The error that a failed reading comes to.
    #[must_use]
    pub fn failed(error: io::Error) -> Error {
        let inner = error.get_ref();
        match inner.and_then(|inner| inner.downcast_ref::<Interrupted>()) {
            Some(interrupted) => (*interrupted).into(),
            None => Error::io("could not read standard input", error),
        }
    }

    /// Waits until there is something to read, or nothing will ever be.
    #[cfg(unix)]
    fn wait(&self) -> io::Result<()> {
        use rustix::event::{PollFd, PollFlags, Timespec, poll};
        use rustix::io::Errno;
        let patience = Timespec {
            tv_sec: 0,
            tv_nsec: PATIENCE.subsec_nanos().into(),
        };
        loop {
            self.interrupt.check().map_err(io::Error::other)?;
            let mut handles = [PollFd::new(&self.file, PollFlags::IN)];
            match poll(&mut handles, Some(&patience)) {
                Ok(0) | Err(Errno::INTR) => {}
                Ok(_) => return Ok(()),
                Err(error) => return Err(error.into()),
            }
        }
    }
}

impl Read for StandardInput<'_> {
    #[cfg(unix)]
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.wait()?;
        self.file.read(buffer)
    }

    #[cfg(not(unix))]
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.interrupt.check().map_err(io::Error::other)?;
        io::stdin().lock().read(buffer)
    }
}

/// Standard input as a file with the place that has been reached in it, if it is a regular file.
///
/// # Errors
///
/// Where the system does not tell.
#[cfg(unix)]
pub fn regular_file() -> io::Result<Option<(File, u64)>> {
    let mut file = handle()?;
    if !file.metadata()?.is_file() {
        return Ok(None);
    }
    let start = io::Seek::stream_position(&mut file)?;
    Ok(Some((file, start)))
}

/// Standard input as a file with the place that has been reached in it, if it is a regular file.
///
/// # Errors
///
/// Never on this system, which does not tell.
#[cfg(not(unix))]
pub fn regular_file() -> io::Result<Option<(File, u64)>> {
    Ok(None)
}

/// What the system says of standard input; `None` where it says nothing.
#[cfg(unix)]
#[must_use]
pub fn metadata() -> Option<Metadata> {
    handle().and_then(|file| file.metadata()).ok()
}

/// What the system says of standard input: nothing, here.
#[cfg(not(unix))]
#[must_use]
pub const fn metadata() -> Option<Metadata> {
    None
}

#[cfg(unix)]
fn handle() -> io::Result<File> {
    use std::os::fd::AsFd;
    Ok(File::from(io::stdin().as_fd().try_clone_to_owned()?))
}
