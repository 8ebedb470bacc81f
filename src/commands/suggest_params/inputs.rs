//! The inputs, and the arrays in them that parameters are proposed for.

use std::ffi::OsStr;
use std::io::{BufReader, Seek};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::SuggestParamsArgs;
use crate::catalog::{ArrayText, Catalog, Entry, Kind, named};
use crate::codecs::OpenArray;
use crate::error::{Error, ErrorKind};
use crate::npy::Header;
use crate::pipeline::Observer;
use crate::selection::Selection;
use crate::store::{ChunkFiles, Store};
use crate::suggest::{ArrayInput, Refusal, Subject, Wish};
use crate::transform::data_type::DataType;
use crate::ui::{Progress, Ui};

/// What was given, opened.
pub(super) struct Inputs {
    given: Vec<Given>,
}

enum Given {
    Store {
        input: PathBuf,
        catalog: Catalog,
    },
    File {
        input: PathBuf,
        header: Header,
        start: u64,
    },
    Nothing {
        data_type: DataType,
        low: f64,
        high: f64,
    },
}

/// One array that parameters are proposed for.
pub(super) struct Chosen {
    /// Its path from the store.
    pub(super) path: String,
    /// The input that it is in; `None` where there are no data.
    pub(super) input: Option<String>,
    /// Whether nobody asked for it by a pattern.
    pub(super) by_default: bool,
    source: Source,
}

enum Source {
    Array(Box<(OpenArray, ArrayInput)>),
    File {
        path: PathBuf,
        header: Header,
        start: u64,
    },
    Range {
        data_type: DataType,
        low: f64,
        high: f64,
    },
    /// Nothing can be proposed, for this reason.
    Refused(Refusal),
}

impl Inputs {
    /// Opens what was given, and reads every document.
    pub(super) fn open(ui: &mut Ui, args: &SuggestParamsArgs) -> Result<Self, Error> {
        let mut given = Vec::new();
        for input in &args.inputs {
            let is_npy = input.extension() == Some(OsStr::new("npy")) && !input.is_dir();
            given.push(if is_npy {
                open_file(input)?
            } else {
                open_store(ui, input)?
            });
        }
        if let (true, Some(&[low, high])) = (given.is_empty(), args.range.as_deref()) {
            let data_type = args.dtype.unwrap_or(DataType::Float32);
            given.push(Given::Nothing {
                data_type,
                low,
                high,
            });
        }
        Ok(Self { given })
    }

    /// The arrays that are selected.
    pub(super) fn choose(
        &self,
        ui: &mut Ui,
        args: &SuggestParamsArgs,
        memory: u64,
    ) -> Result<Vec<Chosen>, Error> {
        let selection = Selection::new(args.arrays.clone())
            .map_err(|error| Error::usage(format!("--array: {error}")))?;
        let mut chosen = Vec::new();
        let mut left_out = Vec::new();
        for given in &self.given {
            match given {
                Given::Store { input, catalog } => {
                    for entry in &catalog.entries {
                        let Kind::Array(text) = &entry.kind else {
                            continue;
                        };
                        if !selection.contains(&entry.path) {
                            continue;
                        }
                        let by_default = selection.is_default();
                        let opened = open_array(entry, text, memory)?;
                        if by_default && (is_coordinate(entry, text) || opened.is_no_number()) {
                            left_out.push(named(&entry.path));
                            continue;
                        }
                        chosen.push(Chosen {
                            path: entry.path.clone(),
                            input: Some(input.display().to_string()),
                            by_default,
                            source: opened,
                        });
                    }
                }
                Given::File {
                    input,
                    header,
                    start,
                } => chosen.push(Chosen {
                    path: String::new(),
                    input: Some(input.display().to_string()),
                    by_default: true,
                    source: Source::File {
                        path: input.clone(),
                        header: header.clone(),
                        start: *start,
                    },
                }),
                Given::Nothing {
                    data_type,
                    low,
                    high,
                } => chosen.push(Chosen {
                    path: String::new(),
                    input: None,
                    by_default: true,
                    source: Source::Range {
                        data_type: *data_type,
                        low: *low,
                        high: *high,
                    },
                }),
            }
        }
        selection.require_all_used()?;
        if !left_out.is_empty() {
            ui.status(format!(
                "left out: {} (coordinates, or no numbers); --array selects them",
                left_out.join(", ")
            ));
        }
        if chosen.is_empty() {
            return Err(Error::usage(
                "INPUT holds no array to propose parameters for",
            ));
        }
        Ok(chosen)
    }
}

impl Source {
    fn is_no_number(&self) -> bool {
        matches!(self, Self::Array(one) if one.0.element_type().is_none())
    }
}

impl Chosen {
    /// Whether its values are integers.
    pub(super) fn is_integer(&self) -> bool {
        match &self.source {
            Source::Array(one) => one.0.element_type().is_some_and(DataType::is_integer),
            Source::Refused(_) => true,
            _ => false,
        }
    }

    /// Whether the proposal is for this array, and not for all that are selected.
    pub(super) const fn is_in_store(&self) -> bool {
        matches!(self.source, Source::Array(_))
    }

    /// What values are read of.
    pub(super) fn subject(&self, wish: &Wish) -> Result<Subject<'_>, Refusal> {
        let subject = match &self.source {
            Source::Array(one) => one.1.subject(&one.0)?,
            Source::File {
                path,
                header,
                start,
            } => Subject::file(path, header, *start)
                .ok_or_else(|| Refusal::no_numbers(header.element.zarr_name()))?,
            Source::Range {
                data_type,
                low,
                high,
            } => Subject::range(*data_type, *low, *high),
            Source::Refused(refusal) => return Err(refusal.clone()),
        };
        Ok(subject.with_share(wish.share))
    }
}

fn open_store(ui: &mut Ui, input: &Path) -> Result<Given, Error> {
    let store = Store::open(input)?;
    let catalog = Catalog::read(&store);
    if catalog.entries.is_empty() && catalog.faults.is_empty() {
        return Err(
            Error::new(ErrorKind::Io, format!("no Zarr array or group in {input:?}")).hint(
                "INPUT is a .npy file, or a directory with zarr.json, .zarray or .zgroup, or one above it",
            ),
        );
    }
    if let Some(error) = catalog.error() {
        let any = catalog
            .entries
            .iter()
            .any(|entry| matches!(entry.kind, Kind::Array(_)));
        if !any {
            return Err(error);
        }
        ui.warning(&error);
        for detail in error.details().iter().take(20) {
            ui.warning(detail);
        }
    }
    Ok(Given::Store {
        input: input.to_owned(),
        catalog,
    })
}

fn open_file(input: &Path) -> Result<Given, Error> {
    let failed = |cause| Error::io(format!("could not read {input:?}"), cause);
    let file = std::fs::File::open(input).map_err(failed)?;
    let length = file.metadata().map_err(failed)?.len();
    let mut reader = BufReader::new(file);
    let refused = |reason: String| Error::finding(format!("{input:?}: {reason}"));
    let header = Header::read(&mut reader).map_err(|error| match error {
        crate::npy::NpyError::Io(cause) => failed(cause),
        other => refused(other.to_string()),
    })?;
    let start = reader.stream_position().map_err(failed)?;
    let data = header
        .data_length()
        .map_err(|error| refused(error.to_string()))?;
    if length.saturating_sub(start) < data {
        return Err(refused(format!(
            "the header promises {data} bytes of data, and {} follow",
            length.saturating_sub(start)
        )));
    }
    Ok(Given::File {
        input: input.to_owned(),
        header,
        start,
    })
}

fn open_array(entry: &Entry, text: &ArrayText, memory: u64) -> Result<Source, Error> {
    let storage = Arc::new(ChunkFiles::below(&entry.directory));
    let opened = text.with(|document| OpenArray::open(storage.clone(), "", document));
    let opened =
        opened.map_err(|error| Error::finding(format!("{}: {error}", named(&entry.path))))?;
    let array = match opened {
        Ok(array) => array,
        Err(error) => {
            let mut refusal = Refusal::unreadable();
            for problem in &error.problems {
                refusal.details.push(problem.to_string());
            }
            return Ok(Source::Refused(refusal));
        }
    };
    storage.limit(array.longest_stored_chunk());
    let array = array.with_granted_memory(memory);
    let input = ArrayInput::read(&array, text, &entry.directory)?;
    Ok(Source::Array(Box::new((array, input))))
}

/// Whether an array is the coordinate of a dimension: of one dimension, which has its name.
fn is_coordinate(entry: &Entry, text: &ArrayText) -> bool {
    let names = match text {
        ArrayText::V3(text) => text.parsed.root.get("dimension_names"),
        ArrayText::V2 { attributes, .. } => attributes
            .as_ref()
            .and_then(|text| text.parsed.root.get("_ARRAY_DIMENSIONS")),
    };
    let own = entry.path.rsplit('/').next().unwrap_or_default();
    let names = names.and_then(|names| names.as_array()).unwrap_or_default();
    match names {
        [name] => name.as_str() == Some(own),
        _ => false,
    }
}

/// Counts chunks for the bar, and warns once where one is larger than the memory that was granted.
pub(super) struct Watch<'p> {
    progress: &'p Progress,
    warned: AtomicBool,
}

impl<'p> Watch<'p> {
    pub(super) const fn new(progress: &'p Progress) -> Self {
        Self {
            progress,
            warned: AtomicBool::new(false),
        }
    }
}

impl Observer for Watch<'_> {
    fn finished(&self, _: u64) {
        self.progress.advance(1);
    }

    fn oversized(&self, bytes: u64, memory: u64) {
        if !self.warned.swap(true, Ordering::Relaxed) {
            tracing::warn!(
                bytes,
                memory,
                "chunks need more memory than --memory grants, and are processed one at a time"
            );
        }
    }
}
