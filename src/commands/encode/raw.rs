//! Bytes on standard input: what they are, and a file of them that can be read at any place.

use std::io;

use clap::{Args, ValueEnum};

use super::chunks::LengthsArg;
use super::flat::{Flat, FlatForm};
use crate::error::Error;
use crate::interrupt::Interrupt;
use crate::npy::ByteOrder;
use crate::standard_input::{StandardInput, regular_file};
use crate::store::Staging;

/// The flags that say what bytes on standard input are.
#[derive(Debug, Clone, Args)]
pub struct RawArgs {
    /// Shape of the array whose bytes come on standard input, such as 24,721,1440
    #[arg(long, value_name = "LENGTHS")]
    pub shape: Option<LengthsArg>,

    /// Order of the bytes of an element on standard input [default: that of this machine]
    #[arg(long, value_name = "ORDER", value_enum)]
    pub byte_order: Option<ByteOrderArg>,
}

/// The order of the bytes of an element.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ByteOrderArg {
    /// Least significant first
    Little,
    /// Most significant first
    Big,
}

impl RawArgs {
    pub(super) const fn is_given(&self) -> bool {
        self.shape.is_some() || self.byte_order.is_some()
    }

    pub(super) fn byte_order(&self) -> ByteOrder {
        match self.byte_order {
            None => ByteOrder::NATIVE,
            Some(ByteOrderArg::Little) => ByteOrder::Little,
            Some(ByteOrderArg::Big) => ByteOrder::Big,
        }
    }
}

/// Makes standard input a file that can be read at any place.
///
/// One that is a file already is read where it is. Anything else is written to a file in the workspace of the output, which goes
/// when the run ends, however it does: values are needed again to look for an unused code.
///
/// # Errors
///
/// Where it cannot be read, or does not hold as many bytes as the shape needs.
pub(super) fn standard_input(
    form: FlatForm,
    staging: &Staging,
    interrupt: &Interrupt,
) -> Result<Flat, Error> {
    let due = form.data_bytes()?;
    let failed = StandardInput::failed;
    if let Some((file, start)) = regular_file().map_err(failed)? {
        let length = file.metadata().map_err(failed)?.len().saturating_sub(start);
        check_length(length, due, &form)?;
        return Ok(Flat::new(file, start, form));
    }
    let mut scratch = staging.scratch()?;
    let mut buffer = vec![0; 1 << 20];
    let mut length = 0_u64;
    let mut input = StandardInput::open(interrupt).map_err(failed)?;
    loop {
        let read = match io::Read::read(&mut input, &mut buffer) {
            Ok(0) => break,
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(failed(error)),
        };
        length += read as u64;
        if length > due {
            let found = format!("more than the {due} bytes that are due");
            return Err(wrong_length(&found, &form));
        }
        let written = io::Write::write_all(&mut scratch, &buffer[..read]);
        written.map_err(|error| Error::io("could not keep standard input on disk", error))?;
    }
    check_length(length, due, &form)?;
    Ok(Flat::new(scratch, 0, form))
}

fn check_length(found: u64, due: u64, form: &FlatForm) -> Result<(), Error> {
    if found == due {
        return Ok(());
    }
    let only = if found < due { "only " } else { "" };
    let found = format!("{only}{found} bytes where {due} are due");
    Err(wrong_length(&found, form))
}

fn wrong_length(found: &str, form: &FlatForm) -> Error {
    let (shape, size) = (&form.shape, form.size);
    Error::finding(format!(
        "standard input has {found}: {shape:?} elements of {size} bytes"
    ))
    .hint("--shape and --dtype must be those of the bytes; headers must be taken off")
}
