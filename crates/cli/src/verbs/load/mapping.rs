//! `--map` and `--where`: expressions over the fields of files.

use clap::Args;

use crate::exit::CliResult;
use crate::load::Mapping;

/// What a load computes, and what it leaves out.
#[derive(Args)]
pub(super) struct MappingArgs {
    /// Load only records that fit a condition in SQL over the fields of the files, such as
    /// 'knots > 20'. A field has the type of the column of its name, or else the one that --create
    /// would give it
    #[arg(long = "where", id = "where", value_name = "CONDITION")]
    condition: Option<String>,
    /// Fill a column with an expression in SQL over the fields of the files, such as
    /// 'at=to_timestamp(epoch)'. A field that only expressions read needs no column; may be repeated
    #[arg(long = "map", id = "map", value_name = "COLUMN=EXPRESSION", value_parser = parse_mapping)]
    filled: Vec<(String, String)>,
}

impl MappingArgs {
    /// The expressions, if there are any.
    pub(super) fn mapping(&self) -> CliResult<Option<Mapping>> {
        match self.condition.is_none() && self.filled.is_empty() {
            true => Ok(None),
            false => Mapping::new(self.condition.clone(), self.filled.clone()).map(Some),
        }
    }
}

/// Reads `column=expression`.
fn parse_mapping(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((column, expression))
            if !column.trim().is_empty() && !expression.trim().is_empty() =>
        {
            Ok((column.trim().to_owned(), expression.to_owned()))
        }
        _ => Err(format!(
            "'{text}' fills no column: write COLUMN=EXPRESSION, such as 'at=to_timestamp(epoch)'"
        )),
    }
}
