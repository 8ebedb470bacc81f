//! The chain of a scalar stream: from the JSON of a flag to a bound chain, or to an error that names every problem.

use crate::cli::JsonArg;
use crate::codecs::configuration::{self, Reading};
use crate::error::Error;
use crate::metadata::json::{Limits, NonFinite, parse};
use crate::transform::chain::{BoundChain, BoundCodec, Direction, bind as bind_codecs};
use crate::transform::data_type::DataType;
use crate::transform::problem::{Problem, Soundness};
use crate::ui::Ui;

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
    let binding = bind_codecs(data_type, None, &parameters);
    problems.extend(binding.problems);
    problems.sort_by_key(|problem| problem.codec);
    let invalid = |problem: &&Problem| problem.soundness == Soundness::Invalid;
    let bound = match binding.chain {
        Some(bound) if !problems.iter().any(|problem| invalid(&problem)) => bound,
        _ => {
            let error = Error::usage(format!("the chain in {} is invalid", codecs.origin));
            let problems = problems.iter().filter(invalid);
            return Err(problems.fold(error, |error, problem| {
                error.detail(describe(problem, &names))
            }));
        }
    };
    let legacy = |codec: &BoundCodec| matches!(codec, BoundCodec::FixedScaleOffset(_));
    if let (Direction::Encode, Some(index)) = (direction, bound.codecs().iter().position(legacy)) {
        let place = place(index, &names);
        return Err(Error::usage(format!(
            "{place} is the legacy codec, which is read and not written"
        ))
        .hint("use scale_offset and cast_value to encode"));
    }
    for problem in &problems {
        ui.warning(describe(problem, &names));
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
        Some(name) => format!("codec {codec} ({})", name.escape_debug()),
    }
}
