//! Options as the JSON that the server reads in commands and headers.

use serde_json::{Map, Value as Json, json};
use tonnage::geo::Region;
use tonnage::{
    BulkGetOptions, Condition, Consistency, Depth, Direction, Durability, Error, FieldRange,
    IndexScanOptions, KeyRange, PairGetOptions, Result, TableScanOptions,
};

/// The command of a bulk get of rows.
///
/// # Errors
/// `Unsupported` for what the wire has no word for.
pub(crate) fn of_bulk_get(
    table: &str,
    options: &BulkGetOptions,
    has_versions: bool,
) -> Result<Json> {
    if options.start_after.is_some() {
        return Err(no_start_after());
    }
    let mut command = Map::new();
    let mut set = |name: &str, value: Json| command.insert(name.to_owned(), value);
    set("table", json!(table));
    set("direction", json!(direction_of(options.direction)));
    set("keys_only", json!(options.keys_only));
    // Versions take 16 bytes a row on the way back.
    set("versions", json!(has_versions));
    // The server refuses members that it does not know. So most are sent only where they matter: an
    // older server then still takes the command.
    if !options.relatives.is_empty() {
        set("relatives", json!(options.relatives));
    }
    if options.origins {
        set("origins", json!(true));
    }
    if let Some(limit) = options.limit {
        set("limit", json!(limit));
    }
    if let Some(consistency) = consistency_of(options.consistency.unwrap_or_default()) {
        set("consistency", consistency);
    }
    if let Some(limit) = options.limit_per_key {
        set("limit_per_key", json!(limit));
    }
    if let Some(columns) = &options.columns {
        set("columns", json!(columns));
    }
    if let Some(range) = &options.range {
        set("range", range_of(range));
    }
    Ok(Json::Object(command))
}

/// The command of a bulk get of pairs.
///
/// # Errors
/// `Unsupported` for a range of components that are not text.
pub(crate) fn of_pair_get(options: &PairGetOptions) -> Result<Json> {
    let mut command = json!({
        "pairs": true,
        "direction": direction_of(options.direction),
        "keys_only": options.keys_only,
        "versions": true,
        "depth": depth_of(options.depth),
    });
    if let Some(range) = &options.range {
        command["components"] = components_of(range)?;
    }
    if let Some(consistency) = consistency_of(options.consistency.unwrap_or_default()) {
        command["consistency"] = consistency;
    }
    if let Some(limit) = options.limit_per_key {
        command["limit_per_key"] = json!(limit);
    }
    Ok(command)
}

/// The command of a scan of rows.
///
/// # Errors
/// `Unsupported` for what the wire has no word for.
pub(crate) fn of_scan(
    table: &str,
    options: &TableScanOptions,
    part: usize,
    parts: usize,
) -> Result<Json> {
    if !options.relatives.is_empty() {
        return Err(Error::unsupported(
            "a scan with rows of relatives is not offered through a server: give keys to bulk_get, \
             or scan each table by itself",
        ));
    }
    if options.start_after.is_some() {
        return Err(no_start_after());
    }
    Ok(json!({
        "table": table,
        "columns": options.columns,
        "direction": direction_of(options.direction),
        "range": options.range.as_ref().map(range_of),
        "keys_only": options.keys_only,
        "limit_per_shard_key": options.limit_per_shard_key,
        "limit": options.limit,
        "part": part,
        "parts": parts,
    }))
}

/// The command of a read of regions.
///
/// # Errors
/// `Invalid` for an order, which a read by places has not.
pub(crate) fn of_within(
    table: &str,
    regions: &[Region],
    options: &IndexScanOptions,
    has_versions: bool,
) -> Result<Json> {
    if options.exactly_once || options.direction != Direction::Unordered {
        return Err(Error::invalid(
            "rows by their places come in no order of the index, and not exactly once: leave direction and exactly_once out",
        ));
    }
    let mut command = json!({
        "table": table,
        "within": Json::from_iter(regions.iter().map(Region::to_json)),
        "columns": options.columns,
        "limit": options.limit,
        "versions": has_versions,
        "origins": true,
        "timeout_ms": options.timeout.map(|timeout| timeout.as_millis() as u64),
    });
    if let Some(consistency) = consistency_of(options.consistency.unwrap_or_default()) {
        command["consistency"] = consistency;
    }
    Ok(command)
}

/// The command of a scan of pairs, where a limit holds for all of them together.
///
/// # Errors
/// `Invalid` for a depth or a range, which go with keys.
pub(crate) fn of_pair_scan(options: &PairGetOptions) -> Result<Json> {
    if options.depth != Depth::default() || options.range.is_some() {
        return Err(Error::invalid("a depth and a range go with keys, in a bulk get"));
    }
    Ok(json!({
        "pairs": true,
        "direction": direction_of(options.direction),
        "keys_only": options.keys_only,
        "limit": options.limit_per_key,
        "versions": true,
    }))
}

fn no_start_after() -> Error {
    Error::unsupported("start_after is not offered through a server: give a range")
}

/// A condition; nothing where there is none.
pub(crate) fn condition_of(condition: Condition) -> Option<Json> {
    match condition {
        Condition::Always => None,
        Condition::IfAbsent => Some(json!("absent")),
        Condition::IfPresent => Some(json!("present")),
        Condition::IfVersion(version) => Some(json!({"version": version})),
    }
}

/// When a write is acknowledged.
pub(crate) fn durability_of(durability: Durability) -> &'static str {
    match durability {
        Durability::None => "none",
        Durability::Write => "write",
        Durability::Fsync => "fsync",
    }
}

/// How fresh rows must be; nothing for the latest.
pub(crate) fn consistency_of(consistency: Consistency) -> Option<Json> {
    match consistency {
        Consistency::None => Some(json!("none")),
        Consistency::Time(lag) => Some(json!({"time_ms": lag.as_millis() as u64})),
        Consistency::Version(version) => Some(json!({"version": version})),
        Consistency::Absolute => None,
    }
}

fn direction_of(direction: Direction) -> &'static str {
    match direction {
        Direction::Unordered => "unordered",
        Direction::Forward => "forward",
        Direction::Reverse => "reverse",
    }
}

/// How deep to look below a key.
pub(crate) fn depth_of(depth: Depth) -> &'static str {
    match depth {
        Depth::ParentOnly => "parent_only",
        Depth::ChildrenOnly => "children_only",
        Depth::DescendantsOnly => "descendants_only",
        Depth::ParentAndChildren => "parent_and_children",
        Depth::ParentAndDescendants => "parent_and_descendants",
    }
}

/// A range of components, which are text on the wire.
///
/// # Errors
/// `Unsupported` for bytes that are not text.
pub(crate) fn components_of(range: &KeyRange) -> Result<Json> {
    let text = |bytes: &[u8]| {
        String::from_utf8(bytes.to_vec()).map_err(|error| {
            Error::unsupported("a range of components that are not text, through a server")
                .with_source(error)
        })
    };
    let mut told = Map::new();
    for (name, end) in [("from", &range.start), ("to", &range.end)] {
        if let Some((end, is_inclusive)) = end {
            told.insert(name.to_owned(), json!(text(end)?));
            told.insert(format!("{name}_exclusive"), json!(!is_inclusive));
        }
    }
    told.insert("prefix".to_owned(), json!(text(&range.prefix)?));
    Ok(Json::Object(told))
}

fn range_of(range: &FieldRange) -> Json {
    let mut told = Map::new();
    told.insert("column".to_owned(), json!(range.column));
    for (name, end) in [("from", &range.low), ("to", &range.high)] {
        if let Some((value, is_inclusive)) = end {
            told.insert(name.to_owned(), value.to_json());
            told.insert(format!("{name}_inclusive"), json!(is_inclusive));
        }
    }
    Json::Object(told)
}
