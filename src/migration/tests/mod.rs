//! Plans for arrays whose data are made up, case by case.

mod bad;
mod fills;
mod forms;
mod missing;
mod places;
mod proofs;
mod vectors;

use std::cell::Cell;

use super::evidence::{
    CodeRange, Compared, Evidence, Presence, Question, Scan, Site, Use, UsedCodes,
};
use super::options::{Options, Verify};
use super::outcome::{ArrayPlan, Planned, Reason};
use super::plan;
use crate::error::Error;
use crate::metadata::edit::Draft;
use crate::transform::cast_value::cast;
use crate::transform::data_type::DataType;
use crate::transform::equivalence::CodeSet;
use crate::transform::rounding::Rounding;
use crate::transform::scalar::Scalar;

/// Data that exist as a list of codes.
pub(super) struct Data {
    stored: DataType,
    inside: Vec<Scalar>,
    padding: Vec<Scalar>,
    presence: Presence,
    readable: bool,
    scans: Cell<usize>,
}

impl Data {
    /// The codes of an array whose chunks are all there.
    pub(super) fn of(stored: DataType, inside: impl IntoIterator<Item = i64>) -> Self {
        Self {
            stored,
            inside: inside
                .into_iter()
                .map(|code| code_of(stored, code))
                .collect(),
            padding: Vec::new(),
            presence: Presence {
                chunks: 1,
                ..Presence::default()
            },
            readable: true,
            scans: Cell::new(0),
        }
    }

    /// An array that must not be asked for its data.
    pub(super) fn untouched() -> Self {
        Self {
            readable: false,
            ..Self::of(DataType::UInt8, [])
        }
    }

    pub(super) fn with_padding(mut self, codes: impl IntoIterator<Item = i64>) -> Self {
        let stored = self.stored;
        self.padding = codes
            .into_iter()
            .map(|code| code_of(stored, code))
            .collect();
        self
    }

    pub(super) fn with_missing(mut self, missing: u64, missing_inner: u64) -> Self {
        self.presence.missing = missing;
        self.presence.missing_inner = missing_inner;
        self
    }

    pub(super) fn scans(&self) -> usize {
        self.scans.get()
    }
}

pub(super) fn code_of(stored: DataType, code: i64) -> Scalar {
    let code = Scalar::from_integer(DataType::Int64, code.into()).unwrap();
    cast(code, stored, Rounding::NearestEven, None).unwrap()
}

fn elements(codes: &[Scalar]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for code in codes {
        let at = bytes.len();
        bytes.resize(at + code.data_type().size(), 0);
        code.write_ne_bytes(&mut bytes[at..]);
    }
    bytes
}

impl Evidence for Data {
    fn scan(&self, _: &Site, question: &Question<'_>) -> Result<Scan, Error> {
        if !self.readable {
            return Err(Error::finding("the chunks cannot be decoded here"));
        }
        self.scans.set(self.scans.get() + 1);
        let set = |codes: &[Scalar]| {
            let mut set = CodeSet::new(self.stored).ok()?;
            codes.iter().for_each(|code| set.insert(*code));
            Some(set)
        };
        let used = set(&self.inside)
            .zip(set(&self.padding))
            .map(|(inside, padding)| UsedCodes { inside, padding });
        let watched = question.watch.iter().map(|code| {
            if self.inside.contains(code) {
                Use::Used
            } else if self.padding.contains(code) {
                Use::PaddingOnly
            } else {
                Use::Unused
            }
        });
        let compared = question.comparisons.iter().map(|comparison| Compared {
            inside: comparison.stream(&elements(&self.inside)).unwrap(),
            padding: comparison.stream(&elements(&self.padding)).unwrap(),
        });
        let mut codes: Vec<_> = self.inside.iter().chain(&self.padding).copied().collect();
        codes.retain(|code| !code.is_nan());
        codes.sort_by(|a, b| a.compare(*b).unwrap());
        Ok(Scan {
            used,
            watched: watched.collect(),
            range: codes
                .first()
                .zip(codes.last())
                .map(|(least, greatest)| CodeRange {
                    least: *least,
                    greatest: *greatest,
                }),
            compared: compared.collect(),
            presence: self.presence,
        })
    }

    fn presence(&self) -> Result<Presence, Error> {
        Ok(self.presence)
    }
}

/// The document of an array of four elements.
pub(super) fn document(data_type: &str, fill: &str, codecs: &str) -> String {
    format!(
        r#"{{"zarr_format": 3, "node_type": "array", "shape": [4], "data_type": "{data_type}", "chunk_grid": {{"name": "regular", "configuration": {{"chunk_shape": [4]}}}}, "chunk_key_encoding": {{"name": "default"}}, "fill_value": {fill}, "codecs": {codecs}, "attributes": {{"a": 1.50}}}}"#
    )
}

/// The legacy codec.
pub(super) fn fso(scale: &str, offset: &str, dtype: &str, astype: &str) -> String {
    format!(
        r#"{{"name": "numcodecs.fixedscaleoffset", "configuration": {{"scale": {scale}, "offset": {offset}, "dtype": "{dtype}", "astype": "{astype}"}}}}"#
    )
}

pub(super) const LE: &str = r#"{"name": "bytes", "configuration": {"endian": "little"}}"#;

/// An array with the legacy codec alone.
pub(super) fn array(data_type: &str, fill: &str, codec: &str) -> String {
    document(data_type, fill, &format!("[{codec}, {LE}]"))
}

pub(super) fn exact() -> Options {
    Options {
        exact: true,
        ..Options::default()
    }
}

pub(super) fn unverified() -> Options {
    Options {
        verify: Verify::None,
        ..Options::default()
    }
}

pub(super) fn planned(text: &str, options: &Options, data: &Data) -> ArrayPlan {
    match plan(text, true, options, data).unwrap() {
        Planned::Change(plan) => *plan,
        other => panic!("{other:?}"),
    }
}

pub(super) fn refused(text: &str, options: &Options, data: &Data) -> Vec<Reason> {
    match plan(text, true, options, data).unwrap() {
        Planned::Impossible(reasons) => {
            assert!(!reasons.is_empty());
            reasons
        }
        other => panic!("{other:?}"),
    }
}

/// The reasons as one text.
pub(super) fn reasons(text: &str, options: &Options, data: &Data) -> String {
    let reasons = refused(text, options, data).into_iter();
    let lines = reasons.map(|reason| {
        let pointer = reason.pointer.unwrap_or("-".to_owned());
        let hint = reason
            .hint
            .map_or(String::new(), |hint| format!("\n  hint: {hint}"));
        format!("{pointer}: {}{hint}", reason.message)
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// The new codecs of the only site, on one line.
pub(super) fn codecs(plan: &ArrayPlan) -> String {
    let [site] = plan.sites.as_slice() else {
        panic!("{:?}", plan.sites);
    };
    super::candidates::one_line(&Draft::Array(site.new.clone()))
}
