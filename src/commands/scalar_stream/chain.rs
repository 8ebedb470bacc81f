//! The chain of a scalar stream: from the JSON of a flag to a bound chain, or to an error that names every problem.

use crate::cli::JsonArg;
use crate::codecs::configuration::{self, Reading};
use crate::error::Error;
use crate::metadata::json::{Limits, NonFinite, parse};
use crate::transform::chain::{BoundChain, Direction, bind as bind_codecs};
use crate::transform::data_type::DataType;
use crate::transform::parameters::Codec;
use crate::transform::problem::{Problem, Soundness};
use crate::ui::Ui;

/// The most problems that are printed one by one.
const MOST_LISTED: usize = 100;

/// A bound chain and the names of its codecs.
#[derive(Debug)]
pub(super) struct Chain {
    pub(super) bound: BoundChain,
    names: Vec<String>,
}

impl Chain {
    /// The codec for a message: its place and its name.
    pub(super) fn describe(&self, codec: usize) -> String {
        place(codec, &self.names)
    }
}

/// Binds the chain that a flag gives to the type of the array. What is unsound is a warning.
pub(super) fn bind(
    ui: &mut Ui,
    codecs: &JsonArg,
    data_type: DataType,
    direction: Direction,
) -> Result<Chain, Error> {
    let Reading {
        codecs: parameters,
        names,
        mut problems,
    } = read(codecs)?;
    if direction == Direction::Encode {
        for (index, codec) in parameters.iter().enumerate() {
            if matches!(codec, Codec::FixedScaleOffset(_)) {
                problems.push(Problem::invalid(
                    "legacy/read-only",
                    index,
                    "",
                    "the legacy codec, which is read and not written",
                    "scale_offset and cast_value, which supersede it, to encode",
                ));
            }
        }
    }
    let binding = bind_codecs(data_type, None, &parameters);
    problems.extend(binding.problems);
    problems.sort_by_key(|problem| problem.codec);
    let invalid = |problem: &&Problem| problem.soundness == Soundness::Invalid;
    let bound = match binding.chain {
        Some(bound) if !problems.iter().any(|problem| invalid(&problem)) => bound,
        _ => {
            let error = Error::usage(format!("the chain in {} is invalid", codecs.origin));
            let invalid: Vec<_> = problems.iter().filter(invalid).collect();
            let listed = invalid.iter().take(MOST_LISTED);
            let error = listed.fold(error, |error, problem| {
                error.detail(describe(problem, &names))
            });
            return Err(match invalid.len().saturating_sub(MOST_LISTED) {
                0 => error,
                more => error.detail(format!("and {more} more problems")),
            });
        }
    };
    for problem in problems.iter().take(MOST_LISTED) {
        ui.warning(describe(problem, &names));
    }
    if problems.len() > MOST_LISTED {
        let more = problems.len() - MOST_LISTED;
        ui.warning(format!("and {more} more problems"));
    }
    Ok(Chain { bound, names })
}

fn read(codecs: &JsonArg) -> Result<Reading, Error> {
    let refused = |error: Error| match codecs.hint() {
        Some(hint) => error.hint(hint),
        None => error,
    };
    let parsed = parse(
        codecs.text.as_bytes(),
        &Limits::default(),
        NonFinite::Refuse,
    );
    let parsed = parsed.map_err(|cause| {
        refused(Error::usage(format!("{} is not JSON", codecs.origin)).because(cause))
    })?;
    configuration::read_list(&parsed).map_err(|found| {
        refused(Error::usage(format!(
            "{} is {found}; expected a list of codecs",
            codecs.origin
        )))
    })
}

fn describe(problem: &Problem, names: &[String]) -> String {
    let Problem {
        id,
        codec,
        member,
        found,
        expected,
        ..
    } = problem;
    let place = place(*codec, names);
    let member = match member.as_str() {
        "" => String::new(),
        member => format!(", {member}"),
    };
    format!("{place}{member}: {found}; expected {expected} [{id}]")
}

fn place(codec: usize, names: &[String]) -> String {
    match names.get(codec).map(String::as_str) {
        None | Some("") => format!("codec {codec}"),
        Some(name) => {
            const LONGEST: usize = 40;
            let short: String = name.chars().take(LONGEST).collect();
            let dots = if short.len() < name.len() { "..." } else { "" };
            format!("codec {codec} ({}{dots})", short.escape_debug())
        }
    }
}
