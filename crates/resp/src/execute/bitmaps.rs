//! Strings as rows of bits.

use super::immediate::ImmediateCall;
use super::keys::{each_value, store};
use super::part::PartAction;
use super::plan::{CommandArguments, PartSink, ReplyShape};
use super::words::{self, Refusal};
use crate::bit_fields::{BitFieldOperation, FieldChange, FieldKind, FieldOverflow};
use crate::bits::BitUnit;
use crate::protocol::parse_integer;
use crate::values::{ValueKind, would_be_marked};

type Planned = Result<ReplyShape, Refusal>;

/// The number of a bit within the longest value.
fn bit_offset(
    arguments: &CommandArguments<'_>,
    index: usize,
    bytes_max: usize,
) -> Result<usize, Refusal> {
    parse_integer(arguments.get(index))
        .and_then(|offset| usize::try_from(offset).ok())
        .filter(|offset| offset / 8 < bytes_max)
        .ok_or("ERR bit offset is not an integer or out of range".into())
}

fn integer(arguments: &CommandArguments<'_>, index: usize) -> Result<i64, Refusal> {
    parse_integer(arguments.get(index)).ok_or(words::NOT_AN_INTEGER.into())
}

fn unit(arguments: &CommandArguments<'_>, index: usize) -> Result<BitUnit, Refusal> {
    match arguments.get(index).to_ascii_lowercase().as_slice() {
        b"byte" => Ok(BitUnit::Byte),
        b"bit" => Ok(BitUnit::Bit),
        _ => Err(words::SYNTAX.into()),
    }
}

fn one(sink: &mut PartSink<'_>, action: PartAction) -> Planned {
    sink.push(1, action);
    Ok(ReplyShape::Single)
}

pub(crate) fn getbit(arguments: &CommandArguments<'_>, sink: &mut PartSink<'_>) -> Planned {
    let offset = bit_offset(arguments, 2, sink.value_bytes_max)?;
    one(sink, PartAction::GetBit { offset })
}

pub(crate) fn setbit(arguments: &CommandArguments<'_>, sink: &mut PartSink<'_>) -> Planned {
    let offset = bit_offset(arguments, 2, sink.value_bytes_max)?;
    let bit = match arguments.get(3) {
        b"0" => false,
        b"1" => true,
        _ => return Err("ERR bit is not an integer or out of range".into()),
    };
    one(sink, PartAction::SetBit { offset, bit })
}

pub(crate) fn fields(arguments: &CommandArguments<'_>, sink: &mut PartSink<'_>) -> Planned {
    field_operations(arguments, sink, false)
}

pub(crate) fn read_fields(arguments: &CommandArguments<'_>, sink: &mut PartSink<'_>) -> Planned {
    field_operations(arguments, sink, true)
}

/// A part for each operation. The first change makes the value as long as all of them need.
fn field_operations(
    arguments: &CommandArguments<'_>,
    sink: &mut PartSink<'_>,
    only_reads: bool,
) -> Planned {
    let (mut overflow, mut at, mut bytes_min) = (FieldOverflow::Wrap, 2, 0);
    let mut operations: Vec<BitFieldOperation> = Vec::new();
    while at < arguments.len() {
        let name = arguments.get(at).to_ascii_lowercase();
        let words_left = arguments.len() - at - 1;
        // How many words follow each name.
        let words = match name.as_slice() {
            b"get" => 2,
            b"set" | b"incrby" => 3,
            b"overflow" => 1,
            _ => return Err(words::SYNTAX.into()),
        };
        if words_left < words {
            return Err(words::SYNTAX.into());
        }
        match name.as_slice() {
            // It counts for the changes after it.
            b"overflow" => overflow = overflow_rule(arguments.get(at + 1))?,
            _ => {
                let (kind, offset) = field_place(arguments, at + 1, sink.value_bytes_max)?;
                let number = |index| integer(arguments, index);
                let change = match name.as_slice() {
                    b"get" => FieldChange::None,
                    b"set" => FieldChange::Set(number(at + 3)?),
                    _ => FieldChange::Add(number(at + 3)?),
                };
                if change != FieldChange::None {
                    let end = kind.last_byte(offset).unwrap_or(0) + 1;
                    bytes_min = bytes_min.max(end);
                }
                operations.push(BitFieldOperation { kind, offset, change, overflow, bytes_min: 0 });
            }
        }
        at += 1 + words;
    }
    if only_reads && bytes_min > 0 {
        return Err("ERR BITFIELD_RO only supports the GET subcommand".into());
    }
    // Without any it looks at the kind of the value alone.
    if operations.is_empty() {
        sink.push(1, PartAction::Length);
        return Ok(ReplyShape::EmptyArray);
    }
    for operation in operations {
        sink.push(1, PartAction::BitField(BitFieldOperation { bytes_min, ..operation }));
    }
    Ok(ReplyShape::Array)
}

fn overflow_rule(word: &[u8]) -> Result<FieldOverflow, Refusal> {
    match word.to_ascii_lowercase().as_slice() {
        b"wrap" => Ok(FieldOverflow::Wrap),
        b"sat" => Ok(FieldOverflow::Saturate),
        b"fail" => Ok(FieldOverflow::Fail),
        _ => Err("ERR Invalid OVERFLOW type specified".into()),
    }
}

/// The kind and the offset of a field: a number of bits, or of fields after a `#`.
fn field_place(
    arguments: &CommandArguments<'_>,
    at: usize,
    bytes_max: usize,
) -> Result<(FieldKind, usize), Refusal> {
    let refusal = "ERR Invalid bitfield type. Use something like i16 u8. Note that u64 is not \
                   supported but i64 is.";
    let kind = FieldKind::parse(arguments.get(at)).ok_or(refusal)?;
    let (word, unit) = match arguments.get(at + 1) {
        [b'#', digits @ ..] => (digits, usize::from(kind.bits)),
        digits => (digits, 1),
    };
    let offset = parse_integer(word).and_then(|offset| usize::try_from(offset).ok());
    let offset = offset.and_then(|offset| offset.checked_mul(unit));
    let is_within = |offset: &usize| kind.last_byte(*offset).is_some_and(|last| last < bytes_max);
    let offset = offset.filter(is_within);
    Ok((kind, offset.ok_or("ERR bit offset is not an integer or out of range")?))
}

pub(crate) fn count(arguments: &CommandArguments<'_>, sink: &mut PartSink<'_>) -> Planned {
    let (start, end, unit) = match arguments.len() {
        2 => (0, -1, BitUnit::Byte),
        4 => (integer(arguments, 2)?, integer(arguments, 3)?, BitUnit::Byte),
        5 => (integer(arguments, 2)?, integer(arguments, 3)?, unit(arguments, 4)?),
        _ => return Err(words::SYNTAX.into()),
    };
    one(sink, PartAction::CountBits { start, end, unit })
}

pub(crate) fn find(arguments: &CommandArguments<'_>, sink: &mut PartSink<'_>) -> Planned {
    let bit = match integer(arguments, 2)? {
        0 => false,
        1 => true,
        _ => return Err("ERR The bit argument must be 1 or 0.".into()),
    };
    let (start, end, unit) = match arguments.len() {
        3 => (0, None, BitUnit::Byte),
        4 => (integer(arguments, 3)?, None, BitUnit::Byte),
        5 => (integer(arguments, 3)?, Some(integer(arguments, 4)?), BitUnit::Byte),
        6 => (integer(arguments, 3)?, Some(integer(arguments, 4)?), unit(arguments, 5)?),
        _ => return Err(words::SYNTAX.into()),
    };
    one(sink, PartAction::FindBit { bit, start, end, unit })
}

/// BITOP: the bytes of some keys together become those of another.
pub(crate) fn combine(call: &mut ImmediateCall<'_>) -> Result<(), Refusal> {
    let combine: fn(u8, u8) -> u8 = match call.lower(1).as_str() {
        "and" => |one, other| one & other,
        "or" => |one, other| one | other,
        "xor" => |one, other| one ^ other,
        "not" if call.len() != 4 => {
            return Err("ERR BITOP NOT must be called with a single source key.".into());
        }
        "not" => |one, _| !one,
        _ => return Err(words::SYNTAX.into()),
    };
    let sources: Vec<&[u8]> = (3..call.len()).map(|index| call.word(index)).collect();
    let target = call.word(2);
    let _turn = call.turn(true);
    let bytes_max = call.client.limits.output_bytes_max;
    let mut combined = CombinedBits { combine, bytes: Vec::new(), values: 0, read: 0, bytes_max };
    let mut are_strings = true;
    let read = each_value(call.keyspace, &sources, |number, value, _| {
        are_strings &= ValueKind::of(value) == ValueKind::String;
        // Keys that there are not are values without bytes.
        (combined.values..number).for_each(|_| combined.add(b""));
        combined.add(value);
        are_strings && combined.read <= bytes_max
    });
    call.stored(read)?;
    if !are_strings {
        return Err(words::WRONG_TYPE.into());
    }
    (combined.values..sources.len()).for_each(|_| combined.add(b""));
    if combined.read > bytes_max {
        return Err(format!("OOM BITOP reads at most {bytes_max} bytes: give fewer keys").into());
    }
    let mut combined = combined.bytes;
    if call.lower(1) == "not" {
        combined.iter_mut().for_each(|byte| *byte = combine(*byte, 0));
    }
    if would_be_marked(b"", 0, &combined) {
        return Err(words::MARKED.into());
    }
    // Nothing is not a value: the key is deleted.
    let change = (!combined.is_empty()).then_some((combined.as_slice(), 0));
    call.stored(store(call.keyspace, &[(target, change)]))?;
    call.reply().integer(combined.len() as i64);
    Ok(())
}

/// The bytes of some values together.
struct CombinedBits {
    combine: fn(u8, u8) -> u8,
    bytes: Vec<u8>,
    /// How many values there were.
    values: usize,
    /// How many bytes were looked at; beyond the most nothing is combined.
    read: usize,
    bytes_max: usize,
}

impl CombinedBits {
    fn add(&mut self, value: &[u8]) {
        self.values += 1;
        self.read = self.read.saturating_add(value.len().max(self.bytes.len()));
        if self.read > self.bytes_max {
            return;
        }
        if self.values == 1 {
            return self.bytes.extend_from_slice(value);
        }
        // Shorter values continue with zeros.
        self.bytes.resize(self.bytes.len().max(value.len()), 0);
        let zeros = std::iter::repeat(&0);
        let pairs = self.bytes.iter_mut().zip(value.iter().chain(zeros));
        pairs.for_each(|(byte, other)| *byte = (self.combine)(*byte, *other));
    }
}
