//! Runs the program where nothing of the machine shows through.

use std::fmt;
use std::path::{Path, PathBuf};
#[cfg(unix)]
use std::process::Child;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use tempfile::TempDir;

/// No test takes as long unless it hangs.
const PATIENCE: Duration = Duration::from_secs(60);

/// A folder of its own, in which the program runs with an environment of its own.
pub(crate) struct Sandbox {
    folder: TempDir,
    environment: Vec<(&'static str, &'static str)>,
}

impl Sandbox {
    pub(crate) fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
            environment: Vec::new(),
        }
    }

    /// Sets a variable of the program's environment, which is empty otherwise.
    pub(crate) fn set(mut self, name: &'static str, value: &'static str) -> Self {
        self.environment.push((name, value));
        self
    }

    /// Writes a file, whose name is relative to the folder, and returns its path.
    pub(crate) fn file(&self, name: &str, contents: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path().join(name);
        std::fs::write(&path, contents).unwrap();
        path
    }

    /// The folder, which is also where the program runs.
    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Runs the program with arguments that are separated by spaces, and with nothing to read.
    pub(crate) fn run(&self, arguments: &str) -> Outcome {
        self.run_with(arguments.split_whitespace(), "")
    }

    /// Runs the program with the given arguments and standard input.
    pub(crate) fn run_with<'a>(
        &self,
        arguments: impl IntoIterator<Item = &'a str>,
        input: impl Into<Vec<u8>>,
    ) -> Outcome {
        let mut command = self.command();
        command.args(arguments);
        let output = assert_cmd::Command::from_std(command)
            .write_stdin(input)
            .timeout(PATIENCE)
            .output()
            .unwrap();
        self.outcome(output)
    }

    /// Runs the program with its standard output sent somewhere.
    pub(crate) fn run_into(&self, arguments: &str, stdout: impl Into<Stdio>) -> Outcome {
        let mut command = self.command();
        command.args(arguments.split_whitespace());
        command.stdin(Stdio::null()).stdout(stdout);
        self.outcome(command.output().unwrap())
    }

    /// Starts the program with something to read, and lets it run.
    #[cfg(unix)]
    pub(crate) fn start(&self, arguments: &str, stdin: impl Into<Stdio>) -> Child {
        let mut command = self.command();
        command.args(arguments.split_whitespace()).stdin(stdin);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().unwrap()
    }

    /// Starts the program through a shell that leaves hanging up to nobody, as `nohup` does.
    #[cfg(unix)]
    pub(crate) fn start_without_hanging_up(&self, arguments: &str) -> Child {
        let mut command = self.command();
        let program = command.get_program().to_owned();
        command = Command::new("/bin/sh");
        command.current_dir(self.path()).env_clear();
        command.args(["-c", r#"trap "" HUP; exec "$0" "$@""#]);
        command.arg(program).args(arguments.split_whitespace());
        command.stdin(Stdio::piped());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().unwrap()
    }

    /// Waits for a program that was started.
    #[cfg(unix)]
    pub(crate) fn end(&self, mut child: Child) -> Outcome {
        let start = std::time::Instant::now();
        drop(child.stdin.take());
        while child.try_wait().unwrap().is_none() {
            if start.elapsed() > PATIENCE {
                child.kill().unwrap();
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        self.outcome(child.wait_with_output().unwrap())
    }

    fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_zarrpack"));
        command
            .current_dir(self.path())
            .env_clear()
            .env("COLUMNS", "100")
            .env("HOME", self.path())
            .envs(self.environment.iter().copied());
        command
    }

    fn outcome(&self, output: Output) -> Outcome {
        let text = |bytes: Vec<u8>| {
            let text = String::from_utf8(bytes).expect("the program prints UTF-8");
            text.replace(self.path().to_str().unwrap(), "[FOLDER]")
        };
        Outcome {
            exit: output.status.code(),
            stdout: text(output.stdout),
            stderr: text(output.stderr),
        }
    }
}

/// How a run ended. Its `Display` form shows all of it, for snapshots.
pub(crate) struct Outcome {
    /// The exit code; `None` if a signal ended the run.
    pub(crate) exit: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.exit {
            Some(code) => writeln!(f, "exit: {code}")?,
            None => writeln!(f, "exit: by a signal")?,
        }
        for (name, text) in [("stdout", &self.stdout), ("stderr", &self.stderr)] {
            if !text.is_empty() {
                writeln!(f, "--- {name}\n{text}")?;
            }
        }
        Ok(())
    }
}
