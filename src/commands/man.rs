//! `zarrpack man`: the manual, as roff.

use clap::{Args, CommandFactory};
use clap_mangen::Man;
use roff::{Roff, roman};

use crate::cli::{Cli, Example, footer};
use crate::error::{Error, ExitCode};
use crate::ui::{Ui, output_error};

const EXAMPLES: &[Example] = &[
    Example {
        purpose: "Read the manual of encode",
        command: "zarrpack man encode | man -l -",
    },
    Example {
        purpose: "Install the manual for this user",
        command: "zarrpack man > ~/.local/share/man/man1/zarrpack.1",
    },
];

/// Print the manual page of zarrpack, or of one of its commands, as roff
#[derive(Debug, Args)]
#[command(after_long_help = footer(EXAMPLES))]
pub struct ManArgs {
    /// Command to print the page of [default: the page of zarrpack itself]
    pub command: Option<String>,
}

/// Prints the page.
///
/// # Errors
///
/// Where there is no such command, or standard output cannot be written.
pub fn run(ui: &mut Ui, args: &ManArgs) -> Result<ExitCode, Error> {
    let mut root = Cli::command().disable_help_subcommand(true);
    root.build();
    let command = match &args.command {
        None => &root,
        Some(name) => root
            .find_subcommand(name)
            .ok_or_else(|| no_such_command(&root, name))?,
    };
    render(command, ui).map_err(output_error)?;
    Ok(ExitCode::Done)
}

fn no_such_command(root: &clap::Command, name: &str) -> Error {
    let names: Vec<&str> = root
        .get_subcommands()
        .map(clap::Command::get_name)
        .collect();
    Error::usage(format!("there is no command {name:?}"))
        .hint(format!("the commands are {}", names.join(", ")))
}

fn render(command: &clap::Command, ui: &mut Ui) -> std::io::Result<()> {
    let version = env!("CARGO_PKG_VERSION");
    let footer = command.get_after_long_help().map(ToString::to_string);
    let man = Man::new(command.clone().subcommand_help_heading("COMMANDS"))
        .source(format!("zarrpack {version}"))
        .manual("zarrpack manual");
    let output = ui.output();
    man.render_title(output)?;
    man.render_name_section(output)?;
    man.render_synopsis_section(output)?;
    man.render_description_section(output)?;
    man.render_options_section(output)?;
    if command.has_subcommands() {
        man.render_subcommands_section(output)?;
    }
    footer_sections(&footer.unwrap_or_default()).to_writer(output)
}

/// Makes sections of what stands below the flags in help, whose headings are the lines that are not indented.
/// Unlike the extra section of the generator these keep their line breaks, without which no example can be
/// copied.
fn footer_sections(footer: &str) -> Roff {
    let mut page = Roff::new();
    for line in footer.lines() {
        match line.strip_suffix(':') {
            Some(heading) if !line.starts_with(' ') => {
                page.control("fi", []);
                page.control("SH", [heading.to_uppercase().as_str()]);
                page.control("nf", []);
            }
            _ => {
                page.text([roman(line)]);
            }
        }
    }
    page.control("fi", []);
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn examples_keep_their_lines_and_dashes() {
        let page = footer_sections(
            "Examples:\n  Do it:\n    $ zarrpack --help\n\nExit codes:\n    0  done",
        );
        insta::assert_snapshot!(page.render(), @r#"
        .ie \n(.g .ds Aq \(aq
        .el .ds Aq '
        .fi
        .SH EXAMPLES
        .nf
          Do it:
            $ zarrpack \-\-help

        .fi
        .SH "EXIT CODES"
        .nf
            0  done
        .fi
        "#);
    }
}
