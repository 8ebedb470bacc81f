//! `readers/*`: which known programs read the array.

use super::Check::Array as OfArray;
use super::array::Array;
use super::finding::{Draft, Sink};
use super::{Rule, Severity::Info, rule};
use crate::codecs::configuration::is_packing;
use crate::readers::{Opens, readers};

pub(super) const RULES: &[Rule] = &[rule(
    "readers/support",
    Info,
    "the known readers that open a packed array, and those that do not",
    OfArray(support),
)];

fn support(array: &Array<'_>, sink: &mut Sink<'_>) {
    let packed = array.places().iter().any(|place| is_packing(place.name));
    let (true, Some(document)) = (packed, array.handed()) else {
        return;
    };
    // Of a chain that no reader can run there is nothing to say.
    if array.refused.is_some() || array.packing().any(|packing| !packing.is_valid()) {
        return;
    }
    let verdicts = readers(document);
    let opening: Vec<_> = verdicts
        .iter()
        .filter(|verdict| verdict.opens == Opens::Yes)
        .map(|verdict| format!("{} {}", verdict.reader, verdict.version))
        .collect();
    sink.report(array.document.kind, || {
        let notes = verdicts.iter().filter_map(|verdict| match &verdict.opens {
            Opens::No(why) => Some(format!(
                "not {} {}: {why} ({})",
                verdict.reader, verdict.version, verdict.source
            )),
            _ => None,
        });
        let found = if opening.is_empty() {
            "no reader is known to open this array".to_owned()
        } else {
            format!("opens in {}", opening.join(", "))
        };
        let pointer = if array.v2().is_some() {
            "/filters"
        } else {
            "/codecs"
        };
        let span = array.document.span_of(pointer);
        Draft::spanning(
            array.document,
            pointer,
            span.start..(span.start + 1).min(span.end),
        )
        .found(found)
        .expected("readers that the array's users have")
        .notes(notes.collect())
    });
}
