//! What a plan for one array says: the new document, what becomes of the fill and the values, or why it cannot be done.

use crate::error::{Error, ErrorKind};
use crate::metadata::edit::Draft;
use crate::transform::data_type::DataType;
use crate::transform::scalar::Scalar;

use super::encoding::EncodeVerdict;
use super::evidence::Use;
use super::verdict::DecodeVerdict;

/// What is to be done with an array.
#[derive(Debug)]
pub enum Planned {
    /// It has no legacy codec.
    Nothing,
    /// Its document changes.
    Change(Box<ArrayPlan>),
    /// It has a legacy codec that cannot be replaced.
    Impossible(Vec<Reason>),
}

/// Why an array cannot be migrated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reason {
    /// The member that is at fault: a JSON pointer into the document.
    pub pointer: Option<String>,
    /// What was found, and what was expected.
    pub message: String,
    /// What to do.
    pub hint: Option<String>,
}

/// How the document of an array changes, and what that means.
#[derive(Debug)]
pub struct ArrayPlan {
    /// The new document: the old text, edited where it changes.
    pub text: String,
    /// The members that change.
    pub changes: Vec<Change>,
    /// The runs of codecs that change, outermost first.
    pub sites: Vec<SitePlan>,
    /// What becomes of the fill.
    pub fill: FillPlan,
    /// Whether what is stored decodes to the same values.
    pub decode: DecodeVerdict,
    /// Whether what is written from now on is stored as the same codes: that of the first site where it is not.
    pub encode: EncodeVerdict,
    /// What is worth knowing besides.
    pub notes: Vec<String>,
}

/// A member of a document that changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// Where it stands: a JSON pointer, the same in both documents.
    pub pointer: String,
    /// Its text before; `None` where it was not there.
    pub old: Option<String>,
    /// Its text after; `None` where it is taken away.
    pub new: Option<String>,
}

/// How close a conversion keeps to the legacy codec.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Form {
    /// The same numbers in the type of the values.
    Plain,
    /// The arithmetic of the legacy codec.
    Exact,
}

impl Form {
    /// The word for it in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Exact => "exact",
        }
    }
}

/// A run of packing codecs with legacy ones in it, and the run that takes its place.
#[derive(Debug, Clone, PartialEq)]
pub struct SitePlan {
    /// Where the list of codecs stands in the old document.
    pub list: String,
    /// The place of the run's first codec in the old list.
    pub first: usize,
    /// The form of the conversion.
    pub form: Form,
    /// The codecs of the run before.
    pub old: Vec<Draft>,
    /// The codecs of the run after.
    pub new: Vec<Draft>,
    /// The type that enters the run.
    pub incoming: DataType,
    /// The type that leaves it.
    pub stored: DataType,
}

/// What becomes of the fill of an array.
#[derive(Debug, Clone, PartialEq)]
pub struct FillPlan {
    /// The fill before; `None` where it was undefined.
    pub old: Option<Scalar>,
    /// The fill after.
    pub new: Scalar,
    /// What was done.
    pub outcome: FillOutcome,
    /// What the outermost run of packing codecs stores the new fill as.
    pub code: Option<Scalar>,
    /// What the whole chain gives back for it, where that is another value.
    pub drift: Option<Scalar>,
    /// The maps that were added for it.
    pub maps: Vec<FillMap>,
}

/// What was done about a fill.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FillOutcome {
    /// The new codecs carry it as it is.
    Survives,
    /// Codes stand for it that nothing uses, or that decode to it anyway.
    Mapped,
    /// It was undefined, and is now what a code decodes to that nothing uses.
    OfUnusedCode,
    /// It is the one that the user gave, since nothing is missing.
    Given,
    /// It is NaN, since a code was declared missing.
    DeclaredMissing,
}

/// A two-way map from a fill to a code that nothing uses, or that decodes to the fill anyway.
#[derive(Debug, Clone, PartialEq)]
pub struct FillMap {
    /// The site, counted from the outermost.
    pub site: usize,
    /// The place of the cast among the new codecs of the site.
    pub codec: usize,
    /// What enters the cast.
    pub key: Scalar,
    /// What leaves it.
    pub value: Scalar,
    /// The code that the site stores.
    pub code: Scalar,
    /// Whether padding holds it; `None` where nobody had to ask, since the map leaves its value as it is.
    pub code_use: Option<Use>,
    /// Whether it is the code that the legacy codec stores for the fill.
    pub is_legacys_own: bool,
    /// What would become of the fill without the map.
    pub otherwise: String,
}

impl Reason {
    pub(super) fn new(pointer: impl Into<Option<String>>, message: impl Into<String>) -> Self {
        Self {
            pointer: pointer.into(),
            message: message.into(),
            hint: None,
        }
    }

    #[must_use]
    pub(super) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// What an error says of the array.
    fn of(error: &Error) -> Self {
        let mut message = error.to_string();
        for cause in error.causes() {
            message = format!("{message}: {cause}");
        }
        for detail in error.details() {
            message = format!("{message}; {detail}");
        }
        Self {
            pointer: None,
            message,
            hint: error.hints().first().cloned(),
        }
    }
}

/// Why planning ended early.
#[derive(Debug)]
pub(super) enum Stop {
    /// The array cannot be migrated.
    Impossible(Vec<Reason>),
    /// Something could not be read, or the run was interrupted.
    Error(Error),
}

impl From<Reason> for Stop {
    fn from(reason: Reason) -> Self {
        Self::Impossible(vec![reason])
    }
}

/// What was read and is refused is a reason; the rest ends the run.
impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        if error.kind() == ErrorKind::Finding {
            Self::from(Reason::of(&error))
        } else {
            Self::Error(error)
        }
    }
}
