//! The file operations that change something, each with its error, in one place so that tests can make each of them fail.

#[cfg(test)]
pub(super) mod faults;

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;
#[cfg(test)]
use std::sync::Arc;

use super::StoreError;

/// The file system. In tests, one that may fail.
#[derive(Debug, Clone, Default)]
pub(super) struct Files {
    #[cfg(test)]
    faults: Option<Arc<faults::Faults>>,
    /// Whether to act as a system that cannot swap names.
    #[cfg(test)]
    two_steps: bool,
}

impl Files {
    pub(super) fn create_dir(&self, path: &Path) -> Result<(), StoreError> {
        self.run("create", path, || fs::create_dir(path))
    }

    pub(super) fn create_dir_all(&self, path: &Path) -> Result<(), StoreError> {
        self.run("create", path, || fs::create_dir_all(path))
    }

    /// Creates a file that must not be there yet, for writing and reading back.
    pub(super) fn create_new(&self, path: &Path) -> Result<File, StoreError> {
        let mut options = OpenOptions::new();
        options.read(true).write(true).create_new(true);
        self.run("create", path, || options.open(path))
    }

    pub(super) fn write_all(
        &self,
        mut file: &File,
        path: &Path,
        bytes: &[u8],
    ) -> Result<(), StoreError> {
        self.run("write", path, || file.write_all(bytes))
    }

    /// Lets the system begin to write a file to the disk, so that flushing it later takes less time. What is under way stays in
    /// memory for reading back.
    pub(super) fn begin_flush(file: &File) {
        begin_flush(file);
    }

    /// Puts other bytes in place of all that is in a file. Not in one step: for what nobody relies upon meanwhile.
    pub(super) fn rewrite(&self, file: &File, path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
        self.run("write", path, || {
            file.set_len(0)?;
            write_all_at(file, bytes, 0)
        })
    }

    pub(super) fn write_all_at(
        &self,
        file: &File,
        path: &Path,
        bytes: &[u8],
        offset: u64,
    ) -> Result<(), StoreError> {
        self.run("write", path, || write_all_at(file, bytes, offset))
    }

    /// Gives a file its final length and, where the file system can, the room for it, so that a full disk shows
    /// before the work and not at its end.
    pub(super) fn reserve(&self, file: &File, path: &Path, length: u64) -> Result<(), StoreError> {
        self.run("reserve room for", path, || {
            file.set_len(length)?;
            allocate(file, length)
        })
    }

    /// Copies the bytes and permissions of a file. The standard library lets the system share the blocks where it can.
    pub(super) fn copy(&self, from: &Path, to: &Path) -> Result<u64, StoreError> {
        self.run("copy to", to, || fs::copy(from, to))
    }

    /// Lets an empty file share the blocks of another. False where the file system cannot.
    pub(super) fn share(&self, from: &File, to: &File, path: &Path) -> Result<bool, StoreError> {
        self.run("copy to", path, || share(from, to))
    }

    /// Makes what was written through a handle survive a power cut.
    pub(super) fn sync(&self, file: &File, path: &Path) -> Result<(), StoreError> {
        self.run("flush", path, || file.sync_all())
    }

    /// Gives a file the permissions of another.
    #[cfg(unix)]
    pub(super) fn set_mode(&self, file: &File, path: &Path, mode: u32) -> Result<(), StoreError> {
        use std::os::unix::fs::PermissionsExt;
        self.run("set the permissions of", path, || {
            file.set_permissions(fs::Permissions::from_mode(mode))
        })
    }

    /// Gives a file an owner and a group, or the group alone where only that is allowed. False where neither is.
    #[cfg(unix)]
    pub(super) fn set_owner(
        &self,
        file: &File,
        path: &Path,
        (user, group): (u32, u32),
    ) -> Result<bool, StoreError> {
        use std::os::unix::fs::fchown;
        let refused = |error: &io::Error| error.kind() == io::ErrorKind::PermissionDenied;
        self.run("set the owner of", path, || {
            match fchown(file, Some(user), Some(group)) {
                Err(error) if refused(&error) => {}
                outcome => return outcome.map(|()| true),
            }
            match fchown(file, None, Some(group)) {
                Err(error) if refused(&error) => Ok(false),
                outcome => outcome.map(|()| false),
            }
        })
    }

    /// Makes a file's contents survive a power cut.
    pub(super) fn sync_file(&self, path: &Path) -> Result<(), StoreError> {
        self.run("flush", path, || {
            // Windows flushes only what is open for writing.
            OpenOptions::new()
                .read(true)
                .write(cfg!(windows))
                .open(path)?
                .sync_all()
        })
    }

    /// Makes the names in a directory survive a power cut.
    pub(super) fn sync_dir(&self, path: &Path) -> Result<(), StoreError> {
        self.run("flush", path, || sync_dir(path))
    }

    pub(super) fn rename(&self, from: &Path, to: &Path) -> Result<(), StoreError> {
        self.run("rename to", to, || fs::rename(from, to))
    }

    /// Renames to a name that must be free.
    pub(super) fn rename_new(&self, from: &Path, to: &Path) -> Result<(), StoreError> {
        match self.run("rename to", to, || rename_new(from, to)) {
            Err(StoreError::Io { path, source, .. })
                if source.kind() == io::ErrorKind::AlreadyExists =>
            {
                Err(StoreError::Exists(path))
            }
            outcome => outcome,
        }
    }

    /// Swaps two names in one step. False where the system has no such step.
    pub(super) fn exchange(&self, from: &Path, to: &Path) -> Result<bool, StoreError> {
        #[cfg(test)]
        if self.two_steps {
            return Ok(false);
        }
        self.run("exchange with", to, || exchange(from, to))
    }

    pub(super) fn remove_file(&self, path: &Path) -> Result<(), StoreError> {
        self.run("remove", path, || fs::remove_file(path))
    }

    /// Removes a file if it is there, and tells whether it was.
    pub(super) fn discard(&self, path: &Path) -> Result<bool, StoreError> {
        self.run("remove", path, || match fs::remove_file(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            outcome => outcome.map(|()| true),
        })
    }

    pub(super) fn remove_dir(&self, path: &Path) -> Result<(), StoreError> {
        self.run("remove", path, || fs::remove_dir(path))
    }

    pub(super) fn remove_dir_all(&self, path: &Path) -> Result<(), StoreError> {
        self.run("remove", path, || fs::remove_dir_all(path))
    }

    fn run<T>(
        &self,
        action: &'static str,
        path: &Path,
        operation: impl FnOnce() -> io::Result<T>,
    ) -> Result<T, StoreError> {
        #[cfg(test)]
        let operation = || match self.faults.as_ref().and_then(|faults| faults.strike()) {
            Some(error) => Err(error),
            None => operation(),
        };
        // What is missing here was there before: that is no ordinary "not found".
        operation().map_err(|source| StoreError::Io {
            action,
            path: path.to_owned(),
            source,
        })
    }
}

#[cfg(unix)]
fn write_all_at(file: &File, bytes: &[u8], offset: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::write_all_at(file, bytes, offset)
}

#[cfg(windows)]
fn write_all_at(file: &File, mut bytes: &[u8], mut offset: u64) -> io::Result<()> {
    while !bytes.is_empty() {
        match std::os::windows::fs::FileExt::seek_write(file, bytes, offset) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(written) => {
                bytes = &bytes[written..];
                offset += written as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

#[cfg(target_os = "linux")]
fn share(from: &File, to: &File) -> io::Result<bool> {
    use rustix::io::Errno;
    match rustix::fs::ioctl_ficlone(to, from) {
        Ok(()) => Ok(true),
        Err(error @ (Errno::NOSPC | Errno::DQUOT | Errno::IO)) => Err(error.into()),
        // Another file system, one that cannot, a length it does not like: copying will tell.
        Err(_) => Ok(false),
    }
}

#[cfg(not(target_os = "linux"))]
fn share(_from: &File, _to: &File) -> io::Result<bool> {
    Ok(false)
}

#[cfg(target_os = "linux")]
fn allocate(file: &File, length: u64) -> io::Result<()> {
    use rustix::fs::FallocateFlags;
    use rustix::io::Errno;
    if length == 0 {
        return Ok(());
    }
    match rustix::fs::fallocate(file, FallocateFlags::empty(), 0, length) {
        // Not every file system can; writing will tell.
        Ok(()) | Err(Errno::OPNOTSUPP | Errno::NOSYS) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

#[cfg(not(target_os = "linux"))]
fn allocate(_file: &File, _length: u64) -> io::Result<()> {
    Ok(())
}

#[cfg(target_os = "linux")]
fn begin_flush(file: &File) {
    // Pages that are still to be written are not dropped, but sent on their way.
    let _ = rustix::fs::fadvise(file, 0, None, rustix::fs::Advice::DontNeed);
}

#[cfg(not(target_os = "linux"))]
const fn begin_flush(_file: &File) {}

#[cfg(unix)]
fn sync_dir(path: &Path) -> io::Result<()> {
    match File::open(path)?.sync_all() {
        // Some network and user-space file systems know no such thing as flushing a directory.
        Err(error) if error.kind() == io::ErrorKind::InvalidInput => Ok(()),
        outcome => outcome,
    }
}

#[cfg(not(unix))]
fn sync_dir(_path: &Path) -> io::Result<()> {
    // The system offers no way; it writes names in its own journal.
    Ok(())
}

#[cfg(any(target_os = "linux", target_vendor = "apple"))]
fn rename_with(from: &Path, to: &Path, flags: rustix::fs::RenameFlags) -> io::Result<bool> {
    use rustix::fs::{CWD, renameat_with};
    use rustix::io::Errno;
    match renameat_with(CWD, from, CWD, to, flags) {
        Ok(()) => Ok(true),
        // The kernel or the file system does not know the flag.
        Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

fn rename_new(from: &Path, to: &Path) -> io::Result<()> {
    #[cfg(any(target_os = "linux", target_vendor = "apple"))]
    if rename_with(from, to, rustix::fs::RenameFlags::NOREPLACE)? {
        return Ok(());
    }
    // Somebody may take the name between the two steps; a file or an empty directory of theirs is then lost.
    match fs::symlink_metadata(to) {
        Ok(_) => Err(io::ErrorKind::AlreadyExists.into()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => fs::rename(from, to),
        Err(error) => Err(error),
    }
}

#[cfg(any(target_os = "linux", target_vendor = "apple"))]
fn exchange(from: &Path, to: &Path) -> io::Result<bool> {
    rename_with(from, to, rustix::fs::RenameFlags::EXCHANGE)
}

#[cfg(not(any(target_os = "linux", target_vendor = "apple")))]
fn exchange(_from: &Path, _to: &Path) -> io::Result<bool> {
    Ok(false)
}
