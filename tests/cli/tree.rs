//! What every command and every flag must have.

use clap::{Arg, Command, CommandFactory};
use zarrpack::cli::Cli;

/// Calls `check` with every command that this project defines, the root first.
fn each_command(check: impl Fn(&Command)) {
    fn walk(command: &Command, check: &impl Fn(&Command)) {
        check(command);
        // The parser brings "help" along, with a whole tree of its own.
        for command in command.get_subcommands().filter(|c| c.get_name() != "help") {
            walk(command, check);
        }
    }
    let mut root = Cli::command();
    root.build();
    walk(&root, &check);
}

/// Calls `check` with every argument, and with a name for it that can be found.
fn each_argument(check: impl Fn(&str, &Arg)) {
    each_command(|command| {
        for arg in command.get_arguments() {
            let path = command.get_bin_name().unwrap_or_else(|| command.get_name());
            check(&format!("{path}: {}", arg.get_id()), arg);
        }
    });
}

#[test]
fn the_definitions_are_sound() {
    Cli::command().debug_assert();
}

#[test]
fn every_command_has_a_summary() {
    each_command(|command| {
        let name = command.get_name();
        let about = command.get_about().expect(name).to_string();
        assert!(about.starts_with(char::is_uppercase), "{name}: {about}");
        assert!(!about.ends_with('.'), "{name}: {about}");
    });
}

#[test]
fn every_help_ends_with_examples_and_exit_codes() {
    each_command(|command| {
        let name = command.get_name();
        let footer = command.get_after_long_help().expect(name).to_string();
        let (examples, codes) = footer.split_once("Exit codes:").expect(name);
        assert!(examples.starts_with("Examples:\n"), "{name}: {footer}");
        assert!(examples.contains("$ "), "{name}: {footer}");
        assert!(codes.contains("\n  130  "), "{name}: {footer}");
        for line in footer.lines() {
            assert!(line.len() <= 90, "{name}: too wide for a terminal: {line}");
        }
    });
}

#[test]
fn every_argument_has_help() {
    each_argument(|name, arg| {
        let help = arg.get_help().expect(name).to_string();
        assert!(
            help.starts_with(|c: char| !c.is_lowercase()),
            "{name}: {help}"
        );
        assert!(!help.ends_with('.'), "{name}: {help}");
    });
}

#[test]
fn every_value_has_a_name() {
    each_argument(|name, arg| {
        if arg.get_action().takes_values() {
            let names = arg.get_value_names().expect(name);
            assert!(!names.is_empty(), "{name}");
            for value in names {
                assert!(!value.contains(char::is_lowercase), "{name}: {value}");
            }
        }
    });
}

#[test]
fn no_flag_is_defined_twice() {
    each_command(|command| {
        let mut seen = std::collections::HashSet::new();
        for arg in command.get_arguments() {
            let shorts = arg.get_short_and_visible_aliases().unwrap_or_default();
            let longs = arg.get_long_and_visible_aliases().unwrap_or_default();
            let spellings = shorts
                .into_iter()
                .map(String::from)
                .chain(longs.into_iter().map(String::from));
            for spelling in spellings {
                assert!(
                    seen.insert(spelling.clone()),
                    "{}: {spelling}",
                    command.get_name()
                );
            }
        }
    });
}
