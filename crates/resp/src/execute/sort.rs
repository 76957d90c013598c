//! SORT: the elements of a list, a set or a sorted set in another order, by their values or by
//! those of other keys.

use std::cmp::Ordering;

use super::immediate::{ImmediateCall, check_right};
use super::words::{self, Refusal};
use crate::access::KeyRight;
use crate::protocol::parse_double;

type Handled = Result<(), Refusal>;

/// The most elements that one of the inner commands adds, and keys that one looks up.
const ELEMENTS_MAX: usize = 10_000;

/// What storing a list needs.
const STORED_RIGHTS: &[KeyRight] = &[KeyRight::Insert, KeyRight::Update, KeyRight::Delete];

/// The options of a call.
#[derive(Default)]
struct SortOptions<'c> {
    is_descending: bool,
    by_text: bool,
    limit: Option<(i64, i64)>,
    by: Option<&'c [u8]>,
    shown: Vec<&'c [u8]>,
    target: Option<&'c [u8]>,
}

/// An element and what it is sorted by.
struct SortedElement {
    text: Vec<u8>,
    weight: Option<Vec<u8>>,
    score: f64,
}

pub(crate) fn sort(call: &mut ImmediateCall<'_>) -> Handled {
    let options = options(call, true)?;
    carry_out(call, &options)
}

pub(crate) fn sort_read_only(call: &mut ImmediateCall<'_>) -> Handled {
    let options = options(call, false)?;
    carry_out(call, &options)
}

fn options<'c>(call: &ImmediateCall<'c>, may_store: bool) -> Result<SortOptions<'c>, Refusal> {
    let (mut options, mut at) = (SortOptions::default(), 2);
    while at < call.len() {
        // An option without its words is not an option.
        let words_left = call.len() - at - 1;
        match call.lower(at).as_str() {
            "asc" => options.is_descending = false,
            "desc" => options.is_descending = true,
            "alpha" => options.by_text = true,
            "limit" if words_left >= 2 => {
                options.limit = Some((call.integer(at + 1)?, call.integer(at + 2)?));
                at += 2;
            }
            "by" if words_left >= 1 => {
                at += 1;
                options.by = Some(call.word(at));
            }
            "get" if words_left >= 1 => {
                at += 1;
                options.shown.push(call.word(at));
            }
            "store" if words_left >= 1 && may_store => {
                at += 1;
                options.target = Some(call.word(at));
            }
            _ => return Err(words::SYNTAX.into()),
        }
        at += 1;
    }
    // The table of commands cannot know where the target is.
    if let Some(target) = options.target {
        for right in STORED_RIGHTS {
            check_right(call.client, *right, target)?;
        }
    }
    Ok(options)
}

fn carry_out(call: &mut ImmediateCall<'_>, options: &SortOptions<'_>) -> Handled {
    let _turn = call.turn(true);
    let (kind, elements) = elements(call)?;
    let sorted = sorted(call, options, &kind, elements)?;
    let shown = shown(call, options, sorted)?;
    match options.target {
        Some(target) => {
            store(call, target, &shown)?;
            call.reply().integer(shown.len() as i64);
        }
        None => {
            let mut reply = call.reply();
            reply.array(shown.len());
            for text in &shown {
                match text {
                    Some(text) => reply.bulk(text),
                    None => reply.null(),
                }
            }
        }
    }
    Ok(())
}

/// The kind of the key, and its elements in their own order.
fn elements(call: &ImmediateCall<'_>) -> Result<(Vec<u8>, Vec<Vec<u8>>), Refusal> {
    let key = call.word(1);
    let kind = call.inner(&[&[b"TYPE", key]])?.pop().and_then(|reply| reply.into_text());
    let kind = kind.unwrap_or_default();
    let elements = match kind.as_slice() {
        b"none" => Vec::new(),
        b"list" => call.inner_list(&[b"LRANGE", key, b"0", b"-1"])?,
        b"set" => call.inner_list(&[b"SMEMBERS", key])?,
        b"zset" => call.inner_list(&[b"ZRANGE", key, b"0", b"-1"])?,
        _ => return Err(words::WRONG_TYPE.into()),
    };
    Ok((kind, elements))
}

/// The elements of the range that is wanted, in the order that is wanted.
fn sorted(
    call: &ImmediateCall<'_>,
    options: &SortOptions<'_>,
    kind: &[u8],
    mut elements: Vec<Vec<u8>>,
) -> Result<Vec<Vec<u8>>, Refusal> {
    // A pattern of no key keeps the order, but a set has none that could be stored.
    let keeps = options.by.is_some_and(|by| !by.contains(&b'*'));
    let is_stored_set = keeps && kind == b"set" && options.target.is_some();
    if keeps && !is_stored_set {
        if kind == b"zset" && options.is_descending {
            elements.reverse();
        }
        return Ok(within(elements, options.limit));
    }
    // Such a set is sorted by its own texts instead.
    let by_text = options.by_text || is_stored_set;
    let by = options.by.filter(|_| !is_stored_set);
    let weights: Vec<Option<Vec<u8>>> = match by {
        Some(by) => looked_up(call, by, &elements)?,
        None => elements.iter().cloned().map(Some).collect(),
    };
    let mut all = Vec::with_capacity(elements.len());
    for (text, weight) in elements.into_iter().zip(weights) {
        let score = if by_text { Some(0.0) } else { score(weight.as_deref()) };
        let score = score.ok_or("ERR One or more scores can't be converted into double")?;
        all.push(SortedElement { text, weight, score });
    }
    all.sort_by(|one, other| {
        let order = match by_text {
            true => one.weight.cmp(&other.weight),
            false => {
                let by_score = one.score.partial_cmp(&other.score).unwrap_or(Ordering::Equal);
                by_score.then_with(|| one.text.cmp(&other.text))
            }
        };
        if options.is_descending { order.reverse() } else { order }
    });
    Ok(within(all.into_iter().map(|element| element.text).collect(), options.limit))
}

/// The number that an element is sorted by. What is not there is 0.
fn score(weight: Option<&[u8]>) -> Option<f64> {
    // As C reads it: up to a zero byte, perhaps with spaces in front.
    let text = weight.and_then(|weight| weight.split(|byte| *byte == 0).next());
    match text {
        None | Some(b"") => Some(0.0),
        Some(text) => parse_double(text.trim_ascii_start()),
    }
}

fn within(mut elements: Vec<Vec<u8>>, limit: Option<(i64, i64)>) -> Vec<Vec<u8>> {
    let Some((start, count)) = limit else { return elements };
    let start = usize::try_from(start).unwrap_or(0).min(elements.len());
    let count = usize::try_from(count).unwrap_or(usize::MAX);
    elements.drain(..start);
    elements.truncate(count);
    elements
}

/// What is shown of each element: what GET asks for, or itself.
fn shown(
    call: &ImmediateCall<'_>,
    options: &SortOptions<'_>,
    elements: Vec<Vec<u8>>,
) -> Result<Vec<Option<Vec<u8>>>, Refusal> {
    if options.shown.is_empty() {
        return Ok(elements.into_iter().map(Some).collect());
    }
    let mut columns = Vec::with_capacity(options.shown.len());
    let mut bytes = 0_usize;
    for pattern in &options.shown {
        let column = looked_up(call, pattern, &elements)?;
        let len = |text: &Option<Vec<u8>>| {
            text.as_ref().map_or(0, Vec::len) + size_of::<Option<Vec<u8>>>()
        };
        bytes = bytes.saturating_add(column.iter().map(len).sum());
        if bytes > call.client.limits.output_bytes_max {
            return Err(words::REPLY_TOO_LARGE.into());
        }
        columns.push(column.into_iter());
    }
    let row = |_| columns.iter_mut().map(|column| column.next().flatten()).collect::<Vec<_>>();
    Ok(elements.iter().flat_map(row).collect())
}

/// A pattern that leads from elements to keys, and perhaps to a field of their hashes.
struct KeyPattern<'p> {
    before: &'p [u8],
    after: &'p [u8],
    field: Option<&'p [u8]>,
}

impl<'p> KeyPattern<'p> {
    /// Reads what is around a star, and the field after `->`.
    fn read(pattern: &'p [u8]) -> Option<Self> {
        let (before, after) = pattern.split_at(pattern.iter().position(|byte| *byte == b'*')?);
        let after = &after[1..];
        let arrow = after.windows(2).position(|two| two == b"->");
        Some(match arrow.filter(|at| at + 2 < after.len()) {
            Some(at) => Self { before, after: &after[..at], field: Some(&after[at + 2..]) },
            None => Self { before, after, field: None },
        })
    }

    fn keys(&self, elements: &[Vec<u8>]) -> Vec<Vec<u8>> {
        elements.iter().map(|element| [self.before, element, self.after].concat()).collect()
    }
}

/// What a pattern leads to for each element: the string of a key, or the field of a hash.
fn looked_up(
    call: &ImmediateCall<'_>,
    pattern: &[u8],
    elements: &[Vec<u8>],
) -> Result<Vec<Option<Vec<u8>>>, Refusal> {
    if pattern == b"#" {
        return Ok(elements.iter().cloned().map(Some).collect());
    }
    let Some(pattern) = KeyPattern::read(pattern) else {
        return Ok(vec![None; elements.len()]);
    };
    let keys = pattern.keys(elements);
    // The pattern leads to any key, so each is checked.
    keys.iter().try_for_each(|key| check_right(call.client, KeyRight::Read, key))?;
    let mut values = Vec::with_capacity(keys.len());
    for some in keys.chunks(ELEMENTS_MAX) {
        values.extend(values_of(call, some, pattern.field)?);
    }
    Ok(values)
}

/// The strings of keys, or a field of their hashes. Keys of other kinds have none.
fn values_of(
    call: &ImmediateCall<'_>,
    keys: &[Vec<u8>],
    field: Option<&[u8]>,
) -> Result<Vec<Option<Vec<u8>>>, Refusal> {
    let right_kind: &[u8] = if field.is_some() { b"hash" } else { b"string" };
    let kinds: Vec<[&[u8]; 2]> = keys.iter().map(|key| [&b"TYPE"[..], key]).collect();
    let kinds: Vec<&[&[u8]]> = kinds.iter().map(|command| &command[..]).collect();
    let kinds = call.inner(&kinds)?.into_iter();
    let has_value: Vec<bool> =
        kinds.map(|kind| kind.into_text().as_deref() == Some(right_kind)).collect();
    let asked = keys.iter().zip(&has_value).filter(|(_, has_value)| **has_value);
    let commands: Vec<Vec<&[u8]>> = asked
        .map(|(key, _)| match field {
            Some(field) => vec![&b"HGET"[..], key, field],
            None => vec![&b"GET"[..], key],
        })
        .collect();
    let commands: Vec<&[&[u8]]> = commands.iter().map(Vec::as_slice).collect();
    let mut found = call.inner(&commands)?.into_iter();
    let value = |has_value: bool| if has_value { found.next()?.into_text() } else { None };
    Ok(has_value.into_iter().map(value).collect())
}

/// A list of the texts takes the place of what a key has. What is not there is an empty one.
fn store(call: &ImmediateCall<'_>, target: &[u8], texts: &[Option<Vec<u8>>]) -> Handled {
    let texts: Vec<&[u8]> = texts.iter().map(|text| text.as_deref().unwrap_or_default()).collect();
    let mut commands: Vec<Vec<&[u8]>> = vec![vec![b"DEL", target]];
    for some in texts.chunks(ELEMENTS_MAX) {
        commands.push([&[&b"RPUSH"[..], target], some].concat());
    }
    let commands: Vec<&[&[u8]]> = commands.iter().map(Vec::as_slice).collect();
    call.inner(&commands).map(drop)
}
