//! JSON pointers (RFC 6901) that are cheap to extend and to keep.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

/// The way from a document's root to a value in it, printed as `/codecs/0/name`.
///
/// Pointers share their beginnings. A hostile document can put a million values below one enormous
/// name; as strings, their pointers would not fit into memory.
#[derive(Clone, Default, PartialEq, Eq, Hash)]
pub struct Pointer(Option<Arc<Link>>);

#[derive(PartialEq, Eq, Hash)]
struct Link {
    parent: Pointer,
    step: Step,
}

#[derive(PartialEq, Eq, Hash)]
enum Step {
    Member(Box<str>),
    Index(usize),
}

impl Pointer {
    /// The pointer to the root: the empty string.
    pub fn root() -> Self {
        Pointer(None)
    }

    /// The pointer to the member `name` of the object that this one leads to.
    #[must_use]
    pub fn member(&self, name: &str) -> Self {
        self.step(Step::Member(name.into()))
    }

    /// The pointer to an element of the array that this one leads to.
    #[must_use]
    pub fn index(&self, index: usize) -> Self {
        self.step(Step::Index(index))
    }

    fn step(&self, step: Step) -> Self {
        Pointer(Some(Arc::new(Link {
            parent: self.clone(),
            step,
        })))
    }
}

impl fmt::Display for Pointer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut steps = Vec::new();
        let mut here = &self.0;
        while let Some(link) = here {
            steps.push(&link.step);
            here = &link.parent.0;
        }
        for step in steps.into_iter().rev() {
            match step {
                Step::Member(name) => write!(f, "/{}", escape(name))?,
                Step::Index(index) => write!(f, "/{index}")?,
            }
        }
        Ok(())
    }
}

impl fmt::Debug for Pointer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Pointer({self})")
    }
}

fn escape(step: &str) -> Cow<'_, str> {
    if step.contains(['~', '/']) {
        Cow::Owned(step.replace('~', "~0").replace('/', "~1"))
    } else {
        Cow::Borrowed(step)
    }
}

/// A step without its escapes; `None` if it has a `~` that escapes nothing.
pub(super) fn unescape(step: &str) -> Option<Cow<'_, str>> {
    if !step.contains('~') {
        return Some(Cow::Borrowed(step));
    }
    let mut pieces = step.split('~');
    let mut plain = pieces.next()?.to_owned();
    for piece in pieces {
        let (character, rest) = match piece.as_bytes().first()? {
            b'0' => ('~', &piece[1..]),
            b'1' => ('/', &piece[1..]),
            _ => return None,
        };
        plain.push(character);
        plain.push_str(rest);
    }
    Some(Cow::Owned(plain))
}

/// A step as an array index; RFC 6901 allows neither signs nor leading zeros.
pub(super) fn array_index(step: &str) -> Option<usize> {
    let plain = step.bytes().all(|byte| byte.is_ascii_digit());
    let canonical = step == "0" || !step.starts_with('0');
    (plain && canonical).then(|| step.parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn prints_with_escapes() {
        let pointer = Pointer::root()
            .member("a/b")
            .index(3)
            .member("~")
            .member("");
        assert_eq!(pointer.to_string(), "/a~1b/3/~0/");
        assert_eq!(Pointer::root().to_string(), "");
    }

    proptest! {
        #[test]
        fn escapes_come_back(step in "[~/01a]{0,8}") {
            let escaped = escape(&step);
            prop_assert_eq!(unescape(&escaped).unwrap(), step.as_str());
        }
    }
}
