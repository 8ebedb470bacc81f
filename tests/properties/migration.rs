//! Migrations of random arrays: the plan binds, carries the fill, and says of every code what the definitions say.

use proptest::prelude::*;
use proptest::test_runner::TestCaseResult;

use zarrpack::codecs::ArrayDocument;
use zarrpack::codecs::model::Model;
use zarrpack::error::Error;
use zarrpack::metadata::json::{Limits, NonFinite, parse};
use zarrpack::metadata::{Node, Problems, v3};
use zarrpack::migration::evidence::{
    Compared, Evidence, Presence, Question, Scan, Site, Use, UsedCodes,
};
use zarrpack::migration::options::{Options, Verify};
use zarrpack::migration::outcome::{ArrayPlan, FillOutcome, Form, Planned};
use zarrpack::migration::verdict::{DecodeKind, Proof};
use zarrpack::migration::{Proving, plan, prove};
use zarrpack::transform::chain::{BoundChain, Direction};
use zarrpack::transform::data_type::DataType;
use zarrpack::transform::equivalence::CodeSet;
use zarrpack::transform::scalar::Scalar;

use super::check;
use super::inputs::{self, Dice};

const TYPES: [DataType; 11] = [
    DataType::Int8,
    DataType::UInt8,
    DataType::Int16,
    DataType::UInt16,
    DataType::Int32,
    DataType::UInt32,
    DataType::Int64,
    DataType::UInt64,
    DataType::Float16,
    DataType::Float32,
    DataType::Float64,
];

/// An array with what is stored in it.
#[derive(Debug)]
struct Case {
    text: String,
    stored: DataType,
    inside: Vec<Scalar>,
    padding: Vec<Scalar>,
    options: Options,
}

impl Case {
    fn roll(seed: u64) -> Self {
        let mut dice = Dice::new(seed);
        let decoded = dice.pick(&TYPES);
        let stored = dice.pick(&TYPES);
        let integer = decoded.is_integer() && !dice.one_in(4);
        let scale = if integer {
            dice.pick(&["1", "1.0", "2", "-1", "10"])
        } else {
            dice.pick(&["10", "0.1", "100", "0.25", "-3", "1e4", "1e-6"])
        };
        let offset = if integer {
            dice.pick(&["0", "5", "1e1", "100"])
        } else {
            dice.pick(&["0", "273.15", "-0.1", "1000", "10", "1e10"])
        };
        let fill = match dice.below(5) {
            0 => "0".to_owned(),
            1 if decoded.is_float() => "\"NaN\"".to_owned(),
            2 if decoded.is_float() => offset.to_owned(),
            3 => inputs::ordinary(decoded, &mut dice).to_json(),
            _ => inputs::scalar(decoded, &mut dice).to_json(),
        };
        let (dtype, astype) = (decoded.name(), stored.name());
        let text = format!(
            r#"{{"zarr_format": 3, "node_type": "array", "shape": [4], "data_type": "{dtype}", "chunk_grid": {{"name": "regular", "configuration": {{"chunk_shape": [4]}}}}, "chunk_key_encoding": {{"name": "default"}}, "fill_value": {fill}, "codecs": [{{"name": "numcodecs.fixedscaleoffset", "configuration": {{"scale": {scale}, "offset": {offset}, "dtype": "{dtype}", "astype": "{astype}"}}}}, {{"name": "bytes", "configuration": {{"endian": "little"}}}}]}}"#
        );
        let count = dice.pick(&[0, 1, 5, 300]);
        let whole = dice.pick(&[true, false]);
        let mut code = || {
            let code = inputs::scalar(stored, &mut dice);
            if whole && !code.is_nan() {
                // What a scale divides is more often to be read by all.
                let whole = inputs::nearest(stored, (code.to_f64() / 1e4).trunc() * 10.0);
                return whole.unwrap_or(code);
            }
            code
        };
        let inside: Vec<_> = (0..count).map(|_| code()).collect();
        let padding: Vec<_> = (0..count / 5).map(|_| code()).collect();
        let options = Options {
            exact: dice.one_in(2),
            require_identical: dice.one_in(4),
            verify: dice.pick(&[Verify::Data, Verify::Data, Verify::None]),
            ..Options::default()
        };
        Self {
            text,
            stored,
            inside,
            padding,
            options,
        }
    }

    fn uses(&self, code: Scalar) -> bool {
        self.inside.contains(&code)
    }
}

fn bytes(codes: &[Scalar]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for code in codes {
        let at = bytes.len();
        bytes.resize(at + code.data_type().size(), 0);
        code.write_ne_bytes(&mut bytes[at..]);
    }
    bytes
}

impl Evidence for Case {
    fn scan(&self, _: &Site, question: &Question<'_>) -> Result<Scan, Error> {
        let set = |codes: &[Scalar]| {
            let mut set = CodeSet::new(self.stored).ok()?;
            codes.iter().for_each(|code| set.insert(*code));
            Some(set)
        };
        let used = set(&self.inside).zip(set(&self.padding));
        let watched = question.watch.iter().map(|code| {
            if self.inside.contains(code) {
                Use::Used
            } else if self.padding.contains(code) {
                Use::PaddingOnly
            } else {
                Use::Unused
            }
        });
        let compared = question.comparisons.iter().map(|comparison| Compared {
            inside: comparison.stream(&bytes(&self.inside)).unwrap(),
            padding: comparison.stream(&bytes(&self.padding)).unwrap(),
        });
        Ok(Scan {
            used: used.map(|(inside, padding)| UsedCodes { inside, padding }),
            watched: watched.collect(),
            range: None,
            compared: compared.collect(),
            presence: Presence::default(),
        })
    }

    fn presence(&self) -> Result<Presence, Error> {
        Ok(Presence::default())
    }
}

/// Does something with the only run of packing codecs in a document.
fn with_chain<R>(text: &str, use_chain: impl FnOnce(&BoundChain, bool) -> R) -> R {
    let parsed = parse(text.as_bytes(), &Limits::default(), NonFinite::Refuse).unwrap();
    let document = v3::read(&Node::root(&parsed.root), &mut Problems::default());
    let v3::Document::Array(array) = document else {
        panic!("{text}");
    };
    let model = Model::new(ArrayDocument::V3(&array.complete().unwrap())).unwrap();
    let packing = model.packing().next().unwrap();
    let chain = packing.binding.chain.as_ref().unwrap();
    use_chain(chain, packing.binding.problems.is_empty())
}

/// What both chains make of codes: how many differ, how many the new chain does not decode.
fn count(old: &BoundChain, new: &BoundChain, codes: impl Iterator<Item = Scalar>) -> (u64, u64) {
    let (mut differing, mut unreadable) = (0, 0);
    for code in codes {
        let [before, after] = [old, new].map(|chain| chain.transform(Direction::Decode, code).ok());
        match (before, after) {
            (_, None) => unreadable += 1,
            (Some(before), Some(after)) => {
                let same = before == after || before.is_nan() && after.is_nan();
                differing += u64::from(!same);
            }
            (None, Some(_)) => {}
        }
    }
    (differing, unreadable)
}

fn distinct(codes: &[Scalar]) -> Vec<Scalar> {
    let mut distinct: Vec<Scalar> = Vec::new();
    for code in codes {
        if !distinct.contains(code) {
            distinct.push(*code);
        }
    }
    distinct
}

fn holds(case: &Case, plan: &ArrayPlan, old: &BoundChain, new: &BoundChain) -> TestCaseResult {
    let codecs = new.codecs().len();
    let trace = new.fill().unwrap();
    prop_assert!(trace.stored(codecs).is_some());
    if !plan.fill.maps.is_empty() {
        prop_assert!(!trace.drifts(codecs));
        prop_assert_eq!(plan.fill.outcome, FillOutcome::Mapped);
    }
    for map in &plan.fill.maps {
        let value = new.transform(Direction::Decode, map.code).unwrap();
        prop_assert!(value.equals(plan.fill.new), "{map:?}");
        let before = old.transform(Direction::Decode, map.code);
        let as_before = before.is_ok_and(|before| before == value);
        prop_assert!(!case.uses(map.code) || as_before, "{map:?}");
    }
    let verdict = &plan.decode;
    let found = (
        verdict.differences.differing,
        verdict.differences.become_unreadable + verdict.differences.unreadable_in_both,
    );
    let counted = match verdict.proof {
        Some(Proof::AllCodes) => {
            let all = 0..1_u64 << case.stored.bits();
            let all = all.map(|bits| Scalar::from_bits(case.stored, bits));
            count(old, new, all)
        }
        Some(Proof::UsedCodes) => count(old, new, distinct(&case.inside).into_iter()),
        Some(Proof::Data) => count(old, new, case.inside.iter().copied()),
        None => return Ok(()),
    };
    prop_assert_eq!(found, counted);
    prop_assert_eq!(
        verdict.kind == DecodeKind::Identical,
        counted == (0, 0) && verdict.differences.become_readable == 0
    );
    // Nothing that is stored is lost, and nothing changes in the exact form.
    let all = case.inside.iter().chain(&case.padding).copied();
    let (_, unreadable) = count(old, new, all);
    prop_assert_eq!(unreadable, 0);
    // Padding may decode to other values: nobody reads them.
    let (differing, _) = count(old, new, case.inside.iter().copied());
    if plan.sites[0].form == Form::Exact {
        prop_assert_eq!(differing, 0);
        if case.stored.bits() <= 16 && case.stored.is_integer() {
            // All codes that have a value, but those that a map was added for.
            let all = (0..1_u64 << case.stored.bits())
                .map(|bits| Scalar::from_bits(case.stored, bits))
                .filter(|code| plan.fill.maps.iter().all(|map| map.code != *code))
                .filter(|code| old.transform(Direction::Decode, *code).is_ok());
            prop_assert_eq!(count(old, new, all), (0, 0));
        }
    }
    prop_assert!(differing == 0 || verdict.kind == DecodeKind::Differs);
    Ok(())
}

#[test]
fn plans_bind_and_carry_the_fill_and_count_as_the_definitions_do() {
    check(400, &any::<u64>(), |seed| {
        let case = Case::roll(seed);
        let plan = match plan(&case.text, true, &case.options, &case) {
            Ok(Planned::Change(plan)) => plan,
            Ok(Planned::Impossible(reasons)) => {
                prop_assert!(!reasons.is_empty());
                return Ok(());
            }
            other => panic!("{other:?}"),
        };
        let outcome = with_chain(&case.text, |old, _| {
            with_chain(&plan.text, |new, is_sound| {
                prop_assert!(is_sound, "{}", plan.text);
                holds(&case, &plan, old, new)
            })
        });
        outcome?;
        let proving = Proving {
            fill_is_defined: true,
            verify: case.options.verify,
            used_codes: plan.decode.all_codes.is_some(),
        };
        let proven = prove(&case.text, &plan.text, proving, &case).unwrap();
        prop_assert_eq!(proven.kind, plan.decode.kind);
        prop_assert_eq!(proven.differences, plan.decode.differences);
        Ok(())
    });
}
