//! Types as statements name them.

/// A type, and how many items of it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct TypeDef {
    pub(crate) kind: TypeKind,
    pub(crate) quantifier: Quantifier,
    /// Whether types below it do not count.
    pub(crate) is_only: bool,
}

/// How many items there may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Quantifier {
    One,
    Optional,
    Many,
    Some,
}

impl Quantifier {
    pub(crate) fn allows(self, items: usize) -> bool {
        match self {
            Quantifier::One => items == 1,
            Quantifier::Optional => items <= 1,
            Quantifier::Many => true,
            Quantifier::Some => items > 0,
        }
    }

    pub(crate) fn sign(self) -> &'static str {
        match self {
            Quantifier::One => "",
            Quantifier::Optional => "?",
            Quantifier::Many => "*",
            Quantifier::Some => "+",
        }
    }
}

/// A kind of items.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum TypeKind {
    Any,
    AnyAtomic,
    AnyJsonAtomic,
    AnyRecord,
    Json,
    Integer,
    Long,
    Float,
    Double,
    Number,
    String,
    Boolean,
    Binary(Option<usize>),
    /// The digits of the fraction of a second; nine without them.
    Timestamp(Option<u8>),
    Enum(Vec<String>),
    Array(Box<TypeKind>),
    Map(Box<TypeKind>),
    Record(Vec<(String, TypeKind)>),
}

impl TypeKind {
    /// Its name in errors.
    pub(crate) fn name(&self) -> String {
        match self {
            TypeKind::Any => "Any".into(),
            TypeKind::AnyAtomic => "AnyAtomic".into(),
            TypeKind::AnyJsonAtomic => "AnyJsonAtomic".into(),
            TypeKind::AnyRecord => "AnyRecord".into(),
            TypeKind::Json => "Json".into(),
            TypeKind::Integer => "Integer".into(),
            TypeKind::Long => "Long".into(),
            TypeKind::Float => "Float".into(),
            TypeKind::Double => "Double".into(),
            TypeKind::Number => "Number".into(),
            TypeKind::String => "String".into(),
            TypeKind::Boolean => "Boolean".into(),
            TypeKind::Binary(None) => "Binary".into(),
            TypeKind::Binary(Some(width)) => format!("FixedBinary({width})"),
            TypeKind::Timestamp(precision) => format!("Timestamp({})", precision.unwrap_or(9)),
            TypeKind::Enum(symbols) => format!("Enum({})", symbols.join(", ")),
            TypeKind::Array(element) => format!("Array({})", element.name()),
            TypeKind::Map(element) => format!("Map({})", element.name()),
            TypeKind::Record(fields) => {
                let fields: Vec<String> =
                    fields.iter().map(|(name, kind)| format!("{name} : {}", kind.name())).collect();
                format!("Record({})", fields.join(", "))
            }
        }
    }
}
