//! A code that the user declares missing: the map that makes NaN of it, and what else changes with it.

use crate::metadata::json::Value;
use crate::metadata::v3;
use crate::transform::chain::{Direction, bind};
use crate::transform::data_type::DataType;
use crate::transform::literal::Literal;
use crate::transform::parameters::Codec;
use crate::transform::scalar::Scalar;

use super::candidates::{Rewritten, literal_of};
use super::document::{Place, Run};
use super::fill::stands_alone;
use super::outcome::{Reason, Stop};

/// The attributes that say which value means missing.
const ATTRIBUTES: [&str; 2] = ["_FillValue", "missing_value"];

/// A code that means missing.
pub(super) struct Declaration {
    text: String,
}

impl Declaration {
    /// Judges whether a code of an array can be declared missing.
    ///
    /// # Errors
    ///
    /// The reason why not.
    pub(super) fn new(
        text: &str,
        array: &v3::Array<'_>,
        places: &[Place<'_>],
    ) -> Result<Self, Stop> {
        let name = array.data_type.name;
        if !DataType::from_name(name).is_some_and(DataType::has_nan) {
            let message = format!(
                "--missing makes NaN of a code, which the type {name} does not have; expected a type of floats"
            );
            return Err(Reason::new("/data_type".to_owned(), message)
                .hint("leave this array out with --array, or do without --missing")
                .into());
        }
        let legacy = |place: &Place<'_>| matches!(place, Place::Run(run) if run.is_legacy());
        let sites = places.iter().filter(|place| legacy(place)).count();
        let before = places.iter().take_while(|place| !legacy(place));
        let keeps = |place: &Place<'_>| match place {
            Place::Run(_) => false,
            Place::Other { keeps, .. } => *keeps,
            Place::Shard => true,
        };
        if sites != 1 || !before.into_iter().all(keeps) {
            let message = "--missing needs one legacy codec that the array's own values reach; here other codecs that compute \
                           stand around it";
            return Err(Reason::new(array.codecs.node.pointer.to_string(), message).into());
        }
        Ok(Self {
            text: text.to_owned(),
        })
    }

    /// The run with the map on its last cast. Where other codecs come after that, its other side is what they decode the code to.
    pub(super) fn mapped(&self, run: &Run<'_>, rewritten: &Rewritten) -> Result<Rewritten, Reason> {
        let place = |message: String| Reason::new(run.pointer(0), message);
        let (Some(cast), Some(stored)) = (rewritten.last_cast(), run.packing.outgoing.data_type)
        else {
            let message = "--missing needs a cast to put the map on, and this conversion has none";
            return Err(place(message.to_owned()));
        };
        let code = self
            .code(stored)
            .map_err(|message| Reason::new(None, message))?;
        let tail = match rewritten.codecs.get(cast) {
            Some(Codec::CastValue(parameters)) => {
                let codecs = rewritten.codecs.get(cast + 1..).unwrap_or_default();
                bind(parameters.data_type, None, codecs).chain
            }
            _ => None,
        };
        let value = tail.as_ref().and_then(|tail| {
            let value = tail.transform(Direction::Decode, code).ok()?;
            stands_alone(tail, code, value, None).then_some(value)
        });
        let Some(value) = value else {
            let message = format!(
                "the code {code} of --missing decodes to no value of its own, which could be told from that of other codes"
            );
            return Err(place(message));
        };
        let mut mapped = rewritten.clone();
        if let Some(Codec::CastValue(parameters)) = mapped.codecs.get_mut(cast) {
            let (nan, value) = (Literal::String("NaN".to_owned()), literal_of(value));
            parameters.encode.push((nan.clone(), value.clone()));
            parameters.decode.push((value, nan));
        }
        Ok(mapped)
    }

    /// The code, in the stored type.
    pub(super) fn code(&self, stored: DataType) -> Result<Scalar, String> {
        let number = Literal::Number(self.text.clone());
        let string = Literal::String(self.text.trim_matches('"').to_owned());
        let code = Scalar::parse(&number, stored).or_else(|error| {
            // Hexadecimal digits are a string in documents.
            Scalar::parse(&string, stored).map_err(|_| error)
        });
        match code {
            Ok(code) if code.is_nan() => Err(
                "--missing takes a code that is a number; NaN means missing as it is".to_owned(),
            ),
            Ok(code) => Ok(code),
            Err(error) => Err(format!(
                "the code of --missing must be {}, as the array stores: {error}",
                stored.literal_forms()
            )),
        }
    }
}

/// The attributes that the map makes pointless: those that name the code, or what it decoded to, and `_FillValue` whatever it
/// names, since masks go by it alone. Others stay, as they may name another value.
pub(super) fn dropped<'v>(
    array: &v3::Array<'v>,
    code: Scalar,
    value: Option<Scalar>,
) -> Vec<(&'static str, &'v Value)> {
    let attributes = array.optional.attributes.as_ref();
    let names = ATTRIBUTES.into_iter().filter_map(|name| {
        let attribute = attributes?.value.get(name)?;
        let double = attribute.as_number().and_then(|token| {
            Scalar::parse(&Literal::Number(token.to_owned()), DataType::Float64).ok()
        });
        let means =
            |scalar: Scalar| double.is_some_and(|double| double.to_f64() == scalar.to_f64());
        let is_meant = name == "_FillValue" || means(code) || value.is_some_and(means);
        is_meant.then_some((name, attribute))
    });
    names.collect()
}

/// The attributes that stay although they say that a value is missing.
pub(super) fn kept(array: &v3::Array<'_>, dropped: &[(&str, &Value)]) -> Vec<&'static str> {
    let attributes = array.optional.attributes.as_ref();
    let stays = |name: &&'static str| {
        let stated = attributes.is_some_and(|node| node.value.get(name).is_some());
        stated && !dropped.iter().any(|(dropped, _)| dropped == name)
    };
    ATTRIBUTES.into_iter().filter(stays).collect()
}
