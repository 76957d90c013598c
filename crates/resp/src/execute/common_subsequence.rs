//! LCS: the longest bytes that two strings have in common, in the same order.

use std::ops::Range;

use super::immediate::ImmediateCall;
use super::words::{self, Refusal};

type Handled = Result<(), Refusal>;

/// The most cells of the table of lengths: more would hold up other clients.
const CELLS_MAX: usize = 64 << 20;

/// How long the common bytes of all beginnings of two strings are.
struct LengthTable<'s> {
    one: &'s [u8],
    other: &'s [u8],
    lengths: Vec<u32>,
}

/// Bytes that stand together in both strings.
type CommonPart = (Range<usize>, Range<usize>);

impl<'s> LengthTable<'s> {
    fn new(one: &'s [u8], other: &'s [u8]) -> Self {
        let row = other.len() + 1;
        let mut lengths = vec![0; (one.len() + 1) * row];
        for (at, byte) in one.iter().enumerate() {
            for (place, candidate) in other.iter().enumerate() {
                let cell = (at + 1) * row + place + 1;
                lengths[cell] = match byte == candidate {
                    true => lengths[cell - row - 1] + 1,
                    false => lengths[cell - row].max(lengths[cell - 1]),
                };
            }
        }
        Self { one, other, lengths }
    }

    fn length(&self, one: usize, other: usize) -> u32 {
        self.lengths[one * (self.other.len() + 1) + other]
    }

    /// The matches, from the end.
    fn matches(&self) -> Vec<CommonPart> {
        let (mut one, mut other) = (self.one.len(), self.other.len());
        let mut matches: Vec<CommonPart> = Vec::new();
        while one > 0 && other > 0 {
            if self.one[one - 1] == self.other[other - 1] {
                (one, other) = (one - 1, other - 1);
                match matches.last_mut() {
                    Some((first, second))
                        if first.start == one + 1 && second.start == other + 1 =>
                    {
                        (first.start, second.start) = (one, other);
                    }
                    _ => matches.push((one..one + 1, other..other + 1)),
                }
            } else if self.length(one - 1, other) > self.length(one, other - 1) {
                one -= 1;
            } else {
                other -= 1;
            }
        }
        matches
    }
}

/// What is answered.
#[derive(Default)]
struct CommonOptions {
    only_length: bool,
    with_places: bool,
    with_lengths: bool,
    length_min: usize,
}

fn options(call: &ImmediateCall<'_>) -> Result<CommonOptions, Refusal> {
    let (mut options, mut at) = (CommonOptions::default(), 3);
    while at < call.len() {
        match call.lower(at).as_str() {
            "len" => options.only_length = true,
            "idx" => options.with_places = true,
            "withmatchlen" => options.with_lengths = true,
            "minmatchlen" if at + 1 < call.len() => {
                at += 1;
                options.length_min = usize::try_from(call.integer(at)?).unwrap_or(0);
            }
            _ => return Err(words::SYNTAX.into()),
        }
        at += 1;
    }
    if options.only_length && options.with_places {
        return Err("ERR If you want both the length and indexes, please just use IDX.".into());
    }
    Ok(options)
}

pub(crate) fn lcs(call: &mut ImmediateCall<'_>) -> Handled {
    let keys = [call.word(1), call.word(2)];
    let turn = call.turn(false);
    // A key that is not there is a string without bytes.
    let kinds = call.inner(&[&[b"TYPE", keys[0]], &[b"TYPE", keys[1]]])?;
    let is_string = |kind: &[u8]| matches!(kind, b"string" | b"none");
    if !kinds.into_iter().all(|kind| is_string(&kind.into_text().unwrap_or_default())) {
        return Err("ERR The specified keys must contain string values".into());
    }
    let options = options(call)?;
    let found = call.inner(&[&[b"GET", keys[0]], &[b"GET", keys[1]]])?;
    drop(turn);
    let texts: Vec<Vec<u8>> =
        found.into_iter().map(|text| text.into_text().unwrap_or_default()).collect();
    let [one, other] = [0, 1].map(|number| texts.get(number).map_or(&b""[..], Vec::as_slice));
    let cells = (one.len() + 1).checked_mul(other.len() + 1);
    if cells.is_none_or(|cells| cells > CELLS_MAX) {
        return Err(format!(
            "ERR LCS compares strings whose lengths multiplied are at most {CELLS_MAX}: shorten \
             them"
        )
        .into());
    }
    let table = LengthTable::new(one, other);
    let length = i64::from(table.length(one.len(), other.len()));
    if options.only_length {
        call.reply().integer(length);
        return Ok(());
    }
    // Matches come from the end; the text is put together from the beginning.
    let mut matches = table.matches();
    if !options.with_places {
        let parts = matches.iter().rev().map(|(part, _)| &one[part.clone()]);
        call.reply().bulk(&parts.collect::<Vec<_>>().concat());
        return Ok(());
    }
    matches.retain(|(part, _)| part.len() >= options.length_min);
    show_places(call, &matches, length, options.with_lengths);
    Ok(())
}

fn show_places(
    call: &mut ImmediateCall<'_>,
    matches: &[CommonPart],
    length: i64,
    with_lengths: bool,
) {
    let mut reply = call.reply();
    reply.map(2);
    reply.bulk(b"matches");
    reply.array(matches.len());
    for (one, other) in matches {
        reply.array(2 + usize::from(with_lengths));
        for part in [one, other] {
            reply.array(2);
            reply.integer(part.start as i64);
            reply.integer(part.end as i64 - 1);
        }
        if with_lengths {
            reply.integer(one.len() as i64);
        }
    }
    reply.bulk(b"len");
    reply.integer(length);
}
