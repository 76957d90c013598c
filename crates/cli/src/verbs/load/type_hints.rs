//! Hints about columns that became text.

use arrow::datatypes::{DataType, Field};
use tonnage::ColumnType;
use tonnage_files::{FormMeaning, InferredSchema, NullWords, OtherForm, Outlier};

/// What a newcomer would like to know of the types.
/// Columns that an expression fills need none.
pub(super) fn notes(found: &InferredSchema, is_filled: &dyn Fn(&str) -> bool) -> Vec<String> {
    let mut notes = Vec::new();
    // Only a file that was read to its end is known to have no records.
    if found.is_guessed && found.records == 0 && found.is_whole {
        let why = match found.rejected {
            0 => "the files have no records",
            _ => "no record of the files can be read",
        };
        notes.push(format!(
            "hint: {why}, so all columns become STRING: make the table with other types first"
        ));
    }
    let mut by_words: Vec<(String, Vec<String>)> = Vec::new();
    for NullWords { column, words, data_type } in
        found.null_words.iter().filter(|words| !is_filled(&words.column))
    {
        let options: Vec<_> = words.iter().map(|word| format!("--null '{word}'")).collect();
        let told = format!("{column} {}", type_told(data_type));
        // Columns with the same words share a hint: a wide file would print one for each.
        match by_words.iter_mut().find(|(known, _)| *known == options.join(" ")) {
            Some((_, columns)) => columns.push(told),
            None => by_words.push((options.join(" "), vec![told])),
        }
    }
    for (options, columns) in by_words {
        notes.push(format!(
            "hint: with {options} there would be {} instead of STRING",
            columns.join(", ")
        ));
    }
    let outliers = found.outliers.iter().filter(|outlier| !is_filled(&outlier.column));
    notes.extend(outliers.take(OUTLIERS_TOLD).map(outlier_note));
    let forms = found.other_forms.iter().filter(|form| !is_filled(&form.column));
    notes.extend(forms.take(OUTLIERS_TOLD).map(other_form_note));
    notes
}

/// A file of words among numbers would have a hint for each column.
const OUTLIERS_TOLD: usize = 3;

/// The position of the value that turned a column into text.
fn outlier_note(outlier: &Outlier) -> String {
    let Outlier { column, source, line, value, data_type } = outlier;
    format!(
        "hint: column {column} is STRING because of line {line} of {source}: '{value}'; without such values it would be {}",
        type_told(data_type)
    )
}

/// What reads a column whose dates or numbers have another form.
fn other_form_note(form: &OtherForm) -> String {
    let OtherForm { column, source, line, value, meaning } = form;
    let name = as_typed(column);
    let (what, map) = match meaning {
        FormMeaning::Dates { format, is_ambiguous, has_others } => {
            // `to_date` takes no other form than those that it is given.
            let others = if *has_others { ", '%Y-%m-%d'" } else { "" };
            let what = match is_ambiguous {
                true => "looks like a date, day first or month first",
                false => "looks like a date",
            };
            (what, format!("to_date({name}, '{format}'{others})"))
        }
        FormMeaning::Numbers { has_points: false } => {
            ("looks like a number", format!("CAST(replace({name}, ',', '.') AS DOUBLE)"))
        }
        FormMeaning::Numbers { has_points: true } => (
            "looks like a number",
            format!("CAST(replace(replace({name}, '.', ''), ',', '.') AS DOUBLE)"),
        ),
    };
    // What is told can be pasted into a shell.
    format!(
        "hint: column {column} is STRING: '{value}' in line {line} of {source} {what}; to store it as one, load with --map \"{}={}\"",
        column,
        map.replace('"', "\\\"")
    )
}

/// A name as an expression of SQL has it.
fn as_typed(name: &str) -> String {
    let mut letters = name.chars();
    let is_plain = letters.next().is_some_and(|first| first.is_ascii_lowercase())
        && letters
            .all(|letter| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '_');
    if is_plain { name.to_owned() } else { format!("\"{}\"", name.replace('"', "\"\"")) }
}

/// A type of Arrow as SQL calls it.
pub(super) fn type_told(data_type: &DataType) -> String {
    let column_type = ColumnType::of_arrow(&Field::new("", data_type.clone(), true));
    column_type.map(|column_type| column_type.to_string()).unwrap_or_default()
}
