//! The part of Python's syntax that headers are written in.

use super::{MAX_RANK, NpyError, UnsupportedType};

/// The three entries of a header.
pub(super) struct Dictionary {
    pub(super) descr: String,
    pub(super) fortran_order: bool,
    pub(super) shape: Vec<u64>,
}

impl Dictionary {
    /// Reads a dictionary that has each key once, in any order, and nothing else.
    pub(super) fn parse(text: &[u8]) -> Result<Self, NpyError> {
        let mut parser = Parser { text, at: 0 };
        let (mut descr, mut fortran_order, mut shape) = (None, None, None);
        parser.expect(b'{', "a dictionary")?;
        while !parser.accept(b'}') {
            let key_at = parser.at;
            let key = parser.string()?;
            parser.expect(b':', "a colon")?;
            match key.as_str() {
                "descr" if descr.is_none() => descr = Some(parser.descr()?),
                "fortran_order" if fortran_order.is_none() => {
                    fortran_order = Some(parser.boolean()?)
                }
                "shape" if shape.is_none() => shape = Some(parser.shape()?),
                _ => {
                    return Err(Parser {
                        at: key_at,
                        ..parser
                    }
                    .error("one of the three keys, once"));
                }
            }
            if !parser.accept(b',') {
                parser.expect(b'}', "a comma or the end of the dictionary")?;
                break;
            }
        }
        parser.skip_space();
        match (descr, fortran_order, shape) {
            _ if parser.at < text.len() => Err(parser.error("nothing more")),
            (Some(descr), Some(fortran_order), Some(shape)) => Ok(Self {
                descr,
                fortran_order,
                shape,
            }),
            _ => Err(parser.error("the keys \"descr\", \"fortran_order\" and \"shape\"")),
        }
    }
}

struct Parser<'a> {
    text: &'a [u8],
    at: usize,
}

impl Parser<'_> {
    const fn error(&self, expected: &'static str) -> NpyError {
        let at = self.at;
        NpyError::Syntax { at, expected }
    }

    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn skip_space(&mut self) {
        while self.peek().is_some_and(|byte| byte.is_ascii_whitespace()) {
            self.at += 1;
        }
    }

    fn accept(&mut self, byte: u8) -> bool {
        self.skip_space();
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, byte: u8, expected: &'static str) -> Result<(), NpyError> {
        if self.accept(byte) {
            Ok(())
        } else {
            Err(self.error(expected))
        }
    }

    /// A string in either sort of quotes. None that matters has an escape in it.
    fn string(&mut self) -> Result<String, NpyError> {
        self.skip_space();
        let quote = match self.peek() {
            Some(quote @ (b'\'' | b'"')) => quote,
            _ => return Err(self.error("a string")),
        };
        let start = self.at + 1;
        let rest = &self.text[start..];
        let end = rest
            .iter()
            .position(|&byte| byte == quote || byte == b'\\' || byte < b' ');
        match end {
            Some(length) if rest[length] == quote => {
                self.at = start + length + 1;
                Ok(String::from_utf8_lossy(&rest[..length]).into_owned())
            }
            _ => Err(self.error("a string without escapes")),
        }
    }

    /// The spelling of a type; a structured type is a list instead.
    fn descr(&mut self) -> Result<String, NpyError> {
        self.skip_space();
        if matches!(self.peek(), Some(b'[' | b'(')) {
            return Err(UnsupportedType::NumPy("structured".into()).into());
        }
        self.string()
    }

    fn boolean(&mut self) -> Result<bool, NpyError> {
        self.skip_space();
        for (word, value) in [("True", true), ("False", false)] {
            if self.text[self.at..].starts_with(word.as_bytes()) {
                self.at += word.len();
                return Ok(value);
            }
        }
        Err(self.error("True or False"))
    }

    /// A tuple of integers. One element alone needs its comma.
    fn shape(&mut self) -> Result<Vec<u64>, NpyError> {
        self.expect(b'(', "a tuple")?;
        let mut shape = Vec::new();
        while !self.accept(b')') {
            shape.push(self.integer()?);
            if shape.len() > MAX_RANK {
                return Err(self.error("fewer dimensions"));
            }
            if !self.accept(b',') {
                if shape.len() == 1 {
                    return Err(self.error("a comma"));
                }
                self.expect(b')', "a comma or the end of the tuple")?;
                break;
            }
        }
        Ok(shape)
    }

    fn integer(&mut self) -> Result<u64, NpyError> {
        self.skip_space();
        let digits = self.text[self.at..]
            .iter()
            .take_while(|byte| byte.is_ascii_digit())
            .count();
        let token = &self.text[self.at..self.at + digits];
        let value = std::str::from_utf8(token)
            .ok()
            .and_then(|token| token.parse().ok());
        let value = value.ok_or_else(|| self.error("a length"))?;
        self.at += digits;
        // Python 2 marked long integers so.
        self.at += usize::from(self.peek() == Some(b'L'));
        Ok(value)
    }
}
