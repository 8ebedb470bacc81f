//! Zarr v2 documents as Zarr v3 documents in memory, for opening arrays.

use super::fault::Fault;
use super::{Document, document};
use crate::codecs::error::{OpenError, OpenProblem};
use crate::metadata::edit::{Draft, Layout};
use crate::metadata::json::{Limits, NonFinite, parse};
use crate::metadata::v2::{Array, DataType, Dtype, DtypeKind};
use crate::metadata::v3::{self, Separator};
use crate::metadata::{Located, Node, Problems};

/// A v2 document rewritten.
#[derive(Debug)]
pub(in crate::codecs) struct Converted {
    /// The v3 document.
    text: String,
    /// Whether the v2 document states a fill.
    pub(in crate::codecs) fill_is_defined: bool,
    /// Codecs that are not read here, and why not.
    pub(in crate::codecs) unsupported: Vec<OpenProblem>,
    /// Where each codec of the v3 document comes from.
    origins: Vec<String>,
}

/// Rewrites a document.
///
/// # Errors
///
/// What there is no v3 form of, and what has one that is not read here.
pub(in crate::codecs) fn convert(array: &Array<'_>) -> Result<Converted, OpenError> {
    let dtype = simple_type(&array.dtype)?;
    if dtype.v3_name().is_none() {
        return Err(unsupported_type(dtype, &array.dtype).into());
    }
    let separator = array
        .dimension_separator
        .as_ref()
        .map_or(Separator::Dot, |separator| separator.value);
    let problems = |faults: Vec<Fault>| faults.into_iter().map(OpenProblem::from).collect();
    let Document {
        members,
        fill_is_defined,
        unsupported,
        origins,
        ..
    } = document(array, separator).map_err(|faults| OpenError {
        problems: problems(faults),
    })?;
    Ok(Converted {
        text: Draft::object(members).to_document(&Layout::default()),
        fill_is_defined,
        unsupported: problems(unsupported),
        origins,
    })
}

impl Converted {
    /// Reads the v3 document.
    ///
    /// # Errors
    ///
    /// Its problems, which come from the v2 document.
    pub(in crate::codecs) fn read<T>(
        &self,
        use_it: impl FnOnce(&v3::Array<'_>) -> T,
    ) -> Result<T, OpenError> {
        let parsed = parse(self.text.as_bytes(), &Limits::default(), NonFinite::Refuse)
            .map_err(|error| OpenProblem::unsound("", error))?;
        let mut problems = Problems::default();
        let document = v3::read(&Node::root(&parsed.root), &mut problems);
        let array = match document {
            v3::Document::Array(array) if problems.is_sound() => array.complete(),
            _ => None,
        };
        match array {
            Some(array) => Ok(use_it(&array)),
            None => {
                let listed = problems.listed.iter();
                let problems = listed
                    .map(|problem| OpenProblem::unsound(&problem.pointer, problem))
                    .collect();
                Err(self.locate(OpenError { problems }))
            }
        }
    }

    /// Makes the pointers of an error lead into the v2 document.
    pub(in crate::codecs) fn locate(&self, mut error: OpenError) -> OpenError {
        for problem in &mut error.problems {
            problem.pointer = self.origin(&problem.pointer);
        }
        error
    }

    /// The place in the v2 document that a pointer into the v3 document comes from.
    pub(in crate::codecs) fn origin(&self, pointer: &str) -> String {
        let mut steps = pointer.splitn(4, '/').skip(1);
        match (steps.next(), steps.next(), steps.next()) {
            (Some("codecs"), Some(index), rest) => {
                let origin = index
                    .parse()
                    .ok()
                    .and_then(|index: usize| self.origins.get(index));
                let rest = rest
                    .and_then(|rest| rest.strip_prefix("configuration"))
                    .unwrap_or_default();
                format!("{}{rest}", origin.map_or("", String::as_str))
            }
            (Some("data_type"), ..) => "/dtype".to_owned(),
            (Some("chunk_grid"), ..) => "/chunks".to_owned(),
            (Some("chunk_key_encoding"), ..) => "/dimension_separator".to_owned(),
            _ => pointer.to_owned(),
        }
    }
}

fn simple_type<'a>(dtype: &'a Located<DataType<'_>>) -> Result<&'a Dtype, OpenProblem> {
    match &dtype.value {
        DataType::Simple(simple) => Ok(simple),
        DataType::Structured(_) => {
            let message = "a structured dtype: records of several fields are not supported";
            Err(OpenProblem::unsupported(&dtype.pointer, message))
        }
    }
}

fn unsupported_type(dtype: &Dtype, place: &Located<DataType<'_>>) -> OpenProblem {
    let reason = match dtype.kind {
        DtypeKind::DateTime | DtypeKind::TimeDelta => "times are not supported",
        DtypeKind::Bytes | DtypeKind::Unicode => "text is not supported",
        DtypeKind::Void => "raw bytes are not supported",
        DtypeKind::Object => "Python objects are not supported",
        DtypeKind::Float | DtypeKind::Complex => "numbers of more than 64 bits are not supported",
        _ => "it has no counterpart in Zarr v3",
    };
    OpenProblem::unsupported(&place.pointer, format!("the dtype {dtype}: {reason}"))
}
