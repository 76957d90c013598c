//! Options to load JSON documents as they are.

use clap::Args;
use tonnage_files::DocumentOptions;

use super::create::PrimaryKey;

/// What becomes of JSON documents.
#[derive(Args)]
pub(super) struct DocumentArgs {
    /// Load each JSON object whole into this column, and take the other columns out of it
    #[arg(long = "document-column", value_name = "COLUMN")]
    column: Option<String>,
    /// JSON path of a column in the documents: 'maker=vendor.name'; may be repeated [default: the
    /// member with the name of the column]
    #[arg(long = "path", alias = "from", value_name = "COLUMN=PATH", value_parser = json_path, requires = "column")]
    paths: Vec<(String, Vec<String>)>,
    /// Make keys for records that have none. With --create, this column is the primary key, and
    /// the store numbers the rows. With --document-column it is a column that the table has, or
    /// that --primary-key names: a UUID column gets a random UUID, a LONG column the number of the
    /// document in its file
    #[arg(long = "make-key", value_name = "COLUMN", conflicts_with = "resume")]
    generated_key: Option<String>,
}

impl DocumentArgs {
    /// How documents are read into a table.
    pub(super) fn options(&self) -> Option<DocumentOptions> {
        let column = self.column.clone()?;
        Some(DocumentOptions {
            column,
            paths: self.paths.clone(),
            generated_key: self.generated_key.clone(),
        })
    }

    /// The same for a table that is to be created: its key columns are members of their own names
    /// where nothing else is said.
    pub(super) fn options_with_key(&self, key: &PrimaryKey) -> Option<DocumentOptions> {
        let mut options = self.options()?;
        for name in key.columns() {
            let is_named = |known: &str| known.eq_ignore_ascii_case(name);
            if !options.generated_key.as_deref().is_some_and(is_named)
                && !options.paths.iter().any(|(known, _)| is_named(known))
            {
                options.paths.push((name.clone(), vec![name.clone()]));
            }
        }
        Some(options)
    }

    /// Whether keys are generated for documents.
    pub(super) fn makes_keys(&self) -> bool {
        self.column.is_some() && self.generated_key.is_some()
    }

    /// The column of numbers that the store gives to the rows of a table to make.
    pub(super) fn numbered_key(&self) -> Option<&str> {
        self.generated_key.as_deref().filter(|_| self.column.is_none())
    }
}

/// Reads `column=name.name."a name with a . in it"`.
fn json_path(text: &str) -> Result<(String, Vec<String>), String> {
    let wrong = || {
        format!(
            "'{text}' is not a JSON path of a column: write COLUMN=NAME, or COLUMN=NAME.NAME for one further in"
        )
    };
    let (column, path) = text.split_once('=').ok_or_else(wrong)?;
    let (mut names, mut in_quotes) = (vec![String::new()], false);
    for character in path.chars() {
        match (character, names.last_mut()) {
            ('"', _) => in_quotes = !in_quotes,
            ('.', _) if !in_quotes => names.push(String::new()),
            (other, Some(name)) => name.push(other),
            (_, None) => {}
        }
    }
    if column.trim().is_empty() || in_quotes || names.iter().any(String::is_empty) {
        return Err(wrong());
    }
    Ok((column.trim().to_owned(), names))
}

#[cfg(test)]
mod tests {
    use super::json_path;

    #[test]
    fn json_paths_are_names_separated_by_points() {
        let read = |text: &str| json_path(text).map(|(column, names)| (column, names.join("|")));
        assert_eq!(read("maker=vendor.name"), Ok(("maker".into(), "vendor|name".into())));
        assert_eq!(read("m=\"a.b\".c"), Ok(("m".into(), "a.b|c".into())));
        for wrong in ["maker", "=a", "m=", "m=a..b", "m=\"a"] {
            assert!(read(wrong).is_err_and(|error| error.contains(wrong)), "{wrong}");
        }
    }
}
