//! The parser: jsonc-parser's scanner held to RFC 8259, under a grammar that does not recurse.
//!
//! jsonc-parser can also build a tree, but counts an object's depth twice and a string's content
//! not at all. So only its tokens are used, and what its scanner lets through is refused here:
//! exotic white space, comments, bare words, raw control characters in strings.

use std::ops::Range;

use jsonc_parser::tokens::Token;
use jsonc_parser::{Scanner, ScannerOptions};

use super::error::{
    Expect, Fault, SyntaxError, SyntaxErrorKind, code_point, complain, explain, fault, limit,
};
use super::issue::{Duplicate, Issues, duplicates};
use super::{Issue, IssueKind, Kind, Limits, LineIndex, Member, NonFinite, Pointer, Value};

/// A document's tree, and what is wrong with it although it could be read.
#[derive(Debug, Clone, PartialEq)]
pub struct Parsed {
    /// The value that the document holds.
    pub root: Value,
    /// Duplicate members and bare non-finite numbers, in the order of the text, up to a thousand.
    pub issues: Vec<Issue>,
    /// How many more issues there are.
    pub more_issues: usize,
}

/// Reads a document as RFC 8259 has it: none of the liberties that other readers take are taken.
///
/// # Errors
///
/// When `bytes` are not UTF-8, start with a byte order mark, are not one JSON value, or exceed
/// `limits`.
pub fn parse(bytes: &[u8], limits: &Limits, non_finite: NonFinite) -> Result<Parsed, SyntaxError> {
    text(bytes, limits)
        .and_then(|text| Parser::new(text, limits, non_finite).run())
        .map_err(|fault| fault.locate(bytes))
}

fn text<'t>(bytes: &'t [u8], limits: &Limits) -> Result<&'t str, Fault> {
    if bytes.len() as u64 > limits.max_bytes {
        let message = format!(
            "the document has {} bytes, more than the {} allowed",
            bytes.len(),
            limits.max_bytes
        );
        return limit(SyntaxErrorKind::TooLarge, message, 0);
    }
    if bytes.starts_with(b"\xEF\xBB\xBF") {
        return fault("JSON must not start with a byte order mark", 0);
    }
    std::str::from_utf8(bytes).or_else(|error| {
        let offset = error.valid_up_to();
        let found = bytes.get(offset).copied().unwrap_or_default();
        fault(format!("byte 0x{found:02x} is not UTF-8 here"), offset)
    })
}

/// An array or object whose end has not been reached.
struct Open {
    start: usize,
    content: Content,
    /// The pointer to it, once an issue has asked for it.
    pointer: Option<Pointer>,
}

enum Content {
    Array(Vec<Value>),
    Object {
        members: Vec<Member>,
        /// The name whose value comes next.
        name: Option<(String, Range<usize>)>,
    },
}

struct Parser<'t, 'l> {
    text: &'t str,
    scanner: Scanner<'t>,
    limits: &'l Limits,
    non_finite: NonFinite,
    expect: Expect,
    open: Vec<Open>,
    root: Option<Value>,
    values: usize,
    issues: Issues,
}

impl<'t, 'l> Parser<'t, 'l> {
    fn new(text: &'t str, limits: &'l Limits, non_finite: NonFinite) -> Self {
        let options = ScannerOptions {
            allow_single_quoted_strings: false,
            allow_hexadecimal_numbers: false,
            allow_unary_plus_numbers: false,
            allow_bare_decimal_point_numbers: false,
            // Told apart in `literal`, for a clearer message.
            allow_non_finite_numbers: true,
            allow_extended_string_escapes: false,
        };
        Parser {
            text,
            scanner: Scanner::new(text, &options),
            limits,
            non_finite,
            expect: Expect::Root,
            open: Vec::new(),
            root: None,
            values: 0,
            issues: Issues::default(),
        }
    }

    fn run(mut self) -> Result<Parsed, Fault> {
        while let Some((token, span)) = self.next_token()? {
            self.take(token, span)?;
        }
        match (self.root, self.open.last()) {
            (Some(root), _) => {
                let (issues, more_issues) = self.issues.finish();
                Ok(Parsed {
                    root,
                    issues,
                    more_issues,
                })
            }
            (None, None) => fault("the document is empty", self.text.len()),
            (None, Some(open)) => {
                let what = match open.content {
                    Content::Array(_) => "array",
                    Content::Object { .. } => "object",
                };
                let position =
                    LineIndex::new(&self.text.as_bytes()[..open.start]).position(open.start);
                let message = format!(
                    "the document ends inside the {what} that starts at line {} column {}",
                    position.line, position.column
                );
                fault(message, self.text.len())
            }
        }
    }

    fn next_token(&mut self) -> Result<Option<(Token<'t>, Range<usize>)>, Fault> {
        let gap_start = self.scanner.token_end();
        let token = self.scanner.scan().or_else(|error| {
            let range = error.range();
            fault(
                explain(error.kind(), &self.text[range.start..]),
                range.start,
            )
        })?;
        let span = self.scanner.token_start()..self.scanner.token_end();
        let gap = &self.text[gap_start..span.start];
        if let Some((offset, space)) = gap
            .char_indices()
            .find(|(_, c)| !matches!(c, ' ' | '\t' | '\n' | '\r'))
        {
            let message = format!("{} is not white space in JSON", code_point(space));
            return fault(message, gap_start + offset);
        }
        if let Some(Token::String(_)) = token {
            self.check_controls(&span)?;
        }
        Ok(token.map(|token| (token, span)))
    }

    /// Refuses control characters in a string, which must be escaped.
    fn check_controls(&self, span: &Range<usize>) -> Result<(), Fault> {
        let raw = &self.text.as_bytes()[span.clone()];
        match raw.iter().position(|byte| *byte < 0x20) {
            None => Ok(()),
            Some(offset) => {
                let control = code_point(char::from(raw[offset]));
                let message =
                    format!("the control character {control} must be escaped in a string");
                fault(message, span.start + offset)
            }
        }
    }

    fn take(&mut self, token: Token<'t>, span: Range<usize>) -> Result<(), Fault> {
        match (self.expect, token) {
            (Expect::FirstElement | Expect::ArrayComma, Token::CloseBracket)
            | (Expect::FirstName | Expect::ObjectComma, Token::CloseBrace) => self.close(span.end),
            (Expect::ArrayComma, Token::Comma) => self.expect = Expect::Element,
            (Expect::ObjectComma, Token::Comma) => self.expect = Expect::Name,
            (Expect::Colon, Token::Colon) => self.expect = Expect::MemberValue,
            (Expect::FirstName | Expect::Name, Token::String(text)) => {
                self.name(text.into_owned(), span);
            }
            (
                Expect::Root | Expect::FirstElement | Expect::Element | Expect::MemberValue,
                token,
            ) => self.value(token, span)?,
            (_, token) => return fault(complain(self.expect, &token), span.start),
        }
        Ok(())
    }

    /// The name of the next member of the innermost object.
    fn name(&mut self, text: String, span: Range<usize>) {
        if let Some(Content::Object { name, .. }) = self.open.last_mut().map(|o| &mut o.content) {
            *name = Some((text, span));
        }
        self.expect = Expect::Colon;
    }

    /// A token where a value must start.
    fn value(&mut self, token: Token<'t>, span: Range<usize>) -> Result<(), Fault> {
        self.values += 1;
        if self.values > self.limits.max_values {
            let message = format!("more than {} values", self.limits.max_values);
            return limit(SyntaxErrorKind::TooLarge, message, span.start);
        }
        let kind = match token {
            Token::OpenBracket => {
                return self.begin(Content::Array(Vec::new()), Expect::FirstElement, span.start);
            }
            Token::OpenBrace => {
                let content = Content::Object {
                    members: Vec::new(),
                    name: None,
                };
                return self.begin(content, Expect::FirstName, span.start);
            }
            Token::Null => Kind::Null,
            Token::Boolean(value) => Kind::Bool(value),
            Token::String(text) => Kind::String(text.into_owned()),
            Token::Number(token) if token.ends_with(|c: char| c.is_ascii_digit()) => {
                Kind::Number(token.to_owned())
            }
            Token::Number(token @ ("NaN" | "Infinity" | "-Infinity"))
                if self.non_finite == NonFinite::Keep =>
            {
                let pointer = self.pointer_to_next();
                self.issues
                    .push(IssueKind::NonFinite, pointer, span.clone());
                Kind::NonFinite(token.to_owned())
            }
            token => return fault(complain(self.expect, &token), span.start),
        };
        self.attach(Value { kind, span });
        Ok(())
    }

    fn begin(&mut self, content: Content, expect: Expect, start: usize) -> Result<(), Fault> {
        let deepest = self.limits.max_depth.min(Limits::DEEPEST);
        if self.open.len() >= deepest {
            let message = format!("more than {deepest} levels of nesting");
            return limit(SyntaxErrorKind::TooDeep, message, start);
        }
        self.open.push(Open {
            start,
            content,
            pointer: None,
        });
        self.expect = expect;
        Ok(())
    }

    /// Ends the innermost array or object.
    fn close(&mut self, end: usize) {
        self.report_duplicates();
        let Some(Open { start, content, .. }) = self.open.pop() else {
            return;
        };
        let kind = match content {
            Content::Array(elements) => Kind::Array(elements),
            Content::Object { members, .. } => Kind::Object(members),
        };
        self.attach(Value {
            kind,
            span: start..end,
        });
    }

    /// Puts a finished value where it belongs.
    fn attach(&mut self, value: Value) {
        self.expect = match self.open.last_mut().map(|open| &mut open.content) {
            None => {
                self.root = Some(value);
                Expect::End
            }
            Some(Content::Array(elements)) => {
                elements.push(value);
                Expect::ArrayComma
            }
            Some(Content::Object { members, name }) => {
                if let Some((name, name_span)) = name.take() {
                    members.push(Member {
                        name,
                        name_span,
                        value,
                    });
                }
                Expect::ObjectComma
            }
        };
    }

    /// Lists the members of the innermost object whose name stood in it before.
    fn report_duplicates(&mut self) {
        let Some(Content::Object { members, .. }) = self.open.last().map(|open| &open.content)
        else {
            return;
        };
        let duplicates = duplicates(members);
        if duplicates.is_empty() {
            return;
        }
        let object = self.pointer_to_open(self.open.len());
        for Duplicate { name, span, first } in duplicates {
            self.issues.push(
                IssueKind::DuplicateMember { first },
                object.member(&name),
                span,
            );
        }
    }

    /// The pointer to the array or object that is open at `depth`, from 1.
    ///
    /// Each name on the way is copied once, however many issues there are below it.
    fn pointer_to_open(&mut self, depth: usize) -> Pointer {
        let known = self.open[..depth]
            .iter()
            .rposition(|open| open.pointer.is_some())
            .unwrap_or(0);
        let mut pointer = self
            .open
            .get(known)
            .and_then(|open| open.pointer.clone())
            .unwrap_or_default();
        for index in known..depth {
            if index > known {
                pointer = self.open[index - 1].content.pointer_to_next(&pointer);
            }
            self.open[index].pointer = Some(pointer.clone());
        }
        pointer
    }

    /// The pointer to the value that is about to be read.
    fn pointer_to_next(&mut self) -> Pointer {
        let parent = self.pointer_to_open(self.open.len());
        match self.open.last() {
            None => parent,
            Some(open) => open.content.pointer_to_next(&parent),
        }
    }
}

impl Content {
    /// The pointer to the element or member whose value comes next, given the pointer to this.
    fn pointer_to_next(&self, this: &Pointer) -> Pointer {
        match self {
            Content::Array(elements) => this.index(elements.len()),
            Content::Object { name, .. } => this.member(name.as_ref().map_or("", |(name, _)| name)),
        }
    }
}
