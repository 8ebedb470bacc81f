//! What `decode` did, for people and for programs.

use super::DecodeArgs;
use super::cf;
use super::source::Source;
use super::store::{Action, Planned};
use crate::catalog::named;
use crate::error::Error;
use crate::region::Region;
use crate::report::decode::{Action as Did, Array, Report, SCHEMA};
use crate::ui::Ui;

/// The report of a run.
pub(super) fn report(args: &DecodeArgs, form: &str, arrays: Vec<Array>) -> Report {
    let to_file = args.output.as_os_str() != "-";
    Report {
        schema: SCHEMA.to_owned(),
        input: args.input.display().to_string(),
        output: args.output.display().to_string(),
        form: form.to_owned(),
        dry_run: args.dry_run,
        verified: args.verify && to_file && !args.dry_run,
        arrays,
    }
}

/// An array that was decoded.
pub(super) fn decoded(source: &Source) -> Array {
    let fill = source
        .fill()
        .and_then(|fill| serde_json::from_str(&fill.to_json()).ok());
    Array {
        path: source.path.clone(),
        action: Did::Decode,
        data_type: Some(source.data_type().to_owned()),
        shape: Some(source.array.shape().to_vec()),
        fill_value: fill.unwrap_or_default(),
        cf: source.cf.as_ref().map(cf::reported),
        warnings: source
            .cf
            .iter()
            .flat_map(|cf| &cf.warnings)
            .cloned()
            .collect(),
        ..Array::default()
    }
}

/// An array of which a region was decoded, if one was given.
pub(super) fn decoded_region(source: &Source, args: &DecodeArgs, region: &Region) -> Array {
    let ranges = region.ranges.iter().map(|range| [range.start, range.end]);
    Array {
        region: args.region.as_ref().map(|_| ranges.collect()),
        ..decoded(source)
    }
}

/// Why an array was left out, in one line.
pub(super) fn reason(error: &Error) -> String {
    let details = error.details().iter();
    details.fold(error.to_string(), |text, detail| text + "; " + detail)
}

/// The report for people: a line for each array, and what CF attributes did below it.
pub(super) fn print(ui: &mut Ui, planned: &[Planned<'_>], arrays: &[Array]) -> Result<(), Error> {
    for (planned, array) in planned.iter().zip(arrays) {
        let mut line = match array.action {
            Did::Decode => "decode  ",
            Did::Copy => "copy    ",
            Did::Skip => "skip    ",
        }
        .to_owned();
        line.push_str(&named(&array.path));
        if let (Some(data_type), Some(shape)) = (&array.data_type, &array.shape) {
            line.push_str(&format!(" {data_type} {shape:?}"));
        }
        for name in &array.replaced {
            line.push_str(&format!(", zstd instead of {name}"));
        }
        if let Some(reason) = &array.reason {
            line.push_str(&format!(": {reason}"));
        }
        ui.print(line + "\n")?;
        if let Action::Decode(decode) = &planned.action {
            print_cf(ui, &decode.source)?;
        }
    }
    Ok(())
}

fn print_cf(ui: &mut Ui, source: &Source) -> Result<(), Error> {
    let Some(cf) = &source.cf else { return Ok(()) };
    ui.print(format!("        {}\n", cf::in_words(cf)))?;
    let mut attributes: Vec<String> = Vec::new();
    if !cf.removed.is_empty() {
        attributes.push(format!("removed {}", cf.removed.join(", ")));
    }
    for converted in &cf.converted {
        let values: Vec<_> = converted.values.iter().map(ToString::to_string).collect();
        let values = values.join(" to ");
        attributes.push(format!("{} is now {values}", converted.name));
    }
    if !attributes.is_empty() {
        ui.print(format!("        attributes: {}\n", attributes.join("; ")))?;
    }
    Ok(())
}
