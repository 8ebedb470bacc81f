//! One direction of a `scalar_map`: pairs of input and output, looked up by value.

use std::collections::HashMap;

use super::scalar::Scalar;

/// Entries up to which looking at each is quicker than an index.
const FEW: usize = 8;

/// Pairs of input and output. Inputs match numerically: any NaN matches any NaN, 0.0 matches -0.0, and the first of equal
/// inputs wins.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ScalarMap {
    entries: Vec<(Scalar, Scalar)>,
    /// The first entry of every input, where there are more than a few.
    index: HashMap<Scalar, usize>,
}

impl ScalarMap {
    /// A map of these entries, whose inputs are of one type.
    #[must_use]
    pub fn new(entries: Vec<(Scalar, Scalar)>) -> Self {
        let mut index = HashMap::new();
        if entries.len() > FEW {
            for (n, (input, _)) in entries.iter().enumerate() {
                index.entry(input.representative()).or_insert(n);
            }
        }
        Self { entries, index }
    }

    /// The entries, as given.
    #[must_use]
    pub fn entries(&self) -> &[(Scalar, Scalar)] {
        &self.entries
    }

    /// What a value becomes, if the map has it.
    #[must_use]
    pub fn get(&self, value: Scalar) -> Option<Scalar> {
        let entry = if self.index.is_empty() {
            self.entries.iter().find(|(input, _)| input.equals(value))
        } else {
            let place = self.index.get(&value.representative());
            place.and_then(|&n| self.entries.get(n))
        };
        entry.map(|(_, output)| *output)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transform::data_type::DataType::{Float32, UInt8};

    #[test]
    fn long_maps_match_as_short_ones_do() {
        let f32 = |x: f32| Scalar::from_bits(Float32, u64::from(x.to_bits()));
        let code = |n| Scalar::from_bits(UInt8, n);
        let short = vec![
            (f32(f32::NAN), code(1)),
            (Scalar::from_bits(Float32, 0xffc0_0001), code(2)),
            (f32(-0.0), code(3)),
            (f32(0.0), code(4)),
            (f32(5.0), code(5)),
            (f32(5.0), code(6)),
        ];
        let padding = (0..100).map(|n| (f32(1000.0 + n as f32), code(n)));
        let long = ScalarMap::new(short.iter().copied().chain(padding).collect());
        let short = ScalarMap::new(short);
        for x in [f32::NAN, -f32::NAN, 0.0, -0.0, 5.0, 6.0, f32::INFINITY] {
            assert_eq!(short.get(f32(x)), long.get(f32(x)), "{x}");
        }
        assert_eq!(long.get(f32(-f32::NAN)), Some(code(1)));
        assert_eq!(long.get(f32(0.0)), Some(code(3)));
        assert_eq!(long.get(f32(5.0)), Some(code(5)));
        assert_eq!(long.get(f32(1099.0)), Some(code(99)));
        assert_eq!(long.get(f32(6.0)), None);
    }
}
