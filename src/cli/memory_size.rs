//! A size of memory, as `--memory` takes it.

use std::str::FromStr;

use bytesize::ByteSize;
use sysinfo::{Process, ProcessRefreshKind, ProcessesToUpdate, System};

/// What the operating system is taken to have at hand where it does not say.
const ASSUMED_AVAILABLE: u64 = 2 << 30;

/// A number of bytes, at least one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemorySize(u64);

/// Why a text is no [`MemorySize`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum MemorySizeError {
    /// Not a number with a unit that is known.
    #[error("expected a number of bytes or a size such as 512MiB or 2G")]
    Malformed,
    /// Less than a byte, in which nothing can be done.
    #[error("must be at least one byte")]
    Zero,
}

impl MemorySize {
    /// The number of bytes.
    #[must_use]
    pub const fn bytes(self) -> u64 {
        self.0
    }

    /// A quarter of what the machine, and the control group that a scheduler or container has put this process
    /// in, have to spare.
    #[must_use]
    pub fn quarter_of_available() -> Self {
        let available = available().unwrap_or(ASSUMED_AVAILABLE);
        Self((available / 4).max(1))
    }
}

impl FromStr for MemorySize {
    type Err = MemorySizeError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let size: ByteSize = text.parse().map_err(|_| MemorySizeError::Malformed)?;
        match size.as_u64() {
            0 => Err(MemorySizeError::Zero),
            bytes => Ok(Self(bytes)),
        }
    }
}

fn available() -> Option<u64> {
    let mut system = System::new().ok()?;
    system.refresh_memory();
    let of_machine = Some(system.available_memory()).filter(|&bytes| bytes > 0);
    let of_container = system.cgroup_limits();
    let of_group = own_process(&mut system).and_then(Process::cgroup_limits);
    let of_groups = [of_container, of_group].into_iter().flatten();
    of_machine
        .into_iter()
        .chain(of_groups.map(|limits| limits.free_memory))
        .min()
}

fn own_process(system: &mut System) -> Option<&Process> {
    let pid = sysinfo::get_current_pid().ok()?;
    system.refresh_processes_specifics(
        ProcessesToUpdate::Some(&[pid]),
        true,
        ProcessRefreshKind::nothing(),
    );
    system.process(pid)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_decimal_or_binary() {
        let sizes = [
            ("1", 1),
            ("4096", 4096),
            ("512MiB", 512 << 20),
            ("512 mib", 512 << 20),
            ("2G", 2_000_000_000),
            ("2Gi", 2 << 30),
            ("1.5KiB", 1536),
            ("99999999999EiB", u64::MAX),
        ];
        for (text, bytes) in sizes {
            assert_eq!(text.parse(), Ok(MemorySize(bytes)), "{text}");
        }
    }

    #[test]
    fn nothing_is_not_enough() {
        for text in ["0", "0GiB", "0.1B"] {
            assert_eq!(
                text.parse::<MemorySize>(),
                Err(MemorySizeError::Zero),
                "{text}"
            );
        }
    }

    #[test]
    fn other_words_are_refused() {
        for text in ["", "-1", "much", "1 XB", "1e3", "MiB", ".", "1MiBs"] {
            assert_eq!(
                text.parse::<MemorySize>(),
                Err(MemorySizeError::Malformed),
                "{text}"
            );
        }
    }
}
