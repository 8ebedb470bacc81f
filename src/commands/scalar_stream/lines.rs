//! The lines of a scalar stream: read, transformed block by block, and printed.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read};
use std::ops::ControlFlow;

use super::chain::Chain;
use crate::error::{Error, ExitCode};
use crate::transform::apply::{ElementFault, Pass};
use crate::transform::chain::Direction;
use crate::transform::literal::Literal;
use crate::transform::scalar::Scalar;
use crate::ui::Ui;

/// The longest line: far longer than any scalar, far shorter than what would exhaust a machine.
const LONGEST_LINE: u64 = 64 << 10;

/// The most lines that are transformed together.
const BLOCK: usize = 4096;

/// A stream that is ready to run.
#[derive(Debug)]
pub(super) struct Stream<'a> {
    pub(super) chain: &'a Chain,
    pub(super) pass: &'a Pass,
    pub(super) direction: Direction,
    /// Whether floats are printed as bit patterns.
    pub(super) bits: bool,
    /// Whether to go on after a scalar that fails.
    pub(super) keep_going: bool,
}

/// Lines that were read and not transformed yet. A line that holds no scalar has its message instead.
#[derive(Debug, Default)]
struct Block {
    lines: Vec<Result<Scalar, String>>,
}

/// What became of the lines so far.
#[derive(Debug, Default)]
struct Tally {
    lines: u64,
    /// By the name of the kind.
    failed: BTreeMap<&'static str, u64>,
}

impl Stream<'_> {
    /// Reads scalars from `input` until its end, and prints what the chain makes of them.
    ///
    /// Output is handed on whenever no further line is at hand, so that a program at the other end gets its answers.
    ///
    /// # Errors
    ///
    /// A finding at the first line that fails, unless the stream keeps going; an I/O error where reading or printing fails.
    pub(super) fn run(&self, ui: &mut Ui, input: impl Read) -> Result<ExitCode, Error> {
        let mut input = BufReader::with_capacity(LONGEST_LINE as usize, input);
        let mut tally = Tally::default();
        let mut block = Block::default();
        let mut line = Vec::new();
        loop {
            line.clear();
            let read = input
                .by_ref()
                .take(LONGEST_LINE + 1)
                .read_until(b'\n', &mut line);
            let read = read.map_err(|cause| Error::io("could not read standard input", cause))?;
            if read == 0 {
                break;
            }
            let too_long = read as u64 > LONGEST_LINE && !line.ends_with(b"\n");
            block.lines.push(if too_long {
                Err(format!(
                    "a line longer than {LONGEST_LINE} bytes; expected one JSON scalar"
                ))
            } else {
                self.parse(&line)
            });
            if too_long {
                // Without keeping going this ends the stream here: the rest of the line may never come.
                self.flush(ui, &mut block, &mut tally)?;
                skip_line(&mut input)?;
            }
            let waiting = !input.buffer().contains(&b'\n');
            if waiting || block.lines.len() == BLOCK {
                self.flush(ui, &mut block, &mut tally)?;
            }
            if waiting {
                ui.flush()?;
            }
        }
        self.flush(ui, &mut block, &mut tally)?;
        Ok(tally.finish(ui))
    }

    fn parse(&self, line: &[u8]) -> Result<Scalar, String> {
        let data_type = self.pass.source();
        let text = std::str::from_utf8(line).map_err(|_| "not valid UTF-8".to_owned())?;
        // What JSON takes for white space around a value.
        let text = text.trim_matches([' ', '\t', '\r', '\n']);
        let literal = match text.as_bytes().first() {
            None => {
                return Err(format!(
                    "an empty line; expected {}",
                    data_type.literal_forms()
                ));
            }
            Some(b'"') => match serde_json::from_str(text) {
                Ok(content) => Literal::String(content),
                Err(_) => return Err(format!("{} is no JSON string", shorten(text))),
            },
            Some(b'-' | b'0'..=b'9') => Literal::Number(text.to_owned()),
            Some(_) => Literal::Other(shorten(text)),
        };
        if let "NaN" | "Infinity" | "-Infinity" = text {
            return Err(format!("a bare {text} is no JSON; expected \"{text}\""));
        }
        Scalar::parse(&literal, data_type)
            .map_err(|error| format!("{error}; expected {}", data_type.literal_forms()))
    }

    /// Transforms and prints the lines of a block, and empties it.
    fn flush(&self, ui: &mut Ui, block: &mut Block, tally: &mut Tally) -> Result<(), Error> {
        let (source, target) = (self.pass.source(), self.pass.target());
        let scalars: Vec<Scalar> = block
            .lines
            .iter()
            .filter_map(|line| line.as_ref().ok().copied())
            .collect();
        let mut from = vec![0; scalars.len() * source.size()];
        for (scalar, bytes) in scalars.iter().zip(from.chunks_exact_mut(source.size())) {
            scalar.write_ne_bytes(bytes);
        }
        let mut to = vec![0; scalars.len() * target.size()];
        let mut faults = Vec::new();
        let _ = self.pass.run(&from, &mut to, &mut |fault| {
            faults.push(fault);
            if self.keep_going {
                ControlFlow::Continue(())
            } else {
                ControlFlow::Break(())
            }
        });
        let mut faults = faults.into_iter().peekable();
        let mut results = to.chunks_exact(target.size()).enumerate();
        for line in block.lines.drain(..) {
            tally.lines += 1;
            let scalar = match line {
                Err(message) => Err(("unreadable", message)),
                Ok(_) => match results.next() {
                    Some((n, bytes)) => match faults.next_if(|fault| fault.index == n) {
                        Some(fault) => Err((fault.fault.kind.name(), self.describe(&fault))),
                        None => Ok(Scalar::from_ne_bytes(target, bytes)),
                    },
                    None => break,
                },
            };
            match scalar {
                Ok(scalar) if self.bits => ui.print(scalar.to_bits_json() + "\n")?,
                Ok(scalar) => ui.print(scalar.to_json() + "\n")?,
                Err((kind, message)) if self.keep_going => {
                    *tally.failed.entry(kind).or_default() += 1;
                    let object = serde_json::json!({ "error": message });
                    ui.print(format!("{object}\n"))?;
                }
                Err((_, message)) => {
                    let error = Error::finding(format!("line {}: {message}", tally.lines));
                    return Err(error.hint("--keep-going goes on after a scalar that fails"));
                }
            }
        }
        Ok(())
    }

    /// A fault with the values that would fit.
    fn describe(&self, element: &ElementFault) -> String {
        let ElementFault {
            value,
            codec,
            fault,
            ..
        } = element;
        let verb = match self.direction {
            Direction::Encode => "encoded",
            Direction::Decode => "decoded",
        };
        let place = self.chain.describe(*codec);
        let fits = match (self.direction, self.chain.bound.fitting_range()) {
            (Direction::Encode, Some((low, high))) => {
                format!("; values from {low} to {high} fit")
            }
            _ => String::new(),
        };
        format!("{value} cannot be {verb}: {place}: {fault}{fits}")
    }
}

impl Tally {
    fn finish(self, ui: &mut Ui) -> ExitCode {
        let failed: u64 = self.failed.values().sum();
        if failed == 0 {
            return ExitCode::Done;
        }
        let kinds: Vec<_> = self
            .failed
            .iter()
            .map(|(kind, n)| format!("{n} {kind}"))
            .collect();
        let scalars = if self.lines == 1 { "scalar" } else { "scalars" };
        ui.warning(format!(
            "{failed} of {} {scalars} failed: {}",
            self.lines,
            kinds.join(", ")
        ));
        ExitCode::Findings
    }
}

/// Reads up to the end of a line without keeping it.
fn skip_line(input: &mut impl BufRead) -> Result<(), Error> {
    let failed = |cause| Error::io("could not read standard input", cause);
    loop {
        let bytes = input.fill_buf().map_err(failed)?;
        let end = bytes.iter().position(|byte| *byte == b'\n');
        let length = end.map_or(bytes.len(), |end| end + 1);
        input.consume(length);
        if end.is_some() || length == 0 {
            return Ok(());
        }
    }
}

/// A text for a message, cut where it is long.
fn shorten(text: &str) -> String {
    const LONGEST: usize = 200;
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}
