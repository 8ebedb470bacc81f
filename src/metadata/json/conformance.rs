//! The parser against RFC 8259, its limits, and serde_json.

use proptest::prelude::*;

use super::*;

fn read(bytes: &[u8]) -> Result<Parsed, SyntaxError> {
    parse(bytes, &Limits::default(), NonFinite::Refuse)
}

#[track_caller]
fn refused(text: impl AsRef<[u8]>, column: usize, message: &str) {
    let text = text.as_ref();
    let error = read(text).expect_err(&String::from_utf8_lossy(text));
    assert_eq!(
        (error.message.as_str(), error.column),
        (message, column),
        "{}",
        String::from_utf8_lossy(text)
    );
}

#[test]
fn accepts_what_json_allows() {
    for text in [
        "null",
        " \t\r\n true ",
        "[]",
        "{}",
        "[[],{}]",
        "-0",
        "0.10e+05",
        "1E-0",
        "1e400",
        r#""\"\\\/\b\f\n\r\t\u0041\uD83D\uDE00""#,
        "\"\u{7f}\u{2028}\u{feff}\"",
        r#"{"":{"\u0000":[1]}}"#,
    ] {
        let parsed = read(text.as_bytes()).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(parsed.issues, []);
    }
}

#[test]
fn refuses_bad_numbers() {
    refused(
        "01",
        2,
        "expected the end of the document, which is one value, found the number 1",
    );
    refused("[01]", 3, "expected \",\" or \"]\", found the number 1");
    refused("[-01]", 4, "expected \",\" or \"]\", found the number 1");
    refused(
        "[1.]",
        2,
        "a JSON number needs a digit on both sides of its decimal point",
    );
    refused(
        "[.5]",
        2,
        "a JSON number needs a digit on both sides of its decimal point",
    );
    refused(
        "[-.5]",
        2,
        "a JSON number needs a digit on both sides of its decimal point",
    );
    refused("[+1]", 2, "a JSON number must not start with a plus sign");
    refused("[1e]", 4, "expected a digit of a number");
    refused("[1e+]", 5, "expected a digit of a number");
    refused("[-]", 3, "expected a digit of a number");
    refused("[0x1F]", 2, "JSON has no hexadecimal numbers");
    refused("[1_000]", 3, "_000 is not a JSON value");
}

#[test]
fn refuses_bad_strings() {
    refused("[\"a]", 2, "the string that starts here does not end");
    refused("['a']", 2, "JSON strings stand in double quotes");
    refused(
        "\"a\tb\"",
        3,
        "the control character U+0009 must be escaped in a string",
    );
    refused(
        "{\"a\nb\":1}",
        4,
        "the control character U+000A must be escaped in a string",
    );
    refused(
        "\"\0\"",
        2,
        "the control character U+0000 must be escaped in a string",
    );
    refused(r#""\x41""#, 2, "JSON has no such escape");
    refused(r#""\'""#, 2, "JSON has no such escape");
    refused("\"\\\n\"", 2, "JSON has no such escape");
    refused(r#""\u12""#, 2, "\\u needs four hexadecimal digits");
    for half in [
        r#""\uD83D""#,
        r#""\uDE00""#,
        r#""\uD83Dx""#,
        r#""\uD83D\uD83D""#,
    ] {
        refused(half, 2, "the \\u escape is half of a surrogate pair");
    }
}

#[test]
fn refuses_bad_structure() {
    refused("", 1, "the document is empty");
    refused(" \n ", 2, "the document is empty");
    refused("[1,]", 4, "an array must not end with a comma");
    refused("{\"a\":1,}", 8, "an object must not end with a comma");
    refused("[,1]", 2, "expected a value or \"]\", found \",\"");
    refused("[1 2]", 4, "expected \",\" or \"]\", found the number 2");
    refused(
        "{\"a\" 1}",
        6,
        "expected \":\" after the member name, found the number 1",
    );
    refused("{\"a\":}", 6, "expected a value, found \"}\"");
    refused(
        "{a:1}",
        2,
        "a member name must stand in double quotes, found a",
    );
    refused(
        "{1:1}",
        2,
        "a member name must stand in double quotes, found 1",
    );
    refused(
        "{\"a\":1 \"b\":2}",
        8,
        "expected \",\" or \"}\", found a string",
    );
    refused("[1}", 3, "expected \",\" or \"]\", found \"}\"");
    refused(
        "1 2",
        3,
        "expected the end of the document, which is one value, found the number 2",
    );
    refused(
        "{}]",
        3,
        "expected the end of the document, which is one value, found \"]\"",
    );
    refused(
        "[{\"a\":[1",
        9,
        "the document ends inside the array that starts at line 1 column 7",
    );
    refused(
        "{\"a\":",
        6,
        "the document ends inside the object that starts at line 1 column 1",
    );
}

#[test]
fn refuses_what_is_not_json() {
    refused("// x\n1", 1, "JSON has no comments");
    refused("[1 /* x */]", 4, "JSON has no comments");
    refused("[1 /*", 4, "JSON has no comments");
    refused("[True]", 2, "True is not a JSON value");
    refused("[-NaN]", 2, "-NaN is not a JSON value");
    refused("[nul]", 2, "nul is not a JSON value");
    refused("[@]", 2, "\"@\" cannot stand here");
    refused("[1,\u{a0}2]", 4, "U+00A0 is not white space in JSON");
    refused("[1,\u{c}2]", 4, "U+000C is not white space in JSON");
    refused("1\u{2003}", 2, "U+2003 is not white space in JSON");
    refused(
        b"\xEF\xBB\xBF{}",
        1,
        "JSON must not start with a byte order mark",
    );
    refused(b"\"\xC3\xA9\xFF\"", 3, "byte 0xff is not UTF-8 here");
    refused(b"[\xC3", 2, "byte 0xc3 is not UTF-8 here");
    refused(
        format!("[{}]", "x".repeat(99)),
        2,
        &format!("{}... is not a JSON value", "x".repeat(40)),
    );
}

#[test]
fn errors_print_their_place() {
    let error = read(b"{\n  \"a\": 1,\n}").unwrap_err();
    assert_eq!(
        error.to_string(),
        "an object must not end with a comma at line 3 column 1"
    );
    assert_eq!(error.offset, 12);
}

#[test]
fn non_finite_numbers_are_refused_or_kept() {
    let text = br#"{"a":[NaN,1,-Infinity],"b":{"c/d":Infinity}}"#;
    refused(
        text,
        7,
        "NaN is not a JSON number; the string \"NaN\" is the way to write it",
    );
    let parsed = parse(text, &Limits::default(), NonFinite::Keep).unwrap();
    let found: Vec<_> = parsed
        .issues
        .iter()
        .map(|issue| (issue.pointer.to_string(), &text[issue.span.clone()]))
        .collect();
    assert_eq!(
        found,
        [
            ("/a/0".to_owned(), &b"NaN"[..]),
            ("/a/2".to_owned(), b"-Infinity"),
            ("/b/c~1d".to_owned(), b"Infinity"),
        ]
    );
    assert_eq!(
        parsed.root.lookup("/a/2").unwrap().kind,
        Kind::NonFinite("-Infinity".to_owned())
    );
    for text in [
        "-NaN",
        "[+Infinity]",
        "nan",
        "[Infinity_]",
        "{NaN:1}",
        "-Infinit",
    ] {
        assert!(
            parse(text.as_bytes(), &Limits::default(), NonFinite::Keep).is_err(),
            "{text}"
        );
    }
}

#[test]
fn duplicates_are_noticed_at_any_depth() {
    let text = r#"{"x":[{"a":1,"b":{"c":1,"\u0063":2},"a":2}],"x":0}"#;
    let parsed = read(text.as_bytes()).unwrap();
    let found: Vec<_> = parsed
        .issues
        .iter()
        .map(|issue| {
            let IssueKind::DuplicateMember { first } = &issue.kind else {
                panic!("{issue:?}");
            };
            (issue.pointer.to_string(), issue.span.start, first.start)
        })
        .collect();
    assert_eq!(
        found,
        [
            ("/x/0/b/c".to_owned(), 24, 18),
            ("/x/0/a".to_owned(), 36, 7),
            ("/x".to_owned(), 44, 1),
        ]
    );
}

#[test]
fn many_members_take_linear_time() {
    let members: Vec<_> = (0..200_000).map(|i| format!("\"m{i}\":{i}")).collect();
    let text = format!("{{{},\"m7\":0}}", members.join(","));
    let start = std::time::Instant::now();
    let parsed = read(text.as_bytes()).unwrap();
    // Comparing all pairs would take minutes.
    assert!(start.elapsed() < std::time::Duration::from_secs(10));
    assert_eq!(parsed.issues.len(), 1);
    assert_eq!(parsed.issues[0].pointer.to_string(), "/m7");
}

#[test]
fn issues_are_listed_up_to_a_bound() {
    let text = format!("[{}NaN]", "NaN,".repeat(2999));
    let parsed = parse(text.as_bytes(), &Limits::default(), NonFinite::Keep).unwrap();
    assert_eq!((parsed.issues.len(), parsed.more_issues), (1000, 2000));
}

#[test]
fn nesting_is_bounded() {
    let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    assert!(read(nested(512).as_bytes()).is_ok());
    refused(nested(513), 513, "more than 512 levels of nesting");
    refused(
        "[".repeat(1_000_000),
        513,
        "more than 512 levels of nesting",
    );
    let objects = |depth: usize| format!("{}1{}", "{\"a\":".repeat(depth), "}".repeat(depth));
    assert!(read(objects(512).as_bytes()).is_ok());
    refused(objects(200_000), 2561, "more than 512 levels of nesting");
    let raised = Limits {
        max_depth: usize::MAX,
        ..Limits::default()
    };
    assert!(parse(nested(513).as_bytes(), &raised, NonFinite::Refuse).is_err());
}

#[test]
fn size_is_bounded() {
    let limits = Limits {
        max_bytes: 4,
        max_values: 3,
        ..Limits::default()
    };
    let message = |text: &str| {
        parse(text.as_bytes(), &limits, NonFinite::Refuse)
            .unwrap_err()
            .message
    };
    assert_eq!(
        message("[1,2]"),
        "the document has 5 bytes, more than the 4 allowed"
    );
    let limits = Limits {
        max_bytes: 99,
        ..limits
    };
    assert!(parse(b"[1,2]", &limits, NonFinite::Refuse).is_ok());
    let error = parse(b"[1,2,3]", &limits, NonFinite::Refuse).unwrap_err();
    assert_eq!(
        (error.message.as_str(), error.offset),
        ("more than 3 values", 5)
    );
}

/// JSON documents of modest size, as serde_json prints them.
fn document() -> impl Strategy<Value = serde_json::Value> {
    let leaf = prop_oneof![
        Just(serde_json::Value::Null),
        any::<bool>().prop_map(serde_json::Value::from),
        any::<i64>().prop_map(serde_json::Value::from),
        any::<f64>().prop_map(serde_json::Value::from),
        "\\PC{0,6}".prop_map(serde_json::Value::from),
        "[\\x00-\\x7f]{0,6}".prop_map(serde_json::Value::from),
    ];
    leaf.prop_recursive(5, 40, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(serde_json::Value::from),
            prop::collection::vec(("[a-e\"\\\\\u{e9}]{0,3}", inner), 0..6)
                .prop_map(|members| members.into_iter().collect()),
        ]
    })
}

/// Whether serde_json takes the text; `None` where it has another opinion on purpose.
fn serde_accepts(text: &str) -> Option<bool> {
    match serde_json::from_str::<serde_json::Value>(text) {
        Ok(_) => Some(true),
        Err(error) => {
            let error = error.to_string();
            // It refuses 1e400, and has a lower limit on depth.
            let differs =
                error.starts_with("number out of range") || error.starts_with("recursion limit");
            (!differs).then_some(false)
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn any_bytes_get_an_answer(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
        let _ = parse(&bytes, &Limits::default(), NonFinite::Keep);
    }

    #[test]
    fn agrees_with_serde_json_on_token_soup(
        text in "([\\[\\]{},:]|\"[a\\\\u0\\PC]{0,6}\"|-?[0-9.eE+-]{1,5}|true|null|NaN|[ \t\n\u{b}\u{a0}]|/[/*]){0,12}"
    ) {
        if let Some(accepted) = serde_accepts(&text) {
            prop_assert_eq!(read(text.as_bytes()).is_ok(), accepted);
        }
    }

    #[test]
    fn agrees_with_serde_json_on_documents(value in document(), pretty: bool) {
        let text = if pretty { format!("{value:#}") } else { value.to_string() };
        let parsed = read(text.as_bytes()).unwrap();
        prop_assert_eq!(&parsed.issues, &[]);
        prop_assert_eq!(parsed.root.to_serde(), value);
        spans_read_back(&parsed.root, &text)?;
    }

    #[test]
    fn agrees_with_serde_json_on_mutated_documents(
        value in document(),
        edits in prop::collection::vec((any::<prop::sample::Index>(), "[\\x00-\\x7f\u{a0}\u{feff}]{0,2}"), 1..4),
    ) {
        let mut characters: Vec<String> = value.to_string().chars().map(String::from).collect();
        for (place, replacement) in edits {
            let place = place.index(characters.len());
            characters[place] = replacement;
        }
        let text = characters.concat();
        // An error is also checked for standing on a character, by printing what follows.
        match (read(text.as_bytes()), serde_accepts(&text)) {
            (_, None) => {}
            (Ok(_), accepted) => prop_assert_eq!(accepted, Some(true)),
            (Err(error), accepted) => {
                prop_assert_eq!(accepted, Some(false), "{}", error);
                prop_assert!(text.is_char_boundary(error.offset));
            }
        }
    }
}

/// Every value's span, read alone, gives the value again.
fn spans_read_back(value: &Value, text: &str) -> Result<(), TestCaseError> {
    let alone = read(&text.as_bytes()[value.span.clone()]).unwrap().root;
    prop_assert_eq!(alone.to_serde(), value.to_serde());
    match &value.kind {
        Kind::Array(elements) => elements.iter().try_for_each(|e| spans_read_back(e, text)),
        Kind::Object(members) => members.iter().try_for_each(|member| {
            let name = read(&text.as_bytes()[member.name_span.clone()])
                .unwrap()
                .root;
            prop_assert_eq!(name.as_str(), Some(member.name.as_str()));
            spans_read_back(&member.value, text)
        }),
        _ => Ok(()),
    }
}
