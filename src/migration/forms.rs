//! The form that each run is converted to: the plain one, or the exact one where that is asked for and needed.

use crate::transform::equivalence::Differences;

use super::evidence::Evidence;
use super::options::{Options, Verify};
use super::outcome::{Form, Reason, Stop};
use super::site::Site;
use super::verdict::{CodesVerdict, Proof, first_unreadable, unreadable};

/// Chooses the form of each site.
///
/// # Errors
///
/// The reasons for which a site has no form that can be written.
pub(super) fn choose(
    sites: &[Site<'_>],
    options: &Options,
    evidence: &dyn Evidence,
) -> Result<Vec<Form>, Stop> {
    let mut reasons = Vec::new();
    let mut forms = Vec::new();
    for site in sites {
        match choose_one(site, options, evidence) {
            Ok(form) => forms.push(form),
            Err(Stop::Impossible(mut more)) => reasons.append(&mut more),
            Err(stop) => return Err(stop),
        }
    }
    if reasons.is_empty() {
        Ok(forms)
    } else {
        Err(Stop::Impossible(reasons))
    }
}

fn choose_one(site: &Site<'_>, options: &Options, evidence: &dyn Evidence) -> Result<Form, Stop> {
    let form = match site.attempt(Form::Exact) {
        Some(_) if !site.plain_is_identical(options, evidence)? => Form::Exact,
        _ => Form::Plain,
    };
    check_readable(site, form, options, evidence)?;
    Ok(form)
}

/// Refuses a form with which codes in use could not be decoded any more: any code, where it is not known which are.
///
/// # Errors
///
/// The reason; or why the form cannot be written at all.
pub(super) fn check_readable(
    site: &Site<'_>,
    form: Form,
    options: &Options,
    evidence: &dyn Evidence,
) -> Result<(), Stop> {
    let verdict = site.verdict(form, options, evidence)?;
    if verdict.unreadable() == 0 {
        return Ok(());
    }
    let message = format!(
        "with the {} conversion, {} cannot be decoded any more{}",
        form.name(),
        lost_codes(&verdict),
        example(site, form, &verdict)
    );
    let mut hints = Vec::new();
    if form == Form::Plain && site.may_be_exact() {
        hints.push("--exact computes as the legacy codec does, and may read them");
    }
    if options.verify != Verify::Data {
        hints.push("--verify data tells which codes are in use");
    }
    let reason = Reason::new(site.run.pointer(0), message);
    Err(match hints.is_empty() {
        true => reason,
        false => reason.hint(hints.join("; ")),
    }
    .into())
}

fn lost_codes(verdict: &CodesVerdict) -> String {
    let Differences { compared, .. } = verdict.differences;
    let lost = unreadable(&verdict.differences);
    match verdict.proof {
        _ if lost == 0 => "codes in the padding of chunks, and with them these chunks,".to_owned(),
        Some(Proof::AllCodes) => format!("{lost} of all {compared} codes"),
        Some(Proof::UsedCodes) => format!("{lost} of the {compared} codes in use"),
        Some(Proof::Data) => format!("{lost} of the {compared} stored values"),
        None => format!("{lost} of {compared} codes that were tried"),
    }
}

/// The first code that is lost, and why.
fn example(site: &Site<'_>, form: Form, verdict: &CodesVerdict) -> String {
    if let Some(lost) = verdict.differences.first_unreadable {
        let fault = lost.fault.fault;
        return format!(": code {} is {}, and then {fault}", lost.code, lost.old);
    }
    let Some(Ok(attempt)) = site.attempt(form) else {
        return String::new();
    };
    let used = match verdict.proof {
        Some(Proof::UsedCodes) => site.scanned().and_then(|scan| scan.used.as_ref()),
        _ => None,
    };
    first_unreadable(attempt.bare(), used).map_or(String::new(), |(code, fault)| {
        format!(
            ": code {code} has no defined value in the legacy codec, whose readers make something of it, and is an error then: {fault}"
        )
    })
}
