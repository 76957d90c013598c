//! The settings of a session, and its prepared statements.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use arrow::array::RecordBatch;
use tonnage::internal::sync::lock;
use tonnage::{Acks, Consistency, Durability, Error, Result, Store};

use super::guard::StatementTerms;
use super::levels::{self, name_of_acks, name_of_consistency};
use super::options::SqlOptions;
use super::show::texts;
use super::statement_cache::CachedStatement;

/// The most statements that one session keeps by name.
const PREPARED_MAX: usize = 1_000;

/// Settings that other databases have and that may have one value here.
const FIXED: [(&str, &[&str]); 9] = [
    ("search_path", &["public", "tonnage", "$user", "\"$user\", public", ""]),
    ("timezone", &["utc", "gmt", "z", "+00", "+00:00", "etc/utc"]),
    ("client_encoding", &["utf8", "utf-8", "unicode"]),
    ("standard_conforming_strings", &["on"]),
    ("bytea_output", &["hex"]),
    ("datestyle", &["iso", "iso, mdy", "iso, dmy", "iso, ymd"]),
    ("intervalstyle", &["postgres", "iso_8601"]),
    ("default_transaction_isolation", &["read committed"]),
    ("transaction_isolation", &["read committed"]),
];
/// Settings that change nothing here, whatever their value.
const IDLE: [&str; 3] = ["application_name", "extra_float_digits", "client_min_messages"];

/// When a write is acknowledged, by name.
const DURABILITIES: [(&str, Durability); 3] =
    [("none", Durability::None), ("write", Durability::Write), ("fsync", Durability::Fsync)];

/// The settings of one session.
#[derive(Default)]
pub(crate) struct Settings {
    values: Mutex<SettingValues>,
    prepared: Mutex<HashMap<String, Arc<CachedStatement>>>,
}

#[derive(Default)]
struct SettingValues {
    timeout: Option<Option<Duration>>,
    durability: Option<Durability>,
    acks: Option<Acks>,
    consistency: Option<Consistency>,
}

impl Settings {
    /// The longest that a statement may take.
    pub(crate) fn timeout(&self, options: &SqlOptions) -> Option<Duration> {
        lock(&self.values).timeout.unwrap_or(options.timeout)
    }

    /// When a write is acknowledged.
    pub(crate) fn terms(&self, options: &SqlOptions) -> StatementTerms {
        let values = lock(&self.values);
        StatementTerms {
            durability: values.durability.unwrap_or(options.durability),
            acks: values.acks.or(options.acks),
        }
    }

    /// How fresh the rows of a query must be; as the store was opened without it.
    pub(crate) fn consistency(&self, options: &SqlOptions) -> Option<Consistency> {
        lock(&self.values).consistency.or(options.consistency)
    }

    /// Gives a setting a value. Returns a message with the new value.
    ///
    /// # Errors
    /// `Invalid` for a value that it cannot have; `Unsupported` for one that the store cannot keep
    /// to; `NotFound` for a setting that there is not.
    pub(crate) fn set(&self, name: &str, value: &str, store: &Store) -> Result<String> {
        match name {
            "timeout" | "statement_timeout" => {
                let timeout = duration(value).ok_or_else(|| {
                    Error::invalid(format!(
                        "{name} is a time such as '30s', '5min' or 0 for none, not '{value}'"
                    ))
                })?;
                // The outer `Some` says that the session has chosen: no time-out then beats that of
                // the options.
                lock(&self.values).timeout = Some(Some(timeout).filter(|time| !time.is_zero()));
                Ok(format!(
                    "{name} is {}",
                    timeout_text(Some(timeout).filter(|time| !time.is_zero()))
                ))
            }
            "durability" => {
                let durability = durability(value).ok_or_else(|| {
                    Error::invalid(format!("{name} is none, write or fsync, not '{value}'"))
                })?;
                lock(&self.values).durability = Some(durability);
                Ok(format!("{name} is {}", name_of(durability)))
            }
            "acks" => {
                let acks = levels::acks(value, store)?;
                lock(&self.values).acks = Some(acks);
                Ok(format!("{name} is {}", name_of_acks(acks)))
            }
            "consistency" => {
                let consistency = levels::consistency(value, store, duration)?;
                lock(&self.values).consistency = Some(consistency);
                Ok(format!("{name} is {}", name_of_consistency(consistency)))
            }
            // Drivers set these when they connect, so an error would keep them out.
            _ if IDLE.contains(&name) => Ok(format!("{name} changes nothing here")),
            _ => match FIXED.iter().find(|(known, _)| *known == name) {
                Some((_, values)) if values.contains(&value.to_ascii_lowercase().as_str()) => {
                    Ok(format!("{name} is {value}"))
                }
                Some((_, values)) => Err(Error::unsupported(format!(
                    "{name} is {} and cannot be '{value}'",
                    values[0]
                ))),
                None => Err(unknown(name)),
            },
        }
    }

    /// Takes a setting, or all, back to what the options say.
    pub(crate) fn reset(&self, name: &str) -> Result<String> {
        let mut values = lock(&self.values);
        match name {
            "all" => *values = SettingValues::default(),
            "timeout" | "statement_timeout" => values.timeout = None,
            "durability" => values.durability = None,
            "acks" => values.acks = None,
            "consistency" => values.consistency = None,
            _ if is_known(name) => {}
            _ => return Err(unknown(name)),
        }
        Ok(format!("{name} is as it was at first"))
    }

    /// A setting as SHOW gives it.
    fn show(&self, name: &str, options: &SqlOptions, store: &Store) -> Result<String> {
        match name {
            "timeout" | "statement_timeout" => Ok(timeout_text(self.timeout(options))),
            "durability" => Ok(name_of(self.terms(options).durability).to_owned()),
            "acks" => {
                let acks = self.terms(options).acks.unwrap_or(store.levels().acks);
                Ok(name_of_acks(acks).to_owned())
            }
            "consistency" => {
                let own = self.consistency(options);
                Ok(name_of_consistency(own.unwrap_or(store.levels().consistency)))
            }
            "memory_bytes_max" => Ok(options.memory_bytes_max.to_string()),
            "server_version" => Ok(env!("CARGO_PKG_VERSION").to_owned()),
            _ => match FIXED.iter().find(|(known, _)| *known == name) {
                Some((_, values)) => Ok(values[0].to_owned()),
                None if IDLE.contains(&name) => Ok(String::new()),
                None => Err(unknown(name)),
            },
        }
    }

    /// `SHOW name` and `SHOW ALL`.
    pub(crate) fn rows(
        &self,
        name: &str,
        options: &SqlOptions,
        store: &Store,
    ) -> Result<RecordBatch> {
        let value = |name: &str| self.show(name, options, store);
        if name != "all" {
            return texts([(name, vec![value(name)?])]);
        }
        let values = Settings::names().map(value).collect::<Result<_>>()?;
        texts([("name", Settings::names().map(str::to_owned).collect()), ("setting", values)])
    }

    /// The names of all settings, as SHOW ALL gives them.
    fn names() -> impl Iterator<Item = &'static str> {
        ["timeout", "durability", "acks", "consistency", "memory_bytes_max", "server_version"]
            .into_iter()
            .chain(FIXED.iter().map(|(name, _)| *name))
    }

    /// Keeps a statement by name.
    ///
    /// # Errors
    /// `Conflict` when there is one of that name; `Exhausted` when there are too many.
    pub(crate) fn prepare(&self, name: &str, statement: CachedStatement) -> Result<()> {
        let mut prepared = lock(&self.prepared);
        if prepared.contains_key(name) {
            return Err(Error::conflict(format!(
                "there is a prepared statement {name}: DEALLOCATE it, or take another name"
            )));
        }
        if prepared.len() >= PREPARED_MAX {
            return Err(Error::exhausted(format!(
                "the session has {PREPARED_MAX} prepared statements, which is the limit: DEALLOCATE some"
            )));
        }
        prepared.insert(name.to_owned(), Arc::new(statement));
        Ok(())
    }

    /// A statement kept by name.
    pub(crate) fn prepared(&self, name: &str) -> Result<Arc<CachedStatement>> {
        lock(&self.prepared).get(name).cloned().ok_or_else(|| no_statement(name))
    }

    /// Forgets a statement, or `all`.
    pub(crate) fn deallocate(&self, name: &str) -> Result<()> {
        let mut prepared = lock(&self.prepared);
        if name == "all" {
            prepared.clear();
            return Ok(());
        }
        prepared.remove(name).map(drop).ok_or_else(|| no_statement(name))
    }
}

fn no_statement(name: &str) -> Error {
    Error::not_found(format!(
        "there is no prepared statement {name}: write PREPARE {name} AS SELECT ... first"
    ))
}

fn is_known(name: &str) -> bool {
    IDLE.contains(&name) || FIXED.iter().any(|(known, _)| *known == name)
}

fn unknown(name: &str) -> Error {
    let names: Vec<_> = Settings::names().collect();
    Error::not_found(format!("there is no setting {name}; the settings are {}", names.join(", ")))
}

fn durability(name: &str) -> Option<Durability> {
    DURABILITIES.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, one)| *one)
}

fn name_of(durability: Durability) -> &'static str {
    DURABILITIES.iter().find(|(_, one)| *one == durability).map_or("", |(name, _)| name)
}

/// `30s`, `5min`, `1500` in milliseconds as in PostgreSQL, 0 for none.
fn duration(text: &str) -> Option<Duration> {
    let text = text.trim();
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let count: u64 = text[..digits].parse().ok()?;
    let unit_ms = match text[digits..].trim().to_ascii_lowercase().as_str() {
        "" | "ms" => 1,
        "s" => 1_000,
        "m" | "min" => 60_000,
        "h" => 3_600_000,
        "d" => 86_400_000,
        _ => return None,
    };
    Some(Duration::from_millis(count.checked_mul(unit_ms)?))
}

fn timeout_text(timeout: Option<Duration>) -> String {
    timeout.map_or_else(|| "none".to_owned(), |timeout| format!("{timeout:?}"))
}
