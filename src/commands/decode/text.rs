//! `decode` to standard output: values in row-major order.

use std::ops::Range;

use super::super::rewrite::input::{Input, Watch, heed_signals, shares, stopped};
use super::super::rewrite::report_file::ReportFile;
use super::csv::Columns;
use super::element::Element;
use super::source::Source;
use super::{DecodeArgs, Format, reporting};
use crate::cli::GlobalArgs;
use crate::error::{Error, ExitCode};
use crate::pipeline::{GridIndices, Pipeline};
use crate::region::{Boxes, elements};
use crate::ui::Ui;

/// The most bytes of values that are turned into text at a time. The text of a value may be ten times as long.
const LARGEST_BOX: u64 = 4 << 20;

/// The most bytes of a coordinate that are kept for the whole run. One that is larger is read again for each box.
const LARGEST_COORDINATE: u64 = 64 << 20;

pub(super) fn run(ui: &mut Ui, global: &GlobalArgs, args: &DecodeArgs) -> Result<ExitCode, Error> {
    let input = Input::open(&args.input, &args.array)?;
    let report_place = ReportFile::check(
        args.report.as_deref(),
        args.existing(),
        &[(input.store.place(), "INPUT")],
    )?;
    let (threads, memory, share) = shares(global);
    let (entry, text) = input.only_array(ui)?;
    let source = Source::open(entry, text, memory, args.cf)?;
    source.announce(ui);
    let region = args.region_of(&source.array)?;
    let format = args.format.unwrap_or(Format::Jsonl);
    let printed = Printed {
        source: &source,
        element: match (format, Element::of(&source, args.stream.bits)) {
            (Format::Raw, _) => None,
            (_, Some(element)) => Some(element),
            (_, None) => {
                let data_type = source.data_type();
                let message = format!("values of type {data_type} cannot be printed");
                return Err(Error::finding(message).hint("--format raw prints their bytes"));
            }
        },
        columns: match format {
            Format::Csv => {
                let mut columns = Columns::find(ui, &input, entry, text, &source, args, memory);
                columns.load(&region, LARGEST_COORDINATE.min(memory / 16))?;
                Some(columns)
            }
            _ => None,
        },
    };
    let mut array = reporting::decoded_region(&source, args, &region);
    array.columns = printed.columns.as_ref().map(Columns::reported);
    let form = match format {
        Format::Csv => "csv",
        Format::Raw => "raw",
        _ => "jsonl",
    };
    let report = reporting::report(args, form, vec![array]);
    let interrupt = heed_signals()?;
    let report_file = report_place.begin(ui)?;
    if let Some(columns) = &printed.columns {
        ui.print(columns.header())?;
    }
    let size = source.element_size() as u64;
    let limit = LARGEST_BOX.min(share / 16).max(size) / size;
    let pipeline = Pipeline {
        threads,
        memory,
        interrupt: &interrupt,
        observer: &Watch::default(),
    };
    let done = pipeline.ordered(
        Boxes::new(&region, &source.array.chunk_shape(), limit),
        |part| printed.working_bytes(part),
        |part| printed.text(part),
        |text| ui.print(text?),
    );
    done.map_err(stopped)?;
    // What nobody has got was not written.
    ui.flush()?;
    report_file.publish(&report)?;
    Ok(ExitCode::Done)
}

/// What is printed, and how.
struct Printed<'a> {
    source: &'a Source,
    /// How a value is written; `None` for its bytes.
    element: Option<Element>,
    /// The columns before it, for csv.
    columns: Option<Columns>,
}

impl Printed<'_> {
    /// What a box is printed as.
    fn text(&self, part: Vec<Range<u64>>) -> Result<Vec<u8>, Error> {
        let bytes = self.source.read_box(&part)?;
        let Some(element) = self.element else {
            return Ok(bytes);
        };
        let values = bytes.chunks_exact(self.source.element_size());
        let mut text = String::new();
        let Some(columns) = &self.columns else {
            for value in values {
                text.push_str(&element.json(value));
                text.push('\n');
            }
            return Ok(text.into_bytes());
        };
        let fields = columns.fields(&part)?;
        let starts: Vec<u64> = part.iter().map(|range| range.start).collect();
        for (value, index) in values.zip(GridIndices::within(part)) {
            for ((n, start), fields) in index.iter().zip(&starts).zip(&fields) {
                let place = usize::try_from(n - start).unwrap_or(usize::MAX);
                text.push_str(fields.get(place).map_or(",", String::as_str));
            }
            text.push_str(&element.field(value));
            text.push('\n');
        }
        Ok(text.into_bytes())
    }

    fn working_bytes(&self, part: &[Range<u64>]) -> u64 {
        let values = elements(part)
            .unwrap_or(u64::MAX)
            .saturating_mul(self.source.element_size() as u64);
        let columns = self.columns.as_ref();
        // Text is longer than what it spells, and coordinates stand in every row.
        let texts = columns.map_or(1, |_| part.len() as u64 + 1);
        values
            .saturating_mul(7)
            .saturating_mul(texts)
            .saturating_add(self.source.box_bytes(part))
            .saturating_add(self.source.working_bytes())
            .saturating_add(columns.map_or(0, |columns| columns.fields_bytes(part)))
    }
}
