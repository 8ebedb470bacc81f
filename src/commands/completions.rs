//! `zarrpack completions`: what a shell needs to complete command lines.

use clap::{Args, CommandFactory};
use clap_complete::Shell;

use crate::cli::{Cli, Example, footer};
use crate::error::{Error, ExitCode};
use crate::ui::Ui;

const EXAMPLES: &[Example] = &[
    Example {
        purpose: "Complete in bash, for this user",
        command: "zarrpack completions bash \\\n> ~/.local/share/bash-completion/completions/zarrpack",
    },
    Example {
        purpose: "Complete in zsh, given a folder that is in $fpath",
        command: "zarrpack completions zsh > ~/.zfunc/_zarrpack",
    },
    Example {
        purpose: "Complete in fish",
        command: "zarrpack completions fish > ~/.config/fish/completions/zarrpack.fish",
    },
];

/// Print a completion script for a shell
#[derive(Debug, Args)]
#[command(after_long_help = footer(EXAMPLES))]
pub struct CompletionsArgs {
    /// Shell to print the script for
    #[arg(value_enum)]
    pub shell: Shell,
}

/// Prints the script.
///
/// # Errors
///
/// Where standard output cannot be written.
pub fn run(ui: &mut Ui, args: &CompletionsArgs) -> Result<ExitCode, Error> {
    let mut command = Cli::command();
    let name = command.get_name().to_owned();
    // Into memory first: the generator panics where a write fails, and standard output may be closed.
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command, name, &mut script);
    ui.print(&script)?;
    Ok(ExitCode::Done)
}
