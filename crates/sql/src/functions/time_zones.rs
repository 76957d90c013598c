//! `timestamp AT TIME ZONE zone`, as PostgreSQL has it.
//!
//! 1. A timestamp without a zone is what a clock shows in the zone. The result is that timestamp,
//!    with a zone: UTC.
//! 2. A timestamp with a zone, a DATE and a text are timestamps. The result is what a clock in the
//!    zone shows then, without a zone.
//! 3. A clock that is put forward skips times: such a time counts as if the clock had not been put
//!    forward yet. One that is put back shows times twice: the second one counts.

use std::ops::RangeInclusive;
use std::sync::Arc;

use arrow::array::timezone::Tz;
use arrow::array::{Array, ArrayRef, AsArray, Int64Array, PrimitiveArray, StringArray};
use arrow::compute::cast;
use arrow::datatypes::{
    DataType, FieldRef, Int64Type, IntervalMonthDayNano, IntervalMonthDayNanoType, TimeUnit,
};
use chrono::{DateTime, Days, NaiveDateTime, Offset, TimeZone};
use datafusion::common::{Result, exec_datafusion_err, exec_err, plan_err};
use tonnage::{ColumnType, Value};

use super::scalar::{Arguments, Gives, Scalar, text_of};

const UTC: &str = "+00:00";

/// Zones that PostgreSQL knows by short names, which have one offset all year.
const SHORT_NAMES: [(&str, &str); 24] = [
    ("UTC", UTC),
    ("GMT", UTC),
    ("Z", UTC),
    ("WET", UTC),
    ("WEST", "+01:00"),
    ("BST", "+01:00"),
    ("CET", "+01:00"),
    ("MET", "+01:00"),
    ("CEST", "+02:00"),
    ("EET", "+02:00"),
    ("EEST", "+03:00"),
    ("MSK", "+03:00"),
    ("JST", "+09:00"),
    ("EST", "-05:00"),
    ("EDT", "-04:00"),
    ("CST", "-06:00"),
    ("CDT", "-05:00"),
    ("MST", "-07:00"),
    ("MDT", "-06:00"),
    ("PST", "-08:00"),
    ("PDT", "-07:00"),
    ("AKST", "-09:00"),
    ("AKDT", "-08:00"),
    ("HST", "-10:00"),
];

pub(super) const ALL: [Scalar; 1] = [Scalar {
    name: "_at_time_zone",
    form: "timestamp AT TIME ZONE 'Europe/Berlin'",
    count: (2, 2),
    gives: Gives::Of(result_type),
    work: at_time_zone,
}];

fn result_type(fields: &[FieldRef]) -> Result<DataType> {
    Ok(match fields[0].data_type() {
        DataType::Timestamp(unit, None) => DataType::Timestamp(*unit, Some(UTC.into())),
        DataType::Timestamp(unit, Some(_)) => DataType::Timestamp(*unit, None),
        DataType::Null
        | DataType::Date32
        | DataType::Utf8
        | DataType::LargeUtf8
        | DataType::Utf8View => DataType::Timestamp(TimeUnit::Microsecond, None),
        other => {
            return plan_err!(
                "AT TIME ZONE takes a TIMESTAMP, not {other}: write it as TIMESTAMP '2022-01-03 06:00:00'"
            );
        }
    })
}

fn at_time_zone(arguments: &Arguments) -> Result<ArrayRef> {
    let given = &arguments.arrays[0];
    let result = result_type(&arguments.fields)?;
    let DataType::Timestamp(unit, zone) = &result else {
        return exec_err!("AT TIME ZONE gives a TIMESTAMP, not {result}");
    };
    let is_moment = zone.is_none();
    // A text is a timestamp in UTC unless it names an offset.
    let moments = match is_moment {
        true if given.data_type().is_string() => moments_of_texts(&arguments.texts(0)?)?,
        true => cast(given, &DataType::Timestamp(*unit, Some(UTC.into())))?,
        false => given.clone(),
    };
    let counts = cast(&moments, &DataType::Int64)?;
    let counts = counts.as_primitive::<Int64Type>();
    let zones = match arguments.arrays[1].as_primitive_opt::<IntervalMonthDayNanoType>() {
        Some(intervals) => zones_before(intervals)?,
        None => arguments.texts(1)?,
    };
    // Neighbouring rows mostly have one zone, which is then looked up once.
    let mut zone_of_row = ZoneReader { zones: &zones, last: None };
    let mut moved = Vec::with_capacity(arguments.rows);
    for row in 0..arguments.rows {
        let zone = zone_of_row.zone(row)?;
        moved.push(match zone.filter(|_| counts.is_valid(row)) {
            Some(zone) => Some(move_clock(counts.value(row), per_second(*unit), &zone, is_moment)?),
            None => None,
        });
    }
    Ok(cast(&Int64Array::from(moved), &result)?)
}

/// The timestamps that texts write, of which one without a zone is in UTC.
fn moments_of_texts(texts: &StringArray) -> Result<ArrayRef> {
    let moment = |text: Option<&str>| match text.map(read_moment) {
        Some(Ok(Value::Timestamp { value, .. })) => Ok(Some(value)),
        Some(Ok(_)) | None => Ok(None),
        Some(Err(error)) => exec_err!("AT TIME ZONE: {}", error.message()),
    };
    let counts = texts.iter().map(moment).collect::<Result<Int64Array>>()?;
    Ok(Arc::new(counts))
}

fn read_moment(text: &str) -> tonnage::Result<Value> {
    Value::parse(text, ColumnType::Timestamp(6))
}

/// Zones that are so much before UTC, as `zone_of` reads them.
fn zones_before(intervals: &PrimitiveArray<IntervalMonthDayNanoType>) -> Result<StringArray> {
    const MINUTE_NS: i64 = 60_000_000_000;
    let zone = |interval: Option<IntervalMonthDayNano>| -> Result<Option<String>> {
        let Some(interval) = interval else { return Ok(None) };
        if interval.months != 0 || interval.days != 0 || interval.nanoseconds % MINUTE_NS != 0 {
            return exec_err!("AT TIME ZONE takes an INTERVAL of whole minutes, without days");
        }
        let minutes = interval.nanoseconds / MINUTE_NS;
        // West of UTC, in the sign of texts.
        let sign = if minutes > 0 { '-' } else { '+' };
        Ok(Some(format!("{sign}{:02}:{:02}", minutes.abs() / 60, minutes.abs() % 60)))
    };
    intervals.iter().map(zone).collect()
}

fn per_second(unit: TimeUnit) -> i64 {
    match unit {
        TimeUnit::Second => 1,
        TimeUnit::Millisecond => 1_000,
        TimeUnit::Microsecond => 1_000_000,
        TimeUnit::Nanosecond => 1_000_000_000,
    }
}

/// The zones of rows. Most rows have the zone of the row before them, which is not looked up again.
struct ZoneReader<'a> {
    zones: &'a StringArray,
    last: Option<(usize, Tz)>,
}

impl ZoneReader<'_> {
    fn zone(&mut self, row: usize) -> Result<Option<Tz>> {
        let Some(name) = text_of(self.zones, row) else { return Ok(None) };
        if let Some((known, zone)) = &self.last
            && self.zones.value(*known) == name
        {
            return Ok(Some(*zone));
        }
        let zone = zone_of(name)?;
        self.last = Some((row, zone));
        Ok(Some(zone))
    }
}

fn zone_of(name: &str) -> Result<Tz> {
    let name = name.trim();
    if name.starts_with(|first: char| "+-".contains(first) || first.is_ascii_digit()) {
        return zone_behind(name).ok_or_else(|| {
            exec_datafusion_err!(
                "invalid time zone '{name}'; expected hours and minutes, e.g. '-05:30', or a name, e.g. 'America/New_York'"
            )
        });
    }
    let short = SHORT_NAMES.iter().find(|(short, _)| short.eq_ignore_ascii_case(name));
    let written = short.map_or(name, |(_, offset)| offset);
    written.parse::<Tz>().or_else(|_| capitalised(name).parse::<Tz>()).map_err(|_| {
        exec_datafusion_err!("unknown time zone '{name}'; expected e.g. 'America/New_York'")
    })
}

/// The zone of '+02:00', which is two hours west of UTC to PostgreSQL.
fn zone_behind(offset: &str) -> Option<Tz> {
    let (sign, digits) = match offset.split_at_checked(1)? {
        ("-", digits) => ('+', digits),
        ("+", digits) => ('-', digits),
        _ => ('-', offset),
    };
    let (hours, minutes) = match digits.split_once(':') {
        Some(parts) => parts,
        None if digits.len() == 4 => digits.split_at_checked(2)?,
        None => (digits, "00"),
    };
    let is_number = |part: &str, digits: RangeInclusive<usize>| {
        digits.contains(&part.len()) && part.bytes().all(|digit| digit.is_ascii_digit())
    };
    if !is_number(hours, 1..=2) || !is_number(minutes, 2..=2) {
        return None;
    }
    format!("{sign}{hours:0>2}:{minutes}").parse().ok()
}

/// `america/new_york` with the capital letters that names of zones have.
fn capitalised(name: &str) -> String {
    let mut is_first = true;
    let letters = name.chars().map(|letter| {
        let written =
            if is_first { letter.to_ascii_uppercase() } else { letter.to_ascii_lowercase() };
        is_first = !letter.is_ascii_alphanumeric();
        written
    });
    letters.collect()
}

/// A timestamp as the clock of a zone shows it, or what the clock shows as a timestamp.
fn move_clock(count: i64, per_second: i64, zone: &Tz, is_moment: bool) -> Result<i64> {
    let seconds = count.div_euclid(per_second);
    let out_of_range = || exec_datafusion_err!("AT TIME ZONE: the timestamp is out of range");
    let time = DateTime::from_timestamp(seconds, 0).ok_or_else(out_of_range)?.naive_utc();
    let ahead = match is_moment {
        true => zone.offset_from_utc_datetime(&time).fix().local_minus_utc(),
        false => -local_offset(zone, &time).ok_or_else(out_of_range)?,
    };
    let moved = i64::from(ahead).checked_mul(per_second).and_then(|ahead| count.checked_add(ahead));
    moved.ok_or_else(out_of_range)
}

/// How many seconds a clock that shows this time is before UTC.
fn local_offset(zone: &Tz, time: &NaiveDateTime) -> Option<i32> {
    let offset = zone.offset_from_local_datetime(time).latest();
    // A time that is skipped has no offset: that of the day before held until then.
    let offset = offset.or_else(|| {
        let day_before = time.checked_sub_days(Days::new(1))?;
        zone.offset_from_local_datetime(&day_before).latest()
    })?;
    Some(offset.fix().local_minus_utc())
}
