//! Arrays that hold codes already: what their attributes say of them, and what becomes of those under a chain.

use std::cmp::Ordering;

use super::attributes::{Changes, Conversion, MISSING, PACKING, VALID};
use super::chain::{Packing, raw};
use crate::cf::{CfProblem, Subject, decoding, limit_codes, missing_codes};
use crate::metadata::edit::Draft;
use crate::metadata::json::Value;
use crate::transform::chain::{BoundChain, Direction};
use crate::transform::data_type::DataType;
use crate::transform::scalar::Scalar;

/// An array of codes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Codes<'a> {
    pub(super) subject: Subject<'a>,
    /// The type that the chain stores: that of the codes, or its twin with or without a sign.
    pub(super) stored: DataType,
}

impl Codes<'_> {
    /// The codes that are missing, each with what says so.
    pub(super) fn missing(&self) -> Result<Vec<(&'static str, Scalar)>, Vec<CfProblem>> {
        let missing = missing_codes(self.subject)?;
        let missing = missing.into_iter();
        Ok(missing
            .map(|(name, code)| (name, self.as_stored(code)))
            .collect())
    }

    /// How a chain disagrees with `scale_factor` and `add_offset`, if it does by more than a thousandth of a step.
    pub(super) fn disagreement(&self, packing: &Packing) -> Option<String> {
        let attributes = decoding(self.subject, Some(DataType::Float64)).ok()??;
        if attributes.scale_factor.is_none() && attributes.add_offset.is_none() {
            return None;
        }
        let plain = packing.without_maps()?;
        let step = attributes.scale_factor.unwrap_or(1.0).abs();
        let unpacked = attributes.unpacking.stored();
        middle_codes(unpacked).into_iter().find_map(|code| {
            let due = attributes.unpacking.value(code).ok()?.to_f64();
            let stored = Scalar::from_bits(self.stored, code.bits());
            let found = plain.transform(Direction::Decode, stored).ok()?;
            let precision = due.abs() * 1e-6;
            let differs = (found.to_f64() - due).abs() > step * 1e-3 + precision;
            (due.is_finite() && differs).then(|| {
                format!("the chain decodes the code {code} to {found}, and its attributes to {due}")
            })
        })
    }

    /// What becomes of the attributes: those of packing go, values for missing ones go where they are NaN, and are decoded else
    /// like the bounds.
    pub(super) fn changes(&self, attributes: &Value, packing: &Packing) -> Changes {
        let mut changes = Changes::default();
        let missing = self.missing().unwrap_or_default();
        let plain = packing.without_maps();
        for member in attributes.as_object().unwrap_or_default() {
            let name = member.name.as_str();
            let now = Draft::from(&member.value);
            let removed = (name.to_owned(), now.clone());
            if PACKING.contains(&name) {
                changes.removed.push(removed);
            } else if MISSING.contains(&name) {
                // The fill of an array of Zarr v2 became _FillValue.
                let says =
                    |source: &str| source == name || name == "_FillValue" && source == "fill_value";
                let codes = missing.iter().filter(|(source, _)| says(source));
                let values =
                    codes.map(|(_, code)| packing.bound.transform(Direction::Decode, *code));
                let values: Vec<_> = values.filter_map(Result::ok).collect();
                if packing.bound.data_type().has_nan() || values.is_empty() {
                    changes.removed.push(removed);
                    continue;
                }
                let list = member.value.as_array().is_some();
                changes.converted.push(Conversion {
                    from: name.to_owned(),
                    name: name.to_owned(),
                    old: now,
                    new: draft(&values, list),
                });
            } else if VALID.contains(&name)
                && let Some(plain) = &plain
                && let Some(conversion) = self.bound(name, &member.value, plain)
            {
                changes.converted.push(conversion);
            }
        }
        changes
    }

    /// A bound in the unit of the values; `None` where it is in no unit of codes. What decodes to less where codes are greater makes
    /// a least value a greatest one.
    fn bound(&self, name: &str, value: &Value, plain: &BoundChain) -> Option<Conversion> {
        let codes = limit_codes(value, self.subject.data_type?)?;
        let due = if name == "valid_range" { 2 } else { 1 };
        if codes.len() != due {
            return None;
        }
        let values = codes.iter().map(|code| {
            let code = self.as_stored(*code);
            plain.transform(Direction::Decode, code).ok()
        });
        let mut values: Vec<_> = values.collect::<Option<_>>()?;
        let turned = is_turned(plain);
        if turned {
            values.reverse();
        }
        let renamed = match (name, turned) {
            ("valid_min", true) => "valid_max",
            ("valid_max", true) => "valid_min",
            (name, _) => name,
        };
        Some(Conversion {
            from: name.to_owned(),
            name: renamed.to_owned(),
            old: Draft::from(value),
            new: draft(&values, due == 2),
        })
    }

    fn as_stored(&self, code: Scalar) -> Scalar {
        Scalar::from_bits(self.stored, code.bits())
    }
}

fn draft(values: &[Scalar], list: bool) -> Draft {
    let mut drafts = values.iter().map(|value| raw(&value.to_json()));
    match (list, values.len()) {
        (false, 1) => drafts.next().unwrap_or(Draft::Null),
        _ => Draft::Array(drafts.collect()),
    }
}

/// Whether greater codes are smaller values.
fn is_turned(plain: &BoundChain) -> bool {
    let [_, low, high] = middle_codes(plain.stored_type()).map(|code| {
        let value = plain.transform(Direction::Decode, code);
        value.ok()
    });
    low.zip(high)
        .is_some_and(|(low, high)| low.compare(high) == Some(Ordering::Greater))
}

/// Codes away from the ends of a type, where decoding may fail: 1 or the like, a smaller and a greater one.
fn middle_codes(stored: DataType) -> [Scalar; 3] {
    let (low, high) = Scalar::finite_range(stored);
    let (low, high) = if stored.is_integer() {
        (low.ordinal() / 4, high.ordinal() / 4)
    } else {
        let whole = |number: &str| {
            let literal = crate::transform::literal::Literal::Number(number.to_owned());
            Scalar::parse(&literal, stored).map_or(0, Scalar::ordinal)
        };
        (whole("-1"), whole("1"))
    };
    [1.min(high), low, high].map(|code| Scalar::from_ordinal(stored, code))
}
