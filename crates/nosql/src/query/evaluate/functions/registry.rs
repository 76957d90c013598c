//! All functions, with how many arguments they take.

use super::arguments::Function;
use super::{mathematics as math, rows, sequences, strings, times};

/// What is said of all rows of a group.
pub(crate) const AGGREGATES: [&str; 5] = ["count", "sum", "avg", "min", "max"];

/// The facts about a row beside its columns.
pub(crate) const ROW_FUNCTIONS: [&str; 11] = [
    "version",
    "expiration_time",
    "expiration_time_millis",
    "remaining_hours",
    "remaining_days",
    "modification_time",
    "creation_time",
    "row_storage_size",
    "partition",
    "shard",
    "creation_time_millis",
];

/// A function: its name, the fewest and the most arguments that it takes.
pub(super) type Registered = (&'static str, usize, usize, Function);

/// Any number of arguments.
const ANY: usize = usize::MAX;

pub(super) const FUNCTIONS: &[Registered] = &[
    ("upper", 1, 1, strings::upper),
    ("lower", 1, 1, strings::lower),
    ("concat", 0, ANY, strings::concat),
    ("substring", 2, 3, strings::substring),
    ("trim", 1, 3, strings::trim),
    ("ltrim", 1, 2, strings::trim),
    ("rtrim", 1, 2, strings::trim),
    ("length", 1, 1, strings::length),
    ("contains", 2, 2, strings::contains),
    ("starts_with", 2, 2, strings::contains),
    ("ends_with", 2, 2, strings::contains),
    ("index_of", 2, 3, strings::index_of),
    ("replace", 2, 3, strings::replace),
    ("reverse", 1, 1, strings::reverse),
    ("regex_like", 2, 3, strings::regex_like),
    ("abs", 1, 1, math::abs),
    ("ceil", 1, 1, math::round),
    ("floor", 1, 1, math::round),
    ("round", 1, 2, math::round),
    ("trunc", 1, 2, math::round),
    ("sign", 1, 1, math::of_double),
    ("sqrt", 1, 1, math::of_double),
    ("exp", 1, 1, math::of_double),
    ("ln", 1, 1, math::of_double),
    ("log10", 1, 1, math::of_double),
    ("sin", 1, 1, math::of_double),
    ("cos", 1, 1, math::of_double),
    ("tan", 1, 1, math::of_double),
    ("cot", 1, 1, math::of_double),
    ("asin", 1, 1, math::of_double),
    ("acos", 1, 1, math::of_double),
    ("atan", 1, 1, math::of_double),
    ("degrees", 1, 1, math::of_double),
    ("radians", 1, 1, math::of_double),
    ("log", 2, 2, math::of_two),
    ("power", 2, 2, math::of_two),
    ("atan2", 2, 2, math::of_two),
    ("pi", 0, 0, math::constant),
    ("e", 0, 0, math::constant),
    ("rand", 0, 0, math::constant),
    ("seq_concat", 0, ANY, sequences::concat),
    ("seq_count", 1, 1, sequences::count),
    ("seq_sum", 1, 1, sequences::sum),
    ("seq_avg", 1, 1, sequences::sum),
    ("seq_min", 1, 1, sequences::extreme),
    ("seq_max", 1, 1, sequences::extreme),
    ("seq_distinct", 1, 1, sequences::distinct),
    ("seq_sort", 1, 1, sequences::sort),
    ("size", 1, 1, sequences::size),
    ("parse_json", 1, 1, sequences::parse_json),
    ("year", 1, 1, times::part),
    ("month", 1, 1, times::part),
    ("day", 1, 1, times::part),
    ("hour", 1, 1, times::part),
    ("minute", 1, 1, times::part),
    ("second", 1, 1, times::part),
    ("millisecond", 1, 1, times::part),
    ("microsecond", 1, 1, times::part),
    ("nanosecond", 1, 1, times::part),
    ("week", 1, 1, times::part),
    ("isoweek", 1, 1, times::part),
    ("quarter", 1, 1, times::part),
    ("day_of_week", 1, 1, times::part),
    ("day_of_month", 1, 1, times::part),
    ("day_of_year", 1, 1, times::part),
    ("current_time", 0, 0, times::now),
    ("current_time_millis", 0, 0, times::now),
    ("timestamp_add", 2, 2, times::add),
    ("timestamp_diff", 2, 2, times::difference),
    ("get_duration", 1, 1, times::duration_text),
    ("timestamp_trunc", 1, 2, times::cut),
    ("timestamp_floor", 1, 2, times::cut),
    ("timestamp_ceil", 1, 2, times::cut),
    ("timestamp_round", 1, 2, times::cut),
    ("timestamp_bucket", 1, 3, times::bucket),
    ("to_last_day_of_month", 1, 1, times::last_day),
    ("format_timestamp", 1, 3, times::format),
    ("parse_to_timestamp", 1, 2, times::parse),
    ("version", 1, 1, rows::of_row),
    ("expiration_time", 1, 1, rows::of_row),
    ("expiration_time_millis", 1, 1, rows::of_row),
    ("remaining_hours", 1, 1, rows::of_row),
    ("remaining_days", 1, 1, rows::of_row),
    ("modification_time", 1, 1, rows::of_row),
    ("creation_time", 1, 1, rows::of_row),
    ("creation_time_millis", 1, 1, rows::of_row),
    ("row_storage_size", 1, 1, rows::of_row),
    ("partition", 1, 1, rows::of_row),
    ("shard", 1, 1, rows::of_row),
];

pub(super) fn find(name: &str) -> Option<&'static Registered> {
    FUNCTIONS.iter().find(|function| function.0 == name)
}
