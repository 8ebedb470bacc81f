//! The reference vectors, through the definitions of the codecs and through bound chains with their kernels.

#![expect(
    clippy::panic,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a vector that cannot be read fails the test; the counts are the result"
)]

use std::fmt::Write as _;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::ops::ControlFlow;
use std::path::Path;

use flate2::read::GzDecoder;
use serde_json::Value;
use zarrpack::transform::cast_value::cast;
use zarrpack::transform::chain::{BoundChain, Direction, bind};
use zarrpack::transform::data_type::{ByteOrder, DataType};
use zarrpack::transform::literal::Literal;
use zarrpack::transform::parameters::{
    CastValueParameters, Codec, FixedScaleOffsetParameters, ScaleOffsetParameters,
};
use zarrpack::transform::rounding::{OutOfRange, Rounding};
use zarrpack::transform::scalar::Scalar;

/// The comparisons of one file.
#[derive(Default)]
struct Tally {
    compared: usize,
    wrong: usize,
    first: String,
}

impl Tally {
    fn check(&mut self, right: bool, describe: impl FnOnce() -> String) {
        self.compared += 1;
        if !right {
            self.wrong += 1;
            if self.wrong <= 20 {
                let _ = writeln!(self.first, "{}", describe());
            }
        }
    }

    fn finish(self, name: &str, left_out: &str) {
        println!(
            "{name}: {} cases compared, {} wrong{left_out}",
            self.compared, self.wrong
        );
        assert!(self.compared > 0, "{name} holds no case");
        assert!(self.wrong == 0, "{}", self.first);
    }
}

fn records(name: &str) -> impl Iterator<Item = Value> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("testdata/vectors")
        .join(name);
    let lines = BufReader::new(GzDecoder::new(File::open(path).unwrap())).lines();
    lines.map(|line| serde_json::from_str(&line.unwrap()).unwrap())
}

fn data_type(name: &Value) -> DataType {
    DataType::from_name(name.as_str().unwrap()).unwrap()
}

fn literal(value: &Value) -> Literal {
    match value {
        Value::String(text) => Literal::String(text.clone()),
        Value::Number(number) => Literal::Number(number.to_string()),
        other => Literal::Other(other.to_string()),
    }
}

fn scalar(value: &Value, data_type: DataType) -> Scalar {
    Scalar::parse(&literal(value), data_type).unwrap()
}

/// Whether a result is one that the vectors accept.
fn accepts(expected: &Value, got: Option<Scalar>, data_type: DataType) -> bool {
    if let Some(any) = expected.get("any") {
        let mut any = any.as_array().unwrap().iter();
        return any.any(|one| accepts(one, got, data_type));
    }
    if expected.get("error").is_some() {
        return got.is_none();
    }
    if expected.get("note").is_some() {
        // An infinity made from finite numbers, which the specification leaves open: here it is an error.
        return got.is_none();
    }
    let value = expected.get("value").unwrap_or(expected);
    match (got, value.as_str()) {
        (None, _) => false,
        (Some(got), Some("NaN")) => got.is_nan(),
        (Some(got), _) => got == scalar(value, data_type),
    }
}

fn chain(data_type: DataType, codec: Codec) -> BoundChain {
    let binding = bind(data_type, None, &[codec]);
    binding
        .chain
        .unwrap_or_else(|| panic!("{:?}", binding.problems))
}

/// Runs all inputs through the kernels of a chain, repeated so that whole blocks are filled.
fn through_kernels(
    chain: &BoundChain,
    direction: Direction,
    inputs: &[Scalar],
) -> Vec<Option<Scalar>> {
    let pass = chain.pass(direction);
    let (from, to) = (pass.source().size(), pass.target().size());
    let mut source = vec![0; inputs.len() * from];
    for (scalar, bytes) in inputs.iter().zip(source.chunks_mut(from)) {
        scalar.write_ne_bytes(bytes);
    }
    let mut target = vec![0xaa; inputs.len() * to];
    let mut failed = vec![false; inputs.len()];
    let _ = pass.run(&source, &mut target, &mut |fault| {
        failed[fault.index] = true;
        ControlFlow::Continue(())
    });
    let results = target
        .chunks(to)
        .map(|bytes| Scalar::from_ne_bytes(pass.target(), bytes));
    results
        .zip(failed)
        .map(|(x, failed)| (!failed).then_some(x))
        .collect()
}

fn cast_values(name: &str) {
    let mut tally = Tally::default();
    for record in records(name) {
        let (src, dst) = (data_type(&record["src"]), data_type(&record["dst"]));
        let inputs: Vec<_> = record["input"]
            .as_array()
            .unwrap()
            .iter()
            .map(|x| scalar(x, src))
            .collect();
        let outputs = record["output"].as_array().unwrap();
        let pairs: Vec<_> = record["scalar_map"]
            .as_array()
            .into_iter()
            .flatten()
            .collect();
        let pairs: Vec<_> = pairs
            .iter()
            .map(|pair| (literal(&pair[0]), literal(&pair[1])))
            .collect();
        for rounding in record["rounding"].as_array().unwrap() {
            let rounding = Rounding::from_name(rounding.as_str().unwrap()).unwrap();
            for out_of_range in record["out_of_range"].as_array().unwrap() {
                let out_of_range = out_of_range
                    .as_str()
                    .map(|word| OutOfRange::from_name(word).unwrap());
                let parameters = |data_type| CastValueParameters {
                    rounding,
                    out_of_range,
                    ..CastValueParameters::to(data_type)
                };
                let encode = CastValueParameters {
                    encode: pairs.clone(),
                    ..parameters(dst)
                };
                let decode = CastValueParameters {
                    decode: pairs.clone(),
                    ..parameters(src)
                };
                let mut results = vec![through_kernels(
                    &chain(src, Codec::CastValue(encode)),
                    Direction::Encode,
                    &inputs,
                )];
                if out_of_range != Some(OutOfRange::Wrap) || src.is_integer() {
                    let chain = chain(dst, Codec::CastValue(decode));
                    results.push(through_kernels(&chain, Direction::Decode, &inputs));
                }
                for (n, (input, expected)) in inputs.iter().zip(outputs).enumerate() {
                    let direct = cast(*input, dst, rounding, out_of_range).ok();
                    let direct = if pairs.is_empty() {
                        direct
                    } else {
                        results[0][n]
                    };
                    let right = accepts(expected, direct, dst)
                        && results.iter().all(|r| accepts(expected, r[n], dst));
                    tally.check(right, || {
                        let got: Vec<_> = results.iter().map(|r| r[n]).collect();
                        format!("{src} -> {dst} {rounding} {out_of_range:?}: {input} gives {direct:?} {got:?}, not {expected}")
                    });
                }
            }
        }
    }
    tally.finish(name, "");
}

#[test]
fn cast_value_from_integers() {
    cast_values("cast_value.int.jsonl.gz");
}

#[test]
fn cast_value_from_floats() {
    cast_values("cast_value.float.jsonl.gz");
}

#[test]
fn cast_value_with_maps() {
    cast_values("cast_value.scalar_map.jsonl.gz");
}

#[test]
fn scale_offset() {
    let mut tally = Tally::default();
    for record in records("scale_offset.jsonl.gz") {
        let t = data_type(&record["dtype"]);
        let parameter = |name: &str| (!record[name].is_null()).then(|| literal(&record[name]));
        let codec = Codec::ScaleOffset(ScaleOffsetParameters {
            offset: parameter("offset"),
            scale: parameter("scale"),
        });
        let chain = chain(t, codec);
        let direction = direction(&record);
        let inputs: Vec<_> = record["input"]
            .as_array()
            .unwrap()
            .iter()
            .map(|x| scalar(x, t))
            .collect();
        let kernels = through_kernels(&chain, direction, &inputs);
        for ((input, expected), fast) in inputs
            .iter()
            .zip(record["output"].as_array().unwrap())
            .zip(kernels)
        {
            let exact = chain.transform(direction, *input).ok();
            let right = accepts(expected, exact, t) && accepts(expected, fast, t);
            tally.check(right, || {
                format!("{t} {direction:?} offset {} scale {}: {input} gives {exact:?} {fast:?}, not {expected}", record["offset"], record["scale"])
            });
        }
    }
    tally.finish("scale_offset.jsonl.gz", "");
}

fn direction(record: &Value) -> Direction {
    match record["direction"].as_str().unwrap() {
        "encode" => Direction::Encode,
        _ => Direction::Decode,
    }
}

/// Elements from hex bytes in the order that a dtype string states.
fn elements(hex: &Value, (data_type, order): (DataType, ByteOrder)) -> Vec<Scalar> {
    let hex = hex.as_str().unwrap();
    let bytes: Vec<u8> = (0..hex.len() / 2)
        .map(|n| u8::from_str_radix(&hex[2 * n..2 * n + 2], 16).unwrap())
        .collect();
    let elements = bytes.chunks_exact(data_type.size()).map(|bytes| {
        let ordered: Vec<u8> = match order {
            ByteOrder::Big => bytes.to_vec(),
            _ => bytes.iter().rev().copied().collect(),
        };
        Scalar::from_bits(
            data_type,
            ordered
                .iter()
                .fold(0, |bits, byte| bits << 8 | u64::from(*byte)),
        )
    });
    elements.collect()
}

#[test]
fn legacy() {
    let mut tally = Tally::default();
    let (mut platform, mut refused, mut out_of_range) = (0, 0, 0);
    for record in records("fixedscaleoffset.jsonl.gz") {
        let decoded = DataType::from_numpy(record["dtype"].as_str().unwrap()).unwrap();
        let stored = record["astype"]
            .as_str()
            .map_or(decoded, |s| DataType::from_numpy(s).unwrap());
        let codec = Codec::FixedScaleOffset(FixedScaleOffsetParameters {
            scale: literal(&record["scale"]),
            offset: literal(&record["offset"]),
            dtype: Some(decoded.0),
            astype: record["astype"].is_string().then_some(stored.0),
            base: "/configuration",
        });
        let chain = chain(decoded.0, codec);
        let direction = direction(&record);
        let (from, to) = match direction {
            Direction::Encode => (decoded, stored),
            Direction::Decode => (stored, decoded),
        };
        let inputs = elements(&record["input"], from);
        if record.get("error").is_some() {
            // NumPy refuses the parameter whatever the value is.
            refused += inputs.len();
            tally.check(
                inputs
                    .iter()
                    .all(|x| chain.transform(direction, *x).is_err()),
                || record.to_string(),
            );
            continue;
        }
        if record.get("platform_dependent").is_some() {
            platform += inputs.len();
            continue;
        }
        let skipped: Vec<u64> = record["out_of_range_elements"]
            .as_array()
            .into_iter()
            .flatten()
            .map(|n| n.as_u64().unwrap())
            .collect();
        out_of_range += skipped.len();
        let kernels = through_kernels(&chain, direction, &inputs);
        for (n, expected) in elements(&record["output"], to).into_iter().enumerate() {
            if skipped.contains(&(n as u64)) {
                continue;
            }
            let exact = chain.transform(direction, inputs[n]).ok();
            let same = |got: Option<Scalar>| {
                got.is_some_and(|got| got == expected || got.is_nan() && expected.is_nan())
            };
            tally.check(same(exact) && same(kernels[n]), || {
                format!(
                    "{} {direction:?} {} gives {exact:?} {:?}, not {expected}: scale {} offset {}",
                    record["dtype"], inputs[n], kernels[n], record["scale"], record["offset"]
                )
            });
        }
    }
    let left_out = format!(
        "; left out: {platform} platform-dependent elements, {out_of_range} out of range; \
         {refused} elements that NumPy refuses, compared by record"
    );
    tally.finish("fixedscaleoffset.jsonl.gz", &left_out);
}
