//! `cf/*`: attributes of the CF conventions, and of xarray, beside what the codecs do.

mod masks;
mod packing;

use super::Check::Array as OfArray;
use super::Severity::{Error, Info, Warning};
use super::array::Array;
use super::{Rule, rule};
use crate::codecs::configuration::{LEGACY_V2, is_packing};

pub(super) const RULES: &[Rule] = &[
    rule(
        "cf/packing-attributes",
        Error,
        "packing attributes beside a packing chain",
        OfArray(packing::packing_attributes),
    ),
    rule(
        "cf/packing-on-float",
        Warning,
        "packing attributes on a float array that is not packed",
        OfArray(packing::packing_on_float),
    ),
    rule(
        "cf/text-number",
        Warning,
        "a number that is text or a list, or a scale_factor of 0",
        OfArray(packing::text_number),
    ),
    rule(
        "cf/valid-range-units",
        Warning,
        "valid_range, valid_min or valid_max in the wrong units",
        OfArray(packing::valid_range_units),
    ),
    rule(
        "cf/unsigned",
        Warning,
        "an _Unsigned that says nothing",
        OfArray(packing::unsigned),
    ),
    rule(
        "cf/unsigned-fill",
        Info,
        "a negative _FillValue of numbers that are read as unsigned",
        OfArray(packing::unsigned_fill),
    ),
    rule(
        "cf/fill-cannot-match",
        Warning,
        "a _FillValue or missing_value that no value equals",
        OfArray(masks::fill_cannot_match),
    ),
    rule(
        "cf/float-fill-encoding",
        Warning,
        "a _FillValue in a float array of v3 that is no base64",
        OfArray(masks::float_fill_encoding),
    ),
    rule(
        "cf/conflicting-missing",
        Warning,
        "a _FillValue and a missing_value that differ",
        OfArray(masks::conflicting_missing),
    ),
    rule(
        "cf/fill-not-masked",
        Info,
        "a fill value that no attribute makes a mask",
        OfArray(masks::fill_not_masked),
    ),
    rule(
        "cf/array-dimensions",
        Warning,
        "names of dimensions where xarray does not find them",
        OfArray(masks::array_dimensions),
    ),
];

/// Whether any codec of the array packs.
fn is_packed(array: &Array<'_>) -> bool {
    let version_3 = array.chains();
    let mut version_3 = version_3.iter().flat_map(|chain| &chain.codecs);
    let mut version_2 = array
        .v2()
        .into_iter()
        .flat_map(|array| array.filters.iter().chain(&array.compressor));
    version_3.any(|codec| is_packing(codec.entry.name))
        || version_2.any(|codec| codec.id.value == LEGACY_V2)
}
