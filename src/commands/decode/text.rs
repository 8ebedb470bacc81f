//! `decode` to standard output: values in row-major order.

use super::super::rewrite::input::{Input, Watch, chunk_error, heed_signals, shares, stopped};
use super::{DecodeArgs, Format};
use crate::cli::GlobalArgs;
use crate::codecs::{ChunkError, OpenArray};
use crate::error::{Error, ExitCode};
use crate::pieces::{read_box, working_bytes};
use crate::pipeline::{GridIndices, Pipeline};
use crate::region::{Boxes, Region, elements};
use crate::transform::data_type::DataType;
use crate::transform::scalar::Scalar;
use crate::ui::Ui;

/// The most bytes of values that are turned into text at a time. The text of a value may be ten times as long.
const LARGEST_BOX: u64 = 4 << 20;

pub(super) fn run(ui: &mut Ui, global: &GlobalArgs, args: &DecodeArgs) -> Result<ExitCode, Error> {
    let input = Input::open(&args.input, &args.array)?;
    let (threads, memory, share) = shares(global);
    let array = input.only_array(ui, memory)?;
    let region = match &args.region {
        Some(spec) => spec
            .resolve(array.shape())
            .map_err(|error| Error::usage(format!("--region: {error}")))?,
        None => Region::all(array.shape()),
    };
    let format = args.format.unwrap_or(Format::Jsonl);
    let element = Element::of(&array, args.stream.bits);
    let element = match (format, element) {
        (Format::Raw, _) => None,
        (_, Some(element)) => Some(element),
        (_, None) => {
            return Err(Error::finding(format!(
                "values of type {} cannot be printed",
                array.data_type()
            ))
            .hint("--format raw prints their bytes"));
        }
    };
    let interrupt = heed_signals()?;
    if format == Format::Csv {
        let dimensions = (0..array.shape().len()).map(|n| format!("dim_{n},"));
        ui.print(dimensions.collect::<String>() + "value\n")?;
    }
    let size = array.element_size() as u64;
    let limit = LARGEST_BOX.min(share / 16).max(size) / size;
    let pipeline = Pipeline {
        threads,
        memory,
        interrupt: &interrupt,
        observer: &Watch::default(),
    };
    let print = |part: Vec<std::ops::Range<u64>>| -> Result<Vec<u8>, ChunkError> {
        let length = elements(&part)
            .and_then(|n| usize::try_from(n).ok())
            .unwrap_or(usize::MAX);
        let mut bytes = vec![0; length.saturating_mul(array.element_size())];
        read_box(&array, &part, &mut bytes)?;
        let Some(element) = element else {
            return Ok(bytes);
        };
        let mut text = String::new();
        let indices = GridIndices::within(part);
        for (element_bytes, index) in bytes.chunks_exact(array.element_size()).zip(indices) {
            if format == Format::Csv {
                for n in index {
                    text.push_str(&n.to_string());
                    text.push(',');
                }
                // A number or a word; quotes are for JSON.
                text.push_str(element.text(element_bytes).trim_matches('"'));
            } else {
                text.push_str(&element.text(element_bytes));
            }
            text.push('\n');
        }
        Ok(text.into_bytes())
    };
    let printed = pipeline.ordered(
        Boxes::new(&region, &array.chunk_shape(), limit),
        |part| {
            elements(part)
                .unwrap_or(u64::MAX)
                .saturating_mul(size)
                .saturating_mul(8)
                .saturating_add(working_bytes(&array))
        },
        print,
        |text| match text {
            Ok(text) => ui.print(text),
            Err(error) => Err(chunk_error("", &error)),
        },
    );
    printed.map_err(stopped)?;
    Ok(ExitCode::Done)
}

/// How an element is written as text.
#[derive(Debug, Clone, Copy)]
enum Element {
    Real { data_type: DataType, bits: bool },
    Bool,
    Complex { part: DataType, bits: bool },
}

impl Element {
    /// `None` for a type whose elements have no text here.
    fn of(array: &OpenArray, bits: bool) -> Option<Self> {
        if let Some(data_type) = array.element_type() {
            return Some(Self::Real { data_type, bits });
        }
        let complex = |part| Some(Self::Complex { part, bits });
        match array.data_type() {
            "bool" => Some(Self::Bool),
            "complex64" | "complex_float32" => complex(DataType::Float32),
            "complex128" | "complex_float64" => complex(DataType::Float64),
            _ => None,
        }
    }

    /// The element in fill-value encoding.
    fn text(self, bytes: &[u8]) -> String {
        let real = |data_type, bytes, bits| {
            let scalar = Scalar::from_ne_bytes(data_type, bytes);
            if bits {
                scalar.to_bits_json()
            } else {
                scalar.to_json()
            }
        };
        match self {
            Self::Real { data_type, bits } => real(data_type, bytes, bits),
            Self::Bool => (bytes != [0]).to_string(),
            Self::Complex { part, bits } => {
                let (re, im) = bytes.split_at(part.size());
                format!("[{}, {}]", real(part, re, bits), real(part, im, bits))
            }
        }
    }
}
