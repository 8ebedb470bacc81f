//! The inputs, and the arrays in them that parameters are proposed for.

use std::ffi::OsStr;
use std::io::{BufReader, Seek};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::super::encode::roles::Roles;
use super::super::rewrite::input::Watch as Warnings;
use super::{ReportFormat, SuggestParamsArgs};
use crate::catalog::{ArrayText, Catalog, Entry, Kind, named};
use crate::codecs::OpenArray;
use crate::codecs::model::Model;
use crate::error::{Error, ErrorKind};
use crate::npy::Header;
use crate::pipeline::Observer;
use crate::rules::is_known_type;
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
    /// One of several that cannot be used.
    Unusable {
        input: PathBuf,
        error: Error,
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
    Refused {
        refusal: Refusal,
        /// Whether it could not be read, or was read and is refused.
        kind: ErrorKind,
        /// Whether it has a place in a store.
        in_store: bool,
    },
}

impl Inputs {
    /// Opens what was given, and reads every document.
    pub(super) fn open(args: &SuggestParamsArgs) -> Result<Self, Error> {
        let mut given = Vec::new();
        for input in &args.inputs {
            let is_npy = input.extension() == Some(OsStr::new("npy")) && !input.is_dir();
            let opened = if is_npy {
                open_file(input)
            } else {
                open_store(input, args.format)
            };
            given.push(match opened {
                Ok(opened) => opened,
                // The others are none the worse for it.
                Err(error) if args.inputs.len() > 1 => Given::Unusable {
                    input: input.clone(),
                    error,
                },
                Err(error) => return Err(error),
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
                    let store = StoreArrays {
                        input: input.display().to_string(),
                        catalog,
                        selection: &selection,
                        memory,
                    };
                    store.choose(&mut chosen, &mut left_out)?;
                }
                Given::Unusable { input, error } => chosen.push(Chosen {
                    path: String::new(),
                    input: Some(input.display().to_string()),
                    by_default: false,
                    source: Source::refused(error, false),
                }),
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
                "left out: {}; --array selects them",
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

/// A store, of which arrays are selected.
struct StoreArrays<'s> {
    input: String,
    catalog: &'s Catalog,
    selection: &'s Selection,
    memory: u64,
}

impl StoreArrays<'_> {
    /// Adds the arrays that are selected to those chosen, and the others that hold no quantities to those left out.
    fn choose(&self, chosen: &mut Vec<Chosen>, left_out: &mut Vec<String>) -> Result<(), Error> {
        let by_default = self.selection.is_default();
        let roles = Roles::of(self.catalog);
        let of = |path: &str, source| Chosen {
            path: path.to_owned(),
            input: Some(self.input.clone()),
            by_default,
            source,
        };
        for (path, error) in &self.catalog.faults {
            if self.selection.contains(path) {
                let refusal = because(error.kind(), [error.to_string()]);
                let source = Source::Refused {
                    refusal,
                    kind: error.kind(),
                    in_store: true,
                };
                chosen.push(of(path, source));
            }
        }
        for entry in &self.catalog.entries {
            let source = match &entry.kind {
                Kind::Array(text) => {
                    if !self.selection.contains(&entry.path) {
                        continue;
                    }
                    // An array that is INPUT itself was asked for.
                    let asked_for = !by_default || entry.path.is_empty();
                    let type_name = type_name(text);
                    let reason = roles.left_alone(entry, text, &type_name);
                    if let Some(reason) = reason.filter(|_| !asked_for) {
                        let is_unknown =
                            matches!(text, ArrayText::V3(_)) && !is_known_type(&type_name);
                        if is_unknown {
                            let of = format!("its type, {type_name:?}, is not known");
                            left_out.push(format!("{} ({of})", named(&entry.path)));
                            continue;
                        }
                        left_out.push(format!("{} ({reason})", named(&entry.path)));
                        continue;
                    }
                    match open_array(entry, text, self.memory) {
                        Ok(source) => source,
                        Err(error) => Source::refused(&error, true),
                    }
                }
                Kind::Broken(findings) => {
                    if !self.selection.contains(&entry.path) {
                        continue;
                    }
                    let unread = findings.iter().any(|one| one.kind == ErrorKind::Io);
                    let kind = if unread {
                        ErrorKind::Io
                    } else {
                        ErrorKind::Finding
                    };
                    let messages = findings.iter().map(|one| one.message.clone());
                    Source::Refused {
                        refusal: because(kind, messages),
                        kind,
                        in_store: true,
                    }
                }
                Kind::Group(_) => continue,
            };
            chosen.push(of(&entry.path, source));
        }
        Ok(())
    }
}

/// The name of the type of an array in Zarr v3.
fn type_name(text: &ArrayText) -> String {
    let name = text.with(|document| Model::new(document).map(|model| model.type_name));
    name.ok().and_then(Result::ok).unwrap_or_default()
}

/// Why nothing is proposed for what could not be read, or was read and is unsound.
fn because(kind: ErrorKind, reasons: impl IntoIterator<Item = String>) -> Refusal {
    match kind {
        ErrorKind::Io => Refusal::not_read(reasons),
        _ => Refusal::unsound(reasons),
    }
}

impl Source {
    fn refused(error: &Error, in_store: bool) -> Self {
        let mut refusal = because(error.kind(), [error.to_string()]);
        refusal.details.extend(error.details().iter().cloned());
        Self::Refused {
            refusal,
            kind: error.kind(),
            in_store,
        }
    }
}

impl Chosen {
    /// Whether its values are integers.
    pub(super) fn is_integer(&self) -> bool {
        match &self.source {
            Source::Array(one) => one.0.element_type().is_some_and(DataType::is_integer),
            _ => false,
        }
    }

    /// Whether the proposal is for this array, and not for all that are selected.
    pub(super) const fn is_in_store(&self) -> bool {
        let in_store = matches!(self.source, Source::Refused { in_store: true, .. });
        in_store || matches!(self.source, Source::Array(_))
    }

    /// The name of it in messages about several.
    pub(super) fn name(&self) -> String {
        match &self.input {
            Some(input) if self.path.is_empty() => input.clone(),
            Some(input) => format!("{input}/{}", self.path),
            None => named(&self.path),
        }
    }

    /// What kind of error it is that it is refused, if it is.
    pub(super) const fn refused_as(&self) -> Option<ErrorKind> {
        match &self.source {
            Source::Refused { kind, .. } => Some(*kind),
            _ => None,
        }
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
            Source::Refused { refusal, .. } => return Err(refusal.clone()),
        };
        Ok(subject.with_name(self.name()).with_share(wish.share))
    }
}

fn open_store(input: &Path, format: ReportFormat) -> Result<Given, Error> {
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
        // A document says of each array what is wrong with it.
        if !any && format == ReportFormat::Human {
            return Err(error);
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
            return Ok(Source::Refused {
                refusal,
                kind: ErrorKind::Finding,
                in_store: true,
            });
        }
    };
    storage.limit(array.longest_stored_chunk());
    let array = array.with_granted_memory(memory);
    let input = ArrayInput::read(&array, text, &entry.directory)?;
    Ok(Source::Array(Box::new((array, input))))
}

/// Counts chunks for the bar, and warns once where one is larger than the memory that was granted.
pub(super) struct Watch<'p> {
    progress: &'p Progress,
    warns: Warnings,
}

impl<'p> Watch<'p> {
    pub(super) fn new(progress: &'p Progress) -> Self {
        Self {
            progress,
            warns: Warnings::default(),
        }
    }
}

impl Observer for Watch<'_> {
    fn finished(&self, _: u64) {
        self.progress.advance(1);
    }

    fn oversized(&self, bytes: u64, memory: u64) {
        self.warns.oversized(bytes, memory);
    }
}
