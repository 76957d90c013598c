//! The scope of a read of pairs: how deep below a key, and in which range.

use tonnage_engine::{FilterDecision, KeyFilter, KeyPart, Ranges, append_successor};

use super::key::{append_component, append_escaped, count_components};

/// How deep below a parent key to look.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Depth {
    /// The pair with exactly this key.
    #[default]
    ParentOnly,
    /// Pairs with one more minor component.
    ChildrenOnly,
    /// Pairs with any number of further minor components.
    DescendantsOnly,
    /// The pair itself and those with one more minor component.
    ParentAndChildren,
    /// The pair itself and all below it.
    ParentAndDescendants,
}

impl Depth {
    pub(super) fn has_parent(self) -> bool {
        matches!(self, Depth::ParentOnly | Depth::ParentAndChildren | Depth::ParentAndDescendants)
    }

    pub(super) fn is_children(self) -> bool {
        matches!(self, Depth::ChildrenOnly | Depth::ParentAndChildren)
    }
}

/// A range of the minor component right below the parent key, in the order of bytes. The parent
/// itself is not judged by it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeyRange {
    /// The low end, and whether it belongs to the range.
    pub start: Option<(Vec<u8>, bool)>,
    /// The high end, and whether it belongs to the range.
    pub end: Option<(Vec<u8>, bool)>,
    /// What the component must begin with.
    pub prefix: Vec<u8>,
}

/// Appends the ranges that hold the pairs below `parent` (and itself) that are wanted; a
/// [`ComponentLimit`] must still take out those that lie too deep.
pub(super) fn push_ranges(
    parent: &[u8],
    depth: Depth,
    range: Option<&KeyRange>,
    ranges: &mut Ranges,
) {
    let just_past = |key: &[u8]| [key, &[0]].concat();
    if depth.has_parent() {
        ranges.push(parent, &just_past(parent));
    }
    if depth == Depth::ParentOnly {
        return;
    }
    let (mut start, mut end) = (just_past(parent), Vec::new());
    append_successor(parent, &mut end);
    if let Some(range) = range {
        narrow(parent, range, &mut start, &mut end);
    }
    if end.is_empty() || start < end {
        ranges.push(&start, &end);
    }
}

/// Appends the range of the pairs whose major path begins with some components. A range applies to
/// the component after them.
pub(super) fn push_major_range(leading: &[&[u8]], range: Option<&KeyRange>, ranges: &mut Ranges) {
    let (mut start, mut end) = (Vec::new(), Vec::new());
    leading.iter().for_each(|component| append_component(component, &mut start));
    append_successor(&start, &mut end);
    if let Some(range) = range {
        let above = start.clone();
        // After the pairs that have no further component: their paths end with `00 00`.
        start.extend_from_slice(&[0, 1]);
        narrow(&above, range, &mut start, &mut end);
    }
    if end.is_empty() || start < end {
        ranges.push(&start, &end);
    }
}

/// Narrows bounds to the components that are in the range.
fn narrow(parent: &[u8], range: &KeyRange, start: &mut Vec<u8>, end: &mut Vec<u8>) {
    let component = |bytes: &[u8]| {
        let mut key = parent.to_vec();
        append_component(bytes, &mut key);
        key
    };
    let past = |key: &[u8]| {
        let mut past = Vec::new();
        append_successor(key, &mut past);
        past
    };
    // Bounds only come closer: those of the parent hold in any case. An empty end is the end of the
    // space, above all others.
    let mut raise = |bound: Vec<u8>| {
        if bound > *start {
            *start = bound;
        }
    };
    match &range.start {
        Some((bytes, true)) => raise(component(bytes)),
        Some((bytes, false)) => raise(past(&component(bytes))),
        None => {}
    }
    let mut lower = |bound: Vec<u8>| {
        if end.is_empty() || bound < *end {
            *end = bound;
        }
    };
    match &range.end {
        Some((bytes, true)) => lower(past(&component(bytes))),
        Some((bytes, false)) => lower(component(bytes)),
        None => {}
    }
    if !range.prefix.is_empty() {
        // Without the terminator, so that longer components are inside, too.
        let mut key = parent.to_vec();
        append_escaped(&range.prefix, &mut key);
        lower(past(&key));
        raise(key);
    }
}

/// Passes over pairs with more minor components than wanted.
pub(super) struct ComponentLimit {
    pub(super) minor_max: usize,
}

impl KeyFilter for ComponentLimit {
    fn decide(&self, key: &[u8]) -> FilterDecision {
        let minor = KeyPart::Path.end(key, 0).and_then(|end| count_components(&key[end..]));
        match minor {
            Some(count) if count > self.minor_max => FilterDecision::Skip,
            // A key that cannot be read must not vanish: who decodes it says so.
            _ => FilterDecision::Count,
        }
    }
}
