//! `zarrpack inspect` on what nobody would write: documents cut and bent at every place, sizes beyond reason, nesting without end.
//! The answer comes at once, within bounds, and is an exit code, never a panic.

#![expect(clippy::unwrap_used, reason = "a test that cannot do its part fails")]

use std::fs;
use std::path::Path;
use std::process::Output;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;
use zarrpack::report::inspect::Report;

/// Far more than any of these takes, even unoptimised on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// Runs `inspect` and sees to it that the run ends in order.
fn inspect(store: &Path, format: &str) -> Output {
    let output = assert_cmd::Command::new(env!("CARGO_BIN_EXE_zarrpack"))
        .args(["inspect", "--color", "never", "--format", format])
        .env_clear()
        .arg(store)
        .timeout(PATIENCE)
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(!errors.contains("panicked"), "{errors}");
    let code = output.status.code();
    assert!(matches!(code, Some(0 | 1 | 3)), "{code:?} {errors}");
    output
}

fn report(store: &Path) -> Report {
    serde_json::from_slice(&inspect(store, "json").stdout).unwrap()
}

fn stores() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/stores")
}

/// A document of the test data on one line, so that every byte of it counts.
fn compact(path: &str) -> Vec<u8> {
    let text = fs::read(stores().join(path)).unwrap();
    let value: Value = serde_json::from_slice(&text).unwrap();
    serde_json::to_vec(&value).unwrap()
}

/// A store of nodes that hold one document each, named by their number.
fn store_of(name: &str, documents: impl IntoIterator<Item = Vec<u8>>) -> (TempDir, usize) {
    let store = tempfile::tempdir().unwrap();
    let mut nodes = 0;
    for document in documents {
        let directory = store.path().join(format!("{nodes:06}"));
        fs::create_dir(&directory).unwrap();
        fs::write(directory.join(name), document).unwrap();
        nodes += 1;
    }
    (store, nodes)
}

const DOCUMENTS: [(&str, &str); 4] = [
    ("so_example3_nan/zarr.json", "zarr.json"),
    ("so_cv_sharded_partial/zarr.json", "zarr.json"),
    ("group_plain/zarr.json", "zarr.json"),
    ("v2_f_blosc/.zarray", ".zarray"),
];

#[test]
fn documents_cut_at_every_byte_are_refused() {
    for (path, name) in DOCUMENTS {
        let document = compact(path);
        let cuts = (0..document.len()).map(|length| document[..length].to_vec());
        let (store, nodes) = store_of(name, cuts);
        inspect(store.path(), "human");
        let report = report(store.path());
        assert_eq!(report.stores[0].broken.len(), nodes, "{path}");
    }
}

#[test]
fn documents_with_any_bit_flipped_are_told_of() {
    for (path, name) in [DOCUMENTS[1], DOCUMENTS[3]] {
        let document = compact(path);
        let flips = (0..document.len() * 8).map(|bit| {
            let mut bent = document.clone();
            bent[bit / 8] ^= 1 << (bit % 8);
            bent
        });
        let (store, nodes) = store_of(name, flips);
        let output = inspect(store.path(), "human");
        let text = String::from_utf8(output.stdout).unwrap();
        let rows = text.lines().filter_map(|line| {
            let name = line.strip_prefix("|-- ").or(line.strip_prefix("`-- "))?;
            name.get(..6)
        });
        assert_eq!(rows.count(), nodes, "{path}");
    }
}

/// An array of eight elements, changed.
fn changed(change: impl FnOnce(&mut Value)) -> Value {
    let mut document = json!({
        "zarr_format": 3, "node_type": "array", "shape": [8], "data_type": "float32", "fill_value": 0,
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [8]}},
        "chunk_key_encoding": {"name": "default"},
        "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}],
    });
    change(&mut document);
    document
}

/// Inspects one array in both forms: neither takes long or says much.
fn inspect_one(document: &Value) -> Report {
    let store = tempfile::tempdir().unwrap();
    fs::write(
        store.path().join("zarr.json"),
        serde_json::to_vec(document).unwrap(),
    )
    .unwrap();
    let before = Instant::now();
    let output = inspect(store.path(), "human");
    assert!(before.elapsed() < PATIENCE / 2, "{:?}", before.elapsed());
    let said = output.stdout.len() + output.stderr.len();
    assert!(said < 100_000, "{said} bytes");
    report(store.path())
}

#[test]
fn shapes_beyond_reason_have_exact_sizes() {
    for (exponent, bytes) in [(40, 1_u128 << 82), (62, 1 << 126)] {
        let length = 1_u64 << exponent;
        let report = inspect_one(&changed(|document| {
            document["shape"] = json!([length, length]);
            document["chunk_grid"]["configuration"]["chunk_shape"] = json!([1, 2]);
        }));
        let array = &report.stores[0].arrays[0];
        assert_eq!(array.logical_bytes, Some(bytes));
        assert_eq!(array.stored.grid_objects, Some(bytes / 8));
        assert_eq!((array.stored.objects, array.ratio), (0, None));
    }
    let most = u64::MAX;
    let report = inspect_one(&changed(|document| {
        document["shape"] = json!([most]);
        document["chunk_grid"]["configuration"]["chunk_shape"] = json!([most]);
    }));
    assert_eq!(
        report.stores[0].arrays[0].logical_bytes,
        Some(4 * u128::from(most))
    );
}

#[test]
fn a_thousand_dimensions_have_no_number_of_elements() {
    let report = inspect_one(&changed(|document| {
        document["shape"] = json!(vec![1_u64 << 40; 1000]);
        document["chunk_grid"]["configuration"]["chunk_shape"] = json!(vec![3; 1000]);
    }));
    let array = &report.stores[0].arrays[0];
    assert_eq!((array.elements, array.stored.grid_objects), (None, None));
}

#[test]
fn huge_texts_are_cut() {
    let huge = "x".repeat(20_000_000);
    type Change = fn(&mut Value, &str);
    let changes: [Change; 5] = [
        |document, huge| document["data_type"] = json!(huge),
        |document, huge| document["fill_value"] = json!(huge),
        |document, huge| document["dimension_names"] = json!([huge]),
        |document, huge| document["codecs"] = json!([{"name": huge}, "bytes"]),
        |document, huge| document["chunk_key_encoding"] = json!({"name": huge}),
    ];
    for change in changes {
        let report = inspect_one(&changed(|document| change(document, &huge)));
        assert_eq!(report.stores[0].arrays.len(), 1);
    }
    // A member that may not be ignored is refused, and its name may be anything.
    let report = inspect_one(&changed(|document| document[&huge] = json!(1)));
    assert_eq!(report.stores[0].broken.len(), 1);
}

#[test]
fn more_codecs_than_anybody_needs_are_counted_only() {
    let report = inspect_one(&changed(|document| {
        document["codecs"] = json!(vec!["bytes"; 500_000]);
    }));
    let array = &report.stores[0].arrays[0];
    assert_eq!(array.chain, None);
    assert!(array.unsupported[0].message.starts_with("500000 codecs"));
    let report = inspect_one(&changed(|document| {
        let entries: Vec<_> = (0..4000).map(|n| json!([n, n % 200])).collect();
        let map = json!({"encode": entries});
        document["codecs"] = json!([
            {"name": "cast_value", "configuration": {"data_type": "uint8", "scalar_map": map}}, "bytes",
        ]);
    }));
    assert_eq!(report.stores[0].arrays[0].sentinels.len(), 256);
}

#[test]
fn shards_in_shards_in_shards() {
    let bytes = || json!([{"name": "bytes", "configuration": {"endian": "little"}}]);
    let nested = (0..150).fold(bytes(), |codecs, _| {
        json!([{"name": "sharding_indexed", "configuration":
            {"chunk_shape": [8], "codecs": codecs, "index_codecs": bytes()}}])
    });
    let report = inspect_one(&changed(|document| document["codecs"] = nested));
    assert_eq!(report.stores[0].arrays[0].shards.len(), 150);
}

#[test]
fn documents_beyond_the_limits_are_refused() {
    let many = changed(|document| document["attributes"] = json!({"a": vec![0; 5_000_000]}));
    let report = inspect_one(&many);
    assert!(report.stores[0].broken[0].findings[0].contains("more than"));
    let store = tempfile::tempdir().unwrap();
    let document = fs::File::create(store.path().join("zarr.json")).unwrap();
    document.set_len(1 << 40).unwrap();
    assert_eq!(inspect(store.path(), "human").status.code(), Some(1));
    let deep = "[".repeat(1_000_000);
    fs::write(store.path().join("zarr.json"), deep).unwrap();
    assert_eq!(inspect(store.path(), "human").status.code(), Some(1));
}

/// Groups in groups, deeper than any path can say: with a path of 4096 bytes there is an end after two thousand.
#[cfg(target_os = "linux")]
#[test]
fn nesting_without_end_ends() {
    use rustix::fs::{AtFlags, Mode, OFlags, mkdirat, openat, unlinkat};
    const GROUP: &[u8] = br#"{"zarr_format":3,"node_type":"group"}"#;
    const DEPTH: usize = 3_000;
    let store = tempfile::tempdir().unwrap();
    let open = |directory: &dyn std::os::fd::AsFd, name: &str| {
        openat(directory.as_fd(), name, OFlags::DIRECTORY, Mode::empty()).unwrap()
    };
    let mut here = open(&rustix::fs::CWD, store.path().to_str().unwrap());
    for _ in 0..DEPTH {
        let flags = OFlags::CREATE | OFlags::WRONLY;
        let file = openat(&here, "zarr.json", flags, Mode::RUSR | Mode::WUSR).unwrap();
        rustix::io::write(file, GROUP).unwrap();
        mkdirat(&here, "g", Mode::RWXU).unwrap();
        here = open(&here, "g");
    }
    let before = Instant::now();
    let output = inspect(store.path(), "human");
    let report = report(store.path());
    assert!(before.elapsed() < PATIENCE / 2, "{:?}", before.elapsed());
    assert_eq!(output.status.code(), Some(3));
    assert!(output.stdout.len() < 20_000_000, "{}", output.stdout.len());
    let groups = report.stores[0].groups.len();
    assert!((1000..DEPTH).contains(&groups), "{groups}");

    // Deleted from the inside out, since a recursion would hold all of them open.
    for _ in 0..DEPTH {
        let around = open(&here, "..");
        unlinkat(&around, "g", AtFlags::REMOVEDIR).unwrap();
        unlinkat(&around, "zarr.json", AtFlags::empty()).unwrap();
        here = around;
    }
}
