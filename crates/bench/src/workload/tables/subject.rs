//! What `bench tables` may measure.

use std::fmt;
use std::str::FromStr;

use tonnage::{Error, Result};

/// What is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// Rows in: a loop of puts against one multi put.
    Put,
    /// Rows out by their keys: a loop of gets against one multi get.
    Get,
    /// Queries of one row each.
    OneRow,
    /// Queries of all rows.
    Select,
    /// The five aggregates of each table.
    Aggregates,
    /// A long list of keys in a query against a bulk get.
    List,
    /// Aggregates over all rows of a large table.
    Scan,
    /// A condition that an index answers, against the scan of the same table without it.
    Index,
}

impl Subject {
    /// All of them, in the order in which they are measured.
    pub const ALL: [Subject; 8] = [
        Subject::Put,
        Subject::Get,
        Subject::OneRow,
        Subject::Select,
        Subject::Aggregates,
        Subject::List,
        Subject::Scan,
        Subject::Index,
    ];

    /// Its name on the command line and in reports.
    pub fn name(self) -> &'static str {
        match self {
            Subject::Put => "put",
            Subject::Get => "get",
            Subject::OneRow => "one-row",
            Subject::Select => "select",
            Subject::Aggregates => "aggregates",
            Subject::List => "list",
            Subject::Scan => "scan",
            Subject::Index => "index",
        }
    }
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Subject {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        Subject::ALL.into_iter().find(|subject| subject.name() == text).ok_or_else(|| {
            let names = Subject::ALL.map(Subject::name).join(", ");
            Error::invalid(format!("nothing that is measured is called {text}: there are {names}"))
        })
    }
}
