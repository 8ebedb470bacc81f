//! What `suggest-params` printed: a chain for each array, or one for all.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use super::chain::object_forms;
use crate::catalog::named;
use crate::error::Error;
use crate::metadata::json::{Kind, Limits, NonFinite, Value, parse};
use crate::transform::data_type::DataType;
use crate::transform::literal::Literal;

/// The form that is read.
const SCHEMA: &str = "zarrpack.suggest-params/1";

/// The longest plan that is read.
const MOST_BYTES: u64 = 64 << 20;

/// Chains for arrays.
#[derive(Debug)]
pub(super) struct Plan {
    /// Where it came from, for messages.
    pub(super) origin: String,
    entries: Vec<Entry>,
}

/// The chain for an array, or for every array.
#[derive(Debug)]
pub(super) struct Entry {
    /// The array; `None` for every one that is packed.
    pub(super) path: Option<String>,
    pub(super) data_type: DataType,
    pub(super) codecs: Vec<crate::metadata::edit::Draft>,
    /// The fill value that the chain needs, if it is another than that of the array.
    pub(super) fill: Option<Literal>,
}

impl Plan {
    /// A plan that was made just now.
    pub(super) const fn of(origin: String, entries: Vec<Entry>) -> Self {
        Self { origin, entries }
    }

    /// Reads a plan from a file, or from standard input for `-`.
    pub(super) fn read(path: &Path) -> Result<Self, Error> {
        let standard = path.as_os_str() == "-";
        let origin = match standard {
            true => "the plan on standard input".to_owned(),
            false => format!("the plan {path:?}"),
        };
        let failed = |error| Error::io(format!("could not read {origin}"), error);
        let mut bytes = Vec::new();
        let source: Box<dyn Read> = match standard {
            true => Box::new(io::stdin()),
            false => Box::new(File::open(path).map_err(failed)?),
        };
        let read = source.take(MOST_BYTES + 1).read_to_end(&mut bytes);
        read.map_err(failed)?;
        Self::parse(&bytes, origin)
    }

    fn parse(bytes: &[u8], origin: String) -> Result<Self, Error> {
        let parsed = parse(bytes, &Limits::default(), NonFinite::Refuse);
        let parsed =
            parsed.map_err(|cause| Error::usage(format!("{origin} is not JSON")).because(cause))?;
        let refused = |message: String| Error::usage(format!("{origin}: {message}"));
        match parsed.root.get("schema").and_then(Value::as_str) {
            Some(SCHEMA) => {}
            other => {
                let found = other.map_or("no schema".to_owned(), |text| format!("{text:?}"));
                return Err(
                    refused(format!("expected the schema {SCHEMA:?}, found {found}"))
                        .hint("make it again with suggest-params of this version"),
                );
            }
        }
        let arrays = parsed.root.get("arrays").and_then(Value::as_array);
        let arrays = arrays.ok_or_else(|| refused("no list of \"arrays\"".to_owned()))?;
        let mut entries: Vec<Entry> = Vec::new();
        for (n, array) in arrays.iter().enumerate() {
            let entry =
                Entry::read(array).map_err(|message| refused(format!("/arrays/{n}{message}")))?;
            if entries.iter().any(|other| other.path == entry.path) {
                return Err(refused(format!(
                    "/arrays/{n}: a second chain for the same array"
                )));
            }
            entries.push(entry);
        }
        if entries.is_empty() {
            return Err(refused("it has no arrays".to_owned()));
        }
        Ok(Self { origin, entries })
    }

    /// The chain for an array.
    pub(super) fn for_array(&self, path: &str, data_type: DataType) -> Result<&Entry, Error> {
        let of = |wanted: Option<&str>| {
            let mut entries = self.entries.iter();
            entries.find(|entry| entry.path.as_deref() == wanted)
        };
        let origin = &self.origin;
        let entry = of(Some(path)).or_else(|| of(None)).ok_or_else(|| {
            Error::usage(format!("{origin} has no chain for {}", named(path)))
                .hint("leave the array out with --array, or make a plan with it")
        })?;
        if entry.data_type != data_type {
            return Err(Error::usage(format!(
                "{origin} was made for {} as {}, and it holds {data_type}",
                named(path),
                entry.data_type
            ))
            .hint("make it again with suggest-params from this INPUT"));
        }
        Ok(entry)
    }

    /// Whether the plan, which names its arrays, leaves this one out.
    pub(super) fn leaves_out(&self, path: &str) -> bool {
        let mut entries = self.entries.iter();
        !entries.any(|entry| entry.path.as_deref().is_none_or(|named| named == path))
    }

    /// Refuses a plan for arrays that are not packed.
    pub(super) fn require_all_used(&self, packed: &[&str]) -> Result<(), Error> {
        for path in self
            .entries
            .iter()
            .filter_map(|entry| entry.path.as_deref())
        {
            if !packed.contains(&path) {
                let message = format!(
                    "{} names {}, which is no array that is packed",
                    self.origin,
                    named(path)
                );
                return Err(Error::usage(message).hint(
                    "INPUT must be what the plan was made from, and --array must not leave it out",
                ));
            }
        }
        Ok(())
    }
}

impl Entry {
    fn read(array: &Value) -> Result<Self, String> {
        let path = match array.get("path").map(|value| &value.kind) {
            None | Some(Kind::Null) => None,
            Some(Kind::String(path)) => Some(path.clone()),
            Some(_) => return Err("/path: expected a string or null".to_owned()),
        };
        let data_type = array.get("dtype").and_then(Value::as_str);
        let data_type = data_type
            .and_then(DataType::from_name)
            .ok_or("/dtype: expected the name of a type of real numbers")?;
        let codecs = array
            .get("codecs")
            .filter(|codecs| codecs.as_array().is_some());
        let codecs = codecs.ok_or("/codecs: expected a list")?;
        let fill = match array.get("fill_value").map(|value| &value.kind) {
            None | Some(Kind::Null) => None,
            Some(Kind::Number(token)) => Some(Literal::Number(token.clone())),
            Some(Kind::String(text)) => Some(Literal::String(text.clone())),
            Some(_) => return Err("/fill_value: expected a number, a string or null".to_owned()),
        };
        Ok(Self {
            path,
            data_type,
            codecs: object_forms(codecs),
            fill,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(text: &str) -> Result<Plan, Error> {
        Plan::parse(text.as_bytes(), "the plan".to_owned())
    }

    fn with(arrays: &str) -> String {
        format!(r#"{{"schema":"{SCHEMA}","arrays":{arrays}}}"#)
    }

    #[test]
    fn a_chain_for_one_array_goes_before_one_for_all() {
        let text = with(
            r#"[{"path":null,"dtype":"float32","codecs":[]},
                {"path":"a/b","dtype":"float64","codecs":["scale_offset"],"fill_value":"NaN","more":1}]"#,
        );
        let plan = plan(&text).unwrap();
        assert_eq!(plan.for_array("c", DataType::Float32).unwrap().path, None);
        let entry = plan.for_array("a/b", DataType::Float64).unwrap();
        assert_eq!(entry.fill, Some(Literal::String("NaN".to_owned())));
        assert_eq!(entry.codecs.len(), 1);
        assert!(!plan.leaves_out("c"));
        assert!(plan.for_array("c", DataType::Float64).is_err());
        assert!(plan.require_all_used(&["c"]).is_err());
        assert!(plan.require_all_used(&["c", "a/b"]).is_ok());
    }

    #[test]
    fn plans_of_another_form_are_refused() {
        for (text, said) in [
            ("[", "not JSON"),
            ("{}", "no schema"),
            (
                r#"{"schema":"zarrpack.suggest-params/2","arrays":[]}"#,
                "/2",
            ),
            (&with("{}"), "no list"),
            (&with("[]"), "no arrays"),
            (&with(r#"[{"dtype":"<f4","codecs":[]}]"#), "/arrays/0/dtype"),
            (&with(r#"[{"dtype":"int8"}]"#), "/arrays/0/codecs"),
            (
                &with(r#"[{"path":1,"dtype":"int8","codecs":[]}]"#),
                "/arrays/0/path",
            ),
            (
                &with(r#"[{"dtype":"int8","codecs":[]},{"dtype":"int8","codecs":[]}]"#),
                "second chain",
            ),
        ] {
            let error = plan(text).unwrap_err().to_string();
            assert!(error.contains(said), "{text}: {error}");
        }
    }
}
