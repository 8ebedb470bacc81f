//! The legacy arrays of the reference stores: what their codes decode to is what the arrays hold.

use std::collections::BTreeSet;

use super::*;
use crate::codecs::model::{Model, Step};
use crate::region::chunk_box;
use crate::transform::chain::Direction;

/// The bits of the values that the stored chunks of an array hold inside its edge, read without any of what a scan does.
fn values(array: &OpenArray, data_type: DataType) -> BTreeSet<u64> {
    let mut values = BTreeSet::new();
    let shape = array.chunk_shape();
    for index in crate::pipeline::GridIndices::new(array.grid_shape()) {
        let Some(chunk) = array.decode_chunk(&index).unwrap() else {
            continue;
        };
        let origin = chunk_box(&index, &shape);
        for (n, element) in (0..).zip(chunk.chunks_exact(data_type.size())) {
            let at = grid::unravel(n, &shape);
            let mut places = at.iter().zip(&origin).zip(array.shape());
            if places.all(|((at, range), length)| at + range.start < *length) {
                let value = Scalar::from_ne_bytes(data_type, element);
                values.insert(if value.is_nan() {
                    u64::MAX
                } else {
                    value.bits()
                });
            }
        }
    }
    values
}

#[test]
fn codes_in_use_decode_to_the_values_of_the_array() {
    let stores = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/stores");
    let interrupt = Interrupt::default();
    let pipeline = Pipeline {
        threads: 2,
        memory: 1 << 20,
        interrupt: &interrupt,
        observer: &|_| {},
    };
    let mut looked_at = 0;
    for store in fs::read_dir(stores).unwrap() {
        let directory = store.unwrap().path();
        let name = directory.file_name().unwrap().to_str().unwrap().to_owned();
        let Ok(text) = fs::read_to_string(directory.join("zarr.json")) else {
            continue;
        };
        if !name.starts_with("fso_") || name == "fso_scale0" {
            continue;
        }
        let evidence = StoreEvidence::new(&name, &directory, &text, &pipeline).unwrap();
        let (array, run) = evidence
            .with_array(|document| {
                let document = ArrayDocument::V3(document);
                let storage = Arc::new(ChunkFiles::below(&directory));
                let array = OpenArray::open(storage, "", document).unwrap();
                let model = Model::new(document).unwrap();
                let steps = model.outer.steps.into_iter();
                let inner = model.outer.inner.into_iter().flat_map(|level| level.steps);
                let mut runs = steps.chain(inner).filter_map(|step| match step {
                    Step::Packing(packing) => Some(packing),
                    Step::Other(_) => None,
                });
                (array, runs.next().unwrap())
            })
            .unwrap();
        let chain = run.binding.chain.as_ref().unwrap();
        if chain.stored_type().bits() > 16 {
            continue;
        }
        let (list, first) = run.pointers[0].rsplit_once('/').unwrap();
        let site = Site {
            list: list.to_owned(),
            first: first.parse().unwrap(),
            codecs: run.pointers.len(),
        };
        let question = Question {
            comparisons: &[],
            watch: &[],
        };
        let scan = evidence.scan(&site, &question).unwrap();
        assert_eq!(scan.presence, evidence.presence().unwrap(), "{name}");
        let decoded = scan.used.unwrap().inside;
        let decoded = decoded.iter().map(|code| {
            let value = chain.transform(Direction::Decode, code).unwrap();
            if value.is_nan() {
                u64::MAX
            } else {
                value.bits()
            }
        });
        let decoded: BTreeSet<_> = decoded.collect();
        let mut expected = values(&array, chain.data_type());
        if scan.presence.missing_inner > 0 {
            // Fill that is never stored is among the values and, unless something is stored for it, not among the codes.
            expected.retain(|value| decoded.contains(value));
        }
        assert_eq!(decoded, expected, "{name}");
        assert!(!decoded.is_empty(), "{name}");
        looked_at += 1;
    }
    assert!(looked_at >= 15, "{looked_at}");
}
