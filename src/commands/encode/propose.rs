//! `--max-error`: for each array that is packed, the chain that `suggest-params` would recommend.

use std::fs::File;
use std::io::{BufReader, Seek};
use std::path::Path;

use super::super::rewrite::input::{chunk_error, open};
use super::params::Entry;
use crate::catalog::{self, ArrayText, named};
use crate::error::{Error, ErrorKind};
use crate::metadata::edit::Draft;
use crate::npy::Header;
use crate::pipeline::Pipeline;
use crate::suggest::{
    ArrayInput, ReadError, Refusal, Subject, SuggestError, Suggestion, Wish, suggest,
};
use crate::transform::literal::Literal;

/// A chain, or why there is none.
pub(super) type Found = Result<Entry, Box<Refusal>>;

/// Finds chains.
pub(super) struct Finder<'f> {
    wish: Wish,
    pipeline: &'f Pipeline<'f>,
}

impl<'f> Finder<'f> {
    /// A finder of chains whose largest absolute error is at most `error`.
    pub(super) fn new(error: f64, pipeline: &'f Pipeline<'f>) -> Self {
        Self {
            wish: Wish::max_error(error),
            pipeline,
        }
    }

    /// Looks for the chain of an array of a store.
    ///
    /// # Errors
    ///
    /// Where the array cannot be read, or a signal comes.
    pub(super) fn array(&self, entry: &catalog::Entry, text: &ArrayText) -> Result<Found, Error> {
        let array = open(entry, text, self.pipeline.memory)?;
        let input = ArrayInput::read(&array, text, &entry.directory)?;
        match input.subject(&array) {
            Ok(subject) => self.subject(&entry.path, &subject),
            Err(refusal) => Ok(Err(Box::new(refusal))),
        }
    }

    /// Looks for the chain of a `.npy` file, which was found to be sound.
    ///
    /// # Errors
    ///
    /// Where the file cannot be read, or a signal comes.
    pub(super) fn file(&self, path: &Path) -> Result<Found, Error> {
        let failed = |cause| Error::io(format!("could not read {path:?}"), cause);
        let mut reader = BufReader::new(File::open(path).map_err(failed)?);
        let header = Header::read(&mut reader)
            .map_err(|error| Error::finding(format!("{path:?}: {error}")))?;
        let start = reader.stream_position().map_err(failed)?;
        let subject = Subject::file(path, &header, start)
            .ok_or_else(|| Error::finding(format!("{path:?} holds no real numbers")))?;
        self.subject("", &subject)
    }

    fn subject(&self, path: &str, subject: &Subject<'_>) -> Result<Found, Error> {
        match suggest(subject, &self.wish, self.pipeline) {
            Ok(suggestion) => recommended(path, &suggestion).map(Ok),
            Err(SuggestError::Refused(refusal)) => Ok(Err(refusal)),
            Err(SuggestError::Unreadable { error, .. }) => Err(unreadable(path, &error)),
            Err(SuggestError::Interrupted(interrupted)) => Err(interrupted.into()),
        }
    }
}

/// The best candidate of a suggestion.
fn recommended(path: &str, suggestion: &Suggestion) -> Result<Entry, Error> {
    let Some(best) = suggestion.candidates.first() else {
        return Err(Error::finding(format!(
            "{}: no chain was found",
            named(path)
        )));
    };
    let Draft::Array(codecs) = best.candidate.codecs_json() else {
        return Err(Error::finding(format!(
            "{}: no chain was found",
            named(path)
        )));
    };
    let fill = best.candidate.new_fill.map(|fill| {
        let text = fill.to_json();
        match text
            .strip_prefix('"')
            .and_then(|text| text.strip_suffix('"'))
        {
            Some(word) => Literal::String(word.to_owned()),
            None => Literal::Number(text),
        }
    });
    Ok(Entry {
        path: Some(path.to_owned()),
        data_type: suggestion.data_type,
        codecs,
        fill,
    })
}

/// What is said where no chain was found.
pub(super) fn refusal_error(path: &str, refusal: &Refusal) -> Error {
    let error = Error::finding(format!("{}: {refusal}", named(path)));
    let error = refusal
        .details
        .iter()
        .fold(error, |error, detail| error.detail(detail.clone()));
    refusal
        .hints
        .iter()
        .fold(error, |error, hint| error.hint(hint.clone()))
}

fn unreadable(path: &str, error: &ReadError) -> Error {
    match error {
        ReadError::Chunk(error) => chunk_error(path, error),
        ReadError::File { cause, .. } => Error::new(ErrorKind::Io, format!("{error}: {cause}")),
    }
}
