//! `validate` on ten thousand arrays, next to a walk that only reads and parses the same files, and on documents beyond reason: time
//! and peak memory of each. Every measurement is a process of its own, so that its memory is its own.

#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::print_stderr)]

use std::convert::Infallible;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use clap::Parser;
use zarrpack::cli::Cli;
use zarrpack::metadata::json::{Limits, NonFinite, parse};
use zarrpack::store::{self, Descend, Visit, WalkOptions};
use zarrpack::ui::Ui;

const ARRAYS: usize = 10_000;
const LE: &str = r#"{"name":"bytes","configuration":{"endian":"little"}}"#;

fn main() {
    let arguments: Vec<_> = std::env::args().collect();
    match arguments.get(1).map(String::as_str) {
        Some("plain") => plain(Path::new(&arguments[2])),
        Some("validate") => validate(&arguments[2]),
        _ => measure(),
    }
}

/// Walks, reads, parses, and forgets.
fn plain(store: &Path) {
    let mut documents = 0;
    let walked: Result<(), Infallible> =
        store::walk(store, &WalkOptions::default(), &mut |visit| {
            let Visit::Node(node) = visit else {
                return Ok(Descend::No);
            };
            for document in node.documents {
                let bytes = document.bytes.unwrap();
                let parsed = parse(&bytes, &Limits::default(), NonFinite::Keep).unwrap();
                assert!(parsed.root.as_object().is_some());
                documents += 1;
            }
            Ok(if node.path.contains('/') {
                Descend::No
            } else {
                Descend::Yes
            })
        });
    let Ok(()) = walked;
    println!("{documents}");
    peak();
}

fn validate(store: &str) {
    let cli = Cli::parse_from(["zarrpack", "validate", "--format", "json", store]);
    let mut ui = Ui::new(cli.global.ui_options());
    let outcome = zarrpack::commands::run(&mut ui, &cli);
    ui.finish(outcome);
    peak();
}

/// Tells the parent how much memory was ever used, and how much time of a processor.
fn peak() {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let times = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // Of the process in ticks of a hundredth of a second: for the program, and for the system in its name.
    let ticks = times
        .rsplit(')')
        .next()
        .unwrap_or_default()
        .split_whitespace();
    let ticks: f64 = ticks
        .skip(11)
        .take(2)
        .filter_map(|field| field.parse::<f64>().ok())
        .sum();
    eprintln!(
        "{:6.2} s of processor {:>12}",
        ticks / 100.0,
        peak.unwrap_or("unknown").trim()
    );
}

/// The time in seconds of a run, and what it says of itself.
fn run(mode: &str, store: &Path) -> (f64, String) {
    let before = Instant::now();
    let output = Command::new(std::env::current_exe().unwrap())
        .arg(mode)
        .arg(store)
        .stdout(Stdio::null())
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    (
        before.elapsed().as_secs_f64(),
        errors.lines().last().unwrap_or_default().to_owned(),
    )
}

fn array(data_type: &str, fill: &str, codecs: &str, more: &str) -> String {
    format!(
        r#"{{"zarr_format":3,"node_type":"array","shape":[4],"data_type":"{data_type}","fill_value":{fill},
        "chunk_grid":{{"name":"regular","configuration":{{"chunk_shape":[4]}}}},{more}
        "chunk_key_encoding":{{"name":"default"}},"codecs":[{codecs}]}}"#
    )
}

/// A hundred groups of a hundred packed arrays, with consolidated metadata of all of them at the root.
fn hierarchy(root: &Path) -> PathBuf {
    let store = root.join("many.zarr");
    let pair = format!(
        r#"{{"name":"scale_offset","configuration":{{"scale":100,"offset":273.15}}}},
        {{"name":"cast_value","configuration":{{"data_type":"int16","scalar_map":{{"encode":[["NaN",-32768]],"decode":[[-32768,"NaN"]]}}}}}},
        {LE},{{"name":"zstd","configuration":{{"level":3,"checksum":false}}}}"#
    );
    let attributes = r#""attributes":{"units":"K","long_name":"air temperature","standard_name":"air_temperature"},"#;
    let document = array("float32", r#""NaN""#, &pair, attributes);
    const GROUP: &str = r#"{"zarr_format":3,"node_type":"group"}"#;
    let mut copies = Vec::new();
    for n in 0..ARRAYS {
        let (group, name) = (format!("g{:03}", n / 100), format!("a{:03}", n % 100));
        let directory = store.join(&group).join(&name);
        fs::create_dir_all(&directory).unwrap();
        fs::write(directory.join("zarr.json"), &document).unwrap();
        if n % 100 == 0 {
            fs::write(store.join(&group).join("zarr.json"), GROUP).unwrap();
            copies.push(format!("{group:?}:{GROUP}"));
        }
        copies.push(format!("\"{group}/{name}\":{document}"));
    }
    let copies = copies.join(",");
    fs::write(
        store.join("zarr.json"),
        format!(
            r#"{{"zarr_format":3,"node_type":"group","consolidated_metadata":{{"kind":"inline","must_understand":false,"metadata":{{{copies}}}}}}}"#
        ),
    )
    .unwrap();
    store
}

/// Documents beyond reason, by what is beyond it.
fn hostile() -> Vec<(&'static str, String)> {
    const MOST: usize = 64 << 20;
    let text = |length: usize| {
        let around = array("float32", "0", LE, r#""attributes":{"a":""},"#).len();
        array(
            "float32",
            "0",
            LE,
            &format!(r#""attributes":{{"a":"{}"}},"#, "x".repeat(length - around)),
        )
    };
    let numbers = |n: usize, number: &str| vec![number; n].join(",");
    let shape = |rank: usize, length: &str, chunk: &str| {
        array("float32", "0", LE, "")
            .replace(
                "\"shape\":[4]",
                &format!("\"shape\":[{}]", numbers(rank, length)),
            )
            .replace(
                "\"chunk_shape\":[4]",
                &format!("\"chunk_shape\":[{}]", numbers(rank, chunk)),
            )
    };
    let entries: Vec<_> = (0..1_000_000)
        .map(|n| format!("[{n},{}]", n % 200))
        .collect();
    let map = format!(
        r#"{{"name":"cast_value","configuration":{{"data_type":"uint8","scalar_map":{{"encode":[{}]}}}}}},{LE}"#,
        entries.join(",")
    );
    let members: String = (0..1_000_000).map(|n| format!(r#""m{n}":1,"#)).collect();
    vec![
        ("64 MiB on one line", text(MOST)),
        ("64 MiB and a byte", text(MOST + 1)),
        (
            "64 MiB of line breaks",
            format!("{}{{", "\n".repeat(MOST - 1)),
        ),
        ("64 MiB of brackets", "[".repeat(MOST)),
        (
            "depth 512",
            array(
                "float32",
                "0",
                LE,
                &format!(
                    r#""attributes":{{"a":{}{}}},"#,
                    "[".repeat(510),
                    "]".repeat(510)
                ),
            ),
        ),
        (
            "depth 513",
            array(
                "float32",
                "0",
                LE,
                &format!(
                    r#""attributes":{{"a":{}{}}},"#,
                    "[".repeat(511),
                    "]".repeat(511)
                ),
            ),
        ),
        ("rank 10,000", shape(10_000, "4", "4")),
        (
            "lengths of 2^63",
            shape(64, "9223372036854775808", "9223372036854775807"),
        ),
        (
            "rank 10,000, chunk lengths 0",
            shape(10_000, "9223372036854775808", "0"),
        ),
        (
            "a million codecs",
            array(
                "float32",
                "0",
                &numbers(1_000_000, r#"{"name":"bytes"}"#),
                "",
            ),
        ),
        (
            "a map of a million entries",
            array("float32", "0", &map, ""),
        ),
        (
            "a million unknown members",
            array("float32", "0", LE, &members),
        ),
        (
            "eight million values",
            format!("[{}]", numbers(8_000_000, "0")),
        ),
    ]
}

fn measure() {
    let root = tempfile::tempdir().unwrap();
    let store = hierarchy(root.path());
    run("plain", &store);
    for mode in ["plain", "validate"] {
        let runs: Vec<_> = (0..3).map(|_| run(mode, &store)).collect();
        let best = runs
            .iter()
            .map(|(time, _)| *time)
            .fold(f64::INFINITY, f64::min);
        println!("{ARRAYS} arrays, {mode:<9} {best:8.2} s  {}", runs[0].1);
    }
    for (name, document) in hostile() {
        let file = root.path().join("zarr.json");
        fs::write(&file, &document).unwrap();
        let (time, peak) = run("validate", &file);
        println!(
            "{name:<30} {:>9} bytes {time:8.2} s  {peak}",
            document.len()
        );
    }
}
