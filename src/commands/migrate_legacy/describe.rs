//! From the plan of a hierarchy to its report.

use std::path::Path;

use serde_json::Value as Json;

use crate::codecs::ArrayDocument;
use crate::metadata::json::{Limits, NonFinite, parse};
use crate::metadata::{Node, Problems, v3};
use crate::migration::documents::{DocumentChange, Documents, Role};
use crate::migration::encoding::EncodeVerdict;
use crate::migration::hierarchy::{HierarchyPlan, NodeOutcome, NodePlan, Work};
use crate::migration::outcome::{ArrayPlan, FillOutcome, FillPlan, Form};
use crate::migration::verdict::{DecodeKind, DecodeVerdict};
use crate::readers::readers;
use crate::report::migrate_legacy::{
    Action, Array, Change, Decode, Document, DocumentAction, Encode, Example, Fill, Outcome,
    Problem, Reader, Report, SCHEMA, Summary, Unreadable,
};
use crate::transform::scalar::Scalar;

/// The report of a plan.
pub(super) fn report(work: &Work<'_>, plan: &HierarchyPlan, documents: &Documents) -> Report {
    let root = work.store.root();
    Report {
        schema: SCHEMA.to_owned(),
        store: work.store.place().given().to_string_lossy().into_owned(),
        root: root.to_string_lossy().into_owned(),
        outcome: Outcome::Planned,
        arrays: arrays(plan),
        documents: documents
            .changes
            .iter()
            .map(|change| document(root, change))
            .collect(),
        notes: plan.notes.iter().chain(&documents.notes).cloned().collect(),
        summary: summary(plan),
        journal: None,
        output: None,
    }
}

fn document(root: &Path, change: &DocumentChange) -> Document {
    let path = change.path.strip_prefix(root).unwrap_or(&change.path);
    Document {
        path: path.to_string_lossy().into_owned(),
        action: match (&change.old, &change.new) {
            (None, _) => DocumentAction::Create,
            (Some(_), Some(_)) => DocumentAction::Replace,
            (Some(_), None) => DocumentAction::Remove,
        },
        reason: match change.role {
            Role::Array => None,
            Role::Converted => Some("the hierarchy becomes Zarr v3".to_owned()),
            Role::Copy => Some("it holds a copy of metadata that changes".to_owned()),
            Role::Obsolete => Some("zarr.json takes its place".to_owned()),
        },
    }
}

/// The arrays of a plan.
fn arrays(plan: &HierarchyPlan) -> Vec<Array> {
    plan.arrays.iter().map(array).collect()
}

/// The arrays of a plan, counted.
fn summary(plan: &HierarchyPlan) -> Summary {
    let mut summary = Summary {
        selected: plan.selected,
        ..Summary::default()
    };
    for node in &plan.arrays {
        match &node.outcome {
            NodeOutcome::Impossible(_) => summary.impossible += 1,
            NodeOutcome::Convert(_) => summary.convert += 1,
            NodeOutcome::Migrate(plan) => {
                summary.migrate += 1;
                match plan.decode.kind {
                    DecodeKind::Identical => summary.identical += 1,
                    DecodeKind::Differs => summary.differs += 1,
                    DecodeKind::Unproven => summary.unproven += 1,
                }
            }
        }
    }
    summary
}

fn array(node: &NodePlan) -> Array {
    let mut array = Array {
        path: node.path.clone(),
        zarr_format: node.zarr_format,
        notes: node.notes.clone(),
        ..Array::default()
    };
    match &node.outcome {
        NodeOutcome::Migrate(plan) => migrated(&mut array, plan),
        NodeOutcome::Convert(text) => {
            array.action = Action::Convert;
            array.readers = with_array(text, reader_verdicts).unwrap_or_default();
        }
        NodeOutcome::Impossible(obstacles) => {
            array.action = Action::Impossible;
            array.problems = obstacles
                .iter()
                .map(|obstacle| Problem {
                    file: obstacle.file.map(str::to_owned),
                    pointer: obstacle.reason.pointer.clone(),
                    message: obstacle.reason.message.clone(),
                    hint: obstacle.reason.hint.clone(),
                })
                .collect();
        }
    }
    array
}

fn migrated(array: &mut Array, plan: &ArrayPlan) {
    let exact = plan.sites.iter().any(|site| site.form == Form::Exact);
    let form = if exact { Form::Exact } else { Form::Plain };
    array.action = Action::Migrate;
    array.form = Some(form.name().to_owned());
    array.data_type = plan.sites.first().map(|site| site.incoming.to_string());
    array.stored_type = plan.sites.last().map(|site| site.stored.to_string());
    array.changes = plan
        .changes
        .iter()
        .map(|change| Change {
            pointer: change.pointer.clone(),
            old: json(change.old.as_deref()),
            new: json(change.new.as_deref()),
        })
        .collect();
    array.fill = Some(fill(&plan.fill));
    array.decode = Some(decode(&plan.decode));
    array.encode = Some(encode(&plan.encode));
    array.notes.extend(plan.notes.iter().cloned());
    with_array(&plan.text, |document| {
        array.byte_order = byte_order(document);
        array.readers = reader_verdicts(document);
    });
}

/// A text as JSON; null where there is none.
fn json(text: Option<&str>) -> Json {
    text.and_then(|text| serde_json::from_str(text).ok())
        .unwrap_or(Json::Null)
}

/// A scalar in fill-value encoding.
fn scalar(scalar: Scalar) -> Json {
    json(Some(&scalar.to_json()))
}

fn optional(value: Option<Scalar>) -> Json {
    value.map_or(Json::Null, scalar)
}

fn fill(plan: &FillPlan) -> Fill {
    let maps: Vec<_> = plan
        .maps
        .iter()
        .map(|map| format!("{} stands for code {}", map.key, map.code))
        .collect();
    let reason = match plan.outcome {
        FillOutcome::Survives => "the new codecs give it back".to_owned(),
        FillOutcome::Mapped => {
            let otherwise = plan.maps.first().map_or("", |map| map.otherwise.as_str());
            format!(
                "mapped both ways to a code that nothing uses ({}), since {otherwise}",
                maps.join(", ")
            )
        }
        FillOutcome::OfUnusedCode => {
            "undefined before, and now the value of a code that nothing uses".to_owned()
        }
        FillOutcome::Given => "as given, since no chunk is missing".to_owned(),
        FillOutcome::DeclaredMissing => "NaN, for the code that was declared missing".to_owned(),
    };
    let reason = match (plan.old, plan.outcome) {
        (None, FillOutcome::Survives) => format!("undefined before; {reason}"),
        _ => reason,
    };
    let reason = match plan.drift {
        Some(drift) => format!("{reason}; through the whole chain it comes back as {drift}"),
        None => reason,
    };
    Fill {
        value: scalar(plan.new),
        before: optional(plan.old),
        defined_before: plan.old.is_some(),
        code: optional(plan.code),
        mapped: !plan.maps.is_empty(),
        reason,
    }
}

fn decode(verdict: &DecodeVerdict) -> Decode {
    let differences = &verdict.differences;
    let any = differences.differing > differences.not_finite;
    Decode {
        verdict: match verdict.kind {
            DecodeKind::Identical => "identical",
            DecodeKind::Differs => "differs",
            DecodeKind::Unproven => "unproven",
        }
        .to_owned(),
        proof: verdict.proof.map(|proof| proof.name().to_owned()),
        compared: differences.compared,
        differing: differences.differing,
        become_unreadable: differences.become_unreadable,
        largest_difference: any.then_some(differences.largest_difference),
        largest_ulps: any.then_some(differences.largest_ulps),
        first: differences.first_difference.map(|change| Example {
            code: scalar(change.code),
            old: scalar(change.old),
            new: scalar(change.new),
        }),
        first_unreadable: differences.first_unreadable.map(|lost| Unreadable {
            code: scalar(lost.code),
            old: scalar(lost.old),
            reason: lost.fault.fault.to_string(),
        }),
        notes: verdict_notes(verdict),
    }
}

/// What a verdict has to say beside its numbers.
fn verdict_notes(verdict: &DecodeVerdict) -> Vec<String> {
    let mut notes = Vec::new();
    let shown =
        |value: Option<Scalar>| value.map_or("something undefined".to_owned(), |v| v.to_string());
    if verdict.kind == DecodeKind::Unproven && verdict.differences.compared > 0 {
        notes.push(format!(
            "of {} codes that were tried, {} decode to another value",
            verdict.differences.compared, verdict.differences.differing
        ));
    }
    if verdict.differences.become_readable > 0 {
        notes.push(format!(
            "{} have no defined value in the legacy codec, whose readers make something of them, and decode to a value now",
            verdict.differences.become_readable
        ));
    }
    if verdict.differences.unreadable_in_both > 0 {
        notes.push(format!(
            "{} have no defined value in the legacy codec and none now",
            verdict.differences.unreadable_in_both
        ));
    }
    if let Some(all) = &verdict.all_codes {
        let mut note = format!(
            "of all {} codes, {} would decode to another value",
            all.compared, all.differing
        );
        if all.become_unreadable > 0 {
            note.push_str(&format!(" and {} not at all", all.become_unreadable));
        }
        notes.push(note);
    }
    if let Some(missing) = &verdict.missing {
        notes.push(format!(
            "{} missing chunks and {} missing inner chunks read as {} instead of {}",
            missing.chunks,
            missing.inner_chunks,
            missing.new,
            shown(missing.old)
        ));
    }
    if let Some(inner) = &verdict.missing_inner {
        notes.push(format!(
            "{} missing inner chunks read as {} instead of {}",
            inner.count,
            shown(inner.new),
            shown(inner.old)
        ));
    }
    if let Some(declared) = &verdict.declared {
        let others = if declared.others_differ {
            ""
        } else {
            ", and nothing else changes"
        };
        notes.push(format!(
            "code {} was declared missing: NaN instead of {}{others}",
            declared.code,
            shown(declared.value)
        ));
    }
    if let Some(codec) = &verdict.before {
        notes.push(format!(
            "what was compared is what the codec {codec:?} is handed"
        ));
    }
    notes
}

fn encode(verdict: &EncodeVerdict) -> Encode {
    let notes = verdict
        .differences
        .iter()
        .map(|difference| difference.describe());
    Encode {
        same: verdict.is_same(),
        notes: notes.collect(),
    }
}

fn reader_verdicts(document: &v3::Array<'_>) -> Vec<Reader> {
    let verdicts = readers(ArrayDocument::V3(document)).into_iter();
    verdicts.map(Reader::from).collect()
}

/// The order of the stored bytes, if there is one.
fn byte_order(array: &v3::Array<'_>) -> Option<String> {
    let chain = array.codecs.innermost();
    let bytes = chain
        .codecs
        .iter()
        .find(|codec| codec.entry.name == "bytes")?;
    let endian = bytes.entry.configuration.as_ref()?.value.get("endian")?;
    endian.as_str().map(str::to_owned)
}

fn with_array<R>(text: &str, use_it: impl FnOnce(&v3::Array<'_>) -> R) -> Option<R> {
    let parsed = parse(text.as_bytes(), &Limits::default(), NonFinite::Keep).ok()?;
    let mut problems = Problems::default();
    match v3::read(&Node::root(&parsed.root), &mut problems) {
        v3::Document::Array(array) => array.complete().map(|array| use_it(&array)),
        _ => None,
    }
}
