//! The symbols of an ENUM.

use std::collections::HashSet;
use std::fmt;
use std::hash::{Hash, Hasher};

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use tonnage_engine::{Error, Result};

use super::NAME_BYTES_MAX;
use super::interned::Interned;

/// The most symbols of one ENUM.
const SYMBOLS_MAX: usize = 4_096;

static DEFINITIONS: Interned<EnumDefinition> = Interned::new();

/// The symbols of an ENUM in the order in which they were declared, which is the order of its
/// values.
#[derive(Clone, Copy)]
pub struct EnumSymbols(&'static EnumDefinition);

#[derive(PartialEq, Eq, Hash)]
struct EnumDefinition {
    symbols: Vec<String>,
    /// The places of the symbols, sorted by symbol.
    by_symbol: Vec<u16>,
}

impl EnumSymbols {
    /// # Errors
    /// `Invalid` for no symbols, too many, one that is empty or too long, or one that comes twice.
    pub fn new(symbols: impl IntoIterator<Item = impl Into<String>>) -> Result<Self> {
        let symbols: Vec<String> = symbols.into_iter().map(Into::into).collect();
        if symbols.is_empty() || symbols.len() > SYMBOLS_MAX {
            return Err(Error::invalid(format!(
                "an ENUM has 1 to {SYMBOLS_MAX} symbols, not {}",
                symbols.len()
            )));
        }
        let mut seen = HashSet::new();
        for symbol in &symbols {
            if symbol.is_empty() || symbol.len() > NAME_BYTES_MAX {
                return Err(Error::invalid(format!(
                    "the symbol '{}' of an ENUM must have 1 to {NAME_BYTES_MAX} bytes",
                    symbol.chars().take(60).collect::<String>()
                )));
            }
            if !seen.insert(symbol) {
                return Err(Error::invalid(format!(
                    "the symbol '{symbol}' occurs twice in the ENUM"
                )));
            }
        }
        // A second order for the lookup: the declared one is the order of the values, on disk as
        // well.
        let mut by_symbol: Vec<u16> = (0..symbols.len() as u16).collect();
        by_symbol.sort_by_key(|place| &symbols[usize::from(*place)]);
        // Counted, since definitions are never freed: `Interned` bounds what all of them take.
        let bytes = symbols.iter().map(|symbol| symbol.len() + 32).sum();
        DEFINITIONS.get(EnumDefinition { symbols, by_symbol }, bytes).map(EnumSymbols)
    }

    /// The symbols in order.
    pub fn symbols(&self) -> &'static [String] {
        &self.0.symbols
    }

    /// The symbol at a position.
    pub fn symbol(&self, place: u16) -> Option<&'static str> {
        self.0.symbols.get(usize::from(place)).map(String::as_str)
    }

    /// The position of a symbol, from 0.
    pub fn place(&self, symbol: &str) -> Option<u16> {
        let symbol_at = |place: &u16| self.0.symbols[usize::from(*place)].as_str();
        let found = self.0.by_symbol.binary_search_by(|place| symbol_at(place).cmp(symbol));
        found.ok().map(|at| self.0.by_symbol[at])
    }

    /// The bytes of the longest symbol.
    pub(crate) fn longest(&self) -> usize {
        self.0.symbols.iter().map(String::len).max().unwrap_or(0)
    }
}

// Definitions that are equal are the same.
impl PartialEq for EnumSymbols {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self.0, other.0)
    }
}

impl Eq for EnumSymbols {}

impl Hash for EnumSymbols {
    fn hash<H: Hasher>(&self, state: &mut H) {
        std::ptr::from_ref(self.0).hash(state);
    }
}

impl fmt::Debug for EnumSymbols {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.symbols.fmt(f)
    }
}

/// `'red', 'green'`, as DDL reads it back.
impl fmt::Display for EnumSymbols {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, symbol) in self.0.symbols.iter().enumerate() {
            let comma = if place > 0 { ", " } else { "" };
            write!(f, "{comma}'{}'", symbol.replace('\'', "''"))?;
        }
        Ok(())
    }
}

impl Serialize for EnumSymbols {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        self.0.symbols.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for EnumSymbols {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        let symbols = Vec::<String>::deserialize(deserializer)?;
        EnumSymbols::new(symbols).map_err(|error| D::Error::custom(error.message()))
    }
}
