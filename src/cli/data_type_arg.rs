//! The value of a flag that takes a data type: by its name in Zarr v3, which completions offer.

use std::ffi::OsStr;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::error::ErrorKind;
use clap::{Arg, Command, Error};

use crate::transform::data_type::DataType;

/// Parses the name of a data type. Spellings of NumPy are refused with the right name.
#[derive(Clone, Copy, Debug)]
pub struct DataTypeParser;

impl TypedValueParser for DataTypeParser {
    type Value = DataType;

    fn parse_ref(
        &self,
        cmd: &Command,
        arg: Option<&Arg>,
        value: &OsStr,
    ) -> Result<DataType, Error> {
        let meant = value.to_str().and_then(DataType::from_numpy);
        if let Some((meant, _)) = meant
            && value != meant.name()
        {
            let message = format!("invalid data type {value:?}: Zarr v3 spells it {meant}");
            return Err(cmd.clone().error(ErrorKind::InvalidValue, message));
        }
        let names = PossibleValuesParser::new(DataType::ALL.map(DataType::name));
        let name = names.parse_ref(cmd, arg, value)?;
        DataType::from_name(&name).ok_or_else(|| {
            cmd.clone().error(
                ErrorKind::InvalidValue,
                format!("invalid data type {name:?}"),
            )
        })
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let names = DataType::ALL.into_iter().map(DataType::name);
        Some(Box::new(names.map(PossibleValue::new)))
    }
}
