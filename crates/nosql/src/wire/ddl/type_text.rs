//! Types in the words of the dialect.

use tonnage::ColumnType;

pub(super) fn type_text(column_type: ColumnType) -> String {
    match column_type {
        ColumnType::Number { .. } => "NUMBER".to_owned(),
        ColumnType::Uuid => "STRING AS UUID".to_owned(),
        // The dialect has neither: clients see text.
        ColumnType::Date | ColumnType::Time => "STRING".to_owned(),
        ColumnType::Enum(symbols) => format!("ENUM({})", symbols.symbols().join(", ")),
        ColumnType::Array(element) => format!("ARRAY({})", type_text(element.column_type())),
        ColumnType::Map(element) => format!("MAP({})", type_text(element.column_type())),
        ColumnType::Record(fields) => {
            let fields = fields.fields().iter();
            let fields =
                fields.map(|field| format!("{} {}", field.name, type_text(field.column_type)));
            format!("RECORD({})", fields.collect::<Vec<_>>().join(", "))
        }
        other => other.to_string(),
    }
}
